"""How well draws fit a law, slow samplers to compare with, and coins that do as they are told."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from sitr.noise.coins import Coins
from sitr.noise.inversion import Bits

ALARM = 1e-8
"""A correct sampler fails a test with about this probability."""

SHORT = [Bits(4, 8), Bits(6, 14), Bits(8, 20)]
"""Words so short that ties are frequent."""

Misfit = Callable[[Iterable[int], Callable[[int], float], Sequence[int]], float]


@pytest.fixture
def alarm() -> float:
    return ALARM


@pytest.fixture(params=SHORT, ids=lambda digits: f"{digits.guide}-{digits.word}")
def short(request: pytest.FixtureRequest) -> Bits:
    found: Bits = request.param
    return found


@pytest.fixture
def misfit() -> Misfit:
    """The p-value of draws against a law given by P(Y ≤ y), in the cells between some edges.

    Chi-square twice: in fine cells (50 draws expected, for local faults and tails) and in coarse ones (1/25 of the
    draws, for faults of the whole shape); the smaller p-value counts double.
    """

    def value(draws: Iterable[int], cumulative: Callable[[int], float], edges: Sequence[int]) -> float:
        drawn = np.asarray(draws).astype(np.float64)
        steps = np.array([0.0, *(cumulative(edge) for edge in edges), 1.0])
        expected = np.diff(steps) * len(drawn)
        observed = np.bincount(np.searchsorted(edges, drawn, side="left"), minlength=len(expected))
        fine, coarse = _joined(observed, expected, least=50), _joined(observed, expected, least=len(drawn) / 25)
        assert len(fine) > 1, "one cell tells nothing"
        return 2 * min(_chi_square(cells) for cells in (fine, coarse) if len(cells) > 1)

    return value


def _joined(observed: np.ndarray, expected: np.ndarray, *, least: float) -> list[tuple[float, float]]:
    """Neighbouring cells, joined until each expects enough: what was seen in them and what was awaited."""
    cells = [(0.0, 0.0)]
    for seen, awaited in zip(observed, expected, strict=True):
        if cells[-1][1] >= least:
            cells.append((0.0, 0.0))
        cells[-1] = (cells[-1][0] + seen, cells[-1][1] + awaited)
    if cells[-1][1] < least and len(cells) > 1:
        seen, awaited = cells.pop()
        cells[-1] = (cells[-1][0] + seen, cells[-1][1] + awaited)
    return cells


def _chi_square(cells: list[tuple[float, float]]) -> float:
    return float(chi2.sf(sum((seen - awaited) ** 2 / awaited for seen, awaited in cells), len(cells) - 1))


class Script:
    """Coins that show the words they are told."""

    private = False

    def __init__(self, *words: int) -> None:
        self.rest: Iterator[int] = iter(words)

    def bits(self, count: int, /) -> int:
        assert count == 64
        return next(self.rest)

    def words(self, count: int, /) -> NDArray[np.uint64]:
        return np.array([next(self.rest) for _ in range(count)], dtype=np.uint64)

    def below(self, _bound: int, /) -> int:
        raise AssertionError("words are enough")


@pytest.fixture
def script() -> type[Script]:
    return Script


class Canonne:
    """The samplers of Canonne, Kamath and Steinke (2020): exact, slow, and made of nothing but rational trials."""

    def __init__(self, coins: Coins) -> None:
        self.coins = coins

    def exponential(self, x: Fraction) -> bool:
        """Algorithm 1: e^{−x}."""
        while x > 1:
            if not self.exponential(Fraction(1)):
                return False
            x -= 1
        k = 1
        while self.coins.below(x.denominator * k) < x.numerator:
            k += 1
        return k % 2 == 1

    def laplace(self, t: Fraction) -> int:
        """Algorithm 2."""
        while True:
            u = self.coins.below(t.numerator)
            if not self.exponential(Fraction(u, t.numerator)):
                continue
            v = 0
            while self.exponential(Fraction(1)):
                v += 1
            y, sign = (u + t.numerator * v) // t.denominator, self.coins.below(2)
            if y or not sign:
                return -y if sign else y

    def gaussian(self, sigma: Fraction) -> int:
        """Algorithm 3."""
        t = math.floor(sigma) + 1
        while True:
            y = self.laplace(Fraction(t))
            if self.exponential((abs(y) - sigma**2 / t) ** 2 / (2 * sigma**2)):
                return y


@pytest.fixture
def canonne() -> type[Canonne]:
    return Canonne
