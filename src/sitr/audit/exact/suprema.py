"""Suprema over all orders of moments, for many pairs at once: ρ(ξ) and the sub-Gaussian standard τ.

    ρ(ξ) = sup over λ > 0 of (K(λ)/λ − ξ)/(λ + 1)      [BS16, Def. 1.1, with α = λ + 1]
    τ² = sup over λ ≠ 0 of 2ψ(λ)/λ²                    [DR16, Def. 2.1]

K and ψ are convex, so between two λ they lie below their chord. They have the same second derivative, the variance of
the loss with weights P·e^{λl}, whose logarithm changes by at most the range r of losses for each unit of λ, because a
third moment is at most r times the variance. So between p and q they even lie below the chord minus c(x − p)(q − x),
where 2c is e^{−r(q − p)} times the larger variance at p or q. On that parabola each quotient is largest at an end or
at a turn. Below the first λ and beyond the last, simple bounds hold. A pair is left out as soon as its bound is below
a value that another pair attains, so only the pairs near the maximum are looked at closely.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sitr.audit.exact.moments import Moments, Value, smallest_start
from sitr.audit.exact.pairs import Pairs
from sitr.loss.law import Vector
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

LOOKS = 200
"""The most values of λ that are tried. If they do not suffice, the interval is wider than requested."""

MOST_WORK = 12_000_000
"""About this many losses are looked at. Where many pairs are nearly as bad as the worst, the interval is wider."""

SAFE = 1e-13
"""More than all roundings in a quotient of sums of positive numbers."""

FIRST, LAST = 1e-12, 1e12


@dataclass(frozen=True, slots=True)
class Supremum:
    """A supremum over λ, the pair that attains its lower end, and the λ where it does (0 or infinity for a limit)."""

    value: Interval
    row: int
    tilt: float


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A quotient with a convex numerator on λ > 0, for many pairs."""

    value: Callable[[Moments, float], Value]
    ratio: Callable[[float, Vector], Vector]
    turns: Callable[[Vector, Vector, Vector], tuple[Vector, ...]]
    """Where the quotient of a + bx + cx² may be largest."""
    near: Callable[[Moments, float, Value], tuple[Vector, Vector]]
    """A limit at 0 from below, and a bound on the quotient up to a λ at which the values are known."""
    far: Callable[[Moments, float], Vector]
    """A bound on the quotient from λ on."""


def supremum(moments: Moments, side: Side, *, relative: float, start: float, limit: float | None = None) -> Supremum:
    """The largest quotient of all pairs, to within a relative width, or just on one side of a limit."""
    rows, work = np.arange(len(moments.pairs)), 0
    known = {start: side.value(moments, start)}
    best, rest = Supremum(Interval(0.0, 0.0), 0, 0.0), 0.0
    ends: dict[float, Vector] = {}
    low, high = moments.least_and_greatest()
    ranges = high - low
    bounds = np.zeros(0)

    def better(lower: Vector, tilt: float) -> None:
        nonlocal best
        place = int(np.argmax(lower))
        if lower[place] * (1 - SAFE) > best.value.lower:
            best = Supremum(Interval(float(lower[place]) * (1 - SAFE), 0.0), int(rows[place]), tilt)

    better(side.ratio(start, known[start].lower), start)
    for _ in range(LOOKS):
        first, last = min(known), max(known)
        if -first not in ends:  # bounds near 0 have negative keys
            at_zero, ends[-first] = side.near(moments, first, known[first])
            better(at_zero, 0.0)
        if last not in ends:
            ends[last] = side.far(moments, last)
        pieces = [(ends[-first], first, 0.0), (ends[last], last, math.inf)]
        pieces += [(_between(side, known, p, q, ranges), p, q) for p, q in pairwise(sorted(known))]
        bounds = np.maximum.reduce([piece for piece, _, _ in pieces])
        active = bounds > max(best.value.lower * (1 + relative), (limit or 0.0) * (1 - 1e-9))
        widest = max(pieces, key=lambda piece: float(piece[0].max()))
        after = _next(widest[1], widest[2])
        decided = limit is not None and best.value.lower > limit
        if not bool(active.any()) or after is None or decided or work > MOST_WORK:
            break
        work += moments.cells
        if not bool(active.all()):
            rest = max(rest, float(bounds[~active].max()))
            moments, rows, bounds = moments.some(active), rows[active], bounds[active]
            known = {tilt: Value(*(column[active] for column in found)) for tilt, found in known.items()}
            ranges = ranges[active]
            ends = {key: found[active] for key, found in ends.items()}
        known[after] = side.value(moments, after)
        better(side.ratio(after, known[after].lower), after)
    upper = max(rest, best.value.lower, float(bounds.max())) * (1 + 2 * SAFE)
    return Supremum(Interval(best.value.lower, upper), best.row, best.tilt)


def _next(low: float, high: float) -> float | None:
    """The next λ to look at, in the piece with the largest bound; None if there is none."""
    if high == 0.0:
        return low / 16 if low > FIRST else None
    if math.isinf(high):
        return low * 4 if low < LAST else None
    middle = math.sqrt(low * high)
    return middle if low * (1 + 1e-9) < middle else None


def _between(side: Side, known: dict[float, Value], p: float, q: float, ranges: Vector) -> Vector:
    """The largest quotient between two λ: of the chord minus a parabola."""
    at_p, at_q = known[p].upper, known[q].upper
    slope = (at_q - at_p) / (q - p)
    bend = np.maximum(known[p].curve, known[q].curve) * np.exp(-np.minimum(700.0, ranges * (q - p))) / 2 * (1 - SAFE)
    constant, linear = at_p - slope * p + bend * (p * q), slope - bend * (p + q)
    found = np.maximum(side.ratio(p, at_p), side.ratio(q, at_q))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for turn in side.turns(constant, linear, bend):
            inside = (turn > p) & (turn < q)
            at = np.where(inside, turn, p)
            value = at_p + slope * (at - p) - bend * ((at - p) * (q - at))
            found = np.where(inside, np.maximum(found, side.ratio(at, value)), found)  # type: ignore[arg-type]
    return np.where(np.isfinite(at_p + at_q), found * (1 + SAFE), np.inf)


def largest_rho(pairs: Pairs, *, xi: float, relative: float, limit: float | None = None) -> Supremum:
    """ρ(ξ) of pairs without infinite losses in their direction."""
    moments = Moments.of(pairs)
    _, highest = moments.least_and_greatest()
    if float(highest.max()) <= xi:
        return Supremum(Interval(0.0, 0.0), 0, 0.0)

    def near(moments: Moments, tilt: float, found: Value) -> tuple[Vector, Vector]:
        return np.maximum(0.0, moments.mean().lower - xi * (1 + SAFE)), found.upper / tilt * (1 + SAFE) - xi

    def turns(constant: Vector, linear: Vector, bend: Vector) -> tuple[Vector, ...]:
        """The quotient is c + (a + Cx)/(x² + x) with C = b − ξ − c, and turns where Cx² + 2ax + a = 0."""
        rise = linear - xi - bend
        root = np.sqrt(np.maximum(0.0, constant * constant - constant * rise))
        return (-constant + root) / rise, (-constant - root) / rise

    side = Side(
        lambda moments, tilt: moments.log_moment(tilt),
        lambda tilt, value: (value / tilt - xi) / (tilt + 1),
        turns,
        near,
        lambda moments, tilt: np.maximum(0.0, moments.least_and_greatest()[1] - xi) / (tilt + 1) * (1 + SAFE),
    )
    found = supremum(moments, side, relative=relative, start=smallest_start(float(highest.max())), limit=limit)
    rounding = 4 * SAFE * xi
    return Supremum(
        Interval(max(0.0, found.value.lower - rounding), found.value.upper + rounding), found.row, found.tilt
    )


def largest_tau(pairs: Pairs, *, relative: float, limit: float | None = None) -> Supremum:
    """τ of pairs whose losses are finite in both directions."""
    moments = Moments.of(pairs)
    low, high = moments.least_and_greatest()
    start = smallest_start(float((high - low).max()))
    square = None if limit is None else limit * limit
    found = [supremum(moments, _spread(sign), relative=2 * relative, start=start, limit=square) for sign in (1, -1)]
    best = max(found, key=lambda one: one.value.lower)
    upper = max(one.value.upper for one in found)
    ends = Interval(math.sqrt(best.value.lower) * (1 - SAFE), math.sqrt(upper) * (1 + SAFE))
    return Supremum(ends, best.row, best.tilt)


def _spread(sign: int) -> Side:
    def far(moments: Moments, tilt: float) -> Vector:
        mean, (low, high) = moments.mean(), moments.least_and_greatest()
        reach = high - mean.lower if sign > 0 else mean.upper - low
        return 2 * np.maximum(0.0, reach) / tilt * (1 + SAFE)

    return Side(
        lambda moments, tilt: moments.centered(sign * tilt),
        lambda tilt, value: 2 * value / (tilt * tilt),
        lambda constant, linear, _: (-2 * constant / linear,),
        lambda moments, tilt, _: moments.near(tilt, sign),
        far,
    )
