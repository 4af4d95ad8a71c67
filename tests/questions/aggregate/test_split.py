"""Weights and targets are checked against the columns of an answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.errors import QuestionError, UnknownName
from sitr.questions.aggregate.split import Targets, Weights, targets_of, weights_of


def test_columns_without_a_weight_have_the_weight_one() -> None:
    found = weights_of({"total": 4}, ["n", "total"])
    assert found == Weights((("total", Fraction(4)),))
    assert [found.of("n"), found.of("total")] == [Fraction(1), Fraction(4)]


def test_the_order_does_not_matter() -> None:
    assert weights_of({"a": 1, "b": 2}, "ab") == weights_of({"b": 2, "a": 1}, "ab")
    assert targets_of({"a": 1, "b": 2}, "ab", rows=3) == Targets((("a", Fraction(1)), ("b", Fraction(2))), 3)


@pytest.mark.parametrize("number", [0, -1, float("nan"), float("inf"), "4", None])
def test_a_weight_is_a_number_above_zero(number) -> None:
    with pytest.raises(QuestionError, match="a number above 0 for the weight of n"):
        weights_of({"n": number}, ["n"])


def test_names_and_rows_are_checked() -> None:
    with pytest.raises(UnknownName, match="no column 'm'"):
        weights_of({"m": 1}, ["n"])
    with pytest.raises(QuestionError, match="no target for total"):
        targets_of({"n": 1}, ["n", "total"])
    with pytest.raises(QuestionError, match="a whole number of rows"):
        targets_of({"n": 1}, ["n"], rows=0)
