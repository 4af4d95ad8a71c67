"""Protecting a data set: fixing what is public about it before any question is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sitr.backends.backend import Backend
from sitr.backends.csv import CsvFile, confirm
from sitr.backends.duckdb import ArrowStream, DuckDB, open_source
from sitr.dataset.description import Description, load, save
from sitr.dataset.schema import Key, Kind, Table, describe
from sitr.errors import DescriptionError
from sitr.flavors.arrows import Kept
from sitr.flavors.random import RandomDP
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.numbers import Number
from sitr.session.ask import check_unchanged, checked
from sitr.session.budget import Budget
from sitr.session.desk import Desk, account_name
from sitr.session.public import Source, check_apart
from sitr.session.public import declared as declared_public
from sitr.session.rehearsal import Rehearsal
from sitr.session.terms import check_overwrite, check_public, check_terms, fixed_terms


@dataclass(frozen=True, slots=True)
class Dataset:
    """Rows behind a veil: nothing is read from them but through a budget, and nothing of them is ever printed."""

    table: Table
    _backend: Backend = field(repr=False, compare=False)
    source: Path | None = None
    described: Description | None = None
    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)
    """Tables that anybody may see, by name."""

    def budget(self, promise: Kept | None = None, *, ledger: str | Path | Ledger | None = None) -> Budget:
        """The budget of this data set in a ledger: opened now, or as it stands if it was opened before.

        A description that names a budget admits that one only. It can be left out here, or repeated; its ledger must
        be there, since a lost ledger is a budget of which nobody knows what is left.
        """
        fixed = fixed_terms(self.source, self.described)
        if fixed is not None:
            check_terms(fixed, self.table, None if promise is None else checked(promise), ledger)
            check_public(fixed, self.public)
            return Budget(self._desk(_reopened(self.table, fixed)), self.public)
        if promise is None or ledger is None:
            raise DescriptionError(
                wanted="A budget wants a promise and a ledger that remembers what was spent.",
                given="One of them is missing, and the description names none.",
                do='Write budget(sitr.ZeroConcentratedDP(0.5), ledger="sitr.db").',
            )
        keeper = _opened(self.table, checked(promise), ledger)
        return Budget(self._desk(keeper), self.public)

    def save(self, path: str | Path, *, promise: Kept | None = None, ledger: str | Path | None = None) -> Path:
        """Write the description as YAML; with a promise and a ledger, open the budget that it will name."""
        if self.source is None:
            raise DescriptionError(
                wanted="Only a data set in a file can be described on disk.",
                given=f"{self.table.name} lives in memory.",
                do="Write it to Parquet and protect that file.",
            )
        files = {name: file for name, file in self.public.items() if isinstance(file, Path)}
        if in_memory := sorted(self.public.keys() - files.keys()):
            raise DescriptionError(
                wanted="A description on disk names files for its public tables.",
                given=f"The public table {in_memory[0]} lives in memory.",
                do="Write it to Parquet and declare that file.",
            )
        source = self._backend.source if isinstance(self._backend, DuckDB) else None
        format = source.format if isinstance(source, CsvFile) else None
        place = Path(ledger) if ledger is not None else None
        kept = None if promise is None else checked(promise)
        made = Description(self.table, self.source, format, kept, place, files)
        check_overwrite(Path(path), made)
        if promise is not None and place is not None:  # first, so that a description never names a budget that is not
            self.budget(promise, ledger=place)
        save(made, Path(path))
        return Path(path)

    def rehearsal(self, promise: Kept) -> Budget:
        """A budget for previews, of which nothing is spent and from which nothing can be charged."""
        return Budget(self._desk(Rehearsal(_allowed(self.table, checked(promise)))), self.public)

    def _desk(self, ledger: Ledger) -> Desk:
        return Desk(self.table, self._backend, ledger)


def _opened(table: Table, promise: Kept, ledger: str | Path | Ledger) -> Ledger:
    """The ledger, with an account for this data set on these terms."""
    _allowed(table, promise)
    keeper = SqlLedger(ledger) if isinstance(ledger, str | Path) else ledger
    keeper.open(account_name(table), promise=promise, neighbors=table.neighbors())
    return keeper


def _reopened(table: Table, fixed: Description) -> Ledger:
    """The ledger that a description names, with the account that was opened when it was written."""
    assert fixed.promise is not None
    assert fixed.ledger is not None
    keeper = SqlLedger(fixed.ledger, create=False)
    keeper.account(account_name(table))  # a new ledger in the place of a lost one has no account
    return _opened(table, fixed.promise, keeper)


def _allowed(table: Table, promise: Kept) -> Kept:
    """The promise, if the neighbours are those that it is about."""
    if isinstance(promise, RandomDP) and table.relation is not Relation.REPLACE_ONE:
        raise DescriptionError(
            wanted="A budget with a γ wants neighbours that replace one person: a random newcomer takes a place.",
            given=f"{table.name} protects each {table.neighbors()}.",
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
    """Put a data set behind the veil.

    `unit` is the column that identifies a person, or `Row()`. One person counts in at most `max_groups` groups of a
    question, with at most `max_rows_per_group` rows in each. `bounds` and `granularity` make columns summable; `keys`
    are the public values of grouping columns; keys that are not public are shown above a threshold only. `types`
    declares the types of a CSV file's columns ("integer", "real", "text", "boolean", "date", "timestamp"); a value that
    does not fit its type counts as missing. Without a type for every column the rows are read to propose types, and the
    proposal must be confirmed: by `types` for all columns, or by `accept_types=True`. All of this counts as public.

    `public` declares tables that anybody may see, by name, such as last year's published rows: synthetic rows can be
    compared with them for free. Their rows are shown as they are, so that the protected table cannot be one of them.

    This is the moment of admission: the whole source is read once, to make sure that no row of it can fail later.
    """
    if not isinstance(unit, str | Row | Person) or not isinstance(relation, Relation):
        raise DescriptionError(
            wanted="unit is the column that identifies a person, or sitr.Row(); relation is a sitr.Relation.",
            given=f"unit={unit!r} and relation={relation!r} were given.",
            do='Write unit="patient_id", and leave relation out or write sitr.Relation.REPLACE_ONE.',
        )
    declared = {column: _kind(column, kind) for column, kind in (types or {}).items()}
    backend = open_source(source, types=declared)
    if isinstance(backend.source, CsvFile) and not accept_types:
        confirm(backend.source, declared=declared)
    path = Path(source) if isinstance(source, str | Path) else None
    if name is None and path is None:
        raise DescriptionError(
            wanted="A data set in memory wants a name: questions say FROM it, and the ledger knows it by it.",
            given="There is none.",
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
    """The data set that a description tells of, written by `sitr protect` or `Dataset.save`."""
    found = load(Path(description))
    kinds = {column.name: column.kind for column in found.table.columns}
    backend = open_source(found.source, types=kinds, format=found.format)
    check_unchanged(found.table, backend)
    check_apart(found.public, backend)
    return Dataset(found.table, backend, found.source, found, found.public)


def _kind(column: str, kind: str) -> Kind:
    known = {known.value: known for known in Kind if known not in (Kind.BYTES, Kind.OTHER)}
    if kind not in known:
        raise DescriptionError(
            wanted=f"A type is one of {', '.join(known)}.",
            given=f"types={{{column!r}: {kind!r}}} was given.",
            do="Choose one of those.",
        )
    return known[kind]
