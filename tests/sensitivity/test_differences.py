"""All pairs, against a look at every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.sensitivity import differences as module
from sitr.sensitivity.differences import differences


def looked_at(numbers):
    return np.sort(np.abs(np.subtract.outer(numbers, numbers))[np.triu_indices(len(numbers), 1)])


@given(st.integers(-20, 5), st.integers(1, 40), st.data())
def test_every_rank_is_right(low, width, data):
    numbers = np.array(data.draw(st.lists(st.integers(low, low + width), min_size=2, max_size=30)))
    expected = looked_at(numbers)
    found = differences(numbers, low=low, high=low + width)(np.arange(1, len(expected) + 1))
    assert found.tolist() == expected.tolist()


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=30))
def test_in_wide_cells_each_difference_is_the_largest_possible(numbers):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", 100)
        at = differences(np.array(numbers), low=0, high=1000)
    found = at(np.arange(1, len(numbers) * (len(numbers) - 1) // 2 + 1))
    wide = 1000 // 100 + 1
    cells = looked_at(np.array(numbers) // wide)
    assert found.tolist() == np.minimum(cells * wide + wide - 1, 1000).tolist()
    assert np.all(looked_at(np.array(numbers)) <= found)


def test_equal_numbers_are_not_apart():
    assert differences(np.array([7, 7, 7]), low=0, high=10)(np.array([1, 2, 3])).tolist() == [0, 0, 0]


@pytest.mark.slow
def test_a_million_numbers_far_apart():
    """Counts of pairs need 39 bits, and are exact: of numbers 0 … 999,999, each once, 10^6 − d pairs are d apart."""
    at = differences(np.arange(10**6), low=0, high=2**20 - 1)
    up_to = np.cumsum(10**6 - np.arange(1, 1000))
    assert at(up_to).tolist() == list(range(1, 1000))
    assert at(up_to + 1).tolist() == list(range(2, 1001))
