"""HAVING, ORDER BY, LIMIT: they act on released values, cost nothing, and intervals hold together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import sitr
from sitr.errors import ForbiddenConstruct, QuestionError, SitrError
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.after import matches
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.sql import parse_condition
from sitr.session.budget import Budget

WARDS = ["a", "b", "c", "d"]
PRICE = sitr.PureDP(10**6)


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    wards = [ward for ward, many in zip(WARDS, (10, 40, 30, 20), strict=True) for _ in range(many)]
    table = pa.table({"ward": wards, "days": [n % 7 for n in range(100)]})
    data = sitr.protect(table, name="visits", unit=sitr.Row(), bounds={"days": (0, 6)}, keys={"ward": [*WARDS, None]})
    return data.budget(sitr.PureDP(10**9), ledger=tmp_path / "ledger.db")


@pytest.mark.parametrize(
    ("after", "wards"),
    [
        ("ORDER BY n DESC", ["b", "c", "d", "a", None]),
        ("ORDER BY 2 DESC LIMIT 2", ["b", "c"]),
        ("ORDER BY COUNT(*) LIMIT 2 OFFSET 1", ["a", "d"]),
        ("ORDER BY ward DESC", ["d", "c", "b", "a", None]),
        ("ORDER BY ward DESC NULLS FIRST", [None, "d", "c", "b", "a"]),
        ("ORDER BY 1 FETCH FIRST 3 ROWS ONLY", ["a", "b", "c"]),
        ("ORDER BY n > 25, ward DESC", ["d", "a", None, "c", "b"]),
        ("HAVING n >= 20", ["b", "c", "d"]),
        ("HAVING COUNT(*) BETWEEN 15 AND 35", ["c", "d"]),
        ("HAVING SUM(days) > 100", ["b"]),
        ("HAVING ward IN ('a', 'b') AND NOT n = 40", ["a"]),
        ("HAVING ward LIKE '_' AND n * 2 > 50 ORDER BY -n", ["b", "c"]),
        ("HAVING ward IS NULL", [None]),
        ("HAVING ward <> 'a' ORDER BY AVG(days) LIMIT 0", []),
        ("HAVING 100.0 * n / 100 > 25 OR visits.ward = 'a'", ["a", "b", "c"]),
        ("LIMIT 2", ["a", "b"]),
    ],
)
def test_rows_are_selected_sorted_and_cut(budget: Budget, after: str, wards: list[str | None]) -> None:
    request = budget.sql(f"SELECT DISTINCT ward, COUNT(*) AS n FROM visits GROUP BY ward {after}")
    assert budget.sql(request.question.text()).question == request.question
    answer = request.release(PRICE, coins=TestCoins(1))
    assert answer.table["ward"].to_pylist() == wards
    assert answer.table.column_names == ["ward", "n"]
    assert isinstance(answer.released, Release)
    assert len(answer.released.keys) == 5


def test_calls_and_sql_are_the_same_question(budget: Budget) -> None:
    sql = (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 5 AND AVG(days) < 4 "
        "ORDER BY n DESC, ward LIMIT 3 OFFSET 1"
    )
    called = (
        budget.group_by("ward")
        .agg(n=sitr.count())
        .having(sitr.column("n") > 5)
        .having(sitr.mean("days") < 4)
        .sort(sitr.count(), "ward", descending=[True, False])
        .limit(3, offset=1)
    )
    assert called.question == budget.sql(sql).question
    head = budget.group_by("ward").agg(n=sitr.count()).sort("n").head(2)
    assert head.question.text().endswith("ORDER BY n LIMIT 2")
    with pytest.raises(QuestionError, match="descending"):
        called.sort("n", descending=[True, False])
    with pytest.raises(QuestionError, match="rows"):
        called.limit(-1)


def test_an_aggregate_that_is_not_selected_is_measured_and_paid(budget: Budget) -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY SUM(days)"
    plan = budget.sql(sql, bias="off").question.plan(PRICE)
    assert isinstance(plan, AggregatePlan)
    assert [each.name for each in plan.measurements] == ["COUNT(*)", "SUM(days)"]
    assert [column.name for column in plan.columns] == ["n"]
    plan.check()
    free = budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1").question.plan(
        PRICE
    )
    assert [each.name for each in free.measurements] == ["COUNT(*)"]


@pytest.mark.parametrize(
    ("after", "error", "match"),
    [
        ("HAVING foo > 3", SitrError, "foo"),
        ("HAVING days > 3", SitrError, "see only keys, columns and aggregates"),
        ("HAVING n > 'x'", SitrError, "cannot be compared"),
        ("HAVING n", SitrError, "HAVING needs a condition"),
        ("HAVING SUBSTR(ward, 1, 1) = 'a'", QuestionError, "HAVING cannot use SUBSTR"),
        ("ORDER BY 3", QuestionError, "names no column"),
        ("LIMIT 10%", ForbiddenConstruct, "LIMIT"),
        ("LIMIT n", ForbiddenConstruct, "LIMIT"),
        ("QUALIFY n > 3", ForbiddenConstruct, "QUALIFY"),
    ],
)
def test_mistakes_are_refused_before_the_charge(budget: Budget, after: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        budget.sql(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward {after}")


def test_a_condition_is_a_condition_only() -> None:
    with pytest.raises(QuestionError, match="another part"):
        parse_condition("days > 3 ORDER BY n")


@pytest.mark.parametrize(
    ("text", "pattern", "like"),
    [
        ("", "", True),
        ("abc", "a%c", True),
        ("abc", "%b", False),
        ("a%b", "a_b", True),
        ("aaaa" * 500, "%a" * 300 + "b", False),
    ],
)
def test_like_of_released_keys(text: str, pattern: str, like: bool) -> None:
    assert matches(text, pattern) is like


def planned(budget: Budget, after: str, price: sitr.PureDP) -> AggregatePlan:
    plan = budget.sql(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward {after}").question.plan(price)
    assert isinstance(plan, AggregatePlan)
    return plan


def failures(plan: AggregatePlan, releases: int, *, simultaneous: bool = False) -> int:
    """How many answers have at least one interval that misses. All cells are equal, so noise alone selects."""
    question, coins, wrong = AggregateQuestion(plan.query), TestCoins(9), 0
    exact: Cells = {(ward,): (50, 50) for ward in (*WARDS, None)}
    (column,) = plan.columns
    for _ in range(releases):
        release = question.answer(plan, exact, coins=coins)
        shown = release.estimates(column, simultaneous=simultaneous)
        wrong += any(not one.low <= 50 <= one.high for one in shown)
    return wrong


@pytest.mark.sampled(1)
@pytest.mark.parametrize("after", ["ORDER BY n DESC LIMIT 1", "HAVING n > 60", "ORDER BY n", "HAVING n < 45 LIMIT 1"])
def test_intervals_of_selected_rows_hold_together(budget: Budget, after: str) -> None:
    """In 800 answers each; the twin, which takes each row alone, misses too often."""
    plan = planned(budget, after, sitr.PureDP(0.1))
    assert binom.sf(failures(plan, 800) - 1, 800, 0.05) > 1e-7
    alone = replace(plan, query=replace(plan.query, after=replace(plan.query.after, by_noise=False)))
    assert failures(alone, 800) > failures(plan, 800)
    if "LIMIT 1" not in after or "DESC" in after:
        assert binom.sf(failures(alone, 800) - 1, 800, 0.05) < 1e-7


@pytest.mark.parametrize("answers", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_simultaneous_intervals_hold_together_in_many_answers(budget: Budget, answers: int) -> None:
    plan = planned(budget, "", sitr.PureDP(0.1))
    assert binom.sf(failures(plan, answers, simultaneous=True) - 1, answers, 0.05) > 1e-7
    assert binom.sf(failures(plan, 800) - 1, 800, 0.05) < 1e-7


def test_keys_and_positions_select_without_noise(budget: Budget) -> None:
    for after, by_noise in (
        ("LIMIT 2", False),
        ("ORDER BY ward LIMIT 2", False),
        ("HAVING ward = 'a'", False),
        ("ORDER BY n", True),
        ("HAVING n > 3", True),
        ("ORDER BY SUM(days)", True),
    ):
        assert planned(budget, after, PRICE).query.after.by_noise is by_noise


def test_unknown_keys_count_as_they_are_released(tmp_path: Path) -> None:
    """Their number is known after the release, and each interval gets a share of it."""
    rows = [f"w{n % 6}" for n in range(6_000)]
    table = pa.table({"ward": rows, "id": np.arange(6_000)})
    data = sitr.protect(table, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = data.budget(sitr.ApproximateDP(100.0, 1e-3), ledger=tmp_path / "ledger.db")
    request = budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 2")
    answer = request.release(sitr.ApproximateDP(1.0, 1e-6), coins=TestCoins(4))
    assert (len(answer), len(answer.released.keys)) == (2, 6)
    (column,) = answer.released.plan.columns
    (one, _) = answer.released.estimates(column)
    keys: Any = column.measured[0].measurement.mechanism  # it shows the numbers, which are far above the threshold
    assert (
        one.error == keys.noise.width(confidence=1 - Fraction(5, 600)) < column.measured[0].width(1 - Fraction(5, 600))
    )
    assert answer.to_dict()["selection"] == {"cells": 6}
    assert "all 6 cells" in str(answer)


def test_nothing_left_is_said(budget: Budget, tmp_path: Path) -> None:
    answer = budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 1000").release(PRICE)
    assert len(answer) == 0
    assert "left none of the 5 measured rows" in str(answer)
    assert answer.plot(tmp_path / "chart.svg").read_text().startswith("<svg")


def test_a_kept_answer_shows_the_same_rows(budget: Budget) -> None:
    request = budget.sql("SELECT ward, AVG(days) AS m FROM visits GROUP BY ward ORDER BY m DESC LIMIT 2")
    first = request.release(sitr.PureDP(1))
    second = request.release(sitr.PureDP(1))
    assert len(budget.entries()) == 1
    assert first.intervals() == second.intervals()
