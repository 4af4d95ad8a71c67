"""Noise that several parties add without trusting each other: nobody knows all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from sitr.errors import IncompatiblePromises, InvalidParameter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.forms.shares import (
    MassTable,
    gaussian_table,
    polya_law,
    polya_table,
    skellam_law,
    skellam_table,
)
from sitr.loss.loss import Loss
from sitr.loss.summed_gaussians import summed_gaussian_law
from sitr.noise.coins import Coins
from sitr.noise.gaussian import discrete_gaussian
from sitr.noise.poisson import skellam
from sitr.noise.polya import polya
from sitr.numbers import (
    Number,
    exact,
    float_below,
    inside,
    least_whole,
    natural,
    positive,
    square_root_upward,
    upward,
)

WRAPPING = Fraction(1, 2**40)
"""How rarely the total may exceed the range of a modulus."""

STEPS = 256
"""A fitted σ is at most a part in this many above the least."""


class Shares(Enum):
    """What each party draws."""

    LAPLACE = "Pólya"
    """Shares that add up to discrete Laplace noise.      [GX17]"""
    SKELLAM = "Skellam"
    """Differences of Poisson variables.      [AKL21]"""
    GAUSSIAN = "discrete Gaussian"
    """Discrete Gaussians, whose sum is not quite discrete Gaussian.      [KLS21]"""


@dataclass(frozen=True, slots=True)
class DistributedNoise:
    """Each of N parties adds a share of noise to its integer, and only the total is opened.      [DKMMN06]

    At most `dropouts` parties do not deliver, and at most `colluders` put together what they know: they subtract their
    own noise. The noise of the other h = N − dropouts − colluders parties alone keeps the promise, against everybody
    else together. `size` is that of their noise together: its scale for Laplace shares, its σ for the others. If all
    deliver, the total has the noise of all N, which is more.

    One unit moves the total of all parties by at most `sensitivity`, a whole number. Skellam and Gaussian noise have no
    largest loss, so their promise needs a δ.

    The promise is about the total, for coins that are truly random. `sitr.mechanisms.secret_shares` says how to open
    nothing else, and what this assumes; where coins or channels rest on a cipher, the promise is computational, see
    `sitr.flavors.ComputationalDP`.

    >>> noise = DistributedNoise(Shares.LAPLACE, size=10, parties=5, dropouts=1, colluders=1)
    >>> noise.honest, noise.promise(), noise.loss(honest=2).max() > noise.loss().max()
    (3, PureDP(epsilon=0.1), True)
    """

    shares: Shares
    size: Number
    parties: int
    dropouts: int = 0
    colluders: int = 0
    sensitivity: int = 1
    delta: Number | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not isinstance(self.shares, Shares):
            raise InvalidParameter(
                wanted="shares of DistributedNoise to be one of Shares",
                given=repr(self.shares),
                do="Write Shares.LAPLACE, Shares.SKELLAM or Shares.GAUSSIAN.",
            )
        object.__setattr__(self, "size", positive(self.size, name="size", of=name))
        for field, least in (("parties", 1), ("dropouts", 0), ("colluders", 0), ("sensitivity", 1)):
            object.__setattr__(self, field, natural(getattr(self, field), name=field, of=name, least=least))
        if self.honest < 1:
            raise InvalidParameter(
                wanted="a party that neither drops out nor colludes",
                given=f"{self.parties} parties, of which {self.dropouts} may drop out and {self.colluders} collude",
                do="Find more parties, or expect fewer drop-outs or colluders.",
            )
        if (self.delta is None) != (self.shares is Shares.LAPLACE):
            raise InvalidParameter(
                wanted="a delta for Skellam and Gaussian shares, and none for Laplace shares",
                given=f"delta={self.delta!r} for {self.shares}",
                do="Write for example delta=1e-6, or leave it out for Shares.LAPLACE.",
            )
        if self.delta is not None:
            object.__setattr__(self, "delta", inside(self.delta, name="delta", of=name, example=1e-6))

    @classmethod
    def fitting(
        cls,
        price: PureDP | ApproximateDP,
        *,
        parties: int,
        dropouts: int = 0,
        colluders: int = 0,
        sensitivity: int = 1,
        shares: Shares = Shares.LAPLACE,
    ) -> DistributedNoise:
        """The least noise that keeps this promise: Laplace shares for a pure one, and others for an (ε, δ).

        A σ is at most 0.4% above the least.

        >>> DistributedNoise.fitting(PureDP(0.5), parties=5, dropouts=1, sensitivity=3).size
        Fraction(6, 1)
        """
        if isinstance(price, PureDP) != (shares is Shares.LAPLACE) or not isinstance(price, PureDP | ApproximateDP):
            raise IncompatiblePromises(
                wanted="a pure promise for Laplace shares, and (ε, δ) for Skellam and Gaussian shares",
                given=f"{price!r} for {shares}",
                do="Write for example PureDP(0.5), or ApproximateDP(0.5, 1e-6) with shares=Shares.SKELLAM.",
            )
        epsilon = positive(price.epsilon, name="epsilon", of="DistributedNoise")
        if isinstance(price, PureDP):
            return cls(shares, Fraction(sensitivity) / epsilon, parties, dropouts, colluders, sensitivity)
        one = cls(shares, 1, parties, dropouts, colluders, sensitivity, price.delta)
        start = Fraction(_gaussian_sigma(price, one.sensitivity)) / 4  # Skellam noise may need less

        def sized(steps: int) -> DistributedNoise:
            return replace(one, size=start * Fraction(STEPS + steps, STEPS))

        return sized(least_whole(lambda steps: sized(steps).promise().covers(price)))

    @property
    def honest(self) -> int:
        """How many parties deliver and do not collude, at least."""
        return self.parties - self.dropouts - self.colluders

    @property
    def each(self) -> Fraction:
        """The size of each share: the shape of a Pólya share, the variance of a Skellam share, the σ of a Gaussian.

        A σ is rounded up where it is no fraction.
        """
        match self.shares:
            case Shares.LAPLACE:
                return Fraction(1, self.honest)
            case Shares.SKELLAM:
                return exact(self.size) ** 2 / self.honest
        return square_root_upward(exact(self.size) ** 2 / self.honest)

    def share(self, value: int, *, coins: Coins | None = None) -> int:
        """What one party adds: its integer, with its share of the noise."""
        match self.shares:
            case Shares.LAPLACE:
                return _whole(value) + polya(scale=self.size, shape=self.each, coins=coins)
            case Shares.SKELLAM:
                return _whole(value) + skellam(variance=self.each, coins=coins)
        return _whole(value) + discrete_gaussian(sigma=self.each, coins=coins)

    def release(self, values: Sequence[int], *, coins: Coins | None = None) -> int:
        """The total of the values, one for each party that delivers, with the noise of all of them.

        This is for somebody who is trusted with all values. Otherwise each party calls `share` alone.

        >>> DistributedNoise(Shares.LAPLACE, size=0.001, parties=3, dropouts=1).release([20, 7])
        27
        """
        if not self.parties - self.dropouts <= len(values) <= self.parties:
            raise InvalidParameter(
                wanted=f"the values of {self.parties - self.dropouts} to {self.parties} parties",
                given=f"{len(values)} values",
                do="Open no total of fewer parties: their noise does not keep the promise.",
            )
        return sum(self.share(value, coins=coins) for value in values)

    def loss(self, *, honest: int | None = None) -> Loss:
        """The loss of the total against everybody but the honest parties; with fewer of these, it is larger.

        For Laplace shares it is exact, and ln P(0)/P(Δ) is its largest. For the others it is a bound, to within
        2^{−200}, or real Gaussian noise that dominates large Gaussian shares.

        >>> tight = DistributedNoise(Shares.LAPLACE, size=1, parties=20)
        >>> [round(tight.loss(honest=honest).max(), 6) for honest in (20, 18, 15, 10)]
        [1.0, 1.098941, 1.274227, 1.675139]
        """
        number = self.honest if honest is None else honest
        natural(number, name="honest", of="DistributedNoise", most=self.honest)
        match self.shares:
            case Shares.LAPLACE if number == self.honest:
                return Loss.of(DiscreteLaplaceLaw(float_below(exact(self.size)), self.sensitivity))
            case Shares.LAPLACE:
                return Loss.of(polya_law(exact(self.size), number * self.each, self.sensitivity))
            case Shares.SKELLAM:
                return Loss.of(skellam_law(number * self.each, self.sensitivity), bound=True)
        return Loss.of(summed_gaussian_law(self.each, number, self.sensitivity), bound=True)

    def promise(self) -> PureDP | ApproximateDP:
        """ε = Δ/scale for Laplace shares, and the least ε at this δ for the others, rounded up.

        >>> DistributedNoise(Shares.SKELLAM, size=4, parties=5, delta=1e-6).promise()
        ApproximateDP(epsilon=0.951..., delta=1e-06)
        """
        if self.delta is None:
            return PureDP(upward(self.sensitivity / exact(self.size)))
        return ApproximateDP.of(self.loss(), delta=float(self.delta))

    def error(self, *, confidence: Number = 0.95, delivered: int | None = None) -> int:
        """The least w with P(|noise| ≤ w) ≥ confidence if this many parties deliver, or all of them.

        Where a table of the law would be too long, a larger w, by Chernoff's bound.

        >>> noise = DistributedNoise(Shares.LAPLACE, size=10, parties=5, dropouts=2)
        >>> noise.error(), noise.error(delivered=3)
        (38, 30)
        """
        number = self.parties if delivered is None else delivered
        natural(number, name="delivered", of="DistributedNoise", most=self.parties)
        wanted = inside(confidence)
        try:
            return self._table(number).width(wanted)
        except InvalidParameter:
            return self.reach(1 - wanted, delivered=number)

    def reach(self, probability: Number, *, delivered: int | None = None) -> int:
        """A w with P(|noise| > w) ≤ probability, by Chernoff's bound, for any size of noise."""
        number = self.parties if delivered is None else delivered
        goal = math.log(2 / inside(probability, name="probability", of="a tail", example=1e-9))
        size = float(self.size)
        match self.shares:
            case Shares.LAPLACE:  # at half of the largest exponent, where q e^θ is √q
                half = math.exp(-0.5 / size)
                moment = 2 * math.log1p(half) + math.log1p(-half) - math.log1p(-(half**3))
                found = 2 * size * (goal + float(number * self.each) * moment)
            case Shares.SKELLAM:
                x = float(number * self.each)
                found = least_whole(lambda w: x - math.hypot(x, w) + w * math.asinh(w / x) >= goal)
            case _:
                found = math.sqrt(2 * goal * number) * float(self.each)
        return math.ceil(found * (1 + 1e-9)) + 1

    def bits(self, most: int, *, wrapping: Number = WRAPPING) -> int:
        """The least k such that a total of at most this size, with noise, is within ±2^{k−1}, except this rarely.

        A total that wraps around is wrong, but as private as any other: it is computed from the total.

        >>> DistributedNoise(Shares.LAPLACE, size=10, parties=5).bits(100_000)
        18
        """
        return 1 + (natural(most, name="most", of="a total", least=0) + self.reach(wrapping)).bit_length()

    def _table(self, number: int) -> MassTable:
        match self.shares:
            case Shares.LAPLACE:
                return polya_table(exact(self.size), number * self.each)
            case Shares.SKELLAM:
                return skellam_table(number * self.each)
        return gaussian_table(self.each, number)


def _gaussian_sigma(price: Promise, sensitivity: int) -> float:
    """About the least σ of real Gaussian noise that keeps this promise, rounded down: a place to start."""
    low, high = 1e-3, 1.0
    while not price.kept_by(Loss.of(GaussianLaw(1 / high))):
        low, high = high, 2 * high
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if price.kept_by(Loss.of(GaussianLaw(1 / middle))) else (middle, high)
    return low * sensitivity


def _whole(value: int) -> int:
    return natural(value, name="value", of="a party", least=-(2**1000))
