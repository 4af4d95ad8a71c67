"""Check a question against a description: resolve names, check types and bound each person's contribution.

The result needs no data and cannot fail on data: every comparison is between equal types, every number has bounds, and
every group has a cap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime

from sitr.dataset.literals import shown, storable, writable
from sitr.dataset.schema import GROUPABLE, Column, Key, Kind, Table
from sitr.errors import QuestionError, UnknownName
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Unit
from sitr.questions.aggregate.functions.function import BoundAggregate
from sitr.questions.aggregate.functions.registry import written
from sitr.questions.aggregate.nodes import And, Compare, IsNull, Like, Named, Not, OneOf, Or, Predicate, Query
from sitr.questions.aggregate.spelling import Value, identifier
from sitr.questions.aggregate.term import Term

DEEPEST = 16
"""The deepest nesting of a condition: its text can be read back, by Sitr and by every backend."""


@dataclass(frozen=True, slots=True)
class BoundedQuery:
    """What a backend computes: for each cell the exact integer of each term, from which the columns follow.

    Every unit contributes at most `max_rows_per_group` rows in at most `max_groups` cells. A keyed hash of the unit's
    own rows alone chooses them.
    """

    query: Query
    unit: Unit
    relation: Relation
    keys: tuple[Column, ...]
    columns: tuple[BoundAggregate, ...]
    max_groups: int
    max_rows_per_group: int

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms to measure, each once."""
        return tuple(dict.fromkeys(term for column in self.columns for term in column.terms))

    @property
    def where(self) -> Predicate | None:
        return self.query.where

    @property
    def known(self) -> bool:
        """Whether all keys are public, so that every key is in the answer."""
        return all(key.keys is not None for key in self.keys)

    @property
    def cells(self) -> int | None:
        """The number of cells if it is public, or else None."""
        return math.prod(len(key.keys) for key in self.keys if key.keys is not None) if self.known else None


Cells = dict[tuple[Key, ...], tuple[int, ...]]
"""A backend's answer: for each key the exact integer of each term, and then the number of units."""


def bound(query: Query, table: Table) -> BoundedQuery:
    """Check a question against a description, and bound what each unit can contribute to its answer."""
    if query.table.lower() != table.name.lower():
        raise UnknownName(
            given=f"This budget answers questions about the table {table.name}, not about {query.table!r}.",
            do=f"Write FROM {identifier(table.name)}.",
        )
    if not query.aggregates:
        raise QuestionError(given="The question has no aggregate.", do=f"Ask for {written()}.")
    where = None if query.where is None else condition(query.where, table)
    keys = tuple(groupable(table.column(name)) for name in query.group_by)
    columns = tuple(named.aggregate.bound(table) for named in query.aggregates)
    ends = [f"{named.name}_{end}" for named in query.aggregates for end in ("low", "high")]  # of the intervals
    names = [*(key.name for key in keys), *(named.name for named in query.aggregates), *ends]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise QuestionError(
            given=f"Several columns of the answer have the same name: {', '.join(sorted(repeated))}.",
            do="Name the columns with AS; the interval of a column n takes the names n_low and n_high.",
        )
    resolved = Query(
        table=table.name,
        aggregates=tuple(
            Named(named.name, column.aggregate) for named, column in zip(query.aggregates, columns, strict=True)
        ),
        group_by=tuple(key.name for key in keys),
        where=where,
    )
    # Without GROUP BY the whole table is one group. A person keeps as many rows in it as in all groups together, so
    # that a total is the sum of its parts.
    groups, rows = table.max_groups, table.max_rows_per_group
    caps = (groups, rows) if keys else (1, groups * rows)
    return BoundedQuery(resolved, table.unit, table.relation, keys, columns, *caps)


def groupable(column: Column) -> Column:
    """The column, if it can be grouped by."""
    if column.kind not in GROUPABLE:
        raise QuestionError(
            given=f"GROUP BY cannot use the column {column.name!r}, which has type {column.kind.value}.",
            do=f"Group by a column of type {', '.join(kind.value for kind in GROUPABLE)}.",
        )
    return column


def condition(predicate: Predicate, table: Table) -> Predicate:
    """The condition, checked against a description: with its names, and literals of the types of its columns."""
    _refuse_depth(predicate)
    return _typed(predicate, table)


def _refuse_depth(predicate: Predicate) -> None:
    """Level by level, without recursion, because Python calls can nest conditions without limit."""
    level = [predicate]
    for _ in range(DEEPEST + 1):
        level = [part for whole in level for part in _parts(whole)]
    if level:
        raise QuestionError(
            given=f"The condition is nested more deeply than {DEEPEST} levels.",
            do="Nest fewer NOT, AND and OR.",
        )


def _parts(predicate: Predicate) -> tuple[Predicate, ...]:
    match predicate:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
    return ()


def _typed(predicate: Predicate, table: Table) -> Predicate:
    """The predicate with resolved columns and literals of the column's type."""
    match predicate:
        case And(parts):
            return And(tuple(_typed(part, table) for part in parts))
        case Or(parts):
            return Or(tuple(_typed(part, table) for part in parts))
        case Not(part):
            return Not(_typed(part, table))
        case IsNull(name):
            return IsNull(table.column(name).name)
        case Like(name, pattern):
            return _like(table.column(name), pattern)
        case OneOf(name, values):
            column = table.column(name)
            if not values:
                raise QuestionError(given=f"IN needs at least one value for {column.name!r}.", do="List the values.")
            return OneOf(column.name, tuple(_literal(value, column) for value in values))
        case Compare(name, comparison, value):
            column = table.column(name)
            return Compare(column.name, comparison, _literal(value, column))


def _like(column: Column, pattern: str) -> Like:
    if column.kind is not Kind.TEXT:
        raise QuestionError(
            given=f"LIKE needs a column of text, but {column.name!r} has type {column.kind.value}.",
            do="Use another comparison, or another column.",
        )
    if not writable(pattern):
        raise _mismatch(column, pattern)
    return Like(column.name, pattern)


def _literal(value: Value, column: Column) -> Value:
    """The literal as a plain value of the column's type. For a column of dates, text is read as a date."""
    read = _temporal if column.kind in (Kind.DATE, Kind.TIMESTAMP) else _atomic
    try:
        plain = read(value, column.kind)
    except ValueError:
        plain = None
    if plain is None:
        raise _mismatch(column, value)
    return plain


def _atomic(value: Value, kind: Kind) -> Value | None:
    """Numbers become plain Python numbers: a NumPy float prints differently, and backends get printed literals."""
    match kind, value:
        case (Kind.BOOLEAN, bool()):
            return value
        case (Kind.TEXT, str()) if writable(value):
            return value
        case (Kind.INTEGER | Kind.REAL, int() | float()) if not isinstance(value, bool) and storable(value):
            return int(value) if isinstance(value, int) else float(value)
    return None


def _temporal(value: Value, kind: Kind) -> Value | None:
    match kind, value:
        case (Kind.DATE, str()):
            return date.fromisoformat(value)
        case (Kind.DATE, date()) if not isinstance(value, datetime):
            return value
        case (Kind.TIMESTAMP, str() | datetime()):
            moment = datetime.fromisoformat(str(value))
            return moment if moment.tzinfo is None else None
    return None


WRITTEN = {
    Kind.INTEGER: "Write a number between -2^63 and 2^63.",
    Kind.REAL: "Write a number between -2^63 and 2^63.",
    Kind.TEXT: "Write text in quotes.",
    Kind.BOOLEAN: "Write true or false.",
    Kind.DATE: "Write a date like '2024-01-31', whatever the format in the file.",
    Kind.TIMESTAMP: "Write a time like '2024-01-31 09:30:00', without a time zone.",
}


def _mismatch(column: Column, value: Value) -> QuestionError:
    return QuestionError(
        given=f"The column {column.name!r} has type {column.kind.value} and cannot be compared with {shown(value)}.",
        do=WRITTEN.get(column.kind, "Columns of this type can only be compared with NULL."),
    )
