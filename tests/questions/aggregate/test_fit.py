from __future__ import annotations

import math
from dataclasses import asdict, replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from sitr.errors import InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.price import LEAST
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.numbers import exact
from sitr.questions.aggregate import fit as fitting
from sitr.questions.aggregate.fit import fit

COLUMNS = ["COUNT(*) AS a", "COUNT(DISTINCT id) AS b", "SUM(cost) AS c", "SUM(days) AS d", "COUNT(ward) AS e"]
KNOWN = {"keys": {"ward": ["A", "B", "C", "D", "E", "F"]}}
PRICES = [
    PureDP(1),
    PureDP(0.1),
    ZeroConcentratedDP(0.5),
    ZeroConcentratedDP(1e-4),
    ApproximateDP(1, 1e-6),
    ApproximateDP(0.1, 1e-9),
    ApproximateDP(5, 1e-3),
    ApproximateDP(1, 0),
]
OUTSIDE = [ApproximateZeroConcentratedDP(0.5, 1e-6), ApproximateZeroConcentratedDP(1e-4, 1e-12)]


def by_ward(columns: int) -> str:
    return f"SELECT ward, {', '.join(COLUMNS[:columns])} FROM visits GROUP BY ward"


def epsilon(promise) -> float:
    """The parameter that is spent to the last: ρ of a zero-concentrated promise, else ε."""
    return promise.rho if isinstance(promise, ZeroConcentratedDP) else promise.epsilon


CASES = [*((KNOWN, price) for price in PRICES), *(({}, price) for price in PRICES[4:7])]


# The price


@pytest.mark.sampled(28)
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("keys", "price"), CASES)
def test_the_promise_is_covered_by_the_price_and_uses_it_up(ask, keys, price, columns):
    plan = fit(ask(by_ward(columns), **keys), price)
    plan.check()
    assert plan.price.covers(price)
    assert len(plan.columns) == columns
    if isinstance(plan.noisy[0].noise, RoundedGaussian):  # fitted by the loss, to within CLOSE
        assert epsilon(plan.promise()) == pytest.approx(epsilon(price), rel=1e-3)
    else:
        assert epsilon(plan.mechanism.promise()) == pytest.approx(epsilon(price), rel=1e-9)


@pytest.mark.parametrize(("keys", "price"), CASES)
def test_a_plan_with_less_noise_is_refused(ask, keys, price):
    """The broken twin: one percent less noise on one column is more than the price pays for.

    Laplace noise beside a threshold is fitted by the sum of promises, of which their loss leaves a few percent.
    """
    plan = fit(ask(by_ward(2), **keys), price)
    share = Fraction(99, 100) if keys else Fraction(4, 5)
    first, *others = plan.measurements
    noise: Any = first.mechanism
    name = "scale" if isinstance(noise, Laplace) else "sigma"
    less = replace(first, mechanism=replace(noise, **{name: getattr(noise, name) * share}))
    with pytest.raises(InvalidPromise, match="bug in Sitr"):
        replace(plan, measurements=(less, *others)).check()


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_the_noise_alone_pays_for_the_sensitivity_of_its_column(ask, price, columns):
    """Δ₁/scale and Δ₂²/(2σ²) of all columns add up to the price, computed here from the noise itself."""
    plan = fit(ask(by_ward(columns), **KNOWN), price)
    spent, whole = Fraction(0), exact(epsilon(price))
    for column in plan.noisy:
        if isinstance(column.noise, Laplace):
            spent += column.distance.l1 / exact(column.noise.scale)
        else:
            spent += column.distance.l2_squared / (2 * column.noise.size**2)
            rounded = isinstance(column.noise, RoundedGaussian)
            whole = exact(GaussianDP.fitting(price).mu) ** 2 / 2 if rounded else exact(price.rho)
    assert whole * (1 - Fraction(1, 10**9)) <= spent <= whole


@pytest.mark.parametrize(
    "price",
    [PureDP(1), ZeroConcentratedDP(0.5), ApproximateDP(1, 0), ApproximateZeroConcentratedDP(0.5, 0.0)],
    ids=repr,
)
def test_unknown_keys_want_a_delta(ask, price):
    with pytest.raises(QuestionError, match=r"ward.*needs δ > 0.*zcdp\(ρ, δ\) or approximate"):
        fit(ask(by_ward(1)), price)
    sql = "SELECT ward, born, COUNT(*) AS n FROM visits GROUP BY ward, born"
    with pytest.raises(QuestionError, match=r"The keys of born are not public.*keys=\{'born'"):
        fit(ask(sql, **KNOWN), price)


def test_advice_about_unknown_keys_names_columns_as_the_description_does(ask):
    """Another name in the answer is no column whose keys can be declared, and neither is an expression."""
    sql = "SELECT ward AS place, COUNT(*) AS n FROM visits GROUP BY ward"
    with pytest.raises(QuestionError, match=r"The keys of place .*keys=\{'ward': \[…\]\} \(--keys ward=A,B\)"):
        fit(ask(sql), PureDP(1))
    with pytest.raises(QuestionError, match=r"List them in the question with WHERE UPPER\(ward\) IN") as caught:
        fit(ask("SELECT UPPER(ward) AS place, COUNT(*) AS n FROM visits GROUP BY 1"), PureDP(1))
    assert "keys=" not in str(caught.value)
    with pytest.raises(QuestionError, match=r"Give public bounds=\{'born': \(low, high\)\} \(--bounds born=LOW:HIGH\)"):
        fit(ask("SELECT DATE_TRUNC('year', born) AS year, COUNT(*) AS n FROM visits GROUP BY 1"), PureDP(1))


@pytest.mark.parametrize(
    "price",
    [
        PureDP(0),
        ZeroConcentratedDP(0),
        ZeroConcentratedDP(0, xi=1.0),
        ApproximateDP(0, 0),
        ApproximateDP(0, 1e-6),
        ApproximateDP(1, 1),
        1.0,
        None,
    ],
    ids=repr,
)
@pytest.mark.parametrize("keys", [KNOWN, {}], ids=["known", "unknown"])
def test_a_price_that_buys_nothing_is_refused(ask, price, keys):
    with pytest.raises(QuestionError, match="Expected a price of pure"):
        fit(ask(by_ward(1), **keys), price)


@pytest.mark.parametrize(
    "price",
    [
        PureDP(5e-324),
        PureDP(1e-310),
        ZeroConcentratedDP(5e-324),
        ApproximateDP(5e-324, 1e-6),
        ApproximateDP(1e-310, 1e-6),
        ApproximateDP(1, 5e-324),
    ],
    ids=repr,
)
@pytest.mark.parametrize("keys", [KNOWN, {}], ids=["known", "unknown"])
def test_a_price_too_small_to_share_is_refused_or_shared(ask, price, keys):
    """A division that ends at 0 or an error beyond every float is the question's mistake, not the program's."""
    try:
        plan = fit(ask(by_ward(2), **keys), price)
    except QuestionError:
        return
    assert all(math.isfinite(column.error()) for column in plan.columns)
    assert plan.promise().covers(plan.price)


@pytest.mark.parametrize(
    "price",
    [PureDP(LEAST), ZeroConcentratedDP(LEAST), ApproximateDP(LEAST, LEAST), ApproximateDP(1, LEAST)],
    ids=repr,
)
def test_the_least_price_buys_an_answer(ask, price):
    plan = fit(ask(by_ward(5), **KNOWN), price)
    assert all(math.isfinite(column.error()) for column in plan.columns)
    assert plan.promise().covers(price)
    below = [
        replace(price, **{name: math.nextafter(LEAST, 0)}) for name in asdict(price) if getattr(price, name) == LEAST
    ]
    for less in below:
        with pytest.raises(QuestionError, match="Choose a price in that range"):
            fit(ask(by_ward(5), **KNOWN), less)


@pytest.mark.parametrize(
    ("changed", "lost"),
    [
        ({"bounds": {"cost": (0, 1e308)}, "granularity": {}}, "c"),
        ({"max_rows_per_group": 10**400}, "a, c"),
    ],
    ids=["wide bounds", "many rows"],
)
@pytest.mark.parametrize("price", [PureDP(1), ZeroConcentratedDP(0.5), ApproximateDP(1, 1e-6)], ids=repr)
def test_an_error_beyond_every_float_is_refused(ask, price, changed, lost):
    with pytest.raises(QuestionError, match=rf"the error of {lost} exceeds 1.8e\+308"):
        fit(ask(by_ward(3), **KNOWN, **changed), price)


@pytest.mark.parametrize("xi", [0.5, 1e-300])
def test_a_price_with_an_offset_is_refused(ask, xi):
    with pytest.raises(QuestionError, match=r"without ξ.*Leave ξ out"):
        fit(ask(by_ward(1), **KNOWN), ZeroConcentratedDP(0.5, xi=xi))
    assert fit(ask(by_ward(1), **KNOWN), ZeroConcentratedDP(0.5, xi=0)).price == ZeroConcentratedDP(0.5)


def test_a_delta_that_is_not_needed_is_not_charged(ask):
    assert fit(ask(by_ward(1), **KNOWN), ApproximateDP(1, 1e-6)).price == ApproximateDP(1, 0)
    gaussian = fit(ask(by_ward(5), **KNOWN), ApproximateDP(5, 1e-3))
    assert (gaussian.price, gaussian.finite_tail()) == (ApproximateDP(5, 1e-3), 1e-3)
    assert fit(ask(by_ward(1)), ApproximateDP(1, 1e-6)).price == ApproximateDP(1, 1e-6)


@pytest.mark.parametrize("price", [PureDP(1), ZeroConcentratedDP(0.5), ApproximateDP(5, 1e-3)], ids=repr)
def test_nothing_is_exposed_outright_with_known_keys(ask, price):
    plan = fit(ask(by_ward(5), **KNOWN), price)
    assert (plan.threshold, plan.infinite_mass()) == (None, 0.0)


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("price", [ApproximateDP(1, 1e-6), ApproximateDP(5, 1e-3), ApproximateDP(0.1, 1e-9)], ids=repr)
def test_the_mass_at_infinity_is_apart_from_the_tail(ask, price, columns):
    plan = fit(ask(by_ward(columns)), price)
    assert plan.threshold is not None
    assert plan.infinite_mass() == plan.threshold.promise().delta > 0
    gaussian = isinstance(plan.noisy[0].noise, RoundedGaussian)
    keys = price.delta / 2 if gaussian else price.delta
    if plan.shared_delta:  # with other data, all of δ is for losses that are finite
        assert plan.finite_tail() == price.delta
    else:
        assert exact(plan.infinite_mass()) + exact(plan.finite_tail()) <= exact(price.delta)
        assert (plan.finite_tail() > 0) is gaussian
    assert plan.shared_delta is isinstance(plan.threshold, PartitionSelection)
    if isinstance(plan.threshold, PartitionSelection):
        assert plan.threshold.promise().delta == keys
    else:  # The threshold could not be one lower.
        assert replace(plan.threshold, least=plan.threshold.least - 1).promise().delta > keys


def test_the_threshold_guards_every_group_of_a_person(ask):
    """The optimal selection for few groups, Gaussian noise for more."""
    for groups, kind in ((1, PartitionSelection), (7, GaussianThreshold)):
        plan = fit(ask(by_ward(1), max_groups=groups), ApproximateDP(1, 1e-6))
        plan.check()
        assert isinstance(plan.threshold, kind)
        if isinstance(plan.threshold, PartitionSelection):
            assert plan.threshold.keys == groups
        else:
            assert plan.threshold.groups == groups
            assert exact(plan.threshold.noise.sensitivity) ** 2 >= groups


def test_the_chosen_threshold_has_the_least_error_of_all(ask):
    """Every other plan that the price could pay has a larger sum of errors."""
    for groups, columns in product((1, 4, 40), (1, 3)):
        query, price = ask(by_ward(columns), max_groups=groups), ApproximateDP(1, 1e-6)
        candidates = fitting._with_threshold(query, price)
        assert len({type(plan.threshold) for plan in candidates}) >= 2
        for plan in candidates:
            plan.check()
        assert fitting.total_error(fit(query, price)) == min(map(fitting.total_error, candidates))


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("groups", [1, 7])
@pytest.mark.parametrize("price", OUTSIDE, ids=repr)
def test_unknown_keys_outside_an_event(ask, price, groups, columns):
    """Each column and the keys have an equal share of ρ; the keys have all of δ, and no threshold could be lower.

    A threshold that shows the number of people has the share of that column.
    """
    plan = fit(ask(by_ward(columns), max_groups=groups), price)
    plan.check()
    assert plan.price == price
    assert isinstance(plan.threshold, GaussianThreshold)
    promise = plan.promise()
    assert isinstance(promise, ApproximateZeroConcentratedDP)
    assert promise.rho == pytest.approx(price.rho, rel=1e-9)
    assert promise.rho <= price.rho
    assert plan.infinite_mass() == plan.threshold.promise().delta == promise.delta <= price.delta
    assert replace(plan.threshold, least=plan.threshold.least - 1).promise().delta > price.delta
    shares = [noise.cost() for noise in (*(each.noise for each in plan.noisy), plan.threshold.noise)]
    parts = columns + (plan.counted is None)
    assert (plan.counted is None) is (columns == 1)
    assert all(float(share) == pytest.approx(price.rho / parts, rel=1e-9) for share in shares)
    first, *others = plan.measurements
    noise: Any = first.mechanism
    less = replace(first, mechanism=replace(noise, sigma=noise.sigma * Fraction(99, 100)))
    lower = replace(others[-1], mechanism=replace(plan.threshold, least=plan.threshold.least - 1))
    for broken in ((less, *others), (first, *others[:-1], lower)):
        with pytest.raises(InvalidPromise, match="bug in Sitr"):
            replace(plan, measurements=broken).check()


def test_known_keys_outside_an_event_cost_no_delta(ask):
    known, same = (fit(ask(by_ward(2), **KNOWN), price) for price in (OUTSIDE[0], ZeroConcentratedDP(OUTSIDE[0].rho)))
    assert known.measurements == same.measurements
    assert known.price == ApproximateZeroConcentratedDP(OUTSIDE[0].rho, 0.0)
    known.check()


# Which noise


@pytest.mark.parametrize(
    ("columns", "groups", "price", "keys", "noise"),
    [
        (1, 1, ApproximateDP(1, 1e-6), KNOWN, Laplace),
        (5, 6, ApproximateDP(1, 1e-6), KNOWN, RoundedGaussian),
        (1, 1, ApproximateDP(1, 1e-6), {}, Laplace),
        (1, 100, ApproximateDP(1, 1e-6), {}, RoundedGaussian),
        (1, 1, OUTSIDE[0], {}, Gaussian),
        (5, 6, ApproximateDP(1, 0), KNOWN, Laplace),
    ],
)
def test_an_approximate_price_buys_the_better_noise(ask, columns, groups, price, keys, noise):
    plan = fit(ask(by_ward(columns), max_groups=groups, **keys), price)
    assert {type(term.noise) for term in plan.noisy} == {noise}


@pytest.mark.parametrize("groups", [1, 2, 4, 6])
@pytest.mark.parametrize("columns", [1, 3, 5])
def test_neither_noise_alone_would_be_better(ask, columns, groups):
    price = ApproximateDP(1, 1e-6)
    question = ask(by_ward(columns), max_groups=groups, **KNOWN)
    chosen = fit(question, price)
    for other in (fit(question, PureDP(1)), fit(question, ZeroConcentratedDP.fitting(price))):
        assert all(mine.error() <= theirs.error() for mine, theirs in zip(chosen.columns, other.columns, strict=True))


# The error


def coverage(noise: Noise, width: int) -> float:
    """P(|Y| ≤ width), by summing the law."""
    if isinstance(noise, Laplace):
        weights = [math.exp(-y / noise.scale) for y in range(60 * math.ceil(noise.scale))]
    elif isinstance(noise, RoundedGaussian):
        return math.erf((width + 0.5) / (math.sqrt(2) * noise.size))
    else:
        weights = [math.exp(-(y**2) / (2 * noise.size**2)) for y in range(12 * math.ceil(noise.size) + 12)]
    return (2 * math.fsum(weights[: width + 1]) - 1) / (2 * math.fsum(weights) - 1)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("price", [PureDP(1), ZeroConcentratedDP(0.5), ApproximateDP(5, 1e-3)], ids=repr)
def test_the_error_is_the_quantile_of_the_noise_in_the_columns_unit(ask, price, confidence):
    plan = fit(ask(by_ward(5), **KNOWN), price)
    for column, granule in zip(plan.columns, [1, 1, 0.5, 1, 1], strict=True):
        (term,) = column.measured
        assert term.granularity == Fraction(granule)
        width = column.error(confidence=confidence) / granule
        assert width == int(width)
        assert coverage(term.noise, int(width) - 1) < confidence <= coverage(term.noise, int(width))


def spread(plan) -> list[Fraction]:
    """The scale of the noise of every column, in its unit."""
    return [
        exact(term.noise.scale if isinstance(term.noise, Laplace) else term.noise.size) * term.granularity
        for term in plan.noisy
    ]


@pytest.mark.parametrize(
    ("changed", "laplace", "gaussian"),
    [
        ({"max_rows_per_group": 6}, [2, 1, 2, 2, 2], [2, 1, 2, 2, 2]),
        ({"max_groups": 4}, [2] * 5, [math.sqrt(2)] * 5),
        ({"bounds": {"cost": (0, 20), "days": (-4, 10)}}, [1, 1, 2, 2, 1], [1, 1, 2, 2, 1]),
        ({"bounds": {"cost": (-10, 10), "days": (-10, 5)}}, [1, 1, 1, 2, 1], [1, 1, 1, 2, 1]),
        ({"granularity": {"cost": 0.125}}, [1] * 5, [1] * 5),
    ],
)
def test_noise_grows_with_what_one_person_can_do(ask, changed, laplace, gaussian):
    for price, factors in ((PureDP(0.1), laplace), (ZeroConcentratedDP(0.005), gaussian)):
        before = fit(ask(by_ward(5), **KNOWN), price)
        after = fit(ask(by_ward(5), **KNOWN, **changed), price)
        for factor, old, new in zip(factors, spread(before), spread(after), strict=True):
            assert new / old == pytest.approx(factor, rel=1e-9)
        for factor, thin, wide in zip(factors, before.columns, after.columns, strict=True):
            # Whole granules: the width of a discrete law is within two of its scale times a constant.
            slack = 2 * (1 + factor) * float(thin.measured[0].granularity)
            assert wide.error() == pytest.approx(factor * thin.error(), abs=slack)


@pytest.mark.parametrize(
    ("price", "half", "factor"),
    [
        (PureDP(0.2), PureDP(0.1), 2),
        (ZeroConcentratedDP(0.02), ZeroConcentratedDP(0.01), math.sqrt(2)),
        (ApproximateDP(0.2, 0), ApproximateDP(0.1, 0), 2),
    ],
)
def test_noise_shrinks_with_the_price(ask, price, half, factor):
    question = ask(by_ward(3), **KNOWN)
    for dear, cheap in zip(spread(fit(question, price)), spread(fit(question, half)), strict=True):
        assert cheap / dear == pytest.approx(factor, rel=1e-9)


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_columns_share_the_price_equally(ask, columns):
    for price, factor in ((PureDP(0.2), columns), (ZeroConcentratedDP(0.02), math.sqrt(columns))):
        alone = spread(fit(ask(by_ward(1), **KNOWN), price))[0]
        shared = spread(fit(ask(by_ward(columns), **KNOWN), price))[0]
        assert shared / alone == pytest.approx(factor, rel=1e-9)


def test_unknown_keys_cost_the_share_of_one_more_column(ask):
    sql = "SELECT ward, COUNT(*) AS a, SUM(days) AS b FROM visits GROUP BY ward"
    known, unknown = (fit(ask(sql, max_groups=1, **keys), ApproximateDP(0.3, 1e-9)) for keys in (KNOWN, {}))
    for with_keys, without in zip(spread(known), spread(unknown), strict=True):
        assert without / with_keys == pytest.approx(1.5, rel=1e-9)
    assert isinstance(unknown.threshold, PartitionSelection)
    assert unknown.threshold.promise().epsilon == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-24, 1e-100])
@pytest.mark.parametrize("column", ["COUNT(*)", "MEDIAN(cost)"])
def test_a_faint_price_is_fitted_without_a_search(ask, epsilon, column):
    """The promises, added up, prove that the price is kept, and no smaller one."""
    plan = fit(ask(f"SELECT ward, {column} AS n FROM visits GROUP BY ward"), ApproximateDP(epsilon, 1e-8))
    plan.check()
    assert plan.promise().covers(plan.price)
    promise = plan.promise()
    assert isinstance(promise, ApproximateDP)
    assert promise.epsilon > 0.99 * epsilon
    assert plan._added(ApproximateDP(epsilon, 1e-8))
    assert not plan._added(ApproximateDP(epsilon, 0.9e-8))
    assert not plan._added(ApproximateDP(0.9 * epsilon, 1e-8))
