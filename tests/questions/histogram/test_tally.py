"""What a histogram counts, and how far one unit moves it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.dataset.cells import MOST_CELLS, Even, Grid, Rule
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.histogram.tally import Tally
from sitr.questions.synthetic.sheet import sheet

COLUMNS = (Column("id", Kind.INTEGER), Column("cell", Kind.REAL), Column("y", Kind.REAL))


def table(relation: Relation = Relation.ADD_REMOVE) -> Table:
    return Table("t", COLUMNS, Person("id"), relation, 2, 3)


def even(column: Column, bins: int) -> Even:
    return Even(column, Fraction(0), Fraction(1), bins)


def test_too_many_cells_are_refused() -> None:
    x, y = COLUMNS[1:]
    fits = Grid((even(x, 999), even(y, MOST_CELLS // 1000 - 1)))
    assert fits.size == MOST_CELLS
    assert Tally.of(table(), fits).cells == MOST_CELLS
    with pytest.raises(QuestionError, match="at most 10,000,000 cells"):
        Tally.of(table(), Grid((even(x, 999), even(y, MOST_CELLS // 1000))))


def test_the_column_of_cell_numbers_has_a_name_of_its_own() -> None:
    assert Tally.of(table(), Grid((even(COLUMNS[1], 4),))).query.keys[0].name == "cell_"


@pytest.mark.parametrize(
    ("relation", "cells", "merged"),
    [
        (Relation.ADD_REMOVE, Distance(6, 18, 3), Distance(6, 36, 6)),
        (Relation.REPLACE_ONE, Distance(12, 36, 3), Distance(12, 72, 6)),
    ],
)
def test_distances(relation: Relation, cells: Distance, merged: Distance) -> None:
    tally = Tally.of(table(relation), Grid((even(COLUMNS[1], 8),)))
    assert (tally.distance(), tally.merged_distance()) == (cells, merged)
    assert sheet(table(relation), ()).distance() == merged  # all rows of a person may be in one cell here too


def test_a_public_total_needs_replaced_rows_and_a_cell_for_each() -> None:
    rows = Table("t", COLUMNS, Row(), Relation.REPLACE_ONE, 1, 1)
    whole = even(COLUMNS[1], 8)
    some = Even(COLUMNS[1], Fraction(0), Fraction(1), 8, missing=Rule.DROP)
    assert Tally.of(rows, Grid((whole,))).total_is_public
    assert not Tally.of(rows, Grid((some,))).total_is_public
    assert not Tally.of(table(Relation.REPLACE_ONE), Grid((whole,))).total_is_public
