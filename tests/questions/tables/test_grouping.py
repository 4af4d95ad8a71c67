"""CUBE, ROLLUP and GROUPING SETS: the rows of a database, with noise, that add up."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.errors import SitrError
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import TestCoins
from sitr.session.budget import Budget

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

ROWS = 900
COLUMNS = "COUNT(*) AS n, SUM(cost) AS total, AVG(cost) AS mean"


@pytest.fixture
def visits() -> pa.Table:
    random = np.random.default_rng(7)
    return pa.table(
        {
            "ward": [["a", "b", "c"][place] for place in random.integers(0, 3, ROWS)],
            "urgent": pa.array([[True, False, None][place] for place in random.integers(0, 3, ROWS)]),
            "days": random.integers(0, 4, ROWS),
            "cost": random.integers(0, 200, ROWS) / 2,
        }
    )


@pytest.fixture
def budget(visits: pa.Table, tmp_path: Path) -> Budget:
    data = sitr.protect(
        visits,
        unit=sitr.Row(),
        name="visits",
        bounds={"cost": (0, 100), "days": (0, 3)},
        granularity={"cost": 0.5},
        keys={"ward": ["a", "b", "c"]},
    )
    return data.budget("zcdp(1e18)", ledger=tmp_path / "sitr.db")


@pytest.mark.parametrize(
    ("keys", "group"),
    [
        (("ward", "urgent"), "CUBE (ward, urgent)"),
        (("ward", "days", "urgent"), "ward, ROLLUP (days, urgent)"),
        (("ward", "days"), "GROUPING SETS ((ward), (days), ())"),
    ],
)
def test_rows_are_those_of_a_database(budget: Budget, visits: pa.Table, keys: tuple[str, ...], group: str) -> None:
    """At an enormous price, numbers are exact; NULL as a key and NULL for all values have different marks."""
    assert len(visits) == ROWS  # the database reads this variable
    marks = f"GROUPING({', '.join(keys)}) AS g"
    sql = f"SELECT {', '.join(keys)}, {marks}, {COLUMNS} FROM visits WHERE days < 3 GROUP BY {group}"
    found = budget.sql(sql).release(ZeroConcentratedDP(1e15)).table.to_pylist()
    true = duckdb.execute(sql).fetchall()
    exact = {row[: len(keys) + 1]: row[len(keys) + 1 :] for row in true}
    named = {tuple(row[name] for name in (*keys, "g")): row for row in found}
    assert len(named) == len(found)
    assert exact.keys() <= named.keys()
    for key, row in named.items():
        n, total, mean = exact.get(key, (0, 0, None))
        assert row["n"] == pytest.approx(n, abs=1e-3)
        assert row["total"] == pytest.approx(total, abs=1e-1)
        if mean is not None:
            assert row["mean"] == pytest.approx(mean, abs=1e-3)


def test_coarser_rows_are_sums_of_finer_ones_exactly(budget: Budget) -> None:
    sql = f"SELECT ward, days, GROUPING(ward, days) AS g, {COLUMNS} FROM visits GROUP BY CUBE (ward, days)"
    rows = budget.sql(sql).release(ZeroConcentratedDP(0.1)).table.to_pylist()
    for name in ("n", "total"):
        of = {(row["ward"], row["days"], row["g"]): Fraction(repr(row[name])) for row in rows}
        days = [0, 1, 2, 3, None]
        for ward in ("a", "b", "c"):
            assert of[ward, None, 1] == sum(of[ward, day, 0] for day in days)
        for day in days:
            assert of[None, day, 2] == sum(of[ward, day, 0] for ward in ("a", "b", "c"))
        assert of[None, None, 3] == sum(of[ward, None, 1] for ward in ("a", "b", "c"))


def test_numbers_of_a_question_are_not_those_of_rounded_tables(budget: Budget) -> None:
    plan = budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)").preview("zcdp(0.1)").plan
    assert plan.alike() == ()


def test_having_order_and_limit_act_on_released_rows(budget: Budget) -> None:
    sql = "SELECT ward, GROUPING(ward) AS g, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)"
    price = ZeroConcentratedDP(1000.0)
    rows = budget.sql(f"{sql} HAVING n < 600 ORDER BY n DESC LIMIT 2").release(price).table.to_pylist()
    assert [row["g"] for row in rows] == [0, 0]
    assert rows[0]["n"] > rows[1]["n"]
    marked = budget.sql(f"{sql} ORDER BY GROUPING(ward) DESC, ward").release(price).table.to_pylist()
    assert [row["ward"] for row in marked] == [None, "a", "b", "c"]
    called = budget.sql(sql).having(sitr.column("g") == 1).release(price).table.to_pylist()
    assert len(called) == 1


def test_intervals_hold_together_where_noise_selects(budget: Budget) -> None:
    """Of the largest of twelve noisy numbers, too: 95% intervals by themselves would miss far more often."""
    sql = "SELECT ward, days, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward, days))"
    question: Any = budget.sql(f"{sql} ORDER BY n DESC LIMIT 1").question
    plan = question.plan(ZeroConcentratedDP(0.001))
    assert plan.by_noise
    exact = budget._at.backend.read(question.reading(), salt=1)
    codes, counts = np.unique(exact[:, 0] * 4 + exact[:, 1], return_counts=True)
    true = dict(zip(codes.tolist(), counts.tolist(), strict=True))
    coins, misses, alone = TestCoins(3), 0, 0
    for _ in range(150):
        made = question.answer(plan, exact, coins=coins)
        (row,) = made.intervals().to_pylist()
        number = true["abc".index(row["ward"]) * 4 + row["days"]]
        misses += not row["n_low"] <= number <= row["n_high"]
        far = plan.error(plan.measures[0], ((0, 1), (1, 1)))
        alone += not row["n"] - far <= number <= row["n"] + far
    assert misses <= 15
    assert alone > 30


def test_what_does_not_fit_is_refused(budget: Budget) -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY CUBE (ward)"
    asked = budget.sql(sql)
    for wrong in (
        lambda: asked.weights({"n": 1}),
        lambda: asked.targets({"n": 1}),
        asked.explain,
        lambda: budget.sql(sql, caps="auto"),
        lambda: budget.sql(sql, other=True),
        lambda: budget.sql(sql, weights={"n": 2}),
        lambda: budget.batch([asked]),
        lambda: budget.suggest(sql),
    ):
        with pytest.raises(SitrError, match="CUBE"):
            wrong()
    assert budget.entries() == []
