from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.theorems.basic import HOLDS_AS_STOPPING_RULE, basic
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.bounds import exact, upward

parts = st.lists(
    st.one_of(st.builds(PureDP, st.floats(0, 10)), st.builds(ApproximateDP, st.floats(0, 10), st.floats(0, 0.01))),
    max_size=12,
)


@given(parts)
def test_parameters_add_and_are_rounded_up_once(promises):
    whole = basic(promises)
    assert whole.epsilon == upward(sum(exact(promise.epsilon) for promise in promises))
    assert whole.delta == upward(sum(exact(getattr(promise, "delta", 0)) for promise in promises))


@given(parts, st.randoms())
def test_the_order_does_not_matter(promises, random):
    shuffled = list(promises)
    random.shuffle(shuffled)
    assert basic(shuffled) == basic(promises)


def test_pure_releases_cost_no_delta():
    assert basic([PureDP(0.1)] * 10) == ApproximateDP(1.0, 0.0)
    assert basic([]) == ApproximateDP(0.0, 0.0)


def test_any_iterable_will_do():
    assert basic(PureDP(0.1) for _ in range(3)) == ApproximateDP(0.3, 0.0)


def test_it_may_be_used_to_decide_when_to_stop():
    assert HOLDS_AS_STOPPING_RULE
