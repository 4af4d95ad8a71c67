from __future__ import annotations

import json
import sys
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import upward
from sitr.questions.aggregate.release import Release

BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total, SUM(days) AS stay FROM visits GROUP BY ward"
KEYS = (("B",), ("A",), (None,))
LARGEST = 2**63 - 1


def made(plan, *rows) -> Release:
    return Release(plan, KEYS[: len(rows)], rows)


def test_granules_become_numbers_in_the_columns_unit(plan):
    table = made(plan(BY_WARD), (7, 31, -4), (-1, -3, 0), (0, 0, 2)).table()
    assert table.to_pydict() == {
        "ward": ["B", "A", None],
        "n": [7, -1, 0],
        "total": [3.1, -0.3, 0.0],  # tenths, as near as a double can be: not 31 * 0.1
        "stay": [-4, 0, 2],
    }
    assert table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.int64()]


@pytest.mark.parametrize("granules", [2**53 + 1, 10**17 + 3, -(2**60) - 1, 3 * 10**30 + 1])
@pytest.mark.parametrize("step", [0.1, 0.5, Fraction(1, 3), Fraction(7, 3), Fraction(1, 2**40)])
def test_real_numbers_are_rounded_once(plan, granules, step):
    fitted = plan("SELECT SUM(cost) AS total FROM visits", granularity={"cost": step})
    (number,) = Release(fitted, ((),), ((granules,),)).table()["total"].to_pylist()
    value = granules * Fraction(str(step))
    # The nearest double: no nearer one on either side.
    assert abs(Fraction(number) - value) <= Fraction(1, 2**53) * abs(value)
    assert number == value.numerator / value.denominator


@pytest.mark.parametrize(
    ("granules", "shown"),
    [
        (LARGEST - 1, LARGEST - 1),
        (LARGEST, LARGEST),
        (LARGEST + 1, LARGEST),
        (10**40, LARGEST),
        (-LARGEST, -LARGEST),
        (-LARGEST - 2, -LARGEST),
        (-(10**40), -LARGEST),
    ],
)
def test_whole_numbers_stop_at_64_bits(plan, granules, shown):
    release = made(plan(BY_WARD), (granules, 0, 0))
    assert release.table()["n"].to_pylist() == [shown]
    width = release.plan.noisy[0].noise.error()
    ends = release.intervals()
    assert ends["n_low"].to_pylist() == [max(-LARGEST, min(LARGEST, granules - width))]
    assert ends["n_high"].to_pylist() == [max(-LARGEST, min(LARGEST, granules + width))]


@pytest.mark.parametrize(("granules", "shown"), [(10**400, sys.float_info.max), (-(10**400), -sys.float_info.max)])
def test_real_numbers_stop_at_the_largest_double(plan, granules, shown):
    """Noise can pass it, and an error after the charge would tell that it did."""
    release = made(plan(BY_WARD), (0, granules, 0))
    assert release.table()["total"].to_pylist() == [shown]
    ends = release.intervals()
    assert ends["total_low"].to_pylist() == ends["total_high"].to_pylist() == [shown]


def test_a_column_of_reals_stays_one(plan):
    fitted = plan("SELECT SUM(cost) AS total, COUNT(cost) AS n FROM visits", granularity={"cost": 1})
    answer = Release(fitted, ((),), ((5, 1),)).table()
    assert answer.schema.types == [pa.float64(), pa.int64()]
    assert answer.to_pydict() == {"total": [5.0], "n": [1]}


def test_a_coarse_granularity_gives_whole_numbers(plan):
    fitted = plan("SELECT SUM(days) AS stay FROM visits", bounds={"days": (0, 100)}, granularity={"days": 10})
    release = Release(fitted, ((),), ((7,),))
    assert release.table().to_pydict() == {"stay": [70]}
    width = 10 * fitted.noisy[0].noise.error()
    assert release.intervals().to_pydict() == {"stay": [70], "stay_low": [70 - width], "stay_high": [70 + width]}


# Intervals


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("price", [None, ZeroConcentratedDP(0.5)])
def test_intervals_are_the_value_and_the_width_of_its_noise_on_both_sides(plan, price, confidence):
    release = made(plan(BY_WARD, price=price), (7, 31, -4), (-1, -3, 0), (0, 0, 2))
    table = release.intervals(confidence=confidence)
    names = ["ward"] + [f"{name}{end}" for name in ("n", "total", "stay") for end in ("", "_low", "_high")]
    assert table.column_names == names
    for place, column in enumerate(release.plan.columns):
        (term,) = column.measured
        width, step = term.noise.error(confidence=confidence), term.granularity
        for end, sign in (("_low", -1), ("", 0), ("_high", 1)):
            expected = [float((row[place] + sign * width) * step) for row in release.measured]
            assert table[column.name + end].to_pylist() == expected
        assert column.error(confidence=confidence) == upward(width * step)


def test_wider_confidence_gives_wider_intervals(plan):
    release = made(plan(BY_WARD), (7, 31, -4))
    narrow, wide = (release.intervals(confidence=level)["n_high"][0].as_py() for level in (0.9, 0.99))
    assert narrow < wide


# The schema


def test_the_schema_says_what_was_asked_and_how_far_off_it_is(plan):
    schema = made(plan(BY_WARD), (7, 31, -4)).table().schema
    told = [json.loads(schema.field(name).metadata[b"sitr"]) for name in ("n", "total", "stay")]
    errors = [column.error() for column in plan(BY_WARD).columns]
    assert told == [
        {"aggregate": spelled, "error_95": error, "bias": "not measured"}
        for spelled, error in zip(["COUNT(*)", "SUM(cost)", "SUM(days)"], errors, strict=True)
    ]


def test_the_schema_is_the_same_whatever_the_rows(plan):
    fitted = plan(BY_WARD, keys={}, price=ApproximateDP(1, 1e-6))
    releases = [made(fitted, *rows) for rows in ([], [(7, 31, -4)], [(0, 0, 0), (10**40, -(10**40), 1)])]
    for tables in (
        [release.table() for release in releases],
        [release.intervals() for release in releases],
    ):
        assert [table.num_rows for table in tables] == [0, 1, 2]
        assert all(table.schema.equals(tables[0].schema, check_metadata=True) for table in tables)


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        ("ward", pa.string(), ["A", None, "", "مكة"]),
        ("days", pa.int64(), [-(2**63), 2**63 - 1, None]),
        ("urgent", pa.bool_(), [True, False, None]),
        ("born", pa.date32(), [date(1, 1, 1), date(9999, 12, 31), None]),
    ],
)
def test_keys_keep_their_type_and_null(plan, column, kind, values):
    sql = f"SELECT {column}, COUNT(*) AS n FROM visits GROUP BY {column}"
    fitted = plan(sql, keys={}, price=ApproximateDP(1, 1e-6))
    for some in (values, [None], []):
        release = Release(fitted, tuple((value,) for value in some), ((1,),) * len(some))
        assert release.table()[column].to_pylist() == some
        assert release.table().schema.field(column).type == kind


def test_without_keys_there_is_one_row(plan):
    release = Release(plan("SELECT COUNT(*) AS n FROM visits"), ((),), ((5,),))
    assert release.table().to_pydict() == {"n": [5]}
    assert release.intervals().num_rows == 1
