"""Check a question against a description: resolve names, check types and bound each person's contribution.

The result needs no data and cannot fail on data: every comparison is between equal types, every number has bounds, and
every group has a cap.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from sitr.dataclass import Remembering, dataclass
from sitr.dataset.schema import GROUPABLE, Column, Key, Kind, Table
from sitr.errors import QuestionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Unit
from sitr.questions.aggregate.after import AS_RELEASED, AnswerColumns, BoundAfter
from sitr.questions.aggregate.bias import SHARE, Watch, watch
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.expressions.expression import Expression, Literal
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.typed import MOST_KEYS, TEMPORAL, Typed, column_typed
from sitr.questions.aggregate.functions.function import BoundAggregate
from sitr.questions.aggregate.functions.operators import IntervalEnd
from sitr.questions.aggregate.functions.over import check_windows
from sitr.questions.aggregate.functions.registry import written
from sitr.questions.aggregate.nodes import After, GroupingMark, Named, NamedKey, Query
from sitr.questions.aggregate.quantity import Quantity, family
from sitr.questions.aggregate.relations import view_of
from sitr.questions.aggregate.rows_each import rows_each
from sitr.questions.aggregate.second_cap import second_cap
from sitr.questions.aggregate.split import Split
from sitr.questions.aggregate.view import TableRows, View, changes, protected
from sitr.questions.aggregate.view_source import source_of


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
class BoundedQuery(Remembering):
    """What a backend computes: for each cell the exact integer of each term, from which the columns follow.

    Every unit contributes at most `max_rows_per_group` rows in at most `max_groups` cells, and at most `max_rows` rows
    in all; None where the other two imply it. A keyed hash of the unit's own rows alone chooses them.
    """

    query: Query
    view: View
    keys: tuple[GroupKey, ...]
    columns: tuple[BoundAggregate, ...]
    max_groups: int
    max_rows_per_group: int
    after: BoundAfter = AS_RELEASED
    max_rows: int | None = None
    share: Fraction | None = None
    """The share of the price that measures what is left out; None if nothing is spent on it."""
    other: bool = False
    """Whether there is one more row for everything whose key is not shown, see `sitr.questions.aggregate.other`."""
    split: Split | None = None
    """How the rest of the price is divided; None to make the sum of the errors small."""
    counted_up_to: int | None = None
    """Rows that are left out are counted up to this many rows of each unit; None if they are not counted."""

    @property
    def unit(self) -> Unit:
        return self.view.unit

    @property
    def relation(self) -> Relation:
        return self.view.relation

    @property
    def changes(self) -> Relation:
        """How the part of one unit differs between neighbours: by more than `relation` says in some joins."""
        return self.relation if len(protected(self.view)) == 1 else changes(self.view)

    @property
    def where(self) -> Typed | None:
        return self.view.where

    @cached_property
    def terms(self) -> tuple[Quantity, ...]:
        """The terms to measure, each once: those that are shown, and then those about what is left out."""
        watched = self.watch
        return tuple(dict.fromkeys((*self.shown_terms, *(watched.terms if watched is not None else ()))))

    @cached_property
    def shown_terms(self) -> tuple[Quantity, ...]:
        """The terms from which the columns follow."""
        columns = (*self.columns, *(column for _, column in self.after.hidden))
        return tuple(dict.fromkeys(term for column in columns for term in column.terms))

    def watching(self, share: Fraction | None) -> BoundedQuery:
        """The same query, with this share of the price for what is left out; None for nothing."""
        return replace(self, share=share)

    @cached_property
    def watch(self) -> Watch | None:
        """What is measured about rows and values that are left out; None if nothing is, or nothing can be."""
        if self.share is None or not self.shown_terms:
            return None
        beyond = isinstance(self.unit, Person) and bool(self.keys) and self.loses_groups
        rows = None
        if self.counted_up_to is not None:
            rows = second_cap(
                self.counted_up_to, groups=self.max_groups, each=self.max_rows_per_group, cuts_groups=self.cuts_groups
            )
        return watch(
            self.shown_terms,
            who=self.view.person,
            share=self.share,
            cuts=not self.keeps_all,
            beyond=beyond and not self.keeps_all,
            rows=rows,
        )

    @property
    def keeps_all(self) -> bool:
        """Whether the caps cut no rows, because of how the view is made: one row for each person, for example."""
        most = rows_each(self.view)
        caps = (self.max_rows_per_group, self.max_groups if self.keys else most, self.max_rows)
        return most is not None and all(cap is None or most <= cap for cap in caps)

    @property
    def cuts_groups(self) -> bool:
        """Whether a cap on groups is applied by itself: a cap on all rows that is not larger has the same effect."""
        return (self.cells is None or self.cells > self.max_groups) and self.max_groups != self.max_rows

    @property
    def reached(self) -> int:
        """The most cells that a unit counts in."""
        return self.max_groups if self.cells is None else min(self.max_groups, self.cells)

    @property
    def loses_groups(self) -> bool:
        """Whether all rows of a person can be left out of a group.

        The cap on groups does it if there are more groups. The cap on all rows does it if some can be filled with it.
        """
        if self.cells is None or self.cells > self.max_groups:
            return True
        return self.max_rows is not None and (self.reached - 1) * self.max_rows_per_group >= self.max_rows

    @cached_property
    def leaves_out(self) -> bool:
        """Whether caps or bounds can leave something out, measured or not."""
        return self.watching(self.share or SHARE).watch is not None

    @property
    def unmeasured(self) -> bool:
        """Whether caps or bounds can leave something out, and nothing is spent on measuring it."""
        return self.share is None and self.leaves_out

    @cached_property
    def measured(self) -> tuple[tuple[Quantity, ...], ...]:
        """The same terms; those that one mechanism measures together are together."""
        families: dict[object, list[Quantity]] = {}
        for term in self.terms:
            families.setdefault(family(term), []).append(term)
        return tuple(map(tuple, families.values()))

    @cached_property
    def shown(self) -> tuple[tuple[str, BoundAggregate], ...]:
        """The columns of the answer with their names; an aggregate may have several."""
        named = zip(self.query.aggregates, self.columns, strict=True)
        return tuple(pair for one, column in named for pair in _columns(one.name, column))

    @cached_property
    def known(self) -> bool:
        """Whether all keys are public, so that every key is in the answer."""
        return all(key.keys is not None for key in self.keys)

    @property
    def cells(self) -> int | None:
        """The number of cells if it is public, or else None."""
        return self._listed if self.known else None

    @property
    def selected(self) -> tuple[int, ...]:
        """The places of the keys that are shown only if enough people have them; () if all keys are public.

        These are the keys that are not public. Each combination of them that is shown has a row for every combination
        of the public keys beside them, unless these are too many: then whole combinations are selected.
        """
        unknown = tuple(place for place, key in enumerate(self.keys) if key.keys is None)
        return tuple(range(len(self.keys))) if unknown and self._listed > MOST_KEYS else unknown

    @cached_property
    def _listed(self) -> int:
        """The number of combinations of the public keys."""
        return math.prod(len(key.keys) for key in self.keys if key.keys is not None)


def _columns(name: str, column: BoundAggregate) -> tuple[tuple[str, BoundAggregate], ...]:
    return tuple((name + added, part) for added, part in column.parts) or ((name, column),)


Cells = dict[tuple[Key, ...], tuple[Any, ...]]
"""A backend's answer: for each key the exact integer of each term, then the number of rows left out and the number of
units beyond the cap on groups, where these are asked for: they are the same for all keys. The last is the number of
units of the key. If only some of the keys are
selected, a unit is counted once for each combination of these, in one of its cells. Of a `Rank`, it has the integers of
all kept rows instead, each with its number of rows."""


def bound(query: Query, table: Table, *, catalog: Catalog | None = None) -> BoundedQuery:
    """Check a question against a description, and bound what each unit can contribute to its answer.

    A `catalog` has the public tables that may be joined.
    """
    rows = view_of(query.table, catalog or Catalog(table))
    changes(rows)  # or an error
    view = selected(rows, query.where)
    keys = tuple(grouped(key, view) for key in query.group_by)
    if not query.aggregates:
        _refuse_public_keys(keys)
    columns = tuple(named.aggregate.bound(view) for named in query.aggregates)
    check_windows(columns, [key.of.expression for key in keys])
    pairs = [pair for one, column in zip(query.aggregates, columns, strict=True) for pair in _columns(one.name, column)]
    _refuse_twins([key.name for key in keys] + [mark.name for mark in query.marks], pairs)
    named = tuple(Named(one.name, column.aggregate) for one, column in zip(query.aggregates, columns, strict=True))
    answer = AnswerColumns(view, _named_keys(keys, query.marks), tuple(pairs))
    after, bound_after = answer.bound(query.after)
    resolved = Query(
        table=source_of(view),
        aggregates=named,
        group_by=tuple(NamedKey(key.name, key.of.expression) for key in keys),
        where=None if view.where is None else view.where.expression,
        after=after,
        sets=query.sets,
        marks=query.marks,
    )
    # How a question calls its columns is no part of it, where nothing but the table itself is read.
    settled = replace(View.of(table), where=view.where) if view.rows == TableRows(table.name) else view
    public = [key.keys for key in keys]
    cells = None if None in public else math.prod(len(each) for each in public if each is not None)
    grouping = any(not key.of.is_literal for key in keys)
    groups, each, total = caps(table, cells=cells, most=rows_each(settled), grouping=grouping)
    return BoundedQuery(resolved, settled, keys, columns, groups, each, bound_after, total)


def caps(
    table: Table, *, cells: int | None, most: int | None = None, grouping: bool = True
) -> tuple[int, int, int | None]:
    """The most groups of a person, the most rows in each, and the most rows in all unless the others imply it.

    Without GROUP BY the whole table is one group. A person keeps as many rows in it as in all groups together, so that
    a total is the sum of its parts. Whoever has at most N rows in all has them in at most N groups. Where nobody can
    have more than `most` rows, that is such an N, if it is smaller.
    """
    fewer = most is not None and most < table.most_rows
    total = most if fewer and most is not None else table.most_rows
    if not grouping or (fewer and total == 1):
        return 1, total, None
    if table.max_rows is None and not fewer:
        return table.max_groups, table.max_rows_per_group, None
    groups, each = table.max_groups, min(table.max_rows_per_group, total)
    implied = (cells is not None and cells * each <= total) or (groups * each <= total and groups < total)
    return min(groups, total), each, None if implied else total


def shown_after(query: BoundedQuery, after: After) -> BoundedQuery:
    """The same query, with something else done to its released rows."""
    keys = _named_keys(query.keys, query.query.marks)
    spoken, bound_after = AnswerColumns(query.view, keys, query.shown).bound(after)
    return replace(query, query=replace(query.query, after=spoken), after=bound_after)


def _named_keys(keys: tuple[GroupKey, ...], marks: tuple[GroupingMark, ...]) -> tuple[tuple[str, Typed], ...]:
    """What HAVING and ORDER BY can name beside the numbers: keys, and GROUPING(key)."""
    numbers = [(mark.name, column_typed(Column(mark.name, Kind.INTEGER))) for mark in marks]
    return (*((key.name, key.of) for key in keys), *numbers)


def selected(view: View, where: Expression | None) -> View:
    """The view, with only the rows for which a condition is true."""
    return view if where is None else view.keeping(where)


def grouped(key: NamedKey, view: View) -> GroupKey:
    """What is grouped by, checked. A column keeps the name that it has in the description."""
    of = _whole_quotient(view.typed(key.of))
    if of.kind not in GROUPABLE:
        raise QuestionError(
            given=f"GROUP BY cannot use {of.mentioned}, which has type {of.kind.value}.",
            do=f"Group by a column of type {', '.join(kind.value for kind in GROUPABLE)}.",
        )
    plain = of.column is not None and of.column.name.lower() == key.name.lower()
    found = GroupKey(of.column.name if plain and of.column else key.name, of, of.possible)
    _refuse_people(found, view)
    return found


def _whole_quotient(of: Typed) -> Typed:
    """age / 10 and (age / 10) * 10 group whole numbers by tens, as in most databases; the text then says age // 10."""
    if of.kind is not Kind.REAL or of.what not in ("/", "+", "-", "*"):
        return of
    parts = tuple(map(_whole_quotient, of.parts))
    if any(part.kind is not Kind.INTEGER for part in parts):
        return of
    name = "//" if of.what == "/" else str(of.what)
    return ROW_FUNCTIONS[name](name, parts)


def _refuse_public_keys(keys: tuple[GroupKey, ...]) -> None:
    """Keys alone can be asked for where they are not public: they are chosen privately, as for any aggregate."""
    if all(key.keys is not None for key in keys):
        given = (
            "The keys of the question are public, and it has no aggregate."
            if keys
            else "The question has no aggregate."
        )
        raise QuestionError(given=given, do=f"Ask for {written()}.")


def _refuse_people(key: GroupKey, view: View) -> None:
    """A key that names people makes groups of one person: a threshold shows none of them, but would be paid for."""
    who, unit = _one_to_one(key.of), view.unit
    if key.keys is not None or not isinstance(unit, Person) or who.column is None or who.column.name != unit.column:
        return
    raise QuestionError(
        given=f"GROUP BY {key.of.text} makes a group of its own for each person, and no group of one person is shown.",
        do=f"Leave {key.of.text} out, or ask about the numbers of each person: SELECT AVG(n) AS mean FROM "
        f"(SELECT {who.text}, COUNT(*) AS n FROM {view.name} GROUP BY {who.text}).",
    )


def _one_to_one(of: Typed) -> Typed:
    """What an expression only writes differently, such as id in id + 1 or CAST(id AS VARCHAR); else the expression."""
    values = [part for part in of.parts if not _is_constant(part)]
    if len(values) != 1:
        return of
    (inner,) = values
    others = [part for part in of.parts if part is not inner]
    numbers = [part.value for part in others if isinstance(part.what, Literal)]
    kept = (
        (of.what in ("+", "-", "NEGATE", "||") and not any(part.nullable for part in others))
        or (of.what == "COALESCE" and of.parts[0] is inner)
        or (of.what == "*" and numbers not in ([], [0], [None]))
        or (of.what == "//" and numbers == [1] and of.parts[0] is inner)
        or (of.what == "CAST" and of.kind in (inner.kind, Kind.TEXT))
    )
    return _one_to_one(inner) if kept else of


def _is_constant(of: Typed) -> bool:
    return isinstance(of.what, Literal) or (bool(of.parts) and all(map(_is_constant, of.parts)))


def _refuse_twins(keys: list[str], columns: list[tuple[str, BoundAggregate]]) -> None:
    shown = [name for name, _ in columns]
    named = dict(columns)
    ends = [
        end
        for name, column in columns
        if not column.end
        for upper, end in enumerate((f"{name}_low", f"{name}_high"))
        if end not in named or named[end].aggregate != IntervalEnd(column.aggregate, bool(upper))  # its usual name
    ]
    names = [*keys, *shown, *ends]
    repeated = {name for name in names if names.count(name) > 1}
    repeated -= {end for name in repeated for end in (f"{name}_low", f"{name}_high")}  # which follow from it
    if repeated:
        raise QuestionError(
            given=f"Several columns of the answer have the same name: {', '.join(sorted(repeated))}.",
            do="Name the columns, in SQL with AS and in Python with agg(name=…); the interval of a column n takes the "
            "names n_low and n_high.",
        )
