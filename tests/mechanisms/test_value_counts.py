"""Counts in arrays are what a dictionary is to everything that reads them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from sitr.mechanisms import value_counts
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.value_counts import ValueCounts
from sitr.noise.coins import TestCoins


def random_counts(chance: random.Random, most: int = 12) -> dict[int, int]:
    return {value: chance.randint(1, 5) for value in sorted(chance.sample(range(-30, 30), chance.randrange(most)))}


def in_arrays(counts: dict[int, int]) -> ValueCounts:
    return ValueCounts(np.array([*counts], np.int64), np.array([*counts.values()], np.int64))


def test_it_is_a_mapping() -> None:
    chance = random.Random(1)
    for _ in range(50):
        one, other = random_counts(chance), random_counts(chance)
        found = in_arrays(one)
        assert found == one
        assert one == found
        assert len(found) == len(one)
        assert [*found.items()] == [*one.items()]
        assert {type(number) for pair in found.items() for number in pair} <= {int}
        assert 77 not in found
        both = {value: one.get(value, 0) + other.get(value, 0) for value in one.keys() | other.keys()}
        assert found | in_arrays(other) == both
    assert in_arrays({1: 2}) != {1: 3}


def agree() -> bool:
    """Whether the same coins choose the same numbers from arrays and from dictionaries, for every kind of quantile."""
    chance, same = random.Random(2), True
    for _ in range(60):
        counts = [random_counts(chance) for _ in range(3)]
        low, high = sorted(chance.sample(range(-25, 25), 2))
        level, offset = chance.choice([0, 0.25, 0.5, 1]), chance.choice([0, 0, 3, -3])
        quantile = GroupedQuantile(rate=0.5, level=level, low=low, high=high, offset=offset)
        drawn = [
            quantile.release(given, coins=TestCoins(7)) for given in (counts, [in_arrays(each) for each in counts])
        ]
        same = same and drawn[0] == drawn[1]
    return same


def test_quantiles_of_both_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert agree()
    monkeypatch.setattr(value_counts, "merged", lambda numbers, counts: (numbers, counts))
    assert not agree(), "clamped values that are equal are one value"
