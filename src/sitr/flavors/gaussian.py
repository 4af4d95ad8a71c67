"""Gaussian differential privacy: telling two tables apart is as hard as telling two normal laws apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise, count, implies_around, incompatible, parameter
from sitr.flavors.renyi import RenyiDP, checked_delta
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import ball, exact, square_root_upward, upper, upward


@dataclass(frozen=True, slots=True)
class GaussianDP:
    """Every test between two neighbours errs at least as much as between N(0, 1) and N(μ, 1).

    Errors of the second kind are at least Φ(Φ⁻¹(1 − α) − μ) at each level α.      [DRS22, Def. 2.6]

    >>> GaussianDP(3.0) + GaussianDP(4.0)
    GaussianDP(mu=5.0)
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", parameter(self.mu, name="mu", flavor="GaussianDP"))

    @classmethod
    def compose(cls, parts: Iterable[GaussianDP], /) -> GaussianDP:
        """√Σμ².  Exact: composed Gaussians are one Gaussian.      [DRS22, Cor. 3.3]"""
        return cls(upward(square_root_upward(sum((exact(part.mu) ** 2 for part in parts), Fraction(0)))))

    def __add__(self, other: GaussianDP, /) -> GaussianDP:
        if not isinstance(other, GaussianDP):
            raise incompatible(self, other)
        return self.compose((self, other))

    def __mul__(self, times: int, /) -> GaussianDP:
        times = count(times, what="The number of releases")
        return GaussianDP(upward(square_root_upward(exact(self.mu) ** 2 * times)))

    def for_group(self, size: int, /) -> GaussianDP:
        """s·μ for s people.      [DRS22, Thm 2.14]"""
        return GaussianDP(upward(exact(self.mu) * count(size, what="The size of a group")))

    def covers(self, other: Promise, /) -> bool:
        match other:
            case GaussianDP():
                return self.mu <= other.mu
            case ZeroConcentratedDP():
                return self.to_zero_concentrated().covers(other)
            case RenyiDP():
                return self.to_renyi().covers(other)
            case ApproximateDP():
                return self.delta(epsilon=other.epsilon) <= other.delta
        return implies_around(self, other)

    def delta(self, *, epsilon: float) -> float:
        """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), rounded up.  Exact for Gaussian noise.      [BW18, Thm 8]

        >>> GaussianDP(1.0).delta(epsilon=1.0)
        0.12693673750664...
        """
        if self.mu == 0.0:
            return 0.0
        bits = 64
        while True:
            with ctx.workprec(bits):
                delta = _profile(ball(self.mu), ball(epsilon))
                # The two terms nearly cancel far out in the tail: raise the precision until they do not.
                if delta.rad() < abs(delta.mid()) * 1e-14 or bits > 1 << 16:
                    return min(1.0, max(0.0, upper(delta)))
            bits *= 2

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """The least ε at this δ, rounded up: the profile is solved by bisection from its safe side."""
        checked_delta(delta)
        if self.delta(epsilon=0.0) <= delta:
            return ApproximateDP(0.0, delta)
        low, high = 0.0, max(1.0, self.mu)
        while self.delta(epsilon=high) > delta:
            low, high = high, 2 * high
        while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-15 * high:
            low, high = (low, middle) if self.delta(epsilon=middle) <= delta else (middle, high)
        return ApproximateDP(high, delta)

    def to_zero_concentrated(self) -> ZeroConcentratedDP:
        """ρ = μ²/2.  Exact for Gaussian noise.      [BS16, Prop. 1.6]

        >>> GaussianDP(0.5).to_zero_concentrated()
        ZeroConcentratedDP(rho=0.125)
        """
        return ZeroConcentratedDP(upward(exact(self.mu) ** 2 / 2))

    def to_renyi(self) -> RenyiDP:
        """D_α = αμ²/2.  Exact for Gaussian noise.      [Mir17, Prop. 7]"""
        return self.to_zero_concentrated().to_renyi()


def _profile(mu: arb, epsilon: arb) -> arb:
    return normal(mu / 2 - epsilon / mu) - epsilon.exp() * normal(-mu / 2 - epsilon / mu)


def normal(x: arb) -> arb:
    """Φ(x), without cancellation in either tail."""
    return (-x / arb(2).sqrt()).erfc() / 2
