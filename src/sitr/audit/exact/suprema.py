"""Suprema over all orders of moments, for many pairs at once: ρ(ξ) and the sub-Gaussian standard τ.

    ρ(ξ) = sup over λ > 0 of (K(λ)/λ − ξ)/(λ + 1)      [BS16, Def. 1.1, with α = λ + 1]
    τ² = sup over λ ≠ 0 of 2ψ(λ)/λ²                    [DR16, Def. 2.1]

K and ψ are convex, so between two λ they lie below their chord, on which each quotient is largest at an end or at one
turn. Below the first λ and beyond the last, simple bounds hold. A pair is left out as soon as its bound is below a value
that another pair attains, so only the pairs near the maximum are looked at closely.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sitr.audit.exact.moments import Moments, smallest_start
from sitr.audit.exact.pairs import Ends, Pairs
from sitr.loss.law import Vector
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

LOOKS = 200
"""The most values of λ that are tried. If they do not suffice, the interval is wider than requested."""

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

    value: Callable[[Moments, float], Ends]
    ratio: Callable[[float, Vector], Vector]
    turn: Callable[[Vector, Vector], Vector]
    """Where the quotient of a line, given by its value at 0 and its slope, is largest."""
    near: Callable[[Moments, float, Ends], tuple[Vector, Vector]]
    """A limit at 0 from below, and a bound on the quotient up to a λ at which the values are known."""
    far: Callable[[Moments, float], Vector]
    """A bound on the quotient from λ on."""


def supremum(pairs: Pairs, side: Side, *, relative: float, start: float) -> Supremum:
    """The largest quotient of all pairs, to within a relative width."""
    moments, rows = Moments.of(pairs), np.arange(len(pairs))
    known = {start: side.value(moments, start)}
    best, rest = Supremum(Interval(0.0, 0.0), 0, 0.0), 0.0
    ends: dict[float, Vector] = {}
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
            limit, ends[-first] = side.near(moments, first, known[first])
            better(limit, 0.0)
        if last not in ends:
            ends[last] = side.far(moments, last)
        pieces = [(ends[-first], first, 0.0), (ends[last], last, math.inf)]
        pieces += [(_chord(side, known, p, q), p, q) for p, q in pairwise(sorted(known))]
        bounds = np.maximum.reduce([piece for piece, _, _ in pieces])
        active = bounds > best.value.lower * (1 + relative)
        widest = max(pieces, key=lambda piece: float(piece[0].max()))
        after = _next(widest[1], widest[2])
        if not bool(active.any()) or after is None:
            break
        if not bool(active.all()):
            rest = max(rest, float(bounds[~active].max()))
            moments, rows, bounds = moments.some(active), rows[active], bounds[active]
            known = {tilt: Ends(found.lower[active], found.upper[active]) for tilt, found in known.items()}
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


def _chord(side: Side, known: dict[float, Ends], p: float, q: float) -> Vector:
    """The largest quotient on the chord between two λ."""
    at_p, at_q = known[p].upper, known[q].upper
    slope = (at_q - at_p) / (q - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = side.turn(at_p - slope * p, slope)
        inside = (turn > p) & (turn < q)
        at = np.where(inside, turn, p)
        between = _at(side, at, at_p + slope * (at - p))
    found = np.maximum(side.ratio(p, at_p), side.ratio(q, at_q))
    return np.where(inside, np.maximum(found, between), found) * (1 + SAFE)


def _at(side: Side, places: Vector, values: Vector) -> Vector:
    return side.ratio(places, values)  # type: ignore[arg-type]  # one λ for each pair


def largest_rho(pairs: Pairs, *, xi: float, relative: float) -> Supremum:
    """ρ(ξ) of pairs without infinite losses in their direction."""
    _, highest = Moments.of(pairs).least_and_greatest()
    if float(highest.max()) <= xi:
        return Supremum(Interval(0.0, 0.0), 0, 0.0)

    def near(moments: Moments, tilt: float, found: Ends) -> tuple[Vector, Vector]:
        return np.maximum(0.0, moments.mean().lower - xi * (1 + SAFE)), found.upper / tilt * (1 + SAFE) - xi

    def turn(at_zero: Vector, slope: Vector) -> Vector:
        """(A + Cx)/(x(x + 1)) with A ≤ 0 < C is largest where Cx² + 2Ax + A = 0."""
        rise = slope - xi
        root = np.sqrt(np.maximum(0.0, at_zero * at_zero - at_zero * rise))
        return np.where(rise > 0.0, (-at_zero + root) / rise, np.inf)

    side = Side(
        lambda moments, tilt: moments.log_moment(tilt),
        lambda tilt, value: (value / tilt - xi) / (tilt + 1),
        turn,
        near,
        lambda moments, tilt: np.maximum(0.0, moments.least_and_greatest()[1] - xi) / (tilt + 1) * (1 + SAFE),
    )
    found = supremum(pairs, side, relative=relative, start=smallest_start(float(highest.max())))
    rounding = 4 * SAFE * xi
    return Supremum(
        Interval(max(0.0, found.value.lower - rounding), found.value.upper + rounding), found.row, found.tilt
    )


def largest_tau(pairs: Pairs, *, relative: float) -> Supremum:
    """τ of pairs whose losses are finite in both directions."""
    low, high = Moments.of(pairs).least_and_greatest()
    widest = float((high - low).max())
    found = [
        supremum(pairs, _spread(sign), relative=relative, start=smallest_start(widest)) for sign in (1, -1)
    ]
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
        lambda at_zero, slope: np.where(slope > 0.0, -2 * at_zero / slope, np.inf),
        lambda moments, tilt, _: moments.near(tilt, sign),
        far,
    )
