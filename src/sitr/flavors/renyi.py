"""Rényi differential privacy: one moment of the loss at a time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from flint import arb, ctx

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.meaning import KEPT, RELATIVE, above, decided, ratio, worst
from sitr.flavors.promise import LARGEST, Promise, ceiling, count, implies_around, incompatible, parameter
from sitr.numbers import Interval, Number, ball, downward, exact, upper, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

ORDERS = tuple(order if order < 4 else round(order) * 1.0 for order in (1 + 2.0 ** (i / 4) for i in range(-62, 81)))
"""The orders at which curves are evaluated: from 1.00002 to about a million, four per doubling of α − 1.

From 4 on they are integers, at which some moments are known best. Their number plus 1 is 144, a Fibonacci number.
"""

COMPARED = (1.01, 1.5, 2.0, 4.0, 16.0, 64.0)
"""The orders at which a loss is compared with a curve that is no table."""

MANY = 50
"""Sums of more curves than this are evaluated at `ORDERS` only, which is sound and hardly less tight."""


Points = tuple[tuple[float, float], ...]
"""Increasing orders, each with a bound."""

Real = TypeVar("Real", float, arb)


class Curve(Hashable, Protocol):
    """A bound on D_α for every order α > 1, rounded up; infinite where nothing is known. A frozen, hashable value."""

    def __call__(self, order: float, /) -> float:
        """The bound at this order."""


@runtime_checkable
class Comparable(Protocol):
    """A curve that can be compared with a loss at all orders at once."""

    def excess(self, loss: Loss, /, *, relative: float) -> Interval:
        """ln(lost/allowed), over all orders."""


@dataclass(frozen=True, slots=True)
class Table:
    """Bounds at a few orders. Between them (α − 1)D_α, which is convex in α and 0 at α = 1, lies below its chords.

    So does a bound at an order that the chord of two others undercuts.      [vEH14, Cor. 2]

    >>> Table(((2.0, 0.5), (4.0, 1.0)))(3.0), Table(((2.0, 0.5), (4.0, 0.1)))(2.0)
    (0.875, 0.1)
    """

    points: Points

    def __call__(self, order: float, /) -> float:
        return upward(_chord(self.points, exact(order))) if exact(order) <= exact(self.points[-1][0]) else math.inf


def _chord(points: Points, alpha: Fraction) -> Fraction:
    """The bound at an order up to the last one, exactly."""
    corners = _corners(points)
    place = bisect_left(corners, (alpha,))
    (x, low), (y, high) = corners[place - 1], corners[place]
    return (low + (high - low) * (alpha - x) / (y - x)) / (alpha - 1)


@lru_cache(maxsize=4096)
def _corners(points: Points) -> tuple[tuple[Fraction, Fraction], ...]:
    """The corners of the convex envelope of (α, (α − 1)ε), from (1, 0) to the last order."""
    corners = [(Fraction(1), Fraction(0))]
    for order, epsilon in points:
        x, y = exact(order), (exact(order) - 1) * exact(epsilon)
        while len(corners) > 1 and _turns_down(corners[-2], corners[-1], (x, y)):
            corners.pop()
        corners.append((x, y))
    return tuple(corners)


def _turns_down(*points: tuple[Fraction, Fraction]) -> bool:
    (a, low), (b, middle), (c, high) = points
    return (middle - low) * (c - a) >= (high - low) * (b - a)


@dataclass(frozen=True, slots=True)
class Total:
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


@dataclass(frozen=True, slots=True)
class RenyiDP:
    """Moments of the loss are bounded by a curve.

    D_α(P‖Q) = ln E[exp((α−1)L)]/(α−1) ≤ curve(α), for each order α > 1.      [Mir17, Def. 4]

    >>> RenyiDP.at({2: 0.1, 8: 0.5}) + RenyiDP.at({2: 0.2, 8: 0.9})
    RenyiDP.at({2.0: 0.3, 8.0: 1.4})
    """

    curve: Curve

    def __post_init__(self) -> None:
        if not callable(self.curve):
            raise _orders_wanted(repr(self.curve))

    @classmethod
    def at(cls, points: Mapping[int, Number] | Mapping[float, Number] | Mapping[Fraction, Number]) -> RenyiDP:
        """One order or a table of orders."""
        bounds: dict[float, float] = {}
        for order, epsilon in points.items():
            if isinstance(order, bool) or not isinstance(order, int | float | Fraction) or not 1 < order <= LARGEST:
                raise _orders_wanted(repr(order))
            alpha = downward(order)  # a fraction between two floats becomes the lower one: D_α grows with α
            if alpha == 1.0:
                raise _orders_wanted(repr(order))
            bound = parameter(epsilon, name="epsilon", flavor="RenyiDP")
            bounds[alpha] = min(bound, bounds.get(alpha, bound))
        if not bounds:
            raise _orders_wanted("none")
        return cls(Table(tuple(sorted(bounds.items()))))

    def __repr__(self) -> str:
        if isinstance(self.curve, Table):
            return f"RenyiDP.at({dict(self.curve.points)!r})"
        return f"RenyiDP({self.curve!r})"

    @classmethod
    def of(cls, loss: Loss, /, *, orders: Iterable[float], relative: float = RELATIVE) -> RenyiDP:
        """D_α at each of these orders, rounded up.

        >>> from sitr.loss import gaussian
        >>> RenyiDP.of(gaussian(sigma=1), orders=(2, 8))
        RenyiDP.at({2.0: 1.0000000..., 8.0: 4.0000000...})
        """
        do = "Ask for ApproximateDP.of(loss, delta=…) instead."
        return cls.at(
            {
                order: above(_moment(loss, order, relative).upper, what=f"the moment of order {order:g}", do=do)
                for order in RenyiDP.at(dict.fromkeys(orders, 0.0)).orders
            }
        )

    @property
    def orders(self) -> tuple[float, ...]:
        """The orders of a table, or those at which any other curve is compared with a loss."""
        return tuple(order for order, _ in self.curve.points) if isinstance(self.curve, Table) else COMPARED

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """D_α against the bound at every order of a table.

        Some curves know what they mean at all orders. Any other one is a black box: a loss may break it, but it takes
        infinitely many orders to prove that it is kept.
        """
        if loss.max() == 0.0:
            return KEPT
        if isinstance(self.curve, Comparable):
            return self.curve.excess(loss, relative=relative)
        bounds = [(order, self.curve(order)) for order in self.orders]
        found = worst(ratio(_moment(loss, order, relative), bound) for order, bound in bounds)
        return found if isinstance(self.curve, Table) else Interval(found.lower, math.inf)

    def kept_by(self, loss: Loss, /) -> bool:
        """D_α ≤ curve(α), in both directions.

        >>> from sitr.loss import gaussian
        >>> [RenyiDP.at({2: 1.1, 8: bound}).kept_by(gaussian(sigma=1)) for bound in (4.1, 3.9)]
        [True, False]
        """
        return decided(self, loss, widths=(1e-2, 1e-4))

    def worst_loss(self) -> None:
        """None: no pair of laws has the largest loss of all that a bound on moments allows."""

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
            case RenyiDP(curve):
                # Curves are black boxes: a sum is above another one if it has all its terms.
                whole = _terms(curve)
                return all(whole.get(term, 0) >= times for term, times in _terms(self.curve).items())
            case ApproximateDP():
                if other.delta in (0.0, 1.0):
                    return other.delta == 1.0
                return _best(self.curve, other.delta, _tight)[0] <= other.epsilon
        return implies_around(self, other)

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """ε = D_α + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), at the best order.      [CKS20, Prop. 12]

        >>> RenyiDP.at({8.0: 0.4}).to_approximate(delta=1e-5)
        ApproximateDP(epsilon=1.61..., delta=1e-05)
        """
        return ApproximateDP(_finite(_best(self.curve, delta, _tight)[0]), delta)

    def to_approximate_as_published(self, *, delta: float) -> ApproximateDP:
        """ε = D_α + ln(1/δ)/(α − 1), at the best order: the moments accountant's arrow, for comparison.

        [ACGMMTZ16, Thm 2]
        """
        return ApproximateDP(_finite(_best(self.curve, delta, _published)[0]), delta)

    def best_order(self, *, delta: float) -> float:
        """The order at which the arrow to (ε, δ) is best."""
        return _best(self.curve, delta, _tight)[1]

    def best_order_as_published(self, *, delta: float) -> float:
        """The order at which the published arrow is best."""
        return _best(self.curve, delta, _published)[1]


def _moment(loss: Loss, order: float, relative: float) -> Interval:
    """D_α grows with α, and the next float is above the decimal that is meant by an order."""
    return loss.renyi(order=math.nextafter(order, math.inf), relative=relative)


class Arrow(Protocol):
    """ε at one order, from α, D_α and ln δ: in floats to search for the best order, in balls to prove what it gives."""

    def __call__(self, alpha: Real, moment: Real, log_delta: Real, log: Callable[[Real], Real], /) -> Real:
        """The ε."""


def _tight(alpha: Real, moment: Real, log_delta: Real, log: Callable[[Real], Real], /) -> Real:
    return moment + log(1 - 1 / alpha) - (log_delta + log(alpha)) / (alpha - 1)


def _published(alpha: Real, moment: Real, log_delta: Real, _log: Callable[[Real], Real], /) -> Real:
    return moment - log_delta / (alpha - 1)


@lru_cache(maxsize=256)
def _best(curve: Curve, delta: float, arrow: Arrow) -> tuple[float, float]:
    """The least ε and its order. Every order is valid: the best one is searched in floats, and its ε is proved."""
    goal = math.log(checked_delta(delta))

    @cache
    def cost(order: float) -> float:
        return arrow(order, curve(order), goal, math.log)

    best = min(_turns(curve.points, goal) if isinstance(curve, Table) else _search(curve, cost), key=cost)
    if math.isinf(bound := curve(best)):
        return math.inf, best
    with ctx.workprec(256):
        return max(0.0, upper(arrow(ball(best), ball(bound), ball(delta).log(), arb.log))), best


def _turns(points: Points, log_delta: float) -> Iterator[float]:
    """The orders that can be best for a table: its corners, and zeros of the derivative on a chord.

    There (α − 1)D_α = s(α − 1) + c, and the derivative of the tight arrow has the sign of ln α + ln δ − c.
    """
    for (x, low), (y, high) in pairwise(_corners(points)):
        chord = low - (high - low) / (y - x) * (x - 1)
        within = math.exp(min(float(chord) - log_delta, 700.0))
        yield from (order for order in (min(max(within, float(x)), float(y)), float(y)) if order > 1)


def _search(curve: Curve, cost: Callable[[float], float]) -> Iterator[float]:
    """Orders of which one is nearly the best.

    (α − 1)D_α is convex in α, and so is the term that a conversion adds: divided by α − 1, the sum has one minimum. So
    two costs decide on which side of one of them it lies, and Fibonacci steps reuse one of the two.
    """
    start, near, far = -1, 55, 89
    while far > 1:
        if cost(ORDERS[start + near]) > cost(ORDERS[start + far]):
            start += near
        near, far = far - near, near
    place = start + 1
    yield ORDERS[place]
    tables = [inner.points for inner in _terms(curve) if isinstance(inner, Table)]
    if tables:  # the sum ends where the shortest table ends
        yield min(points[-1][0] for points in tables)
    if isinstance(curve, Total) and len(curve.terms) > MANY:
        return
    low, high = ORDERS[max(0, place - 1)], ORDERS[min(len(ORDERS) - 1, place + 1)]
    yield (between := valley(cost, low=low, high=high))
    # Tables have corners, and so have moments that are known at integer orders.
    yield from (order for points in tables for order, _ in points if low <= order <= high)
    yield from (float(order) for order in (math.floor(between), math.ceil(between)) if order > 1)


def _finite(epsilon: float) -> float:
    if math.isinf(epsilon):
        raise InvalidPromise(
            wanted="a curve that is finite at some order",
            given="one that is infinite at every order that was tried",
            do="Bound at least one moment, such as order 2; a group of s people needs orders of 2s and more.",
        )
    return epsilon


def checked_delta(delta: float) -> float:
    """0 < δ < 1, as every arrow from moments wants it."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0.0 < delta < 1.0:
        raise InvalidPromise(
            wanted="0 < delta < 1 for the conversion of moments to approximate privacy",
            given=repr(delta),
            do="Choose how rarely the bound may fail, such as delta=1e-6: well below one in the number of people.",
        )
    return delta


def _terms(curve: Curve) -> dict[Curve, int]:
    return dict(curve.terms) if isinstance(curve, Total) else {curve: 1}


def _sum(parts: list[tuple[Curve, int]]) -> Curve:
    """One flat sum in a fixed order; a sum of tables is a table again, as far as the shortest of them goes."""
    terms: dict[Curve, int] = {}
    for curve, times in parts:
        for inner, inside in _terms(curve).items():
            terms[inner] = terms.get(inner, 0) + times * inside
    if list(terms.values()) == [1]:
        return next(iter(terms))
    tables = [(curve.points, times) for curve, times in terms.items() if isinstance(curve, Table)]
    if not tables or len(tables) < len(terms):
        return Total(tuple(sorted(terms.items(), key=repr)))
    # Each table is linear between its orders, so their sum is linear between all of them: nothing is lost.
    last = min(points[-1][0] for points, _ in tables)
    orders = sorted({order for points, _ in tables for order, _ in points if order <= last})
    sums = [(order, sum(_chord(points, exact(order)) * times for points, times in tables)) for order in orders]
    return Table(tuple((order, bound) for order, exactly in sums if math.isfinite(bound := ceiling(Fraction(exactly)))))


def valley(function: Callable[[float], float], *, low: float, high: float) -> float:
    """About where a function with one valley is least, between two arguments above 1: golden section in ln(α − 1)."""
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


def _orders_wanted(given: str) -> InvalidPromise:
    return InvalidPromise(
        wanted="orders above 1, each with a bound, as in RenyiDP.at({2: 0.1})",
        given=given,
        do="Choose finite orders above 1.",
    )
