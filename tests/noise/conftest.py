"""How well draws fit a law, for every test of a sampler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from scipy.stats import chi2

ALARM = 1e-8
"""A correct sampler fails a test with about this probability."""

Misfit = Callable[[Iterable[int], Callable[[int], float], Sequence[int]], float]


@pytest.fixture
def alarm() -> float:
    return ALARM


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
