"""A histogram with noise only where there are people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sitr.errors import DescriptionError, InvalidPromise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins
from sitr.noise.draws import Draws
from sitr.numbers import Number, lower, probability, upper
from sitr.precision import precision


@dataclass(frozen=True, slots=True)
class SparseHistogram:
    """The counts of n people in k public cells: zero where nobody is, exactly, and with Laplace noise elsewhere.

    Replacing one person moves two counts by 1: noise of scale 2/ε keeps PureDP(ε), if the same cells are empty before
    and after. They differ if the person who leaves was alone in a cell and the newcomer is not in it, or the other way
    round. With p_j the probability of cell j, the first happens with probability

        Σ_j p_j·(1 − p_j)^n ≤ k·p(1 − p)^n,   p = 1/max(k, n + 1),

    and both together with at most twice that: this is γ, whatever the population. Proof: f(p) = p(1 − p)^n is concave
    up to 2/(n + 1), has its maximum at 1/(n + 1) and falls from there. So for k ≤ n + 1 no term is larger than
    f(1/(n + 1)); for k > n + 1 the tangent at 1/k rises and lies above f everywhere, and the p_j sum to at most 1. For
    k ≤ n + 1 it is (2k/(n+1))·(n/(n+1))^n ≈ 2k/(e·n), sharper than the published 2k/n.      [HRW11, Sec. 5]

    The proof covers the empty cells and the noisy counts together, so it may be shown which cells are empty.

    **Whoever is alone in a cell is exposed outright**: everybody sees that somebody is there. `exposed` says how many
    people that may be. It is a promise about a random newcomer, and none about them.

    >>> SparseHistogram(cells=25, people=500, noise=Laplace(scale=20, sensitivity=2)).promise()
    RandomDP(inner=PureDP(epsilon=0.1), gamma=0.0367...,
             parts=(('alone who leaves', 0.0183...), ('alone who comes', 0.0183...)))
    """

    cells: int
    people: int
    noise: Laplace

    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        for number, what in ((self.cells, "cells"), (self.people, "people")):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise DescriptionError(
                    wanted=f"a public number of {what}, at least 1",
                    given=repr(number),
                    do="Count them with an integer.",
                )
        if self.noise.granularity != 1 or self.noise.sensitivity < 2:
            raise DescriptionError(
                wanted="noise on integers for a sensitivity of 2",
                given=repr(self.noise),
                do="Use SparseHistogram.fitting.",
            )

    @classmethod
    def fitting(cls, price: RandomDP, *, cells: int, people: int) -> SparseHistogram | Laplace:
        """Noise only where there are people, if γ is large enough for that; otherwise noise everywhere, which protects
        everybody. The choice depends on public numbers alone.

        >>> SparseHistogram.fitting(RandomDP(PureDP(0.1), 0.04), cells=25, people=500).noise.scale
        Fraction(20, 1)
        >>> SparseHistogram.fitting(RandomDP(PureDP(0.1), 0.03), cells=25, people=500)
        Laplace(scale=Fraction(20, 1), sensitivity=Fraction(2, 1), granularity=Fraction(1, 1))
        """
        if not isinstance(price, RandomDP) or not isinstance(price.inner, PureDP):
            raise InvalidPromise(
                wanted="a price with gamma around PureDP",
                given=repr(price),
                do="Write for example RandomDP(PureDP(0.5), gamma=0.01).",
            )
        noise = Laplace.fitting(price.inner, sensitivity=2)
        sparse = cls(cells, people, noise)
        return sparse if sparse.promise().gamma <= price.gamma else noise

    @precision()
    def promise(self) -> RandomDP:
        """PureDP(2/scale) for all but a fraction γ of samples."""
        alone = _sum(self.cells, self.people)
        parts = (("alone who leaves", lower(alone)), ("alone who comes", lower(alone)))
        return RandomDP(self.noise.promise(), probability(2 * alone), parts=parts)

    @precision()
    def exposed(self) -> float:
        """How many people are alone in their cell, and so exposed, on average, in the worst population.

        n·Σ_j p_j·(1 − p_j)^{n−1} ≤ nk·p(1 − p)^{n−1} with p = 1/max(k, n), likewise: about k/e if k ≤ n. It is
        attained for k ≥ n, and nearly so by k − 1 cells of probability 1/n each where k is smaller.

        >>> SparseHistogram(cells=25, people=500, noise=Laplace(scale=20, sensitivity=2)).exposed()
        9.20...
        """
        return upper(self.people * _sum(self.cells, self.people - 1))

    def loss(self) -> None:
        """None: the promise is random. The loss is infinite for people who are alone in their cell."""

    def error(self, *, confidence: Number = 0.95) -> int:
        """The noise on a cell with people is at most this, with at least this confidence; there is none elsewhere."""
        return int(self.noise.error(confidence=confidence))

    @overload
    def release(self, counts: Sequence[int], *, coins: Coins | None = None) -> list[int]: ...
    @overload
    def release(self, counts: NDArray[np.integer[Any]], *, coins: Coins | None = None) -> Draws: ...
    def release(self, counts: Any, *, coins: Coins | None = None) -> Any:
        """The counts of all cells, which sum to the number of people.

        >>> quiet = SparseHistogram(cells=3, people=9, noise=Laplace(scale=0.001, sensitivity=2))
        >>> quiet.release([4, 0, 5])
        [4, 0, 5]
        """
        whole = np.asarray(counts)
        if (
            isinstance(counts, np.ma.MaskedArray)
            or whole.shape != (self.cells,)
            or whole.dtype.kind not in "iu"
            or np.any(whole < 0)
            or int(whole.sum()) != self.people
        ):
            raise DescriptionError(
                wanted=f"counts of {self.cells} cells that sum to {self.people} people",
                given="something else",
                do="Count every person in one cell, and give all cells, empty ones too.",
            )
        there = np.flatnonzero(whole)
        noise = self.noise.release(whole[there], coins=coins)
        noisy = np.zeros(self.cells, dtype=noise.dtype)
        noisy[there] = noise
        return noisy if isinstance(counts, np.ndarray) else noisy.tolist()


def _sum(cells: int, others: int) -> arb:
    """k·p(1 − p)^o with p = 1/max(k, o + 1), the most that Σ_j p_j·(1 − p_j)^o can be."""
    if others == 0:
        return arb(1)
    p = arb(1) / max(cells, others + 1)
    return cells * p * (others * (-p).log1p()).exp()
