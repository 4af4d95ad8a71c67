"""ε at δ over many pairs: proved on both sides, against all events and against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.audit.exact.events import epsilon_at, exponential, logarithm, quantile
from sitr.audit.exact.pairs import Pairs
from sitr.audit.exact.table import Table
from tests.audit.exact.tables import Rows, epsilon_by_sets, losses, tables


def pairs(rows: Rows) -> Pairs:
    ends = [(i, j) for i in range(len(rows)) for j in range(i)]
    return Pairs.of(Table.of(rows), np.array(ends, dtype=np.int64))


@given(tables(zeros=True), st.sampled_from([0.0, 0.01, 0.1, 0.5]))
def test_epsilon_at_a_delta(rows: Rows, delta: float) -> None:
    direct = epsilon_by_sets(rows, delta)
    found = epsilon_at(pairs(rows), delta, delta).value
    assert found.lower <= direct + 1e-9
    assert found.upper >= direct - 1e-9 or math.isclose(found.upper, direct)
    assert found.lower == found.upper == math.inf if math.isinf(direct) else found.upper - found.lower < 1e-9


@given(tables(), st.sampled_from([0.0, 0.05, 0.3]))
def test_the_loss_that_is_exceeded_with_probability_delta(rows: Rows, delta: float) -> None:
    """For every pair the interval holds: above it, no more than δ; below it, for one pair more than δ."""
    found = quantile(pairs(rows), delta, delta).value
    laws = [(p, q) for p in rows for q in rows if p is not q]

    def beyond(epsilon: float) -> float:
        return max(sum(mass for mass, loss in losses(p, q) if loss > epsilon) for p, q in laws)

    assert beyond(found.upper + 1e-12) <= delta + 1e-12
    assert found.lower < 1e-9 or beyond(found.lower - 1e-9) > delta - 1e-12


def test_the_pair_that_attains_it_is_named() -> None:
    rows = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)], [Fraction(1, 10), Fraction(9, 10)]]
    made = pairs(rows)
    found = epsilon_at(made, 0.0, 0.0)
    named = {int(made.first[found.row]), int(made.second[found.row])}
    assert named == {0, 2}
    assert found.value.lower == pytest.approx(math.log(5), abs=1e-9)


@given(st.floats(0, 699))
def test_powers_and_logarithms_go_outward(epsilon: float) -> None:
    low, high = exponential(epsilon)
    assert low < math.exp(epsilon) < high
    back = logarithm(low, high)
    assert back.lower <= epsilon <= back.upper
    assert back.upper - back.lower < 1e-9 * (1 + epsilon)


def test_beyond_every_float() -> None:
    assert exponential(1e6)[1] == math.inf
    assert logarithm(0.5, math.inf) == logarithm(0.5, math.inf).__class__(0.0, math.inf)
