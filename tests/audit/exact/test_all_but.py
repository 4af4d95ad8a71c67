"""ε except with probability δ: for two inputs always, for many not."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.audit.exact.all_but import all_but
from sitr.audit.exact.mechanism import finite
from sitr.errors import InvalidParameter
from tests.audit.exact.tables import Rows, tables


@settings(max_examples=100, deadline=None)
@given(tables(zeros=True, inputs=2), st.sampled_from([0, 0.3, 1.0]), st.sampled_from([Fraction(0), Fraction(1, 7)]))
def test_two_inputs_always_split(rows: Rows, epsilon: float, more: Fraction) -> None:
    p, q = rows[:2]
    least = Fraction(finite([p, q]).delta(epsilon=epsilon).upper) + Fraction(1, 10**12)
    delta = least + more * (1 - least)
    if delta >= 1:
        return
    found = all_but(p, q, epsilon=epsilon, delta=delta)
    for law, private, rest in zip((p, q), found.private, found.exposed, strict=True):
        assert sum(private) == sum(rest) == 1
        assert min(*private, *rest) >= 0
        assert all((1 - delta) * a + delta * b == c for a, b, c in zip(private, rest, law, strict=True))
    one, other = found.private
    assert all(a <= found.odds * b and b <= found.odds * a for a, b in zip(one, other, strict=True))
    assert float(found.odds) <= math.exp(epsilon) * (1 + 1e-15)


def test_a_smaller_delta_is_refused() -> None:
    p, q = (0.75, 0.25), (0.25, 0.75)
    assert all_but(p, q, epsilon=0, delta=0.5).delta == Fraction(1, 2)
    with pytest.raises(InvalidParameter, match=r"a δ of at least 0\.5"):
        all_but(p, q, epsilon=0, delta=0.4999)
    with pytest.raises(InvalidParameter, match="ε of at least 0"):
        all_but(p, q, epsilon=-1, delta=0.5)
    with pytest.raises(InvalidParameter, match="add up to exactly 1"):
        all_but((0.5, 0.4), q, epsilon=1, delta=0.5)
    assert all_but(q, q, epsilon=0, delta=0).exposed == all_but(q, q, epsilon=0, delta=0).private


@pytest.mark.parametrize("inputs", [3, 4, 8])
def test_many_inputs_do_not_split(inputs: int) -> None:
    """Input k gives any outcome but k. Any two split at δ = 1/(K − 1); together they need δ = 1, whatever ε is.

    What an ε-private mechanism can have in common with all of them has, at each outcome, a mass of 0 for the input
    that never gives it, and so of 0 for every input.
    """
    share = Fraction(1, inputs - 1)
    rows = [[Fraction(0) if x == z else share for z in range(inputs)] for x in range(inputs)]
    mechanism = finite(rows)
    assert mechanism.delta(epsilon=0).exact == share
    assert mechanism.delta(epsilon=20).exact == share
    for first in rows:
        for second in rows:
            if first != second:
                assert all_but(first, second, epsilon=0, delta=share).delta == share
    common = [min(column) for column in zip(*rows, strict=True)]  # (1 − δ)M′(x) ≤ e^ε·min over x of M(x)
    assert sum(common) == 0
