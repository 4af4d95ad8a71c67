"""Textbook noise in floats has the law of the textbook, and the grid that gives it away."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sitr.audit.corpus.naive import float_gaussian, float_laplace, uniform_floats
from sitr.noise import TestCoins

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda coins: uniform_floats(20_000, coins), stats.uniform()),
        (lambda coins: float_laplace(2.0, 20_000, coins), stats.laplace(scale=2.0)),
        (lambda coins: float_gaussian(2.0, 20_000, coins), stats.norm(scale=2.0)),
    ],
)
def test_the_law_is_right_and_another_scale_is_not(draw: object, law: object) -> None:
    drawn = draw(TestCoins(1))  # type: ignore[operator]
    assert stats.kstest(drawn, law.cdf).pvalue > 0.001  # type: ignore[attr-defined]
    assert stats.kstest(1.1 * drawn, law.cdf).pvalue < 1e-6  # type: ignore[attr-defined]


def test_uniform_floats_lie_on_a_grid_below_one() -> None:
    drawn = uniform_floats(10_000, TestCoins(2))
    assert (drawn * 2.0**53 == np.floor(drawn * 2.0**53)).all()
    assert 0.0 <= drawn.min() <= drawn.max() < 1.0
