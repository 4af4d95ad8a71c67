"""Curves that are known exactly, of randomized response and of Gaussian noise, judge everything here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.curve import CurveSum, Grouped, PointCurve
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP, ResponseCurve
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import Line, ZeroConcentratedDP
from sitr.numbers import ball, exact, upward

orders = st.floats(1.01, 200)
deltas = st.floats(1e-15, 0.9)


@dataclass(frozen=True)
class Unbounded:
    """A curve of which nothing is known."""

    def __call__(self, _order: float, /) -> float:
        return math.inf


def sampled(curve: ResponseCurve | Line, at: list[float]) -> RenyiDP:
    return RenyiDP.at({order: curve(order) for order in at})


# Tables


@pytest.mark.parametrize("order", [Fraction(10, 3), Fraction(7, 5), 3])
def test_an_order_without_a_float_becomes_a_lower_one(order):
    table = RenyiDP.at({order: 1.0}).curve
    assert isinstance(table, PointCurve)
    assert exact(table.points[0][0]) <= order


@pytest.mark.parametrize(
    "points",
    [{}, {1: 0.1}, {0.5: 0.1}, {math.inf: 1}, {math.nan: 1}, {True: 1}, {"2": 1}, {1 + Fraction(1, 10**30): 1}],
)
def test_orders_that_cannot_be(points):
    with pytest.raises(InvalidPromise, match="orders above 1"):
        RenyiDP.at(points)


@pytest.mark.parametrize("epsilon", [-1, math.nan, math.inf, None])
def test_bounds_that_cannot_be(epsilon):
    with pytest.raises(InvalidPromise):
        RenyiDP.at({2: epsilon})


def test_a_number_is_no_curve():
    with pytest.raises(InvalidPromise, match=r"RenyiDP\.at"):
        RenyiDP(0.5)  # type: ignore[arg-type]


# Sums


bounds = st.just(0.0) | st.floats(1e-100, 100)
tables = st.dictionaries(orders, bounds, min_size=1, max_size=4).map(RenyiDP.at)


@given(tables, tables, orders)
def test_a_sum_of_tables_is_the_table_of_the_sums(first, second, order):
    """Also where their orders differ: nothing is lost between them, and it ends where the shorter one does."""
    whole = first + second
    assert isinstance(whole.curve, PointCurve)
    parts = first.curve(order) + second.curve(order)
    assert whole.curve(order) == pytest.approx(parts, rel=1e-13, abs=0)
    assert whole.curve(order) >= parts * (1 - 1e-15)


def test_sums_of_curves_are_flat_and_have_no_order():
    a, b, c = Line(0.1, 0.0), ResponseCurve(0.5), PointCurve(((2.0, 0.3),))
    whole = RenyiDP(a) + RenyiDP(b) + RenyiDP(c) + RenyiDP(a) * 3
    assert isinstance(whole.curve, CurveSum)
    assert dict(whole.curve.terms) == {a: 4, b: 1, c: 1}
    assert whole == RenyiDP.compose([RenyiDP(curve) for curve in (c, a, a, b, a, a)])
    assert whole.curve(2.0) == upward(exact(0.8) + exact(b(2.0)) + exact(0.3))
    assert (whole * 2).curve(2.0) == pytest.approx(2 * whole.curve(2.0), rel=1e-15)


def test_a_sum_is_infinite_where_a_part_is():
    assert math.isinf((RenyiDP(Unbounded()) + RenyiDP(Line(0.1, 0.0))).curve(2.0))
    assert math.isinf((RenyiDP(Line(1e308, 0.0)) * 100).curve(2.0))
    assert (RenyiDP.at({2: 1e308, 1.5: 1.0}) * 100).curve(1.5) == 100.0
    assert math.isinf((RenyiDP.at({2: 1e308, 1.5: 1.0}) * 100).curve(2.0))


def test_nothing_costs_nothing():
    assert RenyiDP.compose([]).curve(7.0) == 0.0


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_repeated_responses_lose_what_their_product_does(epsilon):
    """Four independent answers: the moment of the product is the product of the moments."""
    bound = (PureDP(epsilon).to_renyi() * 4).curve(3.0)
    with ctx.workprec(200):
        p = 1 / (1 + (-ball(epsilon)).exp())
        one = p**3 * (1 - p) ** -2 + (1 - p) ** 3 * p**-2
        moment = (one**4).log() / 2
        assert moment <= ball(bound) <= moment * (1 + ball(1e-15))


# Arrows


@cache
def scanned(promise: RenyiDP) -> list[tuple[float, float]]:
    """The curve at many orders up to a million."""
    orders = (*(1 + np.exp(np.linspace(-6.9, 13.8, 2101))).tolist(), 2.0, 8.0, 32.0)
    return [(alpha, promise.curve(alpha)) for alpha in orders]


def best(promise: RenyiDP, delta: float, *, published: bool) -> float:
    """A dense scan of the orders, independent of the library's search."""
    found = math.inf
    for alpha, bound in scanned(promise):
        gain = 0.0 if published else math.log1p(-1 / alpha) - math.log(alpha) / (alpha - 1)
        found = min(found, bound + gain - math.log(delta) / (alpha - 1))
    return max(0.0, found)


CURVES = [
    ZeroConcentratedDP(0.5).to_renyi(),
    PureDP(0.3).to_renyi() * 20,
    RenyiDP.at({2: 0.1, 8: 0.5, 32: 2.5}),
    RenyiDP.at({8: 0.4}),
    ZeroConcentratedDP(0.01).to_renyi() + PureDP(1.0).to_renyi(),
]


@pytest.mark.parametrize("promise", CURVES)
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.5])
def test_both_arrows_are_the_best_over_all_orders(promise, delta):
    tight = promise.to_approximate(delta=delta).epsilon
    assert tight <= best(promise, delta, published=False) * (1 + 1e-9) + 1e-12
    published, least = promise.to_approximate_as_published(delta=delta).epsilon, best(promise, delta, published=True)
    assert least * (1 - 1e-4) <= published <= least * (1 + 1e-9)


@given(tables, deltas)
def test_the_published_arrow_is_never_better(promise, delta):
    tight, published = promise.to_approximate(delta=delta), promise.to_approximate_as_published(delta=delta)
    assert tight.epsilon <= published.epsilon


def test_the_published_arrow_is_worse_by_what_it_leaves_out():
    """ln(α − 1)/α and ln α/(α − 1) at order 8: 1.4391… below 2.0447…"""
    promise = RenyiDP.at({8: 0.4})
    gap = math.log(8 / 7) + math.log(8) / 7
    published = promise.to_approximate_as_published(delta=1e-5).epsilon
    assert published == pytest.approx(0.4 + math.log(1e5) / 7, rel=1e-14)
    assert published - promise.to_approximate(delta=1e-5).epsilon == pytest.approx(gap, rel=1e-12)


@given(st.floats(1e-4, 10), st.floats(1e-12, 0.4))
def test_a_line_converts_as_its_promise_does(rho, delta):
    promise = ZeroConcentratedDP(rho)
    moments = promise.to_renyi().to_approximate(delta=delta).epsilon
    assert moments == pytest.approx(promise.to_approximate(delta=delta).epsilon, rel=1e-8, abs=1e-12)


@given(st.floats(0.05, 5), st.lists(orders, min_size=1, max_size=5, unique=True), deltas)
def test_gaussian_noise_keeps_the_arrow_of_its_table(mu, at, delta):
    promise = RenyiDP.at({order: GaussianDP(mu).to_renyi().curve(order) for order in at})
    assert GaussianDP(mu).delta(epsilon=promise.to_approximate(delta=delta).epsilon) <= delta


def test_an_order_below_the_table_can_be_the_best():
    """For a constant bound the best order is 1/δ, which a table that starts at 8 must not overlook."""
    assert RenyiDP.at({8: 2.0}).best_order(delta=0.2) == pytest.approx(5.0, rel=1e-4)
    assert RenyiDP.at({8: 2.0}).best_order(delta=1e-6) == 8.0


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan, True, "0.1"])
def test_the_arrow_wants_a_delta(delta):
    with pytest.raises(InvalidPromise, match="0 < delta < 1"):
        RenyiDP.at({2: 0.1}).to_approximate(delta=delta)


@pytest.mark.parametrize("promise", [RenyiDP(Unbounded()), RenyiDP.at({3: 0.1}).for_group(2)])
def test_a_curve_that_is_nowhere_finite_has_no_arrow(promise):
    with pytest.raises(InvalidPromise, match="finite at some order"):
        promise.to_approximate(delta=1e-6)
    assert not promise.covers(ApproximateDP(100.0, 0.5))
    assert promise.covers(ApproximateDP(0.0, 1.0))


@pytest.mark.parametrize("bound", [0.0, 5e-324, 1e300])
def test_extreme_bounds_convert(bound):
    assert RenyiDP.at({2: bound}).to_approximate(delta=1e-6).epsilon >= bound


# Groups


def test_a_group_is_rounded_up_to_a_power_of_two():
    promise = RenyiDP.at({2: 0.1, 8: 0.5, 32: 3.0})
    assert promise.for_group(1) is promise
    assert promise.for_group(2).curve(4.0) == 1.5
    assert promise.for_group(3) == promise.for_group(4) == RenyiDP(Grouped(promise.curve, 2))
    assert promise.for_group(4).curve(8.0) == 27.0
    assert promise.for_group(4).curve(2.0) == 4.5
    assert math.isinf(promise.for_group(4).curve(8.1))


def test_below_order_two_the_bound_at_two_holds():
    group = RenyiDP.at({8: 0.5}).for_group(2)
    assert group.curve(1.01) == group.curve(2.0) == 3 * RenyiDP.at({8: 0.5}).curve(4.0)


@given(st.floats(1.01, 20), st.integers(1, 16))
def test_a_group_of_gaussian_shifts_loses_no_more(order, size):
    """s people move the centre s times as far: D_α = αρs², exactly."""
    assert ZeroConcentratedDP(0.01).to_renyi().for_group(size).curve(order) >= 0.01 * order * size**2 * (1 - 1e-14)


@given(
    st.lists(st.lists(st.integers(1, 30), min_size=3, max_size=3), min_size=5, max_size=5),
    st.sampled_from([1.25, 2, 3, 20]),
)
def test_a_group_bounds_every_chain(masses, order):
    """Any five laws in a row, a group of four: the ends keep what the largest moment of a step says of them."""
    chain = [[ball(Fraction(m, sum(law))) for m in law] for law in masses]

    def divergence(p: list[arb], q: list[arb], alpha: float) -> arb:
        moment = sum(
            ((ball(alpha) * a.log() + (1 - ball(alpha)) * b.log()).exp() for a, b in zip(p, q, strict=True)), arb(0)
        )
        return moment.log() / (ball(alpha) - 1)

    far = 4 * max(order, 2.0)
    step = max(divergence(p, q, far) for a, b in pairwise(chain) for p, q in ((a, b), (b, a)))
    with ctx.workprec(200):
        assert not divergence(chain[0], chain[-1], order) > 9 * step
    assert RenyiDP.at({far: 1.0}).for_group(4).curve(order) == 9.0


def test_groups_beyond_all_floats_are_promised_nothing():
    assert math.isinf(ZeroConcentratedDP(0.1).to_renyi().for_group(10**400).curve(2.0))
    assert math.isinf(PureDP(1.0).to_renyi().for_group(10**200).curve(2.0))


# What it covers


@given(tables, tables)
def test_covers_a_table_that_is_nowhere_lower(first, second):
    points = second.curve.points
    assert first.covers(second) == all(first.curve(order) <= epsilon for order, epsilon in points)


def test_covers_what_follows_between_its_orders():
    assert RenyiDP.at({4: 0.1}).covers(RenyiDP.at({2: 0.1, 3: 0.1}))
    assert not RenyiDP.at({4: 0.1}).covers(RenyiDP.at({5: 9.0}))


def test_a_curve_covers_sums_that_contain_it():
    line, response = ZeroConcentratedDP(0.1).to_renyi(), PureDP(0.5).to_renyi()
    assert line.covers(line + response)
    assert (line * 2).covers(line * 3 + response)
    assert not (line * 3).covers(line * 2 + response)
    assert RenyiDP.compose([]).covers(line)
    assert not line.covers(RenyiDP.compose([]))


def test_covers_tails_through_its_arrow_and_no_largest_loss():
    promise = RenyiDP.at({8: 0.4})
    converted = promise.to_approximate(delta=1e-5)
    assert promise.covers(converted)
    assert promise.covers(PrivacyProfile(((converted.epsilon, 1e-5), (converted.epsilon + 2, 1e-8))))
    assert not promise.covers(ApproximateDP(converted.epsilon - 1e-9, 1e-5))
    assert not promise.covers(ApproximateDP(100.0, 0.0))
    assert not promise.covers(PureDP(100.0))
    assert not promise.covers(ZeroConcentratedDP(100.0))
    assert not promise.covers(GaussianDP(100.0))


# Form


def test_a_table_is_shown_as_it_is_written():
    assert repr(RenyiDP.at({8: 0.5, 2: 0.1})) == "RenyiDP.at({2.0: 0.1, 8.0: 0.5})"
    assert repr(PureDP(1.0).to_renyi()) == "RenyiDP(ResponseCurve(epsilon=1.0))"


def test_flavors_do_not_mix():
    with pytest.raises(IncompatiblePromises, match="of the flavor RenyiDP"):
        RenyiDP.at({2: 0.1}) + PureDP(1.0)  # type: ignore[operator]
