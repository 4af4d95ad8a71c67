"""Approximate differential privacy: a bound on one point of the tail of the loss."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from sitr.dataclass import dataclass
from sitr.errors import InvalidPromise, WiderThanAsked
from sitr.flavors.meaning import KEPT, RELATIVE, above, ratio
from sitr.flavors.promise import Adding, Obstacle, Points, Promise, count
from sitr.numbers import Interval, ball, exact, float_below, upper, upward
from sitr.precision import precision

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

LARGEST_LOSS = 1e6
"""The largest ε whose worst loss is represented: beyond it, e^ε and its inverse have no floats."""


@dataclass(frozen=True, slots=True)
class ApproximateDP(Adding):
    """The tail of the loss above ε is at most δ.

    H_{e^ε}(P‖Q) = E_P[(1 − e^{ε−L})₊] ≤ δ, in both directions.      [DKMMN06, Def. 1]

    Composition: (Σε, Σδ), which stays valid when parameters are chosen adaptively.      [DR14, Thm 3.16]

    >>> ApproximateDP(0.5, 1e-7) + ApproximateDP(0.25, 2e-7)
    ApproximateDP(epsilon=0.75, delta=3e-07)
    """

    notation = "approximate(ε, δ)"
    exposes = True
    odometer = "approximate"
    arrow = "to_approximate"
    obstacle = Obstacle("It bounds an ε only at a δ of choice", "convert it first with to_approximate(delta=…)")
    closed = Obstacle(
        "An (ε, δ) promise bounds neither the largest loss nor any moment", "use ApproximateDP, or PureDP if δ = 0"
    )
    probabilities = frozenset({"delta"})

    epsilon: float
    delta: float

    @classmethod
    def of(
        cls,
        loss: Loss,
        /,
        *,
        delta: float | None = None,
        epsilon: float | None = None,
        relative: float = RELATIVE,
    ) -> ApproximateDP:
        """The least ε at this δ, or the least δ at this ε, rounded up. Exactly one of the two is given.

        >>> from sitr.loss import gaussian
        >>> ApproximateDP.of(gaussian(sigma=1), delta=1e-6)
        ApproximateDP(epsilon=4.886..., delta=1e-06)
        >>> ApproximateDP.of(gaussian(sigma=1), epsilon=1.0)
        ApproximateDP(epsilon=1.0, delta=0.126...)
        >>> ApproximateDP(4.9, 1e-6).kept_by(gaussian(sigma=1)), ApproximateDP(4.8, 1e-6).kept_by(gaussian(sigma=1))
        (True, False)
        """
        if (delta is None) == (epsilon is None):
            raise InvalidPromise(
                wanted="either delta or epsilon",
                given="both" if delta is not None else "neither",
                do="Write for example ApproximateDP.of(loss, delta=1e-6).",
            )
        if epsilon is not None:
            whole = cls(epsilon, 1.0)
            found = loss.delta(epsilon=math.nextafter(whole.epsilon, 0.0), relative=relative).upper
            return cls(whole.epsilon, min(1.0, math.nextafter(found, 1.0)) if found > 0.0 else 0.0)
        whole = cls(0.0, delta)  # type: ignore[arg-type]
        if whole.delta == 1.0:
            return whole
        if whole.delta == 0.0:
            largest = loss.max()
        else:
            largest = loss.epsilon(delta=_before(whole.delta), relative=relative).upper
        return cls(above(largest, what=f"ε at δ = {whole.delta:g}", do="Choose a larger δ."), whole.delta)

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """ε(δ) of the loss against ε; δ(ε) against δ where ε is 0; the largest loss where δ is 0."""
        if self.delta == 1.0:
            return KEPT
        if self.delta == 0.0:
            largest = loss.max()
            found = ratio(Interval(largest, largest), self.epsilon)
            return found if found.upper <= 0.0 or _exceeds(loss, self.epsilon) else Interval(0.0, found.upper)
        if self.epsilon == 0.0 or _before(self.delta) == 0.0:
            return ratio(loss.delta(epsilon=self.epsilon, relative=relative), _before(self.delta))
        return ratio(loss.epsilon(delta=_before(self.delta), relative=relative), self.epsilon)

    def proved_by(self, loss: Loss, /) -> bool:
        """Is δ(ε) of this loss at most δ? It takes one look at the loss, where `kept_by` may take several.

        A loss reads floats as the binary numbers they are, a promise as the decimals they print as. So the loss is
        asked at a float that is no larger than ε, and the answer is compared exactly. No may mean that there is no
        proof.

        >>> from sitr.loss import gaussian
        >>> ApproximateDP(4.9, 1e-6).proved_by(gaussian(sigma=1)), ApproximateDP(4.8, 1e-6).proved_by(gaussian(sigma=1))
        (True, False)
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WiderThanAsked)  # the upper end is valid, however wide the interval is
            return Fraction(loss.delta(epsilon=float_below(self.epsilon)).upper) <= exact(self.delta)

    def worst_loss(self) -> Loss | None:
        """Randomized response that exposes a person outright with probability δ.      [KOV15, Thm 3.3]

        >>> ApproximateDP(1.0, 1e-6).worst_loss().infinite_mass()
        1e-06
        """
        from sitr.loss.forms.finite import response  # noqa: PLC0415 - slow to import
        from sitr.loss.loss import Loss  # noqa: PLC0415 - slow to import

        if self.epsilon > LARGEST_LOSS:
            return None
        if self.epsilon == self.delta == 0.0:
            return Loss(())
        return Loss.of(response(self.epsilon, infinite=self.delta))

    @property
    def stated(self) -> Points:
        return ((self.epsilon, self.delta),)

    @classmethod
    def implied_by(cls, promise: Promise, /, *, delta: float | None = None) -> ApproximateDP | None:
        """The conversion at this δ; without a δ, only a largest loss gives an ε."""
        if delta is not None:
            arrow = getattr(promise, cls.arrow, None)
            return None if arrow is None else cast("ApproximateDP", arrow(delta=delta))
        largest = promise.largest_loss() if promise.closed is None else None
        return None if largest is None else cls(largest, 0.0)

    def for_group(self, size: int, /) -> ApproximateDP:
        """(sε, δ·(e^{sε} − 1)/(e^ε − 1)) for s people.      [Vad17, Lemma 2.2, summed exactly]

        >>> ApproximateDP(1.0, 1e-6).for_group(3)
        ApproximateDP(epsilon=3.0, delta=1.11073...e-05)
        """
        size = count(size, what="The size of a group")
        if size == 1 or self.delta == 0.0:
            return ApproximateDP(upward(exact(self.epsilon) * size), self.delta)
        with precision(128):  # so that only the last rounding counts, and a group of groups is not promised more
            growth = (ball(self.epsilon) * size).expm1() / ball(self.epsilon).expm1() if self.epsilon else ball(size)
            delta = growth * ball(self.delta)
            return ApproximateDP(upward(exact(self.epsilon) * size), upper(delta) if delta < 1 else 1.0)

    def implies(self, other: Promise, /) -> bool:
        """(ε, δ) implies all points on or above the profile of its dominating pair.

        δ(ε') = δ + (1 − δ)(e^ε − e^{ε'})/(1 + e^ε) for ε' ≤ ε, and δ beyond.      [KOV15, Thm 3.3 with k = 1]
        """
        if not isinstance(other, ApproximateDP):
            return other.follows_from(self)
        if self.epsilon <= other.epsilon:
            return False  # its δ is larger
        # Enough bits to compare neighbouring floats; where they do not suffice, the answer is no.
        with precision(256):
            odds = ball(self.epsilon).exp()
            profile = ball(self.delta) + (1 - ball(self.delta)) * (odds - ball(other.epsilon).exp()) / (1 + odds)
            return bool(profile <= ball(other.delta))


def _exceeds(loss: Loss, epsilon: float) -> bool:
    """Whether it is proved that the loss exceeds ε: a largest loss above it may have no probability."""
    if math.isinf(loss.max()):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WiderThanAsked)
        return loss.delta(epsilon=math.nextafter(epsilon, math.inf)).lower > 0.0


def _before(delta: float) -> float:
    """A loss reads δ as a float, a promise as the decimal that it prints as: the previous float is below both."""
    return math.nextafter(delta, 0.0)
