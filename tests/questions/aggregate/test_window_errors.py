"""Errors of columns with windows, known before a release."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest

import sitr
from sitr.noise.coins import TestCoins
from sitr.session.budget import Budget

RANKED = "SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, SUM(COUNT(*)) OVER () AS t"


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    rows = pa.table({"id": list(range(300)), "ward": [*"ABC"] * 100, "sex": [*"fm"] * 150})
    keys = {"ward": ["A", "B", "C"], "sex": ["f", "m"]}
    found = sitr.protect(rows, name="visits", unit="id", max_groups=2, max_rows_per_group=1, keys=keys)
    return found.budget(rho=10, ledger=tmp_path / "ledger.db")


def test_the_error_of_a_total_is_that_of_the_answer(budget: Budget) -> None:
    asked = budget.sql(f"{RANKED}, AVG(COUNT(*)) OVER () AS a FROM visits GROUP BY ward")
    before = asked.preview(rho=0.1).errors()
    answer = asked.release(rho=0.1, coins=TestCoins(1))
    found = answer.intervals().to_pylist()
    assert before["t"] == max(row["t_high"] - row["t"] for row in found)
    assert before["a"] == pytest.approx(before["t"] / 3)
    assert before["n"] < before["t"] < 3 * before["n"]  # three independent draws
    assert before["r"] == 2.0


def test_windows_within_a_key_have_fewer_rows(budget: Budget) -> None:
    within = "SELECT ward, sex, SUM(COUNT(*)) OVER (PARTITION BY ward) AS t, SUM(COUNT(*)) OVER () AS w"
    errors = budget.sql(f"{within} FROM visits GROUP BY ward, sex").preview(rho=0.1).errors()
    assert errors["t"] < errors["w"]
    ranks = "SELECT ward, sex, RANK() OVER (PARTITION BY ward ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward, sex"
    assert budget.sql(ranks).preview(rho=0.1).errors()["r"] == 1.0


def test_where_the_rows_are_not_known_nothing_is_promised(budget: Budget) -> None:
    chosen = budget.sql(f"{RANKED} FROM visits GROUP BY ward HAVING COUNT(*) > 10").preview(rho=0.1).errors()
    assert math.isinf(chosen["t"])
    share = "SELECT ward, 1.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM visits GROUP BY ward"
    assert math.isinf(budget.sql(share).preview(rho=0.1).errors()["s"])
