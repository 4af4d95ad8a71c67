"""Exact tables from rows."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from sitr.dataset.schema import Column, Kind, Quantised
from sitr.questions.aggregate.expressions.typed import column_typed
from sitr.questions.aggregate.term import Term
from sitr.questions.tables import counting
from sitr.questions.tables.counting import cells_in_all, coarser, maximal, totals
from sitr.questions.tables.workload import Workload
from tests.questions.tables.conftest import column, margin

COST = column_typed(Column("cost", Kind.REAL, Quantised(0, 2**53, Fraction(1))))
WANTED = Workload(
    (column("a", 4, {"half": {"x": ["0", "2"], "y": ["1", "3"]}}), column("b", 3)),
    (((0, 2), (1, 1)), ((0, 1),), ()),
)


def test_tables_are_sums_over_rows() -> None:
    random = np.random.default_rng(2)
    codes = np.column_stack([random.integers(0, 4, 500), random.integers(0, 3, 500)])
    values = random.integers(-(2**53), 2**53, 500)
    term = Term(COST, Quantised(0, 2**53, Fraction(1)))
    records = SimpleNamespace(terms=(Term(), term), valued=(term,), axes=(0, 1))
    nodes = [(), ((0, 1),), ((0, 1), (1, 1)), ((0, 2), (1, 1))]
    counts, sums = totals(records, WANTED, np.column_stack([codes, values]), nodes)  # type: ignore[arg-type]
    cell = codes[:, 0] * 3 + codes[:, 1]
    exact = np.zeros(12, object)
    np.add.at(exact, cell, values.astype(object))
    for node in nodes:
        matrix = margin(WANTED, node).astype(int).astype(object)
        assert counts[node].ravel().tolist() == (matrix @ np.bincount(cell, minlength=12)).tolist()
        assert sums[node].ravel().tolist() == (matrix @ exact).tolist()


def test_doubles_would_lose_digits() -> None:
    """The broken twin: one sum of doubles."""
    values = np.array([2**53 - 1, 2**53 - 1, 2**53 - 1])
    assert int(np.bincount([0, 0, 0], weights=values)[0]) != 3 * (2**53 - 1)
    term = Term(COST, Quantised(0, 2**53, Fraction(1)))
    records = SimpleNamespace(terms=(term,), valued=(term,), axes=(0, 1))
    listed = np.column_stack([np.zeros((3, 2), np.int64), values])
    (found,) = totals(records, WANTED, listed, [()])  # type: ignore[arg-type]
    assert int(found[()]) == 3 * (2**53 - 1)


def test_many_rows_are_added_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part is added as doubles, and the parts as integers: the numbers of rows do not matter."""
    monkeypatch.setattr(counting, "_ROWS", 3)
    values = np.array([2**53, -(2**53), 5, 2**53 - 1, -7, 2**52 + 1, 2**53 - 3])
    term = Term(COST, Quantised(-(2**53), 2**53, Fraction(1)))
    records = SimpleNamespace(terms=(term,), valued=(term,), axes=(0, 1))
    listed = np.column_stack([np.zeros((7, 2), np.int64), values])
    (found,) = totals(records, WANTED, listed, [()])  # type: ignore[arg-type]
    assert int(found[()]) == sum(values.tolist())


def test_no_rows_are_zeros() -> None:
    records = SimpleNamespace(terms=(Term(),), valued=(), axes=(0, 1))
    (found,) = totals(records, WANTED, np.zeros((0, 2), np.int64), [((0, 1),)])  # type: ignore[arg-type]
    assert found[((0, 1),)].tolist() == [0, 0]


def test_only_tables_that_no_other_holds_are_counted() -> None:
    assert maximal([(), ((0, 1),), ((0, 2), (1, 1)), ((2, 1),)]) == [((0, 2), (1, 1)), ((2, 1),)]
    assert cells_in_all(WANTED) == 12 + 2 + 1
    assert coarser(WANTED, ((0, 2),), np.array([1, 2, 3, 4]), ((0, 1),)).tolist() == [3, 7]
