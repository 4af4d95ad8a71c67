"""Coefficients of the same population agree, and those of torn columns do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.dataset.schema import Kind
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.regression import regression
from tests.oracles.axes import granular, keyed

AXES = (
    granular("cost", Kind.INTEGER, 0, 99, Fraction(1), 100),
    granular("age", Kind.INTEGER, 0, 19, Fraction(1), 20),
    keyed("ward", Kind.TEXT, keys=("a", "b", "c")),
    granular("twice", Kind.INTEGER, 0, 39, Fraction(1), 40),
)


def town(seed: int, rows: int = 5_000) -> Codes:
    """A year of age costs 2 and the last ward 10; `twice` is a multiple of age."""
    generator = np.random.default_rng(seed)
    age, ward = generator.integers(0, 20, rows), generator.choice(3, rows, p=[0.5, 0.3, 0.2])
    cost = 2 * age + 10 * (ward == 2) + generator.integers(0, 40, rows)
    return np.column_stack([cost, age, ward, 2 * age])


def torn(seed: int) -> Codes:
    generator = np.random.default_rng(seed)
    return np.column_stack([generator.permutation(column) for column in town(seed).T])


def test_coefficients_are_those_that_made_the_rows() -> None:
    found = {each.term: each for each in regression(AXES, town(1), town(2), 0)}
    spread = town(2)[:, 0].std()
    assert len(found) == 3  # of age and its double, one is left out, and so is the most frequent ward
    line = found.get("age") or found["twice"]
    assert line.real == pytest.approx(2 * town(2)[:, 1].std() / spread, abs=0.03)
    ward = next(each for name, each in found.items() if name.startswith("ward") and each.real > 0.2)
    assert ward.real == pytest.approx(10 / spread, abs=0.1)
    assert ward.synthetic == pytest.approx(10 / spread, abs=0.1)


def test_two_samples_of_one_population_agree_as_often_as_stated() -> None:
    """95% of 300 coefficients, give or take; torn columns lose those that are not 0."""
    pairs = [regression(AXES, town(2 * k), town(2 * k + 1), 0) for k in range(100)]
    agree = np.mean([each.agrees for found in pairs for each in found])
    assert 0.91 < agree < 0.985
    lost = [each.agrees for k in range(10) for each in regression(AXES, torn(k), town(k + 50), 0)]
    assert np.mean(lost) < 0.6


def test_a_target_of_keys_is_its_most_frequent_value() -> None:
    found = regression(AXES, town(1), town(2), 2)
    assert all(each.agrees for each in found)
    cost = next(each for each in found if each.term == "cost")
    assert cost.real < 0  # dear rows are less often in the first ward


def test_rare_values_and_empty_tables_have_no_terms() -> None:
    few = regression(AXES[:3], town(1, 60)[:, :3], town(2)[:, :3], 0)
    assert [each.term for each in few] == ["age"]
    assert regression(AXES[:1], town(1)[:, :1], town(2)[:, :1], 0) == ()
