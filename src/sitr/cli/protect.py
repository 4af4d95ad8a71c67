"""`sitr protect`: fix what is public about a file before any question is asked."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sitr.cli.options import (
    Budget,
    Json,
    Keys,
    Ledger,
    MaxGroups,
    MaxRows,
    Unit,
    UnitRow,
    interval,
    named,
    number,
    promise,
    unit_of,
)
from sitr.cli.progress import working
from sitr.cli.terminal import console, say_json
from sitr.cli.terminal import table as empty
from sitr.errors import BadUsage, FileError, no_source
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from sitr.dataset.schema import Column, Key, Kind, Table
    from sitr.flavors.arrows import Additive, Kept

Items = list[str] | None


def protect(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A Parquet or CSV file.")],
    unit: Unit = None,
    unit_row: UnitRow = False,
    max_groups: MaxGroups = None,
    max_rows_per_group: MaxRows = None,
    bounds: Annotated[Items, typer.Option(help="COLUMN=LOW:HIGH: makes a column summable. Repeatable.")] = None,
    granularity: Annotated[Items, typer.Option(help="COLUMN=STEP, such as cost=0.01 for cents. Repeatable.")] = None,
    keys: Keys = None,
    keys_file: Annotated[Items, typer.Option(help="COLUMN=FILE: its public values, one per line. Repeatable.")] = None,
    kind: Annotated[Items, typer.Option("--type", help="COLUMN=TYPE in a CSV file. Repeatable.")] = None,
    accept_types: Annotated[
        bool, typer.Option("--accept-types", help="Accept as public the types detected in a CSV file.")
    ] = False,
    relation: Annotated[Relation, typer.Option(help="How neighbouring data sets differ.")] = Relation.ADD_REMOVE,
    name: Annotated[str | None, typer.Option(help="The table name in questions; default the file name.")] = None,
    public_tables: Annotated[Items, typer.Option("--public", help="NAME=FILE: a public table. Repeatable.")] = None,
    budget: Budget = None,
    ledger: Ledger = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The description to write; default beside SOURCE.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing description.")] = False,
    as_json: Json = False,
) -> None:
    """Describe what is public about a data set.

    Units, caps, bounds and keys are public, so they must come from public knowledge, never from the rows. Every value
    is read once, so that none can make a question fail later. The types of a CSV file are detected from its rows, and
    you confirm them with --type or --accept-types. The budget is opened in the ledger; nothing is charged.

    Example: sitr protect visits.parquet --unit patient_id --max-groups 3 --max-rows-per-group 2
    --bounds cost=0:5000 --keys ward=Cardiology,Surgery --budget 'zcdp(0.5)' --ledger sitr.db
    """
    target = output if output is not None else _beside(source)
    _check_target(target, force=force)
    promised = promise(budget) if budget is not None else None
    if not source.is_file():
        raise no_source(source)
    from sitr.dataset.schema import describe  # only now: much slower than to refuse a budget
    from sitr.report.text import terminal as text
    from sitr.session import dataset as session
    from sitr.session.terms import check_pair

    check_pair(promised, ledger)
    public: dict[str, Any] = {
        "relation": relation,
        "max_groups": max_groups,
        "max_rows_per_group": max_rows_per_group,
        "bounds": named("--bounds", bounds, lambda _, text: interval(text)),
        "granularity": named("--granularity", granularity, lambda _, text: number(text)),
    }
    tables = named("--public", public_tables, lambda _, text: Path(text))
    protected, types = unit_of(unit, row=unit_row), named("--type", kind, lambda _, text: text)
    with working(f"Reading {source} once", quiet=as_json):
        dataset = session.protect(
            source, unit=protected, types=types, accept_types=accept_types, name=name, public=tables, **public
        )
    table, kinds = dataset.table, {column.name: column.kind for column in dataset.table.columns}
    public["keys"] = _keys(kinds, keys, keys_file)  # their types are those of the columns, known only now
    dataset = replace(dataset, table=describe(table.name, kinds=kinds, unit=table.unit, **public))
    dataset.save(target, promise=promised, ledger=ledger)
    if as_json:
        say_json(_content(dataset.table, description=target, promised=promised, ledger=ledger))
    else:
        out = console()
        text.show(_columns(dataset.table), out=out)
        out.print(_next_steps(dataset.table, target, promised, ledger), soft_wrap=True)


def _content(table: Table, *, description: Path, promised: Kept | None, ledger: Path | None) -> dict[str, object]:
    """The description as JSON."""
    from sitr.report.envelope import promise_dict

    return {
        "description": str(description),
        "name": table.name,
        "neighbors": table.neighbors(),
        "max_groups": table.max_groups,
        "max_rows_per_group": table.max_rows_per_group,
        "columns": [
            {
                "name": column.name,
                "type": column.kind.value,
                "bounds": [str(end) for end in column.quantised.ends] if column.quantised else None,
                "granularity": str(column.quantised.granularity) if column.quantised else None,
                "keys": None if column.keys is None else [_plain(key) for key in column.keys],
            }
            for column in table.columns
        ],
        "budget": {"promise": promise_dict(promised), "ledger": str(ledger)} if promised is not None else None,
    }


def _columns(described: Table) -> Grid:
    """The columns, and what a question can do with each."""
    from sitr.report.figures import about, shortened, visible

    grid = empty("column", "type", "bounds", "step", "public keys", "can be")
    for column in described.columns:
        keys = ", ".join("(no value)" if key is None else visible(str(key)) for key in column.keys or ())
        grid.add_row(
            visible(column.name),
            column.kind.value,
            " to ".join(about(end, digits=15) for end in column.quantised.ends) if column.quantised else "",
            about(column.quantised.granularity, digits=15) if column.quantised else "",
            shortened(keys, most=40) + (f" ({len(column.keys)})" if column.keys and len(keys) > 40 else ""),
            _uses(column, described),
        )
    return grid


def _uses(column: Column, table: Table) -> str:
    from sitr.dataset.schema import GROUPABLE

    if isinstance(table.unit, Person) and table.unit.column == column.name:
        return "counted distinct"
    summed = ["summed"] if column.quantised else []
    grouped = ["grouped" if column.keys else "grouped with δ"] if column.kind in GROUPABLE else []
    return ", ".join([*summed, *grouped]) or "counted"


def _next_steps(table: Table, target: Path, promised: Kept | None, ledger: Path | None) -> str:
    from sitr.flavors.notation import write
    from sitr.flavors.random import RandomDP
    from sitr.questions.aggregate.functions.count import Count
    from sitr.questions.aggregate.nodes import Named, Query, text
    from sitr.report.figures import counted
    from sitr.report.words.english.english import ENGLISH

    groups, rows = counted(table.max_groups, "group"), counted(table.max_rows_per_group, "row")
    caps = f", with at most {groups} and {rows} in each" if isinstance(table.unit, Person) else ""
    written = f"Protects each {table.neighbors()}{caps}. Written to {target}."
    if promised is None:
        return f"{written}\nNo budget is set, so give --budget and --ledger with each question."
    inner = cast("Additive", promised.inner) if isinstance(promised, RandomDP) else promised
    question, price = text(Query(table.name, (Named("n", Count()),))), write(inner.share(Fraction(1, 10)))
    command = shlex.join(["sitr", "preview", str(target), question, "--price", price])
    newcomer = f"\n{warning}" if (warning := ENGLISH.newcomer(promised)) else ""
    costs = f"All answers together may cost {write(promised)}; the ledger is {ledger}.{newcomer}"
    return f"{written}\n{costs} Try next:\n  {command}"


def _plain(key: Key) -> str | int | bool | None:
    return key.isoformat() if isinstance(key, date) else key


def _beside(source: Path) -> Path:
    """The default path of the description."""
    if source.name in ("", ".."):
        raise BadUsage(
            wanted="a Parquet or CSV file",
            given=f"the folder {str(source)!r}",
            do="Name the file itself, such as visits.parquet.",
        )
    return source.with_name(source.name.split(".")[0] + ".sitr.yaml")


def _check_target(target: Path, *, force: bool) -> None:
    if target.suffix not in (".yaml", ".yml"):
        raise BadUsage(wanted="a description whose name ends in .yaml", given=f"{target}", do="Change the ending.")
    if target.exists() and not force:
        raise FileError(
            given=f"{target} already exists.",
            do="Choose another file with -o, or overwrite it with --force.",
        )


def _keys(kinds: dict[str, Kind], listed: Items, filed: Items) -> dict[str, list[Key]]:
    def typed(column: str, texts: list[str]) -> list[Key]:
        return [key_of(text.strip(), kinds.get(column)) for text in texts if text.strip()]

    keys = named("--keys", listed, lambda column, text: typed(column, text.split(",")))
    more = named("--keys-file", filed, lambda column, file: typed(column, _lines(file)))
    if both := sorted(keys.keys() & more.keys()):
        raise BadUsage(
            given=f"The column {both[0]} has both --keys and --keys-file.",
            do="Leave out one of them.",
        )
    return keys | more


def _lines(file: str) -> list[str]:
    return Path(file).read_text("utf-8-sig").splitlines()


def key_of(text: str, kind: Kind | None) -> Key:
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
    except ValueError:
        raise BadUsage(
            wanted=f"keys of type {kind.value if kind else 'text'}, like the column",
            given=f"{text!r}",
            do="Write integers like 0, booleans as true or false, dates like 2024-01-31, and NULL for a missing value.",
        ) from None
    return text
