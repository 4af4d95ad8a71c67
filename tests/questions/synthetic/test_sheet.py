"""How many rows of one unit count, and how far they move counts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.dataset.schema import Kind, Table
from sitr.errors import DescriptionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.synthetic.sheet import Sheet, sheet
from tests.oracles.axes import granular, keyed

PEOPLE = Table("t", (), Person("id"), Relation.ADD_REMOVE, 4, 3)
ROWS = Table("t", (), Row(), Relation.REPLACE_ONE, 1, 1)


def test_a_person_keeps_as_many_rows_as_in_a_question_without_groups() -> None:
    assert sheet(PEOPLE, ()).most_rows == 12
    assert sheet(PEOPLE, (), rows_per_person=2).most_rows == 2
    assert sheet(ROWS, ()).most_rows == 1


def test_distances() -> None:
    assert sheet(PEOPLE, (), rows_per_person=2).distance() == Distance(2, 4, 2)
    assert sheet(ROWS, ()).distance() == Distance(2, 2, 1)
    assert Sheet((), Person("id"), Relation.REPLACE_ONE, 5).distance() == Distance(10, 50, 5)


def test_the_cells_of_all_columns() -> None:
    axes = (granular("age", Kind.INTEGER, 0, 9, Fraction(1), 5, nulls=True), keyed("ok", Kind.BOOLEAN, keys=(True,)))
    found = sheet(PEOPLE, axes)
    assert (found.names, found.grid.shape, found.grid.size) == (("age", "ok"), (6, 1), 6)


@pytest.mark.parametrize(("table", "rows"), [(PEOPLE, 0), (PEOPLE, True), (PEOPLE, 1.5), (ROWS, 2)])
def test_what_is_said_is_checked(table: Table, rows: int) -> None:
    with pytest.raises(DescriptionError, match="rows_per_person"):
        sheet(table, (), rows_per_person=rows)
