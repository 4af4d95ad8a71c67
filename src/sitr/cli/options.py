"""Arguments and options that several commands share, and how what is written in them is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import typer

from sitr.errors import BadUsage, FileError

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept

Value = TypeVar("Value")

Json = Annotated[bool, typer.Option("--json", help="Write JSON, for machines.")]
Description = Annotated[Path, typer.Argument(metavar="DESCRIPTION", help="The file that `sitr protect` wrote.")]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="The question: one SELECT.")]
Price = Annotated[str, typer.Option(help="What to pay, such as 'zcdp(0.05)', 'pure(0.1)' or 'approximate(0.1, 1e-6)'.")]
Budget = Annotated[str | None, typer.Option(help="The promise for all answers together, such as 'zcdp(0.5)'.")]
Ledger = Annotated[Path | None, typer.Option(help="The file that remembers what was spent.")]


def promise(text: str) -> Kept:
    """A price or a budget.

    >>> promise("zcdp(0.05)")
    ZeroConcentratedDP(rho=0.05)
    """
    from sitr.flavors.notation import parse

    return cast("Kept", parse(text))  # a session refuses the flavors that no budget is kept in


def named(option: str, items: Iterable[str] | None, read: Callable[[str, str], Value]) -> dict[str, Value]:
    """The values of a repeatable option by column; `read` is given the column and its text.

    >>> named("--bounds", ["age=0:120"], lambda column, text: text)
    {'age': '0:120'}
    """
    found: dict[str, Value] = {}
    for item in items or ():
        column, equals, text = item.partition("=")
        if not column or not equals or column in found:
            raise BadUsage(
                wanted=f"{option} wants NAME=VALUE, once for each name.",
                given=f"{item!r} was given" + (" after another for the same name." if column in found else "."),
                do=f"Write for example {option} {EXAMPLES[option]}.",
            )
        try:
            found[column] = read(column, text)
        except BadUsage:
            raise
        except ValueError:
            raise BadUsage(
                wanted=f"{option} is written like {EXAMPLES[option]}.",
                given=f"{item!r} was given.",
                do="Correct the value.",
            ) from None
    return found


EXAMPLES = {
    "--bounds": "cost=0:5000",
    "--granularity": "cost=0.01",
    "--edges": "age=0,18,65,120",
    "--keys": "ward=Cardiology,Surgery",
    "--keys-file": "ward=wards.txt",
    "--type": "cost=real",
    "--public": "census=census-2011.parquet",
}


def number(text: str) -> int | float:
    """A number as it is written.

    >>> number("-5"), number("1e3")
    (-5, 1000.0)
    """
    try:
        return int(text)
    except ValueError:
        return float(text)


def interval(text: str) -> tuple[int | float, int | float]:
    """Two numbers.

    >>> interval("-0.5:5")
    (-0.5, 5)
    """
    low, high = text.split(":")
    return number(low), number(high)


def new_file(path: Path, option: str, endings: tuple[str, ...]) -> None:
    """Refuse a file that cannot be written, or that is there already: known before anything is spent."""
    if path.suffix not in endings:
        raise BadUsage(
            wanted=f"{option} wants a file ending in {' or '.join(endings)}.",
            given=f"{path} was given.",
            do="Change the ending; nothing was spent.",
        )
    if path.exists():
        raise FileError(
            wanted="A new file was to be written.",
            given=f"{path} is there already, and what was paid for is not overwritten.",
            do="Choose another name, or move the file away; nothing was spent.",
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise FileError(
            wanted=f"{path} was to be written.",
            given=f"The folder {path.parent} is not there, or may not be written to.",
            do="Create the folder or choose another; nothing was spent.",
        )
