"""Bounds on moments of the loss as curves: tables of orders, sums, and groups."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sitr.dataclass import dataclass
from sitr.flavors.promise import Points, ceiling
from sitr.numbers import Interval, exact, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss


class Curve(Hashable, Protocol):
    """A bound on D_α for every order α > 1, rounded up; infinite where nothing is known. A frozen, hashable value."""

    def __call__(self, order: float, /) -> float:
        """The bound at this order."""


@runtime_checkable
class Comparable(Protocol):
    """A curve that is equivalent to a promise of another flavor, so that a loss is compared with it at all orders."""

    def excess(self, loss: Loss, /, *, relative: float) -> Interval:
        """ln(lost/allowed), over all orders."""

    def largest_loss(self) -> float | None:
        """The largest loss that the curve allows; None if it sets no limit."""


@dataclass(frozen=True, slots=True)
class PointCurve:
    """Bounds at a few orders. Between them (α − 1)D_α, which is convex in α and 0 at α = 1, lies below its chords.

    A bound that lies above the chord of two others is replaced by that chord.      [vEH14, Cor. 2]

    >>> PointCurve(((2.0, 0.5), (4.0, 1.0)))(3.0), PointCurve(((2.0, 0.5), (4.0, 0.1)))(2.0)
    (0.875, 0.1)
    """

    points: Points

    def __call__(self, order: float, /) -> float:
        return upward(chord(self.points, exact(order))) if exact(order) <= exact(self.points[-1][0]) else math.inf


def chord(points: Points, alpha: Fraction) -> Fraction:
    """The bound at an order up to the last one, exactly."""
    known = corners(points)
    place = bisect_left(known, (alpha,))
    (x, low), (y, high) = known[place - 1], known[place]
    return (low + (high - low) * (alpha - x) / (y - x)) / (alpha - 1)


@lru_cache(maxsize=4096)
def corners(points: Points) -> tuple[tuple[Fraction, Fraction], ...]:
    """The corners of the convex envelope of (α, (α − 1)ε), from (1, 0) to the last order."""
    found = [(Fraction(1), Fraction(0))]
    for order, epsilon in points:
        x, y = exact(order), (exact(order) - 1) * exact(epsilon)
        while len(found) > 1 and _turns_down(found[-2], found[-1], (x, y)):
            found.pop()
        found.append((x, y))
    return tuple(found)


def _turns_down(*points: tuple[Fraction, Fraction]) -> bool:
    (a, low), (b, middle), (c, high) = points
    return (middle - low) * (c - a) >= (high - low) * (b - a)


@dataclass(frozen=True, slots=True)
class CurveSum:
    """The sum of curves, each with a number of times."""

    terms: tuple[tuple[Curve, int], ...]

    def __call__(self, order: float, /) -> float:
        return _sum_at(self.terms, order)


@lru_cache(maxsize=1024)  # slow for many curves, and used by several conversions at several δ
def _sum_at(terms: tuple[tuple[Curve, int], ...], order: float) -> float:
    values = [(curve(order), times) for curve, times in terms]
    if any(math.isinf(value) for value, _ in values):
        return math.inf
    return ceiling(sum((exact(value) * times for value, times in values), Fraction(0)))


@dataclass(frozen=True, slots=True)
class Grouped:
    """The curve for groups of 2^c people: order α costs 3^c times what order 2^c·α did, for α ≥ 2.  [Mir17, Prop. 2]

    Below order 2 the bound at 2 holds: D_α grows with α.      [vEH14, Thm 3]
    """

    curve: Curve
    doublings: int

    def __call__(self, order: float, /) -> float:
        far = ceiling(exact(max(order, 2.0)) * 2**self.doublings)
        inner = self.curve(far) if math.isfinite(far) else math.inf
        return inner if math.isinf(inner) else ceiling(3**self.doublings * exact(inner))


def terms_of(curve: Curve) -> dict[Curve, int]:
    """The curves of a sum, each with a number of times; any other curve is its only term."""
    return dict(curve.terms) if isinstance(curve, CurveSum) else {curve: 1}


def curve_sum(parts: list[tuple[Curve, int]]) -> Curve:
    """One flat sum in a fixed order; a sum of tables is a table again, as far as the shortest of them goes."""
    terms: dict[Curve, int] = {}
    for curve, times in parts:
        for inner, inside in terms_of(curve).items():
            terms[inner] = terms.get(inner, 0) + times * inside
    if list(terms.values()) == [1]:
        return next(iter(terms))
    tables = [(curve.points, times) for curve, times in terms.items() if isinstance(curve, PointCurve)]
    if not tables or len(tables) < len(terms):
        return CurveSum(tuple(sorted(terms.items(), key=repr)))
    # Each table is linear between its orders, so their sum is linear between all of them: nothing is lost.
    last = min(points[-1][0] for points, _ in tables)
    orders = sorted({order for points, _ in tables for order, _ in points if order <= last})
    sums = [(order, sum(chord(points, exact(order)) * times for points, times in tables)) for order in orders]
    return PointCurve(
        tuple((order, bound) for order, exactly in sums if math.isfinite(bound := ceiling(Fraction(exactly))))
    )
