"""Sums of shares of noise: masses against sums written out, and losses against the hockey-stick of those masses."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, ctx
from scipy import stats

from sitr.errors import InvalidParameter
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.forms.shares import (
    MassTable,
    gaussian_table,
    polya_law,
    polya_table,
    skellam_law,
    skellam_table,
)
from sitr.loss.loss import Loss
from sitr.loss.summed_gaussians import summed_gaussian_law
from sitr.numbers import ball

LONG = 400


def negative_binomial(scale: Fraction, shape: Fraction, last: int = LONG) -> list[arb]:
    """P(n) by its quotients (n + r)·q/(n + 1)."""
    q, r = (-ball(1 / scale)).exp(), ball(shape)
    masses = [(1 - q) ** r]
    for n in range(last):
        masses.append(masses[-1] * q * (n + r) / (n + 1))
    return masses


def difference(masses: list[arb], k: int) -> arb:
    return sum((here * there for here, there in zip(masses, masses[k:], strict=False)), arb(0))


def convolved(table: MassTable, other: MassTable, k: int) -> arb:
    """The mass at k of the sum of two symmetric laws."""
    last = len(table.masses) - 1
    places = [j for j in range(-last, last + 1) if abs(k - j) < len(other.masses)]
    return sum((table.masses[abs(j)] * other.masses[abs(k - j)] for j in places), arb(0))


def close(one: arb, other: arb, bits: int = 60) -> bool:
    return bool(abs(one - other) < abs(other) * arb(2) ** -bits)


@pytest.mark.parametrize(("scale", "shape"), [(1, Fraction(1, 2)), (3, Fraction(1, 5)), (2, Fraction(5, 3)), (2, 2)])
def test_polya_masses_are_those_of_the_difference(scale, shape):
    with ctx.workprec(400):
        table, masses = polya_table(Fraction(scale), Fraction(shape)), negative_binomial(Fraction(scale), shape)
        for k in (0, 1, 2, 7, 30):
            assert close(table.masses[k], difference(masses, k))
            assert not close(table.masses[k], difference(masses, k + 1))
        assert 0 < table.beyond < arb(2) ** -200


@pytest.mark.parametrize("parties", [2, 3, 7])
def test_shares_add_up_to_discrete_laplace_noise_exactly(parties):
    """All parties: P(k) = (1 − q)/(1 + q)·q^|k|. One party fewer, or a scale that differs in the 15th digit, is not."""
    with ctx.workprec(400):
        whole, share = polya_table(Fraction(2), Fraction(1)), polya_table(Fraction(2), Fraction(1, parties))
        rest = polya_table(Fraction(2), Fraction(parties - 1, parties))
        q = (-arb(1) / 2).exp()
        for k in range(12):
            laplace = (1 - q) / (1 + q) * q**k
            assert close(whole.masses[k], laplace)
            assert close(convolved(share, rest, k), laplace)
            assert not close(rest.masses[k], laplace, bits=12)
            assert not close(polya_table(Fraction(2) + Fraction(1, 10**15), Fraction(1)).masses[k], laplace)


@pytest.mark.parametrize(("share", "epsilon"), [(0.9, 1.098941), (0.75, 1.274227), (0.5, 1.675139)])
def test_the_largest_loss_of_a_share_of_the_noise(share, epsilon):
    law = polya_law(Fraction(1), Fraction(str(share)), 1)
    assert law.greatest == pytest.approx(epsilon, abs=5e-7)
    assert law.least == -law.greatest
    assert law.infinite == 0.0


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_no_two_masses_at_a_distance_differ_more_than_those_at_0(shift):
    """The supremum over all places, not only the one that the proof names; and masses are log-convex and fall."""
    for shape in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        masses = [float(mass) for mass in polya_table(Fraction(3), shape).masses[:200]]
        quotients = [abs(math.log(masses[abs(y)] / masses[abs(y + shift)])) for y in range(-100, 100)]
        assert max(quotients) == pytest.approx(polya_law(Fraction(3), shape, shift).greatest, rel=1e-12)
        steps = [math.log(here / there) for here, there in pairwise(masses)]
        assert all(one >= other > 0 for one, other in pairwise(steps))


def test_a_whole_share_has_the_loss_of_laplace_noise():
    whole, laplace = Loss.of(polya_law(Fraction(2), Fraction(1), 3)), Loss.of(DiscreteLaplaceLaw(2.0, 3))
    for epsilon in (0.0, 0.3, 0.9, 1.4):
        assert whole.delta(epsilon=epsilon).upper == pytest.approx(laplace.delta(epsilon=epsilon).upper, rel=1e-9)


def test_skellam_masses_and_their_sums():
    with ctx.workprec(500):
        table = skellam_table(Fraction(5))
        for k in (0, 1, 4, 30):
            assert float(table.masses[k]) == pytest.approx(float(stats.skellam.pmf(k, 2.5, 2.5)), rel=1e-9)
            assert close(convolved(skellam_table(Fraction(2)), skellam_table(Fraction(3)), k), table.masses[k])
            assert not close(convolved(skellam_table(Fraction(2)), skellam_table(Fraction(2)), k), table.masses[k], 8)


@pytest.mark.parametrize(("sigma", "number"), [(Fraction(1, 2), 3), (Fraction(1), 2), (Fraction(2), 5)])
def test_summed_gaussians_have_a_law_of_their_own(sigma, number):
    """Against a convolution written out; and they are not one discrete Gaussian, as far as shares are small."""
    with ctx.workprec(500):
        table = gaussian_table(sigma, number)
        before, one = gaussian_table(sigma, number - 1), gaussian_table(sigma, 1)
        for k in range(6):
            assert close(convolved(before, one, k), table.masses[k])
        whole = [(-ball(y * y / (2 * number * sigma**2))).exp() for y in range(300)]
        single = whole[1] / (whole[0] + 2 * sum(whole[1:], arb(0)))
        assert close(table.masses[1], single, bits=20) == (sigma >= 2)
        assert not close(table.masses[1], single, bits=150)


@pytest.mark.parametrize("shift", [1, 3])
@pytest.mark.parametrize(
    ("table", "law"),
    [
        (skellam_table(Fraction(3)), lambda shift: skellam_law(Fraction(3), shift)),
        (gaussian_table(Fraction(1, 2), 4), lambda shift: summed_gaussian_law(Fraction(1, 2), 4, shift)),
        (polya_table(Fraction(2), Fraction(1, 3)), lambda shift: polya_law(Fraction(2), Fraction(1, 3), shift)),
    ],
)
def test_the_hockey_stick_is_that_of_the_masses(table, law, shift):
    loss, last = Loss.of(law(shift)), len(table.masses) - 1
    with ctx.workprec(500):
        pairs = [(table.masses[abs(y - shift)], table.masses[abs(y)]) for y in range(shift - last, last + 1)]
        for epsilon in (0.0, 0.2, 1.0, 1.5):
            truth = float(sum(((p - ball(epsilon).exp() * q).nonnegative_part() for p, q in pairs), arb(0)))
            found = loss.delta(epsilon=epsilon)
            assert found.lower <= truth * (1 + 1e-12) + 1e-60
            assert truth <= found.upper + 1e-60
            assert found.upper <= truth * (1 + 1e-9) + 1e-60


def test_a_width_is_the_least():
    table = skellam_table(Fraction(9))
    width = table.width(Fraction(95, 100))
    inside = [float(table.masses[0]) + 2 * sum(map(float, table.masses[1 : w + 1])) for w in (width - 1, width)]
    assert inside[0] < 0.95 <= inside[1]
    with pytest.raises(InvalidParameter, match="leaves out more"):
        table.width(1 - Fraction(1, 10**70))


@pytest.mark.parametrize(
    "wide",
    [
        lambda: polya_law(Fraction(10**4), Fraction(1, 2), 1),
        lambda: skellam_law(Fraction(10**9), 1),
        lambda: gaussian_table(Fraction(10**6), 3),
    ],
)
def test_too_wide_a_law_says_what_to_do(wide):
    with pytest.raises(InvalidParameter, match="coarser granularity"):
        wide()
