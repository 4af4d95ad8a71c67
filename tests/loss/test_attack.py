from __future__ import annotations

import pytest
from flint import arb
from scipy import special

from sitr.loss.attack import _between, true_positive_rate
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.loss import Loss
from sitr.numbers import Interval


@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("fpr", [1e-6, 0.01, 0.3, 0.9])
def test_the_best_attack_on_a_gaussian(mu, fpr, truth):
    """The hit rate is Φ(Φ⁻¹(fpr) + μ): its inverse says the rate of false alarms again."""
    found = Loss.of(GaussianLaw(mu)).trade_off(fpr=fpr)
    low, high = -40.0, 40.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if truth.normal(truth.real(middle)) < truth.real(fpr) else (low, middle)
    true = truth.normal(truth.real(low) + truth.real(mu))
    assert truth.real(found.lower) - arb("1e-12") <= true <= truth.real(found.upper) + arb("1e-12")
    assert found.width <= 2e-3


def test_the_best_attack_on_a_response():
    """Say what was said: hits at most e^ε times as often as false alarms, and misses the same way."""
    found = Loss.of(response(1.0)).trade_off(fpr=0.1)
    assert found.lower - 1e-9 <= 0.1 * 2.718281828459045 <= found.upper + 1e-9
    assert found.width < 2e-3


def test_the_ends():
    run = Loss.of(PoissonLaw(GaussianLaw(1.0), 0.1), 3)
    assert run.trade_off(fpr=0.0) == Interval(0.0, 0.0)
    assert run.trade_off(fpr=1.0) == Interval(1.0, 1.0)
    exposed = Loss.of(response(1.0, infinite=0.25)).trade_off(fpr=0.0)
    assert exposed.lower <= 0.25 <= exposed.upper < 0.2500001


def test_no_knowledge_gives_a_wide_interval_not_a_wrong_one():
    found = true_positive_rate(lambda _: Interval(0.0, 1.0), lambda _: Interval(0.0, 1.0), 0.2)
    assert found.lower == 0.2
    assert found.upper == 1.0


def test_the_lower_bound_between_two_looks_finds_the_lowest_point():
    """H = max(0, 1 − t), looked at far from its bend: no line may cut the corner."""
    points = [(t, Interval(max(0.0, 1 - t), max(0.0, 1 - t))) for t in (0.2, 0.4, 2.0, 3.0)]
    least = _between(points, 1, 0.4, 2.0, 0.6, 0.0, 0.5)
    assert least <= 0.5 + 1e-12


def test_what_is_known_nearby_counts_where_nothing_is_known():
    """No more hits than false alarms and the advantage, though of larger ε than 0.5 nothing at all is known."""

    def profile(epsilon: float) -> Interval:
        return Interval(0.0, 0.004) if epsilon < 0.5 else Interval(0.0, 1.0)

    assert true_positive_rate(profile, profile, 0.01).upper <= 0.01 + 0.004 + 1e-12


def test_no_more_looks_than_the_profile_is_worth():
    """The wider the profile is, the sooner its own width is all that is unknown."""
    looks, best = {}, special.ndtr(special.ndtri(0.01) + 1.0)
    for width in (0.0, 1e-3, 1e-2):
        asked: list[float] = []

        def profile(epsilon: float, width: float = width, asked: list[float] = asked) -> Interval:
            asked.append(epsilon)
            found = Loss.of(GaussianLaw(1.0)).delta(epsilon=epsilon)
            return Interval(found.lower * (1 - width), found.upper * (1 + width))

        found = true_positive_rate(profile, profile, 0.01)
        looks[width] = len(asked)
        assert found.lower <= best <= found.upper
        assert found.width <= max(1e-6, 3 * width)
    assert looks[1e-2] < looks[1e-3] < looks[0.0] <= 30


@pytest.mark.parametrize("fpr", [1e-300, 1e-320, 5e-324])
def test_a_false_positive_rate_whose_inverse_has_no_float_is_still_bounded(fpr):
    for law in (GaussianLaw(1.0), response(1.0, infinite=0.25)):
        found, more = (Loss.of(law).trade_off(fpr=rate) for rate in (fpr, 1e-280))
        assert 0.0 < found.lower <= found.upper <= more.upper
    assert 0.25 in found
