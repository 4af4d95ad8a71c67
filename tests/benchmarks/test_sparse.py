"""The comparison of histograms with empty cells: the figures of docs/explanation/random.md, and the chart."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from benchmarks.sparse import COLOURS, PAPER, Setting, largest_first, mean_errors, nearest, picture
from sitr.noise.coins import TestCoins


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "figures"),
    [
        (Setting(cells=400, people=20_000, epsilon=1, full=(16,)), [0.0062, 0.0019, 0.0016, 0.0015]),
        (Setting(cells=400, people=500, epsilon=1, full=(16,)), [0.246, 0.080, 0.062, 0.262]),
        (Setting(cells=25, people=500, epsilon=0.1, full=(2,)), [0.239, 0.127, 0.061, 0.735]),
    ],
)
def test_the_figures_of_the_documentation(setting, figures):
    errors = mean_errors(setting, setting.full[0], trials=1000, chance=np.random.default_rng(1), coins=TestCoins(1))
    assert errors == pytest.approx(figures, rel=0.06)


def test_noise_only_in_full_cells_is_better_if_most_cells_are_empty_and_worse_if_none_is():
    chance, coins = np.random.default_rng(1), TestCoins(1)
    empty, full = (mean_errors(PAPER, full, trials=40, chance=chance, coins=coins) for full in (4, PAPER.cells))
    assert empty[2] < min(empty[0], empty[1]) * 0.8
    assert full[2] == pytest.approx(full[0], rel=0.1)


def test_projections_are_histograms_of_all_people():
    noisy = np.array([5.5, -2.0, 3.5, 0.5])
    for answer in (nearest(noisy, 6), largest_first(noisy, 6)):
        assert answer.sum() == pytest.approx(6)
        assert answer.min() >= 0
    assert nearest(noisy, 6).tolist() == [4.0, 0.0, 2.0, 0.0]
    assert largest_first(noisy, 6).tolist() == [5.5, 0.0, 0.5, 0.0]


def test_the_chart_has_a_curve_for_each_method():
    drawn = picture(PAPER, {full: [0.1, 0.2, 0.01, 0.5] for full in PAPER.full})
    curves = [curve.attrib["stroke"] for curve in ET.fromstring(drawn).iter() if curve.tag.endswith("polyline")]
    assert curves == list(COLOURS)
