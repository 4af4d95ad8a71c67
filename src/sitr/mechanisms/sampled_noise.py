"""Noise fitted to draws from a public population, which protects a random newcomer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.sensitivity.sampler import SampledSensitivity


@dataclass(frozen=True, slots=True)
class SampledNoise:
    """Laplace noise for the distance that newcomers move a statistic in draws from a public population.      [RA17]

    A newcomer moves the rounded statistic of the private data farther with probability at most γ, over the data and the
    draws of the rule; otherwise the loss is at most ε.

    >>> from itertools import count
    >>> from sitr.sensitivity import mean, sampled
    >>> numbers = count()
    >>> def draw(size):
    ...     return [next(numbers) * 0.6180339887 % 1 for _ in range(size)]
    >>> rule = sampled(mean, population=draw, size=100, gamma=0.05, granularity=0.001)
    >>> mechanism = SampledNoise.fitting(PureDP(0.5), sensitivity=rule)
    >>> mechanism.promise(), mechanism.error()
    (RandomDP(inner=PureDP(epsilon=0.5), gamma=0.05, parts=(('newcomer', 0.05),)), Fraction(3703, 100000))
    """

    sensitivity: SampledSensitivity
    price: PureDP

    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    @classmethod
    def fitting(cls, price: PureDP, *, sensitivity: SampledSensitivity) -> SampledNoise:
        """The least noise that keeps ε, given how far a newcomer moves the statistic."""
        Laplace.fitting(price, sensitivity=sensitivity.moved)  # raises an error if ε is wrong
        return cls(sensitivity, price)

    @property
    def noise(self) -> Laplace:
        """The noise, in the units of the statistic."""
        grain = self.sensitivity.subject.granularity
        return Laplace.fitting(self.price, sensitivity=self.sensitivity.moved * grain, granularity=grain)

    def promise(self) -> RandomDP:
        """ε for all but a fraction γ of samples and draws, in which nobody is promised anything."""
        return self.sensitivity.around(self.noise.promise())

    def loss(self) -> None:
        """None: the promise is random, so for some data no pair of laws bounds the loss."""

    def error(self, *, confidence: Number = 0.95) -> Fraction:
        """The noise is at most this, with at least this confidence. It is public."""
        return Fraction(self.noise.error(confidence=confidence))

    def release(self, values: Any, *, coins: Coins | None = None) -> Fraction:
        """The statistic of these values with noise, a multiple of the granularity."""
        centre = self.sensitivity.centre(values) * self.sensitivity.subject.granularity
        return self.noise.release(centre, coins=coins)
