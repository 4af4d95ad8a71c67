"""Plans of histograms: noise at exact sensitivity, and parts that cost together what was asked."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sitr.dataset.cells import Categories, Even, Grid, Rule
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.noise.coins import TestCoins
from sitr.numbers import exact
from sitr.questions.histogram.fit import COUNTS, HistogramPlan, fit
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Method, Sparse, Tree, Unlisted
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally

X, WARD = Column("x", Kind.REAL), Column("ward", Kind.TEXT)
LINE = Grid((Even(X, Fraction(0), Fraction(1), 24),))
BARE = Grid((Even(X, Fraction(0), Fraction(1), 24, missing=Rule.DROP),))
PRICES: list[Additive] = [PureDP(0.7), ZeroConcentratedDP(0.03), ApproximateDP(0.7, 1e-6), ApproximateDP(0.7, 0.0)]
METHODS: list[Method] = [Flat(), Tree(), Tree(2, rooted=True), Buckets(), Bins((3, 6, 24))]


def table(unit: Unit, relation: Relation, groups: int = 1, rows: int = 1) -> Table:
    return Table("t", (Column("u", Kind.INTEGER), X, WARD), unit, relation, groups, rows)


ROWS = table(Row(), Relation.ADD_REMOVE)


@pytest.mark.parametrize(("relation", "l1", "l2_squared"), [(Relation.ADD_REMOVE, 1, 1), (Relation.REPLACE_ONE, 2, 2)])
def test_a_row_moves_one_cell_or_two(relation: Relation, l1: int, l2_squared: int) -> None:
    tally = Tally.of(table(Row(), relation), LINE)
    assert tally.distance() == Distance(l1, l2_squared, 1)
    assert fit(tally, PureDP(0.5), method=Flat()).noise == Laplace(scale=2 * l1, sensitivity=l1)
    gaussian = fit(tally, ZeroConcentratedDP(0.5), method=Flat()).noise
    assert isinstance(gaussian, Gaussian)
    assert exact(gaussian.sigma) ** 2 == pytest.approx(l2_squared)


def test_a_person_moves_as_many_cells_as_the_caps_say() -> None:
    tally = Tally.of(table(Person("u"), Relation.ADD_REMOVE, 3, 2), LINE)
    assert tally.distance() == Distance(6, 12, 2)
    assert tally.merged_distance() == Distance(6, 36, 6)  # all of it may be in one stretch
    replaced = Tally.of(table(Person("u"), Relation.REPLACE_ONE, 3, 2), LINE)
    assert replaced.distance() == Distance(12, 24, 2)
    assert replaced.merged_distance() == Distance(12, 72, 6)


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("caps", [(1, 1), (3, 2)])
def test_choice_and_measurement_cost_what_is_charged(price: Additive, method: Method, caps: tuple[int, int]) -> None:
    plan = fit(Tally.of(table(Person("u"), Relation.ADD_REMOVE, *caps), LINE), price, method=method)
    kept = plan.promise()
    assert type(kept) is type(plan.price)
    assert kept.covers(plan.price)
    for name in ("epsilon", "rho"):
        if hasattr(kept, name):  # nothing is wasted
            assert getattr(kept, name) == pytest.approx(getattr(plan.price, name), rel=1e-9)


@pytest.mark.parametrize("price", PRICES[:2], ids=str)
def test_the_parts_of_a_price_are_its_parts(price: Additive) -> None:
    """Twins: a choice at twice its share, or noise for all of the price beside a choice, exceed the price."""
    for method in (Buckets(), Bins((3, 6, 24))):
        plan = fit(Tally.of(ROWS, LINE), price, method=method)
        whole = fit(Tally.of(ROWS, LINE), price, method=Flat()).noise
        broken = with_counts(plan, whole)
        assert not broken.promise().covers(price)
        with pytest.raises(InvalidPromise, match="bug in Sitr"):
            broken.check()


def with_counts(plan: HistogramPlan, noise: Any) -> HistogramPlan:
    """The same plan with other noise on the counts."""
    changed = (replace(each, mechanism=noise) if each.name == COUNTS else each for each in plan.measurements)
    return replace(plan, measurements=tuple(changed))


def less(noise: Any) -> Any:
    """One percent less noise."""
    share = Fraction(99, 100)
    if isinstance(noise, Laplace):
        return replace(noise, scale=exact(noise.scale) * share)
    return replace(noise, sigma=exact(noise.sigma) * share)


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_plan_with_less_noise_is_refused(price: Additive, method: Method) -> None:
    """The check is two-sided: it lets the fitted plan pass, and not one percent less noise on counts or choice."""
    plan = fit(Tally.of(table(Person("u"), Relation.ADD_REMOVE, 3, 2), LINE), price, method=method)
    plan.check()
    with pytest.raises(InvalidPromise):
        with_counts(plan, less(plan.noise)).check()
    if plan.choice is None:
        return
    louder = (
        replace(plan.choice, epsilon=exact(plan.choice.epsilon) * Fraction(102, 100))
        if isinstance(plan.choice, Exponential)
        else less(plan.choice)
    )
    choice, counts = plan.measurements
    with pytest.raises(InvalidPromise):
        replace(plan, measurements=(replace(choice, mechanism=louder), counts)).check()


def test_a_threshold_with_less_noise_is_refused() -> None:
    plan = fit(Tally.of(ROWS, WARD), ApproximateDP(1.0, 1e-6), method=Unlisted())
    plan.check()
    assert plan.threshold is not None
    assert plan.infinite_mass() == plan.threshold.promise().delta > 0
    for broken in (
        replace(plan.threshold, noise=less(plan.noise)),
        replace(plan.threshold, least=plan.threshold.least - 1),
    ):
        with pytest.raises(InvalidPromise):
            with_counts(plan, broken).check()


def test_sparse_noise_that_keeps_less_is_refused() -> None:
    plan = fit(Tally.of(REPLACED, LINE), RANDOM, method=Sparse(), rows=500)
    plan.check()
    assert plan.sparse is not None
    for broken in (replace(plan.sparse, noise=less(plan.noise)), replace(plan.sparse, people=499)):
        with pytest.raises(InvalidPromise):
            with_counts(plan, broken).check()


def test_a_choice_among_bins_is_paid_by_its_range() -> None:
    plan = fit(Tally.of(ROWS, LINE), ZeroConcentratedDP(0.05), method=Bins((3, 24), Fraction(1, 5)))
    assert isinstance(plan.choice, Exponential)
    assert exact(plan.choice.epsilon) ** 2 / 8 <= Fraction(1, 100)
    assert float(exact(plan.choice.epsilon)) == pytest.approx(math.sqrt(0.08))
    assert plan.choice.sensitivity == 2


def test_a_tree_costs_a_level_for_each() -> None:
    plan = fit(Tally.of(ROWS, LINE), PureDP(1.0), method=Tree(branching=5))
    assert plan.hierarchy is not None
    assert plan.hierarchy.sizes == (24, 5)
    assert plan.noise == Laplace(scale=2, sensitivity=2)
    assert fit(Tally.of(ROWS, LINE), PureDP(1.0), method=Tree(branching=24)).noise == Laplace(scale=1, sensitivity=1)


def test_approximate_prices_buy_whichever_noise_errs_less() -> None:
    flat = Tally.of(ROWS, LINE)
    laplace = fit(flat, ApproximateDP(1.0, 1e-6), method=Flat())
    assert isinstance(laplace.noise, Laplace)
    assert laplace.price == ApproximateDP(1.0, 0.0)  # a δ that is not needed is not charged
    many = Tally.of(table(Person("u"), Relation.ADD_REMOVE, 20, 1), LINE)
    gaussian = fit(many, ApproximateDP(1.0, 1e-6), method=Flat())
    assert isinstance(gaussian.noise, RoundedGaussian)
    assert gaussian.price == ApproximateDP(1.0, 1e-6)
    fitted = GaussianDP.fitting(ApproximateDP(1.0, 1e-6))
    assert gaussian.noise == RoundedGaussian.fitting(fitted, sensitivity=gaussian.distance.l2)


def test_unlisted_categories_have_gaussian_noise_outside_an_event() -> None:
    """σ = √g/√(2ρ) for the count that also decides; the whole price is used."""
    price = ApproximateZeroConcentratedDP(0.125, 1e-6)
    plan = fit(Tally.of(ROWS, WARD), price, method=Unlisted())
    plan.check()
    assert isinstance(plan.threshold, GaussianThreshold)
    assert plan.noise.size**2 >= plan.distance.l2_squared * 4
    assert plan.promise().covers(price)
    assert plan.price == price
    assert (
        plan.infinite_mass()
        <= 1e-6
        < GaussianThreshold(plan.threshold.noise, plan.threshold.groups, plan.threshold.least - 1).promise().delta
    )


def test_bins_are_chosen_for_a_price_outside_an_event() -> None:
    """ρ is shared as in zero-concentrated privacy, and no δ is charged."""
    price, same = ApproximateZeroConcentratedDP(0.1, 1e-6), ZeroConcentratedDP(0.1)
    for method in (Flat(), Bins((3, 6, 24)), Buckets()):
        plan, other = (fit(Tally.of(ROWS, LINE), each, method=method) for each in (price, same))
        plan.check()
        assert plan.measurements == other.measurements
        assert plan.price == ApproximateZeroConcentratedDP(0.1, 0.0)


def test_unlisted_categories_want_a_delta() -> None:
    tally = Tally.of(ROWS, WARD)
    for price in (PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 0.0)):
        with pytest.raises(QuestionError, match="not public"):
            fit(tally, price, method=Unlisted())
    plan = fit(tally, ApproximateDP(1.0, 1e-6), method=Unlisted())
    assert plan.promise().covers(plan.price)
    assert plan.infinite_mass() > 0
    # The known figure for replacing one: Laplace noise of scale 2/α, a threshold of 1 + (2/α)·ln(1/(2δ)) = 27.24.
    replaced = fit(Tally.of(table(Row(), Relation.REPLACE_ONE), WARD), ApproximateDP(1.0, 1e-6), method=Unlisted())
    assert replaced.threshold is not None
    assert replaced.noise.sensitivity == 2
    assert replaced.threshold.least == 28


@pytest.mark.parametrize(
    "price", [PureDP(0.0), ZeroConcentratedDP(0.0), ZeroConcentratedDP(0.1, xi=0.1), ApproximateDP(1.0, 1.0)]
)
def test_prices_that_buy_nothing_are_refused(price: Additive) -> None:
    with pytest.raises(QuestionError, match="a price of pure"):
        fit(Tally.of(ROWS, LINE), price, method=Flat())


@pytest.mark.parametrize("method", METHODS[1:], ids=str)
def test_categories_stand_in_no_line(method: Method) -> None:
    listed = Grid((Categories(WARD, ("a", "b")),))
    with pytest.raises(QuestionError, match="in a line"):
        fit(Tally.of(ROWS, listed), PureDP(1.0), method=method)


@pytest.mark.parametrize(
    "method",
    [Bins((5, 24)), Bins((24,)), Bins((0, 24)), Bins((24, 24)), Buckets(Fraction(0)), Buckets(Fraction(1)), Tree(1)],
)
def test_methods_that_make_no_sense_are_refused(method: Method) -> None:
    with pytest.raises(QuestionError):
        fit(Tally.of(ROWS, LINE), PureDP(1.0), method=method)


def test_the_total_is_public_only_where_neighbours_share_it() -> None:
    replaced = table(Row(), Relation.REPLACE_ONE)
    assert Tally.of(replaced, LINE).total_is_public
    assert not Tally.of(replaced, BARE).total_is_public  # rows without a value are not counted
    assert not Tally.of(ROWS, LINE).total_is_public
    assert not Tally.of(table(Person("u"), Relation.REPLACE_ONE), LINE).total_is_public
    assert not Tally.of(replaced, WARD).total_is_public


def test_the_mean_size_of_noise() -> None:
    for scale in (0.3, 1.0, 20.0):
        y = range(-4000, 4001)
        weights = [math.exp(-abs(one) / scale) for one in y]
        mean = sum(abs(one) * weight for one, weight in zip(y, weights, strict=True)) / sum(weights)
        assert Laplace(scale=scale).mean_size == pytest.approx(mean)
    assert Laplace(scale=Fraction(1, 10**6)).mean_size < 1e-300


@pytest.mark.parametrize("method", [Flat(), Tree(4), Tree(2, rooted=True)], ids=str)
@pytest.mark.parametrize("price", PRICES[:2], ids=str)
def test_the_error_of_a_range_is_known_before_anything_is_spent(method: Method, price: Additive) -> None:
    """It is the half-width of the interval afterwards, where neither end is cut off at 0."""
    plan = fit(Tally.of(ROWS, LINE), price, method=method)
    found = release(plan, dict.fromkeys(range(24), 10_000), coins=TestCoins(1)).over(np.arange(3, 17))
    assert plan.range_error(3, 16) == pytest.approx((found.high - found.low) / 2)
    assert (plan.range_error(3, 3) == plan.error()) == isinstance(method, Flat)
    for first, last in ((-1, 3), (3, 24), (5, 4)):
        with pytest.raises(QuestionError, match="range of cells"):
            plan.range_error(first, last)


def test_the_error_of_joined_cells_is_not_known_beforehand() -> None:
    for method in (Buckets(), Bins((3, 24))):
        with pytest.raises(QuestionError, match="range of cells"):
            fit(Tally.of(ROWS, LINE), PureDP(1.0), method=method).range_error(0, 3)


# Noise only where there are people

REPLACED = table(Row(), Relation.REPLACE_ONE)
RANDOM = RandomDP(PureDP(0.1), 0.05)


def test_where_gamma_is_large_enough_only_people_get_noise() -> None:
    plan = fit(Tally.of(REPLACED, LINE), RANDOM, method=Sparse(), rows=500)
    assert plan.sparse == SparseHistogram.fitting(RANDOM, cells=25, people=500)
    assert plan.price == plan.promise() == plan.sparse.promise()
    assert isinstance(plan.price, RandomDP)
    assert plan.price.gamma < RANDOM.gamma  # what is not needed is not charged
    assert plan.price.covers(RANDOM)
    assert plan.noise == Laplace(scale=20, sensitivity=2)
    assert plan.text.startswith("HISTOGRAM OF x in 24 cells from 0 to 1 BY SPARSE")


@pytest.mark.parametrize(("gamma", "rows"), [(0.03, 500), (0.05, 100), (0.05, 1), (0.99, 0), (0.0, 10**6)])
def test_where_it_is_not_all_cells_do_and_no_gamma_is_charged(gamma: float, rows: int) -> None:
    plan = fit(Tally.of(REPLACED, LINE), RandomDP(PureDP(0.1), gamma), method=Sparse(), rows=rows)
    assert plan.sparse is None
    assert plan.price == plan.promise() == PureDP(0.1)
    assert plan.noise == Laplace(scale=20, sensitivity=2)


def test_rows_that_are_counted_nowhere_are_one_more_cell() -> None:
    plan = fit(Tally.of(REPLACED, BARE), RANDOM, method=Sparse(), rows=500)
    assert plan.sparse is not None
    assert (plan.grid.size, plan.sparse.cells) == (24, 25)


@pytest.mark.parametrize(
    "described",
    [
        table(Row(), Relation.ADD_REMOVE),
        table(Person("u"), Relation.REPLACE_ONE),
        table(Person("u"), Relation.ADD_REMOVE),
    ],
    ids=str,
)
def test_a_random_newcomer_replaces_a_row(described: Table) -> None:
    with pytest.raises(QuestionError, match=r"each row is a person.*relation="):
        fit(Tally.of(described, LINE), RANDOM, method=Sparse(), rows=500)


def test_sparse_wants_public_cells_and_a_public_size() -> None:
    with pytest.raises(QuestionError, match="unlisted categories"):
        fit(Tally.of(REPLACED, WARD), RANDOM, method=Sparse(), rows=500)
    with pytest.raises(QuestionError):
        fit(Tally.of(REPLACED, LINE), RANDOM, method=Sparse())


@pytest.mark.parametrize("price", [*PRICES, RandomDP(ApproximateDP(0.1, 1e-6), 0.05), RandomDP(PureDP(0.0), 0.05)])
def test_sparse_wants_a_random_pure_price(price: Kept) -> None:
    with pytest.raises(QuestionError, match=r"random\(pure"):
        fit(Tally.of(REPLACED, LINE), price, method=Sparse(), rows=500)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_random_price_buys_no_other_method(method: Method) -> None:
    with pytest.raises(QuestionError, match=r"Sparse\(\)"):
        fit(Tally.of(REPLACED, LINE), RANDOM, method=method, rows=500)
