"""Sums of losses: where they are, and where they are not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sitr.loss.mesh import Nodes
from sitr.loss.total import SumOfLaws, window

UNEVEN = {-0.7: 0.3, 0.11: 0.35, 0.95: 0.35}
"""No two of these losses have a common measure."""


def nodes(masses: dict[float, float], *, off: float = 0.0) -> Nodes:
    return Nodes(np.array(list(masses)), np.log(np.array(list(masses.values()))), 0.0, off)


def coin(step: float = 0.1) -> Nodes:
    """±1 step with equal odds: sums are binomial."""
    return nodes({-step: 0.5, step: 0.5})


def test_the_window_holds_what_it_promises():
    total = SumOfLaws([(coin(), 400)], 0.0)
    left, right = window(total, 0.0, -10.0)
    outside = sum(math.comb(400, k) / 2**400 for k in range(401) if not left <= (2 * k - 400) * 0.1 <= right)
    assert outside <= 2 * math.exp(-10.0)
    assert right - left < 40.0


def test_combs_are_told_from_what_is_none():
    even, uneven = replace(coin(), off=1e-15), nodes(UNEVEN)
    assert SumOfLaws([(even, 3)], 0.0).comb == pytest.approx((-0.3, 0.2))
    assert SumOfLaws([(even, 3), (nodes({-0.4: 0.5, 0.2: 0.5}, off=1e-15), 2)], 0.0).comb == pytest.approx((-1.1, 0.2))
    assert SumOfLaws([(even, 3), (uneven, 1)], 0.0).comb is None
    assert SumOfLaws([(even, 3)], 0.1).comb is None
    assert SumOfLaws([(coin(1e-13), 10**4)], 0.0).comb == pytest.approx((-1e-9, 2e-13))
    assert (
        SumOfLaws([(replace(coin(1e-13), off=1e-15), 10**4)], 0.0).comb is None
    )  # places and losses are not told apart
