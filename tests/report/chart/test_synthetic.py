"""Bars and maps show the shares they stand for."""

from __future__ import annotations

import re

import numpy as np

from sitr.report.chart.synthetic import MOST_BARS, _bars, _shown, _tiles
from sitr.report.words.english.english import ENGLISH


def widths(parts: list[str]) -> list[float]:
    return [float(found) for part in parts for found in re.findall(r'<rect [^>]*width="([\d.]+)%"', part)]


def test_bars_are_as_long_as_their_shares() -> None:
    parts = list(_bars(["a", "b"], np.array([0.75, 0.25]), np.array([0.5, 0.5]), top=0, words=ENGLISH))
    long, first, short, second = widths(parts)
    assert abs(short / long - 1 / 3) < 0.01
    assert first == second
    assert "75.0%" in "".join(parts)


def test_only_the_largest_are_shown_in_their_order() -> None:
    share = np.arange(40)[::-1] / 780
    assert _shown(share).tolist() == list(range(MOST_BARS))
    assert _shown(share[:5]).tolist() == [0, 1, 2, 3, 4]


def test_tiles_lose_nothing() -> None:
    table = np.random.default_rng(1).dirichlet(np.ones(100 * 7)).reshape(100, 7)
    tiles = _tiles(table)
    assert tiles.shape == (24, 7)
    np.testing.assert_allclose(tiles.sum(axis=0), table.sum(axis=0))
