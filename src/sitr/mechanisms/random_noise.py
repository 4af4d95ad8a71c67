"""Noise fitted to pairs of the data themselves, which protects a random newcomer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
from flint import arb

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.dilation import laplace_dilation
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins
from sitr.noise.rounded import rounded_laplace
from sitr.noise.uniform import uniform
from sitr.numbers import Number, ball, exact, inside, positive
from sitr.precision import precision
from sitr.sensitivity.decay import LEAST
from sitr.sensitivity.newcomer import Indices, RandomSensitivity
from sitr.sensitivity.pairs import Pairs

_COINS_SHARE = Fraction(1, 10)
"""The part of δ that pays for an unlucky draw of pairs."""


@dataclass(frozen=True, slots=True)
class RandomNoise:
    """Add Laplace noise of scale s/α, where s bounds how far a random newcomer moves the statistic.     [HRW11, Sec. 6]

    For all but a fraction γ of samples X, X' that differ by one random newcomer, both statistics differ by at most
    min(s, s'), and |ln s/s'| ≤ β: then the two answers are (ε, δ)-close, with exactly the β that ε, δ and α allow. See
    `sitr.sensitivity.pairs` for γ, and `sitr.mechanisms.dilation` for β.

    >>> from sitr.sensitivity import mean, random
    >>> rule = random(mean, size=1000, gamma=0.05, granularity=0.001)
    >>> RandomNoise.fitting(ApproximateDP(1.0, 1e-6), sensitivity=rule).promise()
    RandomDP(inner=ApproximateDP(epsilon=1.0, delta=1e-06), gamma=0.05,
             parts=(('newcomer', 0.046), ('largest pair', 0.004)))
    """

    sensitivity: RandomSensitivity
    price: ApproximateDP
    shift: Number | None = None
    dilation: float = field(init=False)

    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        price, rule = self.price, self.sensitivity
        if not isinstance(price, ApproximateDP) or not 0 < price.delta < 1:
            raise InvalidPromise(
                wanted="an ApproximateDP with 0 < delta < 1",
                given=repr(price),
                do="Choose a small positive delta, for example 1e-6.",
            )
        alpha = exact(price.epsilon) / 2 if self.shift is None else self.shift
        alpha = positive(alpha, name="shift", of="RandomNoise")
        rule.ladder(miss=_miss(price, rule))  # raises an error now if too few pairs are drawn
        dilation = laplace_dilation(price.epsilon, delta=exact(price.delta) - _miss(price, rule), shift=alpha)
        if dilation < LEAST:
            raise InvalidPromise(
                wanted="a price under which the scale of the noise may depend on the data",
                given=f"{price!r} with shift={float(alpha):g}",
                do="Choose a larger epsilon or delta, or a shift of about half of epsilon.",
            )
        object.__setattr__(self, "shift", alpha)
        object.__setattr__(self, "dilation", dilation)

    @classmethod
    def fitting(
        cls, price: ApproximateDP, *, sensitivity: RandomSensitivity, shift: Number | None = None
    ) -> RandomNoise:
        """α is half of ε, unless another shift is chosen; a tenth of δ pays for the coins of pairs that are drawn."""
        return cls(sensitivity, price, shift)

    def promise(self) -> RandomDP:
        """(ε, δ) for all but a fraction γ of samples, in which nobody is promised anything."""
        return self.sensitivity.ladder(miss=_miss(self.price, self.sensitivity)).around(self.price)

    def loss(self) -> None:
        """None: the promise is random, so for some data no pair of laws bounds the loss."""

    def release(self, values: Any, *, coins: Coins | None = None) -> Fraction:
        """The statistic of these values with noise, a multiple of the granularity."""
        rows = self.sensitivity.sample(values)
        noise = rounded_laplace(scale=self._scale(rows, coins), coins=coins)
        return (self.sensitivity.subject.centre(rows) + noise) * self.sensitivity.subject.granularity

    @precision()
    def error(self, values: Any, *, confidence: Number = 0.95, coins: Coins | None = None) -> Fraction:
        """The noise on these values is at most this, with at least this confidence. **As secret as the values are.**

        P(|⌊bZ + ½⌋| > w) ≤ P(|bZ| ≥ w + ½) = e^{−(w+½)/b}, so w = ⌈b ln(1/(1−c)) − ½⌉.
        """
        scale = self._scale(self.sensitivity.sample(values), coins)
        wide = ball(scale) * -ball(1 - inside(confidence)).log() - arb(0.5)
        return max(0, math.ceil(float(wide.upper()))) * self.sensitivity.subject.granularity

    def _scale(self, rows: Any, coins: Coins | None) -> float:
        rule = self.sensitivity
        chosen = _chosen(rule.size, rule.draws, coins) if rule.pairs is Pairs.DRAWN else None
        miss = _miss(self.price, rule)
        return rule.scale(rows, dilation=self.dilation, miss=miss, chosen=chosen) / float(cast("Fraction", self.shift))


def _miss(price: ApproximateDP, rule: RandomSensitivity) -> Fraction:
    return exact(price.delta) * _COINS_SHARE if rule.pairs is Pairs.DRAWN else Fraction(0)


def _chosen(size: int, draws: int, coins: Coins | None) -> tuple[Indices, Indices]:
    """Pairs of two different people, each pair with equal probability, with replacement."""
    first = uniform(bound=size, size=draws, coins=coins).astype(np.int64)
    other = uniform(bound=size - 1, size=draws, coins=coins).astype(np.int64)
    return first, other + (other >= first)
