"""The slow reference, against the definitions themselves: all pairs and triples of ordered samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from sitr.numbers import Number
from tests.oracles.brute import Sample, distance_to, local_sensitivities, neighbours, smooth_sensitivity

FUNCTIONS: dict[str, Callable[[Sample], Number]] = {
    "sum": sum,
    "largest": max,
    "product": math.prod,
    "distinct": lambda sample: len(set(sample)),
    "odd": lambda sample: Fraction(sum(sample) % 2, 3),
}


def apart(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_local_sensitivities_are_those_of_the_definition(name):
    """Here people have an order, and every Y and Z is tried."""
    function, size, grid = FUNCTIONS[name], 3, range(3)
    everything = list(product(grid, repeat=size))
    values = {y: Fraction(function(tuple(sorted(y)))) for y in everything}
    nearest = {y: max(abs(values[y] - values[z]) for z in everything if apart(y, z) <= 1) for y in everything}
    found = local_sensitivities(function, size=size, low=0, high=2)
    for x in everything:
        wanted = [max(nearest[y] for y in everything if apart(x, y) <= k) for k in range(size + 1)]
        assert found[tuple(sorted(x))] == wanted


def test_neighbours():
    assert set(neighbours((0, 2), low=0, high=2)) == {(0, 0), (0, 1), (0, 2), (1, 2), (2, 2)}


def test_smooth_sensitivity_is_the_least_smooth_bound():
    local = local_sensitivities(max, size=3, low=0, high=4)
    beta = 0.4
    smooth = {sample: smooth_sensitivity(steps, dilation=beta) for sample, steps in local.items()}
    for sample in local:
        assert smooth[sample] >= local[sample][0]
        near = [smooth[other] for other in neighbours(sample, low=0, high=4)]
        assert max(near) <= smooth[sample] * math.exp(beta) * (1 + 1e-12)
        # It cannot be lowered anywhere: either LS itself, or a neighbour, keeps it up.
        held = max(float(local[sample][0]), math.exp(-beta) * max(near))
        assert smooth[sample] == pytest.approx(held, rel=1e-12)


def test_distance():
    assert [distance_to([Fraction(1), Fraction(3), Fraction(3)], bound=b) for b in (0.5, 1, 2, 3)] == [0, 1, 1, 3]
