from __future__ import annotations

import pytest

from sitr.accounting.plan import Plan, Step
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP


@pytest.mark.parametrize("times", [0, -1, 1.0, True, 10**8 + 1, 10**9])
def test_times_are_counted_in_whole_numbers_up_to_a_hundred_million(times):
    with pytest.raises(InvalidPromise):
        Step((PureDP(0.1),), times=times)
    Step((PureDP(0.1),), times=10**8)


@pytest.mark.parametrize(
    "promises",
    [
        (),
        (PureDP(0.1), RandomDP(PureDP(0.1), 0.0)),
        (RandomDP(PureDP(0.1), 0.1), RandomDP(ApproximateDP(0.1, 0.1), 0.2)),
    ],
)
def test_promises_hold_at_once_for_the_same_data(promises):
    with pytest.raises(InvalidPromise, match="hold at once"):
        Step(promises)


def test_an_empty_plan_is_none():
    with pytest.raises(InvalidPromise, match="at least one step"):
        Plan(())


def test_a_random_plan_comes_apart_into_its_inner_plan_and_gamma():
    inner = (PureDP(0.5), ApproximateDP(0.1, 1e-6))
    plan = Plan((Step(tuple(RandomDP(p, 0.01) for p in inner), times=3, name="a"), Step((PureDP(1.0),), times=2)))
    assert plan.random
    assert plan.releases == 5
    assert plan.gamma == 0.03
    assert plan.inner == Plan((Step(inner, times=3, name="a"), Step((PureDP(1.0),), times=2)))
    assert not plan.inner.random
    assert plan.inner.gamma == 0.0


def test_gamma_adds_up_to_at_most_one():
    assert Plan((Step((RandomDP(PureDP(0.1), 0.1),), times=11),)).gamma == 1.0


def test_a_random_step_without_exceptions_is_random_still():
    assert Plan((Step((RandomDP(PureDP(0.1), 0.0),)),)).random


def test_gamma_of_a_plan_has_parts_and_the_weakest_basis():
    named = RandomDP(PureDP(0.1), 0.02, parts=(("gate", 0.01),))
    steps = (Step((named,), times=2), Step((RandomDP(PureDP(0.1), 0.01),), times=3, name="means"), Step((PureDP(1.0),)))
    plan = Plan(steps)
    assert plan.parts == (("gate", 0.02), ("means", 0.03))
    assert plan.basis is Basis.FINITE_SAMPLE
    published = Step((RandomDP(PureDP(0.1), 0.0, Basis.ASYMPTOTIC),))
    assert Plan((*steps, published)).basis is Basis.ASYMPTOTIC


def test_promises_of_one_step_rest_on_one_basis():
    with pytest.raises(InvalidPromise, match="hold at once"):
        Step((RandomDP(PureDP(0.1), 0.1), RandomDP(PureDP(0.1), 0.1, Basis.ASYMPTOTIC)))
