"""The errors that the benchmark computes are those of the mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest

from benchmarks.extremes import GROWTHS, error, random_errors
from benchmarks.query_cases import EPSILON, HIGH, LOW, ROWS, Data, few, tail
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.noise.coins import TestCoins


@pytest.mark.parametrize(
    ("table", "level", "growth", "same"), [(few, 0, 10 / 3, True), (tail, 1, 10 / 3, True), (tail, 1, 0.0, False)]
)
def test_the_errors_are_those_of_the_mechanism_with_its_own_weights(
    table: Callable[[], Data], level: int, growth: float, same: bool
) -> None:
    x = table().x
    choice = GroupedQuantile(rate=EPSILON / ROWS, level=level, low=LOW, high=HIGH, each=ROWS, inward=True)
    coins, exact = TestCoins(3), x.max() if level else x.min()
    drawn = np.array(
        [abs(choice.release([Counter(x.tolist())], coins=coins)[0] - exact) for _ in range(400)], dtype=np.float64
    )
    gap = abs(drawn.mean() - error(x, EPSILON / ROWS, growth, largest=bool(level)))
    assert (gap < 4 * drawn.std() / sqrt(len(drawn))) == same


def test_level_weights_are_better_for_few_values_and_worse_over_many_tables() -> None:
    level, own = GROWTHS[0], GROWTHS[2]
    assert error(few().x, EPSILON / ROWS, level) < error(few().x, EPSILON / ROWS, own)
    found = random_errors((level, own), many=300).mean(axis=0)
    assert found[0] > found[1]
