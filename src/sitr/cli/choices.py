"""The options that describe a data set: `sitr protect` reads them, and `sitr start` asks for those that are missing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sitr.backends.formats import is_database_file
from sitr.cli.identifiers import identifies_person
from sitr.cli.one_off import CAPS
from sitr.cli.options import (
    Budget,
    Items,
    Keys,
    Ledger,
    MaxGroups,
    MaxInAll,
    MaxRows,
    SecondBudget,
    Spark,
    Unit,
    UnitRow,
    bounds_of,
    example_of,
    keys_of,
    keys_option,
    listed,
    missing_who,
    named,
    number,
    promise,
    unit_of,
    use_spark,
)
from sitr.dataset.csv_format import DeclaredFormat
from sitr.dataset.database import DatabaseTable, is_database, is_spark, spark_table, split
from sitr.dataset.file_table import FileTable
from sitr.errors import BadUsage, FileError
from sitr.neighbors.period import Period
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.neighbors.unit import Unit as UnitOf

if TYPE_CHECKING:
    from sitr.dataset.schema import Key, Kind
    from sitr.flavors.arrows import Kept
    from sitr.session.dataset import Dataset, Unprotected

    Place = Path | str
else:  # typer knows no unions; `Choices` makes a path of what is no address
    Place = str

Rows = Annotated[
    Place,
    typer.Argument(
        metavar="SOURCE", help="A Parquet or CSV file, a DuckDB database, postgresql://HOST/DATABASE, or spark:TABLE."
    ),
]
InDatabase = Annotated[
    str | None, typer.Option("--table", help="The table, if SOURCE is a database; in PostgreSQL also a view.")
]
Bounds = Annotated[Items, typer.Option(help="COLUMN=LOW:HIGH: makes a column summable. Repeatable.")]
Granularity = Annotated[Items, typer.Option(help="COLUMN=STEP, such as cost=0.01 for cents. Repeatable.")]
KeysFile = Annotated[Items, typer.Option(help="COLUMN=FILE: its public values, one per line. Repeatable.")]
Types = Annotated[Items, typer.Option("--type", help="COLUMN=TYPE in a CSV file. Repeatable.")]
Zones = Annotated[
    Items,
    typer.Option("--zone", help="COLUMN=ZONE, such as at=Europe/Paris: how moments are read; default UTC. Repeatable."),
]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark of a CSV file: '.' or ','.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates the values of a CSV file, such as ';'.")]
Quote = Annotated[str | None, typer.Option(help="What encloses values of a CSV file that contain the delimiter.")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line of a CSV file names the columns.")
]
Nulls = Annotated[
    Items, typer.Option("--null", help="A value that means no value in a CSV file, such as NA. Repeatable.")
]
DateFormat = Annotated[str | None, typer.Option(help="How dates are written in a CSV file, such as %d.%m.%Y.")]
TimestampFormat = Annotated[
    str | None, typer.Option(help="How timestamps are written in a CSV file, such as '%d.%m.%Y %H:%M'.")
]
AcceptTypes = Annotated[bool, typer.Option("--accept-types", help="Accept as public what was detected in a CSV file.")]
Neighbors = Annotated[Relation, typer.Option(help="How neighbouring data sets differ.")]
Periods = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN:LENGTH",
        help="Protect each person in each month, quarter or year, by the dates in a column, such as admitted:month.",
    ),
]
Name = Annotated[str | None, typer.Option(help="The table name in questions; default the file name.")]
PublicTables = Annotated[Items, typer.Option("--public", help="NAME=FILE: a public table. Repeatable.")]
Target = Annotated[Path | None, typer.Option("--output", "-o", help="The description to write; default beside SOURCE.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing description.")]


@dataclass(frozen=True, slots=True)
class Choices:
    """The options as they are written on the command line."""

    source: Rows
    unit: Unit = None
    unit_row: UnitRow = False
    period: Periods = None
    max_groups: MaxGroups = None
    max_rows_per_group: MaxRows = None
    max_rows: MaxInAll = None
    bounds: Bounds = None
    granularity: Granularity = None
    keys: Keys = None
    keys_file: KeysFile = None
    types: Types = None
    zones: Zones = None
    decimal: Decimal = None
    delimiter: Delimiter = None
    quote: Quote = None
    header: Header = None
    nulls: Nulls = None
    date_format: DateFormat = None
    timestamp_format: TimestampFormat = None
    accept_types: AcceptTypes = False
    relation: Neighbors = Relation.ADD_REMOVE
    name: Name = None
    public: PublicTables = None
    table: InDatabase = None
    budget: Budget = None
    ledger: Ledger = None
    second_budget: SecondBudget = False
    output: Target = None
    force: Force = False
    spark: Spark = None

    def __post_init__(self) -> None:
        if not is_database(self.source) and not is_spark(self.source):
            object.__setattr__(self, "source", Path(self.source))

    @property
    def target(self) -> Path:
        """The description to write."""
        return self.output if self.output is not None else self.beside(".sitr.yaml")

    @property
    def file(self) -> Path | FileTable | None:
        """SOURCE, if it is a file or a table in one."""
        if not isinstance(self.source, Path):
            return None
        if self.table is None or not is_database_file(self.source):
            return self.source
        return FileTable(self.source, self.table)

    @property
    def promised(self) -> Kept | None:
        """The budget."""
        return promise(self.budget) if self.budget is not None else None

    @property
    def written(self) -> DeclaredFormat:
        """What is declared about the format of a CSV file."""
        given = {name: getattr(self, name) for name in DeclaredFormat.__annotations__}
        return cast("DeclaredFormat", {name: value for name, value in given.items() if value is not None})

    def beside(self, ending: str) -> Path:
        """A file beside SOURCE, with the name of SOURCE up to its first dot and this ending.

        For a table in a database, it is in the current folder and has the table's name; for a folder on Spark, the
        folder's.
        """
        if is_spark(self.source):
            return Path(spark_table(str(self.source)).name.replace("/", "_") + ending)
        if isinstance(self.source, str):
            return Path(DatabaseTable(self.source, self.table or "table").name + ending)
        if isinstance(self.file, FileTable):
            return self.source.with_name(self.file.name + ending)
        if self.source.name in ("", ".."):
            raise BadUsage(
                wanted="a Parquet or CSV file",
                given=f"the folder {str(self.source)!r}",
                do="Name the file itself, such as visits.parquet.",
            )
        return self.source.with_name(self.source.name.split(".")[0] + ending)

    def check_target(self) -> None:
        """Refuse a description that cannot be written."""
        from sitr.backends.formats import check_readable

        target = self.target
        if isinstance(self.source, Path):
            check_readable(self.source)  # before the target: a wrong name is the likelier mistake
        if is_database_file(self.source) and self.table is None and self.output is None:
            return  # the name of the table becomes the name of the description
        if target.suffix not in (".yaml", ".yml"):
            raise BadUsage(wanted="a description whose name ends in .yaml", given=f"{target}", do="Change the ending.")
        if target.exists() and not self.force:
            raise FileError(
                given=f"{target} already exists.",
                do="Choose another file with -o, or overwrite it with --force.",
            )
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise FileError(
                given=f"Cannot write {target}, because its folder does not exist or is not writable.",
                do="Create the folder, or choose another with -o.",
            )

    def look(self) -> Unprotected:
        """The columns of SOURCE, with the declared types."""
        from sitr.session.dataset import look

        use_spark(self.spark)
        types = named("--type", self.types, lambda _, text: text)
        return look(self.source, types=types, table=self.table, **self.written)

    @property
    def shown(self) -> str:
        """SOURCE without the password of a database."""
        shown = str(self.source)
        return split(shown)[0] if is_database(self.source) else shown

    def check_complete(self, found: Unprotected, *, budget: bool = False) -> None:
        """Refuse missing options, all at once; the `budget` is optional unless it is said to be required."""
        from sitr.backends.confirmation import confirm, confirming, proposal

        unit_of(self.unit, row=self.unit_row)
        given = [cap or self.max_rows for cap in (self.max_groups, self.max_rows_per_group)]
        missing = missing_who(self.unit, row=self.unit_row, caps=dict(zip(CAPS, given, strict=True)))
        person = next(filter(identifies_person, found.backend.kinds()), None)
        add = [example_of(self.unit or person, CAPS)] if missing else []
        if self.budget is None and (budget or self.ledger is not None):
            missing, add = [*missing, "--budget"], [*add, "--budget 'approximate(1, 1e-6)'"]
        if self.ledger is None and self.budget is not None:
            missing, add = [*missing, "--ledger"], [*add, "--ledger sitr.db"]
        unsure = found.file if not self.accept_types and not found.confirmed else None
        if unsure is not None and not missing:
            confirm(unsure, declared=found.declared, written=self.written)
        if unsure is not None:
            raise BadUsage(
                given=f"Missing {listed(missing)}. You must also confirm what Sitr detected in the rows, because it "
                f"becomes public: {proposal(unsure)}.",
                do=f"Add for example {' '.join([*add, shlex.join(confirming(unsure))])}. --accept-types alone "
                "confirms all that was detected.",
            )
        if missing:
            raise BadUsage(given=f"Missing {listed(missing)}.", do=f"Add for example {' '.join(add)}.")
        if self.unit_row and any(cap not in (None, 1) for cap in given):
            raise BadUsage(
                given="--max-groups and --max-rows-per-group limit what a person contributes, and --unit-row protects "
                "single rows.",
                do="Leave the caps out, or name the column that identifies a person with --unit.",
            )

    def protect(self, found: Unprotected) -> Dataset:
        """The data set as these options describe it. Reads every value once."""
        unit, kinds = unit_of(self.unit, row=self.unit_row), found.backend.kinds()
        in_database = isinstance(self.source, str) or is_database_file(self.source)
        return found.protect(
            unit=_with_period(unit, self.period),
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            max_rows=self.max_rows,
            bounds=named("--bounds", self.bounds, lambda name, text: bounds_of(text, kinds.get(name))),
            granularity=named("--granularity", self.granularity, lambda _, text: number(text)),
            keys=_keys(kinds, self.keys, self.keys_file),
            zones=named("--zone", self.zones, lambda _, text: text),
            relation=self.relation,
            name=self.name,
            public=named("--public", self.public, lambda _, text: text if in_database else Path(text)),
        )

    def words(self) -> list[str]:
        """The command that makes these choices without any question."""
        words = ["sitr", "protect", self.shown]
        for each in fields(self)[1:]:
            option = {"types": "--type", "zones": "--zone", "nulls": "--null"}.get(
                each.name, f"--{each.name.replace('_', '-')}"
            )
            match getattr(self, each.name):
                case False if each.name == "header":
                    words.append("--no-header")
                case None | False | Relation.ADD_REMOVE:
                    pass
                case True:
                    words.append(option)
                case list(values) if each.name == "nulls":
                    words += [f"{option}={value}" for value in values]  # a value may begin with a hyphen
                case list(values):
                    words += [word for value in values for word in (option, value)]
                case Relation() as relation:
                    words += [option, relation.value]
                case value:
                    words += [option, str(value)]
        return words


def _with_period(unit: str | Row, period: str | None) -> UnitOf:
    """Who is protected, perhaps in each period."""
    if period is None:
        return Person(unit) if isinstance(unit, str) else unit
    found = Period.of(period)
    if found is None or not isinstance(unit, str):
        raise BadUsage(
            wanted="--unit COLUMN with --period COLUMN:LENGTH, of a length of month, quarter or year",
            given=f"--period {period}",
            do="Write for example --unit patient_id --period admitted:month.",
        )
    return Person(unit, found)


def _keys(kinds: Mapping[str, Kind], shown: Items, filed: Items) -> dict[str, list[Key] | str]:
    def typed(split: Callable[[str], list[str]]) -> Callable[[str, str], list[Key]]:
        return lambda column, text: keys_of(split(text), kinds.get(column), column=column)

    keys = keys_option(shown, kinds)
    more = named("--keys-file", filed, typed(lambda file: Path(file).read_text("utf-8-sig").splitlines()))
    if both := sorted(keys.keys() & more.keys()):
        raise BadUsage(
            given=f"The column {both[0]} has both --keys and --keys-file.",
            do="Leave out one of them.",
        )
    return keys | more
