from __future__ import annotations

import pytest

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.random_union import RANDOM_UNION, random_union
from sitr.accounting.theorems.theorem import NO
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP


def test_it_is_the_composition_of_the_flavor():
    promise = RandomDP(ApproximateDP(0.1, 1e-7), 0.01)
    schedule = Schedule((Part((promise,), times=5),))
    whole = promise * 5
    assert isinstance(whole.inner, ApproximateDP)
    assert random_union(schedule, 5e-7).upper == whole.inner.epsilon
    assert schedule.gamma == whole.gamma == 0.05
    with pytest.raises(Inapplicable, match="add up to 5e-07"):
        random_union(schedule, 4e-7)


def test_plain_steps_join_with_gamma_0():
    schedule = Schedule((Part((RandomDP(PureDP(0.1), 0.25),)), Part((PureDP(0.5),))))
    assert random_union(schedule, 0.0).upper == 0.6
    assert schedule.gamma == 0.25


def test_it_is_for_random_plans_only():
    with pytest.raises(Inapplicable, match="no step is random"):
        random_union(Schedule((Part((PureDP(0.1),)),)), 1e-6)


def test_it_is_never_a_stopping_rule():
    assert RANDOM_UNION.adaptive(Schedule((Part((RandomDP(PureDP(0.1), 0.1),)),)), 1e-6) == NO
