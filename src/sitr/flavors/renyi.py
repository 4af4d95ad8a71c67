"""Rényi differential privacy: one moment of the loss at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.dataclass import dataclass
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.best_order import best, published, tight
from sitr.flavors.curve import Comparable, Curve, Grouped, PointCurve, curve_sum, terms_of
from sitr.flavors.meaning import KEPT, RELATIVE, above, ratio
from sitr.flavors.promise import LARGEST, Obstacle, Promise, count, foreign, no_stopping_rule, parameter
from sitr.numbers import Interval, Number, ball, downward, exact, largest, upper, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

COMPARED = (1.01, 1.5, 2.0, 4.0, 16.0, 64.0)
"""The orders at which a loss is compared with a curve that is no table."""

QUANTILES = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""The orders at which a curve that is no table bounds the quantiles of the loss."""


@dataclass(frozen=True, slots=True)
class RenyiDP(Promise):
    """Moments of the loss are bounded by a curve.

    D_α(P‖Q) = ln E[exp((α−1)L)]/(α−1) ≤ curve(α), for each order α > 1.      [Mir17, Def. 4]

    >>> RenyiDP.at({2: 0.1, 8: 0.5}) + RenyiDP.at({2: 0.2, 8: 0.9})
    RenyiDP.at({2.0: 0.3, 8.0: 1.4})
    """

    notation = "renyi(α, ε)"
    arrow = "to_renyi"
    obstacle = Obstacle("It bounds no moment of the loss", "state it as RenyiDP if some moment is known")
    widths = (1e-2, 1e-4)

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
        return cls(PointCurve(tuple(sorted(bounds.items()))))

    def __repr__(self) -> str:
        if isinstance(self.curve, PointCurve):
            return f"RenyiDP.at({dict(self.curve.points)!r})"
        return f"RenyiDP({self.curve!r})"

    @classmethod
    def of(cls, loss: Loss, /, *, orders: Iterable[float], relative: float = RELATIVE) -> RenyiDP:
        """D_α at each of these orders, rounded up.

        >>> from sitr.loss import gaussian
        >>> RenyiDP.of(gaussian(sigma=1), orders=(2, 8))
        RenyiDP.at({2.0: 1.0000000..., 8.0: 4.0000000...})
        >>> [RenyiDP.at({2: 1.1, 8: bound}).kept_by(gaussian(sigma=1)) for bound in (4.1, 3.9)]
        [True, False]
        """
        return cls.at(
            {
                order: above(_moment(loss, order, relative).upper, what=f"the moment of order {order:g}")
                for order in RenyiDP.at(dict.fromkeys(orders, 0.0)).orders
            }
        )

    @property
    def orders(self) -> tuple[float, ...]:
        """The orders of a table, or those at which any other curve is compared with a loss."""
        return tuple(order for order, _ in self.curve.points) if isinstance(self.curve, PointCurve) else COMPARED

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """D_α against the bound at every order of a table.

        A `Comparable` curve is compared at all orders. Any other curve is a black box: a loss may be proved to break
        it, but not to keep it, because that would take infinitely many orders.
        """
        if loss.max() == 0.0:
            return KEPT
        if isinstance(self.curve, Comparable):
            return self.curve.excess(loss, relative=relative)
        bounds = [(order, self.curve(order)) for order in self.orders]
        found = largest(ratio(_moment(loss, order, relative), bound) for order, bound in bounds)
        return found if isinstance(self.curve, PointCurve) else Interval(found.lower, math.inf)

    def largest_loss(self) -> float | None:
        """0 if one moment is 0, because then P = Q.      [vEH14, Thm 8]"""
        if isinstance(self.curve, PointCurve):
            return 0.0 if any(bound == 0.0 for _, bound in self.curve.points) else None
        return self.curve.largest_loss() if isinstance(self.curve, Comparable) else None

    def loss_quantile(self, *, delta: float) -> float:
        """ε′ = D_α + ln(1/δ)/(α − 1), by Markov's inequality for e^{(α−1)L}.      [Mir17, Prop. 3]"""
        if (bound := self.largest_loss()) is not None:
            return bound
        orders = self.orders if isinstance(self.curve, PointCurve) else QUANTILES
        bounds = [(order, self.curve(order)) for order in orders]
        return min(
            upper(ball(bound) - ball(delta).log() / ball(exact(order) - 1))
            for order, bound in bounds
            if math.isfinite(bound)
        )

    def coordinates(self) -> tuple[Fraction, ...]:
        """ε at each order of a table.

        >>> RenyiDP.at({2: 0.1, 8: 0.5}).coordinates()
        (Fraction(1, 10), Fraction(1, 2))
        """
        if not isinstance(self.curve, PointCurve):
            raise no_stopping_rule(
                self, "Fix the orders first, as in RenyiDP.at({2: 0.1, 8: 0.5}): a sum is kept for each."
            )
        return tuple(exact(epsilon) for _, epsilon in self.curve.points)

    def with_coordinates(self, values: Sequence[Fraction], /, *, up: bool) -> RenyiDP:
        rounded = upward if up else downward
        return RenyiDP.at({order: rounded(value) for order, value in zip(self.orders, values, strict=True)})

    def adds_to(self, like: Promise, /) -> bool:
        tables = isinstance(like, RenyiDP) and isinstance(like.curve, PointCurve) and isinstance(self.curve, PointCurve)
        return tables and self.orders == like.orders  # type: ignore[attr-defined]

    def written(self) -> str:
        if isinstance(self.curve, PointCurve):
            return repr(dict(self.curve.points))
        raise InvalidPromise(
            wanted="a Rényi promise with a table of orders, such as renyi({2: 0.1, 8: 0.5})",
            given=f"the curve {self!r}, which has bounds at all orders",
            do="Choose the orders that matter, and write RenyiDP.at({order: promise.curve(order), …}).",
        )

    @classmethod
    def read(cls, orders: Any, epsilon: Any = None) -> RenyiDP:
        """One order and its bound, or a table."""
        if isinstance(orders, dict) == (epsilon is not None):
            raise foreign()
        return cls.at(orders if epsilon is None else {orders: epsilon})

    @classmethod
    def compose(cls, parts: Iterable[RenyiDP], /) -> RenyiDP:
        """The curves add.      [Mir17, Prop. 1]"""
        return cls(curve_sum([(part.curve, 1) for part in parts]))

    def __mul__(self, times: int, /) -> RenyiDP:
        return RenyiDP(curve_sum([(self.curve, count(times, what="The number of releases"))]))

    def infinite_mass(self) -> float:
        """A finite moment rules it out."""
        return 0.0

    def for_group(self, size: int, /) -> RenyiDP:
        """For 2^c people, order α: 3^c·curve(2^c·α).  Other sizes are rounded up to such a one.  [Mir17, Prop. 2]"""
        doublings = (count(size, what="The size of a group") - 1).bit_length()
        return self if doublings == 0 else RenyiDP(Grouped(self.curve, doublings))

    def covers(self, other: Promise, /) -> bool:
        match other:
            case RenyiDP(PointCurve(points)):
                return all(self.curve(order) <= epsilon for order, epsilon in points)
            case RenyiDP(curve):
                # Curves are black boxes: a sum is above another one if it has all its terms.
                whole = terms_of(curve)
                return all(whole.get(term, 0) >= times for term, times in terms_of(self.curve).items())
            case ApproximateDP():
                if other.delta in (0.0, 1.0):
                    return other.delta == 1.0
                return best(self.curve, other.delta, tight)[0] <= other.epsilon
        return other.follows_from(self)

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """ε = D_α + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), at the best order.      [CKS20, Prop. 12]

        >>> RenyiDP.at({8.0: 0.4}).to_approximate(delta=1e-5)
        ApproximateDP(epsilon=1.61..., delta=1e-05)
        """
        return ApproximateDP(_finite(best(self.curve, delta, tight)[0]), delta)

    def to_approximate_as_published(self, *, delta: float) -> ApproximateDP:
        """ε = D_α + ln(1/δ)/(α − 1), at the best order: the moments accountant's arrow, for comparison.

        [ACGMMTZ16, Thm 2]
        """
        return ApproximateDP(_finite(best(self.curve, delta, published)[0]), delta)

    def best_order(self, *, delta: float) -> float:
        """The order at which the arrow to (ε, δ) is best."""
        return best(self.curve, delta, tight)[1]

    def best_order_as_published(self, *, delta: float) -> float:
        """The order at which the published arrow is best."""
        return best(self.curve, delta, published)[1]


def _moment(loss: Loss, order: float, relative: float) -> Interval:
    """D_α at the next order: D_α grows with α, and the next float is above the decimal that the order stands for."""
    return loss.renyi(order=math.nextafter(order, math.inf), relative=relative)


def _finite(epsilon: float) -> float:
    if math.isinf(epsilon):
        raise InvalidPromise(
            wanted="a curve that is finite at some order",
            given="one that is infinite at every order that was tried",
            do="Bound at least one moment, such as order 2; a group of s people needs orders of 2s and more.",
        )
    return epsilon


def _orders_wanted(given: str) -> InvalidPromise:
    return InvalidPromise(
        wanted="orders above 1, each with a bound, as in RenyiDP.at({2: 0.1})",
        given=given,
        do="Choose finite orders above 1.",
    )
