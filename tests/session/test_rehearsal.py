"""A rule that does not fit its column is refused before anything is spent, and a rule that fits is not."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.errors import DescriptionError
from sitr.session.budget import Budget

PRICE = sitr.ZeroConcentratedDP(0.2)
YEAR = {"day": (date(2024, 1, 1), date(2024, 12, 31))}
REGIONS = {"district": {"Irbid": "North", "Aqaba": "South"}}
day, size = sitr.column("day"), sitr.column("size")
ROWS = pa.table(
    {
        "day": [date(2024, 3, 1), date(2024, 4, 1)],
        "month": pa.array([3, 4], pa.int8()),
        "half": pa.array([1, 1], pa.int8()),
        "district": ["Irbid", "Aqaba"],
        "region": ["North", "South"],
        "size": pa.array([1, 100], pa.int16()),
    }
)


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    data = sitr.protect(
        ROWS,
        unit=sitr.Row(),
        bounds={"half": (1, 2), "size": (0, 400)},
        keys={"district": ["Irbid", "Aqaba"], "region": ["North", "South", "East"]},
        name="visits",
    )
    return data.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "ledger.db")


@pytest.mark.parametrize(
    ("derived", "message"),
    [
        ({"month": day.dt.year()}, "has values that do not fit its type, int8"),
        ({"month": size * 1}, "has values that do not fit its type, int8"),  # 400 is possible, though not in the rows
        ({"half": day.dt.quarter()}, "can give 3, which is beyond its bounds"),
        (
            {"region": {"district": {"Irbid": "North", "Aqaba": "West"}}},
            "can give 'West', which is not one of its",
        ),
        ({"month": day.dt.month(), "half": sitr.column("month") // 1}, "can give 3, which is beyond its bounds"),
    ],
)
def test_what_does_not_fit(
    budget: Budget, monkeypatch: pytest.MonkeyPatch, derived: dict[str, Any], message: str
) -> None:
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("the data were read"))
    with pytest.raises(DescriptionError, match=message):
        budget.synthesize(columns=["day", "district", "size"], bounds=YEAR, derived=derived).release(PRICE)
    assert budget.entries() == []


def test_what_fits(budget: Budget) -> None:
    derived: dict[str, Any] = {"month": day.dt.month(), "half": (day.dt.month() - 1) // 6 + 1, "region": REGIONS}
    made = budget.synthesize(columns=["day", "district", "size"], bounds=YEAR, derived=derived).release(PRICE)
    rows = made.draw(500).to_pylist()
    assert {row["half"] for row in rows} <= {None, 1, 2}
    assert all(row["day"] is None or row["half"] == (1 if row["day"].month <= 6 else 2) for row in rows)
    assert all(row["region"] == REGIONS["district"].get(row["district"]) for row in rows)
