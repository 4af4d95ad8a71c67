"""The search for the largest discounted difference, and what floats may do to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.sensitivity.decay import LEAST, largest, largest_difference, outward, reach, reduced

steps = st.lists(st.integers(0, 1000), min_size=1, max_size=60)


def tried(down: np.ndarray, up: np.ndarray, beta: float) -> float:
    """Every pair."""
    return max(
        math.exp(-beta * (p + q - 1)) * float(up[q] - down[p])
        for p in range(len(down))
        for q in range(len(up))
        if p + q >= 1
    )


@given(steps, steps, st.floats(1e-6, 5))
def test_the_largest_difference_is_found(below, above, beta):
    down, up = 2000 - np.cumsum(below), 2000 + np.cumsum(above)
    if len(down) + len(up) > 2:
        found = largest_difference(down, up, dilation=beta)
        assert found == pytest.approx(tried(down, up, beta), rel=1e-12)


@pytest.mark.parametrize("beta", [1e-9, 1e-4, 1e-3, 0.01])
@pytest.mark.parametrize("shape", ["even", "square", "exponential", "steps"])
def test_on_long_ridges_of_nearly_equal_differences(beta, shape):
    """Here thousands of pairs are within a rounding error of the best."""
    k = np.arange(1500)
    rise = {
        "even": 7 * k,
        "square": k**2,
        "exponential": np.round(1e6 * (np.exp(beta * k) - 1)).astype(np.int64),
        "steps": 1000 * (k // 100),
    }[shape]
    down, up = -rise, rise[: len(rise) // 2]
    found = largest_difference(down, up, dilation=beta)
    weights = np.exp(-beta * (np.add.outer(k, k[: len(up)]) - 1))
    every = weights * (up[None, :] - down[:, None])
    every[0, 0] = 0
    assert found == pytest.approx(every.max(), rel=1e-13)


def test_without_the_slack_neighbours_would_not_be_similar_enough():
    """A difference that one change brings nearer by one rank: the ratio of scales is e^β, give or take a rounding."""
    beta = 1e-9

    def excess(slack: bool) -> int:
        used = reduced(beta) if slack else beta
        near = far = 0.0
        broken = 0
        for rank in range(1, 300):
            up = np.zeros(rank + 1, dtype=np.int64)
            up[-1] = 12_345
            near, far = far, largest_difference(np.array([0]), up, dilation=used)
            if slack:
                far = outward(far)
            broken += rank > 1 and math.log(near / far) > beta
        return broken

    assert excess(slack=False) > 0
    assert excess(slack=True) == 0


def test_reduced_is_a_little_less():
    assert 0 < 0.1 - reduced(0.1) < 1e-10
    assert reduced(1e6) == reduced(1000)
    for bad in (0, -1, LEAST / 2):
        with pytest.raises(ValueError, match="dilation of noise to be a finite number of at least 1e-09"):
            reduced(bad)


@given(st.floats(1.5, 1e40), st.floats(1e-6, 100))
def test_beyond_the_reach_nothing_counts(width, beta):
    k = reach(width, dilation=beta)
    assert math.exp(-beta * (k + 1)) * width < 1
    assert math.exp(-beta * (k - 2)) * width > 0.99


def test_largest():
    values = np.array([3.0, 0.0, 40.0, 50.0])
    assert largest(values, dilation=1.0) == pytest.approx(40 * math.exp(-2))
    assert largest(values, dilation=5.0) == 3.0
