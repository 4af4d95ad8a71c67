from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.anytime import _line, loss_at_any_time, reading
from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.pure import PureDP
from sitr.flavors.uncapped import odometer
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact

DELTA = 0.05
"""Large, so that failures can be counted."""
PATHS, STEPS = 20_000, 300


def losses() -> tuple[np.ndarray, np.ndarray]:
    """The sums of ρ, and the losses of Gaussian answers to them, after each of many steps: L grows by N(ρ, 2ρ)."""
    sums = 1e-3 * 1.05 ** np.arange(1, STEPS + 1)
    rhos = np.diff(sums, prepend=0.0)
    drawn = np.random.default_rng(19).normal(rhos, np.sqrt(2 * rhos), size=(PATHS, STEPS))
    return sums, drawn.cumsum(axis=1)


def failures(line) -> float:
    """How often the adversary, who stops as soon as the loss exceeds what the odometer shows, succeeds."""
    sums, loss = losses()
    shown = np.array([line(float(total)) for total in sums])
    return float((loss > shown).any(axis=1).mean())


def test_no_adversary_who_chooses_when_to_stop_exceeds_delta():
    share = failures(lambda total: loss_at_any_time(Fraction(total), delta=DELTA))
    assert 0.0 < share <= DELTA  # not so wide that nothing could ever exceed it


def test_the_total_for_one_moment_fails_the_same_adversary():
    naive = failures(lambda total: ZeroConcentratedDP(total).loss_quantile(delta=DELTA))
    assert naive > 2 * DELTA


def test_without_shares_of_delta_the_lines_fail_it_too():
    def unshared(total: float) -> float:
        least = math.inf
        for j in range(-20, 21):
            x = math.sqrt(math.log(1 / DELTA) / (2.0**j / 4))
            least = min(least, (1 + x) * total + math.log(1 / DELTA) / x)
        return least

    assert failures(unshared) > 2 * DELTA


def test_the_shares_of_delta_add_up_to_less_than_delta():
    whole = sum((_line(j, Fraction(1, 10**6)).share for j in range(-100, 101)), Fraction(0))
    assert Fraction(97, 100) < whole * 10**6 < 1


@given(st.floats(1e-4, 1e3), st.sampled_from([1e-3, 1e-6, 1e-9, 1e-12]))
def test_it_costs_little_more_than_a_moment_fixed_in_advance(total, delta):
    fixed = ZeroConcentratedDP(total).loss_quantile(delta=delta)
    assert fixed < loss_at_any_time(exact(total), delta=delta) < 1.45 * fixed


@given(st.floats(1e-6, 100), st.floats(1e-6, 100), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_it_is_a_minimum_of_lines_computed_independently(one, other, delta):
    total = exact(one) + exact(other)
    found = loss_at_any_time(total, delta=delta)
    lines = []
    for j in range(-40, 41):
        line = _line(j, exact(delta))
        lines.append((1 + float(line.x)) * float(total) + math.log(1 / float(line.share)) / float(line.x))
    assert found == pytest.approx(min(lines), rel=1e-12)
    assert found >= loss_at_any_time(exact(one), delta=delta)


def test_nothing_recorded_has_no_loss():
    assert loss_at_any_time(Fraction(0), delta=1e-6) == 0.0


def test_a_pure_total_is_a_promise_at_any_moment():
    budget = Filter(odometer("pure")).consent(PureDP(0.1)).consent(PureDP(0.2))
    shown = reading(budget)
    assert shown is not None
    assert (shown.recorded, shown.epsilon, shown.probability) == (PureDP(0.3), 0.3, 0.0)


def test_an_approximate_total_is_one_apart_from_the_preset_delta():
    budget = Filter(odometer("approximate", delta=1e-6)).consent(ApproximateDP(0.1, 1e-7)).consent(PureDP(0.2))
    shown = reading(budget)
    assert shown is not None
    assert (shown.recorded, shown.epsilon, shown.probability) == (ApproximateDP(0.3, 1e-7), 0.3, 1e-6)


def test_the_sum_of_delta_cannot_exceed_what_was_fixed():
    budget = Filter(odometer("approximate", delta=1e-6)).consent(ApproximateDP(1e50, 9e-7))
    with pytest.raises(BudgetExceeded):
        budget.consent(ApproximateDP(0.1, 2e-7))
    assert budget.consent(ApproximateDP(0.1, 1e-7)).charges == 2


def test_a_concentrated_total_is_one_apart_from_both_deltas():
    budget = Filter(odometer("zcdp", delta=1e-6)).consent(ZeroConcentratedDP(0.25)).consent(PureDP(0.5))
    shown = reading(budget)
    assert shown is not None
    assert shown.recorded == ApproximateZeroConcentratedDP(0.375, 0.0)
    assert shown.epsilon == loss_at_any_time(Fraction(3, 8), delta=1e-6)
    assert shown.probability == 2e-6


def test_a_concentrated_total_without_a_delta_is_no_promise():
    shown = reading(Filter(odometer("zcdp")).consent(ZeroConcentratedDP(0.25)))
    assert shown is not None
    assert (shown.recorded, shown.epsilon) == (ZeroConcentratedDP(0.25), None)


def test_a_budget_with_a_cap_is_no_odometer():
    assert reading(Filter(PureDP(1.0))) is None
