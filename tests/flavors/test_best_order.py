"""No order is better than the one that is found."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitr.flavors.best_order import MANY, published, tight
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP

searched = st.dictionaries(st.floats(1.01, 200), st.floats(1e-4, 5), min_size=1, max_size=5)


@given(searched, st.floats(-30, -0.1).map(math.exp))
def test_no_order_is_better_for_a_table(points, delta):
    promise = RenyiDP.at(points)
    last = max(points)
    orders = [1 + (last - 1) * i / 300 for i in range(1, 301)]
    for arrow, found in (
        (tight, promise.to_approximate(delta=delta).epsilon),
        (published, promise.to_approximate_as_published(delta=delta).epsilon),
    ):
        others = [arrow(order, promise.curve(order), math.log(delta), math.log) for order in orders if order <= last]
        assert found <= max(0.0, min(others)) * (1 + 1e-12) + 1e-12


@dataclass(frozen=True)
class Square:
    """A curve with (α − 1)D_α convex, whose best order can be anywhere."""

    size: float

    def __call__(self, order, /):
        return self.size * order**2


@given(st.floats(-40, 5).map(math.exp), st.floats(-300, -0.1).map(math.exp))
@example(1e-9, 1e-12)
def test_no_order_on_a_fine_ladder_is_better_for_a_smooth_curve(size, delta):
    promise = RenyiDP(Square(size))
    orders = [1 + 2 ** (i / 16) for i in range(-200, 300)]
    for arrow, order in (
        (tight, promise.best_order(delta=delta)),
        (published, promise.best_order_as_published(delta=delta)),
    ):
        costs = [arrow(other, promise.curve(other), math.log(delta), math.log) for other in (order, *orders)]
        assert costs[0] <= min(costs) + 1e-9 * abs(min(costs)) + 1e-12


def test_a_curve_that_ends_is_searched_before_its_end():
    @dataclass(frozen=True)
    class Ending:
        def __call__(self, order, /):
            return 0.01 * order if order <= 3.0 else math.inf

    found = RenyiDP(Ending())
    assert found.best_order(delta=1e-6) == pytest.approx(3.0, rel=1e-6)
    assert found.to_approximate(delta=1e-6).epsilon == RenyiDP.at({3.0: 0.03}).to_approximate(delta=1e-6).epsilon


@pytest.mark.parametrize("last", [1.00001, 1.3, 7.7, 100.3])
@pytest.mark.parametrize("others", [1, MANY])
def test_a_sum_with_a_table_is_looked_at_where_the_table_ends(last, others):
    curves = [RenyiDP.at({last: 1e-6}), *(PureDP(1e-4 + i * 1e-6).to_renyi() for i in range(others))]
    whole = RenyiDP.compose(curves)
    assert whole.best_order(delta=1e-9) == last
    alone = RenyiDP.at({last: whole.curve(last)})
    assert whole.to_approximate(delta=1e-9) == alone.to_approximate(delta=1e-9)
