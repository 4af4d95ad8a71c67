"""Tables that add up and several groupings, on every engine: DuckDB, PostgreSQL and Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.backends.spark import sent
from sitr.session.dataset import Dataset
from tests import postgres, spark

WARDS, SEXES = ["a", "b", "c"], ["f", "m"]
ROWS = pa.table(
    {
        "pid": list(range(240)),
        "ward": ["aabbbc"[n % 6] for n in range(240)],
        "sex": ["fmm"[n % 3] if n % 7 else None for n in range(240)],
        "cost": [float(n % 11) for n in range(240)],
    }
)
SAID: dict[str, Any] = {
    "unit": "pid", "max_groups": 1, "max_rows_per_group": 1, "bounds": {"cost": (0, 10)}, "granularity": {"cost": 1},
    "keys": {"ward": WARDS, "sex": SEXES},
}  # fmt: skip


def in_memory() -> Dataset:
    return sitr.protect(ROWS, name="visits", **SAID)


def in_postgres() -> Dataset:
    postgres.load(ROWS, "tables_visits")
    return sitr.protect(postgres.server().url(), table="tables_visits", name="visits", **SAID)


def on_spark() -> Dataset:
    return sitr.protect(sent(spark.session(), ROWS), name="visits", **SAID)


ENGINES = [in_memory, in_postgres, on_spark]
SAMPLE = [in_memory, in_postgres, pytest.param(on_spark, marks=pytest.mark.slow)]


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))


def exact(value: str) -> Counter[tuple[str | None, str | None]]:
    """Counts, or sums of cost, of every cell of the cube of ward and sex; None stands for all values."""
    found: Counter[tuple[str | None, str | None]] = Counter()
    for row in ROWS.to_pylist():
        if row["sex"] is not None:
            for cell in product((row["ward"], None), (row["sex"], None)):
                found[cell] += 1 if value == "n" else int(row["cost"])
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_groupings_count_the_rows_of_every_engine(engine: Callable[[], Dataset], tmp_path: Path) -> None:
    budget = engine().budget(rho=1e7, ledger=tmp_path / "sitr.db")
    answer = budget.ask(
        "SELECT ward, sex, GROUPING(sex) AS every, COUNT(*) AS n, SUM(cost) AS s FROM visits "
        "WHERE sex IS NOT NULL GROUP BY CUBE (ward, sex)",
        "zcdp(1000000)",
    )
    shown = answer.table.to_pylist()
    assert len(shown) == 3 * 2 + 3 + 2 + 1
    for name in ("n", "s"):
        wanted = exact(name)
        got = {(row["ward"], row["sex"]): row[name] for row in shown}
        assert got == pytest.approx({cell: wanted[cell] for cell in got}, abs=0.2)
    assert all((row["sex"] is None) == bool(row["every"]) for row in shown)


@pytest.mark.parametrize("engine", SAMPLE)
def test_publications_count_the_rows_of_every_engine(engine: Callable[[], Dataset], tmp_path: Path) -> None:
    budget = engine().budget(rho=1e7, ledger=tmp_path / "sitr.db")
    asked = budget.tables([["ward", "sex"]], where="sex IS NOT NULL", whole=True)
    answer = asked.release("zcdp(1000000)")
    cells = answer.tables["ward × sex"].to_pylist()
    wanted = exact("n")
    assert {(row["ward"], row["sex"]): row["count"] for row in cells} == {
        (ward, sex): wanted[ward, sex] for ward in WARDS for sex in SEXES
    }
