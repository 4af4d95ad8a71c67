"""Approximate zero-concentrated differential privacy: all moments are bounded, apart from a rare event."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.meaning import KEPT, RELATIVE, above, ratio
from sitr.flavors.profile import exposed
from sitr.flavors.promise import Adding, Obstacle, Points, Promise, count, parameter
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import Interval, downward, exact, square_root_upward, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss


@dataclass(frozen=True, slots=True)
class ApproximateZeroConcentratedDP(Adding):
    """Apart from an event of probability δ, every moment of the loss is at most a Gaussian's.

    Let P and Q be the laws of the answers on two neighbours. P ≥ (1 − δ)P₁ and Q ≥ (1 − δ)Q₁ for two probability laws
    with D_α(P₁‖Q₁) ≤ ρα and D_α(Q₁‖P₁) ≤ ρα for all α > 1. P₁ is the law of the answer given an event of probability
    1 − δ, which may need coins of its own.      [BS16, Def. 8.1 with ξ = 0]

    Composition: (Σρ, Σδ), because Π(1 − δᵢ) ≥ 1 − Σδᵢ.      [BS16, Lemma 8.2]

    The sums are also a stopping rule when every price is chosen after earlier answers, and so these are the coordinates
    of a budget. Proof: along every sequence of answers let P₁ be the product of the P₁ of its steps, and likewise Q₁.
    As long as Σδᵢ ≤ δ on every sequence, P ≥ Π(1 − δᵢ)·P₁ ≥ (1 − δ)P₁, and Q likewise. P₁ and Q₁ are the laws of a
    sequence of zero-concentrated steps with Σρᵢ ≤ ρ, for which the sum is a stopping rule.      [WRRW23, Thm 1]

    >>> ApproximateZeroConcentratedDP(0.25, 1e-7) + ApproximateZeroConcentratedDP(0.25, 2e-7)
    ApproximateZeroConcentratedDP(rho=0.5, delta=3e-07)
    """

    notation = "zcdp(ρ, δ)"
    exposes = True
    odometer = "zcdp"
    name = "approximate_zcdp"
    obstacle = Obstacle(
        "It bounds the moments of the loss neither always nor outside an event", "convert it first to (ε, δ)"
    )
    closed = Obstacle(
        "Outside the moments that it bounds, the loss may be infinite with probability δ",
        "use to_approximate(delta=…), or ZeroConcentratedDP if δ = 0",
    )
    probabilities = frozenset({"delta"})
    widths = (1e-2, 1e-3)

    rho: float
    delta: float

    @classmethod
    def of(cls, loss: Loss, /, *, relative: float = RELATIVE) -> ApproximateZeroConcentratedDP:
        """δ = P(L = +∞), which no promise of this flavor can do without, and the least ρ of the rest, rounded up.

        >>> from sitr.loss import gaussian
        >>> from sitr.loss.forms.finite import response
        >>> from sitr.loss.loss import Loss
        >>> ApproximateZeroConcentratedDP.of(gaussian(sigma=2) + Loss.of(response(0.0, infinite=1e-6)))
        ApproximateZeroConcentratedDP(rho=0.12500000..., delta=1e-06)
        """
        from sitr.loss.finite_part import finite_part  # noqa: PLC0415 - slow to import

        mass, rest = _exposure(loss), finite_part(loss)
        if mass == 1.0:
            return cls(0.0, 1.0)
        found = math.inf if rest is None else rest.rho(relative=relative).upper
        return cls(above(found, what="the finite moments"), mass)

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The least ρ of the loss where it is finite against ρ, provided that P(L = +∞) ≤ δ.

        With a δ above P(L = +∞) a smaller ρ may do. So a loss is proved to break the promise only if it is infinite
        too often, or if the (ε, δ) that the promise implies are broken.
        """
        from sitr.loss.finite_part import finite_part  # noqa: PLC0415 - slow to import

        if self.delta == 1.0:
            return KEPT
        if self.delta == 0.0:
            return ZeroConcentratedDP(self.rho).excess(loss, relative=relative)
        if self.rho == 0.0:
            return ApproximateDP(0.0, self.delta).excess(loss, relative=relative)
        broken = max(self._point(share).excess(loss, relative=relative).lower for share in _SHARES)
        rest, kept = finite_part(loss), math.inf
        if rest is not None and _exposure(loss) <= self.delta:
            kept = ratio(rest.rho(relative=relative), self.rho).upper
        return Interval(broken, max(broken, kept))

    def _point(self, share: float) -> ApproximateDP:
        """The (ε, δ) that leaves this share of 1 − δ to the finite tail."""
        return self.to_approximate(delta=upward(exact(self.delta) + (1 - exact(self.delta)) * exact(share)))

    @property
    def stated(self) -> Points:
        """Without ρ the laws of neighbours share all but δ of their mass."""
        return ((0.0, self.delta),) if self.rho == 0.0 else ()

    def infinite_mass(self) -> float:
        return self.delta

    def loss_quantile(self, *, delta: float) -> float | None:
        """As for zero-concentrated privacy if δ is 0.

        Otherwise the event is not part of the answer, and the loss of the answer itself may exceed a bound more often.
        """
        return ZeroConcentratedDP(self.rho).loss_quantile(delta=delta) if self.delta == 0.0 else None

    @classmethod
    def implied_by(cls, promise: Promise, /, *, delta: float | None = None) -> ApproximateZeroConcentratedDP | None:
        """(ρ + ξ, 0) of a zero-concentrated promise, because ξ + ρα ≤ (ξ + ρ)α; and (ε²/2, δ) of an approximate one.

        An (ε, δ)-private pair of laws is what randomized response becomes by some post-processing, if a person is
        exposed instead with probability δ. The post-processing of the part that is not exposed is ε-private.
        [KOV15, Thm 3.3; BS16, Prop. 1.4 and Sec. 8]

        >>> ApproximateZeroConcentratedDP.implied_by(ApproximateDP(0.5, 1e-6))
        ApproximateZeroConcentratedDP(rho=0.125, delta=1e-06)
        >>> ApproximateZeroConcentratedDP.implied_by(ZeroConcentratedDP(0.2, xi=0.1))
        ApproximateZeroConcentratedDP(rho=0.3, delta=0.0)
        """
        line = ZeroConcentratedDP.implied_by(promise)
        if type(promise) is ZeroConcentratedDP:
            line = promise
        if line is not None:
            return cls(upward(exact(line.rho) + exact(line.xi)), 0.0)
        if isinstance(promise, RandomDP):
            return None  # γ cannot be moved into δ
        found = promise if isinstance(promise, ApproximateDP) else None
        if found is None and delta is not None:
            found = ApproximateDP.implied_by(promise, delta=delta)
        return None if found is None else cls(PureDP(found.epsilon).to_zero_concentrated().rho, found.delta)

    def for_group(self, size: int, /) -> ApproximateZeroConcentratedDP:
        """s²ρ if δ is 0, and sδ if ρ is 0, where the laws of two neighbours share all but δ of their mass.

        With both, the events of two pairs of neighbours differ, and no bound is known that has this form.
        """
        size = count(size, what="The size of a group")
        if size == 1 or self.delta == 1.0:
            return self
        if self.delta == 0.0:
            return ApproximateZeroConcentratedDP(ZeroConcentratedDP(self.rho).for_group(size).rho, 0.0)
        if self.rho == 0.0:
            return self * size
        raise IncompatiblePromises(
            wanted="a promise that is known to extend to groups",
            given=f"{self!r}, whose event of probability δ is another one for each pair of neighbours",
            do="Convert it first with to_approximate(delta=…), and take the group of that.",
        )

    def implies(self, other: Promise, /) -> bool:
        """Like (ε, δ), it implies no flavor without a δ, even if its own is 0."""
        match other:
            case ApproximateZeroConcentratedDP():
                return other.delta == 1.0 or self.covers(ApproximateDP(_largest_epsilon(other.rho), other.delta))
            case ApproximateDP():
                if other.delta == 1.0 or self.rho == 0.0:
                    return ApproximateDP(0.0, self.delta).covers(other)
                if not _room(self.delta, other.delta):
                    return False
                return self.to_approximate(delta=other.delta).epsilon <= other.epsilon
        return other.follows_from(self)

    def follows_from(self, promise: Promise, /) -> bool:
        """From a line of moments without a δ, or from the (ε, δ) with ε²/2 = ρ."""
        if promise.covers(ZeroConcentratedDP(self.rho)):
            return True
        return promise.covers(ApproximateDP(_largest_epsilon(self.rho), self.delta))

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """The least ε at a δ′ above δ: the zero-concentrated one at (δ′ − δ)/(1 − δ).

        P(S) − e^ε·Q(S) ≤ δ + (1 − δ)(P₁(S) − e^ε·Q₁(S)) for every S, which is at most δ + (1 − δ)·δ_ρ(ε).
        [BS16, Sec. 8; CKS20, Prop. 12]

        >>> ApproximateZeroConcentratedDP(0.5, 1e-6).to_approximate(delta=2e-6)
        ApproximateDP(epsilon=5.22..., delta=2e-06)
        """
        whole = parameter(delta, name="delta", flavor="ApproximateDP", at_most=1.0)
        if self.delta <= whole and (self.rho == 0.0 or whole == 1.0):
            return ApproximateDP(0.0, whole)
        if not (room := _room(self.delta, whole)):
            raise InvalidPromise(
                wanted=f"a δ above {self.delta!r}, the probability with which a loss may be infinite",
                given=repr(delta),
                do="Choose a larger δ, such as twice that: below it this promise says nothing.",
            )
        return ApproximateDP(ZeroConcentratedDP(self.rho).to_approximate(delta=room).epsilon, whole)


_SHARES = (1e-9, 1e-6, 1e-3, 0.03, 0.3)
"""The shares of the finite tail at which a promise is refuted."""


def _exposure(loss: Loss) -> float:
    """P(L = +∞) of the worse direction, rounded up."""
    backward = [(law.reversed().infinite, times) for law, times in loss.laws]
    return max(exposed((law.infinite, times) for law, times in loss.laws), exposed(backward))


def _room(spent: float, delta: float) -> float:
    """(δ′ − δ)/(1 − δ), rounded down: what δ′ leaves to the finite tail; 0 if nothing."""
    if spent >= delta:
        return 0.0
    return downward((exact(delta) - exact(spent)) / (1 - exact(spent)))


def _largest_epsilon(rho: float) -> float:
    """The largest float ε with ε²/2 ≤ ρ."""
    epsilon = downward(square_root_upward(2 * exact(rho)))
    while exact(epsilon) ** 2 > 2 * exact(rho):
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon
