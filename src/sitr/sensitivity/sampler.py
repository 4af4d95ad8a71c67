"""How far a random newcomer moves a statistic, learned from draws from a public population."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from sitr.errors import DescriptionError
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.numbers import Number, natural
from sitr.precision import precision
from sitr.sensitivity.pairs import Shares, around, share_of
from sitr.sensitivity.subject import Rows, Subject, sized, subject

Population = Callable[[int], Any]
"""A function that returns `count` independent draws from a public population, one row for each."""


@dataclass(frozen=True, slots=True)
class Draws:
    """m pairs of neighbouring samples, of which the k-th smallest movement is kept, and the parts of γ."""

    pairs: int
    rank: int
    parts: Shares

    def __post_init__(self) -> None:
        """Without ties the private data move farther than the k-th smallest with probability (m + 1 − k)/(m + 1)."""
        missed = Fraction(self.pairs + 1 - self.rank, self.pairs + 1)
        if not 1 <= self.rank <= self.pairs or sum((share for _, share in self.parts), Fraction(0)) < missed:
            raise DescriptionError(
                wanted=f"one of the movements, and a γ of at least {missed} for movements that exceed it",
                given=repr(self),
                do="Keep a higher rank, draw more pairs, or choose a larger gamma.",
            )


def exchangeable(gamma: Number) -> Draws:
    """m = ⌈1/γ⌉ − 1 and k = m: the largest.

    The m movements and the movement of the private data are exchangeable, so the latter exceeds all others with
    probability at most 1/(m + 1) ≤ γ: over the data *and* the draws of the rule.

    >>> [exchangeable(gamma).pairs for gamma in (0.33, 0.1, 0.05, 0.01)]
    [3, 9, 19, 99]
    """
    pairs = math.ceil(1 / share_of(gamma)) - 1
    return Draws(pairs, pairs, (("newcomer", Fraction(1, pairs + 1)),))


@precision()
def published(gamma: Number) -> Draws:
    """The published choice, by the inequality of Dvoretzky, Kiefer and Wolfowitz:      [RA17]

        ρ = exp(W₋₁(−γ/(2√e)) + ½),   m = ⌈ln(1/ρ)/(2(γ−ρ)²)⌉,   k = ⌈m(1 − γ + ρ + √(ln(1/ρ)/2m))⌉.

    With the same m, `exchangeable` movements prove (m + 1 − k)/(m + 1), far less than γ: that is why it is the default.

    >>> [published(gamma).pairs for gamma in (0.33, 0.1, 0.05, 0.01)]
    [20, 285, 1305, 41971]
    """
    share = share_of(gamma)
    g = float(share)
    rho = math.exp(float(arb(-g / (2 * math.sqrt(math.e))).lambertw(-1)) + 0.5)
    pairs = math.ceil(-math.log(rho) / (2 * (g - rho) ** 2))
    rank = math.ceil(pairs * (1 - g + rho + math.sqrt(-math.log(rho) / (2 * pairs))))
    return Draws(pairs, min(rank, pairs), (("newcomer", share - Fraction(rho)), ("estimate", Fraction(rho))))


@dataclass(frozen=True, slots=True)
class SampledSensitivity:
    """A statistic of n people, and how many granules a newcomer moves it, except for a fraction γ of all draws.

    It is computed once, without private data. It says nothing about people who do not come from that population.
    """

    subject: Subject
    size: int
    moved: int
    parts: Shares

    def around(self, inner: Promise, /) -> RandomDP:
        """The random promise, if `inner` holds whenever the newcomer moves the statistic no farther."""
        return around(inner, self.parts)

    def centre(self, values: Any, /) -> int:
        """The statistic of these values, in whole granules."""
        return self.subject.centre(sized(self.subject.sample(values), self.size))


def sampled(
    statistic: Any,
    *,
    population: Population,
    size: int,
    gamma: Number,
    bounds: tuple[Number, Number] | None = None,
    granularity: Number | None = None,
    choice: Callable[[Number], Draws] = exchangeable,
) -> SampledSensitivity:
    """The sensitivity sampler: noise for any statistic, fitted to draws from a public population.      [RA17]

    Each of m times, n + 1 draws X_1 … X_{n+1} give two neighbouring samples, X_1 … X_n and X_1 … X_{n−1}, X_{n+1}, and
    the distance between the computed and rounded statistics of both. The k-th smallest distance is kept.

    `population(count)` must draw from the population that the private data come from, independently of these data: a
    public survey, or a model that everybody believes. If it does not, γ is wrong, which cannot be detected here.

    >>> from itertools import count
    >>> numbers = count()
    >>> def draw(size):
    ...     return np.array([next(numbers) * 0.6180339887 % 1 for _ in range(size)])
    >>> sampled(np.mean, population=draw, size=100, gamma=0.05, granularity=0.001).moved
    6
    """
    about = subject(statistic, size=natural(size, name="size", of="a sample"), bounds=bounds, granularity=granularity)
    draws = choice(gamma)
    moves = sorted(_movement(about, population, size) for _ in range(draws.pairs))
    return SampledSensitivity(about, size, max(1, moves[draws.rank - 1]), draws.parts)


def _movement(about: Subject, population: Population, size: int) -> int:
    rows: Rows = about.sample(population(size + 1))
    if len(rows) != size + 1:
        raise DescriptionError(
            wanted=f"a population that returns the {size + 1} rows requested",
            given=f"{len(rows)} rows",
            do="Let population(count) return an array of count rows.",
        )
    return abs(about.centre(rows[:size]) - about.centre(np.delete(rows, size - 1, axis=0)))
