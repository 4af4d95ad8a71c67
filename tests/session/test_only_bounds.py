"""Intervals of quantiles that are public bounds, and say so."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import sitr
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.release import ONLY_BOUNDS

ENDS = {"m_low", "m_high"}


@pytest.mark.parametrize(("sql", "vague"), [("MEDIAN(cost)", ENDS), ("AVG(cost)", set())])
def test_an_interval_that_is_the_bounds_says_so(tmp_path: Path, sql: str, vague: set[str]) -> None:
    pytest.importorskip("pandas")
    rows = pa.table({"id": list(range(400)), "cost": [float(n % 50) for n in range(400)]})
    found = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=1, bounds={"cost": (0, 100)})
    budget = found.budget(epsilon=10, ledger=tmp_path / "ledger.db")
    answer = budget.sql(f"SELECT {sql} AS m FROM visits").release(epsilon=1, coins=TestCoins(1))
    frame = answer.to_pandas(intervals=True)
    assert frame.attrs.get("intervals", {}) == dict.fromkeys(vague, ONLY_BOUNDS)
    bounds = (frame["m_low"].iloc[0], frame["m_high"].iloc[0]) == (0, 100)
    assert bounds == bool(vague)
    assert "intervals" not in answer.to_pandas().attrs
