"""Figures never flatter: errors and bounds are rounded outward, and what is shown holds what was computed."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.release import Release
from sitr.report.figures import (
    CONFIDENCE,
    AllDigits,
    Figures,
    about,
    at_least,
    at_most,
    chance,
    displayed,
    error,
    legible,
    number,
    short,
    visible,
)

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

fractions = st.fractions(min_value=Fraction(1, 10**12), max_value=10**18, max_denominator=10**14)


def read(text: str) -> Fraction:
    """The number that a reader of the text would write down."""
    mantissa, _, power = text.replace(",", "").replace("−", "-").rpartition("10")
    if power and not power.isascii():
        return Fraction(mantissa.removesuffix(" × ") or "1") * Fraction(10) ** int(power.translate(SUPERSCRIPTS))
    return Fraction(text.replace(",", "").replace("−", "-"))


@given(fractions)
def test_an_error_is_never_shown_too_small_and_has_two_digits(width: Fraction) -> None:
    shown = read(error(width))
    assert width <= shown <= width * Fraction(11, 10)
    assert len(f"{shown.numerator}".strip("0")) <= 2 or len(str(float(shown)).replace(".", "").strip("0")) <= 2


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


STEPS = [Fraction(1), Fraction(100), Fraction(1, 100), Fraction(1, 256), Fraction(1, 3), None]


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[Estimate], Fraction | None]:
    """The numbers of a column with the same error on both sides, as noise makes them."""
    step = draw(st.sampled_from(STEPS))
    unit = step or Fraction(1, 7**5)
    width = draw(st.integers(1, 10**9)) * unit
    values = [granules * unit for granules in draw(st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=5))]
    return [Estimate(value, value - width, value + width) for value in values], step


def fitting(one: Estimate, *, step: Fraction | None) -> Figures:
    """The figures of a number with a finite error."""
    assert isinstance(one.error, Fraction)
    return Figures.fitting(one.error, step=step)


def covers(figures: Figures, one: Estimate) -> bool:
    """Whether the interval as shown contains the computed one, and the error as shown is no smaller."""
    low, high = read(figures.low(one)), read(figures.high(one))
    return low <= one.low and one.high <= high and read(figures.error(one.error)) >= one.error


@given(columns())
def test_what_is_shown_holds_the_computed_interval(column: tuple[list[Estimate], Fraction | None]) -> None:
    shown, step = column
    assert all(covers(fitting(one, step=step), one) for one in shown)


def test_an_interval_that_is_rounded_inward_would_be_found() -> None:
    class Inward(Figures):
        def low(self, one: Estimate) -> str:
            return Figures.high(self, replace(one, high=one.low))

    one = Estimate(Fraction(434_999), Fraction(434_999 - 341_000), Fraction(434_999 + 341_000))
    assert covers(fitting(one, step=Fraction(1)), one)
    assert not covers(Inward(4, rounds=True), one)


@given(fractions, columns())
def test_an_answer_shows_the_error_of_its_preview(
    value: Fraction, column: tuple[list[Estimate], Fraction | None]
) -> None:
    """Whatever the numbers are."""
    shown, step = column
    for one in shown:
        assert one.value is not None
        moved = Estimate(one.value + value, one.low + value, one.high + value)
        before, after = (fitting(each, step=step).error(each.error) for each in (one, moved))
        assert before == after


@given(columns())
def test_the_error_has_two_digits_and_the_number_ends_at_the_same_place(
    column: tuple[list[Estimate], Fraction | None],
) -> None:
    shown, step = column
    for one in shown:
        assert one.value is not None
        figures = fitting(one, step=step)
        unit = Fraction(10) ** figures.place
        far = read(figures.error(one.error))
        assert abs(read(figures.value(one)) - one.value) <= unit / 2
        assert (read(figures.value(one)) / unit).denominator == 1
        assert far < one.error + unit
        assert far <= 100 * unit
        assert abs(read(figures.value(one)) - one.value) <= max(far, step or 0) / 20
        assert far >= 10 * unit or step is not None  # a step may be coarser than the second digit


@pytest.mark.parametrize(
    ("value", "width", "step", "text"),
    [
        (Fraction(437_621), Fraction(345_109), Fraction(1), "440,000 ± 350,000"),
        (Fraction(44_201), Fraction(88), Fraction(1), "44,201 ± 88"),
        (Fraction(44_201), Fraction(139), Fraction(1), "44,200 ± 140"),
        (Fraction(44_205), Fraction(139), Fraction(1), "44,200 ± 140"),
        (Fraction(123), Fraction(3), Fraction(1), "123 ± 3"),
        (Fraction("12.3456"), Fraction("0.0512"), None, "12.346 ± 0.052"),
        (Fraction("-0.04"), Fraction("9.99"), None, "0.0 ± 10.0"),
        (Fraction(1_200), Fraction(196), Fraction(100), "1,200 ± 200"),
    ],
)
def test_examples(value: Fraction, width: Fraction, step: Fraction | None, text: str) -> None:
    one = Estimate(value, value - width, value + width)
    figures = fitting(one, step=step)
    assert f"{figures.value(one)} ± {figures.error(one.error)}" == text


@given(fractions, fractions, fractions)
def test_the_two_sides_of_an_interval_may_differ(value: Fraction, below: Fraction, above: Fraction) -> None:
    one = Estimate(value, value - below, value + above)
    figures = fitting(one, step=None)
    assert covers(figures, one)
    assert read(figures.low(one)) > one.low - Fraction(10) ** figures.place
    assert read(figures.high(one)) < one.high + Fraction(10) ** figures.place


@given(columns())
def test_all_digits_lose_nothing_that_a_double_holds(column: tuple[list[Estimate], Fraction | None]) -> None:
    for one in column[0]:
        form = AllDigits()
        assert one.value is not None
        assert abs(read(form.value(one)) - one.value) <= abs(one.value) / 10**14
        assert read(form.low(one)) <= one.low
        assert one.high <= read(form.high(one))
        assert read(form.error(one.error)) >= one.error
        assert max(map(len, (form.value(one), form.low(one)))) < 30


def test_only_numbers_that_can_be_off_are_said_to_be_rounded() -> None:
    assert not Figures.fitting(Fraction(88), step=Fraction(1)).rounds
    assert Figures.fitting(Fraction(139), step=Fraction(1)).rounds
    assert not Figures.fitting(Fraction(196), step=Fraction(100)).rounds
    assert Figures.fitting(Fraction(3), step=None).rounds


def test_figures_of_real_columns(answer: Release) -> None:
    for column in answer.plan.columns:
        shown = answer.estimates(column, confidence=CONFIDENCE)
        assert all(covers(fitting(one, step=column.aggregate.step), one) for one in shown)


@pytest.mark.parametrize("digits", [8, 40])
def test_code_has_no_long_numbers(digits: int) -> None:
    long = 10 ** (digits - 1) + 7
    shown = legible(f"Noise(scale=Fraction({long}, {3 * long}), low=-1.{long}, name='v2', level=0.5, size=12)")
    assert re.findall(r"\d{8,}", shown) == []
    assert shown.startswith("Noise(scale=0.333333, low=-1.")
    assert shown.endswith("name='v2', level=0.5, size=12)")


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


@given(st.text(st.sampled_from("ab\u2066\u2067\u2068\u2069\u202e\x1b")))
def test_displayed_text_keeps_isolates_only_if_all_of_them_match(text: str) -> None:
    shown = displayed(text)
    assert len(shown) == len(text)
    assert not set(shown) & set("\u2067\u202a\u202b\u202c\u202d\u202e\x1b")
    depth = 0
    for character in shown:
        depth += (character in "\u2066\u2068") - (character == "\u2069")
        assert depth >= 0
    assert depth == 0


def test_displayed_text_keeps_the_isolates_of_sentences() -> None:
    for text in ("\u2066ε = 1\u2069، \u2068ward\u2069", "\u2068a \u2066b\u2069\u2069", "جناح القلب"):
        assert displayed(text) == text
    hostile = visible("ward\u2069\u2066")
    assert displayed(f"\u2068{hostile}\u2069") == "\u2068ward��\u2069"


def test_visible_keeps_ordinary_text() -> None:
    for text in ("cardiology", "جناح القلب", "🏥👩‍⚕️", "naïve <b>"):
        assert visible(text) == text
