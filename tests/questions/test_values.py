"""Every cell gives back values of its own, in the type of the column."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sitr.dataset.cells import Drawable
from sitr.dataset.schema import Kind
from sitr.errors import DescriptionError
from sitr.noise.coins import TestCoins
from sitr.questions.values import check, draw_values, positions
from tests.oracles.axes import granular, keyed

LETTERS = keyed("n", Kind.TEXT, keys=("x", "y", "z", "u", "v"), nulls=True)


@pytest.mark.parametrize(
    ("axis", "kind", "values"),
    [
        (granular("n", Kind.INTEGER, -2, 2, Fraction(1), 5, nulls=True), pa.int8(), [-2, 2, None]),
        (granular("n", Kind.INTEGER, -2, 2, Fraction(5), 5, nulls=True), pa.uint64(), None),
        (granular("n", Kind.REAL, -2, 2, Fraction(1, 4), 5, nulls=True), pa.float32(), [-0.5, 0.5, None]),
        (
            granular("n", Kind.REAL, -2, 2, Fraction(1, 100), 5, nulls=True),
            pa.decimal128(10, 2),
            [Decimal("-0.02"), Decimal("0.02"), None],
        ),
        (LETTERS, pa.large_string(), ["x", "v", None]),
        (LETTERS, pa.string_view(), None),  # Arrow cannot draw from it
        (LETTERS, pa.dictionary(pa.int8(), pa.string()), ["x", "v", None]),
        (
            granular("n", Kind.DATE, 0, 4, Fraction(1), 5, nulls=True),
            pa.date32(),
            [date(1970, 1, 1), date(1970, 1, 5), None],
        ),
        (
            granular("n", Kind.TIMESTAMP, 0, 4, Fraction(1), 5, nulls=True),
            pa.timestamp("ms"),
            [datetime.fromisoformat("1970-01-01T00:00:00"), datetime.fromisoformat("1970-01-01T00:00:04"), None],
        ),
    ],
)
def test_values_in_the_type_of_the_column(axis: Drawable, kind: pa.DataType, values: list[object] | None) -> None:
    if values is None:
        with pytest.raises(DescriptionError, match="do not fit its type"):
            check(axis, kind)
        return
    check(axis, kind)
    column = draw_values(axis, np.array([0, 4, 5]), coins=TestCoins(1), kind=kind)
    assert (column.type, column.to_pylist()) == (kind, values)
    assert draw_values(axis, np.array([], dtype=np.int64), coins=TestCoins(1), kind=kind).to_pylist() == []


def test_a_cell_gives_all_its_granules_and_no_other() -> None:
    axis = granular("n", Kind.INTEGER, 10, 19, Fraction(1), 3)
    drawn = draw_values(axis, np.repeat([0, 1, 2], 500), coins=TestCoins(5)).to_pylist()
    assert [set(drawn[start : start + 500]) for start in (0, 500, 1000)] == [
        {10, 11, 12, 13},
        {14, 15, 16},
        {17, 18, 19},
    ]


def test_drawn_values_are_those_of_the_label() -> None:
    """The ends of each public label are drawn, and nothing beyond them."""
    axis = granular("n", Kind.REAL, -7, 12, Fraction(1, 4), 6)
    for place, cell in enumerate(axis.cells()):
        drawn = draw_values(axis, np.full(300, place), coins=TestCoins(place)).to_pylist()
        assert (min(drawn), max(drawn)) == (cell.low, cell.high)


def test_positions_are_the_middles() -> None:
    axis = granular("n", Kind.REAL, 0, 9, Fraction(1, 2), 5, nulls=True)
    assert positions(axis, np.array([0, 4])).tolist() == [0.25, 4.25]
    assert np.isnan(positions(axis, np.array([5]))).all()
