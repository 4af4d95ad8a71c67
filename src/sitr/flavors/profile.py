"""A privacy profile: several (ε, δ) that one mechanism keeps at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise, count, implies_around, incompatible
from sitr.loss.bounds import ball, exact, upper, upward

CELLS = 8192
"""The lattice on which losses are added; finer costs time, not soundness."""


@dataclass(frozen=True, slots=True)
class PrivacyProfile:
    """H_{e^ε} ≤ δ at several points, and therefore on every chord between them.

    As a function of t = e^ε the true δ is convex, falls from 1 at t = 0, and satisfies δ(−ε) ≤ 1 − e^{−ε}(1 − δ(ε)),
    because the promise holds both ways. So the lower convex envelope of all these points bounds it, and the envelope is
    itself attained by a pair of laws: that pair is what composes.      [ZDW22, Prop. 9; KOV15, Thm 3.3]

    >>> profile = PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6)))
    >>> profile.delta(epsilon=0.5) < PrivacyProfile(((2.0, 1e-6),)).delta(epsilon=0.5)
    True
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        checked = sorted((point.epsilon, point.delta) for point in (ApproximateDP(*pair) for pair in self.points))
        kept: list[tuple[float, float]] = []
        for epsilon, delta in checked:
            if not kept or delta < kept[-1][1]:
                kept.append((epsilon, delta))
        if not kept:
            raise InvalidPromise(
                wanted="A profile has at least one point (ε, δ).",
                given="There is none.",
                do="Write PrivacyProfile(((1.0, 1e-6),)).",
            )
        object.__setattr__(self, "points", tuple(kept))

    @classmethod
    def compose(cls, parts: Iterable[PrivacyProfile], /) -> PrivacyProfile:
        """The losses of the dominating pairs add; each is split between two points of a lattice so that neither P nor Q
        loses mass, which can only raise δ.      [DGKM22, Sec. 4: connect the dots]"""
        return _composed([(part, 1) for part in parts])

    def __add__(self, other: PrivacyProfile, /) -> PrivacyProfile:
        if not isinstance(other, PrivacyProfile):
            raise incompatible(self, other)
        return self.compose((self, other))

    def __mul__(self, times: int, /) -> PrivacyProfile:
        return _composed([(self, count(times, what="The number of releases"))])

    def for_group(self, size: int, /) -> PrivacyProfile:
        """The formula for one (ε, δ), at each point."""
        groups = [ApproximateDP(*point).for_group(size) for point in self.points]
        return PrivacyProfile(tuple((group.epsilon, group.delta) for group in groups))

    def covers(self, other: Promise, /) -> bool:
        match other:
            case PrivacyProfile(points):
                return all(self.delta(epsilon=epsilon) <= delta for epsilon, delta in points)
            case ApproximateDP():
                return self.delta(epsilon=other.epsilon) <= other.delta
        return implies_around(self, other)

    def infinite_mass(self) -> float:
        """The most that P(L = +∞) can be: the δ that no ε removes."""
        return self.points[-1][1]

    def delta(self, *, epsilon: float) -> float:
        """The envelope at this ε ≥ 0, rounded up."""
        if epsilon >= self.points[-1][0]:
            return self.points[-1][1]
        vertices = _envelope(self)
        place = next(i for i, (loss, _) in enumerate(vertices) if loss > epsilon)
        with ctx.workprec(192):
            (low, at_low), (high, at_high) = vertices[place - 1], vertices[place]
            left, right, here = ball(low).exp(), ball(high).exp(), ball(epsilon).exp()
            return min(1.0, upper(at_low + (at_high - at_low) * (here - left) / (right - left)))

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """The least ε at this δ.

        >>> PrivacyProfile(((1.0, 1e-6),)).to_approximate(delta=1e-6)
        ApproximateDP(epsilon=1.0, delta=1e-06)
        """
        whole = ApproximateDP(0.0, delta)
        if delta < self.infinite_mass():
            raise InvalidPromise(
                wanted=f"A δ of at least {self.infinite_mass()} was wanted: below it this promise says nothing.",
                given=f"{whole.delta} was given.",
                do="Choose a larger δ: a loss may be infinite with that probability, whatever ε is.",
            )
        if self.delta(epsilon=0.0) <= delta:
            return whole
        low, high = 0.0, self.points[-1][0]
        while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-15 * high:
            low, high = (low, middle) if self.delta(epsilon=middle) <= delta else (middle, high)
        return ApproximateDP(high, delta)


@lru_cache(maxsize=64)
def _envelope(profile: PrivacyProfile) -> list[tuple[float, arb]]:
    """The vertices (loss, bound) of the convex envelope in t = e^loss, mirrored points included; the first is t = 0.

    Which points are vertices need not be decided exactly: a point too few or too many is sound, for every chord is.
    """
    with ctx.workprec(192):
        right = [(epsilon, ball(delta)) for epsilon, delta in profile.points]
        left = [(-epsilon, 1 - (1 - delta) * (-ball(epsilon)).exp()) for epsilon, delta in reversed(right)]
        hull: list[tuple[float, arb]] = [(-math.inf, arb(1))]
        for vertex in [*left, *right]:
            if vertex[0] == hull[-1][0]:
                continue
            while len(hull) > 1 and _above(hull[-2], hull[-1], vertex):
                hull.pop()
            hull.append(vertex)
    return hull


def _above(first: tuple[float, arb], middle: tuple[float, arb], last: tuple[float, arb]) -> bool:
    """Is the middle point on or above the chord?"""
    x, y, z = (ball(loss).exp() if math.isfinite(loss) else arb(0) for loss, _ in (first, middle, last))
    return bool((middle[1] - first[1]) * (z - x) >= (last[1] - first[1]) * (y - x))


def _law(profile: PrivacyProfile) -> tuple[list[tuple[float, float]], float]:
    """The loss of the dominating pair under P: (loss, mass rounded up), and the mass at +∞.

    Q's mass at a vertex is the change of slope there, P's is t times that.
    """
    vertices = _envelope(profile)
    with ctx.workprec(192):
        x = [ball(loss).exp() if math.isfinite(loss) else arb(0) for loss, _ in vertices]
        slopes = [(vertices[i][1] - vertices[i - 1][1]) / (x[i] - x[i - 1]) for i in range(1, len(vertices))] + [arb(0)]
        masses = [upper(x[i] * (slopes[i] - slopes[i - 1])) for i in range(1, len(vertices))]
    atoms = [(vertices[i + 1][0], max(0.0, mass)) for i, mass in enumerate(masses)]
    return atoms, profile.points[-1][1]


def _composed(parts: list[tuple[PrivacyProfile, int]]) -> PrivacyProfile:
    """The profile of the sum of independent losses."""
    reach = sum(exact(part.points[-1][0]) * times for part, times in parts)
    if reach == 0:
        return PrivacyProfile(((0.0, _infinite(parts)),))
    step = float(2 * reach) / CELLS
    masses, lowest, operations = np.ones(1), 0, 0
    for part, times in parts:
        one, start = _on_lattice(_law(part)[0], step)
        power, at, spent = _power(one, start, times)
        masses, lowest = np.convolve(masses, power), lowest + at
        operations += spent + len(masses)
    # All terms are positive, so each rounding is relative; this is far more than they can add up to.
    masses = masses * (1 + 4 * operations * np.finfo(float).eps)
    losses = step * (lowest + np.arange(len(masses), dtype=np.float64))
    return PrivacyProfile(tuple(_points(losses, masses, _infinite(parts))))


def _infinite(parts: list[tuple[PrivacyProfile, int]]) -> float:
    """1 − Π(1 − δ)^times."""
    with ctx.workprec(192):
        finite = sum(
            ((-ball(part.points[-1][1])).log1p() * times for part, times in parts if part.points[-1][1] < 1), arb(0)
        )
        return 1.0 if any(part.points[-1][1] == 1.0 for part, _ in parts) else max(0.0, upper(-finite.expm1()))


def _on_lattice(atoms: list[tuple[float, float]], step: float) -> tuple[NDArray[np.float64], int]:
    """Each atom split between the lattice points around it, so that P and Q keep their mass."""
    places = [math.floor(loss / step) for loss, _ in atoms]
    lowest = min(places)
    masses = np.zeros(max(places) - lowest + 2)
    for (loss, mass), place in zip(atoms, places, strict=True):
        share = -math.expm1(place * step - loss) / -math.expm1(-step)
        share = min(1.0, max(0.0, share * (1 + 1e-12)))  # a little too much to the right only raises δ
        masses[place - lowest + 1] += mass * share
        masses[place - lowest] += mass * (1 - share)
    return masses, lowest


def _power(masses: NDArray[np.float64], start: int, times: int) -> tuple[NDArray[np.float64], int, int]:
    """The law of a sum of `times` such losses, by repeated squaring, and the number of roundings in it."""
    result, at, operations = np.ones(1), 0, 0
    square, square_at = masses, start
    while times:
        if times & 1:
            result, at = np.convolve(result, square), at + square_at
            operations += len(result)
        times >>= 1
        if times:
            square, square_at = np.convolve(square, square), 2 * square_at
            operations += 2 * operations + len(square)
    return result, at, operations


def _points(losses: NDArray[np.float64], masses: NDArray[np.float64], infinite: float) -> Iterable[tuple[float, float]]:
    """δ at every positive loss: Σ_{l > ε} p(l)(1 − e^{ε−l}) + P(L = +∞), and no loss beyond the last."""
    positive = losses > 0
    grid, kept = losses[positive], masses[positive]
    if not len(grid):
        return [(0.0, infinite)]
    # For ε = grid[i]:  A_i − e^{ε} B_i  with A, B the tails of p and p·e^{−l}; as a recursion without cancellation:
    # δ_i = e^{ε_i − ε_{i+1}}·δ_{i+1} + (1 − e^{ε_i − ε_{i+1}})·A_{i+1}.
    factor = math.exp(-(grid[1] - grid[0])) if len(grid) > 1 else 1.0
    delta, tail = 0.0, 0.0
    points = [(upward(float(grid[-1]) * (1 + 1e-12)), infinite)]
    for i in range(len(grid) - 1, 0, -1):
        tail += float(kept[i])
        delta = factor * delta + (1 - factor) * tail
        points.append((float(grid[i - 1]) * (1 + 1e-12), min(1.0, upward(infinite + delta * (1 + 1e-10)))))
    return points
