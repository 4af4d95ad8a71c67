"""Mechanisms on a column as a plan: what they promise is what is charged, and a plan for less is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sitr.errors import InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.proposed import ProposeTestRelease
from sitr.mechanisms.random_noise import RandomNoise
from sitr.mechanisms.sampled_noise import SampledNoise
from sitr.mechanisms.smooth import NoiseKind, SmoothNoise
from sitr.noise.coins import TestCoins
from sitr.questions.statistic.numbers import Numbers
from sitr.questions.statistic.question import StatisticQuestion, StatisticRelease, check_size
from sitr.sensitivity import mean, median, propose_test_release, random, sampled, smooth

COST = Numbers("cost", 0.0)
SMOOTH = smooth(median, bounds=(0, 1))
PRICE = ApproximateDP(0.5, 1e-6)
STUDENT = SmoothNoise.fitting(PureDP(0.5), sensitivity=SMOOTH, noise=NoiseKind.STUDENT)
LAPLACE = SmoothNoise.fitting(PRICE, sensitivity=SMOOTH, noise=NoiseKind.LAPLACE)
TEST = ProposeTestRelease.fitting(PRICE, sensitivity=propose_test_release(median, proposal=1, bounds=(0, 1)))
RANDOM = RandomNoise.fitting(PRICE, sensitivity=random(median, size=40, gamma=0.2, bounds=(0, 1)))
SAMPLED = SampledNoise.fitting(
    PureDP(0.5),
    sensitivity=sampled(mean, population=lambda size: np.arange(size) % 7 / 7, size=40, gamma=0.2, granularity=0.01),
)
MECHANISMS: dict[str, Any] = {
    "student": STUDENT,
    "laplace": LAPLACE,
    "test": TEST,
    "random": RANDOM,
    "sampled": SAMPLED,
}
each = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)


def less(promise: Any) -> Any:
    """A promise with one percent less ε."""
    if isinstance(promise, RandomDP):
        return replace(promise, inner=less(promise.inner))
    return replace(promise, epsilon=promise.epsilon * 0.99)


@each
def test_what_a_mechanism_promises_is_charged_and_no_less(mechanism: Any) -> None:
    question = StatisticQuestion((mechanism,), COST)
    plan = question.plan(mechanism.promise())
    plan.check()
    assert plan.price == plan.promise() == mechanism.promise()
    assert plan.text == question.text() == f"cost: {mechanism!r}"
    with pytest.raises(InvalidPromise, match="bug in Sitr"):
        replace(plan, price=less(plan.price)).check()
    with pytest.raises(QuestionError, match="pays for what the mechanism promises"):
        question.plan(less(mechanism.promise()))


def test_parts_are_added_and_each_must_be_paid() -> None:
    question = StatisticQuestion((STUDENT, LAPLACE, TEST), COST)
    plan = question.plan(question.promise())
    plan.check()
    assert isinstance(plan.price, ApproximateDP)
    assert plan.price.epsilon == pytest.approx(1.5)
    for place in range(3):
        only = tuple(one for index, one in enumerate(plan.measurements) if index != place)
        cheaper = StatisticQuestion(tuple(one.mechanism for one in only), COST).promise()  # type: ignore[misc]
        with pytest.raises(InvalidPromise):
            replace(plan, price=cheaper).check()


@pytest.mark.parametrize(
    ("mechanism", "mass"), [(STUDENT, 0.0), (LAPLACE, 0.0), (TEST, TEST.exposed()), (RANDOM, 0.0), (SAMPLED, 0.0)]
)
def test_only_a_test_that_errs_exposes_outright(mechanism: Any, mass: float) -> None:
    plan = StatisticQuestion((mechanism,), COST).plan(mechanism.promise())
    assert plan.infinite_mass() == mass


def test_of_a_mechanism_that_nobody_knows_all_of_delta_may_be_infinite() -> None:
    class Own:
        def promise(self) -> ApproximateDP:
            return PRICE

    own: Any = Own()
    assert StatisticQuestion((own,), COST).plan(PRICE).infinite_mass() == PRICE.delta


@pytest.mark.parametrize(("mechanism", "known"), [(STUDENT, False), (TEST, True), (RANDOM, False), (SAMPLED, True)])
def test_errors_are_known_where_they_do_not_depend_on_the_data(mechanism: Any, known: bool) -> None:
    question = StatisticQuestion((mechanism,), COST)
    plan = question.plan(mechanism.promise())
    if known:
        assert question.errors(plan, confidence=0.9) == {"value": pytest.approx(float(mechanism.error(confidence=0.9)))}
    else:
        with pytest.raises(QuestionError, match="depends on the data"):
            question.errors(plan)


def test_values_that_cannot_have_been_released() -> None:
    question = StatisticQuestion((STUDENT, TEST), COST)
    plan = question.plan(question.promise())
    values = np.linspace(0, 1, 41)
    assert question.answer(plan, values, coins=TestCoins(1)).possible()
    assert StatisticRelease(plan, (Fraction(1, 2), None)).possible()
    for wrong in ((Fraction(1, 2),), ("text", None), (float("nan"), None), (True, None)):
        assert not StatisticRelease(plan, wrong).possible()


def test_the_public_number_of_rows_must_be_the_one_of_the_rule() -> None:
    check_size(StatisticQuestion((RANDOM, STUDENT), COST), 40)
    with pytest.raises(QuestionError, match="fitted to 41 rows"):
        check_size(StatisticQuestion((RANDOM,), COST), 41)
