"""Arguments and options that several commands share, and how what is written in them is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import typer

from sitr.cli.terminal import BadUsage

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
                wanted=f"{option} wants COLUMN=VALUE, once for each column.",
                given=f"{item!r} was given" + (" after another for the same column." if column in found else "."),
                do=f"Write for example {option} {EXAMPLES[option]}.",
            )
        try:
            found[column] = read(column, text)
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
    "--keys": "ward=Cardiology,Surgery",
    "--keys-file": "ward=wards.txt",
    "--type": "cost=real",
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
