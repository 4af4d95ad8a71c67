"""Best tests and the least μ: against all tests, and against two Gaussians that were cut into cells."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from sitr.audit.exact.pairs import Pairs
from sitr.audit.exact.table import Table
from sitr.audit.exact.trade_off import corner, largest_mu, normal_curve, rates
from tests.audit.exact.tables import Law, Rows, tables


def pair(rows: object) -> Pairs:
    return Pairs.of(Table.of(rows), np.array([[0, 1]], dtype=np.int64))


def every_test(p: Law, q: Law) -> list[tuple[float, float]]:
    """False and true positives of every deterministic test for P against Q."""
    sets = chain.from_iterable(combinations(range(4), size) for size in range(5))
    return [(float(sum(q[z] for z in each)), float(sum(p[z] for z in each))) for each in sets]


TWO = tables(inputs=2).filter(lambda rows: len(rows) == 2)


@given(TWO)
def test_mu_is_that_of_the_worst_test(rows: Rows) -> None:
    points = every_test(*rows[:2])
    direct = max([0.0, *(ndtri(y) - ndtri(x) for x, y in points if 0 < x < 1 and 0 < y < 1)])
    found = largest_mu(pair(rows)).value
    assert found.lower <= direct + 1e-9
    assert found.upper >= direct - 1e-9
    assert found.upper - found.lower < 1e-6


@given(TWO, st.floats(0, 1))
def test_no_mix_of_tests_lies_above_the_curve_and_one_reaches_it(rows: Rows, fpr: float) -> None:
    low, high = (float(end[0]) for end in rates(pair(rows), np.array([fpr])))
    best = max(
        y0 + (y1 - y0) * (fpr - x0) / (x1 - x0) if x1 - x0 > 1e-12 else max(y0, y1)
        for points in (every_test(rows[0], rows[1]), every_test(rows[1], rows[0]))
        for x0, y0 in points
        for x1, y1 in points
        if x0 <= fpr <= x1
    )
    assert low - 1e-9 <= best <= high + 1e-9
    assert high - low < 1e-9


def test_gaussians_in_cells_need_at_most_their_mu() -> None:
    """Merging cells only loses; the twin of a third more noise needs visibly less."""
    edges = np.linspace(-6, 7, 200)
    for mu in (1.0, 0.75):
        rows = [np.diff(ndtr(edges - shift), prepend=0, append=1) for shift in (0.0, mu)]
        made = Pairs.of(Table.of(np.array(rows), rounding=1e-12), np.array([[0, 1]], dtype=np.int64))
        found = largest_mu(made).value
        assert 0.999 * mu < found.lower <= found.upper < mu * 1.001


def test_the_corner_is_the_outcomes_of_the_test() -> None:
    rows = [["1/2", "1/4", "1/4"], ["1/8", "5/8", "1/4"]]
    assert corner(pair(rows), 0).tolist() == [0]


def test_the_curve_of_two_gaussians() -> None:
    found = normal_curve(1.0, np.array([0.0, 0.5, 1.0]))
    assert found.tolist() == pytest.approx([0.0, ndtr(1.0), 1.0])
    assert normal_curve(float("inf"), np.array([0.0, 0.5])).tolist() == [1.0, 1.0]
