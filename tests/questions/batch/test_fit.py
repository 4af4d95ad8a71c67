"""One price for several questions: all of it is used, nothing more, and nothing is paid twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sitr.errors import InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.numbers import exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import fit as fit_one
from sitr.questions.batch.fit import fit
from sitr.questions.batch.plan import BatchPlan

Ask = Callable[..., BoundedQuery]

KNOWN: dict[str, Any] = {"keys": {"ward": ["A", "B", "C", "D", "E", "F"]}}
WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
COSTS = "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward"
LONG = "SELECT COUNT(*) AS n FROM visits WHERE days > 3"
MIDDLE = "SELECT MEDIAN(cost) AS middle FROM visits"
PRICES: list[Kept] = [PureDP(1), ZeroConcentratedDP(0.5), ApproximateDP(1, 1e-6), ApproximateDP(0.1, 1e-9)]
OUTSIDE: list[Kept] = [ApproximateDP(1, 1e-6), ApproximateZeroConcentratedDP(0.5, 1e-6)]


def planned(queries: Sequence[BoundedQuery], price: Kept, weights: Sequence[int] = ()) -> BatchPlan:
    names = [str(place) for place in range(len(queries))]
    shares = [Fraction(weight) for weight in weights or [1] * len(queries)]
    return fit(queries, price, names=names, weights=shares, text="BATCH")


def spent(promise: Any) -> float:
    return float(promise.rho if hasattr(promise, "rho") else promise.epsilon)


CASES = [
    *((KNOWN, price, (WARDS, COSTS, LONG)) for price in PRICES),
    *(({}, price, (WARDS, COSTS, LONG)) for price in OUTSIDE),
    (KNOWN, ApproximateDP(1, 1e-6), (WARDS, MIDDLE)),
]


@pytest.mark.parametrize(("keys", "price", "texts"), CASES)
def test_the_price_is_kept_and_used_up(ask: Ask, keys: Any, price: Kept, texts: tuple[str, ...]) -> None:
    plan = planned([ask(text, **keys) for text in texts], price)
    plan.check()
    assert plan.price.covers(price)
    assert spent(plan.promise()) == pytest.approx(spent(price), rel=2e-3)
    assert plan.measurements == tuple(each for group in plan.groups for each in group.measurements)


@pytest.mark.parametrize(("keys", "price", "texts"), CASES)
def test_less_noise_anywhere_is_refused(ask: Ask, keys: Any, price: Kept, texts: tuple[str, ...]) -> None:
    """The broken twin. Beside a threshold with Laplace noise, the sum of promises leaves a few percent of the loss."""
    plan = planned([ask(text, **keys) for text in texts], price)
    first, *others = plan.measurements
    noise: Any = first.mechanism
    name = "scale" if isinstance(noise, Laplace) else "sigma"
    less = replace(noise, **{name: getattr(noise, name) * (Fraction(95, 100) if keys else Fraction(3, 5))})
    with pytest.raises(InvalidPromise, match="bug in Sitr"):
        replace(plan, measurements=(replace(first, mechanism=less), *others)).check()


@pytest.mark.parametrize("many", [16, 36])
def test_an_approximate_price_goes_further_in_a_batch(ask: Ask, many: int) -> None:
    """n questions take √n times the noise of one; asked one by one for equal parts of (ε, δ), they take more.

    The price is not one that fits any noise: with 1% less of it on all of them, it is not kept.
    """
    price = ApproximateDP(1, 1e-6)
    texts = [f"SELECT COUNT(*) AS n FROM visits WHERE days > {place}" for place in range(many)]
    queries = [ask(text).watching(None) for text in texts]
    plan = planned(queries, price)
    plan.check()
    (one,) = fit_one(queries[0], price).measurements
    sizes = [each.mechanism.size for each in plan.measurements]  # type: ignore[attr-defined]
    alone = exact(one.distance.l2) / exact(GaussianDP.fitting(price).mu)  # type: ignore[union-attr]
    assert [float(size / alone) for size in sizes] == pytest.approx([math.sqrt(many)] * many, rel=1e-6)
    part = fit_one(queries[0], ApproximateDP(1 / many, 1e-6 / many))
    assert part.measurements[0].error() > 1.2 * plan.measurements[0].error()
    less = [replace(each, mechanism=_smaller(each.mechanism)) for each in plan.measurements]
    with pytest.raises(InvalidPromise):
        replace(plan, measurements=tuple(less)).check()


def _smaller(noise: Any) -> RoundedGaussian:
    assert isinstance(noise, RoundedGaussian)
    return replace(noise, sigma=noise.size * Fraction(99, 100))


@pytest.mark.parametrize("price", [PureDP(1), ZeroConcentratedDP(0.5)], ids=repr)
def test_a_pure_price_and_a_moment_are_shared_as_if_asked_one_by_one(ask: Ask, price: Any) -> None:
    queries = [ask(WARDS, **KNOWN), ask(LONG)]
    plan = planned(queries, price)
    for query, part in zip(queries, plan.parts, strict=True):
        alone = fit_one(query, price.share(Fraction(1, 2)))
        assert [each.error() for each in part.measurements] == [each.error() for each in alone.measurements]


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_what_two_questions_need_is_measured_once_for_the_shares_of_both(ask: Ask, price: Kept) -> None:
    """Both count the people in each ward and those with rows cut; the same question twice is one question."""
    together = planned([ask(WARDS, **KNOWN), ask(COSTS, **KNOWN)], price)
    assert len(together.groups) == 1
    names = [each.name for each in together.measurements]
    assert len(names) == len(set(names))
    apart = planned([ask(WARDS, **KNOWN), ask(COSTS, max_groups=1, **KNOWN)], price)
    assert len(apart.groups) == 2
    assert len(apart.measurements) > len(together.measurements)
    twice, once = planned([ask(WARDS, **KNOWN)] * 2, price), fit_one(ask(WARDS, **KNOWN), price)
    assert [each.error() for each in twice.measurements] == [each.error() for each in once.measurements]
    assert [part.measurements for part in twice.parts] == [twice.groups[0].measurements] * 2


def test_a_question_that_is_filtered_differently_keeps_its_own_bias(ask: Ask) -> None:
    """The people with clamped costs differ, but have one place by the name of the column: two readings."""
    filtered = "SELECT ward, SUM(cost) FILTER (WHERE days > 3) AS total FROM visits GROUP BY ward"
    plan = planned([ask(COSTS, **KNOWN), ask(filtered, **KNOWN)], ZeroConcentratedDP(0.5))
    for part in plan.parts:
        assert [each.term for each in part.noisy] == list(part.query.terms)


def test_weights_are_shares(ask: Ask) -> None:
    queries = [ask(WARDS, **KNOWN).watching(None), ask(LONG).watching(None)]
    equal, uneven = (planned(queries, PureDP(1), weights) for weights in ([1, 1], [3, 1]))
    first, second = (
        float(one.mechanism.size / other.mechanism.size)  # type: ignore[attr-defined]
        for one, other in zip(uneven.measurements, equal.measurements, strict=True)
    )
    assert (first, second) == pytest.approx((2 / 3, 2))


def test_unknown_keys_want_a_delta(ask: Ask) -> None:
    with pytest.raises(QuestionError, match=r"ward.*needs δ > 0"):
        planned([ask(LONG), ask(WARDS)], PureDP(1))


@pytest.mark.parametrize("price", OUTSIDE, ids=repr)
def test_thresholds_share_delta(ask: Ask, price: Any) -> None:
    other = "SELECT born, COUNT(*) AS n FROM visits GROUP BY born"
    plan = planned([ask(WARDS), ask(other), ask(LONG)], price)
    plan.check()
    assert [group.threshold is not None for group in plan.groups] == [True, True, False]
    assert plan.infinite_mass() <= price.delta


def test_an_error_that_no_double_holds_is_refused_by_the_name_of_its_column(ask: Ask) -> None:
    wide = {"bounds": {"cost": (0, 1e300)}, "granularity": {"cost": 1e290}}
    with pytest.raises(QuestionError, match="the error of total exceeds"):
        planned([ask(LONG), ask("SELECT SUM(cost) AS total FROM visits", **wide).watching(None)], PureDP(1e-60))
