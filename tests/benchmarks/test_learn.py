"""The benchmark of models measures what it claims to measure. No times are compared."""

from __future__ import annotations

import math
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from benchmarks import learn
from benchmarks.learn import (
    WAYS,
    Accuracy,
    accuracies_of,
    accuracy_table,
    accuracy_targets,
    draw,
    errors_of,
    fits_table,
    targets,
    tasks,
    times_of,
)


def test_half_of_the_rows_must_be_shortened() -> None:
    lengths = np.linalg.norm(draw(4000).features, axis=1)
    assert 0.45 < np.mean(lengths > 1) < 0.55
    assert max(lengths) <= 2 + 1e-9


def test_all_methods_are_timed_and_judged_by_the_slowest() -> None:
    times = times_of(draw(600), repeat=1)
    assert {way for _, way in times} == {*WAYS, "scikit-learn"}
    assert all(spent >= 0 for spent in times.values())
    made = dict.fromkeys(times, 1.0) | {("ridge", "output, pure"): 3.0}
    verdicts = {target.text.partition(":")[0]: target.verdict for target in targets(made)}
    assert verdicts == {"ridge": "FAIL", "logistic": "pass"}


def test_errors_are_distances_caused_by_noise() -> None:
    errors = errors_of(draw(600), fits=1)
    assert len(errors) == 2 * len(WAYS) - 1
    assert all(0 < error < math.inf for error in errors.values())
    console = Console(file=StringIO(), width=120)
    console.print(
        fits_table(dict.fromkeys(errors, 1.0) | {(m, "scikit-learn"): 1.0 for m in ("ridge", "logistic")}, errors)
    )
    assert "objective, pure" in console.file.getvalue()  # type: ignore[attr-defined]


def test_tasks_are_in_the_unit_ball_and_have_both_kinds_of_target() -> None:
    found = list(tasks())
    assert len({task.name for task in found}) == len(found)
    for task in found:
        assert np.mean(np.linalg.norm(task.features, axis=1) > 1) < 0.1
        assert np.max(np.abs(task.target)) <= 1
        assert len(task.target) == len(task.features)


def test_accuracies_are_means_over_seeds_and_compared_with_the_best_of_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn, "PENALTIES", [1e-2, 1e6])
    named = {task.name: task for task in tasks()}
    (one,) = accuracies_of(named["generated"], epsilon=100.0, seeds=2, tries=1)
    assert one.constant < 0.6 < 0.75 < min(one.default, one.grid)
    assert one == next(accuracies_of(named["generated"], epsilon=100.0, seeds=2, tries=1))  # seeded
    ridge, huber = accuracies_of(named["generated numbers"], epsilon=100.0, seeds=1, tries=1)
    assert (ridge.model, huber.model) == ("ridge", "Huber")
    assert ridge.constant < 0.05 < 0.3 < min(ridge.default, huber.default)


def test_defaults_are_compared_with_constants_and_the_grid() -> None:
    good = Accuracy("one", "logistic", 100, 3, 1.0, constant=0.6, default=0.8, grid=0.82)
    bad = Accuracy("two", "ridge", 100, 3, 1.0, constant=0.0, default=-0.01, grid=0.3)
    verdicts = [target.verdict for target in accuracy_targets([good, bad])]
    assert verdicts == ["pass", "FAIL", "not measured", "pass"]
    console = Console(file=StringIO(), width=120)
    console.print(accuracy_table([good, bad], seeds=1, tries=1))
    assert "0.820" in console.file.getvalue()  # type: ignore[attr-defined]
