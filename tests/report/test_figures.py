"""Figures never flatter: errors and bounds are rounded outward, and what is shown holds what was computed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.questions.aggregate.fit import Shown
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.release import Release
from sitr.report.figures import CONFIDENCE, Figures, about, at_least, at_most, chance, error, number, short, visible

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

fractions = st.fractions(min_value=Fraction(1, 10**12), max_value=10**18, max_denominator=10**14)


def read(text: str) -> Fraction:
    """The number that a reader of the text would write down."""
    mantissa, _, power = text.replace(",", "").replace("−", "-").rpartition("10")
    if power and not power.isascii():
        return Fraction(mantissa.removesuffix(" × ") or "1") * Fraction(10) ** int(power.translate(SUPERSCRIPTS))
    return Fraction(text.replace(",", "").replace("−", "-"))


@given(fractions, st.integers(0, 8))
def test_an_error_is_never_shown_too_small(width: Fraction, decimals: int) -> None:
    assert width <= read(error(width, decimals=decimals)) < width + Fraction(1, 10**decimals)


@given(fractions, st.integers(0, 8), st.sampled_from([1, -1]))
def test_a_number_is_shown_to_the_nearest(value: Fraction, decimals: int, sign: int) -> None:
    assert abs(read(number(sign * value, decimals=decimals)) - sign * value) <= Fraction(1, 2 * 10**decimals)


@given(fractions, st.integers(2, 6))
def test_bounds_are_rounded_outward_and_close(value: Fraction, digits: int) -> None:
    slack = value / 10 ** (digits - 1)
    assert value <= read(at_most(value, digits=digits)) <= value + slack
    assert value - slack <= read(at_least(value, digits=digits)) <= value
    assert abs(read(about(value, digits=digits)) - value) <= slack / 2


@given(st.floats(1e-300, 1.0))
def test_a_chance_is_never_shown_too_rare(probability: float) -> None:
    assert 1 / read(chance(probability).removeprefix("1 in ")) >= Fraction(repr(probability))


@given(st.data(), st.integers(-(10**15), 10**15))
def test_the_shown_interval_holds_the_computed_one(data: st.DataObject, granules: int) -> None:
    granularity = data.draw(
        st.sampled_from([Fraction(1), Fraction(100), Fraction(1, 100), Fraction(1, 256), Fraction(1, 3)])
    )
    width = data.draw(st.integers(0, 10**9))
    value, far = granules * granularity, width * granularity
    one = Estimate(value, value - far, value + far)
    figures = Figures.fitting(far, step=granularity)
    shown, plus_minus = read(figures.value(one)), read(figures.error(one.error))
    low, high = read(figures.low(one)), read(figures.high(one))
    assert (low, high) == (shown - plus_minus, shown + plus_minus)
    assert low <= value - width * granularity
    assert value + width * granularity <= high
    # Not idly wide either. The width has three digits, so it is at least a hundred steps; rounding the value adds half
    # a step to it, and rounding the error up less than a whole one; and a step of the granularity.
    assert plus_minus <= width * granularity * Fraction(203, 200) + granularity


@given(fractions, fractions, fractions)
def test_the_two_sides_of_an_interval_may_differ(value: Fraction, below: Fraction, above: Fraction) -> None:
    one = Estimate(value, value - below, value + above)
    figures = Figures.fitting(min(below, above), step=None)
    step = Fraction(1, 10**figures.decimals)
    shown, plus_minus = read(figures.value(one)), read(figures.error(one.error))
    low, high = read(figures.low(one)), read(figures.high(one))
    assert low <= one.low
    assert one.high <= high
    assert low >= one.low - 2 * step
    assert high <= one.high + 2 * step
    assert shown - plus_minus <= low <= high <= shown + plus_minus


def test_figures_of_real_columns(answer: Release) -> None:
    column: Shown
    for column in answer.plan.columns:
        width = column.width(CONFIDENCE)
        assert read(Figures.of(column).error(width)) >= width


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (-9_999, "−9,999"), (10_000, "10 k"), (3_400_000, "3.4 M"), (0.25, "0.25")],
)
def test_axis_labels(value: float, text: str) -> None:
    assert short(value) == text


@given(st.text())
def test_visible_text_has_nothing_that_acts(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any(
        ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069" for c in shown
    )


def test_visible_keeps_ordinary_text() -> None:
    for text in ("cardiology", "جناح القلب", "🏥👩‍⚕️", "naïve <b>"):
        assert visible(text) == text
