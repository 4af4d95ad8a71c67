"""Keys that nobody knows beforehand: a key is shown only if enough people, noise included, have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.bounds import Number, ball, exact, upper
from sitr.loss.loss import Loss
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import Coins
from sitr.noise.draws import inside
from sitr.noise.laplace import discrete_laplace_tail, discrete_laplace_width


@dataclass(frozen=True, slots=True)
class Threshold:
    """Show a key and its noisy number of people if that number is at least `least`.

    Let p = P(1 + Y ≥ least): a key that only one unit has is shown with probability p. With at most g such keys the
    unit is exposed outright with probability δ = 1 − (1 − p)^g: this is mass at L = +∞. Otherwise the loss is at most
    that of the noise, ε = Δ/scale, provided p ≤ 1 − e^{−1/scale}: a key that is *not* shown tells ln 1/(1 − p), then
    at most 1/scale, no more than the noise on that key could have told.      [KKMN09, Thm 1; DVG22, Sec. 2]

    >>> Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30).promise()
    ApproximateDP(epsilon=1.0, delta=6.27...e-07)
    """

    noise: Laplace
    groups: int
    least: int

    def __post_init__(self) -> None:
        if exact(self.noise.granularity) != 1:
            raise ValueError(
                "Threshold wants noise on integers: people are counted. "
                f"granularity={self.noise.granularity} was given. Leave it at 1."
            )
        if self.groups > exact(self.noise.sensitivity):
            raise ValueError(
                "Threshold wants noise for a sensitivity of at least the number of groups. "
                f"sensitivity={self.noise.sensitivity}, groups={self.groups} were given. Fit the noise to all groups."
            )
        if not isinstance(self.groups, int) or self.groups < 1 or not _rare(self._single(), self.noise):
            raise ValueError(
                "Threshold wants at least one group and a threshold that a single person seldom passes. "
                f"groups={self.groups}, least={self.least} were given. Raise the threshold."
            )

    @classmethod
    def fitting(cls, price: ApproximateDP, *, sensitivity: int, groups: int) -> Threshold:
        """The lowest threshold that keeps this promise, with a loss beyond ε only where it is infinite."""
        if not 0.0 < price.delta < 1.0:
            raise ValueError(
                f"Threshold wants 0 < delta < 1. {price.delta!r} was given. Choose a small positive delta."
            )
        noise = Laplace.fitting(PureDP(price.epsilon), sensitivity=sensitivity)

        def keeps(least: int) -> bool:
            single = _passes(noise, least)
            return _rare(single, noise) and bool(_exposed(single, groups) <= ball(price.delta))

        low, high = 1, 2
        while not keeps(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if keeps(middle) else (middle, high)
        return cls(noise, groups, high)

    def promise(self) -> ApproximateDP:
        """(Δ/scale, 1 − (1 − p)^g)."""
        return ApproximateDP(self.noise.promise().epsilon, upper(_exposed(self._single(), self.groups)))

    def loss(self) -> Loss:
        """Not known: an error says so. Who shares which keys decides it, and `promise()` bounds all of these cases."""
        raise InvalidPromise(
            wanted="A mechanism whose loss is known exactly was wanted.",
            given="A Threshold was given, whose loss depends on how many people share each key.",
            do="Use promise(), which holds whoever shares them.",
        )

    def error(self, *, confidence: Number = 0.95) -> int:
        """A key that so many people have, and no fewer, is shown with at least this confidence, above one half.

        n + Y ≥ least fails with P(Y > n − least).

        >>> Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30).error()
        35
        """
        rest = 1 - inside(confidence)
        if rest >= Fraction(1, 2):
            raise ValueError(
                f"Threshold wants a confidence above one half. {confidence!r} was given. Choose for example 0.95."
            )
        # P(|Y| ≤ w) ≥ 1 − 2(1 − c) means P(Y > w) ≤ 1 − c.
        return self.least + discrete_laplace_width(scale=self.noise.scale, confidence=1 - 2 * rest)

    def release(self, people: Sequence[int], *, coins: Coins | None = None) -> list[int | None]:
        """The noisy number of people of every key that is shown, None for the others."""
        return [noisy if noisy >= self.least else None for noisy in self.noise.release(people, coins=coins)]

    def _single(self) -> arb:
        return _passes(self.noise, self.least)


def _passes(noise: Laplace, least: int) -> arb:
    """p: the probability that a key with one person is shown."""
    return discrete_laplace_tail(least - 1, scale=noise.scale) if least > 1 else arb(1)


def _exposed(single: arb, groups: int) -> arb:
    """1 − (1 − p)^g without cancellation."""
    return -((-single).log1p() * groups).expm1() if single < 1 else arb(1)


def _rare(single: arb, noise: Laplace) -> bool:
    """p ≤ 1 − e^{−1/scale}."""
    return bool(single <= -(-1 / ball(noise.scale)).expm1())
