"""A model learns from rows what is in them: as much as from real ones, or nothing from columns that were torn apart."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.errors import QuestionError
from sitr.learn.trial import halves, propensity, scores
from sitr.questions.synthetic.axes import Codes

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


def test_the_order_of_the_hold_out_does_not_matter() -> None:
    """Wards alternate in this file: every second row has the same ward, so dealing rows in turn would test on a ward
    that was never seen."""
    rows = town(2)
    rows = np.vstack([rows[rows[:, 0] == ward][:900] for ward in (0, 3)])
    alternating = rows.reshape(2, 900, 3).transpose(1, 0, 2).reshape(-1, 3)
    sorted_by_age = rows[np.argsort(rows[:, 1], kind="stable")]
    found = [scores(NAMES, rows, order, target="ward") for order in (rows, alternating, sorted_by_age)]
    assert min(min(pair) for pair in found) > 0.85
    assert max(pair[1] for pair in found) - min(pair[1] for pair in found) < 0.05


def test_both_halves_have_every_value_equally_often() -> None:
    rows = np.column_stack(
        [np.repeat([0, 1, 2, 3], [1, 5, 100, 1001]), np.arange(1107), np.zeros(1107, dtype=np.int64)]
    )
    first, second = halves(rows, 0)
    counts = [np.bincount(half[:, 0], minlength=4) for half in (first, second)]
    assert np.abs(counts[0] - counts[1]).max() <= 1
    assert sorted([*first[:, 1], *second[:, 1]]) == list(range(1107))
    # Within a value the halves are mixed: neither is every second row of the file.
    assert 0 < np.isin(first[:, 1], np.arange(0, 1107, 2)).mean() < 1


def test_a_hold_out_of_one_row_is_refused() -> None:
    with pytest.raises(QuestionError, match="at least two rows"):
        scores(NAMES, town(1), town(2)[:1], target="ward")


def test_a_classifier_tells_torn_columns_from_real_rows() -> None:
    generator = np.random.default_rng(3)
    torn = np.column_stack([generator.permutation(column) for column in town(1).T])
    assert propensity(town(1), town(2)) == pytest.approx(0.5, abs=0.05)  # rows of the same town
    assert propensity(torn, town(2)) > 0.75
    assert propensity(torn[:0], town(2)) == 0.5


def families(seed: int, people: int = 200, rows: int = 10) -> tuple[Codes, Codes]:
    """People with ten rows each, whom two of their columns almost identify; and the person of each row."""
    generator = np.random.default_rng(seed)
    own = np.repeat(np.column_stack([generator.integers(0, 70, people), generator.integers(0, 50, people)]), rows, 0)
    return np.column_stack([own, generator.integers(0, 3, people * rows)]), np.repeat(np.arange(people), rows)


def test_nobody_trains_a_model_and_tries_it() -> None:
    """Two samples of one town look alike, and a column that nothing predicts stays unknown. Halves of rows are the
    broken twin: the model recognises people whom it knows."""
    (ours, mine), (theirs, other) = families(1), families(2)
    assert propensity(ours, theirs, whose=(mine, other)) == pytest.approx(0.5, abs=0.05)
    assert propensity(ours, theirs) > 0.56
    names = ["born", "street", "ward"]
    by_person, by_row = (scores(names, ours, theirs, target="born", whose=each) for each in (other, None))
    assert by_person[1] < 0.05 < by_row[1]
    first, second = halves(np.column_stack([theirs, other]), 0, whose=other)
    assert not set(first[:, -1]) & set(second[:, -1])
    assert len(first) + len(second) == len(theirs)
    with pytest.raises(QuestionError, match="at least two people"):
        scores(names, ours, theirs[:10], target="born", whose=other[:10])
