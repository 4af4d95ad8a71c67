"""Bounds of many pairs at once hold the exact figures of fractions, and are narrow."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.audit.exact import pairs as module
from sitr.audit.exact.pairs import Ends, Pairs
from sitr.audit.exact.table import Table
from tests.audit.exact.tables import Rows, tables


def both(rows: Rows) -> tuple[Pairs, list[tuple[list[Fraction], list[Fraction]]]]:
    """The first two rows in both directions, and their fractions."""
    made = Pairs.of(Table.of(rows), np.array([[0, 1]], dtype=np.int64))
    return made, [(rows[0], rows[1]), (rows[1], rows[0])]


def holds(ends: Ends, exact: list[Fraction], *, width: float = 1e-12) -> None:
    for low, high, true in zip(ends.lower, ends.upper, exact, strict=True):
        assert Fraction(float(low)) <= true <= Fraction(float(high))
        assert high - low <= width


@given(tables(zeros=True, inputs=2))
def test_infinite_losses(rows: Rows) -> None:
    if len(rows) == 2:
        made, laws = both(rows)
        holds(made.infinite(), [sum((a for a, b in zip(*law, strict=True) if not b), Fraction(0)) for law in laws])


@given(tables(zeros=True, inputs=2), st.fractions(1, 5))
def test_hockey_sticks_at_fractions(rows: Rows, odds: Fraction) -> None:
    if len(rows) == 2:
        made, laws = both(rows)
        t = float(odds)
        exact = [
            sum((max(Fraction(0), a - Fraction(t) * b) for a, b in zip(*law, strict=True)), Fraction(0)) for law in laws
        ]
        holds(made.hockey_stick(t, t), exact)


@given(tables(inputs=2))
def test_largest_losses(rows: Rows) -> None:
    if len(rows) == 2:
        made, laws = both(rows)
        found = made.largest()
        for low, high, law in zip(found.lower, found.upper, laws, strict=True):
            true = math.log(max(a / b for a, b in zip(*law, strict=True)))
            assert low - 1e-12 <= true <= high + 1e-12
            assert high - low < 1e-11


@given(tables(inputs=2), st.fractions(1, 3))
def test_the_probability_of_a_larger_loss(rows: Rows, odds: Fraction) -> None:
    """Where a ratio is just t, the outcome may be on either side of the interval, so only its ends are compared."""
    if len(rows) == 2:
        made, laws = both(rows)
        t = float(odds)
        found = made.exceeding(t, t)
        for low, high, law in zip(found.lower, found.upper, laws, strict=True):
            true = sum((a for a, b in zip(*law, strict=True) if a > Fraction(t) * b), Fraction(0))
            assert Fraction(float(low)) <= true <= Fraction(float(high))


def test_blocks_do_not_change_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table.of(np.random.default_rng(1).dirichlet(np.ones(5), size=20), rounding=1e-12)
    made = Pairs.of(table, np.array([[place, place + 1] for place in range(19)], dtype=np.int64))
    whole = made.hockey_stick(1.5, 1.5)
    monkeypatch.setattr(module, "CELLS", 1)
    parts = made.hockey_stick(1.5, 1.5)
    assert whole.lower.tolist() == parts.lower.tolist()
    assert (len(made), len(made.forward()), len(made.some([0, 3]))) == (38, 19, 2)


def test_more_rounding_only_widens() -> None:
    """The twin with no allowance for rounding would be narrower than the truth allows."""
    rows = [[0.3, 0.7], [0.6, 0.4]]
    narrow, wide = (
        Pairs.of(Table.of(np.array(rows) * (1 - 1e-14), rounding=r), np.array([[0, 1]], dtype=np.int64)).hockey_stick(
            1.2, 1.2
        )
        for r in (1e-12, 1e-6)
    )
    assert (wide.lower < narrow.lower).all()
    assert (wide.upper > narrow.upper).all()
