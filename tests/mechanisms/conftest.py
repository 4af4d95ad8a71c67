"""How far two laws are apart: exactly where they are known, at least so far where they are only seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import beta, chi2

from sitr.numbers import Number, ball

BITS = 300
ALARM = 2e-7
"""A correct mechanism fails a test on draws with a probability of at most twice this."""

Leaked = Callable[[int, int, int], float]
Apart = Callable[[Sequence[arb], Sequence[arb]], arb]
Misfit = Callable[[Sequence[int], Sequence[float]], float]


@pytest.fixture
def leaked() -> Leaked:
    """A lower bound on ln p/q, if an event came up so often in so many draws of each of two laws.

    Both p and q are bounded by Clopper and Pearson's intervals: the bound is too large with probability < 2·ALARM.
    """

    def bound(first: int, second: int, draws: int) -> float:
        if first == 0:
            return -math.inf
        p = beta.ppf(ALARM, first, draws - first + 1)
        q = beta.ppf(1 - ALARM, second + 1, draws - second) if second < draws else 1.0
        return math.log(p / q)

    return bound


@pytest.fixture(scope="session")
def apart() -> Apart:
    """The largest ln p/q over all outcomes, and over both directions, up to what a cut-off tail of 2^{−200} can do."""

    def largest(first: Sequence[arb], second: Sequence[arb]) -> arb:
        with ctx.workprec(BITS):
            return max(abs((p / q).log()) for p, q in zip(first, second, strict=True))

    return largest


@pytest.fixture(scope="session")
def over() -> Callable[[arb, Number], float]:
    """By how much a loss exceeds ε, without rounding either of them first."""

    def excess(loss: arb, epsilon: Number) -> float:
        with ctx.workprec(BITS):
            return float(loss - ball(epsilon))

    return excess


@pytest.fixture
def misfit() -> Misfit:
    """The p-value of how often each outcome came up, by chi-square; outcomes that are expected less than 20 times
    are counted together."""

    def value(draws: Sequence[int], law: Sequence[float]) -> float:
        expected = np.array(law) * len(draws)
        observed = np.bincount(draws, minlength=len(law)).astype(float)
        rare = expected < 20
        cells = [*zip(observed[~rare], expected[~rare], strict=True)]
        if expected[rare].sum() > 0:
            cells.append((observed[rare].sum(), max(expected[rare].sum(), 1e-9)))
        assert len(cells) > 1, "one cell tells nothing"
        return float(chi2.sf(sum((seen - awaited) ** 2 / awaited for seen, awaited in cells), len(cells) - 1))

    return value


@pytest.fixture
def alarm() -> float:
    return ALARM
