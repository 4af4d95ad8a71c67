"""Propose-test-release: noise for a sensitivity that somebody proposed, if the data are far from breaking it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from sitr.errors import InvalidParameter, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.loss.loss import Loss
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import bounding
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins
from sitr.noise.laplace import discrete_laplace, discrete_laplace_tail
from sitr.numbers import Number, ball, exact, inside, least_whole, natural, positive, upper, upward
from sitr.precision import precision
from sitr.sensitivity.proposed import Proposed


@dataclass(frozen=True, slots=True)
class ProposeTestRelease:
    """Release f(X) + noise for the proposed sensitivity b if d(X) + Y > T, and nothing (None) otherwise.

    d(X) is the number of people between X and the nearest sample that one person can move by more than b. Y is discrete
    Laplace noise of scale 1/ε₁, T an integer, and the noise of f costs ε₂.      [DL09; Vad17, Sec. 3]

    Let X and X' be neighbours. If one of them has d > 0, then |f(X) − f(X')| ≤ b, and as |d(X) − d(X')| ≤ 1, test and
    release together cost ε₁ + ε₂. If not, d(X) = d(X') = 0: the test is passed with the same probability
    δ = P(Y > T) on both, and nothing else distinguishes them. So it is (ε₁ + ε₂, δ)-private. **All of δ may be mass at
    L = +∞**: if a test is passed that should not be, the answers of two neighbours can be as far apart as the bounds,
    with noise for b alone.

    >>> from sitr.sensitivity import median, propose_test_release
    >>> rule = propose_test_release(median, proposal=1, bounds=(0, 100))
    >>> mechanism = ProposeTestRelease.fitting(ApproximateDP(1.0, 1e-6), sensitivity=rule)
    >>> mechanism.threshold, mechanism.promise()
    (26, ApproximateDP(epsilon=1.0, delta=8.5...e-07))
    """

    sensitivity: Proposed
    noise: Laplace
    scale: Number
    threshold: int

    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        granule, moved = self.sensitivity.granularity, self.sensitivity.bound * self.sensitivity.granularity
        if exact(self.noise.granularity) != granule or exact(self.noise.sensitivity) < moved:
            raise InvalidParameter(
                wanted=f"noise for a sensitivity of {moved} in granules of {granule}",
                given=str(self.noise),
                do="Fit the noise to the proposal.",
            )
        object.__setattr__(self, "scale", positive(self.scale, name="scale", of="ProposeTestRelease"))
        natural(self.threshold, name="threshold", of="ProposeTestRelease", least=0)

    @classmethod
    def fitting(
        cls, price: ApproximateDP, *, sensitivity: Proposed, share: Number = Fraction(1, 2)
    ) -> ProposeTestRelease:
        """The lowest threshold that keeps this promise, if this share of ε pays for the test, and the rest for noise.

        A larger share lets more data pass, a smaller one makes the answer more exact.
        """
        if not isinstance(price, ApproximateDP) or not 0.0 < price.delta < 1.0:
            raise InvalidPromise(
                wanted="an ApproximateDP with 0 < delta < 1",
                given=repr(price),
                do="Choose a small positive delta, for example 1e-6.",
            )
        part = inside(share, name="share", of="ProposeTestRelease", example=0.5)
        epsilon = positive(price.epsilon, name="epsilon", of="ProposeTestRelease")
        scale, moved = 1 / (part * epsilon), sensitivity.bound * sensitivity.granularity
        noise = Laplace(moved / ((1 - part) * epsilon), moved, sensitivity.granularity)
        return cls(sensitivity, noise, scale, _threshold(scale, price.delta))

    def promise(self) -> ApproximateDP:
        """(ε₁ + ε₂, P(Y > T))."""
        epsilon = 1 / exact(self.scale) + exact(self.noise.sensitivity) / exact(self.noise.scale)
        return ApproximateDP(upward(epsilon), self.exposed())

    @precision()
    def exposed(self) -> float:
        """δ = P(Y > T): the probability of an unprotected answer, on data that one person moves farther than proposed.

        There the only bound on the loss is for the whole range: (high − low)/b times ε₂.
        """
        return upper(_at_least(self.threshold + 1, scale=self.scale))

    def loss(self) -> Loss:
        """A bound: the pair of the promise. The true loss depends on the data.      [KOV15, Thm 3.3]"""
        return bounding(self.promise())

    def error(self, *, confidence: Number = 0.95) -> Fraction:
        """With this confidence an answer, if any, is at most this far from the statistic of the values on the grid.

        It does not depend on the data. Half a granule of it is for the rounding of a statistic that needs it.
        """
        rest = Fraction(0) if self.sensitivity.statistic.whole else self.sensitivity.granularity / 2
        return Fraction(self.noise.error(confidence=confidence)) + rest

    @precision()
    def refusal(self, values: Any) -> float:
        """The probability of no answer for these data, P(d(X) + Y ≤ T) = P(Y ≥ d(X) − T). It is as secret as the data.

        >>> from sitr.sensitivity import median, propose_test_release
        >>> rule = propose_test_release(median, proposal=1, bounds=(0, 100))
        >>> mechanism = ProposeTestRelease.fitting(ApproximateDP(1.0, 1e-6), sensitivity=rule)
        >>> mechanism.refusal([50.0] * 1000) < 1e-9, mechanism.refusal(range(50)) > 0.999
        (True, True)
        """
        return upper(_at_least(self.sensitivity.distance(values) - self.threshold, scale=self.scale))

    def release(self, values: Any, *, coins: Coins | None = None) -> Fraction | None:
        """A multiple of the granularity, or None where the test is not passed."""
        distance, centre = self.sensitivity.distance(values), self.sensitivity.centre(values)
        if distance + discrete_laplace(scale=self.scale, coins=coins) <= self.threshold:
            return None
        return self.noise.release(centre * self.sensitivity.granularity, coins=coins)


@precision()
def _at_least(k: int, *, scale: Number) -> arb:
    """P(Y ≥ k), by symmetry also for k < 1.

    >>> _at_least(0, scale=5) > 0.549, _at_least(1, scale=5) < 0.451
    (True, True)
    """
    return discrete_laplace_tail(k, scale=scale) if k >= 1 else 1 - discrete_laplace_tail(1 - k, scale=scale)


@precision()
def _threshold(scale: Fraction, delta: float) -> int:
    """The least T ≥ 0 with P(Y > T) ≤ δ."""
    return least_whole(lambda threshold: bool(_at_least(threshold + 1, scale=scale) <= ball(delta)))
