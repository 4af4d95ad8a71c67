"""Axes: few round numbers, written in one way."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.report.chart.axis import Logarithmic, across, fits, margin, nice_ticks, written


def kind(word: str) -> str:
    """How a number is written: as a power of ten, with a letter, or with so many decimals."""
    if "10" in word and re.search("[⁰¹²³⁴⁵⁶⁷⁸⁹]", word):
        return "power"
    return word[-1] if word[-1].isalpha() else "decimals"


@given(st.fractions(-(10**12), 0), st.fractions(Fraction(1, 10**12), 10**20))
def test_numbers_of_an_axis_are_written_in_one_way_and_differ(low: Fraction, high: Fraction) -> None:
    words = written(nice_ticks(low, high))
    assert len({kind(word) for word in words if word != "0"}) == 1
    assert len(set(words)) == len(words)
    assert len({len(word.partition(".")[2]) for word in words if kind(word) == "decimals" and word != "0"}) <= 1


@given(st.floats(-30, 30), st.floats(0.01, 40))
def test_logarithmic_axes_have_few_round_numbers_in_one_way(low: float, wide: float) -> None:
    axis = Logarithmic(low, low + wide)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 6
    assert ticks == sorted(set(ticks))
    assert all(-1e-6 <= axis.share(float(tick)) <= 1 + 1e-6 for tick in ticks)
    words = written(ticks)
    assert len({kind(word) for word in words}) == 1
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("ticks", "words"),
    [
        ((10**2, 10**3, 10**4), ["10²", "10³", "10⁴"]),
        ((0, 20_000, 40_000), ["0", "20 k", "40 k"]),
        ((Fraction(1, 100), Fraction(1, 10), 1), ["0.01", "0.1", "1"]),
        ((-500, 0, 500), ["−500", "0", "500"]),
        ((Fraction(1, 2000), Fraction(1, 1000)), ["0.0005", "0.0010"]),
        ((2 * Fraction(10) ** -9, 4 * Fraction(10) ** -9), ["2 × 10⁻⁹", "4 × 10⁻⁹"]),
        ((0,), ["0"]),
    ],
)
def test_known_axes(ticks: tuple[Fraction, ...], words: list[str]) -> None:
    assert written([Fraction(tick) for tick in ticks]) == words


def test_names_that_would_touch_are_thinned_out_evenly() -> None:
    places = [(10.0 * place, f"name {place}") for place in range(10)]
    drawn = list(across(places, y=1))
    shown = [int(re.findall(r">name (\d)<", each)[0]) for each in drawn]
    assert 1 < len(shown) < 10
    assert shown == list(range(0, 10, shown[1]))
    assert not fits(places)
    assert fits([places[place] for place in shown])
    assert list(across([], y=1)) == []


def test_a_margin_is_as_wide_as_its_numbers() -> None:
    assert margin(["0"]) < margin(["1,000,000"])
