"""The free score compares rows with released tables, cell by cell, and names the noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sitr.dataset.schema import Kind
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.agreement import Agreement, TableFit, agreement
from sitr.questions.synthetic.marginals import measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import keyed

AXES = tuple(keyed(name, Kind.TEXT, keys=tuple("xyz"[:size])) for name, size in (("a", 2), ("b", 3), ("c", 2)))
SHEET = Sheet(AXES, Row(), Relation.ADD_REMOVE, 1)
CODES = np.random.default_rng(1).integers(0, [2, 3, 2], (6000, 3))
SCHEMA = pa.schema([(name, pa.string()) for name in "abc"])


def made(method: Method, rho: float = 5.0) -> Portrait:
    planned = plan(SHEET, ZeroConcentratedDP(rho), method=method)
    return portrait(measure(planned, CODES, coins=TestCoins(1)), schema=SCHEMA, never=())


@pytest.mark.parametrize("method", Method)
def test_the_data_themselves_agree_up_to_the_noise(method: Method) -> None:
    found = agreement(made(method), CODES)
    assert [each.columns for each in found.of(1)] == [("a",), ("b",), ("c",)]
    assert [each.columns for each in found.of(2)] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(found.of(3)) == (1 if method is Method.JOINT else 0)
    assert found.score > 0.995
    assert all(each.found < 6 * each.noise + 1e-3 for each in found.tables)


@pytest.mark.parametrize("method", Method)
def test_other_rows_score_what_they_share(method: Method) -> None:
    """Rows that are all in one cell share 1/2 of a, 1/3 of b and 1/6 of both with uniform data."""
    found = agreement(made(method), np.zeros((100, 3), dtype=np.int64))
    scores = {each.columns: each.score for each in found.tables}
    assert scores["a",] == pytest.approx(1 / 2, abs=0.02)
    assert scores["b",] == pytest.approx(1 / 3, abs=0.02)
    assert scores["a", "b"] == pytest.approx(1 / 6, abs=0.02)
    assert found.score == pytest.approx((1 / 6 + 1 / 4 + 1 / 6) / 3, abs=0.02)


def test_the_noise_of_a_margin_is_the_noise_of_its_cells() -> None:
    """A pair of 6 cells from a table of 12: each cell is a sum of two, so E Σ|noise|/n = 6·√2·s·√(2/π)/n."""
    whole = made(Method.JOINT, 0.001)
    (joint,) = whole.measured.alone
    pair = next(each for each in agreement(whole, CODES).tables if each.columns == ("a", "b"))
    expected = 6 * math.sqrt(2) * joint.deviation * math.sqrt(2 / math.pi) / whole.measured.total
    assert pair.noise == pytest.approx(expected)
    nothing = np.zeros(6, dtype=np.int64)
    twice = [[joint.noise.release(nothing, coins=TestCoins(2 * seed + i)) for i in (0, 1)] for seed in range(400)]
    drawn = [np.abs(np.sum(both, axis=0)).sum() for both in twice]
    assert np.mean(drawn) / whole.measured.total == pytest.approx(pair.noise, rel=0.1)


def test_no_rows_and_no_pairs() -> None:
    assert agreement(made(Method.MARGINALS), CODES[:0]).of(1)[0].found == pytest.approx(1.0)
    alone = Agreement((TableFit(("a",), 0.5, 0.0),))
    assert alone.score == 0.75
    assert replace(alone, tables=()).score == 0.0
