"""`sitr protect`: fix what is public about a file, before any question is asked."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sitr.cli.options import Budget, Json, Ledger, interval, named, number, promise, unit_of
from sitr.cli.progress import working
from sitr.cli.terminal import console, say_json
from sitr.cli.terminal import table as empty
from sitr.errors import BadUsage, FileError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from sitr.dataset.schema import Column, Key, Kind, Table
    from sitr.flavors.arrows import Additive, Kept

Items = list[str] | None


def protect(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A Parquet or CSV file.")],
    unit: Annotated[str | None, typer.Option(help="The column that identifies a person.")] = None,
    unit_row: Annotated[bool, typer.Option("--unit-row", help="Protect each row by itself instead.")] = False,
    max_groups: Annotated[int | None, typer.Option(help="In how many groups of a question one person counts.")] = None,
    max_rows_per_group: Annotated[
        int | None, typer.Option(help="How many rows of one person count in each group.")
    ] = None,
    bounds: Annotated[Items, typer.Option(help="COLUMN=LOW:HIGH, makes a column summable. Repeatable.")] = None,
    granularity: Annotated[Items, typer.Option(help="COLUMN=STEP, such as cost=0.01 for cents. Repeatable.")] = None,
    keys: Annotated[
        Items, typer.Option(help="COLUMN=A,B,… lists its public groups; NULL is no value. Repeatable.")
    ] = None,
    keys_file: Annotated[
        Items, typer.Option(help="COLUMN=FILE, the same with one key in each line. Repeatable.")
    ] = None,
    kind: Annotated[Items, typer.Option("--type", help="COLUMN=TYPE of a CSV file's column. Repeatable.")] = None,
    accept_types: Annotated[
        bool, typer.Option("--accept-types", help="Take as public the types that the rows of a CSV file suggest.")
    ] = False,
    relation: Annotated[Relation, typer.Option(help="How neighbouring data sets differ.")] = Relation.ADD_REMOVE,
    name: Annotated[str | None, typer.Option(help="What questions call the table; else the file's name.")] = None,
    public_tables: Annotated[
        Items, typer.Option("--public", help="NAME=FILE declares a table that anybody may see. Repeatable.")
    ] = None,
    budget: Budget = None,
    ledger: Ledger = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write; else beside SOURCE.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a description that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Say what is public about a data set.

    Who is protected, what one person may contribute, bounds and keys: all of this is taken as public, so it must
    come from public knowledge, never from the rows. Every value is read once, so that none can fail a question later.
    The types of a CSV file's columns are proposed from its rows, and you confirm them by --type or --accept-types.
    The budget is opened in the ledger; nothing is charged.

    Example: sitr protect visits.parquet --unit patient_id --max-groups 3 --max-rows-per-group 2
    --bounds cost=0:5000 --keys ward=Cardiology,Surgery --budget 'zcdp(0.5)' --ledger sitr.db
    """
    from sitr.dataset.schema import describe
    from sitr.report import text
    from sitr.session import dataset as session
    from sitr.session.terms import check_pair

    target = output if output is not None else _beside(source)
    _check_target(target, force=force)
    promised = promise(budget) if budget is not None else None
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
    public["keys"] = _keys(kinds, keys, keys_file)  # typed by their columns, which are known only now
    dataset = replace(dataset, table=describe(table.name, kinds=kinds, unit=table.unit, **public))
    dataset.save(target, promise=promised, ledger=ledger)
    if as_json:
        say_json(_content(dataset.table, description=target, promised=promised, ledger=ledger))
    else:
        out = console()
        text.show(_columns(dataset.table), out=out)
        out.print(_next_steps(dataset.table, target, promised, ledger), soft_wrap=True)


def _content(table: Table, *, description: Path, promised: Kept | None, ledger: Path | None) -> dict[str, object]:
    """A description for machines."""
    from sitr.flavors.notation import write

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
                "bounds": [str(end) for end in _bounds(column)] or None,
                "granularity": str(column.quantised.granularity) if column.quantised else None,
                "keys": None if column.keys is None else [_plain(key) for key in column.keys],
            }
            for column in table.columns
        ],
        "budget": {"promise": write(promised), "ledger": str(ledger)} if promised is not None else None,
    }


def _columns(described: Table) -> Grid:
    """What a question can do with each column."""
    from sitr.report.figures import about, shortened, visible

    grid = empty("column", "type", "bounds", "step", "public keys", "can be")
    for column in described.columns:
        keys = ", ".join("(no value)" if key is None else visible(str(key)) for key in column.keys or ())
        grid.add_row(
            visible(column.name),
            column.kind.value,
            " to ".join(about(end, digits=15) for end in _bounds(column)),
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
    from sitr.questions.aggregate.nodes import Count, Named, Query, text
    from sitr.report.english import ENGLISH
    from sitr.report.figures import counted

    groups, rows = counted(table.max_groups, "group"), counted(table.max_rows_per_group, "row")
    caps = f", with at most {groups} and {rows} in each" if isinstance(table.unit, Person) else ""
    written = f"Protects each {table.neighbors()}{caps}. Written to {target}."
    if promised is None:
        return f"{written}\nNo budget is set: give --budget and --ledger with each question."
    inner = cast("Additive", promised.inner) if isinstance(promised, RandomDP) else promised
    question, price = text(Query(table.name, (Named("n", Count()),))), write(inner.share(Fraction(1, 10)))
    command = shlex.join(["sitr", "preview", str(target), question, "--price", price])
    newcomer = f"\n{told}" if (told := ENGLISH.newcomer(promised)) else ""
    costs = f"All answers together may cost {write(promised)}, which {ledger} keeps.{newcomer}"
    return f"{written}\n{costs} Try next:\n  {command}"


def _bounds(column: Column) -> tuple[Fraction, ...]:
    """Both ends in the column's unit, or none."""
    if (quantised := column.quantised) is None:
        return ()
    return quantised.lower * quantised.granularity, quantised.upper * quantised.granularity


def _plain(key: Key) -> str | int | bool | None:
    return key.isoformat() if isinstance(key, date) else key


def _beside(source: Path) -> Path:
    """Where the description of a file goes."""
    if source.name in ("", ".."):
        raise BadUsage(
            wanted="SOURCE is a Parquet or CSV file.",
            given=f"{str(source)!r} is a folder.",
            do="Name the file itself, such as visits.parquet.",
        )
    return source.with_name(source.name.split(".")[0] + ".sitr.yaml")


def _check_target(target: Path, *, force: bool) -> None:
    if target.suffix not in (".yaml", ".yml"):
        raise BadUsage(
            wanted="A description is a file ending in .yaml.", given=f"{target} was given.", do="Give it such a name."
        )
    if target.exists() and not force:
        raise FileError(
            wanted="A new description was to be written.",
            given=f"{target} is there already.",
            do="Name another file with -o, or overwrite it with --force.",
        )


def _keys(kinds: dict[str, Kind], listed: Items, filed: Items) -> dict[str, list[Key]]:
    def typed(column: str, texts: list[str]) -> list[Key]:
        return [key_of(text.strip(), kinds.get(column)) for text in texts if text.strip()]

    keys = named("--keys", listed, lambda column, text: typed(column, text.split(",")))
    more = named("--keys-file", filed, lambda column, file: typed(column, _lines(file)))
    if both := sorted(keys.keys() & more.keys()):
        raise BadUsage(
            wanted="The keys of a column are listed in one place.",
            given=f"{both[0]} has --keys and --keys-file.",
            do="Leave out one of the two.",
        )
    return keys | more


def _lines(file: str) -> list[str]:
    return Path(file).read_text("utf-8-sig").splitlines()


def key_of(text: str, kind: Kind | None) -> Key:
    """A key in the type of its column; `describe` knows what to say of a column that cannot have keys."""
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
            wanted=f"The column holds values of type {kind.value if kind else 'text'}, and so must its keys.",
            given=f"The key {text!r} was given.",
            do="Write integers like 0, truth values as true and false, dates like 2024-01-31, and NULL for no value.",
        ) from None
    return text
