"""The two sides of coupled worlds are bounds whatever the solver says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.audit.exact import coupled
from sitr.audit.exact.coupled import coupled_worlds
from tests.audit.exact.tables import Rows, laws


@settings(max_examples=15, deadline=None)
@given(st.lists(laws(3), min_size=4, max_size=4), st.sampled_from([0, 0.3, 1.0]))
def test_the_sides_meet(rows: Rows, epsilon: float) -> None:
    found = coupled_worlds(
        rows,
        epsilon=epsilon,
        priors=[[0.25] * 4, [0.1, 0.2, 0.3, 0.4]],
        secrets={"x": ["1", "2"], "y": ["3", "4"]},
        aggregate=["a", "b", "a", "b"],
    )
    assert 0.0 <= found.delta.lower <= found.delta.upper <= found.delta.lower + 1e-8
    assert all(sum(law) == 1 and min(law) >= 0 for law in found.simulator.values())


def test_a_bad_solver_gives_a_wide_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that the solver returns can make a bound wrong: only wide."""
    table = [[1, 0], [0, 1]]
    asked = {"priors": [[0.5, 0.5]], "secrets": {"a": ["1"], "b": ["2"]}, "aggregate": [0, 0]}
    right = coupled_worlds(table, epsilon=0, **asked)  # type: ignore[arg-type]
    assert right.delta.upper == pytest.approx(0.5, abs=1e-9)
    chance = np.random.default_rng(1)

    def wrong(cases: coupled._Cases, _: float) -> object:
        laws = [coupled._law(chance.random(2)) for _ in cases.values]
        return laws, coupled._repaired(chance.normal(size=(2, 2, 2)), chance.random((2, 2)))

    monkeypatch.setattr(coupled, "_solved", wrong)
    for _ in range(50):
        found = coupled_worlds(table, epsilon=0, **asked)  # type: ignore[arg-type]
        assert found.delta.lower <= 0.5 <= found.delta.upper


def test_multipliers_beyond_their_limits_would_prove_too_much() -> None:
    """The twin that does not repair multipliers proves δ ≥ 1 where δ = ½."""
    cases = coupled._Cases(
        [("", "a"), ("", "b")],
        [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]],
        [[Fraction(1)], [Fraction(1)]],
        [0],
    )
    beyond: Any = ([[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]], [[Fraction(0)] * 2] * 2, [], [])
    assert coupled._lower(cases, beyond, Fraction(1)) == 2
    kept = coupled._repaired(
        np.array([[[2.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]]), np.array([[1.0, 1.0], [0, 0]])
    )
    assert coupled._lower(cases, kept, Fraction(1)) == Fraction(1, 2)
