"""Public cells: how many there are, what they are called, and where rows without one go."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.dataset.cells import (
    Axis,
    Categories,
    Dates,
    Edges,
    Even,
    Granular,
    Grid,
    Rule,
    Step,
    above,
    below,
    nowhere,
    size,
    spelled,
)
from sitr.dataset.schema import Column, Kind
from sitr.errors import QuestionError

AGE, DAY, WARD = Column("age", Kind.INTEGER), Column("day", Kind.DATE), Column("ward", Kind.TEXT)


def even(bins: int = 4, outside: Rule = Rule.CLAMP, missing: Rule = Rule.CELL) -> Even:
    return Even(AGE, Fraction(0), Fraction(100), bins, outside, missing)


AXES: list[Axis] = [
    kind
    for outside in Rule
    for missing in (Rule.CELL, Rule.DROP)
    for kind in (
        even(5, outside, missing),
        Edges(AGE, (Fraction(0), Fraction(1, 2), Fraction(9)), outside, missing),
        Dates(DAY, date(2024, 2, 20), date(2024, 3, 5), Step.WEEK, outside, missing),
    )
]
AXES += [Categories(WARD, ("a", "b"), outside) for outside in (Rule.CELL, Rule.DROP, Rule.MISSING)]
AXES += [Categories(WARD, ("a", "b"), Rule.MISSING, Rule.DROP)]
AXES += [Granular(AGE, 3, 20, Fraction(1), 4, missing) for missing in (Rule.CELL, Rule.DROP)]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_every_cell_has_a_label_of_its_own_and_every_rule_a_cell(axis: Axis) -> None:
    cells = list(axis.cells())
    assert len(cells) == size(axis)
    assert len({cell.label for cell in cells}) == len(cells)
    places = [below(axis), None if isinstance(axis, Categories) else above(axis), nowhere(axis)]
    assert all(place is None or 0 <= place < size(axis) for place in places)
    assert (nowhere(axis) is None) == (axis.missing is Rule.DROP)
    if axis.outside is Rule.CLAMP:
        assert (below(axis), above(axis)) == (0, axis.ordinary - 1)
    elif axis.outside is Rule.MISSING:
        assert below(axis) == above(axis) == nowhere(axis)
    else:
        assert (below(axis) is None) == (axis.outside is Rule.DROP)
    extra = {place for place in places if place is not None and place >= axis.ordinary}
    assert sorted(extra) == list(range(axis.ordinary, size(axis)))


@given(
    st.lists(st.fractions(-20, 20, max_denominator=7), min_size=2, max_size=6, unique=True).map(sorted),
    st.integers(1, 12),
)
def test_labels_of_integers_hold_the_same_integers_as_their_cells(edges: list[Fraction], bins: int) -> None:
    for axis in (
        Edges(AGE, tuple(edges), missing=Rule.DROP),
        Even(AGE, edges[0], edges[-1], bins, missing=Rule.DROP),
    ):
        cells = list(axis.cells())
        labels = [each.label for each in cells]
        assert len(set(labels)) == len(labels)
        holds = []
        for place, (cell, label) in enumerate(zip(cells, labels, strict=True)):
            assert isinstance(cell.low, Fraction)
            assert isinstance(cell.high, Fraction)
            last = place == len(cells) - 1
            inside = [n for n in range(-21, 22) if cell.low <= n < cell.high or (last and n == cell.high)]
            holds.append(bool(inside))
            low, high = label[1:-1].split(", ")
            assert label[-1] == ("]" if last else ")")
            if "." not in label:
                told = range(int(low), int(high) + last)
                assert list(told) == inside
        whole = all("." not in label for label in labels)
        assert whole == (all(holds) or all(end.denominator == 1 for cell in cells for end in (cell.low, cell.high)))  # type: ignore[union-attr]


def test_labels_of_other_numbers_keep_their_edges() -> None:
    """Where a cell of integers holds none, two labels would be equal: all keep their edges."""
    edges = (Fraction(0), Fraction(5, 2), Fraction(4))
    assert [cell.label for cell in Edges(AGE, edges).cells()] == ["[0, 3)", "[3, 4]", "(no value)"]
    cost = Column("cost", Kind.REAL)
    assert [cell.label for cell in Edges(cost, edges).cells()] == ["[0, 2.5)", "[2.5, 4]", "(no value)"]
    empty = (Fraction(0), Fraction(6, 5), Fraction(9, 5), Fraction(4))
    assert [cell.label for cell in Edges(AGE, empty).cells()] == ["[0, 1.2)", "[1.2, 1.8)", "[1.8, 4]", "(no value)"]
    assert [cell.label for cell in Even(AGE, Fraction(0), Fraction(1), 2).cells()][:2] == ["[0, 1)", "[1, 1]"]
    assert [cell.label for cell in Even(AGE, Fraction(0), Fraction(1), 4).cells()][1] == "[0.25, 0.5)"


@pytest.mark.parametrize("step", Step)
@pytest.mark.parametrize("first", [date(2023, 12, 27), date(2024, 1, 1), date(2024, 2, 29)])
def test_dates_are_cut_without_holes(step: Step, first: date) -> None:
    last = first + timedelta(400)
    axis = Dates(DAY, first, last, step)
    cells = [cell for cell in axis.cells() if cell.low is not None]
    assert (cells[0].low, cells[-1].high) == (first, last)
    for cell, after in pairwise(cells):
        assert cell.high + timedelta(1) == after.low  # type: ignore[operator]
    for place, cell in enumerate(cells):
        assert {axis.number(cell.low), axis.number(cell.high)} == {place}  # type: ignore[arg-type]


def test_dates_reach_to_both_ends_of_the_calendar() -> None:
    for step in Step:
        for first, last in ((date.min, date(1, 3, 1)), (date(9999, 10, 1), date.max)):
            cells = [cell for cell in Dates(DAY, first, last, step).cells() if cell.low is not None]
            assert (cells[0].low, cells[-1].high) == (first, last)


@given(st.integers(-(2**40), 2**40), st.integers(1, 5000), st.integers(1, 60))
def test_bins_share_the_granules_out(lower: int, width: int, bins: int) -> None:
    axis = Granular(AGE, lower, lower + width - 1, Fraction(1), min(bins, width))
    firsts = [axis.first(place) for place in range(axis.bins + 1)]
    assert (firsts[0], firsts[-1]) == (lower, lower + width)
    for place, (first, after) in enumerate(pairwise(firsts)):
        assert width // axis.bins <= after - first <= -(-width // axis.bins)
        for granule in (first, after - 1):
            assert (granule - lower) * axis.bins // width == place


def test_granules_are_labelled_in_the_unit_of_the_column() -> None:
    def labels(kind: Kind, upper: int, granularity: Fraction, bins: int) -> list[str]:
        axis = Granular(Column("x", kind), 0, upper, granularity, bins, Rule.DROP)
        return [cell.label for cell in axis.cells()]

    assert labels(Kind.INTEGER, 9, Fraction(1), 3) == ["0 to 3", "4 to 6", "7 to 9"]
    assert labels(Kind.REAL, 3, Fraction(1, 4), 2) == ["0 to 0.25", "0.5 to 0.75"]
    assert labels(Kind.DATE, 2, Fraction(1), 2) == ["1970-01-01 to 1970-01-02", "1970-01-03"]
    assert labels(Kind.TIMESTAMP, 86_400, Fraction(1), 86_401)[-1] == datetime(1970, 1, 2).isoformat()  # noqa: DTZ001


def test_grids_multiply() -> None:
    grid = Grid((even(4), Categories(WARD, ("a", "b"))))
    assert (grid.shape, grid.size, grid.complete, grid.line) == ((5, 3), 15, False, None)
    assert Grid((even(4),)).line == 4
    assert Grid((even(4),)).complete
    assert not Grid((even(4, missing=Rule.DROP),)).complete
    assert Grid((even(4, Rule.MISSING),)).complete
    assert not Grid((even(4, Rule.MISSING, Rule.DROP),)).complete


def test_grids_without_columns_or_with_one_twice_are_refused() -> None:
    for axes in ((), (even(), even())):
        with pytest.raises(QuestionError, match="different columns"):
            Grid(axes)


def test_cells_are_spelled() -> None:
    assert spelled(even()) == "age in 4 cells from 0 to 100"
    assert spelled(Categories(WARD, ("a",))) == "ward in 1 categories"
    assert spelled(Granular(AGE, 0, 24, Fraction(5), 5)) == "age in 5 cells from 0 to 120"
    assert (
        spelled(Dates(DAY, date(2024, 1, 1), date(2024, 1, 2), Step.DAY)) == "day by day from 2024-01-01 to 2024-01-02"
    )
