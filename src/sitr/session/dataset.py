"""Protect a data set: fix what is public about it before any question is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path

from sitr.backends.backend import Backend, check_unchanged
from sitr.backends.csv import CsvFile, confirm
from sitr.backends.duckdb import ArrowStream, DuckDB, open_source
from sitr.dataset.description import Description, load, save
from sitr.dataset.schema import Key, Kind, Table, describe
from sitr.errors import DescriptionError
from sitr.flavors.arrows import Kept
from sitr.flavors.random import RandomDP
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger
from sitr.ledger.sqlite import sqlite_file
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.numbers import Number
from sitr.report import summary
from sitr.report.figures import visible
from sitr.report.paper import Paper
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation
from sitr.session.ask import checked
from sitr.session.budget import Budget
from sitr.session.desk import Desk, account_name
from sitr.session.public import Source, check_apart
from sitr.session.public import declared as declared_public
from sitr.session.shown import Shown
from sitr.session.terms import check_overwrite, check_pair, check_public, check_terms, check_undescribed, fixed_terms


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Shown):
    """A protected data set. Its rows are read only through a budget, and they are never printed."""

    table: Table
    _backend: Backend = field(repr=False, compare=False)
    source: Path | None = None
    described: Description | None = None
    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)
    """Tables that are public, by name."""

    @property
    def paper(self) -> Paper:
        """What is shown of it: its public description, never its rows."""
        found = self.described
        facts = (
            *((("file", visible(str(self.source))),) if self.source is not None else ()),
            *((("budget", notation(found.promise)),) if found is not None and found.promise is not None else ()),
            *((("public tables", ", ".join(map(visible, self.public))),) if self.public else ()),
        )
        return summary.dataset(self.table, facts)

    def _brief(self) -> str:
        return ENGLISH.summary.dataset(self.table)

    def budget(self, promise: Kept | None = None, *, ledger: str | Path | Ledger | None = None) -> Budget:
        """The budget of this data set in a ledger, opened now if it is new.

        If a description names a budget, that is the only one: `promise` and `ledger` can be left out or repeated. The
        ledger it names must exist, because without it nobody knows what is left.
        """
        fixed = fixed_terms(self.source, self.described)
        if fixed is not None:
            check_terms(fixed, self.table, None if promise is None else checked(promise), ledger)
            check_public(fixed, self.public)
            return self._budget(_reopened(self.table, fixed))
        if promise is None or ledger is None:
            raise DescriptionError(
                wanted=f"a budget and a ledger for {self.table.name}, whose description names none",
                given="neither" if promise is None and ledger is None else "only one of them",
                do="Give --budget 'zcdp(0.5)' --ledger sitr.db with each question or to sitr protect "
                '(in Python: budget(sitr.ZeroConcentratedDP(0.5), ledger="sitr.db")).',
            )
        return self._budget(_opened(self.table, checked(promise), ledger))

    def save(self, path: str | Path, *, promise: Kept | None = None, ledger: str | Path | None = None) -> Path:
        """Write the description as YAML; with a promise and a ledger, open the budget that it names."""
        check_pair(promise, ledger)
        if self.source is None:
            raise DescriptionError(
                given=f"{self.table.name} is in memory, and only a data set in a file can be described on disk.",
                do="Write it to Parquet and protect that file.",
            )
        files = {name: file for name, file in self.public.items() if isinstance(file, Path)}
        if in_memory := sorted(self.public.keys() - files.keys()):
            raise DescriptionError(
                given=f"The public table {in_memory[0]} is in memory, and a description on disk can only name files.",
                do="Write it to Parquet and declare that file.",
            )
        source = self._backend.source if isinstance(self._backend, DuckDB) else None
        format = source.format if isinstance(source, CsvFile) else None
        place = Path(ledger) if ledger is not None else None
        kept = None if promise is None else checked(promise)
        made = Description(self.table, self.source, format, kept, place, files)
        check_overwrite(Path(path), made)
        if promise is not None and place is not None:  # first, so that the budget of a description always exists
            self.budget(promise, ledger=place)
        save(made, Path(path))
        return Path(path)

    def one_off(self, *prices: Kept, ledger: str | Path | None = None) -> Budget:
        """A budget of exactly these prices, for a file that no description names; it is opened by the first charge.

        The ledger is `visits.sitr.db` beside `visits.parquet` unless another is given. Previews and refused questions
        leave no ledger behind. Once the prices are paid, nothing is left for a second time.
        """
        if not prices or (ledger is None and self.source is None):
            raise DescriptionError(
                wanted="the prices to pay, and a file of rows or a ledger",
                given="no prices" if not prices else f"{self.table.name}, which is in memory, and no ledger",
                do='Write for example one_off(sitr.PureDP(0.1), ledger="sitr.db").',
            )
        check_undescribed(self.source)
        promise = _allowed(self.table, checked(reduce(add, map(checked, prices))))
        beside = self.source and self.source.with_name(self.source.name.split(".")[0] + ".sitr.db")
        place = sqlite_file(ledger or str(beside), patience=0.0).path
        later = LazyLedger(place, account_name(self.table), promise, self.table.neighbors())
        return self._budget(later)

    def _budget(self, ledger: Ledger) -> Budget:
        return Budget(Desk(self.table, self._backend, ledger, account_name(self.table)), self.public)


def _opened(table: Table, promise: Kept, ledger: str | Path | Ledger) -> Ledger:
    """The ledger, with an account of this data set on these terms."""
    _allowed(table, promise)
    keeper = SqlLedger(ledger) if isinstance(ledger, str | Path) else ledger
    keeper.open(account_name(table), promise=promise, neighbors=table.neighbors())
    return keeper


def _reopened(table: Table, fixed: Description) -> Ledger:
    """The ledger that a description names, which must still have the account of this data set."""
    assert fixed.promise is not None
    assert fixed.ledger is not None
    promise, neighbors = _allowed(table, fixed.promise), table.neighbors()
    keeper = SqlLedger(fixed.ledger, create=False)
    keeper.open(account_name(table), promise=promise, neighbors=neighbors, create=False)
    return keeper


def _allowed(table: Table, promise: Kept) -> Kept:
    """The promise, if it can be made for these neighbours."""
    if isinstance(promise, RandomDP) and table.relation is not Relation.REPLACE_ONE:
        raise DescriptionError(
            wanted="neighbours that replace one person, because a budget with a γ is about a random newcomer",
            given=f"{table.name}, which protects each {table.neighbors()}",
            do="Protect the data set with relation=sitr.Relation.REPLACE_ONE (--relation replace-one).",
        )
    return promise


def protect(
    source: str | Path | ArrowStream,
    *,
    unit: str | Unit,
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    bounds: Mapping[str, tuple[Number, Number]] | None = None,
    granularity: Mapping[str, Number] | None = None,
    keys: Mapping[str, Sequence[Key]] | None = None,
    types: Mapping[str, str] | None = None,
    accept_types: bool = False,
    relation: Relation = Relation.ADD_REMOVE,
    name: str | None = None,
    public: Mapping[str, str | Path | ArrowStream] | None = None,
) -> Dataset:
    """Protect a data set.

    `unit` is the column that identifies a person, or `Row()`. One person counts in at most `max_groups` groups of a
    question, with at most `max_rows_per_group` rows in each. `bounds` and `granularity` make columns summable. `keys`
    are the public values of grouping columns; without them, only keys above a threshold are shown. `types` declares the
    types of a CSV file's columns ("integer", "real", "text", "boolean", "date", "timestamp"); a value that does not fit
    its type counts as missing. If a column has no type, types are proposed from the rows, and you must confirm them:
    by `types` for all columns, or by `accept_types=True`. All of this counts as public.

    `public` declares public tables by name, such as last year's published rows: synthetic rows can be compared with
    them for free. Their rows are shown exactly, so the protected table cannot be one of them.

    The whole source is read once, to make sure that no row can make a question fail later.
    """
    if not isinstance(unit, str | Row | Person) or not isinstance(relation, Relation):
        raise DescriptionError(
            wanted="unit to be a column or sitr.Row(), and relation to be a sitr.Relation",
            given=f"unit={unit!r} and relation={relation!r}",
            do='Write unit="patient_id", and leave relation out or write sitr.Relation.REPLACE_ONE.',
        )
    declared = {column: _kind(column, kind) for column, kind in (types or {}).items()}
    backend = open_source(source, types=declared)
    if isinstance(backend.source, CsvFile) and not accept_types:
        confirm(backend.source, declared=declared)
    path = Path(source) if isinstance(source, str | Path) else None
    if name is None and path is None:
        raise DescriptionError(
            given="A data set in memory needs a name, for questions and for the ledger.",
            do='Write protect(frame, name="visits", …).',
        )
    table = describe(
        name if name is not None else str(path and path.name.split(".")[0]),
        kinds=backend.kinds(),
        unit=Person(unit) if isinstance(unit, str) else unit,
        relation=relation,
        max_groups=max_groups,
        max_rows_per_group=max_rows_per_group,
        bounds=bounds or {},
        granularity=granularity or {},
        keys=keys or {},
    )
    tables = declared_public(public or {}, backend=backend, protected=source)
    backend.verify()
    return Dataset(table, backend, path, public=tables)


def open(description: str | Path) -> Dataset:
    """The data set of a description, which `sitr protect` or `Dataset.save` wrote."""
    found = load(Path(description))
    kinds = {column.name: column.kind for column in found.table.columns}
    backend = open_source(found.source, types=kinds, format=found.format)
    check_unchanged(backend, found.table)
    check_apart(found.public, backend)
    return Dataset(found.table, backend, found.source, found, found.public)


def _kind(column: str, kind: str) -> Kind:
    known = {known.value: known for known in Kind if known not in (Kind.BYTES, Kind.OTHER)}
    if kind not in known:
        raise DescriptionError(
            wanted=f"one of {', '.join(known)} as a type",
            given=f"{kind!r} for the column {column!r}",
            do="Choose one of those.",
        )
    return known[kind]
