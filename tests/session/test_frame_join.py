"""Joins in Python calls make the same questions as SQL does, and answer them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import QuestionError, SitrError
from sitr.session.budget import Budget
from sitr.session.selection import Selection

column = sitr.column


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    rows = {
        "pid": [n % 40 for n in range(400)],
        "ward": ["ABC"[n % 3] for n in range(400)],
        "days": [n % 9 for n in range(400)],
    }
    wards = pa.table({"ward": ["A", "B", "D"], "name": ["A", "B", "D"], "floor": [1, 2, 1]})
    data = sitr.protect(
        pa.table(rows),
        name="visits",
        unit="pid",
        max_groups=3,
        max_rows_per_group=10,
        keys={"ward": ["A", "B", "C"]},
        bounds={"days": (0, 8)},
        public={"wards": wards},
    )
    return data.budget(epsilon=1e6, ledger=tmp_path / "visits.db")


CASES: dict[str, tuple[str, Any]] = {
    "inner": (
        "SELECT floor, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY floor",
        lambda b: b.join("wards", on="ward").group_by("floor"),
    ),
    "left": (
        "SELECT floor, COUNT(*) AS n FROM visits LEFT JOIN wards USING (ward) WHERE days > 2 GROUP BY floor",
        lambda b: b.where(column("days") > 2).join("wards", on="ward", how="left").group_by("floor"),
    ),
    "other names": (
        "SELECT floor, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.name GROUP BY floor",
        lambda b: b.join("wards", left_on="ward", right_on="name").group_by("floor"),
    ),
    "semi": (
        "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT name FROM wards)",
        lambda b: b.join("wards", left_on="ward", right_on="name", how="semi"),
    ),
    "anti": (
        "SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN (SELECT ward FROM wards) AND days > 2",
        lambda b: b.join("wards", on="ward", how="anti").where(column("days") > 2),
    ),
    "people": (
        "SELECT ward, COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits WHERE days = 8) GROUP BY ward",
        lambda b: b.join(b.where(column("days") == 8), on="pid", how="semi").group_by("ward"),
    ),
    "other people": (
        "SELECT ward, COUNT(*) AS n FROM visits WHERE pid NOT IN (SELECT pid FROM visits WHERE days = 8) GROUP BY ward",
        lambda b: b.join(b.where(column("days") == 8), on="pid", how="anti").group_by("ward"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls_and_sql_are_the_same_question(name: str, budget: Budget) -> None:
    sql, call = CASES[name]
    asked, called = budget.sql(sql), call(budget).agg(n=sitr.count())
    assert asked == called
    price = sitr.PureDP(1e4)
    assert called.release(price).table == asked.release(price).table  # the second is kept


def test_the_counts_are_those_of_the_rows(budget: Budget) -> None:
    found = budget.join("wards", on="ward", how="anti").agg(n=sitr.count()).release(epsilon=1e4)
    assert found.table["n"].to_pylist() == [133]  # ward C


def test_joined_rows_are_shown_in_words(budget: Budget) -> None:
    assert "LEFT JOIN wards" in repr(budget.join("wards", on="ward", how="left"))


@pytest.mark.parametrize(
    ("join", "message"),
    [
        (lambda b: b.join("wards"), "on, or else left_on and right_on"),
        (lambda b: b.join("wards", on="ward", left_on="ward"), "got both"),
        (lambda b: b.join("wards", left_on="ward"), "as many columns"),
        (lambda b: b.join("wards", on=3), "names of columns"),
        (lambda b: b.join("wards", on=[3]), "names of columns"),
        (lambda b: b.join("wards", on="ward", how="cross"), "inner, left, semi, anti"),
        (lambda b: b.join("wards", on=["ward", "floor"], how="semi"), "one column to match by"),
        (lambda b: b.join(3, on="ward"), "a public table or rows of this budget"),
        (lambda b: b.join(b.group_by("ward"), on="pid", how="semi"), "have groups"),
        (lambda b: b.join(b.where(column("days") > 3), on="pid"), "cannot be joined with how='inner'"),
        (lambda b: b.join("wards", on="ward").histogram("days"), "joined rows"),
    ],
)
def test_mistakes_are_refused_when_they_are_written(join: Any, message: str, budget: Budget) -> None:
    with pytest.raises(QuestionError, match=message):
        join(budget)


def test_rows_may_not_be_chosen_by_rows_of_others(budget: Budget) -> None:
    chosen: Selection = budget.join(budget.where(column("days") == 8), on="ward", how="semi")
    with pytest.raises(QuestionError, match="may only list people"):
        chosen.agg(n=sitr.count())
    with pytest.raises(SitrError, match="staff"):
        budget.join("staff", on="ward").agg(n=sitr.count())
