from __future__ import annotations

import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.basic import BASIC, basic
from sitr.accounting.theorems.theorem import FIXED_SHARES, YES, Total
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP, normal
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import ball, downward, exact, upward

steps = st.lists(
    st.tuples(
        st.one_of(st.builds(PureDP, st.floats(0, 10)), st.builds(ApproximateDP, st.floats(0, 10), st.floats(0, 0.01))),
        st.integers(1, 5),
    ),
    min_size=1,
    max_size=12,
)


def plan_of(parts):
    return Schedule(tuple(Part((promise,), times=times) for promise, times in parts))


@given(steps)
def test_parameters_add_and_are_rounded_up_once(parts):
    assert basic(plan_of(parts), 0.9).upper == upward(sum(exact(promise.epsilon) * times for promise, times in parts))


@given(steps, st.randoms())
def test_the_order_does_not_matter(parts, random):
    shuffled = list(parts)
    random.shuffle(shuffled)
    assert basic(plan_of(shuffled), 0.9) == basic(plan_of(parts), 0.9)


def test_pure_releases_cost_no_delta_and_their_sum_is_exact_there():
    assert basic(plan_of([(PureDP(0.1), 10)]), 0.0) == Total(1.0, 1.0, two_sided=True)
    assert basic(plan_of([(PureDP(0.1), 10)]), 1e-6) == Total(0.0, 1.0, two_sided=False)


def test_deltas_meet_their_border_exactly():
    parts = [(ApproximateDP(0.1, 1e-7), 10)]
    assert basic(plan_of(parts), 1e-6).upper == 1.0
    with pytest.raises(Inapplicable, match="add up to 1e-06"):
        basic(plan_of(parts), 9.9e-7)


def test_a_tail_gets_all_that_is_left_of_delta():
    parts = [(ApproximateDP(0.5, 5e-7), 1), (GaussianDP(0.5), 2)]
    one = GaussianDP(0.5).to_approximate(delta=2.5e-7).epsilon
    assert basic(plan_of(parts), 1e-6).upper == pytest.approx(0.5 + 2 * one, rel=1e-14)


# Parameters chosen after earlier answers


@pytest.mark.parametrize(
    ("promise", "adaptive"),
    [
        (PureDP(0.1), YES),
        (ApproximateDP(0.1, 1e-9), YES),
        (PrivacyProfile(((0.1, 1e-9),)), YES),
        (PrivacyProfile(((0.1, 1e-9), (0.2, 0.0))), FIXED_SHARES),
        (GaussianDP(0.1), FIXED_SHARES),
        (ZeroConcentratedDP(0.1), FIXED_SHARES),
    ],
)
def test_stated_points_may_decide_when_to_stop_and_shares_only_if_they_are_fixed(promise, adaptive):
    assert BASIC.adaptive(plan_of([(promise, 2)]), 1e-6) == adaptive
    assert BASIC.adaptive(plan_of([(PureDP(0.1), 1), (promise, 1)]), 1e-6) == adaptive


def test_several_promises_of_one_step_are_one_point_if_one_is_stated():
    assert BASIC.adaptive(Schedule((Part((PureDP(0.1), PureDP(0.1).to_renyi())),)), 1e-6) == YES


EPSILON, DELTA, NOISE = 10.0, 1e-6, GaussianDP(1.0)


def failure(bad, good):
    """δ at ε = 10 of an adversary who sees Gaussian noise with loss L first, then chooses.

    If L > `bad.edge`, a pure response follows, otherwise one that is exposed with probability δ: both at their worst.
    With P(L ≤ l) = Φ((l − μ²/2)/μ) and H the profile of the noise, exactly
    p₊H(ε − ε₂) + p₋H(ε + ε₂), above the edge, and P(L ≤ edge)·δ₃ below it, where L + ε₃ ≤ ε.
    """
    edge, response = bad
    with ctx.workprec(200):
        mu, e, size = ball(NOISE.mu), ball(EPSILON), ball(response.epsilon)
        assert edge + response.epsilon <= EPSILON
        assert edge + good.epsilon <= EPSILON

        def stick(at):
            return normal(mu / 2 - at / mu) - at.exp() * normal(-mu / 2 - at / mu)

        plus = 1 / (1 + (-size).exp())
        above = plus * stick(e - size) + (1 - plus) * stick(e + size)
        return above + normal((ball(edge) - mu * mu / 2) / mu) * ball(good.delta)


def test_shares_that_later_releases_change_would_fail_twice_as_often_as_promised():
    """After a large loss the noise has had all of δ, otherwise next to nothing of it: each alone is within budget."""
    edge = NOISE.to_approximate(delta=DELTA).epsilon
    response = PureDP(downward(exact(EPSILON) - exact(edge)))
    given = 0.999 * DELTA
    other = NOISE.to_approximate(delta=downward(exact(DELTA) - exact(given))).epsilon
    exposed = ApproximateDP(downward(exact(EPSILON) - exact(other)), given)
    for second in (response, exposed):
        schedule = plan_of([(NOISE, 1), (second, 1)])
        assert basic(schedule, DELTA).upper <= EPSILON
        assert BASIC.adaptive(schedule, DELTA) == FIXED_SHARES
    assert failure((edge, response), exposed) > 1.98 * ball(DELTA)


@pytest.mark.parametrize("share", [0.001, 0.3, 0.5, 0.9, 0.999])
def test_with_fixed_shares_the_same_adversary_fails_no_more_often_than_promised(share):
    noise = NOISE.to_approximate(delta=share * DELTA)
    left = downward(exact(EPSILON) - exact(noise.epsilon))
    response, exposed = PureDP(left), ApproximateDP(left, downward(exact(DELTA) - exact(noise.delta)))
    for second in (response, exposed):
        schedule = plan_of([(noise, 1), (second, 1)])
        assert basic(schedule, DELTA).upper <= EPSILON
        assert BASIC.adaptive(schedule, DELTA) == YES
    assert ball(DELTA) / 2 < failure((noise.epsilon, response), exposed) < ball(DELTA)
