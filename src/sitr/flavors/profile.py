"""A privacy profile: several (ε, δ) that one mechanism keeps at once."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import LARGEST_LOSS, ApproximateDP
from sitr.flavors.meaning import RELATIVE
from sitr.flavors.promise import Obstacle, Points, Promise, count, parameter
from sitr.namespace import Later
from sitr.numbers import Interval, ball, exact, largest, probability, upward
from sitr.precision import precision

if TYPE_CHECKING:
    from sitr.loss import lattice
    from sitr.loss.loss import Loss
else:  # numpy, of which reading and writing a promise needs nothing
    lattice = Later("sitr.loss.lattice")

NOTHING: Points = ((0.0, 0.0),)
"""The profile of a release of nothing."""

MANY, FEWER = 16, 2048
"""Sums of more than MANY different profiles have FEWER points, which costs less than a thousandth of ε."""


@dataclass(frozen=True, slots=True)
class PrivacyProfile(Promise):
    """H_{e^ε} ≤ δ at several points, and therefore on every chord between them.

    As a function of t = e^ε the true δ is convex, falls from 1 at t = 0, and satisfies δ(−ε) ≤ 1 − e^{−ε}(1 − δ(ε)),
    because the promise holds both ways. So the lower convex envelope of all these points bounds it, and the envelope is
    itself attained by a pair of laws: that pair is what composes.      [ZDW22, Prop. 9; KOV15, Thm 3.3]

    >>> profile = PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6)))
    >>> profile.delta(epsilon=0.5) < PrivacyProfile(((2.0, 1e-6),)).delta(epsilon=0.5)
    True
    """

    notation = "profile((ε, δ), …)"
    exposes = True
    obstacle = Obstacle(
        "It states no (ε, δ)", "convert it with to_approximate(delta=…) at each δ of interest, and write these points"
    )
    closed = Obstacle(
        "Several (ε, δ) bound neither the largest loss nor any moment",
        "use to_approximate(delta=…), or PureDP if δ = 0",
    )

    points: Points

    def __post_init__(self) -> None:
        try:
            checked = [ApproximateDP(epsilon, delta) for epsilon, delta in self.points]
        except InvalidPromise:
            raise
        except (TypeError, ValueError):  # no pairs
            checked = []
        kept: list[tuple[float, float]] = []
        for epsilon, delta in sorted((point.epsilon, point.delta) for point in checked):
            if not kept or delta < kept[-1][1]:
                kept.append((epsilon, delta))
        if not kept:
            raise InvalidPromise(
                wanted="at least one point, and each of them a pair (ε, δ)",
                given=repr(self.points),
                do="Write PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6))).",
            )
        object.__setattr__(self, "points", tuple(kept))

    @property
    def parts(self) -> tuple[ApproximateDP, ...]:
        """The points as promises of their own."""
        return tuple(ApproximateDP(*point) for point in self.points)

    @classmethod
    def of(cls, loss: Loss, /, *, epsilons: Iterable[float], relative: float = RELATIVE) -> PrivacyProfile:
        """The least δ at each of these ε, rounded up.

        >>> from sitr.loss import gaussian
        >>> PrivacyProfile.of(gaussian(sigma=1), epsilons=(1.0, 3.0))
        PrivacyProfile(points=((1.0, 0.126...), (3.0, 0.0015...)))
        >>> PrivacyProfile(((1.0, 0.13), (3.0, 0.002))).kept_by(gaussian(sigma=1))
        True
        """
        parts = [ApproximateDP.of(loss, epsilon=epsilon, relative=relative) for epsilon in epsilons]
        return cls(tuple((part.epsilon, part.delta) for part in parts))

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The largest excess over all points."""
        return largest(part.excess(loss, relative=relative) for part in self.parts)

    def worst_loss(self) -> Loss | None:
        """The pair of laws whose hockey-stick is the envelope of all points.      [ZDW22, Prop. 9]"""
        from sitr.loss.forms.finite import FiniteLaw  # noqa: PLC0415 - slow to import
        from sitr.loss.loss import Loss  # noqa: PLC0415 - slow to import

        if self.points == NOTHING or self.points[-1][0] > LARGEST_LOSS:
            return Loss(()) if self.points == NOTHING else None
        mass = self.infinite_mass()
        heavy = [(float(loss), math.log(weight)) for loss, weight in atoms(self) if weight > 0.0]
        losses, masses = (tuple(column) for column in zip(*heavy, strict=True))
        return Loss.of(FiniteLaw(losses, masses, infinite=mass, beyond=mass))

    @classmethod
    def compose(cls, parts: Iterable[PrivacyProfile], /) -> PrivacyProfile:
        """The losses of the dominating pairs add, on a lattice and from above.      [ZDW22, Thm 10; DGKM22, Sec. 4]

        Sums in another order differ by the error of the lattice: about a thousandth of ε, never below the exact sum.
        """
        return _composed(Counter(parts))

    @classmethod
    def compose_near(cls, parts: Iterable[tuple[PrivacyProfile, int]], /, *, delta: float) -> PrivacyProfile:
        """Like `compose` for parts with a number of releases each, but only for points near this δ, which is faster.

        >>> whole = PrivacyProfile.compose_near([(PrivacyProfile(((0.1, 1e-8),)), 100)], delta=1e-5)
        >>> whole.to_approximate(delta=1e-5)
        ApproximateDP(epsilon=4.3296..., delta=1e-05)
        """
        counted: Counter[PrivacyProfile] = Counter()
        for part, times in parts:
            counted[part] += times
        return _composed(counted, near=delta)

    def __mul__(self, times: int, /) -> PrivacyProfile:
        return _composed({self: count(times, what="The number of releases")})

    def for_group(self, size: int, /) -> PrivacyProfile:
        """The formula for one (ε, δ), at each point."""
        groups = [part.for_group(size) for part in self.parts]
        return PrivacyProfile(tuple((group.epsilon, group.delta) for group in groups))

    def covers(self, other: Promise, /) -> bool:
        if isinstance(other, ApproximateDP):
            return self.delta(epsilon=other.epsilon) <= other.delta
        return other.follows_from(self)

    def follows_from(self, promise: Promise, /) -> bool:
        """Every point follows."""
        return all(promise.covers(part) for part in self.parts)

    @property
    def stated(self) -> Points:
        return self.points

    @classmethod
    def implied_by(cls, promise: Promise, /, *, delta: float | None = None) -> PrivacyProfile | None:  # noqa: ARG003
        """The points that a promise states."""
        return cls(promise.stated) if promise.stated else None

    def written(self) -> str:
        return ", ".join(map(repr, self.points))

    @classmethod
    def read(cls, *points: Any) -> PrivacyProfile:
        return cls(points)

    def delta(self, *, epsilon: float) -> float:
        """The envelope at this ε ≥ 0, rounded up."""
        epsilon = parameter(epsilon, name="epsilon", flavor="PrivacyProfile")
        if epsilon >= self.points[-1][0]:
            return self.points[-1][1]
        with precision(max(_bits(self.points), _bits(((epsilon, 0.0),)))):
            vertices = _envelope(self)
            place = bisect_right(vertices, epsilon, key=lambda vertex: vertex.loss)
            low, high = vertices[place - 1], vertices[place]
            share = (ball(epsilon).exp() - low.odds) / (high.odds - low.odds)
            chord = probability(low.bound + (high.bound - low.bound) * share)
        # δ decreases, so the δ promised at this ε or a smaller one holds as well.
        return min([chord, *(delta for _, delta in self.points[: bisect_right(self.points, (epsilon, 1.0))][-1:])])

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """The least ε at this δ.

        >>> PrivacyProfile(((1.0, 1e-6),)).to_approximate(delta=1e-6)
        ApproximateDP(epsilon=1.0, delta=1e-06)
        """
        whole = ApproximateDP(0.0, delta)
        if delta < self.infinite_mass():
            raise InvalidPromise(
                wanted=f"a δ of at least {self.infinite_mass()}, the probability with which a loss may be infinite",
                given=str(whole.delta),
                do="Choose a larger δ: below it this promise says nothing.",
            )
        if self.delta(epsilon=0.0) <= delta:
            return whole
        low, high = 0.0, next(epsilon for epsilon, least in self.points if least <= delta)
        while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-15 * high:
            low, high = (low, middle) if self.delta(epsilon=middle) <= delta else (middle, high)
        return ApproximateDP(high, delta)


class Vertex(NamedTuple):
    """A point of the profile, H_t ≤ bound at t = odds = e^loss."""

    loss: float
    odds: arb
    bound: arb


@lru_cache(maxsize=64)
def _envelope(profile: PrivacyProfile) -> list[Vertex]:
    """The convex envelope of all points, mirrored ones included, from t = 0.

    Every chord between two of the points is valid. A point is left out unless it is proved to lie below the chord.
    """
    with precision(_bits(profile.points)):
        right = [Vertex(epsilon, ball(epsilon).exp(), ball(delta)) for epsilon, delta in profile.points]
        left = [Vertex(-loss, 1 / odds, 1 - (1 - bound) / odds) for loss, odds, bound in reversed(right)]
        hull = [Vertex(-math.inf, arb(0), arb(1))]
        for vertex in [*left, *right]:
            if vertex.loss == hull[-1].loss:
                continue  # ε = 0 is its own mirror image
            while len(hull) > 1 and not _below(hull[-2], hull[-1], vertex):
                hull.pop()
            hull.append(vertex)
    return hull


def _below(first: Vertex, middle: Vertex, last: Vertex) -> bool:
    """Whether the middle point is proved to lie below the chord."""
    rise = (middle.bound - first.bound) * (last.odds - first.odds)
    return bool(rise < (last.bound - first.bound) * (middle.odds - first.odds))


@lru_cache(maxsize=64)
def _bits(points: Points) -> int:
    """Enough bits to distinguish the smallest e^ε and δ from 1 and 0, and to represent the largest e^ε."""
    return 192 + max(abs(math.frexp(number)[1]) for point in points for number in point)


def atoms(profile: PrivacyProfile) -> list[tuple[Fraction, float]]:
    """The finite losses of the dominating pair under P: (loss, mass rounded up).

    Q's mass at a vertex is the change of slope there, P's is t times that.
    """
    with precision(_bits(profile.points)):
        vertices = _envelope(profile)
        slopes = [(right.bound - left.bound) / (right.odds - left.odds) for left, right in pairwise(vertices)]
        bends = [after - before for before, after in pairwise([*slopes, arb(0)])]
        return [(exact(at.loss), _mass(at.odds * bend)) for at, bend in zip(vertices[1:], bends, strict=True)]


def _mass(bound: arb) -> float:
    """A float whose binary value is at least this probability; with `probability`, its decimal is."""
    if bound <= 0:
        return 0.0
    return math.nextafter(float(bound.upper()), math.inf) if bound < 1 else 1.0


def _composed(parts: Mapping[PrivacyProfile, int], *, near: float | None = None) -> PrivacyProfile:
    """The profile of the sum of independent losses, added in an order that depends only on the parts.

    With `near`, only the points around this δ are written down.
    """
    some = ((part, times) for part, times in parts.items() if part.points != NOTHING)
    active = sorted(some, key=lambda item: item[0].points)
    if not active:
        return PrivacyProfile(NOTHING)
    if len(active) == 1 and active[0][1] == 1:
        return active[0][0]
    infinite = exposed((part.infinite_mass(), times) for part, times in active)
    reach = sum((exact(part.points[-1][0]) * times for part, times in active), Fraction(0))
    last = (upward(reach), infinite)
    if reach == 0:
        return PrivacyProfile((last,))
    unit, cells, cut = max(exact(part.points[-1][0]) for part, _ in active), lattice.CELLS, lattice.CUT
    if near is not None:  # all sums together cut off less than 10⁻¹² of δ
        cells, cut = lattice.CELLS if len(active) <= MANY else FEWER, near * 1e-12 / sum(times for _, times in active)
    cut = max(lattice.CUT, cut)
    laws = (lattice.Lattice.of(atoms(part), unit=unit, cells=cells, cut=cut) * times for part, times in active)
    law = lattice.total(laws)
    bounds = list(law.profile())
    if near is not None:  # from the largest ε to 0, δ grows
        place = bisect_right(bounds, near - infinite, key=lambda bound: bound[1])
        bounds = bounds[max(0, place - 2) : place + 2]
    raised = ((epsilon, min(Fraction(1), exact(infinite) + exact(delta))) for epsilon, delta in bounds)
    return PrivacyProfile((*((upward(epsilon), upward(delta)) for epsilon, delta in raised if epsilon < reach), last))


def exposed(masses: Iterable[tuple[float, int]]) -> float:
    """1 − Π(1 − δ)^times, the mass at +∞ of a sum of losses; at most Σδ, which is exact for a single release.

    >>> exposed([(1e-6, 1)]), exposed([(0.5, 2)])
    (1e-06, 0.75)
    """
    with precision(1300):  # a sum of the smallest δ is still a δ
        finite, union = arb(1), Fraction(0)
        for mass, times in masses:
            finite *= (1 - ball(mass)) ** times
            union += exact(mass) * times
        return min(probability(1 - finite), upward(min(Fraction(1), union)))
