"""The readings of a batch: one more person moves each measurement by no more than its plan says."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb import open_source
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.plan import BEYOND
from sitr.questions.batch.question import BatchQuestion

Ask = Callable[..., BoundedQuery]

WARDS = ["A", "B", "C"]
TEXTS = (
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward, SUM(days) AS days, COUNT(DISTINCT id) AS people FROM visits GROUP BY ward HAVING AVG(days) > 0",
    "SELECT SUM(cost) AS total FROM visits WHERE days > 0",
)
ROW = st.tuples(st.integers(0, 3), st.sampled_from([*WARDS, "D", None]), st.floats(-20, 20), st.integers(-9, 9))


@pytest.fixture(scope="session")
def batch(ask: Ask) -> BatchQuestion:
    queries = tuple(ask(text, keys={"ward": WARDS}) for text in TEXTS)
    return BatchQuestion(("1", "2", "3"), queries, (Fraction(1),) * 3)


def read(question: BatchQuestion, rows: list[Any], salt: int) -> list[dict[Any, Any]]:
    columns = list(zip(*rows, strict=True)) or [()] * 4
    kinds = (pa.int64(), pa.string(), pa.float64(), pa.int64())
    named = zip(("id", "ward", "cost", "days"), columns, kinds, strict=True)
    source = open_source(pa.table({name: pa.array(values, kind) for name, values, kind in named}), types={})
    return [source.read(reading, salt=salt) for reading in question.reading()]


@settings(deadline=None, max_examples=6)
@given(st.lists(ROW, max_size=12), st.integers(0, 2**63 - 1))
def test_one_person_moves_a_measurement_no_further_than_planned(
    batch: BatchQuestion, rows: list[Any], salt: int
) -> None:
    plan = batch.plan(ZeroConcentratedDP(0.5))
    with_one, without = read(batch, rows, salt), read(batch, [row for row in rows if row[0] != 0], salt)
    for group, there, here in zip(plan.groups, with_one, without, strict=True):
        absent = (0,) * (len(group.query.terms) + 2)
        for place, noisy in enumerate(group.noisy):
            moved = [
                abs(there.get(key, absent)[place] - here.get(key, absent)[place]) for key in there.keys() | here.keys()
            ]
            assert sum(moved) <= noisy.distance.l1
            assert sum(far**2 for far in moved) <= noisy.distance.l2_squared
        if group.beyond is not None:
            first, second = (next(iter(cells.values()))[-2] if cells else 0 for cells in (there, here))
            assert abs(first - second) <= 1
    assert any(each.name == BEYOND for each in plan.measurements)


def test_questions_with_the_same_rows_and_caps_are_read_once(batch: BatchQuestion) -> None:
    first, second = batch.reading()
    assert set(first.terms) == {*batch.queries[0].terms, *batch.queries[1].terms}
    assert second.terms == batch.queries[2].terms
