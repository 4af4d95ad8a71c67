from __future__ import annotations

import math

import pytest

from sitr.accounting.filter import Filter
from sitr.accounting.in_advance import MOST, InAdvance, NoTotal, total_in_advance
from sitr.accounting.schedule import Part
from sitr.errors import BudgetExceeded
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss import gaussian, laplace
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss


def least(found: InAdvance) -> float:
    assert found.epsilon is not None
    return found.epsilon


def test_known_losses_compose_exactly():
    found = total_in_advance([Part((ZeroConcentratedDP(0.125),), 4, known=gaussian(sigma=2))], delta=1e-6)
    exact = GaussianDP(1.0).to_approximate(delta=1e-6).epsilon
    assert exact <= least(found) <= exact * 1.001
    assert (found.charges, found.known, found.obstacle) == (4, 4, None)


def test_different_flavors_compose_by_their_losses():
    parts = [
        Part((ZeroConcentratedDP(0.125),), 4, known=gaussian(sigma=2)),
        Part((ZeroConcentratedDP(PureDP(0.5).to_zero_concentrated().rho),), 3, known=laplace(scale=2)),
    ]
    found = total_in_advance(parts, delta=1e-6)
    truth = (gaussian(sigma=2) * 4 + laplace(scale=2) * 3).epsilon(delta=1e-6)
    assert truth.lower <= least(found) <= truth.upper
    summed = ZeroConcentratedDP(0.5 + 3 * 0.125).to_approximate(delta=1e-6).epsilon
    assert least(found) < summed


def test_a_charge_without_a_plan_counts_with_the_worst_that_its_price_allows():
    unknown = total_in_advance([Part((ZeroConcentratedDP(0.125),), 4)], delta=1e-6)
    assert unknown.epsilon == ZeroConcentratedDP(0.5).to_approximate(delta=1e-6).epsilon
    assert unknown.known == 0
    pure = total_in_advance([Part((PureDP(0.1),), 100)], delta=1e-6)
    worst = Loss.of(response(0.1), 100).epsilon(delta=1e-6)
    assert worst.lower <= least(pure) <= worst.upper


def test_an_answer_that_is_known_cannot_hide_one_that_is_not():
    parts = [Part((ZeroConcentratedDP(0.125),), 1, known=gaussian(sigma=2)), Part((ZeroConcentratedDP(2.0),), 1)]
    found = total_in_advance(parts, delta=1e-6)
    assert found.epsilon == ZeroConcentratedDP(2.125).to_approximate(delta=1e-6).epsilon
    assert (found.charges, found.known) == (2, 1)


def test_why_there_is_no_total():
    random = total_in_advance([Part((RandomDP(PureDP(0.1), 0.05),))], delta=1e-6)
    assert (random.epsilon, random.obstacle) == (None, NoTotal.RANDOM)
    several = [Part((PureDP(0.1 + place / 1000),)) for place in range(MOST + 1)]
    assert total_in_advance(several, delta=1e-6).obstacle is NoTotal.MANY
    assert total_in_advance(several[:3], delta=1e-6, most=2).obstacle is NoTotal.MANY
    assert total_in_advance(several[:3], delta=1e-6, most=None).epsilon is not None
    exposed = total_in_advance([Part((ApproximateDP(0.1, 1e-3),))], delta=1e-6)
    assert (exposed.epsilon, exposed.obstacle) == (None, NoTotal.UNPROVED)


def test_it_is_no_stopping_rule():
    """A budget that stopped when this total reaches (1, δ) would be broken by whoever chooses after an answer.

    The first question is randomized response with ε = ½. Both continuations keep (1, δ) together with it. After an
    answer that speaks for a person comes the one with large finite losses, after the other one that exposes with
    probability δ. The loss of this interaction is above 1 with δ and a half more.
    """
    first, second = 0.5, 0.7
    likely = 1 / (1 + math.exp(-first))
    at = lambda loss, epsilon: Loss.of(loss).delta(epsilon=epsilon)  # noqa: E731
    delta = likely * at(response(second), 1.0 - first).upper * (1 + 1e-9)
    begin, finite, exposing = PureDP(first), PureDP(second), ApproximateDP(0.0, delta)
    for continuation in (finite, exposing):
        whole = total_in_advance([Part((begin,)), Part((continuation,))], delta=delta * (1 + 1e-6))
        assert whole.epsilon is not None
        assert whole.epsilon <= 1.0 + 1e-3  # so a rule that looked at this total would consent to either
    adaptive = likely * at(response(second), 1.0 - first).lower + (1 - likely) * delta
    assert adaptive > 1.3 * delta
    with pytest.raises(BudgetExceeded):  # the budget does not
        Filter(ApproximateDP(1.0, delta)).consent(begin).consent(finite)
