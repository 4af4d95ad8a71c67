"""The benchmark of models measures what it says it measures. No time is compared."""

from __future__ import annotations

import math
from io import StringIO

import numpy as np
from rich.console import Console

from benchmarks.learn import WAYS, draw, errors_of, fits_table, targets, times_of


def test_half_of_the_rows_have_to_be_shortened() -> None:
    lengths = np.linalg.norm(draw(4000).features, axis=1)
    assert 0.45 < np.mean(lengths > 1) < 0.55
    assert max(lengths) <= 2 + 1e-9


def test_all_ways_are_timed_and_judged_by_the_slowest() -> None:
    times = times_of(draw(600), repeat=1)
    assert {way for _, way in times} == {*WAYS, "scikit-learn"}
    assert all(spent >= 0 for spent in times.values())
    made = dict.fromkeys(times, 1.0) | {("ridge", "output, pure"): 3.0}
    verdicts = {target.text.partition(":")[0]: target.verdict for target in targets(made)}
    assert verdicts == {"ridge": "FAIL", "logistic": "pass"}


def test_errors_are_distances_that_noise_makes() -> None:
    errors = errors_of(draw(600), fits=1)
    assert len(errors) == 2 * len(WAYS) - 1
    assert all(0 < error < math.inf for error in errors.values())
    console = Console(file=StringIO(), width=120)
    console.print(
        fits_table(dict.fromkeys(errors, 1.0) | {(m, "scikit-learn"): 1.0 for m in ("ridge", "logistic")}, errors)
    )
    assert "objective, pure" in console.file.getvalue()  # type: ignore[attr-defined]
