"""How concentrated a loss is: its variance, its sub-Gaussian standard τ, and the line ξ + ρα above its moments.

With K(λ) = ln E[e^{λL}], κ = E[L] and ψ(λ) = K(λ) − λκ,

    τ² = sup over λ ≠ 0 of 2ψ(λ)/λ²                        [DR16, Def. 2.1]
    ρ(ξ) = sup over λ > 0 of (K(λ)/λ − ξ)/(λ + 1)          [BS16, Def. 1.1, with α = λ + 1]

Both are suprema over half-lines. K and ψ are convex, so between two λ they lie below their chord: finitely many values
prove a bound everywhere between them. Near 0, E[f] of `sitr.loss.around` bounds the first, and K(a)/a the
second; far out, both are bounded by how K can grow at most. The bounds from below are values at single λ.

For λ < −½, K(λ) is K of the reversed law at −1 − λ: E_P[(Q/P)^{−λ}] = E_Q[(Q/P)^{−1−λ}]. At λ = −1 this says τ² ≥ 2κ.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from sitr.loss.around import Around, average, centre, law_variance
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import FUNCTIONS, Law, Laws
from sitr.loss.moments import log_moment, mean
from sitr.numbers import Interval, largest

LOOKS = 200
"""The most values of λ tried on a half-line. If they do not suffice, the interval is wider than requested."""

FARTHEST = 2.0**24
SAFE = 1e-12
"""More than all roundings in a quotient of sums of positive numbers."""


def total_variance(laws: Laws, *, relative: float) -> Interval:
    """Var L for one direction: variances of independent losses add."""
    return _added(laws, lambda law: law_variance(law, relative=relative))


def subgaussian_square(laws: Laws, *, relative: float) -> Interval:
    """τ² for one direction; infinite if the loss may be infinite in either."""
    if any(law.infinite > 0.0 or law.reversed().infinite > 0.0 for law, _ in laws):
        return Interval(math.inf, math.inf)
    if (square := _gaussian_square(laws)) is not None:
        return Interval(square * (1 - SAFE), square * (1 + SAFE))
    means = _added(laws, lambda law: mean(law, relative=relative / 16))
    variance = total_variance(laws, relative=relative / 8)
    start, least = 1.0, max(2 * means.lower, variance.lower)
    scale = math.sqrt(variance.upper) + means.upper
    while (near := _near(laws, start := min(0.5, start), relative)) > variance.upper * (1 + relative / 4):
        start /= 4
        if start < 1e-9 / (1 + scale):
            break
    sides = [
        _Ratio(
            lambda x, sign=sign: _added(laws, lambda law: _excess(law, sign * x, relative / 16)),  # type: ignore[misc]
            lambda x, value: 2 * value / (x * x),
            lambda at_zero, slope: -2 * at_zero / slope if slope > 0.0 else math.inf,
            _far(laws, means, sign),
        )
        for sign in (1, -1)
    ]
    # Far out, the quotient tends to the curvature of the Gaussian noise behind the laws, if there is any.
    least = max(least, *(_growth(way)[1] * (1 - 3 * SAFE) for way in (laws, _reversed(laws))))
    found = [one.supremum(start, near, least, relative) for one in sides]
    return largest((Interval(least, 0.0), *found))


def least_rho(laws: Laws, *, xi: float, relative: float) -> Interval:
    """ρ(ξ) for one direction, at least 0; infinite if the loss may be infinite."""
    if not laws or any(law.infinite > 0.0 for law, _ in laws):
        return Interval(math.inf, math.inf) if laws else Interval(0.0, 0.0)
    if xi == 0.0 and (square := _gaussian_square(laws)) is not None:
        return Interval(square / 2 * (1 - SAFE), square / 2 * (1 + SAFE))
    means = _added(laws, lambda law: mean(law, relative=relative / 8))
    slope, curvature = _growth(laws)

    def near(x: float) -> float:
        return _added(laws, lambda law: log_moment(law, x, relative=relative / 8)).upper / x * (1 + SAFE) - xi

    def far(x: float) -> float:
        return max((slope - xi + curvature * x / 2) / (x + 1), curvature / 2) * (1 + SAFE)

    least = max(0.0, means.lower * (1 - SAFE) - xi, curvature / 2 * (1 - 3 * SAFE))
    start = 0.25
    while (bound := near(start)) > (means.upper - xi) * (1 + relative / 2) and start > 1e-9:
        start /= 4
    ratio = _Ratio(
        lambda x: _added(laws, lambda law: log_moment(law, x, relative=relative / 8)),
        lambda x, value: (value / x - xi) / (x + 1),
        lambda at_zero, slope: _turn(at_zero, slope - xi),
        far,
    )
    found = ratio.supremum(start, bound, least, relative)
    rounding = SAFE * (found.upper + xi)
    return Interval(max(0.0, found.lower - rounding), max(0.0, found.upper + rounding))


def _turn(at_zero: float, slope: float) -> float:
    """The x at which (A + Cx)/(x(x + 1)) is largest, with A ≤ 0 < C: Cx² + 2Ax + A = 0."""
    if slope <= 0.0:
        return math.inf
    return (-at_zero + math.sqrt(max(0.0, at_zero * at_zero - at_zero * slope))) / slope


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A quotient with a convex numerator, on x > 0."""

    value: Callable[[float], Interval]
    """The convex function."""
    ratio: Callable[[float, float], float]
    """The quotient at x, from the value there."""
    turn: Callable[[float, float], float]
    """The x at which the quotient of a line, given by its value at 0 and its slope, is largest."""
    far: Callable[[float], float]
    """A bound on the quotient from x on."""

    def supremum(self, start: float, near: float, least: float, relative: float) -> Interval:
        """The supremum over x > 0, at least `least`, if the quotient is at most `near` up to `start`."""
        known = {start: self.value(start)}
        best = max(least, self.ratio(start, known[start].lower) * (1 - SAFE))
        end = start
        while (beyond := self.far(end)) > best * (1 + relative / 2) and end < FARTHEST:
            end *= 2
            known[end] = self.value(end)
            best = max(best, self.ratio(end, known[end].lower) * (1 - SAFE))
        places = sorted(known)
        queue = [self._piece(known, p, q) for p, q in pairwise(places)]
        heapq.heapify(queue)
        while queue and -queue[0][0] > best * (1 + relative / 2) and len(known) < LOOKS:
            _, p, q = heapq.heappop(queue)
            middle = math.sqrt(p * q)
            if not p < middle < q:
                break
            known[middle] = self.value(middle)
            best = max(best, self.ratio(middle, known[middle].lower) * (1 - SAFE))
            heapq.heappush(queue, self._piece(known, p, middle))
            heapq.heappush(queue, self._piece(known, middle, q))
        return Interval(best, max(best, near, beyond, -queue[0][0] if queue else 0.0) * (1 + SAFE))

    def _piece(self, known: dict[float, Interval], p: float, q: float) -> tuple[float, float, float]:
        """Minus the largest quotient on a chord, and its ends."""
        at_p, at_q = known[p].upper, known[q].upper
        if not math.isfinite(at_p + at_q):
            return -math.inf, p, q
        slope = (at_q - at_p) / (q - p)
        places = {p: at_p, q: at_q}
        turn = self.turn(at_p - slope * p, slope)
        if p < turn < q:
            places[turn] = at_p + slope * (turn - p)
        largest = max(self.ratio(x, value) for x, value in places.items()) * (1 + SAFE)
        return -min(largest, self.far(p)), p, q


def _reversed(laws: Laws) -> Laws:
    return [(law.reversed(), times) for law, times in laws]


def _gaussian_square(laws: Laws) -> float | None:
    """Σ(Δ/σ)² if all noise is Gaussian, real or on the integers; None otherwise.

    Then 2ψ(λ)/λ² is at most that for every real λ, and K(λ) at most λ(λ + 1)/2 times that, with equality at λ = 1: the
    weights e^{−(y−s)²/2σ²} of all integers y add up to no more at any shift s than at s = 0.      [CKS20, Prop. 5]
    """
    squares = []
    for law, times in laws:
        match law:
            case GaussianLaw(mu):
                squares.append(times * mu * mu)
            case DiscreteGaussianLaw(sigma, shift):
                squares.append(times * (shift / sigma) ** 2)
            case _:
                return None
    return math.fsum(squares)


def _added(laws: Laws, number: Callable[[Law], Interval]) -> Interval:
    parts = [(number(law), times) for law, times in laws]
    low, high = (math.fsum(times * getattr(one, end) for one, times in parts) for end in ("lower", "upper"))
    return Interval(low * (1 - FUNCTIONS), high * (1 + FUNCTIONS))


def _near(laws: Laws, reach: float, relative: float) -> float:
    """A bound on 2ψ(λ)/λ² for 0 < |λ| ≤ reach: ψ ≤ ln(1 + E[λ²f/2] + λd) − λd ≤ E[λ²f/2], whatever d = κ − m is."""
    return _added(laws, lambda law: average(law, Around(centre(law)[0], reach, even=True), relative=relative / 8)).upper


def _excess(law: Law, tilt: float, relative: float) -> Interval:
    """ψ(λ) of one law."""
    if isinstance(law, GaussianLaw):
        exact = tilt * tilt * law.mu * law.mu / 2
        return Interval(exact * (1 - FUNCTIONS), exact * (1 + FUNCTIONS))
    if -0.5 <= tilt <= 1.0:
        middle, off = centre(law)
        found, half = average(law, Around(middle, tilt), relative=relative), tilt * tilt / 2
        return Interval(_least(found.lower * half, tilt * off), _most(found.upper * half, tilt * off))
    if tilt > 1.0:
        moment, line = log_moment(law, tilt, relative=relative), mean(law, relative=relative)
        return _difference(moment, line, tilt)
    back, line = law.reversed(), mean(law, relative=relative)
    rest = -1.0 - tilt
    if rest > 0.0:
        return _difference(log_moment(back, rest, relative=relative), line, tilt)
    if rest == 0.0:
        return _difference(Interval(0.0, 0.0), line, tilt)
    inner, there = _excess(back, rest, relative), mean(back, relative=relative)
    return _difference(Interval(inner.lower + rest * there.upper, inner.upper + rest * there.lower), line, tilt)


def _difference(moment: Interval, line: Interval, tilt: float) -> Interval:
    """K − λκ, with the rounding of both terms."""
    ends = (line.lower, line.upper) if tilt < 0 else (line.upper, line.lower)
    low, high = moment.lower - tilt * ends[0], moment.upper - tilt * ends[1]
    rounding = 4 * FUNCTIONS * (abs(moment.upper) + abs(tilt * line.upper))
    return Interval(max(0.0, low - rounding), high + rounding)


def _least(more: float, off: float) -> float:
    """The least of ln(1 + Y + d) − d for |d| ≤ off: it is concave in d."""
    ends = [math.log1p(more + d) - d for d in (off, -off) if more + d > -1.0]
    return max(0.0, min(ends) - 4 * FUNCTIONS * (more + abs(off))) if len(ends) == 2 else 0.0


def _most(more: float, off: float) -> float:
    """The largest of the same: Y where d = −Y is possible, otherwise at an end."""
    off = abs(off)
    if more <= off:
        return more
    return (math.log1p(more - off) + off) * (1 + 2 * FUNCTIONS) + 4 * FUNCTIONS * off


def _far(laws: Laws, means: Interval, sign: int) -> Callable[[float], float]:
    """A bound on 2ψ(λ)/λ² from |λ| = x on.

    Upward K(λ) ≤ sλ + cλ²/2. Downward K(λ) ≤ s't + c't²/2 of the reversed laws at t = |λ| − 1 < |λ|.
    """
    slope, curvature = _growth(laws if sign > 0 else _reversed(laws))
    rest = max(0.0, slope - means.lower) if sign > 0 else slope + means.upper
    return lambda x: (curvature + 2 * rest / x) * (1 + SAFE) if sign > 0 or x > 1.0 else math.inf


def _growth(laws: Laws) -> tuple[float, float]:
    """s ≥ 0 and c with K(λ) ≤ sλ + cλ²/2 for all λ > 0."""
    parts = [(_law_growth(law), times) for law, times in laws]
    slope, curvature = (math.fsum(times * part[place] for part, times in parts) for place in (0, 1))
    return slope * (1 + SAFE), curvature * (1 + SAFE)


def _law_growth(law: Law) -> tuple[float, float]:
    """A largest loss, or the moments of the Gaussian noise behind the law: sampling does not increase them.

    Discrete Gaussian noise has no larger moments than real noise [CKS20, Prop. 5]; by the joint convexity of the
    hockey-stick, a sample has a smaller one at every ε, and K is an average of those.
    """
    if math.isfinite(law.greatest):
        return max(0.0, law.greatest), 0.0
    match law:
        case GaussianLaw(mu):
            return mu * mu / 2, mu * mu
        case DiscreteGaussianLaw(sigma, shift):
            square = (shift / sigma) ** 2
            return square / 2, square
        case PoissonLaw(inner, _, added):
            return _law_growth(inner.reversed() if added else inner)
        case SubsetLaw(inner, _):
            return _law_growth(inner)
    return math.inf, 0.0
