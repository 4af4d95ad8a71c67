"""The rows of each person in order: what is counted of people, and what is counted of their rows.

Two tables are imitated. The table of *people* has one row for each person: the number of their rows, and the columns
that are constant within a person. The table of *steps* has one row for each row of a person: the same, the place of the
row, the previous values of the columns that vary, and their values now. People are drawn from the first, and their rows
from the second, one after another, each given the row before it.

**Claim: with or without one person, every count of people moves by 1 in one cell, and every table of steps by at most m
rows.** A backend reads the first m rows of each person, and which ones these are depends on this person's rows alone
(`sitr.backends.reading`). `people` and `steps` below look at the rows of one person at a time. So one person adds one
row to the first table and at most m rows to the second, and changes no other row of either. Hence the distance of any
table of people is that of one row, and the distance of any table of steps, whichever of its columns are counted, is
that of m rows: all of them may be in one cell, such as those of a person whose values never change.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from sitr.dataclass import dataclass
from sitr.dataset.cells import Drawable, Granular, Rule, size
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import DescriptionError, QuestionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.synthetic.structure import Structure
from sitr.sensitivity.bounded import rows

NUMBER, PLACE, PREVIOUS = "rows_of_person", "place_of_row", "previous_"
"""The names of the columns that are counted beside those of the data."""

ORDERED = (Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP)
"""What the rows of a person can be ordered by."""


@dataclass(frozen=True, slots=True)
class Diary:
    """The first `most_rows` rows of every person, by the column `order`, or in a random order.

    `axes` are the imitated columns in their order, and `constant` the places of those that are constant within a
    person: if they are not, the first row counts.
    """

    axes: tuple[Drawable, ...]
    constant: tuple[int, ...]
    unit: Person
    relation: Relation
    most_rows: int
    order: Column | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The imitated columns."""
        return tuple(axis.column.name for axis in self.axes)

    @property
    def varying(self) -> tuple[int, ...]:
        """The places of the columns that differ between the rows of a person."""
        return tuple(place for place in range(len(self.axes)) if place not in self.constant)

    @property
    def ordered(self) -> int | None:
        """The place of the column by which rows are ordered, among the varying ones."""
        if self.order is None:
            return None
        return [self.names[place] for place in self.varying].index(self.order.name)

    def distance(self) -> Distance:
        """How far one person moves any table of counts of steps."""
        return rows(self.most_rows, relation=self.relation)

    def people_sheet(self) -> Sheet:
        """The table of people: the number of rows, and what is constant."""
        fixed = tuple(self.axes[place] for place in self.constant)
        return Sheet((numbers(NUMBER, self.most_rows), *fixed), self.unit, self.relation, 1)

    def steps_sheet(self) -> Sheet:
        """The table of steps: what is given (people, place and previous values), then the values now."""
        now = tuple(self.axes[place] for place in self.varying)
        given = (*self.people_sheet().axes, numbers(PLACE, self.most_rows), *map(previous, now))
        return Sheet((*given, *now), self.unit, self.relation, self.most_rows)

    @property
    def given(self) -> int:
        """How many of the columns of steps are given."""
        return 2 + len(self.constant) + len(self.varying)

    def people(self, found: Codes) -> Codes:
        """One row for each person, from what a backend reads."""
        read = Read.of(found)
        return np.column_stack([read.numbers - 1, read.codes[read.firsts][:, list(self.constant)]])

    def steps(self, found: Codes) -> Codes:
        """One row for each row of each person, beside the row before it."""
        read = Read.of(found)
        whose = np.repeat(np.arange(len(read.firsts)), read.numbers)
        fixed = read.codes[read.firsts[whose]][:, list(self.constant)]
        place = np.arange(len(read.codes)) - read.firsts[whose]
        now = read.codes[:, list(self.varying)]
        before = np.where((place == 0)[:, None], self.absent(), np.roll(now, 1, axis=0))
        return np.column_stack([read.numbers[whose] - 1, fixed, place, before, now])

    def whose(self, steps: Codes) -> Codes:
        """The number of the person of each step: `steps` puts the rows of a person together, the first row first."""
        return np.cumsum(steps[:, 1 + len(self.constant)] == 0)

    def absent(self) -> Codes:
        """The cells of the previous values in the first row of a person: NULL."""
        return np.array([size(previous(self.axes[place])) - 1 for place in self.varying], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Read:
    """What a backend reads, sorted by person and place: where people begin, and how many rows they have."""

    codes: Codes
    firsts: Codes
    numbers: Codes

    @classmethod
    def of(cls, found: Codes) -> Read:
        person, place = found[:, 0], found[:, 1]
        sorted_ = found[np.lexsort((place, person))]
        _, firsts, numbers = np.unique(sorted_[:, 0], return_index=True, return_counts=True)
        return cls(sorted_[:, 2:], firsts.astype(np.int64), numbers.astype(np.int64))


def numbers(name: str, most: int) -> Granular:
    """Whole numbers from 1, each in a cell of its own."""
    return Granular(Column(name, Kind.INTEGER), 1, most, Fraction(1), most, Rule.DROP)


def previous(axis: Drawable) -> Drawable:
    """The cells of the previous value; in a first row, where there is none, it is NULL."""
    column = replace(axis.column, name=f"{PREVIOUS}{axis.column.name}")
    return replace(axis, column=column, missing=Rule.CELL)


def diary(table: Table, sheet: Sheet, *, constant: tuple[str, ...] = (), order: str | None = None) -> Diary:
    """The rows of each person together, after checking what is declared about them; no row is read."""
    if not isinstance(sheet.unit, Person):
        raise DescriptionError(
            given="The rows of a person cannot be drawn together, because the data set protects each row.",
            do="Protect the data set with a person as the unit.",
        )
    for name in (*constant, *(() if order is None else (order,))):
        if name not in sheet.names:
            raise QuestionError(
                given=f"The column {name!r} is not one of the imitated columns.",
                do="Add it to the columns, or leave it out here.",
            )
    if len(set(constant)) == len(sheet.names):
        raise QuestionError(
            given="Every column is constant, so that a person's rows would all be equal.",
            do="Leave out people and constant, and set rows_per_person=1.",
        )
    column = None if order is None else table.column(order)
    if column is not None and (column.kind not in ORDERED or order in constant):
        raise QuestionError(
            wanted="rows ordered by a column of whole numbers, dates or timestamps that is not constant",
            given=repr(order),
            do="Choose another column, or leave the order out: then a person's rows have no order.",
        )
    places = tuple(place for place, name in enumerate(sheet.names) if name in constant)
    made = Diary(sheet.axes, places, sheet.unit, sheet.relation, sheet.most_rows, column)
    added = {NUMBER, PLACE, *(f"{PREVIOUS}{made.names[place]}" for place in made.varying)}
    if taken := added & set(sheet.names):
        raise QuestionError(
            given=f"The column name {min(taken)!r} is needed for what is counted beside the data.",
            do="Rename the column.",
        )
    return made


def check_rules(diary: Diary, structure: Structure) -> None:
    """Refuse rules about a row that would change what is constant within a person."""
    ruled = {name for pair in structure.ordered for name in (pair.lower, pair.upper)}
    ruled |= {name for group in structure.together for name in group}
    if wrong := [diary.names[place] for place in diary.constant if diary.names[place] in ruled]:
        raise QuestionError(
            given=f"The column {wrong[0]!r} is constant within a person, and a rule orders it or lets it be NULL with "
            "others.",
            do="Leave the column out of the rule, or out of the constant ones.",
        )
