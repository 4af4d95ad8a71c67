"""The best line ξ + ρα over all moments of a mechanism: the tight curve ρ(ξ), and the pair with the least ε at δ.

For each order α, ρ must be at least (D_α − ξ)/α, which falls with ξ along a line of slope −1/α. So ρ(ξ) is convex, and
whatever pair of inputs and order attain it at one ξ, their line lies below it at all others.

The ε at δ of (ξ, ρ), or of several uses of it, is the least of numbers ξ + ρα + f(α) over all orders α: [CKS20, Prop.
12]. A least of such numbers is concave, and it grows with both. On the region above finitely many lines it is smallest
at a corner. That is a bound from below for every pair (ξ, ρ) that is kept, and a pair that is kept is one from above;
ρ is computed at the best corner until the two meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb

from sitr.audit.exact.figure import Figure
from sitr.errors import InvalidParameter
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.law import ROUNDING, check
from sitr.numbers import Interval, Number, exact, float_above, lower, natural
from sitr.precision import precision

ROUNDS = 40
"""At most this many values of ξ are tried. The interval is wider if that does not suffice."""

WIDTH = 1e-4
"""The default relative width of ε."""

SAFE = 1e-12
"""More than all roundings of a line."""


class Tight(Protocol):
    """A mechanism whose ρ at ξ is known."""

    def epsilon(self, *, delta: Number = 0) -> Figure: ...
    def rho(self, *, xi: Number = 0, relative: float = ..., limit: float | None = ...) -> Figure: ...


@dataclass(frozen=True, slots=True)
class Line:
    """ρ ≥ (height − ξ)/α: what one order of one pair of inputs demands."""

    height: float
    order: float

    def at(self, xi: float) -> float:
        return (self.height - xi) / self.order


@dataclass(frozen=True, slots=True)
class BestLine:
    """The pair (ξ, ρ) with the least ε at δ."""

    promise: ZeroConcentratedDP
    """It is kept: both numbers are rounded up."""
    epsilon: Interval
    """The least ε that any pair (ξ, ρ) of this mechanism implies; the upper end is what `promise` implies."""
    figure: Figure
    """ρ at this ξ, with the pair of inputs that attains it."""


def best_line(
    mechanism: Tight, /, *, delta: Number, times: int = 1, relative: float = WIDTH, rounds: int = ROUNDS
) -> BestLine:
    """The pair (ξ, ρ) of a mechanism that implies the least ε at δ, after a number of uses.

    >>> from sitr.audit import finite
    >>> response = finite([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> found = best_line(response, delta=1e-6)  # a bounded loss: ξ = ln 3 and ρ = 0 are best for one use
    >>> found.promise.rho, found.epsilon.upper
    (0.0, 1.0986...)
    >>> found = best_line(response, delta=1e-6, times=200)
    >>> ZeroConcentratedDP(0.5494 * 200).to_approximate(delta=1e-6).epsilon - found.epsilon.upper > 0
    True
    """
    check(delta, "delta", above=0.0, below=1.0)
    uses, smallest = natural(times, name="times", of="a best line"), exact(delta)
    largest = mechanism.epsilon()
    if math.isinf(largest.upper):
        raise InvalidParameter(
            given="Some loss of this mechanism is infinite, so no pair (ξ, ρ) holds.",
            do="Ask for δ at ε instead, or remove the outcomes that only one of two neighbours has.",
        )
    lines: list[Line] = []
    best: BestLine | None = None
    most, tried = math.inf, set[float]()
    candidates = [0.0, largest.upper]
    least = 0.0
    for _ in range(rounds):
        for xi in candidates:
            tried.add(xi)
            found = mechanism.rho(xi=xi, relative=relative / 10) if xi < largest.upper else None
            rho = 0.0 if found is None else found.upper
            if found is not None and found.lower > 0.0 and found.at is not None and math.isfinite(found.at):
                lines.append(Line((xi + found.lower * found.at) * (1 - SAFE), found.at))
            promise = ZeroConcentratedDP(rho, xi=xi)
            implied = _repeated(promise, uses).to_approximate(delta=float(smallest)).epsilon
            if implied < most:
                most = implied
                best = BestLine(promise, Interval(0.0, implied), found or largest)
        corners = [(_least(xi, rho, uses, smallest), at) for xi, rho, at in _corners(lines, largest.lower)]
        least, at = min(corners)
        if least >= most * (1 - relative) or at in tried:
            break
        candidates = [at]
    assert best is not None
    return BestLine(best.promise, Interval(min(least, most), most), best.figure)


def _repeated(promise: ZeroConcentratedDP, times: int) -> ZeroConcentratedDP:
    rho, xi = (float_above(exact(one) * times) if one else 0.0 for one in (promise.rho, promise.xi))
    return ZeroConcentratedDP(rho, xi=xi)


def _corners(lines: list[Line], end: float) -> Iterator[tuple[float, float, float]]:
    """The corners (ξ, ρ) of the region above all lines, ξ and ρ at least 0, rounded down; and the ξ as it was found.
    From `end` on, ρ may be 0.

    Points that are no corners may be among them: they are in the region too. Where two lines of nearly one order meet
    is known to within a margin only, so ξ is moved down by it, and ρ is that of the lines beyond it.
    """
    yield end, 0.0, end
    places = {0.0: 0.0, **{line.height: 0.0 for line in lines if 0.0 < line.height < end}}  # where a line is at ρ = 0
    for place, one in enumerate(lines):
        for other in lines[:place]:
            if one.order != other.order:
                first, second = one.height * other.order, other.height * one.order
                meet = (first - second) / (other.order - one.order)
                margin = SAFE * meet + 8 * ROUNDING * (first + second) / abs(other.order - one.order)
                if 0.0 < meet + margin and meet < end:
                    places[meet] = max(margin, places.get(meet, 0.0))
    for xi, margin in sorted(places.items()):
        beyond = xi + margin
        rho = max([0.0, *(line.at(beyond) - SAFE * (line.height + beyond) / line.order for line in lines)])
        yield max(0.0, xi - margin), rho, max(0.0, xi)


def _least(xi: float, rho: float, times: int, delta: Fraction) -> float:
    """The ε at δ that (ξ, ρ) implies after a number of uses, from below.

    With x = α − 1, it is least where ρx² + ln(1 + x) = ln(1/δ), whose left side only grows: a ball that holds the root
    holds the least value.
    """
    with precision(256):
        slope, start = arb(rho) * times, arb(xi) * times * (1 - arb(SAFE))
        goal = -(arb(delta.numerator) / delta.denominator).log()

        def below(x: arb) -> bool:
            return bool(slope * x * x + x.log1p() < goal)

        low, high = arb(0), arb(1)
        while below(high):
            low, high = high, 2 * high
        for _ in range(100):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if below(middle) else (low, middle)
        if not low > 0:
            return 0.0
        x = low.union(high)
        value = start + slope * (1 + x) - (1 / x).log1p() + (goal - x.log1p()) / x
        return max(0.0, lower(value))


def rho_curve(mechanism: Tight, xis: tuple[Number, ...], /) -> tuple[tuple[float, Figure], ...]:
    """ρ(ξ) at several ξ.

    >>> from sitr.audit import finite
    >>> response = finite([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> [round(figure.upper, 4) for _, figure in rho_curve(response, (0, 0.5, 1.1))]
    [0.5493, 0.1736, 0.0]
    """
    return tuple((float(xi), mechanism.rho(xi=xi)) for xi in xis)
