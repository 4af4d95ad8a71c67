"""Series and answers by brute force: every series of a Markov chain with its exact probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from sitr.numbers import ball
from sitr.precision import precision
from sitr.sensitivity.chain import Chain

Series = tuple[int, ...]


def every(chain: Chain, length: int) -> Iterator[tuple[Series, Fraction]]:
    """All series that are possible, with their probabilities."""
    for series in product(range(chain.states), repeat=length):
        steps = [chain.transition[x][y] for x, y in pairwise(series)]
        if p := math.prod([chain.start[series[0]], *steps], start=Fraction(1)):
            yield series, Fraction(p)


def noisy(value: int, *, scale: Fraction, reach: int) -> list[Fraction]:
    """The law of an integer with discrete Laplace noise, on −reach … reach with all beyond in the two ends.

    With r = e^{−1/scale} rounded up to a fraction: P(y) = (1 − r)/(1 + r)·r^|y − value| is exactly such a law, of a
    scale that is larger by less than one part in 10³⁰.
    """
    with precision(160):
        mid = (-(1 / ball(scale))).exp().mid()
        r = Fraction(int(mid.man_exp()[0])) * Fraction(2) ** int(mid.man_exp()[1])
    r = Fraction(math.ceil(r * 10**32), 10**32)
    inside = [(1 - r) / (1 + r) * r ** abs(y - value) for y in range(-reach, reach + 1)]
    return [r ** (value + reach + 1) / (1 + r), *inside, r ** (reach - value + 1) / (1 + r)]


def worst_loss(
    chains: Sequence[Chain], length: int, query: Callable[[Series], int], scale: Fraction, *, also: Any = None
) -> float:
    """The largest loss between the laws of the answer given two states at one time: chains, times and states, all.

    `also` is the scale of a second release of the same query.
    """
    worst = 0.0
    laws: dict[int, Any] = {}
    for chain in chains:
        table = list(every(chain, length))
        for value in {query(series) for series, _ in table}:
            one = noisy(value, scale=scale, reach=length)
            two = [Fraction(1)] if also is None else noisy(value, scale=also, reach=length)
            laws[value] = [a * b for a in one for b in two]
        for time in range(length):
            given = []
            for state in range(chain.states):
                true = [(query(series), p) for series, p in table if series[time] == state]
                whole = sum((p for _, p in true), Fraction(0))
                if whole:
                    masses: dict[int, Fraction] = {}
                    for value, p in true:
                        masses[value] = masses.get(value, Fraction(0)) + p / whole
                    size = len(laws[next(iter(masses))])
                    given.append([sum((p * laws[v][z] for v, p in masses.items()), Fraction(0)) for z in range(size)])
            for first in given:
                for second in given:
                    worst = max(worst, *(math.log(a / b) for a, b in zip(first, second, strict=True)))
    return worst
