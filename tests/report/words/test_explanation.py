"""The numbers of an explanation are bounds, rounded outward and never inward."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import ball, exact, lower, upper
from sitr.report.words.explanation import (
    FALSE_ALARMS,
    MOST,
    all_shown,
    belief,
    detected,
    linear,
    one_in,
    remaining,
    some_orders,
    some_points,
    symbols,
)

EPSILONS = st.floats(0, 30)
DELTAS = st.floats(1e-12, 0.9)


def percent(text: str) -> Fraction:
    return Fraction(text.rstrip("%")) / 100


@pytest.mark.parametrize(
    ("promise", "written"),
    [
        (PureDP(0.5), "ε = 0.5"),
        (ApproximateDP(1.0, 1e-6), "ε = 1, δ = 10⁻⁶"),
        (PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6))), "(1, 0.001), (2, 10⁻⁶)"),
        (ConcentratedDP(0.5, 1.0), "μ = 0.5, τ = 1"),
        (ZeroConcentratedDP(0.5), "ρ = 0.5"),
        (ZeroConcentratedDP(0.5, xi=0.1), "ρ = 0.5, ξ = 0.1"),
        (RenyiDP.at({2.0: 0.1, 2.5: 0.5, 64.0: 1.0}), "D₂ ≤ 0.1, D(2.5) ≤ 0.5, D₆₄ ≤ 1"),
        (ZeroConcentratedDP(0.125).to_renyi(), "D₂ ≤ 0.25, D₈ ≤ 1, D₃₂ ≤ 4"),
        (GaussianDP(1 / 3), "μ = 0.3334"),
        (RandomDP(ApproximateDP(1.0, 1e-6), 0.01), "ε = 1, δ = 10⁻⁶, γ = 0.01"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_symbols(promise: Promise, written: str) -> None:
    assert symbols(promise) == written


@given(EPSILONS)
def test_a_belief_is_rounded_up_and_closely(epsilon: float) -> None:
    true = 1 / (1 + (-ball(epsilon)).exp())
    shown = percent(belief(epsilon))
    assert exact(lower(true)) <= shown < exact(upper(true)) + Fraction(1, 1000)


@given(EPSILONS, DELTAS)
def test_no_test_beats_what_is_said_of_an_approximate_promise(epsilon: float, delta: float) -> None:
    """Randomized response with an addition of δ outright attains the bound; the figure is less than 0.1% above it."""
    alarms, factor = ball(FALSE_ALARMS), ball(epsilon).exp()
    true = (ball(delta) + alarms * factor).min(1 - (1 - alarms - ball(delta)) / factor).min(1)
    shown = percent(detected(ApproximateDP(epsilon, delta)))
    assert exact(lower(true)) <= shown < exact(upper(true)) + Fraction(1, 1000)


@given(st.lists(st.tuples(EPSILONS, DELTAS), min_size=1, max_size=4))
def test_of_several_points_the_best_counts(points: list[tuple[float, float]]) -> None:
    each = [percent(detected(ApproximateDP(*point))) for point in points]
    assert percent(detected(PrivacyProfile(tuple(points)))) == min(each)


@pytest.mark.parametrize(("mu", "shown"), [(0.0, "5%"), (1.0, "26%"), (0.5, "12.7%"), (20.0, "100%")])
def test_tests_between_gaussians(mu: float, shown: str) -> None:
    """Φ(1 − 1.6448…) = 0.25951…, Φ(0.5 − 1.6448…) = 0.12611…"""
    assert detected(GaussianDP(mu)) == shown


def test_a_blind_guess_is_right_as_often_as_it_is_wrong() -> None:
    assert detected(ApproximateDP(0.0, 0.0)) == detected(PrivacyProfile(((0.0, 0.0),))) == "5%"
    assert detected(ApproximateDP(0.0, 1e-9)) == "5.01%"


@pytest.mark.parametrize("epsilon", [701.0, 1e6, 1e300])
def test_a_promise_of_nearly_nothing_is_said_to_be_that(epsilon: float) -> None:
    assert detected(ApproximateDP(epsilon, 0.0)) == belief(epsilon) == "100%"
    assert linear(epsilon, 0.0).startswith("e^")


@given(st.floats(1e-12, 1))
def test_one_in_so_many_never_flatters(probability: float) -> None:
    assert Fraction(1, int(one_in(probability).replace(",", ""))) >= exact(probability)


@given(st.floats(0, 1))
def test_what_remains_is_rounded_down(gamma: float) -> None:
    assert re.fullmatch(r"\d+(\.\d+)?%|[\d.]+ × 10\S+%|10\S+%", remaining(gamma))
    if "10⁻" not in remaining(gamma):
        assert percent(remaining(gamma)) <= 1 - exact(gamma)


def test_of_many_points_a_few_are_shown_with_both_ends() -> None:
    profile = PrivacyProfile(tuple((float(i), 10.0**-i) for i in range(1, 30)))
    assert len(some_points(profile)) == MOST
    assert (some_points(profile)[0], some_points(profile)[-1]) == (profile.points[0], profile.points[-1])
    assert not all_shown(profile)
    assert all_shown(PrivacyProfile(profile.points[:MOST]))


def test_orders_without_a_bound_are_not_shown() -> None:
    mixed = RenyiDP.at({2.0: 0.1}) + ZeroConcentratedDP(0.1).to_renyi()
    assert [order for order, _ in some_orders(mixed)] == [2.0]
    assert not all_shown(mixed)
