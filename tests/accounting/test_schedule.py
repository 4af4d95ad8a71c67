from __future__ import annotations

import pytest

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.schedule_file import read_schedule
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP


@pytest.mark.parametrize("times", [0, -1, 1.0, True, 10**8 + 1, 10**9])
def test_times_are_counted_in_whole_numbers_up_to_a_hundred_million(times):
    with pytest.raises(InvalidPromise):
        Part((PureDP(0.1),), times=times)
    Part((PureDP(0.1),), times=10**8)


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
        Part(promises)


def test_an_empty_plan_is_none():
    with pytest.raises(InvalidPromise, match="at least one step"):
        Schedule(())


def test_a_random_plan_comes_apart_into_its_inner_plan_and_gamma():
    inner = (PureDP(0.5), ApproximateDP(0.1, 1e-6))
    schedule = Schedule(
        (Part(tuple(RandomDP(p, 0.01) for p in inner), times=3, name="a"), Part((PureDP(1.0),), times=2))
    )
    assert schedule.random
    assert schedule.releases == 5
    assert schedule.gamma == 0.03
    assert schedule.inner == Schedule((Part(inner, times=3, name="a"), Part((PureDP(1.0),), times=2)))
    assert not schedule.inner.random
    assert schedule.inner.gamma == 0.0


def test_gamma_adds_up_to_at_most_one():
    assert Schedule((Part((RandomDP(PureDP(0.1), 0.1),), times=11),)).gamma == 1.0


def test_a_random_step_without_exceptions_is_random_still():
    assert Schedule((Part((RandomDP(PureDP(0.1), 0.0),)),)).random


def test_gamma_of_a_plan_has_parts_and_the_weakest_basis():
    named = RandomDP(PureDP(0.1), 0.02, parts=(("gate", 0.01),))
    steps = (Part((named,), times=2), Part((RandomDP(PureDP(0.1), 0.01),), times=3, name="means"), Part((PureDP(1.0),)))
    schedule = Schedule(steps)
    assert schedule.exceptions.parts == (("gate", 0.02), ("means", 0.03))
    assert schedule.exceptions.basis is Basis.FINITE_SAMPLE
    published = Part((RandomDP(PureDP(0.1), 0.0, Basis.ASYMPTOTIC),))
    assert Schedule((*steps, published)).exceptions.basis is Basis.ASYMPTOTIC


def test_promises_of_one_step_rest_on_one_basis():
    with pytest.raises(InvalidPromise, match="hold at once"):
        Part((RandomDP(PureDP(0.1), 0.1), RandomDP(PureDP(0.1), 0.1, Basis.ASYMPTOTIC)))


def test_a_random_step_has_no_loss_but_inside():
    """A law for all data would forget the γ: calibrating to (ε, δ) must not succeed."""
    schedule = read_schedule([{"random": {"gamma": 0.5, "step": {"laplace": {"scale": 1, "sensitivity": 1}}}}])
    (part,) = schedule.parts
    assert part.loss() is None
    assert schedule.loss() is None
    inner = part.inner.loss()
    assert inner is not None
    assert PureDP(1.001).kept_by(inner)
