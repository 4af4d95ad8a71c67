"""The arguments and options that commands share, and how they are read."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sitr.errors import BadUsage, FileError, no_schedule

if TYPE_CHECKING:
    from sitr.dataset.database import Address
    from sitr.dataset.schema import Bound, Key, Kind
    from sitr.flavors.arrows import Kept
    from sitr.neighbors.unit import Row

if TYPE_CHECKING:
    Place = Path | Address
else:
    Place = Path  # as typer sees it: `ledger_place` reads the text

Value = TypeVar("Value")
Items = list[str] | None

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Description = Annotated[Path, typer.Argument(metavar="DESCRIPTION", help="A description that `sitr protect` wrote.")]
Source = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="A description that `sitr protect` wrote, or a Parquet file.")
]
Preview = Annotated[bool, typer.Option("--preview", help="Show the price and the errors; spend nothing.")]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="The question, one SELECT.")]
OneSql = Annotated[str, typer.Argument(metavar="SQL", help="The question, one SELECT; or give --file.")]
File = Annotated[
    Path | None,
    typer.Option(help="A file of questions, separated by semicolons, which are answered together for one charge."),
]
Price = Annotated[str, typer.Option(help="The price, such as 'zcdp(0.05)', 'pure(0.1)' or 'approximate(0.1, 1e-6)'.")]
Budget = Annotated[
    str | None,
    typer.Option(help="The budget for all answers together, such as 'zcdp(0.5)'; 'odometer(pure)' has no cap."),
]
Unit = Annotated[str | None, typer.Option(help="The column that identifies a person.")]
UnitRow = Annotated[bool, typer.Option("--unit-row", help="Protect each row instead of each person.")]
MaxGroups = Annotated[int | None, typer.Option(min=1, help="The most groups that one person counts in.")]
MaxRows = Annotated[int | None, typer.Option(min=1, help="The most rows of one person that count in each group.")]
MaxInAll = Annotated[int | None, typer.Option("--max-rows", min=1, help="The most rows of one person in all groups.")]
Keys = Annotated[
    Items,
    typer.Option(help="COLUMN=A,B,NULL,…: its public values, or COLUMN=@TABLE.COLUMN of a public table. Repeatable."),
]
Schedule = Annotated[Path, typer.Argument(metavar="SCHEDULE", help="A YAML file that lists the releases.")]
SecondBudget = Annotated[
    bool, typer.Option("--second-budget", help="Allow a second budget for rows that have one already.")
]
Spark = Annotated[
    str | None,
    typer.Option(
        "--spark",
        metavar="ADDRESS",
        help="Where Spark is, for a source spark:TABLE: a master, or a Spark Connect server sc://…; else SITR_SPARK.",
    ),
]


def ledger_place(text: str) -> Path | Address:
    """Where a ledger is: a path, or the address of a server, whose password is shown nowhere.

    >>> str(ledger_place("sitr.db")), str(ledger_place("postgresql://noor:secret@db/hospital"))
    ('sitr.db', 'postgresql://noor@db/hospital')
    """
    if "://" not in text:
        return Path(text)
    from sitr.ledger.located import addressed

    return addressed(text)


Ledger = Annotated[
    Place | None,
    typer.Option(
        parser=ledger_place,
        metavar="LEDGER",
        help="The ledger, which records what was spent: a file, or postgresql://host/database.",
    ),
]
LedgerHere = Annotated[
    Place,
    typer.Argument(parser=ledger_place, metavar="LEDGER", help="The ledger: a file, or postgresql://host/database."),
]


def use_spark(address: str | None) -> None:
    """Take this address of Spark for this process."""
    if address is not None:
        os.environ["SITR_SPARK"] = address


def promise(text: str) -> Kept:
    """A price or a budget from its notation.

    >>> promise("zcdp(0.05)")
    ZeroConcentratedDP(rho=0.05)
    """
    from sitr.flavors.price import price_of

    return price_of(text)


def unit_of(column: str | None, *, row: bool) -> str | Row:
    """Who is protected: the persons of a column, or each row. Call `missing_who` first."""
    from sitr.neighbors.unit import Row

    if column is not None and row:
        raise BadUsage(
            wanted="either --unit COLUMN, which identifies a person, or --unit-row",
            given="both",
            do="Leave out one of them; use --unit-row only if nobody can have two rows.",
        )
    return column if column is not None else Row()


def missing_who(unit: str | None, *, row: bool, caps: Mapping[str, int | None]) -> list[str]:
    """The missing options of those that say who is protected; `caps` are the caps on one person, by option.

    >>> missing_who(None, row=False, caps={"--max-groups": None, "--max-rows-per-group": 2})
    ['--unit COLUMN with --max-groups (or --unit-row)']
    >>> missing_who("patient_id", row=False, caps={"--max-groups": None, "--max-rows-per-group": None})
    ['--max-groups', '--max-rows-per-group']
    """
    unset = [option for option, cap in caps.items() if cap is None] if not row else []
    if unit is not None or row:
        return unset
    return [f"--unit COLUMN{f' with {listed(unset)}' if unset else ''} (or --unit-row)"]


def example_of(unit: str | None, caps: Iterable[str]) -> str:
    """Options that say who is protected, to be copied and changed.

    >>> example_of("patient_id", ["--max-groups"])
    '--unit patient_id --max-groups 3'
    """
    named = shlex.quote(unit) if unit is not None else "COLUMN"
    return " ".join((f"--unit {named}", *(f"{option} {EXAMPLES[option]}" for option in caps)))


def listed(parts: Iterable[str]) -> str:
    """Some phrases in one.

    >>> listed(["--price"]), listed(["--unit", "--price", "--column"])
    ('--price', '--unit, --price and --column')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def named(option: str, items: Iterable[str] | None, read: Callable[[str, str], Value]) -> dict[str, Value]:
    """The values of a repeatable option by name; `read` is called with the name and the text.

    >>> named("--bounds", ["age=0:120"], lambda column, text: text)
    {'age': '0:120'}
    """
    found: dict[str, Value] = {}
    for item in items or ():
        column, equals, text = item.partition("=")
        if not column or not equals or column in found:
            raise BadUsage(
                wanted=f"{option} NAME=VALUE, once for each name",
                given=f"{item!r}" + (" after another value for the same name" if column in found else ""),
                do=f"Write for example {option} {EXAMPLES[option]}.",
            )
        try:
            found[column] = read(column, text)
        except BadUsage:
            raise
        except ValueError:
            raise BadUsage(
                wanted=f"{option} in the form {EXAMPLES[option]}",
                given=f"{item!r}",
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
    "--zone": "at=Europe/Paris",
    "--error": "n=100",
    "--size": "n=20000",
    "--weights": "n=1,total=4",
    "--targets": "n=100,total=5000",
    "--public": "census=census-2011.parquet",
    "--max-groups": "3",
    "--max-rows-per-group": "2",
    "--rows-per-person": "3",
}


def number(text: str) -> int | float:
    """An integer or a decimal number.

    >>> number("-5"), number("1e3")
    (-5, 1000.0)
    """
    try:
        return int(text)
    except ValueError:
        return float(text)


def interval(text: str) -> tuple[int | float, int | float]:
    """Two numbers, separated by a colon.

    >>> interval("-0.5:5")
    (-0.5, 5)
    """
    low, high = text.split(":")
    return number(low), number(high)


def bounds_of(text: str, kind: Kind | None) -> tuple[Bound, Bound]:
    """Bounds in the type of their column, separated by a colon; times have colons of their own."""
    if kind is None or kind.value not in ("date", "timestamp", "timestamptz"):
        return interval(text)
    parts = text.split(":")
    for place in range(1, len(parts)):
        ends = ":".join(parts[:place]), ":".join(parts[place:])
        with suppress(ValueError):
            for end in ends:
                datetime.fromisoformat(end)
            return ends
    raise ValueError


def key_of(text: str, kind: Kind | None, *, column: str) -> Key:
    """A key in the type of its column. `describe` refuses keys of columns that cannot have any."""
    if text == "NULL":
        return None
    try:
        match kind.value if kind else None:
            case "integer":
                return int(text)
            case "boolean":
                return ("false", "true").index(text.lower()) == 1
            case "date":
                return date.fromisoformat(text)
            case "timestamp" | "timestamptz":
                return datetime.fromisoformat(text)
    except ValueError:
        assert kind is not None
        written = {"integer": "integers like 0", "boolean": "true or false"}.get(kind.value, "dates like 2024-01-31")
        raise BadUsage(
            given=f"The column {column!r} has type {kind.value}, so {text!r} cannot be one of its keys.",
            do=f"Write {written}, or NULL for a missing value; in a CSV file, --type {column}=text makes it text.",
        ) from None
    return text


def keys_of(texts: Iterable[str], kind: Kind | None, *, column: str) -> list[Key]:
    """Keys in the type of their column, without empty ones."""
    return [key_of(text.strip(), kind, column=column) for text in texts if text.strip()]


def keys_option(items: Items, kinds: Mapping[str, Kind]) -> dict[str, list[Key] | str]:
    """The values of --keys: for each column its keys, or the column of a public table after an @."""

    def read(column: str, text: str) -> list[Key] | str:
        named_column = text.startswith("@") and "." in text and "," not in text
        return text[1:] if named_column else keys_of(text.split(","), kinds.get(column), column=column)

    return named("--keys", items, read)


def check_schedule(path: Path | None) -> None:
    """Refuse the file of a schedule that is not there."""
    if path is not None and not path.exists():
        raise no_schedule(path, reason=os.strerror(errno.ENOENT))


def check_file(path: Path, option: str, endings: tuple[str, ...]) -> None:
    """Refuse a file that cannot be written."""
    if path.suffix not in endings:
        raise BadUsage(
            wanted=f"{option} with a file ending in {' or '.join(endings)}",
            given=f"{path}",
            do="Change the ending; nothing was spent.",
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise FileError(
            given=f"Cannot write {path}, because the folder {path.parent} does not exist or is not writable.",
            do="Create the folder or choose another; nothing was spent.",
        )


def new_file(path: Path, option: str, endings: tuple[str, ...]) -> None:
    """Refuse a file that cannot be written or already exists, before anything is spent."""
    check_file(path, option, endings)
    if path.exists():
        raise FileError(
            given=f"{path} already exists, and paid answers are never overwritten.",
            do="Choose another name, or move the file away; nothing was spent.",
        )
