"""Canaries in a model of scikit-learn: one that remembers is caught, one that cannot is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sitr.audit.canaries.model import Canaries
from sitr.audit.canaries.scores import read_scores
from sitr.errors import FileError, InvalidUse, SourceError
from sitr.flavors.pure import PureDP
from sitr.noise import TestCoins

BOUNDS = (np.zeros(30), np.ones(30))


def made(seed: int = 1, classes: tuple[int, ...] = tuple(range(10))) -> Canaries:
    return Canaries.random(400, bounds=BOUNDS, classes=classes, coins=TestCoins(seed))


def data() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    rows = generator.random((300, 30))
    return rows, (rows[:, 0] * 10).astype(int)


def test_a_model_that_remembers_is_caught() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    canaries = made()
    model = KNeighborsClassifier(1).fit(*canaries.training(*data()))
    assert canaries.audit(model, coins=TestCoins(2)).refutes(PureDP(1.0))


def test_a_model_that_has_seen_no_canary_is_not() -> None:
    from sklearn.linear_model import LogisticRegression

    canaries = made()
    assert canaries.audit(LogisticRegression().fit(*data()), coins=TestCoins(2)).epsilon == 0.0


def test_regressions_are_scored_by_their_errors() -> None:
    from sklearn.neighbors import KNeighborsRegressor

    canaries = Canaries.random(200, bounds=BOUNDS, targets=(-5.0, 5.0), coins=TestCoins(3))
    rows, _ = data()
    model = KNeighborsRegressor(1).fit(*canaries.training(rows, np.zeros(len(rows))))
    scores = canaries.scores(model)
    assert scores[canaries.included].max() == 0.0
    assert canaries.audit(model, coins=TestCoins(2)).epsilon > 1.0


def test_coins_decide_fairly_who_is_included() -> None:
    canaries = Canaries.random(4_000, bounds=([0], [1]), classes=[0, 1], coins=TestCoins(4))
    assert 1_800 < canaries.included.sum() < 2_200
    assert set(canaries.rows.reshape(-1).tolist()) == {0.0, 1.0}


def test_a_class_that_the_model_does_not_know_is_refused() -> None:
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(InvalidUse, match="does not know the class 17"):
        made(classes=(0, 17)).scores(LogisticRegression().fit(*data()))


def test_scores_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "canaries.csv"
    path.write_text("score,included\n0.5,1\n-2,0\n3,yes\n4,Out\n")
    assert read_scores(path) == ([0.5, -2.0, 3.0, 4.0], [True, False, True, False])


@pytest.mark.parametrize(
    ("text", "line"),
    [("score,included\n", 1), ("score\n1\n", 2), ("score,included\n1,1\n2,maybe\n", 3), ("score,included\nx,1\n", 2)],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "canaries.csv"
    path.write_text(text)
    with pytest.raises(SourceError, match=f"Line {line} of"):
        read_scores(path)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="Cannot read"):
        read_scores(tmp_path / "none.csv")
