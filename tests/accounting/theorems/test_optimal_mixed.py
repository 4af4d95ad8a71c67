from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems import optimal_mixed as module
from sitr.accounting.theorems.optimal_equal import optimal_equal
from sitr.accounting.theorems.optimal_mixed import OPTIMAL_MIXED, optimal_mixed
from sitr.accounting.theorems.theorem import NO, Total
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.loss import enumerated
from tests.oracles.murtagh_vadhan import on_lattices

releases = st.lists(st.tuples(st.floats(0.01, 3.0), st.sampled_from([0.0, 1e-9, 1e-4, 0.05])), min_size=1, max_size=6)


def spread(count, low, high):
    """Different sizes without a common measure."""
    return [low + (high - low) * ((i * 0.6180339887498949) % 1) for i in range(count)]


def pure(sizes):
    return Schedule(tuple(Part((PureDP(size),)) for size in sizes))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(releases, st.floats(1e-12, 0.95))
def test_exact_against_every_pattern_of_signs(worst_delta, precise, plan_of, parts, total):
    try:
        bounds = optimal_mixed(plan_of(parts), total)
    except Inapplicable:
        assert worst_delta([(0.0, delta) for _, delta in parts], 0.0) > precise(total)
        return
    assert bounds.two_sided
    assert bounds.width <= 1e-8
    # Balls that are equal overlap: neither is known to be larger.
    assert not worst_delta(parts, bounds.upper) > precise(total)
    assert bounds.lower == 0.0 or not worst_delta(parts, bounds.lower) < precise(total)


@given(st.floats(0.01, 2.0), st.integers(1, 400), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_equal_steps_are_those_of_the_other_theorem(epsilon, times, delta):
    schedule = Schedule((Part((PureDP(epsilon),), times=times),))
    mixed, equal = optimal_mixed(schedule, delta), optimal_equal(schedule, delta)
    assert mixed.lower <= equal.upper
    assert equal.lower <= mixed.upper
    assert mixed.width <= 1e-8


@pytest.fixture
def on_cells(monkeypatch):
    monkeypatch.setattr(module, "ENUMERATED", 1)
    monkeypatch.setattr(enumerated, "MOST_ATOMS", 1)


@pytest.mark.usefixtures("on_cells")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(releases, st.floats(1e-9, 0.5), st.sampled_from([0.3, 0.05]))
def test_cells_enclose_the_truth_too(worst_delta, precise, plan_of, parts, total, error):
    try:
        bounds = optimal_mixed(plan_of(parts), total, error=error)
    except Inapplicable:
        return
    assert not worst_delta(parts, bounds.upper) > precise(total)
    assert bounds.lower == 0.0 or not worst_delta(parts, bounds.lower) < precise(total)


# Losses so small that 1 − e^{−ε} has lost its digits to the 1

tiny = st.tuples(
    st.sampled_from([1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6]),
    st.lists(st.floats(0.1, 3.0), min_size=2, max_size=7),
    st.sampled_from([1e-6, 1e-3, 0.1, 0.5, 0.9]),
).map(lambda case: ([case[0] * size for size in case[1]], case[2]))


def enclosed(worst_delta, precise, sizes, share):
    """Is the truth, at this share of the δ that the releases have at ε = 0, within the interval; how wide is it?"""
    parts = [(size, 0.0) for size in sizes]
    delta = share * float(worst_delta(parts, 0.0).mid())
    bounds = optimal_mixed(pure(sizes), delta, error=sum(sizes) / 1000)
    above, below = (worst_delta(parts, end) for end in (bounds.upper, bounds.lower))
    within = not above > precise(delta) and (bounds.lower == 0.0 or not below < precise(delta))
    return within, bounds.width / sum(sizes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(tiny)
def test_tiny_losses_are_exact_too(worst_delta, precise, case):
    within, width = enclosed(worst_delta, precise, *case)
    assert within
    assert width <= 1e-10


@pytest.mark.parametrize("total", [1e-9, 0.05, 2e-9])
@pytest.mark.parametrize("steps", [1, 3])
def test_where_nothing_is_left_of_delta_the_sum_is_the_truth(total, steps):
    """The infinite losses use up δ to the last digit, as far as 200 bits can tell."""
    schedule = Schedule((Part((ApproximateDP(0.5, total),)), *(Part((PureDP(0.25),)) for _ in range(steps))))
    bounds = optimal_mixed(schedule, total)
    assert bounds.upper == 0.5 + 0.25 * steps
    assert bounds.lower == pytest.approx(bounds.upper, rel=1e-15)


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_twenty_steps_enumerated_lie_within_the_interval_on_cells(monkeypatch, delta):
    schedule = pure(spread(20, 0.05, 0.8))
    exactly = optimal_mixed(schedule, delta)
    assert exactly.width <= 1e-8
    monkeypatch.setattr(module, "ENUMERATED", 1)
    monkeypatch.setattr(enumerated, "MOST_ATOMS", 1)
    around = optimal_mixed(schedule, delta, error=0.02)
    assert around.lower <= exactly.upper
    assert exactly.lower <= around.upper
    assert around.width <= 0.02


@pytest.mark.parametrize("count", [40, 60])
def test_the_loss_is_at_least_as_tight_as_the_lattices(count):
    """Murtagh and Vadhan's lattices are the oracle: the intervals overlap, and the loss's is the narrower."""
    schedule = pure(spread(count, 0.05, 0.3))
    found, oracle = optimal_mixed(schedule, 1e-6), on_lattices(schedule, 1e-6)
    assert oracle.lower <= found.upper
    assert found.lower <= oracle.upper
    assert found.width < oracle.width


@pytest.mark.usefixtures("on_cells")
def test_equal_steps_on_cells_enclose_the_other_theorem():
    schedule = Schedule((Part((PureDP(0.1),), times=300),))
    mixed, equal = optimal_mixed(schedule, 1e-6, error=0.01), optimal_equal(schedule, 1e-6)
    assert mixed.lower <= equal.upper
    assert equal.lower <= mixed.upper
    assert mixed.width <= 0.01


@pytest.mark.usefixtures("on_cells")
def test_a_smaller_error_gives_an_interval_within():
    schedule = pure(spread(60, 0.01, 0.2))
    intervals = [optimal_mixed(schedule, 1e-6, error=error) for error in (1.0, 0.2, 0.05, 0.01)]
    for wide, narrow in pairwise(intervals):
        assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
    assert intervals[-1].width <= 0.01


@pytest.mark.sampled(1)
@pytest.mark.parametrize("delta", [1e-6, 1e-30])
def test_a_thousand_different_steps(delta):
    bounds = optimal_mixed(pure(spread(1000, 0.01, 0.2)), delta)
    assert bounds.two_sided
    assert bounds.width <= 0.05


@pytest.mark.slow
def test_a_thousand_different_steps_contain_a_direct_convolution():
    """By a second way: all sizes rounded to thousandths, which makes the sum exact on a lattice of thousandths."""
    sizes = [round(size, 3) for size in spread(1000, 0.01, 0.2)]
    law, lowest = np.ones(1), 0
    for size in sizes:
        step, odds = round(size * 1000), np.exp(size)
        wider = np.zeros(len(law) + 2 * step)
        wider[2 * step :] += law * odds / (1 + odds)
        wider[: len(law)] += law / (1 + odds)
        law, lowest = wider, lowest - step
    losses = (lowest + np.arange(len(law))) / 1000

    def stick(epsilon):
        return float(np.sum(law[losses > epsilon] * -np.expm1(epsilon - losses[losses > epsilon])))

    bounds = optimal_mixed(pure(sizes), 1e-6, error=0.01)
    assert bounds.width <= 0.01
    assert stick(bounds.upper) <= 1e-6 <= stick(bounds.lower)


def test_repeated_steps_are_summed_as_binomials():
    schedule = Schedule(
        (Part((PureDP(0.1),), times=500), Part((PureDP(0.17),), times=300), Part((PureDP(0.03),), times=1000))
    )
    bounds = optimal_mixed(schedule, 1e-6)
    assert bounds.width <= 0.05
    # One Gaussian with the same variance is near: k·ε² is small for each.
    mu = math.sqrt(500 * 0.1**2 + 300 * 0.17**2 + 1000 * 0.03**2)
    near = GaussianDP(mu).to_approximate(delta=1e-6).epsilon
    assert bounds.lower == pytest.approx(near, rel=0.02)


def test_the_ends_of_delta():
    schedule = pure([0.1, 0.2, 0.3])
    assert optimal_mixed(schedule, 0.0) == Total(0.6, 0.6, two_sided=True)
    assert optimal_mixed(schedule, 0.9) == Total(0.0, 0.0, two_sided=True)
    assert optimal_mixed(pure([0.0, 0.0]), 1e-6) == Total(0.0, 0.0, two_sided=True)
    assert optimal_mixed(schedule, 1e-200).upper == pytest.approx(0.6, rel=1e-12)


def test_what_floats_cannot_hold_is_refused():
    with pytest.raises(Inapplicable, match="floats cannot resolve"):
        optimal_mixed(pure([0.1, 0.2]), 1e-300)


def test_an_infinite_loss_counts_apart():
    schedule = Schedule((Part((ApproximateDP(0.1, 1e-3),)), Part((ApproximateDP(0.2, 1e-3),))))
    with pytest.raises(Inapplicable, match=r"infinite with probability 0\.002"):
        optimal_mixed(schedule, 1e-3)


def test_it_is_no_stopping_rule():
    assert OPTIMAL_MIXED.adaptive(Schedule((Part((PureDP(0.1),)),)), 1e-6) == NO


def test_losses_that_are_far_apart_are_enclosed() -> None:
    sizes = [0.5 * place for place in range(1, 121)]
    found = optimal_mixed(Schedule(tuple(Part((PureDP(size),)) for size in sizes)), 1e-6)
    assert 0.9 * sum(sizes) < found.lower <= found.upper <= sum(sizes)
