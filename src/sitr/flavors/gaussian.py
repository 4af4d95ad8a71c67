"""Gaussian differential privacy: two tables are as hard to distinguish as two normal laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from sitr.dataclass import dataclass
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.best_order import Real
from sitr.flavors.meaning import RELATIVE, above, ratio
from sitr.flavors.promise import Adding, Obstacle, Promise, checked_delta, count, largest_fitting, parameter
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import Interval, ball, exact, square_root_upward, upper, upward
from sitr.precision import precision

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

_FAR = 100
"""Beyond this many deviations Arb's U(½, ½, z²) is used: its erfc is faster, but loses all digits far out."""


@dataclass(frozen=True, slots=True)
class GaussianDP(Adding):
    """Every test between two neighbours errs at least as much as between N(0, 1) and N(μ, 1).

    Errors of the second kind are at least Φ(Φ⁻¹(1 − α) − μ) at each level α.      [DRS22, Def. 2.6]

    Composition: √Σμ².  Exact: composed Gaussians are one Gaussian.      [DRS22, Cor. 3.3]

    >>> GaussianDP(3.0) + GaussianDP(4.0)
    GaussianDP(mu=5.0)
    """

    notation = "gaussian(μ)"
    arrow = "to_gaussian"
    obstacle = Obstacle(
        "Moments do not bound every test between two neighbours by one between Gaussians", "use RenyiDP"
    )
    widths = (1e-2, 1e-3)

    mu: float

    @classmethod
    def of(cls, loss: Loss, /, *, relative: float = RELATIVE) -> GaussianDP:
        """The least μ, rounded up.

        >>> from sitr.loss import laplace
        >>> GaussianDP.of(laplace(scale=1))
        GaussianDP(mu=1.030...)
        >>> GaussianDP(1.04).kept_by(laplace(scale=1)), GaussianDP(1.02).kept_by(laplace(scale=1))
        (True, False)
        """
        found = loss.mu(relative=relative).upper
        return cls(above(found, what="the μ"))

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The least μ of the loss against μ."""
        return ratio(loss.mu(relative=relative), self.mu)

    def worst_loss(self) -> Loss | None:
        """Gaussian noise.      [DRS22, Def. 2.6]"""
        from sitr.loss.forms.gaussian import GaussianLaw  # noqa: PLC0415 - slow to import
        from sitr.loss.loss import Loss  # noqa: PLC0415 - slow to import

        return Loss.of(GaussianLaw(self.mu)) if self.mu > 0.0 else Loss(())

    def largest_loss(self) -> float | None:
        return 0.0 if self.mu == 0.0 else None

    def loss_quantile(self, *, delta: float) -> float:
        return self.to_zero_concentrated().loss_quantile(delta=delta)

    def coordinates(self) -> tuple[Fraction, ...]:
        """Squares add.

        >>> GaussianDP(0.5).coordinates(), GaussianDP(2.0).share(Fraction(1, 4))
        ((Fraction(1, 4),), GaussianDP(mu=1.0))
        """
        return (exact(self.mu) ** 2,)

    @classmethod
    def at_coordinates(cls, values: Sequence[Fraction], /, *, up: bool) -> GaussianDP:
        return cls((_root_above if up else _root_below)(values[0]))

    def infinite_mass(self) -> float:
        """Two Gaussians have the same possible values."""
        return 0.0

    def for_group(self, size: int, /) -> GaussianDP:
        """s·μ for s people.      [DRS22, Thm 2.14]"""
        return GaussianDP(upward(exact(self.mu) * count(size, what="The size of a group")))

    @classmethod
    def fitting(cls, promise: ApproximateDP, /) -> GaussianDP:
        """The largest float μ with δ_μ(ε) ≤ δ: how much Gaussian noise (ε, δ) can pay for.      [BW18, Thm 8]

        δ_μ(ε) grows with μ. Every μ that is kept is proved by `delta`.

        >>> GaussianDP.fitting(ApproximateDP(1.0, 1e-6))
        GaussianDP(mu=0.2367...)
        """
        if promise.delta == 0.0:
            return cls(0.0)
        checked_delta(promise.delta)

        def fits(mu: float) -> bool:
            return cls(mu).delta(epsilon=promise.epsilon) <= promise.delta

        # ε ≥ μ²/2 + μ√(2 ln(1/δ)) is enough [BS16, Prop. 1.3], and so is μ ≤ δ: the search begins at the larger one.
        spread = math.sqrt(-2 * math.log(promise.delta))
        enough = 2 * promise.epsilon / (spread + math.sqrt(spread**2 + 2 * promise.epsilon))
        return cls(largest_fitting(fits, start=max(promise.delta, enough)))

    def implies(self, other: Promise, /) -> bool:
        match other:
            case ZeroConcentratedDP() | RenyiDP():
                # Beyond this μ, μ²/2 has no float.
                return self.mu < 1e154 and self.to_zero_concentrated().covers(other)
            case ApproximateDP():
                return self.delta(epsilon=other.epsilon) <= other.delta
        return other.follows_from(self)

    def delta(self, *, epsilon: float) -> float:
        """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), rounded up.  Exact for Gaussian noise.      [BW18, Thm 8]

        >>> GaussianDP(1.0).delta(epsilon=1.0)
        0.12693673750664...
        """
        epsilon = parameter(epsilon, name="epsilon", flavor="GaussianDP")
        if self.mu == 0.0:
            return 0.0
        # 39 deviations out the tail e^{−39²/2} is smaller than every float, so δ lies between 0 and the least float or
        # next to 1. Elsewhere the two terms may nearly cancel or be huge: raise the precision until neither matters.
        bits = 128
        while True:
            with precision(bits):
                mu, e = ball(self.mu), ball(epsilon)
                deviations = e / mu - mu / 2
                if abs(deviations) > 39:
                    return math.ulp(0.0) if deviations > 0 else 1.0
                delta, _ = _profile(mu, e)
                if delta.rad() < abs(delta.mid()) * 1e-18:  # rounded up, it is monotone to its last digit
                    return min(1.0, upper(delta))
            bits *= 2

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """The least ε at this δ, rounded up.

        The profile is solved to more digits than a float has, and the result is proved by the profile itself.
        """
        checked_delta(delta)
        candidate, gap = self._solution(delta), Fraction(1, 2**52)
        while self.delta(epsilon=candidate) > delta:
            candidate, gap = upward(exact(max(candidate, math.ulp(0.0))) * (1 + gap)), 2 * gap
        return ApproximateDP(candidate, delta)

    def _solution(self, delta: float) -> float:
        """The ε at which the profile is δ; 0 if it is smaller everywhere.

        ln δ(ε) is concave, so Newton's method from μ²/2 + μ√(2 ln(1/δ)) approaches the solution from above. It starts
        in floats, so that one step in balls is nearly always enough.
        """
        if self.mu == 0.0:
            return 0.0
        goal = math.log(delta)
        rough = start = self.mu * (self.mu / 2 + math.sqrt(-2 * goal))
        if start < 700.0:
            with suppress(ArithmeticError, ValueError):  # where the terms cancel, or are no floats
                rough = _descent(_rough_profile, self.mu, start, goal, math.log)
        with precision(128 + 2 * abs(math.frexp(self.mu)[1])):  # ε/μ and μ/2 nearly cancel if μ is large
            mu, log_delta = ball(self.mu), ball(delta).log()
            first = arb(rough) if start < 700.0 else mu * (mu / 2 + (-2 * log_delta).sqrt())
            solution = _descent(lambda mu, epsilon: _profile(mu, epsilon.mid()), mu, first, log_delta, arb.log)
            return max(0.0, upper(solution.mid()))

    def to_zero_concentrated(self) -> ZeroConcentratedDP:
        """ρ = μ²/2.  Exact for Gaussian noise.      [BS16, Prop. 1.6]

        >>> GaussianDP(0.5).to_zero_concentrated()
        ZeroConcentratedDP(rho=0.125)
        """
        return ZeroConcentratedDP(upward(exact(self.mu) ** 2 / 2))

    def to_renyi(self) -> RenyiDP:
        """D_α = αμ²/2.  Exact for Gaussian noise.      [Mir17, Prop. 7]"""
        return self.to_zero_concentrated().to_renyi()


def _root_above(square: Fraction) -> float:
    """The least float whose exact square is at least this number."""
    root = upward(square_root_upward(square))
    while root > 0.0 and exact(below := math.nextafter(root, 0.0)) ** 2 >= square:
        root = below
    return root


def _root_below(square: Fraction) -> float:
    """The greatest float whose exact square is at most this number."""
    root = _root_above(square)
    return root if exact(root) ** 2 == square else math.nextafter(root, 0.0)


def _profile(mu: arb, epsilon: arb) -> tuple[arb, arb]:
    """δ(ε) = Φ(−a) − e^ε·Φ(−b) and −δ'(ε) = e^ε·Φ(−b), with a = ε/μ − μ/2 and b = ε/μ + μ/2."""
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    # e^ε·φ(b) = φ(a), so that no factor is huge far out.
    slope = epsilon.exp() * normal(-b) if b < _FAR else _density(a) * _mills(b)
    return normal(-a) - slope, slope


def _rough_profile(mu: float, epsilon: float) -> tuple[float, float]:
    """The same in floats, for moderate numbers."""
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    slope = math.exp(epsilon) * math.erfc(b / math.sqrt(2)) / 2
    return math.erfc(a / math.sqrt(2)) / 2 - slope, slope


def _descent(
    profile: Callable[[Real, Real], tuple[Real, Real]], mu: Real, epsilon: Real, goal: Real, log: Callable[[Real], Real]
) -> Real:
    """Newton's method for ln δ(ε) = goal, until the next step, of the order of the last one's square, is negligible.

    It stops below 0, because the solution is lower still.
    """
    for _ in range(50):
        value, slope = profile(mu, epsilon)
        step = (log(value) - goal) * value / slope
        epsilon += step
        if epsilon < 0 or not abs(step) > abs(epsilon) * 1e-9:
            break
    return epsilon


def normal(x: arb) -> arb:
    """Φ(x), without cancellation in either tail."""
    return _density(x) * _mills(-x) if x < -_FAR else (-x / arb(2).sqrt()).erfc() / 2


def _density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _mills(x: arb) -> arb:
    """Φ(−x)/φ(x) for x > 0.      [DLMF, Sec. 7.11: erfc z = e^{−z²}·U(½, ½, z²)/√π]"""
    half = arb(1) / 2
    return (x * x / 2).hypgeom_u(half, half) / arb(2).sqrt()
