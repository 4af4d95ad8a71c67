"""Protect a data set: fix what is public about it before any question is asked."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.dataset.csv_format import CsvFormat, DeclaredFormat, check_written
from sitr.dataset.database import Address, DatabaseTable
from sitr.dataset.description import Description, load, save
from sitr.dataset.file_table import FileTable
from sitr.dataset.publication import Publication, Published
from sitr.dataset.schema import KEYS, Bound, Kind, Table, describe
from sitr.errors import DescriptionError, InvalidUse, QuestionError, no_source, suggestion
from sitr.flavors.exposure import warn_of_delta
from sitr.flavors.price import Amounts, Price, price_of
from sitr.flavors.pure import PureDP
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.located import addressed, located
from sitr.ledger.terms import (
    allowed,
    check_overwrite,
    check_pair,
    check_public,
    check_terms,
    check_undescribed,
    check_unprotected,
    fixed_terms,
    is_description,
    opened,
    reopened,
)
from sitr.namespace import Later
from sitr.neighbors.period import Period
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.numbers import Number
from sitr.questions.aggregate.habits import DATASET, Whole
from sitr.questions.aggregate.key_domains import Keys, with_keys
from sitr.report import summary
from sitr.report.figures import visible
from sitr.report.paper import Paper
from sitr.report.words.messages import said
from sitr.report.words.words import in_words
from sitr.session.budget import Budget
from sitr.session.desk import Desk, keeping
from sitr.session.shown import Displayed, check_writable, unwritable

if TYPE_CHECKING:
    from sitr.backends import confirmation, csv, opening
    from sitr.backends.backend import Backend
    from sitr.backends.duckdb import ArrowStream
    from sitr.session import dummy as dummies
    from sitr.session import public as published
    from sitr.session.dummy import Dummy
    from sitr.session.explained import ExplainedQuestion
    from sitr.session.public import Source
else:  # a preview opens no file
    opening = Later("sitr.backends.opening")
    confirmation = Later("sitr.backends.confirmation")
    dummies = Later("sitr.session.dummy")
    published = Later("sitr.session.public")


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Whole, Displayed):
    """A protected data set. Its rows are read only through a budget, and they are never printed."""

    _hints = DATASET

    table: Table
    _backend: Backend | None = field(repr=False, compare=False)
    """None if it was described: then the file is opened when its rows are needed."""
    source: Path | DatabaseTable | FileTable | None = None
    described: Description | None = None
    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)
    """Tables that are public, by name."""

    @property
    def paper(self) -> Paper:
        """What is shown of it: its public description, never its rows."""
        promise = None if self.described is None else self.described.promise
        facts = (
            *((("file", visible(str(self.source))),) if isinstance(self.source, Path) else ()),
            *((("table", visible(str(self.source))),) if isinstance(self.source, DatabaseTable | FileTable) else ()),
            *((("budget", in_words().notation(promise)),) if promise is not None else ()),
            *((("public tables", in_words().comma.join(map(visible, self.public))),) if self.public else ()),
        )
        return summary.dataset(self.table, facts)

    def _brief(self) -> str:
        return in_words().summary.dataset(self.table)

    def budget(
        self,
        promise: Price | None = None,
        *,
        ledger: str | Path | Address | Ledger | None = None,
        keep: bool = True,
        second_budget: bool = False,
        **amounts: Unpack[Amounts],
    ) -> Budget:
        """The budget of this data set in a ledger, opened now if it is new.

        `budget("zcdp(0.5)", ledger="sitr.db")` and `budget(rho=0.5, ledger="sitr.db")` open the same budget.

        A team can share a ledger on a PostgreSQL server: `ledger="postgresql://host/database"`.

        Answers are kept beside the ledger, and the same question at the same price is answered again for free. With
        `keep=False`, or SITR_KEEP_ANSWERS=no in the environment, nothing is kept and everything is charged.

        If a description names a budget, that is the only one: `promise` and `ledger` can be left out or repeated. The
        ledger it names must exist, because without it nobody knows what is left.

        A file that has a budget in another ledger, or under another name, gets another one only with
        `second_budget=True`. This is recorded, and each person in it is promised the sum of both.
        """
        whole = None if promise is None and not amounts else price_of(promise, **amounts)
        fixed = fixed_terms(self.source, self.described)
        if fixed is not None:
            check_terms(fixed, self.table, whole, ledger)
            check_public(fixed, self.public)
            return self._budget(reopened(self.table, fixed), fixed.publication, keep=keep)
        if whole is None or ledger is None:
            raise DescriptionError(
                wanted=f"a budget and a ledger for {self.table.name}, whose description names none",
                given="neither" if whole is None and ledger is None else "only one of them",
                do="Give --budget 'zcdp(0.5)' --ledger sitr.db with each question or to sitr protect "
                '(in Python: budget(rho=0.5, ledger="sitr.db")).',
            )
        found = opened(self.table, whole, ledger, source=self._where(), second=second_budget)
        budget = self._budget(found, keep=keep)
        if self.table.relation is Relation.REPLACE_ONE and isinstance(self.table.unit, Row):  # their number is public
            warn_of_delta(whole, people=max(1, budget._at.backend.size()))
        return budget

    def dummy(self, rows: int = 1_000, *, seed: int = 0) -> Dummy[Budget]:
        """Invented rows with the public columns, types, keys and bounds; see `Budget.dummy`. Reads no rows."""
        promise = None if self.described is None else self.described.promise
        return dummies.Dummy(self.table, rows, seed, lambda at: Budget(at, self.public), promise)

    def explain(
        self, text: str, price: Price | None = None, *, beside: Sequence[Dataset] = (), **limits: Any
    ) -> ExplainedQuestion:
        """A question in SQL as a tree: what is read, bounded, measured and shown. Needs no budget and reads no rows.

        `beside` are other data sets that the question joins. `limits` are those of `Budget.sql`, such as `max_rows`; a
        price can also be given by its numbers, such as `rho=0.05`.
        """
        arguments.several(beside, name="beside", example="[patients]")
        for other in beside:
            if not isinstance(other, Dataset):
                raise QuestionError(
                    wanted="other protected data sets in beside", given=repr(other), do="Write for example [patients]."
                )
        amounts = {name: limits.pop(name) for name in Amounts.__annotations__ if name in limits}
        if amounts:
            price = price_of(price, **amounts)
        alone = self._unpaid()
        budget = alone.beside(*(other._unpaid() for other in beside)) if beside else alone
        return budget.sql(text, **limits).explain(price)

    def _unpaid(self) -> Budget:
        """A budget of nothing, for questions that are never asked."""
        nothing = LazyLedger(Path(os.devnull), self.table.account, PureDP(0.0), self.table.neighbors())
        return self._budget(nothing, keep=False)

    def save(
        self,
        path: str | Path,
        *,
        promise: Price | None = None,
        ledger: str | Path | Address | None = None,
        publication: Published | None = None,
        second_budget: bool = False,
        **amounts: Unpack[Amounts],
    ) -> Path:
        """Write the description as YAML; with a promise and a ledger, open the budget that it names.

        `publication` says who publishes the answers, such as {"title": "Visits by ward", "contact": "data@…"}; without
        one, a file that is replaced keeps what it said. `second_budget` is explained at `budget`.
        """
        target = arguments.path(path, of="visits.sitr.yaml")
        kept = None if promise is None and not amounts else price_of(promise, **amounts)
        if ledger is not None and not isinstance(ledger, Address):
            arguments.path(ledger, of="sitr.db")
        check_pair(kept, ledger)
        if self.source is None:
            raise DescriptionError(
                given=f"{self.table.name} is in memory, and only a data set in a file can be described on disk.",
                do="Write it to Parquet and protect that file.",
            )
        files = {name: file for name, file in self.public.items() if isinstance(file, Path | DatabaseTable | FileTable)}
        if in_memory := sorted(self.public.keys() - files.keys()):
            raise DescriptionError(
                given=f"The public table {in_memory[0]} is in memory, and a description on disk can only name files.",
                do="Write it to Parquet and declare that file.",
            )
        format = self._format()
        place = addressed(ledger) if ledger is not None else None
        made = Description(self.table, self.source, format, kept, place, files)
        check_overwrite(target, made)
        made = replace(made, publication=_said(publication, target))
        check_writable(target)  # before a budget is opened
        if kept is not None and place is not None:  # first, so that the budget of a description always exists
            self.budget(kept, ledger=place, second_budget=second_budget)
        try:
            save(made, target, say=said)
        except OSError:
            raise unwritable(target) from None
        return target

    def one_off(
        self,
        *prices: Price,
        ledger: str | Path | Address | None = None,
        second_budget: bool = False,
        **amounts: Unpack[Amounts],
    ) -> Budget:
        """A budget of exactly these prices, for a file that no description names; it is opened by the first charge.

        The ledger is `visits.sitr.db` beside `visits.parquet` unless another is given. Previews and refused questions
        leave no ledger behind. Once the prices are paid, nothing is left for a second time.
        """
        paid = [*map(price_of, prices), *([price_of(**amounts)] if amounts else [])]
        source = self.source
        file = source.path if isinstance(source, FileTable) else source if isinstance(source, Path) else None
        if not paid or (ledger is None and file is None):
            raise DescriptionError(
                wanted="the prices to pay, and a file of rows or a ledger",
                given="no prices" if not paid else f"{self.table.name}, which is in no file, and no ledger",
                do='Write for example one_off("pure(0.1)", ledger="sitr.db").',
            )
        if self.table.period is not None:
            raise DescriptionError(
                given=f"{self.table.name} has a budget for {self.table.period.length.each}, and none for one question.",
                do="Open its budget in a ledger: budget(rho=0.5, ledger=…).period(…).",
            )
        check_undescribed(self.source)
        promise = allowed(self.table.relation, price_of(reduce(add, paid)))
        named = source.name if isinstance(source, FileTable) else file and file.name.split(".")[0]
        beside = file and file.with_name(f"{named}.sitr.db")
        if ledger is not None and not isinstance(ledger, str | Address):
            arguments.path(ledger, of="sitr.db")
        at = located(ledger or str(beside), patience=0.0).place  # refuses places where no ledger can be
        place = at if isinstance(at, Path) else addressed(ledger or "")
        account, neighbors = self.table.account, self.table.neighbors()
        later = LazyLedger(place, account, promise, neighbors, self._where(), second_budget)
        return self._budget(later)

    def _where(self) -> str:
        """Where the rows are, whatever the path is called; empty for rows in memory, which are nowhere else."""
        if isinstance(self.source, DatabaseTable):
            return f"table {self.source.place}"
        if isinstance(self.source, FileTable):
            return f"file {self.source.place}"
        return "" if self.source is None else f"file {self.source.resolve()}"

    def _format(self) -> CsvFormat | None:
        """How the lines of a CSV file are read; None for other sources."""
        if self.described is not None:
            return self.described.format
        file = None if self._backend is None else opening.file_of(self._backend)
        return None if file is None else file.format

    def _rows(self) -> Backend:
        """The backend that holds the rows."""
        if self._backend is not None:
            return self._backend
        assert self.described is not None
        kinds = {column.name: column.stored for column in self.table.columns}
        found = opening.open_source(self.described.source, types=kinds, format=self.described.format)
        return opening.in_zones(found, self.table)

    def _budget(self, ledger: Ledger, publication: Publication | None = None, *, keep: bool = True) -> Budget:
        said = publication or (Publication() if self.described is None else self.described.publication)
        source = "" if self.source is None else f"{self.source.name} {self._format() or ''}"
        if isinstance(self.source, DatabaseTable):
            source = str(self.source)
        if isinstance(self.source, FileTable):
            source = f"{self.source.path.name} {'.'.join(self.source.parts)}"
        at = Desk(self.table, self._rows, ledger, self.table.account, source, keeping() and keep, said)
        return Budget(at, self.public)


def _said(publication: Published | None, path: Path) -> Publication:
    """Who publishes: as given, or as the file said that is replaced."""
    if publication is not None:
        arguments.mapping(publication, name="publication", example='{"title": "Visits by ward"}')
        return Publication().changed(**{str(name): value for name, value in publication.items()})
    return load(path).publication if is_description(path) else Publication()


@dataclass(frozen=True, slots=True)
class Unprotected:
    """A source of which only the columns' names and types are known, before anyone declares what is public about it."""

    source: str | Path | ArrowStream
    declared: Mapping[str, Kind]
    written: DeclaredFormat
    backend: Backend = field(repr=False, compare=False)

    @property
    def file(self) -> csv.CsvFile | None:
        """The CSV file, whose types are a proposal until they are confirmed; None for sources that declare theirs."""
        return opening.file_of(self.backend)

    @property
    def confirmed(self) -> bool:
        """Whether the source itself or its steward declares all types and formats."""
        file = self.file
        return file is None or not confirmation.unconfirmed(file, declared=self.declared, written=self.written)

    def name(self, given: str | None) -> str:
        """The name of the table: the given one, or the file's name up to its first dot."""
        if given is not None:
            return given
        if (table := opening.table_of(self.backend)) is not None:
            return table.name
        if isinstance(self.source, str | Path):
            return Path(self.source).name.split(".")[0]
        raise DescriptionError(
            given="A data set in memory needs a name, for questions and for the ledger.",
            do='Write protect(frame, name="visits", …).',
        )

    def protect(
        self,
        *,
        unit: Unit,
        max_groups: int | None,
        max_rows_per_group: int | None,
        bounds: Mapping[str, tuple[Bound, Bound]],
        granularity: Mapping[str, Number],
        keys: Keys,
        relation: Relation,
        name: str | None,
        public: Mapping[str, str | Path | ArrowStream],
        max_rows: int | None = None,
        zones: Mapping[str, str] | None = None,
    ) -> Dataset:
        """The data set with these declarations: see `protect`. Reads every value once."""
        arguments.mapping(keys, name="keys", example=KEYS)
        table = describe(
            self.name(name),
            kinds=self.backend.kinds(),
            unit=unit,
            relation=relation,
            max_groups=max_groups,
            max_rows_per_group=max_rows_per_group,
            max_rows=max_rows,
            bounds=bounds,
            granularity=granularity,
            keys={column: some for column, some in keys.items() if not isinstance(some, str)},
            zones=zones,
        )
        tables = published.declared(public, backend=self.backend, protected=self.source)
        check_unprotected(tables)
        _refuse_the_name_of_keys(keys, tables)
        if named := {column: some for column, some in keys.items() if isinstance(some, str)}:
            table = with_keys(table, named, published.catalog(table, tables, lambda: self.backend))
        self.backend.verify()
        rows = opening.in_zones(self.backend, table)
        return Dataset(table, rows, opening.source_of(self.backend), public=tables)


def _refuse_the_name_of_keys(keys: Keys, public: Container[str]) -> None:
    """Refuse one key that looks like a column of a public table: answers would be paid for, and count nothing."""
    for column, some in keys.items():
        only = some[0] if not isinstance(some, str) and len(some) == 1 else None
        if isinstance(only, str) and only.partition(".")[0] in public and "." in only:
            raise DescriptionError(
                given=f"The only key of the column {column!r} is {only!r}, the name of a public column.",
                do=f"In Python, write {only!r} without a list; on the command line, --keys {column}=@{only}.",
            )


def look(
    source: str | Path | ArrowStream,
    *,
    types: Mapping[str, str] | None = None,
    table: str | None = None,
    spark: Any = None,
    **written: Unpack[DeclaredFormat],
) -> Unprotected:
    """Look at the columns of a source. For a CSV file, types and formats that are not declared are detected."""
    check_written(written)
    if types is not None:
        arguments.mapping(types, name="types", example='{"cost": "real"}')
    declared = {column: _kind(column, kind) for column, kind in (types or {}).items()}
    opened = opening.open_source(source, types=declared, written=written, table=table, session=spark)
    return Unprotected(source, declared, written, opened)


def protect(
    source: str | Path | ArrowStream,
    *,
    unit: str | Unit,
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    max_rows: int | None = None,
    bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
    granularity: Mapping[str, Number] | None = None,
    keys: Keys | None = None,
    zones: Mapping[str, str] | None = None,
    types: Mapping[str, str] | None = None,
    accept_types: bool = False,
    relation: Relation = Relation.ADD_REMOVE,
    period: str | Period | None = None,
    name: str | None = None,
    public: Mapping[str, str | Path | ArrowStream] | None = None,
    table: str | None = None,
    spark: Any = None,
    **written: Unpack[DeclaredFormat],
) -> Dataset:
    """Protect a data set: a file, a table in memory, or a `table` or view in the database of an address.

    `unit` is the column that identifies a person, or `Row()`. One person counts in at most `max_groups` groups of a
    question, with at most `max_rows_per_group` rows in each, and at most `max_rows` rows in all, which is enough by
    itself. `bounds` and `granularity` make columns of numbers summable, and bounds of whole numbers or dates make their
    groups public. `keys` are the public values of grouping columns, as a list or as the column of a public table, such
    as {"ward": "wards.ward"}; without them, only keys above a threshold are shown. `types` declares the types of a CSV
    file's columns
    ("integer", "real", "text", "boolean", "date", "timestamp", or "timestamptz" for times with an offset such as
    +02:00); a value that does not fit its type counts as missing. `zones`, such as {"admitted": "Europe/Paris"}, are
    the time zones in which moments with a time zone are read; without one it is UTC, whatever the zone of a session or
    of this machine.
    `decimal` ("." or ","), `delimiter`, `quote`, `header` (whether the first line names the columns), `date_format` and
    `timestamp_format` (such as "%d.%m.%Y") declare how the file is written, and `nulls`, such as ["NA", "-"], which
    values mean no value in every column; an empty one always does. What is not declared is proposed from the
    rows, and you must confirm it: by declaring the types of all columns and every unusual format, or by
    `accept_types=True`. All of this counts as public.

    With a `period`, such as "admitted:month" (or quarter, or year), the unit is one person in one month, by dates in
    this column. Every month then has a budget of its own, every question names its month
    (`budget.period("2026-03")`) and reads this month's rows only. **Somebody with rows in several months pays in
    each**: what they are promised is the sum over these months.

    `public` declares public tables by name, such as last year's published rows: synthetic rows can be compared with
    them for free. Their rows are shown exactly, so the protected table cannot be one of them.

    `protect("postgresql://reader@host/clinic", table="visits", …)` protects a table or view of PostgreSQL. A password
    in the address is used and never written anywhere. Public tables are in the same database, such as {"wards":
    "reference.wards"}, or small files.

    `protect("hospital.duckdb", table="visits", …)` protects a table in a database of DuckDB, which is only read. Views
    are refused: make a table of them.

    `protect("spark:catalog.schema.visits", spark=spark, …)` protects a table or view of Spark, and `protect(frame,
    name="visits", …)` a DataFrame. Without a session, Spark's own active one is used, or one at the address SITR_SPARK.

    The whole source is read once, to make sure that no row can make a question fail later.
    """
    if not isinstance(unit, str | Row | Person) or not isinstance(relation, Relation):
        raise DescriptionError(
            wanted="unit to be a column or sitr.Row(), and relation to be a sitr.Relation",
            given=f"unit={unit!r} and relation={relation!r}",
            do='Write unit="patient_id", and leave relation out or write sitr.Relation.REPLACE_ONE.',
        )
    for given in written:
        if given not in DeclaredFormat.__annotations__:
            known = (*(protect.__kwdefaults__ or ()), "unit", *DeclaredFormat.__annotations__)
            raise InvalidUse(given=f"There is no parameter {given!r}.", do=suggestion(given, known))
    found = look(source, types=types, table=table, spark=spark, **written)
    if found.file is not None and not accept_types:
        confirmation.confirm(found.file, declared=found.declared, written=written)
    return found.protect(
        unit=_unit(unit, period),
        max_groups=max_groups,
        max_rows_per_group=max_rows_per_group,
        max_rows=max_rows,
        bounds={} if bounds is None else bounds,
        granularity={} if granularity is None else granularity,
        keys={} if keys is None else keys,
        zones=zones,
        relation=relation,
        name=name,
        public={} if public is None else public,
    )


def _unit(unit: str | Unit, period: str | Period | None) -> Unit:
    """Who is protected: a person, perhaps in each period, or a row."""
    if period is None:
        return Person(unit) if isinstance(unit, str) else unit
    found = period if isinstance(period, Period) else Period.of(period)
    if found is None or not isinstance(unit, str | Person):
        raise DescriptionError(
            wanted="the column of a person as the unit, and a period such as admitted:month",
            given=f"unit={unit!r} and period={period!r}",
            do="Leave the period out, or give both; a period is a month, a quarter or a year.",
        )
    return Person(unit if isinstance(unit, str) else unit.column, found)


def open(description: str | Path) -> Dataset:
    """The data set of a description, which `sitr protect` or `Dataset.save` wrote.

    The file of rows must be there. Whether it still has the columns that were described is checked before each charge.
    """
    found = load(arguments.path(description, of="visits.sitr.yaml"))
    file = found.source.path if isinstance(found.source, FileTable) else found.source
    if isinstance(file, Path) and not file.exists():
        raise no_source(file)
    made = Dataset(found.table, None, found.source, found, found.public)
    if found.public:
        published.check_apart(found.public, made._rows())
    return made


def _kind(column: str, kind: str) -> Kind:
    known = {known.value: known for known in Kind if known not in (Kind.BYTES, Kind.OTHER)}
    if kind not in known:
        raise DescriptionError(
            wanted=f"one of {', '.join(known)} as a type",
            given=f"{kind!r} for the column {column!r}",
            do="Choose one of those.",
        )
    return known[kind]
