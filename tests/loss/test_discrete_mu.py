"""μ of Gaussian noise on the integers, against its tails in Arb: no test is better, and with a smaller μ some is."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, ctx

from sitr.loss.discrete_mu import FIRST, REACH, TABULATED, _beyond, _places, _smoothed, discrete_mu
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss
from sitr.numbers import ball

BITS = 1200


def tails(sigma: Fraction, last: int) -> dict[int, arb]:
    """T(k) = P(Y ≥ k) for −last ≤ k ≤ last, by summing all weights that count."""
    reach = last + math.ceil(70 * sigma) + 2
    weights = [(-ball(Fraction(y * y) / (2 * sigma**2))).exp() for y in range(reach + 1)]
    above = [arb(0)]
    for weight in reversed(weights):
        above.append(above[-1] + weight)
    above.reverse()  # the sum from k on
    whole = 2 * above[0] - 1
    found = {k: above[k] / whole for k in range(last + 1)}
    return found | {-k: 1 - above[k + 1] / whole for k in range(1, last + 1)}


def normal(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def place(mass: arb) -> arb:
    """z with Φ(−z) = mass, by bisection to 20 digits."""
    low, high = arb(-40), arb(40)
    for _ in range(75):
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if normal(-middle) > mass else (low, middle)
    return low.union(high)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("sigma", [Fraction(1, 4), Fraction(7, 10), Fraction(1), Fraction(5, 2), Fraction(11)])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_no_test_on_integers_is_better_than_between_the_gaussians(sigma: Fraction, shift: int) -> None:
    found = discrete_mu(float(sigma), shift)
    assert shift / float(sigma) * (1 - 1e-9) <= found.lower
    with ctx.workprec(BITS):
        last = min(60, 2 + math.ceil(25 * sigma))
        mass = tails(sigma, last + shift)
        z = {k: place(mass[k]) for k in range(-shift, last + shift)}
        differences = [z[k + shift] - z[k] for k in range(-shift, last)]
        assert not any(difference > ball(found.upper) for difference in differences)
        if found.lower > shift / float(sigma) * (1 + 1e-9):  # otherwise the moments prove it
            assert any(difference > ball(found.lower * (1 - 1e-9)) for difference in differences)
    assert found.width <= 1e-9 * found.upper


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_the_ratio_of_the_parameters_is_too_small(sigma: Fraction) -> None:
    """Broken: Δ/σ, as if the noise were real."""
    with ctx.workprec(BITS):
        mass = tails(sigma, 2)
        assert 2 * place(mass[1]) > ball(1 / sigma) * (1 + arb("0.0046"))  # z_1 − z_0


@pytest.mark.parametrize("sigma", [0.05, 0.5, 1.0, 4.0, 5.0, 12.0, 22.0, TABULATED])
def test_the_bound_far_out_holds_from_its_start_on(sigma: float) -> None:
    """It is above the computed differences beyond a nearer start, and below the largest at the start that is used."""
    nearer = max(60, math.ceil(3 * sigma * sigma))
    places = list(_places(sigma, 3 * nearer))[nearer - 1 :]
    beyond = [right - left - off - wrong for (left, off), (right, wrong) in pairwise(places)]
    assert max(beyond) <= (found := _beyond(sigma, nearer))
    if sigma >= 12.0:  # broken: half of what is added to 1/σ is too little
        assert max(beyond) > (found + 1 / sigma) / 2
    used = _beyond(sigma, math.ceil(max(FIRST, REACH * sigma * sigma)))
    assert 1 / sigma < used < discrete_mu(sigma).lower


@pytest.mark.parametrize("sigma", [Fraction(1, 4), Fraction(1), Fraction(5)])
def test_places_are_as_accurate_as_they_say(sigma: Fraction) -> None:
    with ctx.workprec(BITS):
        mass = tails(sigma, 40)
        for k, (z, off) in enumerate(_places(float(sigma), 40), start=1):
            assert 0 < off < 1e-9
            assert normal(-ball(z) - ball(off)) < mass[k] < normal(-ball(z) + ball(off))


@pytest.mark.parametrize("sigma", [6.0, 10.0, 20.0, 31.5])
def test_both_ways_of_finding_it_agree(sigma: float) -> None:
    """Real noise of a smaller variance, rounded by chance, is the noise on the integers: an independent bound."""
    assert discrete_mu(sigma).lower < _smoothed(sigma) < discrete_mu(sigma).upper * 1.015


@pytest.mark.parametrize("sigma", [Fraction(1, 21), Fraction(1, 25), Fraction(1, 100), Fraction(1, 1000)])
def test_hardly_any_noise(sigma: Fraction) -> None:
    """The best test, z_1 − z_0 = 2·z_1, stays below the bound, and reaches 98% of it; no later difference is larger."""
    upper = discrete_mu(float(sigma)).upper
    with ctx.workprec(BITS):
        mass = tails(sigma, 12)
        assert normal(-ball(upper) / 2) < mass[1] < normal(-ball(upper) * arb("0.49"))
        for k in range(1, 12):  # z_{k+1} ≤ (k + 1)/σ and z_k ≥ k/σ − 1
            assert normal(-ball((k + 1) / sigma)) < mass[k + 1]
            assert mass[k] < normal(-ball(k / sigma - 1))


def test_a_wide_noise_is_nearly_real() -> None:
    for sigma in (33.0, 1e3, 1e6, 1e12, 1e30):
        found = discrete_mu(sigma)
        assert 1 < found.upper * sigma < 1 + 1 / sigma**2 + 1e-6
        assert found.lower * sigma == pytest.approx(1.0)
    assert discrete_mu(2.0, 10**6).upper == pytest.approx(10**6 * discrete_mu(2.0).upper)


def test_samples_and_sums_keep_no_more() -> None:
    law, one = DiscreteGaussianLaw(0.8, 1), discrete_mu(0.8)
    for sample in (PoissonLaw(law, 0.1), PoissonLaw(law, 0.1, True), SubsetLaw(law, 0.1)):
        found = Loss.of(sample).mu()
        assert found.lower == pytest.approx(1.25)
        assert found.upper == pytest.approx(one.upper)
    sum_ = (Loss.of(law, 3) + Loss.of(GaussianLaw(2.0))).mu()
    assert sum_.lower == pytest.approx(math.hypot(1.25 * math.sqrt(3), 2.0))
    assert sum_.upper == pytest.approx(math.hypot(one.upper * math.sqrt(3), 2.0))
    for fpr in (1e-6, 1e-3, 0.1, 0.4):
        reached = Loss.of(law, 3).trade_off(fpr=fpr).lower
        with ctx.workprec(200):
            assert not arb(reached) > normal(-place(arb(fpr)) + ball(one.upper) * arb(3).sqrt())


@pytest.mark.parametrize("sigma", [1e155, 1e200, 1e300])
def test_a_sigma_whose_square_is_too_large_has_a_bound(sigma: float) -> None:
    found = discrete_mu(sigma)
    assert found.lower <= 1 / sigma <= found.upper <= 1.001 / sigma
