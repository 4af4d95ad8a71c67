"""What is read from the rows, as one tree. The caps on contributions are proved here, once, for every backend.

::

    Totals   the sum (or all) of each value in each group          Listing   the values of each row
      └─ FewInTotal   at most N rows of each person                  └─ FewRows
           └─ FewRows     at most m rows of each person and group         └─ Rows
                └─ FewGroups   at most k groups of each person
                     └─ Rows        one row for each selected row

`FewGroups` and `FewInTotal` are there only where a person could exceed these caps. `Histories` are like a `Listing`,
with the person and the order of the rows.

A person's *part* of a node is what the node has from this person; where `Rows.person` is None, every row is a person.

**Claim 1: a person's part depends on this person's rows, as a multiset, and on the salt, and on nothing else.**

- `Rows` looks at one row of its base at a time, and the base keeps units apart (`sitr.questions.aggregate.view`).
- `FewGroups` ranks the person's groups by h(salt, person, group), where h is a fixed function, and keeps those of rank
  at most k. The rank of a group is the number of the person's groups with an equal or smaller h.
- `FewRows` numbers equal rows of one person and group 1, 2, 3, …, so the *set* of pairs (row, number) is a function of
  the multiset of rows. It ranks the pairs by h(salt, person, group, values, number) and keeps those of rank at most m.
- `FewInTotal` ranks the pairs that `FewRows` keeps of all groups of the person, by the same h, and keeps those of rank
  at most N. So rows come in one random order, and each is kept unless its group is full, until there are N.

Two equal hashes have the same rank, so neither the order of the rows nor other people decide between them.

**Claim 2: a person has at most k groups after `FewGroups`, and at most m rows in each of them after `FewRows`.** Of the
kept groups, look at one with the largest h: all kept groups are at or below it, so its rank, at most k, is at least
their number. The same holds for rows, and for the N rows of `FewInTotal`, which lie in at most N groups. If hashes
collide at the border, fewer are kept. Where the keys have at most k combinations of public values, `Rows` has at most k
groups itself.

**Claim 3: with or without one person, `Totals` differ in at most k groups, by at most what m rows add to each.** By
claim 1 the totals are a sum over people, and one more person leaves the other parts as they are. Each value of a row
lies in a public range [low, high], so a person adds an integer in [m·min(low, 0), m·max(high, 0)] to each of k groups;
`EachPerson` and `Cut` add 0 or 1, and `PersonTotal` adds a number in its range, whatever m. `Tallied` has the multiset
of all values instead of their sum: a person adds at most m values to it. `Listing` has at most m rows of each person,
in no group. The number of people who lost all rows of a group is a sum over people too: one more person adds 0 or 1.
So is the number of rows left out up to a second cap, to which one more person adds 0 to r: see
`sitr.questions.aggregate.second_cap`.

After `FewInTotal` a person is only in groups where a row of theirs is kept, at most min(k, N) of them, and so are
`EachPerson`, `Cut` and `PersonTotal`, which look at all rows of the person in such a group. To group g a person adds
what c_g rows add, c_g ≤ m and Σ c_g ≤ N.

**Claim 4: with or without one person, the number of `Different` values moves by 0 to m in at most k groups.** Of each
group that `FewGroups` keeps, a person keeps the values of rank at most m by h(salt, person, group, value) among their
own different values there, so these are a set that depends on this person's rows and the salt alone (as in claim 1),
with at most m values (as in claim 2). A group has the union of the sets of all people. One more set adds the values
that no other set has, at most m. Under `FewInTotal`, a person has values only in groups where a row of theirs is kept,
and of the pairs (group, value) only those of rank at most N: c_g values in group g, c_g ≤ m and Σ c_g ≤ N. (With values
in other groups, a group could have values of some people while only another person's row makes it a group of the
answer.) These are not the values of the rows that `FewRows` keeps: among those, equal values
would take each other's place.

**Claim 5: with or without one person, the number of people for each combination of some keys moves by 1 for at most k
combinations.** Of the cells that a person keeps, at most k (claim 2), those that agree in these keys are one
combination, so there are at most k. The person is counted in the first cell of each, and the combination has the sum
over its cells: 1 for each person with a cell there. The cells themselves depend on this person's rows alone (claim 1).

**Claim 6: where the unit is a person in one period, no row of another period changes anything.** `Rows.period` is the
period of the question, and every mention of the protected table stands for its rows of this period alone, in joins
and in lists of people too (`sitr.backends.statement.writer`). The other claims then hold with the rows of a person in
this period in place of all their rows. A row has one date, so it is in one period, or in none if it has no date.

**Claim 7: `Histories` have at most m rows of each person, and these depend on this person's rows and the salt alone.**
Rows and their numbers are the pairs of claim 1, where the order is one of the values. They are ranked by (order, h) in
place of h, and both claims hold for this rank in the same way. Its value is the place of the row. The number of a
person depends on other people, but only tells people apart: it is used to put a person's rows together, and for nothing
else (`sitr.questions.synthetic.diary`). Where rows of several tables are put together, each row also has the text of
the person's id. It tells people apart as the engine does (`sitr.questions.synthetic.diaries`).

The claims hold for each salt. The salt is drawn after the question is fixed and is never shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sitr.backends.values import (
    CellNumber,
    Cut,
    Different,
    Double,
    EachPerson,
    EachRow,
    Flag,
    Granules,
    Key,
    PersonTotal,
    Tallied,
    Value,
)
from sitr.dataset.cells import Grid
from sitr.dataset.schema import MOST_STEPS, Kind, Quantised
from sitr.errors import QuestionError
from sitr.neighbors.period import Period
from sitr.neighbors.unit import Person, Unit
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.expressions.typed import Typed, column_typed
from sitr.questions.aggregate.quantity import Bar, Distinct, Quantity, Rank
from sitr.questions.aggregate.second_cap import SecondCap
from sitr.questions.aggregate.view import Base
from sitr.questions.histogram.tally import Tally
from sitr.questions.statistic.numbers import Numbers
from sitr.questions.synthetic.diaries import TableDiary
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.tables.records import Records

Reading = BoundedQuery | Tally | Sheet | Diary | Records | Numbers
"""A public description of the numbers that a question needs from the rows."""


MOST_ROWS = 2**53
"""No table has as many rows."""

ANY_TIME = Quantised(-MOST_STEPS, MOST_STEPS, Fraction(1))
"""Whole numbers, days or seconds, as far as they can be compared: beyond 2^53, and within one second, all are equal."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The most groups of a person, and the most rows of a person in a group; None where there is no limit."""

    groups: int | None
    rows: int | None
    total: int | None = None
    """The most rows of a person in all groups; None where the other two limit it."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that satisfy `where`, have a person, and have a public value for each key and each cell number.

    `person` is the column that identifies people; None if each row is its own person.
    """

    person: str | None
    keys: tuple[Key | CellNumber, ...]
    values: tuple[Value, ...]
    where: Typed | None = None
    base: Base | None = None
    """Where the rows come from; None for the protected table itself."""
    period: Period | None = None
    """The only period whose rows are read, wherever the protected table is read; None if the unit has none."""

    @property
    def caps(self) -> Caps:
        if self.person is None:
            return Caps(1, 1)
        cells = [key.cells for key in self.keys]
        return Caps(None if None in cells else math.prod(cell for cell in cells if cell is not None), None)


@dataclass(frozen=True, slots=True)
class FewGroups:
    """At most `most` groups of each person."""

    of: Rows
    most: int

    @property
    def caps(self) -> Caps:
        return Caps(_least(self.of.caps.groups, self.most), self.of.caps.rows)


@dataclass(frozen=True, slots=True)
class FewRows:
    """At most `most` rows of each person in each group."""

    of: Rows | FewGroups
    most: int

    @property
    def caps(self) -> Caps:
        return Caps(self.of.caps.groups, _least(self.of.caps.rows, self.most))

    @property
    def rows(self) -> Rows:
        return self.of if isinstance(self.of, Rows) else self.of.of


@dataclass(frozen=True, slots=True)
class FewInTotal:
    """At most `most` rows of each person in all groups."""

    of: FewRows
    most: int

    @property
    def caps(self) -> Caps:
        caps = self.of.caps
        return Caps(_least(caps.groups, self.most), _least(caps.rows, self.most), self.most)

    @property
    def rows(self) -> Rows:
        return self.of.rows


@dataclass(frozen=True, slots=True)
class _Root:
    """The root of a tree. A tree without caps proves nothing, so none can be built."""

    of: Rows | FewRows | FewInTotal

    def __post_init__(self) -> None:
        if None in (self.caps.groups, self.caps.rows):
            raise QuestionError(
                given="This reading does not limit what one person contributes.",
                do="Put FewGroups and FewRows between the rows and the totals.",
            )

    @property
    def caps(self) -> Caps:
        return self.of.caps

    @property
    def few(self) -> FewRows | None:
        """The cap on the rows of a person and group; None where each row is a person."""
        return self.of if isinstance(self.of, FewRows) else self.of.of if isinstance(self.of, FewInTotal) else None

    @property
    def rows(self) -> Rows:
        return self.of if isinstance(self.of, Rows) else self.of.rows

    @property
    def most(self) -> int | None:
        """The cap on all rows of a person, where it is a node of its own."""
        return self.of.most if isinstance(self.of, FewInTotal) else None


@dataclass(frozen=True, slots=True)
class Totals(_Root):
    """The sum of each value in each group that has rows, and the number of people in the group.

    `Tallied` and `Different` say what a group has of them instead of a sum. With `beyond`, also the number of people
    who had rows in a group from which the caps left out all of them, and with `lost` the number of rows that the caps
    left out, up to this second cap. With `once`, the places of some keys, a person counts in the first only of the
    groups that agree in these keys.
    """

    beyond: bool = False
    once: tuple[int, ...] = ()
    lost: SecondCap | None = None


@dataclass(frozen=True, slots=True)
class Listing(_Root):
    """The values of each row, without the person."""


@dataclass(frozen=True, slots=True)
class Histories(_Root):
    """The number of the person, the place of the row, and the values of each row: the first rows by the order.

    The `order` is the last of the values, which is not listed; None if the order is random. If it is `named`, the text
    of the person's id is listed last.
    """

    order: Tallied | None = None
    named: bool = False


Tree = Totals | Listing | Histories


def tree(reading: Reading) -> Tree:
    """The tree of a reading.

    >>> tree(Numbers("age", 0.0)).rows.values
    (Double(column='age', missing=0.0),)
    """
    match reading:
        case BoundedQuery():
            return _totals(reading, tuple(map(Key, reading.keys)))
        case Tally(query, None):
            return _totals(query, tuple(map(Key, query.keys)))
        case Tally(query, grid):
            return _totals(query, (CellNumber(grid),))  # type: ignore[arg-type]
        case Sheet():
            axes = tuple(CellNumber(Grid((axis,))) for axis in reading.axes)
            rows = Rows(_person(reading.unit), (), axes, period=_period(reading.unit))
            return Listing(rows if rows.person is None else FewRows(rows, _reached(reading.most_rows)))
        case Diary():
            order = None if reading.order is None else Tallied(column_typed(reading.order), ANY_TIME)
            listed: list[Value] = [CellNumber(Grid((axis,))) for axis in reading.axes]
            listed += [] if order is None else [order]
            rows = Rows(reading.unit.column, (), tuple(listed), period=_period(reading.unit))
            return Histories(FewRows(rows, _reached(reading.most_rows)), order, isinstance(reading, TableDiary))
        case Records(query, axes):
            cells = tuple(CellNumber(Grid((axis,))) for axis in axes)
            own = (*cells, *map(_value, reading.valued))
            rows = Rows(_person(query.unit), (), own, query.where, query.view.rows, _period(query.unit))
            return Listing(rows if rows.person is None else FewRows(rows, _reached(query.max_rows_per_group)))
        case Numbers(column, missing):
            return Listing(Rows(None, (), (Double(column, missing),)))


def shaped(reading: Reading, found: Sequence[Any]) -> Any:
    """An engine's result as `Backend.read` returns it; `found` has rows for totals, and columns for a listing."""
    match reading:
        case BoundedQuery():
            return _cells(reading, found)
        case Tally(query, None):
            return _cells(query, found)
        case Tally():
            return {int(row[0]): int(row[1]) for row in found}
        case TableDiary():
            *codes, names = found
            return np.asarray(names, object), np.column_stack([np.asarray(column, np.int64) for column in codes])
        case Sheet() | Diary() | Records():
            return np.column_stack([np.asarray(column, np.int64) for column in found])
        case Numbers():
            return np.asarray(found[0], np.float64)


def _cells(query: BoundedQuery, found: Sequence[Any]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """By key, what each term needs, and the number of people: terms may share a value, which is read once."""
    keys, values = len(query.keys), _values(query)
    places = [keys + values.index(_value(term)) for term in query.terms]
    lists = [keys + place for place, value in enumerate(values) if isinstance(value, Tallied)]
    cells, watch = {}, query.watch
    more = 0 if watch is None else watch.beyond + (watch.rows is not None)
    for row in found:
        whole = list(row)
        for place in lists:
            if not isinstance(row[place], Mapping):
                whole[place] = {int(value): int(count) for value, count in row[place] or ()}
        cells[tuple(row[:keys])] = (*(whole[place] for place in places), *row[len(row) - 1 - more : -1], row[-1])
    return cells


def _values(query: BoundedQuery) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(map(_value, query.terms)))


def _totals(query: BoundedQuery, keys: tuple[Key | CellNumber, ...]) -> Totals:
    """The totals of a question, with caps only where a person could exceed them."""
    rows = Rows(_person(query.unit), keys, _values(query), query.where, query.view.rows, _period(query.unit))
    if rows.person is None:
        return Totals(replace(rows, values=tuple(map(_of_row, rows.values))))
    groups, watch = rows.caps.groups, query.watch
    reachable = (groups is None or groups > query.max_groups) and query.max_groups != query.max_rows
    own = FewGroups(rows, _reached(query.max_groups)) if reachable else rows
    few = FewRows(own, _reached(query.max_rows_per_group))
    of = few if query.max_rows is None else FewInTotal(few, _reached(query.max_rows))
    once = query.selected if len(query.selected) < len(query.keys) else ()
    if watch is None:
        return Totals(of, once=once)
    return Totals(of, beyond=watch.beyond, once=once, lost=watch.rows)


def _reached(cap: int) -> int:
    """The cap, or a smaller one that nobody exceeds either: engines refuse numbers of too many bits only when they meet
    a row, and then a question would fail after the charge unless there are no rows."""
    return min(cap, MOST_ROWS)


def _value(term: Quantity) -> Value:
    match term:
        case Rank(of, to, where=where):
            return Tallied(of, to, where)
        case Distinct(of, where):
            return Different(of, where)
        case Bar(where=where):
            return Flag(None, term.cell if where is None else Typed("AND", Kind.BOOLEAN, (term.cell, where)))
    if term.cut:
        return Cut()
    if term.people:
        return EachPerson(term.where)
    if term.total and term.of is not None and term.quantised is not None:
        return PersonTotal(term.of, term.quantised, term.where)
    if term.of is not None and term.quantised is not None:
        return Granules(term.of, term.quantised, term.centre, term.where)
    return EachRow() if term.of is None and term.where is None else Flag(term.of, term.where)


def _of_row(value: Value) -> Value:
    """Where each row is a unit, a person's total is the value of a row."""
    return Granules(value.of, value.to, 0, value.where) if isinstance(value, PersonTotal) else value


def _person(unit: Unit) -> str | None:
    return unit.column if isinstance(unit, Person) else None


def _period(unit: Unit) -> Period | None:
    """The period that is read. A reading that names none could read rows that its budget does not pay for."""
    period = unit.period if isinstance(unit, Person) else None
    if period is not None and not period.name:
        raise QuestionError(
            given="This reading does not say which period it reads.",
            do="Name it with budget.period(…), or --period; nothing was spent.",
        )
    return period


def _least(cap: int | None, most: int) -> int:
    return most if cap is None else min(cap, most)
