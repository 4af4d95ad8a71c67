"""Means, variances, correlations, filters and arithmetic, asked of real rows."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.errors import ForbiddenConstruct, QuestionError, SitrError
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.session.aggregate import AggregateRequest
from sitr.session.budget import Budget

WARDS = ["a", "b", "c"]
PRICE = sitr.PureDP(10**6)
"""So much that there is no noise."""


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    rows = range(600)
    cost = [None if row % 10 == 0 else math.nan if row % 10 == 1 else float(row * 7 % 120 - 10) for row in rows]
    days = [None if row % 7 == 0 else row % 13 for row in rows]
    table = pa.table(
        {
            "ward": [WARDS[row % 3] for row in rows],
            "cost": pa.array(cost, pa.float64()),
            "days": pa.array(days, pa.int64()),
            "ok": pa.array([row % 4 == 0 for row in rows]),
        }
    )
    bounds = {"cost": (0, 90), "days": (0, 10)}
    data = sitr.protect(
        table, name="visits", unit=sitr.Row(), bounds=bounds, granularity={"cost": 0.5}, keys={"ward": WARDS}
    )
    return data.budget(sitr.PureDP(10**9), ledger=tmp_path / "ledger.db")


def exact(ward: str | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bounded costs and days of a ward, NaN where there is none; and whether it is ok."""
    rows = [row for row in range(600) if ward is None or WARDS[row % 3] == ward]
    cost = np.array([np.nan if row % 10 < 2 else min(max(row * 7 % 120 - 10, 0), 90) for row in rows], float)
    days = np.array([np.nan if row % 7 == 0 else min(row % 13, 10) for row in rows], float)
    return cost, days, np.array([row % 4 == 0 for row in rows])


def answered(request: AggregateRequest) -> list[dict[str, float]]:
    return list(request.release(PRICE, coins=TestCoins(1)))


def test_every_function_is_what_numpy_computes(budget: Budget) -> None:
    """NULL and NaN count for none of them, in sums and counts alike."""
    sql = (
        "SELECT ward, AVG(cost) AS m, VAR_SAMP(cost) AS v, VAR_POP(cost) AS vp, STDDEV(cost) AS s, "
        "STDDEV_POP(cost) AS sp, "
        "COVAR_SAMP(cost, days) AS c, COVAR_POP(cost, days) AS cp, CORR(cost, days) AS r, COUNT_IF(ok) AS k, "
        "COUNT(cost) AS n, MEAN(days * 2) AS d FROM visits GROUP BY ward"
    )
    for row in answered(budget.sql(sql)):
        cost, days, ok = exact(str(row["ward"]))
        both = ~np.isnan(cost) & ~np.isnan(days)
        pairs = np.cov(cost[both], days[both])
        assert row["n"] == (~np.isnan(cost)).sum()
        assert row["k"] == ok.sum()
        assert row["m"] == pytest.approx(np.nanmean(cost))
        assert row["d"] == pytest.approx(np.nanmean(days) * 2)
        assert row["v"] == pytest.approx(np.nanvar(cost, ddof=1))
        assert row["vp"] == pytest.approx(np.nanvar(cost))
        assert row["s"] == pytest.approx(np.nanstd(cost, ddof=1))
        assert row["sp"] == pytest.approx(np.nanstd(cost))
        assert row["c"] == pytest.approx(pairs[0, 1])
        assert row["cp"] == pytest.approx(pairs[0, 1] * (both.sum() - 1) / both.sum())
        assert row["r"] == pytest.approx(np.corrcoef(cost[both], days[both])[0, 1])


@pytest.mark.parametrize(
    ("sql", "call"),
    [
        ("AVG(cost)", lambda: sitr.mean("cost")),
        ("VARIANCE(cost)", lambda: sitr.variance("cost")),
        ("VAR_POP(cost)", lambda: sitr.variance("cost", population=True)),
        ("STDDEV(cost)", lambda: sitr.standard_deviation("cost")),
        ("STDDEV_POP(cost)", lambda: sitr.standard_deviation("cost", population=True)),
        ("COVAR_SAMP(cost, days)", lambda: sitr.covariance("cost", "days")),
        ("COVAR_POP(cost, days)", lambda: sitr.covariance("cost", "days", population=True)),
        ("CORR(cost, days)", lambda: sitr.correlation("cost", "days")),
        ("COUNTIF(days > 3)", lambda: sitr.count_if(sitr.column("days") > 3)),
        ("COUNT(*) FILTER (WHERE days > 3)", lambda: sitr.count().filter(sitr.column("days") > 3)),
        ("SUM(cost) / COUNT(*)", lambda: sitr.sum("cost") / sitr.count()),
        ("100 * COUNT_IF(ok) / COUNT(*)", lambda: 100 * sitr.count_if("ok") / sitr.count()),
        ("ROUND(AVG(cost), 2)", lambda: sitr.mean("cost").round(2)),
        ("ABS(1 - AVG(cost))", (1 - sitr.mean("cost")).abs),
        ("-SUM(cost) + 2 - COUNT(*)", lambda: -sitr.sum("cost") + 2 - sitr.count()),
    ],
)
def test_sql_and_calls_are_the_same_question(budget: Budget, sql: str, call: object) -> None:
    asked = budget.sql(f"SELECT {sql} AS x FROM visits")
    assert budget.agg(x=call()).question == asked.question  # type: ignore[operator]
    assert budget.sql(asked.question.text()).question == asked.question


def test_measurements_are_shared(budget: Budget) -> None:
    plan = budget.sql(
        "SELECT AVG(cost) AS m, COUNT(cost) AS n, VAR(cost) AS v, STDDEV(cost) AS s FROM visits", bias="off"
    ).question
    square = "(CLAMP(cost, 0, 90) - 45) * (CLAMP(cost, 0, 90) - 45)"
    fitted = plan.plan(sitr.PureDP(1))
    assert isinstance(fitted, AggregatePlan)
    assert [each.name for each in fitted.measurements] == ["SUM(cost - 45)", "COUNT(cost)", f"SUM({square})"]
    assert [noisy.distance.largest * noisy.granularity for noisy in fitted.noisy] == [45, 1, 2025]
    fitted.check()


def test_the_number_of_rows_serves_only_where_no_value_can_be_missing(budget: Budget) -> None:
    names = [
        [
            each.name
            for each in budget.sql(f"SELECT AVG({of}) AS m, COUNT(*) AS n FROM visits", bias="off")
            .question.plan(PRICE)
            .measurements
        ]
        for of in ("cost", "COALESCE(cost, 0)")
    ]
    assert names == [["SUM(cost - 45)", "COUNT(cost)", "COUNT(*)"], ["SUM(COALESCE(cost, 0) - 45)", "COUNT(*)"]]


def test_filters_leave_rows_out(budget: Budget) -> None:
    sql = (
        "SELECT COUNT(*) FILTER (WHERE days > 3) AS n, AVG(cost) FILTER (WHERE ok) AS m, COUNT_IF(days > 3) AS k, "
        "SUM(days) FILTER (WHERE ok AND days < 5) AS s FROM visits"
    )
    cost, days, ok = exact()
    (row,) = answered(budget.sql(sql))
    raw = np.array([np.nan if n % 7 == 0 else n % 13 for n in range(600)])
    assert row["n"] == row["k"] == (raw > 3).sum()
    assert row["m"] == pytest.approx(np.nanmean(cost[ok]))
    assert row["s"] == np.nansum(days[ok & (raw < 5)])


def test_arithmetic_over_aggregates(budget: Budget) -> None:
    sql = (
        "SELECT SUM(cost) / COUNT(*) AS q, 100.0 * COUNT_IF(ok) / COUNT(*) AS p, COUNT(*) * 2 - 1 AS k, "
        "COALESCE(SUM(cost) / NULLIF(COUNT_IF(days > 100), 0), -1) AS none, GREATEST(AVG(cost), 1000) AS g, "
        "AVG(cost) - AVG(days) AS d, SQRT(COUNT(*)) AS r FROM visits"
    )
    cost, days, ok = exact()
    answer = budget.sql(sql).release(PRICE, coins=TestCoins(1))
    (row,) = answer.table.to_pylist()
    assert row["q"] == pytest.approx(np.nansum(cost) / 600)
    assert row["p"] == pytest.approx(100 * ok.mean())
    assert row["k"] == 1199
    assert answer.table.schema.field("k").type == pa.int64()
    assert row["g"] == 1000
    assert row["d"] == pytest.approx(np.nanmean(cost) - np.nanmean(days))
    assert row["r"] == pytest.approx(math.sqrt(600))


def test_a_quotient_by_what_may_be_0_is_unbounded_and_said_to_be(budget: Budget, tmp_path: Path) -> None:
    answer = budget.sql(
        "SELECT SUM(cost) / SUM(days - 5) AS q, COUNT(*) / (SUM(days) - SUM(days)) AS z FROM visits"
    ).release(sitr.PureDP(0.001), coins=TestCoins(5))
    (row,) = answer.intervals().to_pylist()
    assert (row["q_low"], row["q_high"]) == (-math.inf, math.inf)
    assert row["z"] is None
    shown = json.loads(json.dumps(answer.to_dict()))
    assert shown["columns"][0]["error"] is None
    assert shown["rows"][0]["values"][0]["low"] is None
    assert "± ∞" in str(answer)
    assert "(no value)" in str(answer)
    assert answer.plot(tmp_path / "chart.svg").read_text().startswith("<svg")
    assert answer.plot(tmp_path / "arabic.svg", lang="ar").read_text().startswith("<svg")


def test_a_preview_says_for_how_many_rows(budget: Budget) -> None:
    preview = budget.sql("SELECT AVG(cost) AS m, SUM(cost) AS t, SUM(cost) / SUM(days) AS q FROM visits").preview(
        sitr.PureDP(1)
    )
    worst, some, many = preview.errors(), preview.errors(rows=1_000), preview.errors(rows=10_000)
    assert (worst["m"], worst["q"]) == (90, math.inf)
    assert some["m"] == pytest.approx(10 * many["m"])
    assert worst["t"] == some["t"]
    assert "at 1,000 rows" in str(preview)
    assert "depends on the data" in str(preview)
    columns = preview.to_dict()["columns"]
    assert columns[0]["error_at"] == {"rows": 1_000, "error": some["m"]}
    assert (columns[0]["error"], columns[1]["error_at"], columns[2]["error"]) == (90, None, None)
    with pytest.raises(QuestionError, match="whole number of rows"):
        preview.errors(rows=0)


@pytest.mark.parametrize(
    ("sql", "error", "match"),
    [
        ("SELECT AVG(DISTINCT cost) FROM visits", ForbiddenConstruct, r"AVG other than AVG\(column\)"),
        ("SELECT AVG(ward) FROM visits", SitrError, "AVG needs a column of numbers"),
        ("SELECT COUNT_IF(cost) FROM visits", SitrError, "COUNT_IF needs a condition"),
        ("SELECT CORR(cost) FROM visits", SitrError, "CORR"),
        ("SELECT SUM(SUM(cost)) FROM visits", SitrError, "SUM"),
        ("SELECT SUM(cost) + days FROM visits", QuestionError, "outside of an aggregate"),
        ("SELECT LOWER(COUNT(*)) FROM visits", SitrError, "LOWER"),
        ("SELECT COUNT(*) OVER () / 2 FROM visits", ForbiddenConstruct, "window"),
        ("SELECT COUNT(*) + 'a' FROM visits", SitrError, "needs numbers"),
        ("SELECT SUM(cost) FILTER (WHERE days) FROM visits", SitrError, "condition"),
    ],
)
def test_mistakes_are_refused_in_words(budget: Budget, sql: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        budget.sql(sql)


def test_an_expression_of_rows_is_no_aggregate(budget: Budget) -> None:
    with pytest.raises(QuestionError, match="aggregate"):
        budget.agg(x=sitr.column("cost") / 2)
    with pytest.raises(QuestionError, match="each row needs a value"):
        budget.where(sitr.count() > 3).agg(n=sitr.count())
