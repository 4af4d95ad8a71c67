from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.accounting.curves import SampledGaussian
from sitr.accounting.filter import Filter
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.renyi import RENYI, RENYI_AS_PUBLISHED, published, renyi
from sitr.accounting.theorems.zero_concentrated import zero_concentrated
from sitr.accounting.views import Inapplicable, as_renyi
from sitr.errors import BudgetExceeded
from sitr.flavors import best_order, curve
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import ball, lower, upper


def test_moments_add_at_each_order():
    schedule = Schedule((Part((RenyiDP.at({2.0: 0.1, 8.0: 0.5}),), times=3), Part((RenyiDP.at({2.0: 0.3, 8.0: 1.5}),))))
    whole = RenyiDP.at({2.0: 0.6, 8.0: 3.0})
    assert renyi(schedule, 1e-6).upper == pytest.approx(whole.to_approximate(delta=1e-6).epsilon, rel=1e-12)


@settings(max_examples=25)
@given(st.floats(0.001, 1.0), st.integers(1, 100))
def test_a_line_is_the_zero_concentrated_total(rho, times):
    schedule = Schedule((Part((ZeroConcentratedDP(rho),), times=times),))
    assert renyi(schedule, 1e-6).upper == pytest.approx(zero_concentrated(schedule, 1e-6).upper, rel=1e-6)


@settings(max_examples=25)
@given(st.floats(0.01, 2.0), st.integers(1, 200), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_the_published_arrow_is_never_better(epsilon, times, delta):
    schedule = Schedule((Part((PureDP(epsilon),), times=times),))
    assert renyi(schedule, delta).upper <= published(schedule, delta).upper


def test_the_moments_of_pure_steps_say_more_than_their_line():
    schedule = Schedule((Part((PureDP(0.5),), times=20),))
    assert renyi(schedule, 1e-6).upper < zero_concentrated(schedule, 1e-6).upper


def test_a_training_run():
    """Sampled Gaussian, q = 0.01, σ = 0.8, 10,000 steps, δ = 1e-5: the exact loss has ε = 10.0536."""
    schedule = Schedule((Part((RenyiDP(SampledGaussian(0.01, 1.25)),), times=10_000),))
    assert 10.0536 < renyi(schedule, 1e-5).upper < 11.0
    assert renyi(schedule, 1e-5).upper < published(schedule, 1e-5).upper < 12.0


def test_many_different_curves_lose_little_by_being_looked_at_in_fewer_places(monkeypatch):
    schedule = Schedule(tuple(Part((PureDP(0.05 + 0.001 * i),)) for i in range(best_order.MANY + 10)))
    few = renyi(schedule, 1e-6).upper
    monkeypatch.setattr(best_order, "MANY", 10**6)
    best_order.best.cache_clear()
    everywhere = renyi(schedule, 1e-6).upper
    best_order.best.cache_clear()
    assert everywhere <= few <= everywhere * 1.01


def test_many_different_curves_are_added_at_a_dozen_orders():
    """Both arrows at several δ share what was added."""
    curve._sum_at.cache_clear()
    schedule = Schedule(tuple(Part((PureDP(0.05 + 0.001 * i),)) for i in range(best_order.MANY + 10)))
    renyi(schedule, 1e-6)
    assert curve._sum_at.cache_info().misses <= 12
    for delta in (1e-9, 1e-6, 1e-3):
        assert renyi(schedule, delta).upper < published(schedule, delta).upper
    assert curve._sum_at.cache_info().misses <= 40


def test_it_needs_moments_and_delta():
    with pytest.raises(Inapplicable, match="nor any moment"):
        renyi(Schedule((Part((ApproximateDP(0.1, 1e-9),)),)), 1e-6)
    with pytest.raises(Inapplicable, match="δ above 0"):
        published(Schedule((Part((PureDP(0.1),)),)), 0.0)


# Parameters chosen after earlier answers

PLANS = [
    Schedule((Part((PureDP(0.1),), times=50),)),
    Schedule((Part((RenyiDP.at({1.01: 0.001, 2: 0.1, 8: 0.5}),)),)),
    Schedule((Part((RenyiDP.at({1.0001: 0.1}),)),)),
    Schedule((Part((PureDP(3.0), ZeroConcentratedDP(0.5))), Part((PureDP(0.2),)))),
    Schedule((Part((RenyiDP(SampledGaussian(0.01, 1.25)),), times=1000),)),
]


def tight(order, moment, delta):
    return moment + (1 - 1 / order).log() - (delta.log() + order.log()) / (order - 1)


def as_published(order, moment, delta):
    return moment - delta.log() / (order - 1)


@pytest.mark.parametrize("schedule", PLANS)
@pytest.mark.parametrize(("theorem", "arrow"), [(RENYI, tight), (RENYI_AS_PUBLISHED, as_published)])
def test_the_order_that_must_be_fixed_is_the_one_of_the_total(schedule, theorem, arrow):
    adaptive = theorem.adaptive(schedule, 1e-6)
    assert not adaptive.valid
    named = re.fullmatch(r"if order (\S+) is fixed in advance", adaptive.condition)
    assert named
    order = float(named[1])
    moment = sum(ball(as_renyi(step).curve(order)) * step.times for step in schedule.parts)
    epsilon = float(arrow(ball(order), moment, ball(1e-6)).mid())
    assert epsilon == pytest.approx(theorem.total(schedule, 1e-6).upper, rel=1e-9)


def rare(mass, loss):
    """Two outcomes, each with its probabilities under P and Q; the first is rare and tells much."""
    return [(mass, mass * (-loss).exp()), (1 - mass, 1 - mass * (-loss).exp())]


def response(size):
    yes, no = 1 / (1 + (-size).exp()), 1 / (1 + size.exp())
    return [(yes, no), (no, yes)]


def moments(release, *orders):
    """What a release with few outcomes promises at these orders, and no more: D_α, both ways."""
    ways = (release, [(q, p) for p, q in release])
    found = {}
    for order in orders:
        a = ball(order)
        found[order] = max(upper(sum(p**a * q ** (1 - a) for p, q in way).log() / (a - 1)) for way in ways)
    return RenyiDP.at(found)


def largest(fits, high):
    """The largest number up to `high` that fits, nearly."""
    low = 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class Adversary:
    """Releases something rare first. After its rare outcome a response follows, otherwise something rarer still.

    Each is as bad as its order allows: the arrow at order α is tight for a loss of L = ε + ln(α/(α − 1)).
    """

    arrow: Callable[[arb, arb, arb], arb]
    epsilon: float
    low: float
    high: float
    size: float

    def moment(self, order, epsilon):
        """The D_α that the arrow turns into this ε."""
        return ball(epsilon) - self.arrow(ball(order), arb(0), ball(DELTA))

    def loss(self, order, epsilon):
        return ball(epsilon) + (ball(order) / (ball(order) - 1)).log()

    def first(self):
        loss = self.loss(self.high, self.size)
        return rare(((ball(self.high) - 1) * (self.moment(self.high, self.size) - loss)).exp(), loss)

    def rarer(self, mass):
        return rare(ball(mass), self.loss(self.low, self.epsilon))

    def failure(self, amount, mass):
        """The true δ at ε of it all, the worse way round, when these two follow."""
        branches = zip(self.first(), (response(ball(amount)), self.rarer(mass)), strict=True)
        leaves = [(p * r, q * s) for (p, q), then in branches for r, s in then]
        ways, factor = (leaves, [(q, p) for p, q in leaves]), ball(self.epsilon).exp()
        failures = [sum((p - factor * q for p, q in way if p > factor * q), arb(0)) for way in ways]
        return max(failures, key=lambda delta: float(delta.mid()))


DELTA = 1e-6
ADVERSARIES = [
    (RENYI, Adversary(tight, epsilon=20.0, low=2.0, high=10.0, size=8.0), 1.9),
    (RENYI_AS_PUBLISHED, Adversary(as_published, epsilon=400.0, low=1.05, high=1.3, size=60.0), 1.3),
]


@pytest.mark.parametrize(("theorem", "adversary", "times"), ADVERSARIES)
def test_an_order_chosen_afterwards_would_fail_more_often_than_promised(theorem, adversary, times):
    """After the rare outcome the high order counts it cheaply, otherwise the low one: each alone is within budget."""

    def followed_by(promise):
        return Schedule((Part((known,)), Part((promise,))))

    def within(promise):
        return theorem.total(followed_by(promise), DELTA).upper <= adversary.epsilon

    with ctx.workprec(200):
        known = moments(adversary.first(), adversary.low, adversary.high)
        amount = largest(lambda amount: within(PureDP(amount)), adversary.epsilon)
        mass = largest(lambda mass: within(moments(adversary.rarer(mass), adversary.low)), 1e-3)
        assert adversary.failure(amount, mass) > times * ball(DELTA)
        rarer = moments(adversary.rarer(mass), adversary.low)
    conditions = [theorem.adaptive(followed_by(promise), DELTA).condition for promise in (PureDP(amount), rarer)]
    assert conditions == [f"if order {order:g} is fixed in advance" for order in (adversary.high, adversary.low)]


@pytest.mark.parametrize(("theorem", "adversary"), [(theorem, adversary) for theorem, adversary, _ in ADVERSARIES])
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_at_an_order_fixed_in_advance_the_same_adversary_fails_as_promised(theorem, adversary, weight):
    order = (1 - weight) * adversary.low + weight * adversary.high

    def within(promise):
        try:
            spent.consent(promise)
        except BudgetExceeded:
            return False
        return True

    with ctx.workprec(200):
        budget = RenyiDP.at({order: lower(adversary.moment(order, adversary.epsilon))})
        spent = Filter(budget).consent(moments(adversary.first(), order))
        assert theorem.total(Schedule((Part((budget,)),)), DELTA).upper == pytest.approx(adversary.epsilon, rel=1e-12)
        amount = largest(lambda amount: within(PureDP(amount)), adversary.epsilon)
        mass = largest(lambda mass: within(moments(adversary.rarer(mass), order)), 1e-3)
        assert ball(DELTA) / 4 < adversary.failure(amount, mass) <= ball(DELTA)
