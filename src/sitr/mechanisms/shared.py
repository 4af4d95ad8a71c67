"""Noise for several tables of counts that share one price, in parts that may be chosen after earlier answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.additive import Noise, NoisePrice
from sitr.mechanisms.candidates import least_noise
from sitr.neighbors.distance import Distance
from sitr.noise.coins import Coins
from sitr.numbers import Number


@dataclass(frozen=True, slots=True)
class SharedNoise:
    """A price to spend on tables of counts, each of which one person moves by `distance`.

    How many tables there are and how large they are may depend on earlier noisy answers, and so do their shares. What
    all of them promise together does not: the shares add up to the price, and sums of ε, of ρ, or of μ², that stay
    within a bound fixed in advance are sound however they are split up on the way.
    [RRUV16, Thm 3.6; WRRW23, Thm 1; ST22]

    >>> shared = SharedNoise(PureDP(1.0), Distance(l1=2, l2_squared=2, largest=1))
    >>> [noise.promise() for noise in shared.noises([100, 100])]
    [PureDP(epsilon=0.5), PureDP(epsilon=0.5)]
    """

    price: NoisePrice
    distance: Distance

    def noises(self, cells: Sequence[int]) -> list[Noise]:
        """Noise for tables with these numbers of cells, with the least sum of standard deviations over all cells.

        A table of c cells with standard deviation s adds c·s. For Gaussian noise s ∝ 1/√ρ, and Σ c/√ρ is least for
        ρ ∝ c^⅔, or μ² ∝ c^⅔; for Laplace noise s ∝ 1/ε, and Σ c/ε is least for ε ∝ √c.
        """
        power = 0.5 if isinstance(self.price, PureDP) else 2 / 3
        weights = [math.ceil(1000 * count**power) for count in cells]
        total = sum(weights)
        return [self._noise(Fraction(weight, total)) for weight in weights]

    def part(self, fraction: Fraction) -> SharedNoise:
        """A part of the price, for some of the tables."""
        return SharedNoise(self.price.share(fraction), self.distance)

    def promise(self) -> NoisePrice:
        """The price: whatever the tables are, they use it up together."""
        return self.price

    def loss(self) -> Loss | None:
        """A bound: the worst loss that the price allows, however it is shared; None at a price in ρ."""
        worst = self.price.worst_loss()
        return None if worst is None else replace(worst, bound=True)

    def error(self, *, confidence: Number = 0.95, tables: int = 1) -> Any:
        """The error of a count in each of this many tables of equal size."""
        return self.noises([1] * tables)[0].error(confidence=confidence)

    def release(self, tables: Sequence[Any], *, coins: Coins | None = None) -> list[Any]:
        """Each table, an array of counts, with its noise."""
        noises = self.noises([len(table) for table in tables])
        return [noise.release(table, coins=coins) for noise, table in zip(noises, tables, strict=True)]

    def _noise(self, share: Fraction) -> Noise:
        return least_noise(self.price.share(share), l1=self.distance.l1, l2=self.distance.l2)
