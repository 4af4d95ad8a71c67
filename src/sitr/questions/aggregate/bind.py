"""Check a question against a description: resolve names, check types and bound each person's contribution.

The result needs no data and cannot fail on data: every comparison is between equal types, every number has bounds, and
every group has a cap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sitr.dataset.schema import GROUPABLE, Column, Key, Kind, Table
from sitr.errors import QuestionError, UnknownName
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Unit
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, column_typed
from sitr.questions.aggregate.functions.function import BoundAggregate
from sitr.questions.aggregate.functions.registry import written
from sitr.questions.aggregate.nodes import Named, NamedKey, Query
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class GroupKey:
    """What rows are grouped by. If its `keys` are public, every one of them is in the answer.

    Rows with other values are left out, unless the keys follow from bounds: then a value beyond these counts as the
    nearest bound, as it does in a sum (`clamped`).
    """

    name: str
    of: Typed
    keys: tuple[Key, ...] | None

    @classmethod
    def column(cls, column: Column) -> GroupKey:
        """The values of a column, with the keys that its description lists."""
        return cls(column.name, column_typed(column), column.keys)

    @property
    def kind(self) -> Kind:
        return self.of.kind

    @property
    def clamped(self) -> bool:
        """Whether its bounds, and not a list, say which values there are."""
        bounded = self.of.low is not None and self.of.high is not None
        listed = self.of.column is not None and self.of.column.keys is not None
        return self.keys is not None and bounded and not listed and self.kind in (Kind.INTEGER, *TEMPORAL)


@dataclass(frozen=True, slots=True)
class BoundedQuery:
    """What a backend computes: for each cell the exact integer of each term, from which the columns follow.

    Every unit contributes at most `max_rows_per_group` rows in at most `max_groups` cells. A keyed hash of the unit's
    own rows alone chooses them.
    """

    query: Query
    view: View
    keys: tuple[GroupKey, ...]
    columns: tuple[BoundAggregate, ...]
    max_groups: int
    max_rows_per_group: int

    @property
    def unit(self) -> Unit:
        return self.view.unit

    @property
    def relation(self) -> Relation:
        return self.view.relation

    @property
    def where(self) -> Typed | None:
        return self.view.where

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms to measure, each once."""
        return tuple(dict.fromkeys(term for column in self.columns for term in column.terms))

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
    view = selected(View.of(table, name=query.alias), query.where)
    keys = tuple(grouped(key, view) for key in query.group_by)
    columns = tuple(named.aggregate.bound(view) for named in query.aggregates)
    _refuse_twins([key.name for key in keys], [named.name for named in query.aggregates])
    resolved = Query(
        table=table.name,
        aggregates=tuple(
            Named(named.name, column.aggregate) for named, column in zip(query.aggregates, columns, strict=True)
        ),
        group_by=tuple(NamedKey(key.name, key.of.expression) for key in keys),
        where=None if view.where is None else view.where.expression,
    )
    # Without GROUP BY the whole table is one group. A person keeps as many rows in it as in all groups together, so
    # that a total is the sum of its parts.
    groups, rows = table.max_groups, table.max_rows_per_group
    caps = (groups, rows) if keys else (1, groups * rows)
    return BoundedQuery(resolved, replace(view, name=table.name), keys, columns, *caps)


def selected(view: View, where: Expression | None) -> View:
    """The view, with only the rows for which a condition is true."""
    if where is None:
        return view
    return replace(view, where=view.condition(where))


def grouped(key: NamedKey, view: View) -> GroupKey:
    """What is grouped by, checked. A column keeps the name that it has in the description."""
    of = _whole_quotient(view.typed(key.of))
    if of.kind not in GROUPABLE:
        raise QuestionError(
            given=f"GROUP BY cannot use {of.mentioned}, which has type {of.kind.value}.",
            do=f"Group by a column of type {', '.join(kind.value for kind in GROUPABLE)}.",
        )
    plain = of.column is not None and of.column.name.lower() == key.name.lower()
    return GroupKey(of.column.name if plain and of.column else key.name, of, of.possible)


def _whole_quotient(of: Typed) -> Typed:
    """age / 10 groups whole numbers by tens, as in most databases; the text of the question then says age // 10."""
    if of.what == "/" and all(part.kind is Kind.INTEGER for part in of.parts):
        return ROW_FUNCTIONS["//"]("//", of.parts)
    return of


def _refuse_twins(keys: list[str], columns: list[str]) -> None:
    ends = [f"{name}_{end}" for name in columns for end in ("low", "high")]  # of the intervals
    names = [*keys, *columns, *ends]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise QuestionError(
            given=f"Several columns of the answer have the same name: {', '.join(sorted(repeated))}.",
            do="Name the columns with AS; the interval of a column n takes the names n_low and n_high.",
        )
