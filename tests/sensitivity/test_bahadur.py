"""The estimate approaches what the argument says, and a population with a gap shows why it is no bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sitr.errors import DescriptionError
from sitr.flavors.random import Basis
from sitr.sensitivity.bahadur import estimated_dilation


def test_it_approaches_the_closed_form():
    """For exponential differences h = −ln(share) and H′(h) = share."""
    share, gamma, m = 0.1, 0.05, 200_000
    found = estimated_dilation(np.random.default_rng(1).exponential(size=m), share=share, gamma=gamma)
    quantile = -math.log(share)
    exactly = math.log1p(2 * math.sqrt(math.log(4 / gamma) / (2 * m)) / (quantile * share))
    assert found.quantile == pytest.approx(quantile, rel=0.02)
    assert found.density == pytest.approx(share, rel=0.05)
    assert found.dilation == pytest.approx(exactly, rel=0.05)
    assert found.basis is Basis.ASYMPTOTIC


def ratios(draw, *, m: int, share: float, samples: int) -> np.ndarray:
    """How far the quantiles of neighbouring samples differ: one pair is drawn again."""
    rank, found = math.ceil((1 - share) * m) - 1, []
    for _ in range(samples):
        h = draw(m + 1)
        one, other = np.sort(h[:m]), np.sort(np.append(h[1:m], h[m]))
        found.append(abs(math.log(one[rank] / other[rank])))
    return np.array(found)


def test_it_is_far_above_what_neighbours_of_a_smooth_population_do():
    chance = np.random.default_rng(2)
    found = estimated_dilation(chance.exponential(size=2_000), share=0.1, gamma=0.05)
    assert (
        np.mean(ratios(lambda size: chance.exponential(size=size), m=2_000, share=0.1, samples=200) > found.dilation)
        == 0
    )


def test_a_gap_breaks_it():
    """Differences of about 1 or about 1,000, the larger ones as often as the quantile allows: it jumps between them."""
    chance, share, m = np.random.default_rng(3), 0.1, 2_000

    def draw(size: int) -> np.ndarray:
        return np.where(chance.random(size) < share, 1_000.0, 1.0) * (1 + chance.random(size) / 10)

    jumps = ratios(draw, m=m, share=share, samples=2_000) > math.log(100)
    assert 0.002 < np.mean(jumps) < 0.05
    typical = [estimated_dilation(draw(m), share=share, gamma=0.001).dilation for _ in range(20)]
    assert min(typical) < math.log(100)  # promised with γ = 0.001, and broken far more often


@pytest.mark.parametrize("differences", [[], [1.0], [1.0, math.nan, 2.0, 3.0], [-1.0, 1.0, 2.0, 3.0, 4.0]])
def test_too_few_differences_or_none(differences):
    with pytest.raises(DescriptionError, match="enough differences"):
        estimated_dilation(differences, share=0.5, gamma=0.05)
