"""Columns are cut by public knowledge only, and every cell gives back values of its own, in the column's type."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.dataset.schema import Column, Kind, Quantised, Table
from sitr.errors import DescriptionError, UnknownName
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.axes import Axis, Steps, axes, joint_cells

NEW_YEAR = datetime.fromisoformat("2024-01-01")
TABLE = Table(
    "t",
    (
        Column("id", Kind.INTEGER),
        Column("age", Kind.INTEGER, Quantised(0, 99, Fraction(1))),
        Column("cost", Kind.REAL, Quantised(0, 500, Fraction(1, 100))),
        Column("ward", Kind.TEXT, None, ("a", None)),
        Column("free", Kind.TEXT),
        Column("ok", Kind.BOOLEAN),
        Column("day", Kind.DATE),
        Column("at", Kind.TIMESTAMP),
        Column("odd", Kind.OTHER),
        Column("bare", Kind.REAL),
    ),
    Person("id"),
    Relation.ADD_REMOVE,
    2,
    3,
)


@given(st.integers(-(2**40), 2**40), st.integers(1, 5000), st.integers(1, 60))
def test_cells_share_the_granules_out(lower: int, width: int, bins: int) -> None:
    steps = Steps(lower, lower + width - 1, Fraction(1), min(bins, width))
    firsts = [steps.first(cell) for cell in range(steps.bins + 1)]
    assert (firsts[0], firsts[-1]) == (lower, lower + width)
    for cell, (first, after) in enumerate(pairwise(firsts)):
        assert width // steps.bins <= after - first <= -(-width // steps.bins)
        for granule in (first, after - 1):
            assert (granule - lower) * steps.bins // width == cell


def test_every_kind_of_column() -> None:
    made = axes(
        TABLE,
        columns=["age", "cost", "ward", "free", "ok", "day", "at", "bare"],
        bins={"age": 10, "day": 400},
        bounds={
            "day": (date(2024, 1, 1), date(2024, 1, 31)),
            "at": (NEW_YEAR, NEW_YEAR + timedelta(1)),
            "bare": (0, 1),
        },
        keys={"free": ["x", "y"]},
        required=["age"],
    )
    cells = {axis.name: (axis.cells, axis.nulls, axis.ordered) for axis in made}
    assert cells == {
        "age": (10, False, True),
        "cost": (65, True, True),
        "ward": (2, True, False),
        "free": (2, False, False),
        "ok": (3, True, False),
        "day": (32, True, True),
        "at": (65, True, True),
        "bare": (65, True, True),
    }
    assert joint_cells(made[:3]) == 10 * 65 * 2


@pytest.mark.parametrize("name", ["free", "day", "at", "odd", "bare"])
def test_a_domain_is_never_learned_from_the_rows(name: str) -> None:
    with pytest.raises(DescriptionError, match="must not be learned from the rows"):
        axes(TABLE, columns=[name])


def test_by_default_all_columns_but_the_id() -> None:
    table = Table("t", TABLE.columns[:4], Person("id"), Relation.ADD_REMOVE, 1, 1)
    assert [axis.name for axis in axes(table)] == ["age", "cost", "ward"]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"columns": ["nobody"]}, UnknownName),
        ({"columns": ["age"], "keys": {"nobody": ["x"]}}, UnknownName),
        ({"columns": []}, DescriptionError),
        ({"columns": ["id", "age"]}, DescriptionError),
        ({"columns": ["age", "age"]}, DescriptionError),
        ({"columns": ["age"], "bins": 0}, DescriptionError),
        ({"columns": ["age"], "bins": True}, DescriptionError),
        ({"columns": ["free"], "bounds": {"free": (0, 1)}}, DescriptionError),
        ({"columns": ["day"], "bounds": {"day": (date(2024, 1, 2), date(2024, 1, 1))}}, DescriptionError),
        (
            {
                "columns": ["day"],
                "bounds": {
                    "day": (
                        datetime.fromisoformat("2024-01-01T00:00:00"),
                        datetime.fromisoformat("2024-01-02T00:00:00"),
                    )
                },
            },
            DescriptionError,
        ),
        ({"columns": ["at"], "bounds": {"at": (date(2024, 1, 1), date(2024, 1, 2))}}, DescriptionError),
    ],
)
def test_what_is_said_is_checked(said: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        axes(TABLE, **said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("axis", "kind", "values"),
    [
        (Axis("n", Kind.INTEGER, steps=Steps(-2, 2, Fraction(1), 5), nulls=True), pa.int8(), [-2, 2, None]),
        (Axis("n", Kind.INTEGER, steps=Steps(-2, 2, Fraction(5), 5), nulls=True), pa.uint64(), None),
        (Axis("n", Kind.REAL, steps=Steps(-2, 2, Fraction(1, 4), 5), nulls=True), pa.float32(), [-0.5, 0.5, None]),
        (
            Axis("n", Kind.REAL, steps=Steps(-2, 2, Fraction(1, 100), 5), nulls=True),
            pa.decimal128(10, 2),
            [Decimal("-0.02"), Decimal("0.02"), None],
        ),
        (Axis("n", Kind.TEXT, keys=("x", "y", "z", "u", "v"), nulls=True), pa.large_string(), ["x", "v", None]),
        (Axis("n", Kind.TEXT, keys=("x", "y", "z", "u", "v"), nulls=True), pa.string_view(), None),  # Arrow takes none
        (
            Axis("n", Kind.TEXT, keys=("x", "y", "z", "u", "v"), nulls=True),
            pa.dictionary(pa.int8(), pa.string()),
            ["x", "v", None],
        ),
        (
            Axis("n", Kind.DATE, steps=Steps(0, 4, Fraction(1), 5), nulls=True),
            pa.date32(),
            [date(1970, 1, 1), date(1970, 1, 5), None],
        ),
        (
            Axis("n", Kind.TIMESTAMP, steps=Steps(0, 4, Fraction(1), 5), nulls=True),
            pa.timestamp("ms"),
            [datetime.fromisoformat("1970-01-01T00:00:00"), datetime.fromisoformat("1970-01-01T00:00:04"), None],
        ),
    ],
)
def test_values_in_the_type_of_the_column(axis: Axis, kind: pa.DataType, values: list[object] | None) -> None:
    if values is None:
        with pytest.raises(DescriptionError, match="must fit its type"):
            axis.check(kind)
        return
    axis.check(kind)
    column = axis.column(np.array([0, 4, 5]), coins=TestCoins(1), kind=kind)
    assert (column.type, column.to_pylist()) == (kind, values)
    assert axis.column(np.array([], dtype=np.int64), coins=TestCoins(1), kind=kind).to_pylist() == []


def test_a_cell_gives_all_its_granules_and_no_other() -> None:
    axis = Axis("n", Kind.INTEGER, steps=Steps(10, 19, Fraction(1), 3), nulls=False)
    assert [axis.label(cell) for cell in range(3)] == ["10 to 13", "14 to 16", "17 to 19"]
    drawn = axis.column(np.repeat([0, 1, 2], 500), coins=TestCoins(5)).to_pylist()
    assert [set(drawn[start : start + 500]) for start in (0, 500, 1000)] == [
        {10, 11, 12, 13},
        {14, 15, 16},
        {17, 18, 19},
    ]


def test_positions_are_the_middles() -> None:
    axis = Axis("n", Kind.REAL, steps=Steps(0, 9, Fraction(1, 2), 5), nulls=True)
    assert axis.positions(np.array([0, 4])).tolist() == [0.25, 4.25]
    assert np.isnan(axis.positions(np.array([5]))).all()


def test_a_row_has_no_id_to_leave_out() -> None:
    table = Table("t", TABLE.columns[1:3], Row(), Relation.ADD_REMOVE, 1, 1)
    assert [axis.name for axis in axes(table)] == ["age", "cost"]
