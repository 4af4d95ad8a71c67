"""Levelled laws: their mean is what is wanted, beyond chance, and they stay as near to the given ones as they can."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sitr.questions.synthetic.level import FEWEST, levelled

Reals = NDArray[np.float64]
GENERATOR = np.random.default_rng(5)
LOGS = np.log(GENERATOR.dirichlet(np.full(6, 0.5), size=400) + 1e-6).astype(np.float32)
WANTED = np.array([0.3, 0.25, 0.2, 0.15, 0.09, 0.01])
MANY = 1_000_000


def sampled(shares: Reals, rows: int) -> tuple[NDArray[np.int64], Reals]:
    """The values of a sample with these shares, and their weights."""
    found = np.repeat(np.arange(len(shares)), np.rint(shares * rows).astype(np.int64))
    return found, np.full(len(found), 0.5)


def mean(logs: NDArray[np.float32]) -> Reals:
    laws = np.exp(logs.astype(np.float64))
    found: Reals = (laws / laws.sum(axis=1, keepdims=True)).mean(axis=0)
    return found


def test_the_mean_is_what_is_wanted() -> None:
    more = levelled(LOGS, *sampled(WANTED, MANY))
    assert abs(mean(LOGS) - WANTED).max() > 0.05
    assert mean(LOGS + more) == pytest.approx(WANTED, abs=3e-3)


def test_what_chance_explains_is_left_as_it_is() -> None:
    """The broken twin takes a sample of 1,000 rows for one of a million."""
    near = mean(LOGS) + np.array([1, -1, 1, -1, 1, -1]) * 0.01
    assert abs(levelled(LOGS, *sampled(near, 1_000))).max() < 0.02
    assert abs(levelled(LOGS, *sampled(near, MANY))).max() > 0.05


def test_one_value_alone_is_wanted_whatever_its_weights_add_up_to() -> None:
    weights = GENERATOR.uniform(4.9e-5, 5.1e-5, size=20_000)
    for part in (weights, weights[:19_999], weights[:777]):
        found = levelled(LOGS, np.ones(len(part), dtype=np.int64), part)
        assert np.isfinite(found).all()
        assert mean(LOGS + found)[1] > 0.9


def test_a_few_heavy_rows_are_few() -> None:
    sample, weights = sampled(WANTED, MANY)
    weights[: FEWEST - 2] = 1e12
    assert not levelled(LOGS, sample, weights).any()


def test_values_that_no_law_allows_stay_impossible() -> None:
    logs = LOGS.copy()
    logs[:, 0] = -np.inf
    found = mean(logs + levelled(logs, *sampled(WANTED, MANY)))
    assert found[0] == 0
    assert np.isfinite(found).all()


@pytest.mark.parametrize(("laws", "rows"), [(FEWEST - 1, MANY), (400, FEWEST - 10)])
def test_few_rows_change_nothing(laws: int, rows: int) -> None:
    assert not levelled(LOGS[:laws], *sampled(WANTED, rows)).any()
