"""Pure differential privacy: the largest loss is bounded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise, count, incompatible, parameter, total
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import ball, downward, exact, upper, upward


@dataclass(frozen=True, slots=True)
class PureDP:
    """The loss is at most ε, always.

    L ≤ ε with probability 1.      [DMNS06, Def. 1]

    >>> PureDP(0.1) + PureDP(0.2)
    PureDP(epsilon=0.3)
    >>> PureDP(0.5).to_zero_concentrated()
    ZeroConcentratedDP(rho=0.125)
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parameter(self.epsilon, name="epsilon", flavor="PureDP"))

    @classmethod
    def compose(cls, parts: Iterable[PureDP], /) -> PureDP:
        """ε₁ + … + ε_k.      [DMNS06; DR14, Thm 3.16]"""
        return cls(total(part.epsilon for part in parts))

    def __add__(self, other: PureDP, /) -> PureDP:
        if not isinstance(other, PureDP):
            raise incompatible(self, other)
        return self.compose((self, other))

    def __mul__(self, times: int, /) -> PureDP:
        return PureDP(upward(exact(self.epsilon) * count(times, what="The number of releases")))

    def for_group(self, size: int, /) -> PureDP:
        """s·ε for s people: the loss between two tables is the sum along a path of s neighbours.  [DR14, Thm 2.2]"""
        return self * count(size, what="The size of a group")

    def share(self, fraction: Fraction, /) -> PureDP:
        return PureDP(downward(exact(self.epsilon) * fraction))

    def covers(self, other: Promise, /) -> bool:
        match other:
            case PureDP():
                return self.epsilon <= other.epsilon
            case ZeroConcentratedDP():
                return self.to_zero_concentrated().covers(other)
            case ApproximateDP():
                return ApproximateDP(self.epsilon, 0.0).covers(other)
        return False

    def to_approximate(self, *, delta: float = 0.0) -> ApproximateDP:
        """The least ε at this δ that every ε-DP mechanism keeps: the profile of randomized response.

        ε(δ) = max(0, ln(e^ε − δ(1 + e^ε))).  Tight.      [KOV15, Thm 3.3 with k = 1]

        >>> PureDP(1.0).to_approximate(), PureDP(1.0).to_approximate(delta=0.1)
        (ApproximateDP(epsilon=1.0, delta=0.0), ApproximateDP(epsilon=0.8529..., delta=0.1))
        """
        whole = ApproximateDP(self.epsilon, delta)
        if whole.delta == 0.0:
            return whole
        odds = ball(self.epsilon).exp()
        remaining = odds - ball(whole.delta) * (1 + odds)
        if remaining <= 1:
            return ApproximateDP(0.0, whole.delta)
        # Where the ball decides nothing, ε itself is an upper bound.
        return ApproximateDP(min(upper(remaining.log()), self.epsilon) if remaining > 0 else self.epsilon, whole.delta)

    def to_zero_concentrated(self) -> ZeroConcentratedDP:
        """ρ = ε²/2.      [BS16, Prop. 1.4]"""
        return ZeroConcentratedDP(upward(exact(self.epsilon) ** 2 / 2))
