"""Keys that are not public: a key is shown only if enough people, noise included, have it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.choice import whole
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.passed import passed_ends
from sitr.noise.coins import Coins
from sitr.noise.laplace import discrete_laplace_tail
from sitr.numbers import Number, ball, exact, inside, least_whole, natural, upper
from sitr.precision import precision


@dataclass(frozen=True, slots=True)
class Threshold:
    """Show a key and its noisy number of people if that number is at least `least`.

    A unit adds up to c = `each` to the numbers of at most g = `groups` keys: c = 1 where people are counted, more where
    their rows are. Let p = P(c + Y ≥ least): a key that only one unit has is shown with probability p, or less. With
    g such keys the unit is exposed outright with probability δ = 1 − (1 − p)^g: this is mass at L = +∞. Otherwise the
    loss is at most ε = Δ/scale, the loss of the noise, with Δ ≥ cg, provided p ≤ 1 − e^{−c/scale}: a key that is *not*
    shown has loss ln 1/(1 − p) ≤ c/scale, the largest loss of noise for c on that key, and a key that others have too
    has no larger loss.      [KKMN09, Thm 1; DVG22, Sec. 2]

    >>> Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30).promise()
    ApproximateDP(epsilon=1.0, delta=6.27...e-07)
    >>> Threshold(noise=Laplace(scale=6, sensitivity=6), groups=2, least=90, each=3).promise()
    ApproximateDP(epsilon=1.0, delta=5.46...e-07)
    """

    noise: Laplace
    groups: int
    least: int
    each: int = 1

    outright: ClassVar[bool] = True
    """Whatever the data are, all of δ is for infinite losses."""

    def __post_init__(self) -> None:
        if exact(self.noise.granularity) != 1:
            raise InvalidParameter(
                wanted="noise on integers for Threshold, which counts people",
                given=f"granularity={self.noise.granularity}",
                do="Leave the granularity at 1.",
            )
        for name in ("groups", "each"):
            object.__setattr__(self, name, natural(getattr(self, name), name=name, of="Threshold"))
        if self.groups * self.each > exact(self.noise.sensitivity):
            raise InvalidParameter(
                wanted="noise of Threshold for a sensitivity of at least the number of groups, times each",
                given=f"sensitivity={self.noise.sensitivity}, groups={self.groups}, each={self.each}",
                do="Fit the noise to all groups.",
            )
        if not whole(self.least) or not _rare(self._alone(), self.noise, self.each):
            raise InvalidParameter(
                wanted="a whole number as a threshold that a single person seldom passes",
                given=f"least={self.least}, each={self.each}",
                do="Raise the threshold.",
            )
        object.__setattr__(self, "least", int(self.least))

    @classmethod
    def fitting(cls, price: ApproximateDP, *, sensitivity: Number, groups: int, each: int = 1) -> Threshold:
        """The lowest threshold that keeps this promise, with a loss beyond ε only where it is infinite."""
        inside(price.delta, name="delta", of="Threshold", example=1e-6)
        noise = Laplace.fitting(PureDP(price.epsilon), sensitivity=sensitivity)
        keys, many = (natural(n, name=name, of="Threshold") for n, name in ((groups, "groups"), (each, "each")))

        def keeps(least: int) -> bool:
            alone = _passes(noise, least, many)
            return _rare(alone, noise, many) and bool(exposed(alone, keys) <= ball(price.delta))

        return cls(noise, keys, least_whole(keeps, least=many + 1), many)

    @precision(128)
    def promise(self) -> ApproximateDP:
        """(Δ/scale, 1 − (1 − p)^g)."""
        return ApproximateDP(self.noise.promise().epsilon, upper(exposed(self._alone(), self.groups)))

    def loss(self) -> Loss:
        """A bound: the pair of the (ε, δ) promise. The true loss depends on who shares which keys.  [KOV15, Thm 3.3]"""
        return bounding(self.promise())

    def error(self, *, confidence: Number = 0.95) -> int:
        """The least number of people with which a key is shown with at least this confidence, above one half.

        >>> Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30).error()
        35
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

        >>> mechanism = Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30)
        >>> mechanism.ends(31), mechanism.ends(60)
        ((1, 36), (54, 66))
        """
        width = self.noise.width(confidence=confidence)
        with precision(128):
            return passed_ends(number, self.least, self._tail, width=width, confidence=confidence)

    def _tail(self, y: int) -> arb:
        return discrete_laplace_tail(y, scale=self.noise.scale)

    def _alone(self) -> arb:
        return _passes(self.noise, self.least, self.each)


def people_needed(noise: Noise, least: int, *, confidence: Number) -> int:
    """The least n with P(n + Y ≥ least) ≥ confidence, for noise that is symmetric: it fails with P(Y > n − least)."""
    rest = 1 - inside(confidence)
    if rest >= Fraction(1, 2):
        raise InvalidParameter(
            wanted="confidence of Threshold to be above one half",
            given=repr(confidence),
            do="Choose for example 0.95.",
        )
    # P(|Y| ≤ w) ≥ 1 − 2(1 − c) means P(Y > w) ≤ 1 − c.
    return least + noise.width(confidence=1 - 2 * rest)


def shown(noise: Noise, least: int, people: Sequence[int], *, coins: Coins | None) -> list[int | None]:
    """The noisy numbers from the threshold on, None for the others."""
    return [noisy if noisy >= least else None for noisy in noise.release(people, coins=coins)]


def exposed(alone: arb, groups: int) -> arb:
    """1 − (1 − p)^g without cancellation."""
    return -((-alone).log1p() * groups).expm1() if alone < 1 else arb(1)


def _passes(noise: Laplace, least: int, each: int) -> arb:
    """p: the probability that a key with one person, who adds `each`, is shown."""
    return discrete_laplace_tail(int(least) - each, scale=noise.scale) if least > each else arb(1)


@precision()
def _rare(alone: arb, noise: Laplace, each: int) -> bool:
    """p ≤ 1 − e^{−c/scale}."""
    return bool(alone <= -ball(-each / exact(noise.scale)).expm1())
