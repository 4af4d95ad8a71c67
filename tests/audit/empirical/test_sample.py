"""Answers of every form become numbers and labels, and nothing is lost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.audit.empirical.features import features, last_bits
from sitr.audit.empirical.neighbours import neighbouring
from sitr.audit.empirical.sample import Sample, alike, joined
from sitr.neighbors.relation import Relation


def test_arrays_stay_numbers() -> None:
    assert Sample.of(np.array([1, 2])).numbers.tolist() == [[1.0], [2.0]]
    assert Sample.of(np.array([[1.5, 2], [3, 4]])).numbers.shape == (2, 2)
    assert Sample.of(np.array([True, False])).numbers.tolist() == [[1.0], [0.0]]
    assert Sample.of(np.array([1, 2])).labels is None


def test_integers_beyond_floats_are_told_apart() -> None:
    labels = Sample.of(np.array([2**53, 2**53 + 1])).labels
    assert labels is not None
    assert len(set(labels.tolist())) == 2
    huge = Sample.of([10**400, 1]).labels
    assert huge is not None
    assert len(set(huge.tolist())) == 2


def test_objects_have_labels_and_their_numbers() -> None:
    sample = Sample.of([Fraction(1, 2), None, "x"])
    assert sample.numbers[0, 0] == 0.5
    assert np.isnan(sample.numbers[1:, 0]).all()
    assert sample.labels is not None
    assert sample.labels.tolist() == ["Fraction(1, 2)", "None", "'x'"]


def test_samples_of_different_forms_are_joined() -> None:
    first, second = alike(Sample.of([1, 2]), Sample.of([(1, 2), None]))
    assert first.numbers.shape[1] == second.numbers.shape[1]
    assert first.labels is not None
    assert second.labels is not None
    assert len(joined([Sample.of([1]), Sample.of([2, 3])])) == 3


@pytest.mark.parametrize("number", [1.0, 0.75, -0.75, 3 * 2.0**-60, 2.0**-1074, 12.0, 1.1])
def test_the_last_bit_is_that_of_the_exact_number(number: float) -> None:
    place = int(last_bits(np.array([number]))[0])
    odd = Fraction(number) / Fraction(2) ** place
    assert odd.denominator == 1
    assert odd.numerator % 2 == 1


def test_every_form_has_features() -> None:
    names = {
        name: {feature.name for feature in features(*(Sample.of(answers) for _ in range(2)))}
        for name, answers in {
            "integers": [1, 2, 3],
            "floats": [0.5, 0.25, 3.5],
            "rows": [(1, 2), (3, 4), (5, 6)],
            "texts": ["a", "b", "c"],
        }.items()
    }
    assert names["integers"] == {"value", "values that occur"}
    assert {"last bit", "last bit and value"} <= names["floats"]
    assert {"difference", "sum", "largest", "place of the largest", "all numbers", "two numbers"} <= names["rows"]
    assert "answer" in names["texts"]


def test_neighbours_differ_by_one_row() -> None:
    for first, second in neighbouring([3, 5, 8]):
        assert abs(len(first) - len(second)) == 1
    for first, second in neighbouring([3, 5, 8], relation=Relation.REPLACE_ONE):
        assert len(first) == len(second)
        assert sum(one is not other for one, other in zip(first, second, strict=True)) <= 1
    assert any(np.isnan(row) for _, second in neighbouring([3, 5]) for row in second)
    assert neighbouring(["a", "b"])


def test_an_answer_looks_the_same_whatever_is_drawn_beside_it() -> None:
    """Otherwise a rare None on one input would change how all other answers to it look."""
    large, long = np.float64(1e20), tuple(np.random.default_rng(1).normal(size=500).tolist())
    usual = [(1, None), (2.5, "x"), ((1, 2), None), ((1, 2), (3,)), (True, None), (1, 10**400), (1e20, 2**60)]
    odd = [(large, None), (np.float64(np.inf), None), (np.float32(1e20), None), (np.int64(2**60), None)]
    more = [(2**60 + 1, 1.5), (2**63, -1), (long, None), (long, (*long[1:], 2**60)), (long, long[:3])]
    for answer, beside in (*usual, *odd, *more):
        alone, among = Sample.of([answer, answer]), Sample.of([answer, beside])
        seen = alone.like(among)
        assert np.array_equal(seen.numbers[0], among.numbers[0], equal_nan=True)
        assert among.labels is None or seen.labels is not None
        assert among.labels is None or seen.labels[0] == among.labels[0]  # type: ignore[index]
        assert alone.labels is None or alone.labels[0] == among.with_labels().labels[0]  # type: ignore[index]


def test_long_answers_are_seen_to_their_end() -> None:
    first, second = np.zeros((3, 50)), np.zeros((3, 50))
    second[:, 49], second[:, 48] = 1.0, -1.0  # with the same sum
    assert not np.array_equal(Sample.of(first).numbers, Sample.of(second).numbers)
    assert np.array_equal(Sample.of(first).numbers, Sample.of([tuple(row) for row in first]).numbers)
