"""The price of a suggestion is shared by its histograms, and used up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.suggest.question import SuggestionPlan, SuggestionQuestion, SuggestionRelease
from sitr.questions.suggest.spreads import measured

Ask = Callable[..., BoundedQuery]
SQL = "SELECT place, COUNT(*) AS n, SUM(value) AS total FROM t GROUP BY place"
PRICES: list[Kept] = [PureDP(0.1), ZeroConcentratedDP(0.005), ApproximateDP(0.5, 1e-6)]


def planned(query: BoundedQuery, price: Kept) -> SuggestionPlan:
    return SuggestionQuestion(query, measured(query)).plan(price)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_the_price_is_kept_and_less_noise_is_refused(ask: Ask, price: Kept, relation: Relation) -> None:
    plan = planned(ask(SQL, relation=relation), price)
    plan.check()
    assert plan.price.covers(price)
    assert plan.later == plan.price * 10
    first, *others = plan.measurements
    noise: Any = first.mechanism
    name = "scale" if isinstance(noise, Laplace) else "sigma"
    less = replace(noise, **{name: getattr(noise, name) * Fraction(97, 100)})
    with pytest.raises(InvalidPromise):
        replace(plan, measurements=(replace(first, mechanism=less), *others)).check()


def test_a_release_has_a_number_for_every_cell(ask: Ask) -> None:
    plan = planned(ask(SQL), PRICES[0])
    counts = tuple((0,) * spread.size for spread in plan.spreads)
    assert SuggestionRelease(plan, counts).possible()
    assert not SuggestionRelease(plan, counts[1:]).possible()
    assert not SuggestionRelease(plan, (counts[0][1:], *counts[1:])).possible()
    assert not SuggestionRelease(plan, ((0.5, *counts[0][1:]), *counts[1:])).possible()  # type: ignore[arg-type]
