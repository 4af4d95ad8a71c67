"""The worst (ε, δ) mechanism has four outcomes: two expose with mass δ, two answer by randomized response. [KOV15]"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import cast

import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.numbers import Interval, Number, ball, exact

BITS = 400
Pair = list[tuple[arb, arb]]


def worst(epsilon: Number, delta: Number) -> Pair:
    shown = (1 - ball(delta)) / (1 + ball(epsilon).exp())
    told = shown * ball(epsilon).exp()
    return [(ball(delta), arb(0)), (told, shown), (shown, told), (arb(0), ball(delta))]


def both(first: Pair, second: Pair) -> Pair:
    return [(p * s, q * t) for (p, q), (s, t) in product(first, second)]


def hockey_stick(pair: Pair, epsilon: Number) -> arb:
    odds = ball(epsilon).exp()
    return sum(((p - odds * q).nonnegative_part() for p, q in pair), arb(0))


# Composition


@given(st.floats(0.01, 3), st.floats(1e-12, 0.01), st.floats(0.01, 3), st.floats(1e-12, 0.01))
def test_the_sum_is_kept_by_the_worst_pair_and_no_epsilon_less(first, exposed, second, leaked):
    whole = ApproximateDP(first, exposed) + ApproximateDP(second, leaked)
    with ctx.workprec(BITS):
        pair = both(worst(first, exposed), worst(second, leaked))
        assert hockey_stick(pair, whole.epsilon) <= ball(whole.delta)
        # The exposed mass alone is 1 − (1 − δ₁)(1 − δ₂), nearly the sum: dropping one δ would break this.
        assert hockey_stick(pair, whole.epsilon) >= ball(whole.delta) * ball(0.99)


def test_epsilons_add_in_full():
    whole = ApproximateDP(1.0, 1e-9) + ApproximateDP(0.5, 1e-9)
    with ctx.workprec(BITS):
        pair = both(worst(1.0, 1e-9), worst(0.5, 1e-9))
        assert hockey_stick(pair, exact(whole.epsilon) - exact(1e-6)) > ball(whole.delta)


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_delta_stops_at_one(parts):
    promise = ApproximateDP(0.5, 0.6)
    expected = ApproximateDP(0.5 * parts, 1.0)
    assert ApproximateDP.compose([promise] * parts) == promise * parts == expected


def test_decimals_add_as_on_paper():
    assert ApproximateDP(0.1, 1e-7) + ApproximateDP(0.2, 2e-7) == ApproximateDP(0.3, 3e-7)
    assert ApproximateDP(0.1, 1e-7) * 10 == ApproximateDP(1.0, 1e-6)


# Groups


@given(st.floats(0, 2), st.floats(1e-12, 1e-3), st.integers(1, 6))
@example(1.6875, 0.0009304534399674564, 5)  # the last two events have together more than probability 1
def test_a_chain_of_neighbours_attains_the_group_delta(epsilon, delta, size):
    """One event, of probability x₀ = 0 on the first table and x_{i+1} = e^ε·x_i + δ on the next ones.

    The ends are exactly the group's δ apart. Each step keeps (ε, δ) both ways, also for the complement as long as
    x_i + x_{i+1} ≤ 1: its excess is (e^ε − 1)·(x_i + x_{i+1} − 1).
    """
    group = ApproximateDP(epsilon, delta).for_group(size)
    with ctx.workprec(BITS):
        odds, chain = ball(epsilon).exp(), [arb(0)]
        for _ in range(size):
            chain.append(odds * chain[-1] + ball(delta))
        if not chain[-1] < 1:
            assert group.delta == 1.0
            return
        # With ε = 0 the complement meets its bound exactly, which balls cannot decide: no step may break it by 1e-60.
        for here, there in pairwise(chain):
            if not here + there > 1:
                assert 1 - here - odds * (1 - there) - ball(delta) < ball(1e-60)
        apart = chain[-1] - ball(group.epsilon).exp() * chain[0]
        assert not apart > ball(group.delta)
        assert apart > ball(group.delta) * (1 - ball(1e-13))


def test_a_group_of_groups_is_promised_no_more_to_the_last_digit():
    """With fewer bits the direct way was three floats above the way in two steps."""
    promise = ApproximateDP(1.046005481470673, 1e-12)
    assert promise.for_group(12).delta <= promise.for_group(3).for_group(4).delta
    assert promise.for_group(12).delta == 1.5310830713509993e-07


@given(st.floats(0, 1), st.floats(1e-12, 1e-3), st.integers(1, 8))
def test_the_quoted_group_formula_holds_up_to_one(epsilon, delta, size):
    """s·e^{s−1}·δ, as many texts have it."""
    exactly = ApproximateDP(epsilon, delta).for_group(size).delta
    assert exactly <= min(1.0, size * math.exp(size - 1) * delta * (1 + 1e-13))


def test_the_quoted_group_formula_is_false_beyond():
    """At ε = 2 two people get (e² + 1)δ = 8.389…·δ, which a chain attains, and not 2e·δ = 5.436…·δ."""
    exactly = ApproximateDP(2.0, 1e-6).for_group(2).delta
    assert exactly == pytest.approx((math.exp(2) + 1) * 1e-6, rel=1e-14)
    assert exactly > 1.5 * 2 * math.e * 1e-6
    with ctx.workprec(BITS):
        middle = ball(1e-6)  # 0, then δ, then e^ε·δ + δ: each step keeps (2, δ) in both directions
        last = ball(2).exp() * middle + ball(1e-6)
        assert not last - ball(2).exp() * middle > ball(1e-6)
        assert not (1 - middle) - ball(2).exp() * (1 - last) > ball(1e-6)
        assert last > ball(2 * math.e * 1e-6)


def test_a_group_without_loss_adds_its_deltas():
    group = ApproximateDP(0.0, 0.1).for_group(3)
    assert group.epsilon == 0.0
    assert 0.3 <= group.delta <= 0.3 + 2e-16


def test_a_group_beyond_arithmetic_is_promised_nothing():
    assert ApproximateDP(1e3, 1e-300).for_group(3) == ApproximateDP(3e3, 1.0)
    assert ApproximateDP(1e300, 1e-300).for_group(3) == ApproximateDP(3e300, 1.0)


def test_a_group_of_nobody():
    with pytest.raises(InvalidPromise, match="group"):
        ApproximateDP(1.0, 1e-6).for_group(0)


# What it covers


@given(st.floats(0, 8), st.floats(0, 1), st.floats(0, 8), st.floats(0, 1))
def test_covers_what_the_worst_pair_keeps(epsilon, delta, at, allowed):
    with ctx.workprec(BITS):
        lost = hockey_stick(worst(epsilon, delta), at)
        kept, broken = bool(lost < ball(allowed) - ball(1e-12)), bool(lost > ball(allowed))
    covered = ApproximateDP(epsilon, delta).covers(ApproximateDP(at, allowed))
    assert covered or not kept
    assert not (covered and broken)


@pytest.mark.parametrize("shift", [0.0, 1e-9])
def test_the_profile_is_covered_and_nothing_below(shift):
    """(1, 0.001) at ε' = 0.5: δ + (1 − δ)(e − √e)/(1 + e) = 0.28834…"""
    delta = 0.001 + 0.999 * (math.e - math.exp(0.5)) / (1 + math.e)
    assert ApproximateDP(1.0, 0.001).covers(ApproximateDP(0.5, delta + 1e-9 - 2 * shift)) == (shift == 0.0)


def test_covers_neither_largest_loss_nor_moments():
    assert not ApproximateDP(0.1, 1e-9).covers(PureDP(9.0))
    assert not ApproximateDP(0.1, 1e-9).covers(ZeroConcentratedDP(9.0))


def test_flavors_do_not_mix():
    with pytest.raises(IncompatiblePromises, match="of the flavor ApproximateDP"):
        ApproximateDP(1.0, 1e-6) + PureDP(1.0)  # type: ignore[operator]


@given(st.floats(0, 5), st.floats(0, 1), st.fractions(0, 1))
def test_a_share_is_rounded_down(epsilon, delta, fraction):
    part = ApproximateDP(epsilon, delta).share(fraction)
    assert exact(part.epsilon) <= exact(epsilon) * fraction
    assert exact(part.delta) <= exact(delta) * fraction


def test_shares_of_decimals_are_exact():
    assert ApproximateDP(0.3, 3e-6).share(Fraction(1, 3)) == ApproximateDP(0.1, 1e-6)


def test_a_group_of_groups_is_not_promised_more_by_rounding():
    """In 53 bits, δ for 10 people was three floats above δ for 2 groups of 5."""
    promise = ApproximateDP(1.95, 1e-12)
    assert promise.for_group(10).covers(promise.for_group(5).for_group(2))


# A loss reads floats in binary


@dataclass
class Step:
    """Stands for a loss: δ(ε) falls from 1 to `after` at the exact number `at`."""

    at: Fraction
    after: float

    def delta(self, *, epsilon: float) -> Interval:
        found = self.after if Fraction(epsilon) >= self.at else 1.0
        return Interval(0.0, found)


def step(at: Fraction, after: float) -> Loss:
    return cast("Loss", Step(at, after))


@pytest.mark.parametrize("number", [0.1, 0.3, 1e-6, 2.3, 1e22])
def test_a_proof_is_about_the_decimals_that_a_promise_prints(number):
    """The binary 0.1 is above a tenth, and the binary 0.3 below three tenths."""
    decimal, share = exact(number), exact(0.1)
    just_above = decimal + Fraction(1, 10**400)
    assert not ApproximateDP(number, 0.5).proved_by(step(just_above, 0.0))
    assert ApproximateDP(number, 0.5).proved_by(step(Fraction(math.nextafter(number, 0.0)), 0.5))
    assert Fraction(0.1) > share
    assert not ApproximateDP(1.0, 0.1).proved_by(step(Fraction(0), 0.1))
    assert ApproximateDP(1.0, 0.1).proved_by(step(Fraction(0), math.nextafter(0.1, 0.0)))
