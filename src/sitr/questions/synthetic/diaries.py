"""Several tables of the same people: what is counted of people, and what is counted of their rows in each table.

The table of *people* has one row for each person who is in any of the tables: the number of their rows in each, and of
each table the columns that are constant within a person, which are NULL for who is not in it. The table of *steps* of a
table has one row for each row of a person there: the row of the table of people, the place of the row, the previous
values and the values now, as in `sitr.questions.synthetic.diary`. A table with at most one row of each person has
constant columns only, and no steps.

Each budget promises something for its own table, whatever the others hold. So a person's rows may leave one table while
their rows in the others stay.

**Claim 1: without the rows of one person in one table, in some, or in all of them, every table of people changes by at
most one row that is removed and one that is added, and every table of steps of a table with cap m by at most m rows
that are removed and m that are added.** A backend reads the first m rows of each person and table, which depend on this
person's rows there alone (`sitr.backends.reading`, claim 7). `Diaries.found` numbers people by their ids: a person of a
table has one number, and no two people of one table share it, because an id is one number or one text, as the engine
compares them. So a number stands for at most one person of each table, and all rows of a number here are functions of
the rows that were read of these people. Only the rows of the one number change. It has at most one row of people, and
at most m steps, before and after. This holds even if equal ids do not mean the same person.

So the distance of a table of people is that of one row that is replaced, ‖·‖₁ ≤ 2 and ‖·‖₂² ≤ 2, and the distance of a
table of steps is that of m rows that are replaced, ‖·‖₁ ≤ 2m and ‖·‖₂² ≤ 2m². Both are attained: who is in two tables
and leaves one of them still has steps in the other, all in other cells, since the number of rows in the first is 0 now.

**Claim 2: if neighbours replace the rows of one person in some tables S by those of another, who has none there before,
a table of steps has ‖·‖₁ ≤ 4m and ‖·‖₂² ≤ 4m², and a table of people ‖·‖₁ ≤ 4 and ‖·‖₂² ≤ 8.** In a table of S, at
most m steps vanish and at most m appear, 2m². In another table, the leaving person has steps v before and v′ after, and
the entering one w and w′. If the counted columns have v ≠ v′, one of them comes from S, and is not NULL (or 0) in v,
as it is in v′ and in w: nobody there is in a table of S. So v and w are in different cells, and so are v′ and w′, by
the columns by which w and w′ differ. Hence ‖v + w‖₂² ≤ 2m² and ‖v′ + w′‖₂² ≤ 2m², and counts differ by v′ + w′ − v − w.
If v = v′ or w = w′, it is less. In a table of people, the leaving person may be in no other table, so that only v is
left, and can be in the cell of w: two rows are replaced, at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sitr.dataclass import dataclass
from sitr.dataset.cells import Drawable, Granular, Rule, size
from sitr.dataset.schema import Column, Kind
from sitr.errors import QuestionError
from sitr.namespace import Later
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.diary import PLACE, Diary, Read, numbers, previous
from sitr.questions.synthetic.sheet import Sheet
from sitr.sensitivity.bounded import rows

if TYPE_CHECKING:
    import pyarrow as pa
else:  # only answers need it
    pa = Later("pyarrow")

Found = tuple[NDArray[np.object_], Codes]
"""The id of the person of each row as text, and what a `Diary` reads."""

MOST_TABLES = 16
"""The most tables that are drawn together."""

ROWS_IN = "rows_in_"
"""How the columns with the number of rows in each table begin."""


@dataclass(frozen=True, slots=True)
class ChangingSheet(Sheet):
    """The steps in one of several tables, some or all of which may be replaced when one table loses a person."""

    def distance(self) -> Distance:
        """How far one person moves any table of counts of these rows: see the claims of this module."""
        one = rows(self.most_rows, relation=Relation.REPLACE_ONE)
        return Distance(l1=self.people * one.l1, l2_squared=self.people * one.l2_squared, largest=one.largest)

    @property
    def people(self) -> int:
        """The rows of how many people change."""
        return 2 if self.relation is Relation.REPLACE_ONE else 1


@dataclass(frozen=True, slots=True)
class PeopleSheet(ChangingSheet):
    """One row of each person in any of several tables."""

    def distance(self) -> Distance:
        """Two rows may be in the same cell before, and other rows may be there afterwards."""
        return rows(self.people, relation=Relation.REPLACE_ONE)


@dataclass(frozen=True, slots=True)
class TableDiary(Diary):
    """The rows of each person in one of several tables, each given the person.

    `carried` are the places of varying columns whose first value is a column of people, too, so that rows of other
    tables depend on it. `person` are the columns of people that the rows of this table are drawn from, and `known` are
    their places among all of them.
    """

    table: str = ""
    carried: tuple[int, ...] = ()
    person: tuple[Drawable, ...] = ()
    known: tuple[int, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        """The places of the columns whose first value is a column of people."""
        return (*self.constant, *self.carried)

    def own(self) -> tuple[Drawable, ...]:
        """The columns of people from this table: the number of rows, and first values; NULL where there is no row."""
        number = Granular(Column(f"{ROWS_IN}{self.table}", Kind.INTEGER), 0, self.most_rows, Fraction(1), 1)
        number = replace(number, bins=self.most_rows + 1, missing=Rule.DROP)
        return (number, *(_absent(self.axes[place], f"{self.table}.") for place in self.constant), *self._carried())

    def _carried(self) -> tuple[Drawable, ...]:
        return tuple(_absent(self.axes[place], f"{self.table}.first_") for place in self.carried)

    def steps_sheet(self) -> Sheet:
        """The table of steps: what is given (the person, the place and previous values), then the values now."""
        now = tuple(self.axes[place] for place in self.varying)
        axes = (*self.person, numbers(PLACE, self.most_rows), *map(previous, now), *now)
        return ChangingSheet(axes, self.unit, self.relation, self.most_rows)

    @property
    def given(self) -> int:
        return len(self.person) + 1 + len(self.varying)

    def of_people(self, found: Codes) -> Codes:
        """For each person in this table, their columns of people."""
        read = Read.of(found)
        return np.column_stack([read.numbers, read.codes[read.firsts][:, list(self.kept)]])

    def nobody(self) -> Codes:
        """The cells of who is not in this table."""
        return np.array([0, *(size(axis) - 1 for axis in self.own()[1:])], dtype=np.int64)

    def steps_of(self, found: Codes, people: Codes) -> Codes:
        """One row for each row of this table; `people` are the rows of who is in it, in the order of their numbers."""
        read, own = Read.of(found), Diary.steps(self, found)
        whose = np.repeat(np.arange(len(read.firsts)), read.numbers)
        return np.column_stack([people[whose][:, list(self.known)], own[:, 1 + len(self.constant) :]])

    def whose(self, steps: Codes) -> Codes:
        return np.cumsum(steps[:, len(self.person)] == 0)


@dataclass(frozen=True, slots=True)
class Diaries:
    """The rows of people in several tables; make it with `diaries`."""

    tables: tuple[TableDiary, ...]

    @property
    def axes(self) -> tuple[Drawable, ...]:
        """The columns of people."""
        return tuple(axis for table in self.tables for axis in table.own())

    def people_sheet(self) -> Sheet:
        """The table of people."""
        first = self.tables[0]
        return PeopleSheet(self.axes, first.unit, first.relation, 1)

    def columns_of(self, place: int) -> slice:
        """Which columns of people come from a table: the number of rows is the first of them."""
        start = sum(1 + len(table.kept) for table in self.tables[:place])
        return slice(start, start + 1 + len(self.tables[place].kept))

    def found(self, read: Sequence[Found]) -> tuple[Codes, ...]:
        """What was read of each table, with the same number for the same person in all of them.

        The engine tells the people of a table apart, by number. The text of an id only says who is the same in another
        table; if the engine takes several texts for the same, the first of them in the order of texts counts.
        """
        texts = pa.array(np.concatenate([names for names, _ in read]), pa.large_string()).dictionary_encode()
        ranks = np.argsort(np.argsort(np.array(texts.dictionary.to_pylist(), object), kind="stable"), kind="stable")
        every = ranks[texts.indices.to_numpy()] if len(texts) else np.empty(0, dtype=np.int64)
        ends = np.cumsum([len(names) for names, _ in read])
        made = []
        for own, (_, codes) in zip(np.split(every, ends[:-1]), read, strict=True):
            _, person = np.unique(codes[:, 0], return_inverse=True)
            first = np.full(int(person.max(initial=-1)) + 1, len(every))
            np.minimum.at(first, person, own)
            made.append(np.column_stack([first[person], codes[:, 1:]]).astype(np.int64))
        return tuple(made)

    def people(self, found: Sequence[Codes]) -> Codes:
        """One row for each person who is in any of the tables."""
        return self._people(found)[0]

    def steps(self, found: Sequence[Codes], place: int) -> Codes:
        """One row for each row of the table at this place, beside the row before it."""
        people, where = self._people(found)
        return self.tables[place].steps_of(found[place], people[where[place]])

    def _people(self, found: Sequence[Codes]) -> tuple[Codes, list[Codes]]:
        """The rows of people, and for each table the places of those who are in it, in the order of their numbers."""
        inside = [np.unique(codes[:, 0]) for codes in found]
        everyone = np.unique(np.concatenate(inside))
        people = np.tile(np.concatenate([table.nobody() for table in self.tables]), (len(everyone), 1))
        where = [np.searchsorted(everyone, own) for own in inside]
        for place, (table, codes) in enumerate(zip(self.tables, found, strict=True)):
            people[where[place], self.columns_of(place)] = table.of_people(codes)
        return people, where


def diaries(tables: Sequence[tuple[str, Diary]], *, first: Sequence[tuple[str, str]] = ()) -> Diaries:
    """The tables of the same people, by name; `first` are columns (table, column) whose first value is one of people.

    A table with at most one row of each person has constant columns only. No row is read.
    """
    if not 2 <= len(tables) <= MOST_TABLES:
        raise QuestionError(
            wanted=f"2 to {MOST_TABLES} tables of the same people",
            given=f"{len(tables)}",
            do="Write for example sitr.synthesize_together(visits.synthesize(people=True), "
            "drugs.synthesize(people=True)).",
        )
    own = []
    for name, each in tables:
        constant = tuple(range(len(each.axes))) if each.most_rows == 1 else each.constant
        carried = tuple(place for place, column in enumerate(each.names) if (name, column) in first)
        order = None if each.most_rows == 1 else each.order
        own.append(TableDiary(each.axes, constant, each.unit, each.relation, each.most_rows, order, name, carried))
    _check_first(own, first)
    made = Diaries(tuple(own))
    everything = tuple(enumerate(made.axes))
    given = []
    for place, table in enumerate(made.tables):
        # The first row has the carried value itself; later rows have the previous one.
        columns = made.columns_of(place)
        without = range(columns.stop - len(table.carried), columns.stop)
        known = tuple(number for number, _ in everything if number not in without)
        given.append(replace(table, person=tuple(made.axes[number] for number in known), known=known))
    found = Diaries(tuple(given))
    for sheet in (found.people_sheet(), *(table.steps_sheet() for table in found.tables if table.varying)):
        if twice := [name for place, name in enumerate(sheet.names) if name in sheet.names[:place]]:
            raise QuestionError(
                given=f"The column name {twice[0]!r} is needed for what is counted beside the data.",
                do="Rename the column.",
            )
    return found


def _check_first(tables: Sequence[TableDiary], first: Sequence[tuple[str, str]]) -> None:
    varying = {(table.table, table.names[place]) for table in tables for place in table.varying}
    if wrong := [each for each in first if each not in varying]:
        raise QuestionError(
            wanted="columns whose values differ between the rows of a person, as table.column",
            given=repr(".".join(filter(None, wrong[0]))),
            do="Name an imitated column of one of the tables that is not constant.",
        )


def _absent(axis: Drawable, prefix: str) -> Drawable:
    """The cells of a first value; where a person has no row, it is NULL."""
    return replace(axis, column=replace(axis.column, name=f"{prefix}{axis.column.name}"), missing=Rule.CELL)
