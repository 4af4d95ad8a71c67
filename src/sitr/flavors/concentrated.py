"""Concentrated differential privacy: the loss has a small mean and a Gaussian's spread around it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.meaning import RELATIVE, above, ratio
from sitr.flavors.promise import Obstacle, Promise, count, foreign, no_stopping_rule, parameter, total
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import Interval, ball, exact, largest, square_root_upward, upper, upward
from sitr.precision import precision

if TYPE_CHECKING:
    from sitr.loss.loss import Loss


@dataclass(frozen=True, slots=True)
class AsymptoticGroup:
    """What the mean loss μ and the spread τ of a group approach, as published: (s²·τ²/2·(1 + o(1)), s·τ·(1 + o(1))).

    It is no promise: how fast the factors approach 1 is not published, so no loss can be accounted with it. For a
    promise to groups, use `ConcentratedDP.to_zero_concentrated().for_group(size)`.      [DR16, Sec. 4]
    """

    mu: float
    tau: float
    size: int
    basis: ClassVar = "asymptotic, as published"


@dataclass(frozen=True, slots=True)
class ConcentratedDP(Promise):
    """The mean loss is at most μ, and the loss around its mean is subgaussian with standard τ.

    E[L] ≤ μ  and  E[exp(λ(L − E[L]))] ≤ exp(λ²τ²/2) for all λ, in both directions.      [DR16, Def. 2.1]

    Whether a group of s people gets (s²μ, sτ) depends on where μ and τ come from: those that follow from a pure ε or
    from Gaussian noise grow like this, those that were found for one mechanism need not (three Bernoulli laws in a row
    lose more). `scales_to_groups` says that they do.

    The spread alone bounds the mean: 1 = Q(everything) = E[e^{−L}] ≤ e^{−E[L] + τ²/2}, so that E[L] ≤ τ²/2 whatever μ
    is. (The loss is finite in both directions, or its mean would not be.)

    >>> ConcentratedDP(0.5, 1.0) + ConcentratedDP(0.5, 1.0)
    ConcentratedDP(mu=1.0, tau=1.4142135623730951, scales_to_groups=False)
    """

    notation = "concentrated(μ, τ)"
    arrow = "to_concentrated"
    obstacle = Obstacle(
        "Concentrated privacy is not closed under post-processing, this promise is", "use ZeroConcentratedDP"
    )
    widths = (1e-2, 1e-3)

    mu: float
    tau: float
    scales_to_groups: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", parameter(self.mu, name="mu", flavor="ConcentratedDP"))
        object.__setattr__(self, "tau", parameter(self.tau, name="tau", flavor="ConcentratedDP"))

    @classmethod
    def of(cls, loss: Loss, /, *, relative: float = RELATIVE) -> ConcentratedDP:
        """The mean and the least τ, rounded up. A loss is about neighbours, so nothing is promised to groups.

        >>> from sitr.loss import gaussian
        >>> ConcentratedDP.of(gaussian(sigma=2))
        ConcentratedDP(mu=0.125000000..., tau=0.50000000..., scales_to_groups=False)
        >>> [ConcentratedDP(0.126, tau).kept_by(gaussian(sigma=2)) for tau in (0.501, 0.499)]
        [True, False]
        """
        mu = above(loss.mean(relative=min(relative, RELATIVE)).upper, what="the mean")
        return cls(mu, above(loss.subgaussian(relative=relative).upper, what="the τ"))

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The mean against μ and the least τ against τ. No loss proves that a promise scales to groups."""
        found = largest(
            (
                ratio(loss.mean(relative=min(relative, RELATIVE)), self.mu),
                ratio(loss.subgaussian(relative=relative), self.tau),
            )
        )
        return Interval(found.lower, math.inf) if self.scales_to_groups else found

    def largest_loss(self) -> float | None:
        """0 if τ = 0, because then P = Q; otherwise there is no limit."""
        return 0.0 if self.tau == 0.0 else None

    def mean_loss(self) -> float:
        """The least bound on the mean loss: μ, or τ²/2 if that is smaller, rounded up.      [DR16, Def. 2.1]

        >>> ConcentratedDP(5.0, 1.0).mean_loss(), ConcentratedDP(0.25, 1.0).mean_loss()
        (0.5, 0.25)
        """
        return upward(self._mean())

    @precision()
    def loss_quantile(self, *, delta: float) -> float:
        """ε′ = E[L] + τ√(2 ln(1/δ)), the tail of a subgaussian.      [DR16, Def. 2.1 and Thm 3.4]"""
        return upper(ball(self._mean()) + ball(self.tau) * (-2 * ball(delta).log()).sqrt())

    def coordinates(self) -> tuple[Fraction, ...]:
        raise no_stopping_rule(
            self, "Sums of means and spreads are not known to be a stopping rule: use to_zero_concentrated()."
        )

    def written(self) -> str:
        return f"mu={self.mu!r}, tau={self.tau!r}" + (", groups=true" if self.scales_to_groups else "")

    @classmethod
    def read(cls, mu: float, tau: float, *, groups: bool = False) -> ConcentratedDP:
        if not isinstance(groups, bool):
            raise foreign()
        return cls(mu, tau, scales_to_groups=groups)

    @classmethod
    def compose(cls, parts: Iterable[ConcentratedDP], /) -> ConcentratedDP:
        """(Σμ, √Στ²).      [DR16, Thm 3.5]"""
        parts = tuple(parts)
        variance = sum((exact(part.tau) ** 2 for part in parts), Fraction(0))
        return cls(
            total(part.mu for part in parts),
            upward(square_root_upward(variance)),
            scales_to_groups=all(part.scales_to_groups for part in parts),
        )

    def __mul__(self, times: int, /) -> ConcentratedDP:
        times = count(times, what="The number of releases")
        tau = upward(square_root_upward(exact(self.tau) ** 2 * times))
        return ConcentratedDP(upward(exact(self.mu) * times), tau, scales_to_groups=self.scales_to_groups)

    def infinite_mass(self) -> float:
        """All moments are finite."""
        return 0.0

    def for_group(self, size: int, /) -> ConcentratedDP:
        """(s²μ, sτ) for s people, where the mechanisms allow it.      [DR16, Thm 4.1]"""
        size = count(size, what="The size of a group")
        if size > 1 and not self.scales_to_groups:
            raise IncompatiblePromises(
                given=f"{self!r} does not say that its mechanisms scale to groups.",
                do="Set scales_to_groups=True if μ and τ follow from a pure ε or from Gaussian noise, or convert it "
                "first with to_zero_concentrated().",
            )
        mu, tau = upward(exact(self.mu) * size**2), upward(exact(self.tau) * size)
        return ConcentratedDP(mu, tau, scales_to_groups=self.scales_to_groups)

    def for_group_asymptotically(self, size: int, /) -> AsymptoticGroup:
        """The leading terms for s people, where s·τ is small: no promise. The spread alone bounds the mean by τ²/2.

        >>> ConcentratedDP(0.005, 0.1).for_group_asymptotically(3)
        AsymptoticGroup(mu=0.045, tau=0.3, size=3)
        """
        size = count(size, what="The size of a group")
        tau = exact(self.tau) * size
        return AsymptoticGroup(upward(tau**2 / 2), upward(tau), size)

    def covers(self, other: Promise, /) -> bool:
        match other:
            case ConcentratedDP():
                groups = self.scales_to_groups or not other.scales_to_groups
                return groups and self._mean() <= exact(other.mu) and self.tau <= other.tau
            case ApproximateDP() if 0.0 < other.delta < 1.0 and self._has_arrows():
                return self.to_approximate(delta=other.delta).epsilon <= other.epsilon
            case ApproximateDP() | RenyiDP() | ZeroConcentratedDP():
                return self._has_arrows() and self.to_zero_concentrated().covers(other)
        return other.follows_from(self)

    def _mean(self) -> Fraction:
        """The least bound on the mean that this promise implies."""
        return min(exact(self.mu), exact(self.tau) ** 2 / 2)

    def _has_arrows(self) -> bool:
        """Beyond this τ, τ²/2 has no float."""
        return self.tau < 1e154

    def to_zero_concentrated(self) -> ZeroConcentratedDP:
        """ρ = τ²/2, and ξ = 0, because E[L] ≤ τ²/2.  Exact for a Gaussian loss.      [BS16, Lemma 4.2, with ξ = μ − ρ]

        >>> ConcentratedDP(0.125, 0.5).to_zero_concentrated()
        ZeroConcentratedDP(rho=0.125)
        """
        return ZeroConcentratedDP(upward(exact(self.tau) ** 2 / 2))

    def to_renyi(self) -> RenyiDP:
        """D_α ≤ ατ²/2.  Exact for a Gaussian loss."""
        return self.to_zero_concentrated().to_renyi()

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """The better of ε = μ + τ√(2 ln 1/δ), the tail of a subgaussian, and the arrow through zCDP.  [DR16, Thm 3.4]

        >>> ConcentratedDP(0.125, 0.5).to_approximate(delta=1e-6).epsilon < 0.125 + 0.5 * 5.26
        True
        """
        through = self.to_zero_concentrated().to_approximate(delta=delta)
        return ApproximateDP(min(self.loss_quantile(delta=delta), through.epsilon), delta)
