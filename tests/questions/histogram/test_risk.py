"""The measured risk lies between the bounds."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.risk import Case, measured
from sitr.errors import SitrError
from sitr.questions.histogram.risk import least_risk, most_risk

CASES = [Case(cells=50, people=2_000, full=50, epsilon=1.0), Case(cells=400, people=20_000, full=16, epsilon=0.5)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_upper_bounds_hold(case: Case) -> None:
    for way, risk in measured(case, repeat=30, seed=4).items():
        cells = case.full if way == "random" else case.cells
        bound = float(most_risk(cells=cells, people=case.people, epsilon=case.epsilon))
        assert np.mean(risk) < bound  # the bound is about twice the risk: no chance decides this


def test_only_a_random_promise_beats_the_lower_bound() -> None:
    """No pure promise could: so the lower bound is not a bound that everything passes."""
    case = Case(cells=400, people=20_000, full=16, epsilon=0.5)
    low = float(least_risk(cells=case.cells, people=case.people, epsilon=case.epsilon))
    assert np.mean(measured(case, repeat=10, seed=5)["random"]) < low
    full = Case(cells=50, people=2_000, full=50, epsilon=1.0)
    bound = float(least_risk(cells=full.cells, people=full.people, epsilon=full.epsilon))
    assert np.mean(measured(full, repeat=30, seed=6)["private"]) > bound


def test_refusals() -> None:
    with pytest.raises(SitrError):
        least_risk(cells=0, people=1, epsilon=1)
    with pytest.raises(SitrError):
        most_risk(cells=2, people=1, epsilon=0)
