"""Zero-concentrated differential privacy: all moments of the loss are bounded by a line."""

from __future__ import annotations

import math
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from sitr.dataclass import dataclass
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.meaning import RELATIVE, above, ratio
from sitr.flavors.promise import Adding, Obstacle, Promise, ceiling, checked_delta, count, largest_fitting
from sitr.flavors.renyi import RenyiDP
from sitr.numbers import Interval, ball, exact, upper, upward
from sitr.precision import precision

if TYPE_CHECKING:
    from sitr.loss.loss import Loss


@dataclass(frozen=True, slots=True)
class Line:
    """The curve ξ + ρα."""

    rho: float
    xi: float

    def __call__(self, order: float, /) -> float:
        return ceiling(exact(self.xi) + exact(self.rho) * exact(order))

    def excess(self, loss: Loss, /, *, relative: float) -> Interval:
        return ZeroConcentratedDP(self.rho, xi=self.xi).excess(loss, relative=relative)

    def largest_loss(self) -> float | None:
        return ZeroConcentratedDP(self.rho, xi=self.xi).largest_loss()


@dataclass(frozen=True, slots=True, repr=False)
class ZeroConcentratedDP(Adding):
    """Every moment of the loss is at most a Gaussian's.

    For all α > 1,  D_α = ln E[exp((α−1)L)]/(α−1) ≤ ξ + ρα.      [BS16, Def. 1.1]

    Composition: (Σρ, Σξ).      [BS16, Lemma 1.7]

    >>> (ZeroConcentratedDP(rho=0.25) + ZeroConcentratedDP(rho=0.25)).to_approximate(delta=1e-6)
    ApproximateDP(epsilon=5.22..., delta=1e-06)
    """

    notation = "zcdp(ρ)"
    odometer = "zcdp"
    arrow = "to_zero_concentrated"
    obstacle = Obstacle("A bound on some moments says nothing about the others", "use RenyiDP")
    widths = (1e-2, 1e-3)

    rho: float
    xi: float = field(default=0.0, kw_only=True)

    def __repr__(self) -> str:
        return f"ZeroConcentratedDP({self.written()})"

    @classmethod
    def of(cls, loss: Loss, /, *, xi: float = 0.0, relative: float = RELATIVE) -> ZeroConcentratedDP:
        """The least ρ at this ξ, rounded up.

        >>> from sitr.loss import gaussian
        >>> ZeroConcentratedDP.of(gaussian(sigma=2))
        ZeroConcentratedDP(rho=0.12500000...)
        >>> [ZeroConcentratedDP(rho).kept_by(gaussian(sigma=2)) for rho in (0.1251, 0.1249)]
        [True, False]
        """
        whole = cls(0.0, xi=xi)
        found = loss.rho(xi=math.nextafter(whole.xi, 0.0), relative=relative).upper
        return cls(above(found, what="all moments"), xi=whole.xi)

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The least ρ of the loss at ξ against ρ; the largest loss against ξ where ρ is 0."""
        if self.rho == 0.0:
            return ApproximateDP(self.xi, 0.0).excess(loss, relative=relative)
        return ratio(loss.rho(xi=math.nextafter(self.xi, 0.0), relative=relative), self.rho)

    def largest_loss(self) -> float | None:
        """A line without a slope is D_∞ ≤ ξ.      [vEH14, Thm 8]"""
        return self.xi if self.rho == 0.0 else None

    @precision()
    def loss_quantile(self, *, delta: float) -> float:
        """ε′ = ξ + ρ + 2√(ρ ln(1/δ)), since P(L > ξ + ρ + λ) ≤ e^{−λ²/(4ρ)} for all λ > 0.      [BS16, Lemma 3.5]

        >>> ZeroConcentratedDP(0.05).loss_quantile(delta=1e-6)
        1.712...
        """
        if self.rho == 0.0:
            return self.xi
        rho = ball(self.rho)
        return upper(ball(self.xi) + rho + 2 * (rho * -ball(delta).log()).sqrt())

    def infinite_mass(self) -> float:
        """All moments are finite."""
        return 0.0

    def for_group(self, size: int, /) -> ZeroConcentratedDP:
        """(ξ·s·(1 + 1/2 + … + 1/s), s²ρ) for s people.      [BS16, Prop. 1.9]

        >>> ZeroConcentratedDP(0.01, xi=0.1).for_group(2)
        ZeroConcentratedDP(rho=0.04, xi=0.3)
        """
        size = count(size, what="The size of a group")
        harmonic = _harmonic(size) if self.xi else Fraction(0)
        return ZeroConcentratedDP(upward(exact(self.rho) * size**2), xi=upward(exact(self.xi) * size * harmonic))

    def implies(self, other: Promise, /) -> bool:
        match other:
            case ZeroConcentratedDP():
                # ξ + ρα ≤ ξ' + ρ'α on all of α > 1: at the left end and in the slope.
                ends = exact(self.rho) + exact(self.xi) <= exact(other.rho) + exact(other.xi)
                return ends and self.rho <= other.rho
            case RenyiDP(Line(rho, xi)):
                return self.covers(ZeroConcentratedDP(rho, xi=xi))
            case RenyiDP():
                return self.to_renyi().covers(other)
            case ApproximateDP():
                if self.rho == 0.0 or other.delta in (0.0, 1.0):
                    # D_∞ ≤ ξ if ρ = 0; otherwise the loss is unbounded, and only δ = 1 allows that.
                    return ApproximateDP(self.xi, 0.0 if self.rho == 0.0 else 1.0).covers(other)
                return self.to_approximate(delta=other.delta).epsilon <= other.epsilon
        return other.follows_from(self)

    @precision()
    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """The least ε at this δ over all orders α, rounded up.

        ε = ξ + ρα + ln(1 − 1/α) + (ln(1/δ) − ln α)/(α − 1).      [CKS20, Prop. 12]

        With x = α − 1 its derivative is ρ − (ln(1/δ) − ln(1 + x))/x²: the best order solves ρx² + ln(1 + x) = ln(1/δ),
        whose left side only grows. Every α gives a valid ε, so a float is good enough for α; the value is proved.
        """
        checked_delta(delta)
        if self.rho == 0.0:
            return ApproximateDP(self.xi, delta)  # D_∞ ≤ ξ: the loss never exceeds ξ
        x = ball(Fraction(_best_order(self.rho, delta)))
        with precision(256):  # many more bits than a float: the result is then monotone in ρ to its last digit
            epsilon = ball(self.xi) + ball(self.rho) * (1 + x) - (1 / x).log1p() - (ball(delta).log() + x.log1p()) / x
            return ApproximateDP(max(0.0, upper(epsilon)), delta)

    def to_renyi(self) -> RenyiDP:
        """D_α ≤ ξ + ρα: the same promise.

        >>> ZeroConcentratedDP(0.125).to_renyi().curve(8.0)
        1.0
        """
        return RenyiDP(Line(self.rho, self.xi))

    @classmethod
    def fitting(cls, promise: ApproximateDP, /) -> ZeroConcentratedDP:
        """The largest ρ whose arrow to (ε, δ) stays within this promise: how much Gaussian noise it can pay for.

        >>> ZeroConcentratedDP.fitting(ApproximateDP(1.0, 1e-9))
        ZeroConcentratedDP(rho=0.01497305767358...)
        """
        if promise.epsilon == 0.0 or promise.delta == 0.0:
            return cls(0.0)

        def fits(rho: float) -> bool:
            return cls(rho).to_approximate(delta=promise.delta).epsilon <= promise.epsilon

        return cls(largest_fitting(fits, start=promise.epsilon))


def _harmonic(size: int) -> Fraction:
    """1 + 1/2 + … + 1/s; for large s, whose exact sum has too many digits, ψ(s + 1) + γ rounded up."""
    if size <= 100:
        return sum((Fraction(1, i) for i in range(1, size + 1)), Fraction(0))
    return exact(upper(arb(size + 1).digamma() + arb.const_euler()))


def _best_order(rho: float, delta: float) -> float:
    """The solution x = α − 1 of ρx² + ln(1 + x) = ln(1/δ), by bisection: one of the two terms is at least a half."""
    goal = -math.log(delta)
    low = min(math.sqrt(goal / 2) / math.sqrt(rho), math.expm1(goal / 2))
    high = min(math.sqrt(goal) / math.sqrt(rho), math.expm1(min(goal, 700.0)))
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if rho * middle * middle + math.log1p(middle) < goal else (low, middle)
    return high
