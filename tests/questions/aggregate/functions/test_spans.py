"""Interval arithmetic holds the result for all numbers within the intervals, and fails for none."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.questions.aggregate.functions.function import End
from sitr.questions.aggregate.functions.spans import SPANS, Span, applied

numbers = st.fractions(min_value=-20, max_value=20, max_denominator=8)
BINARY = ["+", "-", "*", "/", "//", "%", "LEAST", "GREATEST", "COALESCE", "NULLIF"]
UNARY = ["NEGATE", "ABS", "ROUND", "FLOOR", "CEIL", "SIGN", "SQRT", "LN", "LOG10", "EXP"]


@st.composite
def spans(draw: st.DrawFn) -> tuple[Span, Fraction]:
    """A span, and a number within it."""
    value, exact, more = draw(numbers), draw(numbers), draw(st.fractions(0, 3))
    low, high = min(value, exact) - more, max(value, exact) + more
    around: list[tuple[End, End]] = [(-math.inf, high), (low, math.inf), (-math.inf, math.inf)]
    ends = draw(st.sampled_from([(low, high), (low, high), *around]))
    return Span(value, *ends), exact


def check(function: str, parts: list[tuple[Span, Fraction]], *literals: int) -> None:
    fixed = [Span.fixed(Fraction(literal)) for literal in literals]
    found = applied(function, [*(span for span, _ in parts), *fixed])
    shown = found.estimate()
    assert shown.value is None or shown.low <= shown.value <= shown.high
    true = applied(function, [*(Span.fixed(exact) for _, exact in parts), *fixed]).value
    if true is None:
        assert found.null
    else:
        assert found.low <= true <= found.high


@given(st.sampled_from(BINARY), spans(), spans())
def test_two_numbers(function: str, one: tuple[Span, Fraction], other: tuple[Span, Fraction]) -> None:
    check(function, [one, other])


@given(st.sampled_from(UNARY), spans())
def test_one_number(function: str, one: tuple[Span, Fraction]) -> None:
    check(function, [one])


@given(spans(), st.integers(-3, 3), st.integers(0, 5))
def test_literals(one: tuple[Span, Fraction], places: int, times: int) -> None:
    check("ROUND", [one], places)
    check("POWER", [one], times)
    check("CLAMP", [one], -3, times)


def test_all_functions_are_tried_here() -> None:
    assert {*BINARY, *UNARY, "POWER", "CLAMP"} == set(SPANS)


def test_known_results() -> None:
    one, three = Span.fixed(Fraction(1)), Span(Fraction(3), Fraction(2), Fraction(4))
    assert applied("/", [one, three]) == Span(Fraction(1, 3), Fraction(1, 4), Fraction(1, 2))
    around_zero = Span(Fraction(1), Fraction(-1), Fraction(2))
    assert applied("/", [one, around_zero]) == Span(Fraction(1), -math.inf, math.inf, null=True)
    assert applied("COALESCE", [applied("NULLIF", [one, one]), three]).value == 3
    assert applied("ROUND", [Span.fixed(Fraction(-5, 2))]).value == -3
    assert applied("%", [Span.fixed(Fraction(-7)), three]).value == -1


def test_numbers_with_too_many_digits_are_unbounded() -> None:
    huge = Span.fixed(Fraction(10) ** 1000)
    found = applied("POWER", [huge, Span.fixed(Fraction(8))])
    assert (found.value, found.high, found.null) == (None, math.inf, True)


@pytest.mark.parametrize("function", ["LN", "LOG10", "SQRT"])
def test_a_function_without_a_value_is_null(function: str) -> None:
    found = applied(function, [Span.fixed(Fraction(-1))])
    assert found.value is None
    assert found.null
