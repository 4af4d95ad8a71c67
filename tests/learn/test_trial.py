"""A model learns from rows what is in them: as much as from real ones, or nothing from columns that were torn apart."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.errors import QuestionError
from sitr.learn.trial import scores
from sitr.releases.synthetic.axes import Codes

NAMES = ["ward", "age", "sex"]


def town(seed: int, rows: int = 4_000) -> Codes:
    """The ward follows from the age, but for one person in ten."""
    generator = np.random.default_rng(seed)
    age = generator.integers(0, 20, rows)
    ward = np.where(generator.random(rows) < 0.1, generator.integers(0, 4, rows), age // 5)
    return np.column_stack([ward, age, generator.integers(0, 2, rows)])


def test_trained_on_synthetic_and_tried_on_real_rows() -> None:
    generator = np.random.default_rng(3)
    torn = np.column_stack([generator.permutation(column) for column in town(1).T])
    good, bad = (scores(NAMES, rows, town(2), target="ward") for rows in (town(1), torn))
    assert good[0] == pytest.approx(good[1], abs=0.05)
    assert good[0] > 0.85
    assert bad[0] < good[0] - 0.3
    assert bad[1] == good[1]


@pytest.mark.parametrize(("names", "target"), [(NAMES, "nobody"), (["ward"], "ward")])
def test_a_target_is_one_of_several_columns(names: list[str], target: str) -> None:
    rows = town(1)[:, : len(names)]
    with pytest.raises(QuestionError, match=f"'{target}'"):
        scores(names, rows, rows, target=target)
