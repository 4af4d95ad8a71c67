from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.basic import basic
from sitr.accounting.theorems.optimal_equal import OPTIMAL_EQUAL, optimal_equal
from sitr.accounting.theorems.theorem import NO, Total
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP


def equal(epsilon, delta, times):
    return Schedule((Part((ApproximateDP(epsilon, delta),), times=times),))


@pytest.mark.parametrize(
    ("epsilon", "delta", "times", "total", "known"),
    [
        (0.1, 1e-8, 100, 1e-5, 4.329637),
        (0.1, 0.0, 1000, 1e-6, 19.344671),
        (1.0, 0.0, 100, 1e-5, 79.841322),
    ],
)
def test_known_values(epsilon, delta, times, total, known):
    bounds = optimal_equal(equal(epsilon, delta, times), total)
    assert bounds.two_sided
    assert bounds.lower - 5e-7 <= known <= bounds.upper + 5e-7
    assert bounds.width <= 1e-9


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.floats(0.01, 3.0),
    st.sampled_from([0.0, 1e-9, 1e-4, 0.05]),
    st.integers(1, 7),
    st.floats(1e-12, 0.95),
)
def test_exact_against_every_pattern_of_signs(worst_delta, precise, epsilon, delta, times, total):
    try:
        bounds = optimal_equal(equal(epsilon, delta, times), total)
    except Inapplicable:
        assert 1 - (1 - Fraction(delta)) ** times > Fraction(total)
        return
    releases = [(epsilon, delta)] * times
    assert bounds.width <= 1e-9
    assert not worst_delta(releases, bounds.upper) > precise(total)  # at δ itself the two balls overlap
    assert bounds.lower == 0.0 or not worst_delta(releases, bounds.lower) < precise(total)


@pytest.mark.parametrize("times", [2, 5, 8])
def test_at_the_listed_points_it_is_the_published_formula(times):
    """ε' = (k − 2i)ε has δ_i = Σ_{l<i} C(k,l)(e^{(k−l)ε} − e^{(k−2i+l)ε})/(1 + e^ε)^k."""
    epsilon = 0.3
    for place in range(1, (times + 1) // 2):
        terms = [
            math.comb(times, n) * (math.exp((times - n) * epsilon) - math.exp((times - 2 * place + n) * epsilon))
            for n in range(place)
        ]
        listed = math.fsum(terms) / (1 + math.exp(epsilon)) ** times
        bounds = optimal_equal(equal(epsilon, 0.0, times), listed)
        assert bounds.lower - 1e-9 <= (times - 2 * place) * epsilon <= bounds.upper + 1e-9


@pytest.mark.parametrize("total", [1e-300, 1e-100, 1e-12, 0.5])
def test_any_delta_will_do(total):
    bounds = optimal_equal(equal(0.1, 0.0, 2000), total)
    assert bounds.width <= 1e-9
    assert 0.0 < bounds.upper <= 200.0


def test_a_million_releases():
    bounds = optimal_equal(equal(0.001, 0.0, 10**6), 1e-6)
    # Close to one Gaussian with μ = √k·ε = 1, by the central limit theorem.
    assert bounds.upper == pytest.approx(GaussianDP(1.0).to_approximate(delta=1e-6).epsilon, rel=1e-3)
    assert bounds.width <= 1e-9


def test_most_minus_signs_are_never_looked_at():
    """With a large ε minus signs are rare: k/2 of them, where the search ends, are far beyond all that matter."""
    bounds = optimal_equal(equal(5.0, 0.0, 10**7), 1e-6)
    assert bounds.width <= 1e-6
    assert bounds.upper < 5e7


def test_at_the_end_of_delta_it_is_the_sum():
    assert optimal_equal(equal(0.1, 0.0, 10), 0.0) == Total(1.0, 1.0, two_sided=True)
    assert optimal_equal(equal(0.1, 0.0, 10), 0.9) == Total(0.0, 0.0, two_sided=True)
    assert optimal_equal(equal(0.0, 0.0, 10), 0.0) == Total(0.0, 0.0, two_sided=True)


def test_equal_steps_may_be_written_apart_and_have_different_deltas():
    apart = Schedule((Part((PureDP(0.1),), times=40), Part((ApproximateDP(0.1, 0.0),), times=60)))
    assert optimal_equal(apart, 1e-6) == optimal_equal(equal(0.1, 0.0, 100), 1e-6)
    mixed = Schedule((Part((PureDP(0.1),), times=40), Part((ApproximateDP(0.1, 1e-8),), times=60)))
    low, high = (optimal_equal(equal(0.1, delta, 100), 1e-6) for delta in (0.0, 9e-9))
    assert low.upper < optimal_equal(mixed, 1e-6).upper < high.upper
    idle = Schedule((Part((PureDP(0.1),), times=40), Part((PureDP(0.0),), times=7)))
    assert optimal_equal(idle, 1e-6) == optimal_equal(equal(0.1, 0.0, 40), 1e-6)


def test_different_steps_are_for_another_theorem():
    with pytest.raises(Inapplicable, match=r"from 0\.1 to 0\.2"):
        optimal_equal(Schedule((Part((PureDP(0.1),)), Part((PureDP(0.2),)))), 1e-6)


def test_too_small_a_delta_is_refused_with_the_number():
    with pytest.raises(Inapplicable, match="infinite with probability 1e-05"):
        optimal_equal(equal(0.1, 1e-7, 100), 1e-6)


def test_more_known_of_a_step_leaves_an_upper_bound_only():
    bounds = optimal_equal(Schedule((Part((PureDP(0.1), GaussianDP(0.01)), times=10),)), 1e-6)
    assert not bounds.two_sided
    assert bounds.lower == 0.0


@given(st.floats(0.01, 1.0), st.integers(1, 60), st.floats(1e-9, 0.1))
def test_never_above_the_sum(epsilon, times, total):
    assert optimal_equal(equal(epsilon, 0.0, times), total).upper <= basic(equal(epsilon, 0.0, times), total).upper


def test_it_is_no_stopping_rule():
    assert OPTIMAL_EQUAL.adaptive(Schedule((Part((PureDP(0.1),)),)), 1e-6) == NO


def test_never_more_than_the_sum_however_small() -> None:
    assert optimal_equal(Schedule((Part((PureDP(1e-20),), times=10),)), 1e-30).upper == 1e-19
