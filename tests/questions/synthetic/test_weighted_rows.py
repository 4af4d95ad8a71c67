"""A weighted sample: its marginals are sums of weights, spread over cells by their shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sitr.questions.synthetic.weighted_rows import WeightedRows, within

MODEL = WeightedRows(
    rows=np.array([[0, 1], [1, 0], [1, 1]], dtype=np.int32),
    weights=np.array([0.5, 0.25, 0.25]),
    atoms=(np.array([0, 0, 1]), np.array([0, 1])),
    shares=(np.array([0.375, 0.125, 0.5]), np.array([0.2, 0.8])),
)


def test_marginals() -> None:
    assert MODEL.marginal(0).tolist() == [0.375, 0.125, 0.5]
    assert MODEL.marginal(1).tolist() == [0.25, 0.75]
    assert MODEL.marginal(0, 1).tolist() == [[0.0, 0.375], [0.0, 0.125], [0.25, 0.25]]
    assert MODEL.marginal(1, 0).tolist() == MODEL.marginal(0, 1).T.tolist()


def test_an_atom_without_a_share_is_spread_evenly() -> None:
    assert within(np.array([0.0, 0.0, 1.0]), np.array([0, 0, 1])).tolist() == [0.5, 0.5, 1.0]


def test_a_model_of_these_columns_is_possible() -> None:
    assert MODEL.possible((3, 2))


@pytest.mark.parametrize(
    "broken",
    [
        replace(MODEL, weights=np.array([0.5, 0.25, 0.5])),
        replace(MODEL, weights=np.array([1.0, 0.25, -0.25])),
        replace(MODEL, weights=np.array([0.5, 0.5])),
        replace(MODEL, rows=MODEL.rows + 1),
        replace(MODEL, rows=-MODEL.rows),
        replace(MODEL, rows=MODEL.rows.astype(np.float64)),
        replace(MODEL, atoms=(np.array([0, 0, 2]), np.array([0, 1]))),
        replace(MODEL, atoms=MODEL.atoms[::-1], shares=MODEL.shares[::-1]),
        replace(MODEL, shares=(np.array([0.3, 0.1, 0.7]), MODEL.shares[1])),
    ],
)
def test_other_models_are_not(broken: WeightedRows) -> None:
    assert not broken.possible((3, 2))
