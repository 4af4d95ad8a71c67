"""Integers on both sides of exponentials and of their sums: they hold, and they are close."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from sitr.noise.sums import bell, between, ends, exponential_sums, floor

RATES = [Fraction(1, 2), Fraction(1, 5000), Fraction(7, 3), Fraction(1, 2 * 63**2)]


def power(exponent: Fraction) -> arb:
    """e^{−x}, to many more digits than the code under test has."""
    with ctx.workprec(2000):
        return arb(fmpq(-exponent.numerator, exponent.denominator)).exp()


def holds(low: int, high: int, number: arb, bits: int) -> bool:
    with ctx.workprec(2000):
        scaled = number * arb((1, bits))
        return bool(low <= scaled) and bool(scaled <= high)


@pytest.mark.parametrize("rate", RATES)
def test_a_bell_lies_between_its_integers(rate):
    found = bell(rate, last=40, bits=100)
    assert all(holds(low, high, power(rate * y**2), 100) for y, (low, high) in enumerate(found, 1))
    assert all(high - low <= 2 * (y + 1) ** 2 for y, (low, high) in enumerate(found, 1))


def test_a_bell_of_a_slightly_different_rate_does_not():
    found = bell(Fraction(1, 2) + Fraction(1, 2**90), last=3, bits=100)
    assert not all(holds(low, high, power(Fraction(1, 2) * y**2), 100) for y, (low, high) in enumerate(found, 1))


def test_sums_lie_in_their_balls():
    terms = [(3, Fraction(1, 3)), (10**20, Fraction(40)), (1, Fraction(10**30)), (7, Fraction(0))]
    found = exponential_sums(terms, bits=90)
    assert len(found) == 5
    with ctx.workprec(2000):
        sums = [sum((weight * power(x) for weight, x in terms[:n]), arb(0)) for n in range(5)]
        assert all(bool(ball.contains(true)) for ball, true in zip(found, sums, strict=True))
        assert all(ball.rad() <= arb((2 * n, -90)) for n, ball in enumerate(found))
        # With one term more or less it would be another sum.
        assert not any(ball.contains(true) for ball, true in zip(found[1:2], sums[2:3], strict=True))


def test_what_is_only_bounded_is_in_every_sum():
    with ctx.workprec(100):
        beyond = arb(0).union(arb(0.25))
    found = exponential_sums([(1, Fraction(0))], bits=64, beyond=beyond)
    assert all(ball.contains(arb(whole)) for ball, whole in zip(found, (0.25, 1.25), strict=True))
    assert all(ball.contains(arb(whole)) for ball, whole in zip(found, (0, 1), strict=True))


def test_ends_and_floors():
    assert (floor(arb(-0.25)), floor(arb(0)), floor(arb((-1, -(10**9))))) == (-1, 0, -1)
    assert ends(arb(0.75), 2) == (3, 3)
    assert between(3, 3, 2) == arb(0.75)
