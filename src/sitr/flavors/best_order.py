"""The order at which a curve of moments gives the least ε at a δ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Protocol, TypeVar

from flint import arb

from sitr.flavors.curve import Curve, CurveSum, PointCurve, corners, terms_of
from sitr.flavors.promise import Points, checked_delta
from sitr.numbers import ball, upper
from sitr.precision import precision

ORDERS = tuple(order if order < 4 else round(order) * 1.0 for order in (1 + 2.0 ** (i / 4) for i in range(-62, 81)))
"""The orders at which curves are evaluated: from 1.00002 to about a million, four per doubling of α − 1.

From 4 on they are integers, at which some moments have the tightest known bounds. Their number plus 1 is 144, a
Fibonacci number, as `_search` requires.
"""

MANY = 50
"""Sums of more curves than this are evaluated at `ORDERS` only, which is sound and hardly less tight."""

Real = TypeVar("Real", float, arb)


class Arrow(Protocol):
    """ε at one order, from α, D_α and ln δ: in floats to search for the best order, in balls to prove its ε."""

    def __call__(self, alpha: Real, moment: Real, log_delta: Real, log: Callable[[Real], Real], /) -> Real:
        """The ε."""


def tight(alpha: Real, moment: Real, log_delta: Real, log: Callable[[Real], Real], /) -> Real:
    """D_α + ln(1 − 1/α) − (ln δ + ln α)/(α − 1).      [CKS20, Prop. 12]"""
    return moment + log(1 - 1 / alpha) - (log_delta + log(alpha)) / (alpha - 1)


def published(alpha: Real, moment: Real, log_delta: Real, _log: Callable[[Real], Real], /) -> Real:
    """D_α + ln(1/δ)/(α − 1).      [ACGMMTZ16, Thm 2]"""
    return moment - log_delta / (alpha - 1)


@lru_cache(maxsize=256)
def best(curve: Curve, delta: float, arrow: Arrow) -> tuple[float, float]:
    """The least ε and its order. Every order is valid: the best one is searched in floats, and its ε is proved."""
    goal = math.log(checked_delta(delta))

    @cache
    def cost(order: float) -> float:
        return arrow(order, curve(order), goal, math.log)

    order = min(_turns(curve.points, goal) if isinstance(curve, PointCurve) else _search(curve, cost), key=cost)
    if math.isinf(bound := curve(order)):
        return math.inf, order
    with precision(256):
        return max(0.0, upper(arrow(ball(order), ball(bound), ball(delta).log(), arb.log))), order


def _turns(points: Points, log_delta: float) -> Iterator[float]:
    """The orders that can be best for a table: its corners, and zeros of the derivative on a chord.

    There (α − 1)D_α = s(α − 1) + c, and the derivative of the tight arrow has the sign of ln α + ln δ − c.
    """
    for (x, low), (y, high) in pairwise(corners(points)):
        chord = low - (high - low) / (y - x) * (x - 1)
        within = math.exp(min(float(chord) - log_delta, 700.0))
        yield from (order for order in (min(max(within, float(x)), float(y)), float(y)) if order > 1)


def _search(curve: Curve, cost: Callable[[float], float]) -> Iterator[float]:
    """Candidates, one of which is nearly the best order.

    (α − 1)D_α is convex in α, and so is the term that a conversion adds: divided by α − 1, the sum has one minimum. So
    two costs show on which side of one of them the minimum lies, and Fibonacci steps reuse one of the two costs.
    """
    start, near, far = -1, 55, 89
    while far > 1:
        if cost(ORDERS[start + near]) > cost(ORDERS[start + far]):
            start += near
        near, far = far - near, near
    place = start + 1
    yield ORDERS[place]
    tables = [inner.points for inner in terms_of(curve) if isinstance(inner, PointCurve)]
    if tables:  # the sum ends where the shortest table ends
        yield min(points[-1][0] for points in tables)
    if isinstance(curve, CurveSum) and len(curve.terms) > MANY:
        return
    low, high = ORDERS[max(0, place - 1)], ORDERS[min(len(ORDERS) - 1, place + 1)]
    yield (between := _valley(cost, low=low, high=high))
    # Tables have corners, and so have moments that are known at integer orders.
    yield from (order for points in tables for order, _ in points if low <= order <= high)
    yield from (float(order) for order in (math.floor(between), math.ceil(between)) if order > 1)


def _valley(function: Callable[[float], float], *, low: float, high: float) -> float:
    """The approximate minimum of a function with one valley, between two orders: golden section in ln(α − 1)."""
    golden = (math.sqrt(5) - 1) / 2
    a, b = math.log(low - 1), math.log(high - 1)
    left, right = b - golden * (b - a), a + golden * (b - a)
    at_left, at_right = function(1 + math.exp(left)), function(1 + math.exp(right))
    for _ in range(32):  # a cost is flat around its best order: half of a float's digits suffice
        if at_left <= at_right:
            b, right, at_right = right, left, at_left
            left = b - golden * (b - a)
            at_left = function(1 + math.exp(left))
        else:
            a, left, at_left = left, right, at_right
            right = a + golden * (b - a)
            at_right = function(1 + math.exp(right))
    return 1 + math.exp((a + b) / 2)
