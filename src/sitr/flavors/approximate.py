"""Approximate differential privacy: one point of the loss's tail is bounded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import ctx

from sitr.flavors.promise import Promise, count, implies_around, incompatible, parameter, total
from sitr.numbers import ball, downward, exact, upper, upward


@dataclass(frozen=True, slots=True)
class ApproximateDP:
    """The loss exceeds ε no more than δ allows.

    H_{e^ε}(P‖Q) = E_P[(1 − e^{ε−L})₊] ≤ δ, in both directions.      [DKMMN06, Def. 1]

    >>> ApproximateDP(0.5, 1e-7) + ApproximateDP(0.25, 2e-7)
    ApproximateDP(epsilon=0.75, delta=3e-07)
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parameter(self.epsilon, name="epsilon", flavor="ApproximateDP"))
        object.__setattr__(self, "delta", parameter(self.delta, name="delta", flavor="ApproximateDP", at_most=1.0))

    @classmethod
    def compose(cls, parts: Iterable[ApproximateDP], /) -> ApproximateDP:
        """(Σε, Σδ), the theorem that stays valid when parameters are chosen adaptively.      [DR14, Thm 3.16]"""
        parts = tuple(parts)
        return cls(total(part.epsilon for part in parts), min(1.0, total(part.delta for part in parts)))

    def __add__(self, other: ApproximateDP, /) -> ApproximateDP:
        if not isinstance(other, ApproximateDP):
            raise incompatible(self, other)
        return self.compose((self, other))

    def __mul__(self, times: int, /) -> ApproximateDP:
        times = count(times, what="The number of releases")
        return ApproximateDP(upward(exact(self.epsilon) * times), min(1.0, upward(exact(self.delta) * times)))

    def for_group(self, size: int, /) -> ApproximateDP:
        """(sε, δ·(e^{sε} − 1)/(e^ε − 1)) for s people.      [Vad17, Lemma 2.2, summed exactly]

        >>> ApproximateDP(1.0, 1e-6).for_group(3)
        ApproximateDP(epsilon=3.0, delta=1.11073...e-05)
        """
        size = count(size, what="The size of a group")
        if size == 1 or self.delta == 0.0:
            return ApproximateDP(upward(exact(self.epsilon) * size), self.delta)
        growth = (ball(self.epsilon) * size).expm1() / ball(self.epsilon).expm1() if self.epsilon else ball(size)
        delta = growth * ball(self.delta)
        return ApproximateDP(upward(exact(self.epsilon) * size), upper(delta) if delta < 1 else 1.0)

    def share(self, fraction: Fraction, /) -> ApproximateDP:
        return ApproximateDP(downward(exact(self.epsilon) * fraction), downward(exact(self.delta) * fraction))

    def covers(self, other: Promise, /) -> bool:
        """Implied are the points on or above the profile of the dominating pair of (ε, δ).

        δ(ε') = δ + (1 − δ)(e^ε − e^{ε'})/(1 + e^ε) for ε' ≤ ε, and δ beyond.      [KOV15, Thm 3.3 with k = 1]
        """
        if not isinstance(other, ApproximateDP):
            return implies_around(self, other)
        if self.epsilon <= other.epsilon:
            return self.delta <= other.delta
        # Enough bits to decide about neighbouring floats; where they do not decide, the answer is no.
        with ctx.workprec(256):
            odds = ball(self.epsilon).exp()
            profile = ball(self.delta) + (1 - ball(self.delta)) * (odds - ball(other.epsilon).exp()) / (1 + odds)
            return bool(profile <= ball(other.delta))
