"""Keys that are not public, shown if enough people have them, with Gaussian noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import express
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import whole
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.passed import passed_ends
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.threshold import exposed, people_needed, shown
from sitr.noise.coins import Coins
from sitr.noise.gaussian import discrete_gaussian_tail
from sitr.noise.rounded import rounded_gaussian_tail
from sitr.numbers import Number, ball, exact, inside, least_whole, natural, probability
from sitr.precision import precision

GaussianNoise = Gaussian | RoundedGaussian


@dataclass(frozen=True, slots=True)
class GaussianThreshold:
    """Show a key and its noisy number of people if that number is at least `least`, with Gaussian noise.

    A unit adds up to c = `each` to the numbers of at most g = `groups` keys. A key that nobody has is never shown. The
    promise is (ρ, δ) with the ρ of the noise, which moves by Δ ≥ √g·c in ℓ2, and

        δ = 1 − (1 − p)^g,   p = P(c + Y ≥ least).      [BS16, Def. 8.1]

    Proof. Let D, D' be neighbours, and A the keys that D has and D' has not. Only the unit that D has and D' has not
    can have them, so there are at most g, each with a number of at most c. Let E be the event that none of them is
    shown on D. Their noise is independent, so P(E) ≥ (1 − p)^g. Define A' and E' for D' in the same way; where a unit
    is only added, A' is empty, and E' is certain. E depends on the noise of A alone, which no other key has. So, given
    E, the other keys have the laws that they had before, and nothing of A is seen; likewise given E'. What remains are
    the keys that both D and D' have, of which at most Δ² is moved in squares. What is shown of them is computed from
    their noisy numbers, key by key and in the same way on D and D': post-processing of Gaussian noise. So the two
    conditional laws have D_α ≤ ρα, both ways.

    Nothing is lost by a key that is *not* shown: this is the event itself. A key passes on equality, so p has ≥.

    >>> GaussianThreshold(Gaussian(sigma=4, sensitivity=2), groups=4, least=25).promise()
    ApproximateZeroConcentratedDP(rho=0.125, delta=...e-09)
    """

    noise: GaussianNoise
    groups: int
    least: int
    each: int = 1

    def __post_init__(self) -> None:
        if exact(self.noise.granularity) != 1 or getattr(self.noise, "single", False):
            raise InvalidParameter(
                wanted="noise on vectors of integers for GaussianThreshold, which counts people",
                given=f"{self.noise!r}",
                do="Leave the granularity at 1, and do not use noise for a single number.",
            )
        for name in ("groups", "each"):
            object.__setattr__(self, name, natural(getattr(self, name), name=name, of="GaussianThreshold"))
        if self.groups * self.each**2 > exact(self.noise.sensitivity) ** 2:
            raise InvalidParameter(
                wanted="noise of GaussianThreshold for a sensitivity of at least √groups, times each",
                given=f"sensitivity={self.noise.sensitivity}, groups={self.groups}, each={self.each}",
                do="Fit the noise to all groups.",
            )
        if not whole(self.least) or self.least <= self.each:
            raise InvalidParameter(
                wanted=f"a whole number above {self.each} as a threshold, so that a single person seldom passes",
                given=f"least={self.least}",
                do="Raise the threshold.",
            )
        object.__setattr__(self, "least", int(self.least))

    @classmethod
    def fitting(
        cls, price: ApproximateZeroConcentratedDP, *, sensitivity: Number, groups: int, each: int = 1
    ) -> GaussianThreshold:
        """The least noise and the lowest threshold that keep this promise; the sensitivity is in ℓ2.

        >>> GaussianThreshold.fitting(ApproximateZeroConcentratedDP(0.125, 1e-6), sensitivity=2, groups=4).least
        22
        """
        noise = Gaussian.fitting(ZeroConcentratedDP(price.rho), sensitivity=sensitivity)
        return cls.lowest(noise, delta=price.delta, groups=groups, each=each)

    @classmethod
    def lowest(cls, noise: GaussianNoise, *, delta: Number, groups: int, each: int = 1) -> Self:
        """The lowest threshold for this noise that exposes nobody with a larger probability than δ."""
        most = inside(delta, name="delta", of="GaussianThreshold", example=1e-6)
        keys, many = (natural(n, name=name, of="GaussianThreshold") for n, name in ((groups, "groups"), (each, "each")))

        def keeps(least: int) -> bool:
            with precision(128):
                return bool(exposed(_passes(noise, least - many), keys) <= ball(most))

        return cls(noise, keys, least_whole(keeps, least=many + 1), many)

    def promise(self) -> ApproximateZeroConcentratedDP:
        """(ρ, 1 − (1 − p)^g), both rounded up."""
        with precision(128):
            delta = probability(exposed(_passes(self.noise, self.least - self.each), self.groups))
        return ApproximateZeroConcentratedDP(express(self.noise.promise(), ZeroConcentratedDP).rho, delta)

    def loss(self) -> Loss:
        """A bound: exposed outright with probability δ, and otherwise the loss of the noise.

        P(S) − e^ε·Q(S) ≤ δ + (1 − δ)(P₁(S) − e^ε·Q₁(S)) for every S, where P₁ and Q₁ are the laws given the two events,
        of which the noise dominates the loss.

        >>> mechanism = GaussianThreshold(Gaussian(sigma=4, sensitivity=2), groups=4, least=25)
        >>> mechanism.loss().infinite_mass() == mechanism.promise().delta
        True
        """
        event = Loss.of(response(0.0, infinite=self.promise().delta), bound=True)
        return Loss.compose([self.noise.loss(), event])

    def error(self, *, confidence: Number = 0.95) -> int:
        """The least number of people with which a key is shown with at least this confidence, above one half.

        >>> GaussianThreshold(Gaussian(sigma=4, sensitivity=2), groups=4, least=25).error()
        32
        """
        return people_needed(self.noise, self.least, confidence=confidence)

    def release(self, people: Sequence[int], *, coins: Coins | None = None) -> list[int | None]:
        """The noisy number of people of every key that is shown, None for the others: one entry for each key.

        Publish only the entries that are not None: the length of the list is the secret number of keys.
        """
        return shown(self.noise, self.least, people, coins=coins)

    def ends(self, number: int, /, *, confidence: Number = 0.95) -> tuple[int, int]:
        """The interval of the exact number of people of a key that is shown with this noisy number.

        Given that the key is shown, it holds the exact number with this confidence: see `sitr.mechanisms.passed`.

        >>> mechanism = GaussianThreshold(Gaussian(sigma=4, sensitivity=2), groups=4, least=25)
        >>> mechanism.ends(26), mechanism.ends(60)
        ((1, 33), (52, 68))
        """
        width = self.noise.width(confidence=confidence)
        with precision(128):
            return passed_ends(number, self.least, self._tail, width=width, confidence=confidence)

    def _tail(self, y: int) -> arb:
        return _passes(self.noise, y)


def _passes(noise: GaussianNoise, missing: int) -> arb:
    """P(Y ≥ `missing`), for at least 1: the probability that a key which lacks so much is shown."""
    if isinstance(noise, Gaussian):
        return discrete_gaussian_tail(missing, sigma=noise.granules)
    return rounded_gaussian_tail(missing - 1, sigma=noise.granules) / 2
