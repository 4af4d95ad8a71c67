"""Poisson and Skellam draws follow their laws, in one piece and in several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sitr.errors import InvalidParameter
from sitr.noise.coins import TestCoins
from sitr.noise.poisson import PIECE, poisson, skellam


def p_value(drawn: list[int], law, edges: list[int]) -> float:
    """Of a chi-square test on the cells up to each edge, and beyond."""
    steps = np.diff([0.0, *law.cdf(edges), 1.0])
    seen = np.histogram(drawn, [-np.inf, *(np.array(edges) + 0.5), np.inf])[0]
    return float(stats.chisquare(seen, steps * len(drawn)).pvalue)


@pytest.mark.parametrize("mean", [0.3, 4, PIECE + 5])
def test_poisson_draws(mean):
    coins = TestCoins(11)
    drawn = [poisson(mean=mean, coins=coins) for _ in range(1500)]
    edges = sorted({int(edge) for edge in stats.poisson(mean).ppf([0.1, 0.3, 0.5, 0.7, 0.9])})
    assert p_value(drawn, stats.poisson(mean), edges) > 1e-7
    assert p_value(drawn, stats.poisson(mean * 1.5), edges) < 1e-7


def test_skellam_draws():
    coins = TestCoins(12)
    drawn = [skellam(variance=6, coins=coins) for _ in range(1500)]
    assert p_value(drawn, stats.skellam(3, 3), [-3, -1, 0, 1, 3]) > 1e-7
    assert p_value(drawn, stats.skellam(5, 5), [-3, -1, 0, 1, 3]) < 1e-7


def test_parameters_are_checked():
    with pytest.raises(InvalidParameter):
        poisson(mean=-1)
