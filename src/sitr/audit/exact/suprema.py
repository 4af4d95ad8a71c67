"""Suprema over all orders of moments, for many pairs at once: ρ(ξ) and the sub-Gaussian standard τ.

    ρ(ξ) = sup over λ > 0 of (K(λ)/λ − ξ)/(λ + 1)      [BS16, Def. 1.1, with α = λ + 1]
    τ² = sup over λ ≠ 0 of 2ψ(λ)/λ²                    [DR16, Def. 2.1]

K and ψ are convex, so between two λ they lie below their chord. They have the same second derivative V, the variance
of the loss with weights P·e^{λl}. If V ≥ 2c between p and q, they even lie below the chord minus c(x − p)(q − x). On
that parabola each quotient is largest at an end or at a turn.

Such a c is known, because V·e^{2K} is the sum over pairs of outcomes of ½P(i)P(j)(l_i − l_j)²e^{λ(l_i + l_j)}, whose
logarithm is convex: it lies above its tangents and below its chords. So with h = q − p and the skew s = V′/V at p,

    ln V(p + t) ≥ ln V(p) + t·(s − 2D/h),   D = K(q) − K(p) − hK′(p),

and likewise from q. And from 0 to q, V is at most the larger of V(0) and V(q)·e^{2ψ(q)}; there, K(λ) ≤ λκ + λ²V/2.
Beyond the last λ, losses are at most the largest one. A pair is left out as soon as its bound is below a value that
another pair attains, so only the pairs near the maximum are looked at closely.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from sitr.audit.exact.moments import Moments, Sizes, Steps, Value, smallest_start
from sitr.audit.exact.table import Flags, Rows
from sitr.loss.law import Vector
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

ROUNDS = 200
"""How often a piece is divided, at most. If that does not suffice, the interval is wider than requested."""

MOST_WORK = 600_000_000
"""About this many losses are looked at. Where many pairs are nearly as bad as the worst, the interval is wider."""

ROUGH = 1e-3
"""The relative width that is reached first, so that the interval is not wide where the work ends early."""

FRESH = 3
"""Exponentials take as long as this many steps from one λ to the next."""

MOST_DOUBLINGS = 12
"""At first, moments are computed for λ, 2λ, 4λ, …, this many times at most: until a bound from there on is small."""

MOST_BENT = 100.0
"""Beyond this V·h², the roundings of a second bound on V are not small."""

LOW = 0.97
"""A piece with an end whose quotients are below this share of the largest is halved first."""

MOST_PARTS = 64
"""A piece is divided into at most this many parts at once."""

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

    values: Callable[[Moments, Steps], list[Value]]
    ratio: Callable[[float, Vector], Vector]
    turns: Callable[[Vector, Vector, Vector], tuple[Vector, ...]]
    """Where the quotient of a + bx + cx² may be largest."""
    at_zero: Callable[[Sizes], Vector]
    """The limit at 0 from below."""
    near: Callable[[Sizes, float, Value], Vector]
    """A bound on the quotient up to a λ at which the values are known."""
    far: Callable[[Sizes, float], Vector]
    """A bound on the quotient from λ on."""
    ceiling: Callable[[Sizes, float], Vector] | None = None
    """Another bound on the quotient from λ on, which is known already."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A piece of the half-line λ > 0, with a bound on the quotient there for some pairs."""

    low: float
    high: float
    rows: Rows
    left: Value | None
    right: Value | None
    bound: Vector

    def some(self, kept: Flags) -> Piece:
        """Only some of the pairs."""
        left, right = _chosen(self.left, kept), _chosen(self.right, kept)
        return Piece(self.low, self.high, self.rows[kept], left, right, self.bound[kept])


class Search:
    """Pieces of the half-line, each with the pairs that may attain the supremum there."""

    def __init__(self, moments: Moments, side: Side, *, start: float, goal: float) -> None:
        self._moments, self._side, self._sizes = moments, side, moments.sizes
        self.lower, self.row, self.tilt = 0.0, 0, 0.0
        self._rest, self.work = 0.0, 0
        """The largest bound of pairs that were left out of a piece, and how many losses were looked at."""
        rows = np.arange(len(moments.pairs))
        self._attained(rows, side.at_zero(self._sizes), 0.0)
        whole = Piece(0.0, math.inf, rows, None, None, np.full(len(rows), np.inf))
        needed = float(side.far(self._sizes, start).max()) / max(self.lower, goal, 1e-300)
        doublings = min(MOST_DOUBLINGS, max(1, math.ceil(math.log2(max(2.0, min(1e300, needed))))))
        steps = Steps(start, count=1 + doublings, doubled=True)
        self._pieces = self._parts(whole, np.full(len(rows), True), steps)

    def _attained(self, rows: Rows, found: Vector, tilt: float) -> None:
        place = int(np.argmax(found))
        if found[place] * (1 - SAFE) > self.lower:
            self.lower, self.row, self.tilt = float(found[place]) * (1 - SAFE), int(rows[place]), tilt

    @property
    def upper(self) -> float:
        """A bound on the supremum."""
        return max(self._rest, self.lower, *(float(piece.bound.max()) for piece in self._pieces)) * (1 + 2 * SAFE)

    def narrowed(self, target: float, relative: float, last: float) -> bool:
        """Divide the piece with the largest bound, for the pairs that are above a target; False if that ends.

        Pairs below the last of all targets are left out; pairs between the two wait.
        """
        piece = max(self._pieces, key=lambda one: float(one.bound.max()))
        active = piece.bound > target
        steps = self._divided(piece, relative) if bool(active.any()) else None
        if steps is None:
            return False
        self._pieces.remove(piece)
        waiting = ~active & (piece.bound > last)
        if bool(waiting.any()):
            self._pieces.append(piece.some(waiting))
        self._rest = max(self._rest, float(piece.bound[~active & ~waiting].max(initial=0.0)))
        self._pieces += self._parts(piece, active, steps)
        return True

    def _parts(self, piece: Piece, active: Flags, steps: Steps) -> list[Piece]:
        rows, tilts = piece.rows[active], [piece.low, *steps, piece.high]
        part, sizes = self._moments.some(rows), Sizes(*(one[rows] for one in self._sizes))
        self.work += part.cells * (FRESH * (1 + (steps.count > 1)) + steps.count)
        found = self._side.values(part, steps)
        for tilt, one in zip(steps, found, strict=True):
            self._attained(rows, self._side.ratio(tilt, one.lower), tilt)
        values = [_chosen(piece.left, active), *found, _chosen(piece.right, active)]
        return [
            Piece(p, q, rows, left, right, self._bound(p, q, left, right, sizes))
            for (p, left), (q, right) in pairwise(zip(tilts, values, strict=True))
        ]

    def _bound(self, p: float, q: float, left: Value | None, right: Value | None, sizes: Sizes) -> Vector:
        if left is None and right is not None:
            return self._side.near(sizes, q, right)
        known = self._side.far(sizes, p) if left is None or right is None else _between(self._side, left, right, p, q)
        return known if self._side.ceiling is None else np.minimum(known, self._side.ceiling(sizes, p))

    def _divided(self, piece: Piece, relative: float) -> Steps | None:
        """Where to divide a piece whose bound is too large; None if it is too short.

        The error of a bound next to 0 falls with the square of λ, and the bound from λ on falls with λ. Between two λ
        at a distance of h the error is about V²h⁴/32.
        """
        low, high, worst = piece.low, piece.high, int(np.argmax(piece.bound))
        if low == 0.0:
            excess = max(1.0, (float(piece.bound[worst]) / max(self.lower, 1e-300) - 1) / relative)
            return Steps(high * min(0.5, max(1 / 64, 0.9 / math.sqrt(excess)))) if high > FIRST else None
        if piece.left is None or piece.right is None:
            needed = float(piece.bound[worst]) / max(self.lower, 1e-300)
            return Steps(low * min(1000.0, max(2.0, 1.05 * needed))) if low < LAST else None
        ends = [
            float(self._side.ratio(tilt, one.upper).max()) for tilt, one in ((low, piece.left), (high, piece.right))
        ]
        if high > 3 * low or (high > 1.2 * low and min(ends) < self.lower * LOW):
            return Steps(math.sqrt(low * high))
        unit = float(self._side.ratio(low, np.ones(1))[0] - self._side.ratio(low, np.zeros(1))[0])
        curve = float(piece.left.curve_upper[worst])
        longest = (30 * relative * max(self.lower, 1e-300) / unit / max(curve * curve, 1e-300)) ** 0.25
        parts = min(MOST_PARTS, max(2, math.ceil((high - low) / longest)))
        step = (high - low) / parts
        return Steps(low + step, step, parts - 1) if step > low * 1e-9 else None


def _chosen(value: Value | None, active: Flags) -> Value | None:
    return None if value is None else Value(*(one[active] for one in value))


def supremum(
    moments: Moments,
    side: Side,
    *,
    relative: float,
    start: float,
    limit: float | None = None,
    floor: float = 0.0,
    work: int = MOST_WORK,
) -> Supremum:
    """The largest quotient of all pairs, to within a relative width, or just on one side of a limit.

    Below the floor, which is attained elsewhere, a bound is enough.
    """
    search = Search(moments, side, start=start, goal=max(floor, limit or 0.0))
    for width in (max(ROUGH, relative), relative):
        for _ in range(ROUNDS):
            least = max(search.lower, floor)
            if search.work > work or (limit is not None and least > limit):
                break
            target, last = (max(least * (1 + one), (limit or 0.0) * (1 - 1e-9)) for one in (width, relative))
            if not search.narrowed(target, relative, last):
                break
    return Supremum(Interval(search.lower, search.upper), search.row, search.tilt)


def _between(side: Side, left: Value, right: Value, p: float, q: float) -> Vector:
    """The largest quotient between two λ: of the chord minus a parabola."""
    at_p, at_q = left.upper, right.upper
    slope = (at_q - at_p) / (q - p)
    bend = _least_curve(left, right, q - p) / 2 * (1 - SAFE)
    constant, linear = at_p - slope * p + bend * (p * q), slope - bend * (p + q)
    found = np.maximum(side.ratio(p, at_p), side.ratio(q, at_q))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for turn in side.turns(constant, linear, bend):
            inside = (turn > p) & (turn < q)
            at = np.where(inside, turn, p)
            value = at_p + slope * (at - p) - bend * ((at - p) * (q - at))
            found = np.where(inside, np.maximum(found, side.ratio(at, value)), found)  # type: ignore[arg-type]
    return np.where(np.isfinite(at_p + at_q), found * (1 + SAFE), np.inf)


def _least_curve(left: Value, right: Value, h: float) -> Vector:
    """The least second derivative V between two λ: in its logarithm, of the larger of two lines. Knowing V ≥ 2c, the
    remainders K(p + t) − K(p) − tK′(p) are at most tD/h − ct(h − t): then it is the larger of two parabolas, both
    concave, so that wherever one takes over from the other, no value is below those at the ends and there."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        start, end = np.log(left.curve_lower), np.log(right.curve_lower)
        up = left.skew_lower - 2 * np.maximum(0.0, right.upper - left.lower - h * left.slope_lower) / h
        down = right.skew_upper + 2 * np.maximum(0.0, left.upper - right.lower + h * right.slope_upper) / h
        at_left, at_right = np.maximum(start, end - h * down), np.maximum(start + h * up, end)
        meet = (end - h * down - start) / (up - down)
        met = np.where((meet > 0.0) & (meet < h), start + meet * up, np.inf)
        least = _risen(np.minimum(np.minimum(at_left, at_right), met))
        split = np.where((meet > 0.0) & (meet < h), meet, h / 2)
        by_left = start + split * (up + least * (h - split))
        by_right = end - (h - split) * (down - least * split)
        again = _risen(np.minimum(np.minimum(start, end), np.minimum(by_left, by_right)))
        return np.where(least * (h * h) < MOST_BENT, np.fmax(least, again), least)


def _risen(logs: Vector) -> Vector:
    """e to a power, from below."""
    return np.where(np.isnan(logs), 0.0, np.exp(logs - 1e-12 * (1 + np.abs(logs))))


def _most_curve(sizes: Sizes, found: Value, above: Vector) -> Vector:
    """The largest second derivative from 0 to a λ with ψ(λ) at most this."""
    end = found.curve_upper * np.exp(np.minimum(700.0, 2 * above)) * (1 + SAFE)
    largest: Vector = np.maximum(sizes.variance_upper, end)
    return largest


def largest_rho(moments: Moments, *, xi: float, relative: float, limit: float | None = None) -> Supremum:
    """ρ(ξ) of pairs without infinite losses in their direction."""
    _, highest = moments.least_and_greatest()
    if float(highest.max()) <= xi:
        return Supremum(Interval(0.0, 0.0), 0, 0.0)

    def near(sizes: Sizes, tilt: float, found: Value) -> Vector:
        """K(λ)/λ only grows, and it is at most κ + λV/2; the quotient of that is largest at an end."""
        curve = _most_curve(sizes, found, found.upper - tilt * sizes.mean_lower * (1 - SAFE))
        end = (sizes.mean_upper + tilt * curve / 2 - xi) / (1 + tilt)
        return np.minimum(found.upper / tilt - xi, np.maximum(sizes.mean_upper - xi, end)) * (1 + SAFE)

    def turns(constant: Vector, linear: Vector, bend: Vector) -> tuple[Vector, ...]:
        """The quotient is c + (a + Cx)/(x² + x) with C = b − ξ − c, and turns where Cx² + 2ax + a = 0."""
        rise = linear - xi - bend
        root = np.sqrt(np.maximum(0.0, constant * constant - constant * rise))
        return (-constant + root) / rise, (-constant - root) / rise

    side = Side(
        lambda moments, steps: moments.log_moments(steps),
        lambda tilt, value: (value / tilt - xi) / (tilt + 1),
        turns,
        lambda sizes: sizes.mean_lower - xi * (1 + SAFE),
        near,
        lambda sizes, tilt: np.maximum(0.0, sizes.greatest - xi) / (tilt + 1) * (1 + SAFE),
    )
    found = supremum(moments, side, relative=relative, start=smallest_start(float(highest.max())), limit=limit)
    rounding = 4 * SAFE * xi
    return Supremum(
        Interval(max(0.0, found.value.lower - rounding), found.value.upper + rounding), found.row, found.tilt
    )


def largest_tau(moments: Moments, *, relative: float, limit: float | None = None, rho: float = math.inf) -> Supremum:
    """τ of pairs whose losses are finite in both directions. An upper bound on their ρ at ξ = 0 saves time.

    E[e^{−λL}] is the moment of order λ − 1 of the pair in the other direction. So ψ(−λ) ≤ ρλ(λ − 1) + λκ ≤ ρλ² for
    λ ≥ 1, because κ ≤ ρ; and ψ(λ) ≤ ρλ(λ + 1) − λκ.
    """
    low, high = moments.least_and_greatest()
    start = smallest_start(float((high - low).max()))
    square = None if limit is None else limit * limit
    found: list[Supremum] = []
    for sign in (1, -1):
        floor = max((one.value.lower for one in found), default=0.0)
        side = replace(_spread(sign), ceiling=_ceiling(sign, rho))
        found.append(
            supremum(moments, side, relative=2 * relative, start=start, limit=square, floor=floor, work=MOST_WORK // 2)
        )
    best = max(found, key=lambda one: one.value.lower)
    upper = max(one.value.upper for one in found)
    ends = Interval(math.sqrt(best.value.lower) * (1 - SAFE), math.sqrt(upper) * (1 + SAFE))
    return Supremum(ends, best.row, best.tilt)


def _ceiling(sign: int, rho: float) -> Callable[[Sizes, float], Vector]:
    def bound(sizes: Sizes, tilt: float) -> Vector:
        if sign > 0:
            return 2 * (rho + np.maximum(0.0, rho - sizes.mean_lower) / tilt) * (1 + SAFE)
        return np.full(len(sizes.least), 2 * rho * (1 + SAFE) if tilt >= 1.0 else np.inf)

    return bound


def _spread(sign: int) -> Side:
    def far(sizes: Sizes, tilt: float) -> Vector:
        reach = sizes.greatest - sizes.mean_lower if sign > 0 else sizes.mean_upper - sizes.least
        return 2 * np.maximum(0.0, reach) / tilt * (1 + SAFE)

    return Side(
        lambda moments, steps: moments.centered(sign, steps),
        lambda tilt, value: 2 * value / (tilt * tilt),
        lambda constant, linear, _: (-2 * constant / linear,),
        lambda sizes: sizes.variance_lower,
        lambda sizes, _, found: _most_curve(sizes, found, found.upper) * (1 + SAFE),
        far,
    )
