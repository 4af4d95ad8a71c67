"""Both stages keep their shares of the price, whichever of the possible caps are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sitr.errors import InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.numbers import exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.auto.caps import CapPair, possible
from sitr.questions.auto.plan import SHARE, AutoPlan
from sitr.questions.auto.question import AutoQuestion, AutoRelease, second
from sitr.questions.suggest.question import SuggestionRelease
from tests.questions.suggest.conftest import PLACES, ask

__all__ = ["ask"]  # the fixture

Ask = Callable[..., BoundedQuery]
SQL = "SELECT place, COUNT(*) AS n, SUM(value) AS total FROM t GROUP BY place"
PRICES: list[Kept] = [PureDP(0.7), ZeroConcentratedDP(0.3)]
WITH_DELTA: list[Kept] = [ApproximateDP(0.7, 1e-6), ApproximateZeroConcentratedDP(0.3, 1e-6)]
BOUNDS = {"value": (-3, 8)}


def planned(query: BoundedQuery, price: Kept) -> AutoPlan:
    return AutoQuestion(query).plan(price)


def louder(plan: AutoPlan, place: int) -> AutoPlan:
    """A broken twin: one measurement has 3% less noise than it should have."""
    found = list(plan.measurements)
    noise: Any = found[place].mechanism
    name = "scale" if isinstance(noise, Laplace) else "sigma"
    found[place] = replace(found[place], mechanism=replace(noise, **{name: getattr(noise, name) * Fraction(97, 100)}))
    choosing = replace(plan.choosing, measurements=tuple(found[len(plan.answering.measurements) :]))
    return replace(plan, measurements=tuple(found), choosing=choosing)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_every_possible_choice_keeps_the_rest_of_the_price(ask: Ask, price: Kept, relation: Relation) -> None:
    plan = planned(ask(SQL, relation=relation, bounds=BOUNDS), price)
    every = possible(plan.choosing.spreads)
    assert every[0] == CapPair(1, 1)
    assert len(every) == len(set(every)) == 4 * 15
    for caps in every:
        at = plan.at(caps)
        at.check()
        assert (at.rest, at.choosing, at.price, at.text) == (plan.rest, plan.choosing, plan.price, plan.text)
        assert CapPair.of(at.query) == caps
        count = at.answering.measurements[0].distance
        assert count is not None
        moved = min(caps.max_groups, len(PLACES)) * caps.max_rows_per_group
        assert count.l1 == moved * (2 if relation is Relation.REPLACE_ONE and caps.max_groups < len(PLACES) else 1)


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_the_promise_is_the_price_from_below_and_from_above(ask: Ask, price: Kept) -> None:
    """The shares add up to the price and to nothing less, and so do the measurements, at whatever caps."""
    plan = planned(ask(SQL, bounds=BOUNDS), price)
    name = "epsilon" if isinstance(price, PureDP) else "rho"
    whole = exact(getattr(price, name))
    assert plan.promise().covers(price)
    assert exact(getattr(plan.promise(), name)) >= whole * (1 - Fraction(1, 10**12))
    assert exact(getattr(plan.choosing.price, name)) <= whole * SHARE
    assert exact(getattr(plan.rest, name)) <= whole * (1 - SHARE)
    for caps in (CapPair(1, 1), CapPair(4, 64), possible(plan.choosing.spreads)[-1]):
        stages = [plan.choosing.promise(), plan.at(caps).answering.promise()]
        used = sum(exact(getattr(each, name)) for each in stages)
        assert whole * Fraction(97, 100) <= used <= whole


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_less_noise_in_either_stage_is_refused(ask: Ask, price: Kept) -> None:
    plan = planned(ask(SQL, bounds=BOUNDS), price).at(CapPair(2, 4))
    for place in (0, -1):
        with pytest.raises(InvalidPromise):
            louder(plan, place).check()
    with pytest.raises(InvalidPromise):
        replace(plan, price=price.share(Fraction(99, 100))).check()  # type: ignore[union-attr]


def test_no_exact_loss_is_claimed_for_a_mechanism_that_is_not_known_in_advance(ask: Ask) -> None:
    pure, rho = (planned(ask(SQL, bounds=BOUNDS), price).loss() for price in PRICES)
    assert rho is None
    assert pure is not None
    assert pure.bound


def test_only_possible_caps_follow_and_the_second_stage_has_them(ask: Ask) -> None:
    query = ask(SQL, bounds=BOUNDS)
    question, plan = AutoQuestion(query), planned(query, PRICES[1])
    counts = tuple((10_000,) * spread.size for spread in plan.choosing.spreads)
    first = AutoRelease(plan, counts, CapPair(4, 2))
    assert first.possible()
    assert not replace(first, caps=CapPair(3, 2)).possible()
    assert not replace(first, counts=counts[1:]).possible()
    assert CapPair.of(second(first).reading()) == CapPair(4, 2)
    assert CapPair.of(second(replace(first, caps=None)).reading()) == CapPair.of(query)
    assert len(question.reading()) == len(counts) == len(plan.choosing.measurements)
    assert SuggestionRelease(plan.choosing, counts).possible()


def test_what_cannot_have_chosen_caps_is_refused(ask: Ask) -> None:
    for price in PRICES:
        with pytest.raises(QuestionError, match=r"not public, so the price needs δ > 0, but it is .*0\.[37]\)"):
            planned(ask(SQL, bounds=BOUNDS, keys={}), price)
    with pytest.raises(QuestionError, match="Each row is a unit"):
        planned(ask(SQL, bounds=BOUNDS, unit=Row(), max_groups=None, max_rows_per_group=None), PRICES[0])


SAMPLE = (CapPair(1, 1), CapPair(4, 8), CapPair(64, 2), CapPair(1024, 16_384))


@pytest.mark.parametrize("keys", [None, {}], ids=["public keys", "unknown keys"])
@pytest.mark.parametrize("price", WITH_DELTA, ids=repr)
def test_prices_with_delta_add_up_whichever_caps_follow(ask: Ask, price: Kept, keys: dict[str, Any] | None) -> None:
    """The choice has a tenth of ε or ρ and no δ, and the answer has the rest and all of δ."""
    given = {} if keys is None else {"keys": keys}
    plan = planned(ask(SQL, bounds=BOUNDS, **given), price)
    name = "epsilon" if isinstance(price, ApproximateDP) else "rho"
    whole = exact(getattr(price, name))
    assert getattr(plan.choosing.price, "delta", None) == 0.0
    assert exact(getattr(plan.choosing.price, name)) <= whole * SHARE
    assert exact(getattr(plan.rest, name)) <= whole * (1 - SHARE)
    assert plan.promise().covers(price)
    assert exact(getattr(plan.promise(), name)) >= whole * (1 - Fraction(1, 10**12))
    assert plan.loss() is None
    for caps in SAMPLE:
        at = plan.at(caps)
        at.check()
        assert (at.rest, at.price) == (plan.rest, plan.price)
        found = at.answering.promise()
        assert exact(getattr(found, name)) <= exact(getattr(plan.rest, name))
        assert exact(getattr(found, "delta", 0)) <= exact(getattr(price, "delta", 0))
        with pytest.raises(InvalidPromise):
            louder(at, -1).check()
        if keys is None:
            with pytest.raises(InvalidPromise):
                replace(at, price=price.share(Fraction(99, 100))).check()  # type: ignore[union-attr]


def test_the_rest_of_the_price_is_used(ask: Ask) -> None:
    """From below: 5% less than the rest would not pay for the second stage."""
    for price in WITH_DELTA:
        at = planned(ask(SQL, bounds=BOUNDS, keys={}), price).at(CapPair(4, 8))
        less = replace(at, rest=at.rest.share(Fraction(95, 100)))
        with pytest.raises(InvalidPromise):
            less.answering.check()
