"""Pure differential privacy: a bound on the largest loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP, normal
from sitr.flavors.meaning import RELATIVE, above
from sitr.flavors.promise import Adding, Obstacle, Points, Promise, count
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import Interval, ball, exact, square_root_upward, upper, upward
from sitr.precision import precision

if TYPE_CHECKING:
    from sitr.loss.loss import Loss


@dataclass(frozen=True, slots=True)
class ResponseCurve:
    """D_α of randomized response: ln[cosh((α − ½)ε)/cosh(ε/2)]/(α − 1), at most ε."""

    epsilon: float

    def __call__(self, order: float, /) -> float:
        with precision(256):
            alpha, epsilon = ball(order), ball(self.epsilon)
            if alpha * epsilon < 64:  # cosh a − cosh b = 2 sinh((a+b)/2) sinh((a−b)/2): nothing cancels
                excess = 2 * (alpha * epsilon / 2).sinh() * ((alpha - 1) * epsilon / 2).sinh() / (epsilon / 2).cosh()
                return min(self.epsilon, upper(excess.log1p() / (alpha - 1)))
            # The same with e^{(α − ½)ε} out of the bracket: nothing overflows.
            missing = (-epsilon).exp().log1p() - ((1 - 2 * alpha) * epsilon).exp().log1p()
            return min(self.epsilon, upper(epsilon - missing / (alpha - 1)))

    def excess(self, loss: Loss, /, *, relative: float) -> Interval:
        """D_∞ ≤ ε is equivalent to the whole curve, because no mechanism with that largest loss exceeds it."""
        return PureDP(self.epsilon).excess(loss, relative=relative)

    def largest_loss(self) -> float:
        """D_∞ of the whole curve."""
        return self.epsilon


@dataclass(frozen=True, slots=True)
class PureDP(Adding):
    """The loss is at most ε, always.

    L ≤ ε with probability 1.      [DMNS06, Def. 1]  Composition: ε₁ + … + ε_k.      [DR14, Thm 3.16]

    >>> PureDP(0.1) + PureDP(0.2)
    PureDP(epsilon=0.3)
    >>> PureDP(0.5).to_zero_concentrated()
    ZeroConcentratedDP(rho=0.125)
    """

    notation = "pure(ε)"
    odometer = "pure"
    obstacle = Obstacle("It sets no largest loss", "state it as PureDP only if its mechanism is pure")

    epsilon: float

    @classmethod
    def of(cls, loss: Loss, /) -> PureDP:
        """The largest loss, rounded up.

        >>> from sitr.loss import laplace
        >>> PureDP.of(laplace(scale=2))
        PureDP(epsilon=0.50000000000000...)
        >>> PureDP(0.6).kept_by(laplace(scale=2)), PureDP(0.4).kept_by(laplace(scale=2))
        (True, False)
        """
        return cls(above(loss.max(), what="the largest value"))

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The largest loss against ε."""
        return ApproximateDP(self.epsilon, 0.0).excess(loss, relative=relative)

    def worst_loss(self) -> Loss | None:
        """Randomized response.      [KOV15, Thm 3.3]"""
        return ApproximateDP(self.epsilon, 0.0).worst_loss()

    @property
    def stated(self) -> Points:
        return ((self.epsilon, 0.0),)

    def for_group(self, size: int, /) -> PureDP:
        """s·ε for s people: the loss between two tables is the sum along a path of s neighbours.  [DR14, Thm 2.2]"""
        return self * count(size, what="The size of a group")

    def implies(self, other: Promise, /) -> bool:
        match other:
            case RenyiDP(ResponseCurve(epsilon)):
                return self.epsilon <= epsilon
            case ZeroConcentratedDP():
                return self._line().covers(other)
            case RenyiDP():
                return self.to_renyi().covers(other) or self._line().covers(other)
            case ConcentratedDP():
                return self.to_concentrated().covers(other)
            case GaussianDP():
                return self.to_gaussian().covers(other)
            case ApproximateDP():
                return ApproximateDP(self.epsilon, 0.0).covers(other)
        return other.follows_from(self)

    def _line(self) -> ZeroConcentratedDP:
        """The least ρ: ε·tanh(ε/2), the mean loss of randomized response, which is its D_α/α at α → 1.

        ln cosh √v is concave in v. Its tangent at v = ε²/4, taken at v = (α − ½)²ε², says (α − 1)D_α ≤ α(α − 1)ρ.
        """
        return ZeroConcentratedDP(self.to_concentrated().mu)

    @precision()
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
        # Where the ball is too wide, ε itself is an upper bound.
        return ApproximateDP(min(upper(remaining.log()), self.epsilon) if remaining > 0 else self.epsilon, whole.delta)

    @precision()
    def to_concentrated(self) -> ConcentratedDP:
        """μ = ε·tanh(ε/2), the mean loss of randomized response: tight. τ = ε bounds any loss within ±ε.

        [DR16, Thm 3.3; KOV15, Thm 3.3]

        >>> PureDP(1.0).to_concentrated()
        ConcentratedDP(mu=0.46211715726000..., tau=1.0, scales_to_groups=True)
        """
        return ConcentratedDP(
            upper(ball(self.epsilon) * (ball(self.epsilon) / 2).tanh()), self.epsilon, scales_to_groups=True
        )

    def to_concentrated_as_published(self) -> ConcentratedDP:
        """μ = ε(e^ε − 1)/2 and τ = ε, for comparison.      [DR16, Thm 3.3]"""
        return ConcentratedDP(
            upper(ball(self.epsilon) * ball(self.epsilon).expm1() / 2), self.epsilon, scales_to_groups=True
        )

    def to_renyi(self) -> RenyiDP:
        """D_α of randomized response.  Tight at every order.      [BS16, Prop. 3.3; Mir17, Prop. 5]

        >>> PureDP(1.0).to_renyi().curve(2.0)
        0.7353...
        """
        return RenyiDP(ResponseCurve(self.epsilon))

    def to_gaussian(self) -> GaussianDP:
        """μ = 2Φ⁻¹(e^ε/(1 + e^ε)): randomized response's trade-off curve is two chords of this one.  Tight.  [DRS22]

        >>> PureDP(1.0).to_gaussian()
        GaussianDP(mu=1.232...)
        """
        if self.epsilon == 0.0:
            return GaussianDP(0.0)
        if self.epsilon > 1e15:  # Φ(−x) ≤ e^{−x²/2}/2 is then as good
            return GaussianDP(upward(square_root_upward(8 * exact(self.epsilon))))
        with precision(64 + 2 * abs(math.frexp(self.epsilon)[1])):  # e^{−ε} may be next to 1, or to 0
            share = (-ball(self.epsilon)).exp() / (1 + (-ball(self.epsilon)).exp())  # Φ(−μ/2)
            low, high = 0.0, 1.0
            while not normal(-ball(high)) <= share:
                low, high = high, 2 * high
            while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-15 * high:
                low, high = (low, middle) if normal(-ball(middle)) <= share else (middle, high)
        return GaussianDP(upward(2 * exact(high)))

    def to_zero_concentrated(self) -> ZeroConcentratedDP:
        """ρ = ε²/2.      [BS16, Prop. 1.4]"""
        return ZeroConcentratedDP(upward(exact(self.epsilon) ** 2 / 2))
