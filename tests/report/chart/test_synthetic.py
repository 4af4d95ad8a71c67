"""Bars and maps show the shares they stand for."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sitr.report.chart.lettering import NARROW, cut
from sitr.report.chart.synthetic import MOST_BARS, _bars, _beside, _shown, _tiles
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words


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


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_the_names_of_both_sides_are_never_cut(words: Words) -> None:
    drawn = "".join(_bars(["a"], np.array([1.0]), np.array([1.0]), top=0.0, words=words))
    for name in ("noisy table", "synthetic rows"):
        assert words.label(name) in drawn
    assert "…" not in drawn


def test_a_short_word_at_one_end_of_a_map_leaves_its_room_to_the_other() -> None:
    half = _beside("a word that needs more than half of the room")
    assert half < _beside("0") < 2 * half + 2
    assert cut("(بلا قيمة)", _beside("0") * NARROW / 100, size=11) == "(بلا قيمة)"
    assert cut("(بلا قيمة)", half * NARROW / 100, size=11) != "(بلا قيمة)"
