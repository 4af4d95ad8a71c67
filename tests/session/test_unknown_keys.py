"""Unknown keys of every type, in every view of an answer."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import sitr
from sitr.session.budget import Budget

ROWS = range(900)
NOON = datetime(2024, 1, 1, 12)  # noqa: DTZ001


def _group(row: int) -> int:
    """Three large groups, and small ones."""
    return row % 3 if row % 60 else 100 + row


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> Budget:
    table = pa.table(
        {
            "id": [row % 300 for row in ROWS],
            "whole": [_group(row) if row % 7 else None for row in ROWS],
            "word": [("" if _group(row) == 0 else f"k{_group(row)}") if row % 7 else None for row in ROWS],
            "truth": [None if row % 50 == 0 else row % 2 == 0 for row in ROWS],
            "day": [date(2024, 1, 1) + timedelta(days=_group(row)) for row in ROWS],
            "time": [NOON + timedelta(hours=_group(row)) for row in ROWS],
            "year": [2020 + row % 2 for row in ROWS],
            "cost": [float(row % 70) for row in ROWS],
        }
    )
    visits = sitr.protect(
        table,
        name="visits",
        unit="id",
        max_groups=2,
        max_rows_per_group=2,
        bounds={"cost": (0, 50), "year": (2020, 2021)},
    )
    return visits.budget("zcdp(1000, 0.5)", ledger=tmp_path_factory.mktemp("unknown") / "ledger.db")


@pytest.mark.parametrize(
    ("keys", "first", "rows"),
    [
        ("whole", (0,), 5),
        ("word", ("",), 5),
        ("day", (date(2024, 1, 1),), 4),
        ("time", (NOON,), 4),
        ("time, truth, year", (NOON, False, 2020), 36),
    ],
)
def test_every_type_is_shown_kept_and_certified(budget: Budget, tmp_path: Path, keys, first, rows) -> None:
    """Three large groups, NULL where it is one, and other keys; years and truth values are public, NULL included."""
    sql = f"SELECT {keys}, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY {keys}"
    request = budget.sql(sql, other=True)
    answer = request.release("zcdp(2, 1e-6)")
    assert answer.released.rows[0] == first
    assert answer.table.num_rows == rows
    again = request.release("zcdp(2, 1e-6)")
    assert again.receipt.again
    assert again.table.equals(answer.table)
    assert answer.intervals(simultaneous=True).num_rows == rows
    answer.certificate(tmp_path / "page.html")
    assert len(answer.to_dict()["rows"]) == rows
    cut = budget.sql(f"{sql} HAVING n > 5 ORDER BY mean DESC, {keys} LIMIT 2").release("zcdp(2, 1e-6)")
    assert cut.table.num_rows == 2


def test_truth_values_are_public(budget: Budget) -> None:
    request = budget.sql("SELECT truth, COUNT(*) AS n FROM visits GROUP BY truth")
    assert request.release("zcdp(0.5)").table.column("truth").to_pylist() == [False, True, None]


def test_keys_alone_are_explained_at_every_price(budget: Budget) -> None:
    """The answer has no number: its JSON and its sentences are about the keys."""
    for price in (sitr.ApproximateDP(0.5, 1e-8), sitr.ApproximateZeroConcentratedDP(0.1, 1e-8)):
        shown = budget.sql("SELECT word FROM visits GROUP BY word").preview(price)
        checks = shown.to_dict()["words"]["checks"]
        assert [line.partition(":")[0] for line in checks] == ["keys", "together"]
        assert "within the price" in checks[-1]
