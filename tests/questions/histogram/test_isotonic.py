"""Forms of counts: against a solver, and against every split."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from sitr.questions.histogram.isotonic import Form, isotonic


def fits(counts: np.ndarray, form: Form) -> bool:
    steps = np.diff(counts)
    if form is Form.ONE_PEAK:
        peak = int(np.argmax(counts))
        return bool((steps[:peak] >= -1e-9).all() and (steps[peak:] <= 1e-9).all())
    return bool((steps >= -1e-9).all() if form is Form.RISING else (steps <= 1e-9).all())


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("seed", range(6))
def test_the_form_is_kept_and_no_fit_of_it_is_nearer(seed: int, form: Form) -> None:
    y = np.random.default_rng(seed).normal(5.0, 4.0, 7)
    found = isotonic(y, form=form)
    assert fits(found, form)
    splits = {Form.RISING: [7], Form.FALLING: [0], Form.ONE_PEAK: range(8)}[form]
    best = min(least_error(y, split) for split in splits)
    assert ((found - y) ** 2).sum() == pytest.approx(best, abs=1e-5)


def least_error(y: np.ndarray, split: int) -> float:
    """Of counts of which the first `split` rise and the others fall, by a solver."""
    eye = np.eye(len(y))
    rows = [eye[i + 1] - eye[i] for i in range(split - 1)] + [eye[i] - eye[i + 1] for i in range(split, len(y) - 1)]
    held = {"type": "ineq", "fun": lambda c: np.array(rows) @ c}
    start = np.full(len(y), y.mean())
    solved = minimize(lambda c: ((c - y) ** 2).sum(), start, jac=lambda c: 2 * (c - y), constraints=[held])
    return float(solved.fun)


def test_one_cell_and_equal_cells_stay() -> None:
    for form in Form:
        assert isotonic(np.array([4]), form=form).tolist() == [4.0]
        assert isotonic(np.full(5, 2.0), form=form).tolist() == [2.0] * 5


def test_large_counts_keep_their_peak() -> None:
    y = 1e9 + np.array([0.0, 3.0, 1.0, 0.0])
    assert isotonic(y, form=Form.ONE_PEAK) == pytest.approx(y)
