"""One person is in one block: whatever the function does, one of the results changes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.mechanisms.sample_and_aggregate import SampleAndAggregate
from sitr.mechanisms.smooth import SmoothNoise
from sitr.noise.coins import TestCoins
from sitr.sensitivity import median, smooth

RULE = SmoothNoise.fitting(PureDP(1.0), sensitivity=smooth(median, bounds=(0, 100), granularity=1))


def mechanism(function, blocks=5, missing=50):
    return SampleAndAggregate(function, blocks, RULE, missing)


@given(
    st.lists(st.integers(0, 100), min_size=5, max_size=40), st.integers(0, 39), st.integers(-1000, 1000), st.integers()
)
def test_one_person_moves_one_result(values, place, other, seed):
    """With the same coins, and so the same blocks; the function is as wild as can be."""
    wild = lambda block: {0: math.nan, 1: 1 / 0.5}.get(sum(block) % 4, float(sum(block) ** 3 % 97))  # noqa: E731
    neighbor = [*values]
    neighbor[place % len(values)] = other
    one, two = (mechanism(wild).results(each, coins=TestCoins(seed)) for each in (values, neighbor))
    assert np.count_nonzero(one != two) <= 1


def test_overlapping_blocks_would_break_it():
    """The twin with blocks that share people: one of them moves several results, so the test above can fail."""
    values = list(range(20))
    blocks = [values[i : i + 5] for i in range(0, 15, 3)]
    neighbor = [[100 if value == 4 else value for value in block] for block in blocks]
    assert sum(max(a) != max(b) for a, b in zip(blocks, neighbor, strict=True)) > 1


def test_results_that_are_none():
    def fails(block):
        if len(block) and block[0] % 2:
            raise KeyError(block[0])  # its text would show a value
        return "no number"

    assert mechanism(fails, missing=7).results(range(10), coins=TestCoins(1)).tolist() == [7.0] * 5
    assert mechanism(lambda _: math.inf).results(range(10), coins=TestCoins(1)).tolist() == [50.0] * 5


def test_blocks_are_disjoint_and_shuffled():
    seen: list[tuple[int, ...]] = []

    def watched(block):
        seen.append(tuple(block))
        return 0.0

    mechanism(watched).results(range(23), coins=TestCoins(2))
    assert sorted(value for block in seen for value in block) == list(range(23))
    assert sorted(map(len, seen)) == [4, 4, 5, 5, 5]
    assert seen[0] != tuple(range(5))


def test_an_answer_is_near_the_truth():
    rng = np.random.default_rng(3)
    values = rng.normal(0, 10, 40_000)
    fitted = SampleAndAggregate.fitting(
        ApproximateDP(1.0, 1e-6), function=np.std, blocks=400, bounds=(0, 50), granularity=Fraction(1, 100)
    )
    answers = [float(fitted.release(values, coins=TestCoins(seed))) for seed in range(5)]
    assert all(abs(answer - 10) < 0.5 for answer in answers)
    assert float(fitted.error(values)) < 0.5


def test_the_promise_is_that_of_the_median():
    fitted = SampleAndAggregate.fitting(PureDP(0.5), function=max, blocks=9, bounds=(0, 10))
    assert fitted.promise() == fitted.aggregate.promise() == PureDP(0.5)
    assert fitted.missing == 5


def test_a_changed_function_is_another_question():
    one, same, other = (lambda x: max(x) + 1), (lambda x: max(x) + 1), (lambda x: max(x) + 2)
    assert mechanism(one).name == mechanism(same).name != mechanism(other).name
    assert mechanism(max).name == "max"
    assert "0x" not in repr(mechanism(one))  # an address differs between two runs


def test_refusals():
    with pytest.raises(QuestionError, match="a function of a block"):
        mechanism(3)
    with pytest.raises(InvalidPromise, match="within the bounds"):
        mechanism(max, missing=101)
    with pytest.raises(QuestionError, match="at least one person for each of 5 blocks"):
        mechanism(max).release([1, 2, 3])
