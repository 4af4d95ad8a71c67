"""Two bells and their loss: both peaks, the tail beyond ε, and the other way round in Arabic."""

from __future__ import annotations

import re

import pytest

from sitr.language import Language, speaking
from sitr.report.chart.bells import bell, chart


def test_a_bell_has_its_peak_at_its_mean() -> None:
    assert bell(2.0, mean=2.0, spread=0.5) == 1.0
    assert bell(2.5, mean=2.0, spread=0.5) == pytest.approx(0.6065, abs=1e-4)


def points(svg: str) -> list[list[tuple[float, float]]]:
    found = re.findall(r'<polyline points="([^"]*)"', svg)
    return [[tuple(map(float, each.split(","))) for each in one.split()] for one in found]  # type: ignore[misc]


def test_the_line_at_epsilon_moves_with_it() -> None:
    near, far = (points(chart(1.0, epsilon))[3][0][0] for epsilon in (0.5, 2.0))
    assert near < far
    tails = [chart(1.0, epsilon).partition('<polygon points="')[2].count(",") for epsilon in (0.5, 2.0)]
    assert tails[0] > tails[1]  # less of the loss lies beyond a larger ε


def test_more_noise_brings_the_bells_together() -> None:
    def apart(sigma: float) -> float:
        one, other = points(chart(sigma, 1.0))[:2]
        peaks = [min(each, key=lambda point: point[1])[0] for each in (one, other)]
        return peaks[1] - peaks[0]

    assert apart(0.5) > apart(2.0) > 0


@pytest.mark.parametrize("language", list(Language))
def test_it_is_drawn_in_both_languages(language: Language) -> None:
    with speaking(language):
        found = chart(1.5, 1.0)
    assert ('direction="rtl"' in found) is (language is Language.ARABIC)
    assert "<title>" in found
