"""Rényi differential privacy: one moment of the loss at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise, count, implies_around, incompatible, parameter
from sitr.loss.bounds import Number, ball, exact, upper, upward

ORDERS = tuple(1 + x for x in (2.0 ** (i / 4) for i in range(-40, 81)))
"""Orders from 1.001 to about a million, four to a doubling of α − 1: where a curve is looked at."""


class Curve(Protocol):
    """A bound on D_α for every order α > 1, rounded up; infinite where nothing is known. A frozen, hashable value."""

    def __call__(self, order: float, /) -> float:
        """The bound at this order."""


@dataclass(frozen=True, slots=True)
class Table:
    """Bounds at a few orders. Between them (α − 1)D_α, which is convex in α and 0 at α = 1, lies below its chord.

    [vEH14, Cor. 2 and Thm 3: D_α grows with α]

    >>> Table(((2.0, 0.5), (4.0, 1.0)))(3.0)
    0.875
    """

    points: tuple[tuple[float, float], ...]

    def __call__(self, order: float, /) -> float:
        left = (Fraction(1), Fraction(0))
        for alpha, epsilon in self.points:
            right = (exact(alpha), (exact(alpha) - 1) * exact(epsilon))
            if exact(order) <= right[0]:
                share = (exact(order) - left[0]) / (right[0] - left[0])
                return upward((left[1] + share * (right[1] - left[1])) / (exact(order) - 1))
            left = right
        return math.inf


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of curves, each with a number of times."""

    terms: tuple[tuple[Curve, int], ...]

    def __call__(self, order: float, /) -> float:
        values = [(curve(order), times) for curve, times in self.terms]
        if any(math.isinf(value) for value, _ in values):
            return math.inf
        return upward(sum((exact(value) * times for value, times in values), Fraction(0)))


@dataclass(frozen=True, slots=True)
class Grouped:
    """The curve for groups of 2^c people: order α costs 3^c times what order 2^c·α did, for α ≥ 2.  [Mir17, Prop. 2]"""

    curve: Curve
    doublings: int

    def __call__(self, order: float, /) -> float:
        inner = self.curve(max(order, 2.0) * 2**self.doublings)
        return inner if math.isinf(inner) else upward(3**self.doublings * exact(inner))


@dataclass(frozen=True, slots=True)
class RenyiDP:
    """Moments of the loss are bounded by a curve.

    D_α(P‖Q) = ln E[exp((α−1)L)]/(α−1) ≤ curve(α), for each order α > 1.      [Mir17, Def. 4]

    >>> RenyiDP.at({2: 0.1, 8: 0.5}) + RenyiDP.at({2: 0.2, 8: 0.1})
    RenyiDP.at({2.0: 0.3, 8.0: 0.6})
    """

    curve: Curve

    @classmethod
    def at(cls, points: Mapping[float, Number]) -> RenyiDP:
        """One order or a table of orders."""
        if not points:
            raise _orders_wanted("none")
        pairs = []
        for order, epsilon in sorted(points.items()):
            if isinstance(order, bool) or not 1 < order < math.inf:
                raise _orders_wanted(repr(order))
            pairs.append((float(order), parameter(epsilon, name="epsilon", flavor="RenyiDP")))
        return cls(Table(tuple(pairs)))

    def __repr__(self) -> str:
        if isinstance(self.curve, Table):
            return f"RenyiDP.at({dict(self.curve.points)!r})"
        return f"RenyiDP({self.curve!r})"

    @classmethod
    def compose(cls, parts: Iterable[RenyiDP], /) -> RenyiDP:
        """The curves add.      [Mir17, Prop. 1]"""
        return cls(_sum([(part.curve, 1) for part in parts]))

    def __add__(self, other: RenyiDP, /) -> RenyiDP:
        if not isinstance(other, RenyiDP):
            raise incompatible(self, other)
        return self.compose((self, other))

    def __mul__(self, times: int, /) -> RenyiDP:
        return RenyiDP(_sum([(self.curve, count(times, what="The number of releases"))]))

    def for_group(self, size: int, /) -> RenyiDP:
        """For 2^c people, order α: 3^c·curve(2^c·α).  Other sizes are rounded up to such a one.  [Mir17, Prop. 2]"""
        doublings = (count(size, what="The size of a group") - 1).bit_length()
        return self if doublings == 0 else RenyiDP(Grouped(self.curve, doublings))

    def covers(self, other: Promise, /) -> bool:
        match other:
            case RenyiDP(Table(points)):
                return all(self.curve(order) <= epsilon for order, epsilon in points)
            case RenyiDP():
                return self.curve == other.curve
            case ApproximateDP() if 0.0 < other.delta < 1.0:
                return self.to_approximate(delta=other.delta).epsilon <= other.epsilon
        return implies_around(self, other)

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """ε = D_α + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), at the best order.      [CKS20, Prop. 12]

        >>> RenyiDP.at({8.0: 0.4}).to_approximate(delta=1e-5)
        ApproximateDP(epsilon=1.61..., delta=1e-05)
        """
        return ApproximateDP(max(0.0, self._best(delta, _tight)), delta)

    def to_approximate_as_published(self, *, delta: float) -> ApproximateDP:
        """ε = D_α + ln(1/δ)/(α − 1), at the best order: the moments accountant's arrow, for comparison. [ACGMMTZ16]"""
        return ApproximateDP(max(0.0, self._best(delta, _published)), delta)

    def best_order(self, *, delta: float) -> float:
        """The order at which the arrow to (ε, δ) is best."""
        log_delta = math.log(checked_delta(delta))
        orders = [point[0] for point in self.curve.points] if isinstance(self.curve, Table) else ORDERS

        def cost(order: float) -> float:
            curve = self.curve(order)
            return curve + math.log1p(-1 / order) - (log_delta + math.log(order)) / (order - 1)

        place = min(range(len(orders)), key=lambda i: cost(orders[i]))
        low, high = (orders[max(0, place - 1)], orders[min(len(orders) - 1, place + 1)])
        return min((orders[place], valley(cost, low=low, high=high)), key=cost)

    def _best(self, delta: float, arrow: Callable[[float, float, float], float]) -> float:
        order = self.best_order(delta=delta)
        curve = self.curve(order)
        if math.isinf(curve):
            raise InvalidPromise(
                wanted="A curve that is finite at some order was wanted.",
                given="This one is infinite wherever it was looked at.",
                do="Bound at least one moment, such as order 2.",
            )
        return arrow(order, curve, delta)


def _tight(order: float, curve: float, delta: float) -> float:
    alpha = ball(order)
    return upper(ball(curve) + (1 - 1 / alpha).log() - (ball(delta).log() + alpha.log()) / (alpha - 1))


def _published(order: float, curve: float, delta: float) -> float:
    return upper(ball(curve) - ball(delta).log() / (ball(order) - 1))


def checked_delta(delta: float) -> float:
    """0 < δ < 1, as every arrow from moments wants it."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0.0 < delta < 1.0:
        raise InvalidPromise(
            wanted="The arrow from moments of the loss to approximate privacy wants 0 < delta < 1.",
            given=f"{delta!r} was given.",
            do="Choose how rarely the bound may fail, such as delta=1e-6: well below one in the number of people.",
        )
    return delta


def _sum(terms: list[tuple[Curve, int]]) -> Curve:
    """One flat sum; a sum of tables with the same orders is such a table again."""
    flat: dict[Curve, int] = {}
    for curve, times in terms:
        for inner, inside in curve.terms if isinstance(curve, Total) else ((curve, 1),):
            flat[inner] = flat.get(inner, 0) + times * inside
    whole = Total(tuple(flat.items()))
    tables = [curve.points for curve in flat if isinstance(curve, Table)]
    orders = {tuple(order for order, _ in points) for points in tables}
    if len(tables) == len(flat) and len(orders) == 1:
        return Table(tuple((order, whole(order)) for order in orders.pop()))
    return whole


def valley(function: Callable[[float], float], *, low: float, high: float) -> float:
    """A good argument between two above 1, for a function with one valley, by golden section on ln(α − 1)."""
    golden = (math.sqrt(5) - 1) / 2
    a, b = math.log(low - 1), math.log(high - 1)
    left, right = b - golden * (b - a), a + golden * (b - a)
    at_left, at_right = function(1 + math.exp(left)), function(1 + math.exp(right))
    for _ in range(60):
        if at_left <= at_right:
            b, right, at_right = right, left, at_left
            left = b - golden * (b - a)
            at_left = function(1 + math.exp(left))
        else:
            a, left, at_left = left, right, at_right
            right = a + golden * (b - a)
            at_right = function(1 + math.exp(right))
    return 1 + math.exp((a + b) / 2)


def _orders_wanted(given: str) -> InvalidPromise:
    return InvalidPromise(
        wanted="RenyiDP wants orders above 1, each with a bound: RenyiDP.at({2: 0.1}).",
        given=f"{given} was given.",
        do="Choose finite orders above 1.",
    )
