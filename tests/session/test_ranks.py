"""Quantiles, different values and histograms through the door: asked, kept, shown in both languages."""

from __future__ import annotations

import json
import random
import re
from datetime import date, timedelta
from fractions import Fraction

import pyarrow as pa
import pytest

import sitr
from sitr.noise.coins import TestCoins
from sitr.report.aggregate import answer as paper_of
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH

FIRST = date(2024, 1, 1)


def rows():
    coins = random.Random(3)
    many = range(1200)
    return pa.table(
        {
            "id": [place % 400 for place in many],
            "ward": [coins.choice("AB") for _ in many],
            "cost": [coins.uniform(0, 90) for _ in many],
            "age": [coins.randint(0, 99) for _ in many],
            "d": [FIRST + timedelta(coins.randint(0, 200)) for _ in many],
        }
    )


@pytest.fixture
def protected():
    return sitr.protect(
        rows(),
        name="visits",
        unit="id",
        max_groups=2,
        max_rows_per_group=2,
        bounds={"cost": (0, 100), "age": (0, 120), "d": (FIRST, date(2024, 12, 31))},
        granularity={"cost": 0.01},
        keys={"ward": ["A", "B", "empty"]},
    )


SQL = (
    "SELECT ward, COUNT(*) AS n, MEDIAN(cost) AS middle, WITH_INTERVAL(QUANTILE(age, 0.25)) AS quarter, "
    "MAX(d) AS last, COUNT(DISTINCT age) AS ages, HISTOGRAM(age, [0, 18, 65, 120]) AS h FROM visits GROUP BY ward"
)


def test_sql_and_calls_are_the_same_question(protected, tmp_path):
    budget = protected.budget(rho=100, ledger=tmp_path / "l.db")
    calls = budget.group_by("ward").agg(
        n=sitr.count(),
        middle=sitr.median("cost"),
        quarter=sitr.quantile("age", 0.25, interval=True),
        last=sitr.max("d"),
        ages=sitr.count(distinct="age"),
        h=sitr.histogram("age", [0, 18, 65, 120]),
    )
    assert calls.question == budget.sql(SQL).question
    both = budget.agg(low=sitr.min("age"), q=sitr.quantiles("cost", 2))
    assert both.question == budget.sql("SELECT MIN(age) AS low, APPROX_QUANTILES(cost, 2) AS q FROM visits").question


def test_an_answer_is_near_the_truth_and_kept(protected, tmp_path):
    budget = protected.budget(rho=100, ledger=tmp_path / "l.db")
    first = budget.sql(SQL).release(rho=40)
    found = {row["ward"]: row for row in first.intervals().to_pylist()}
    for ward in "AB":
        row = found[ward]
        assert abs(row["middle"] - 45) < 12  # costs are uniform from 0 to 90
        assert row["quarter_low"] <= row["quarter"] <= row["quarter_high"]
        assert 15 < row["quarter"] < 35
        assert row["quarter_high"] - row["quarter_low"] < 30
        assert date(2024, 6, 20) < row["last"] <= date(2024, 7, 25)
        assert row["last_low"] == row["last"]
        assert row["last_high"] == date(2024, 12, 31)
        assert abs(row["ages"] - 100) < 20
        assert abs(row["h_0_18"] + row["h_18_65"] + row["h_65_120"] - row["n"]) < 60
    assert first.errors()["middle"] == first.released.plan.columns[1].ranks()
    again = budget.sql(SQL).release(rho=40)
    assert again.receipt.again
    assert again.table.equals(first.table)
    assert len(budget.entries()) == 1


def test_every_paper_shows_ranks_dates_and_bars(protected, tmp_path):
    budget = protected.budget(rho=100, ledger=tmp_path / "l.db")
    request = budget.sql(SQL, bias="off")
    preview = str(request.preview(rho=1))
    assert "ranks" in preview
    assert re.search(r"exponential\s.*\n.*mechanism", preview)  # in a cell of several lines
    answer = request.release(rho=1, coins=TestCoins(4))
    shown = str(answer)
    assert "2024-0" in shown
    assert "ranks" in shown
    assert "the group may have no values" in shown  # the count of the ward without rows is near 0
    content = json.loads(json.dumps(answer.to_dict()))
    columns = {column["name"]: column for column in content["columns"]}
    assert columns["middle"]["error_in"] == "ranks"
    assert columns["n"]["error_in"] == "value"
    assert columns["middle"]["measured"][0]["choice"]["groups"] == 2
    assert columns["last"]["measured"][0]["clamp"] == {"low": "2024-01-01", "high": "2024-12-31"}
    assert date.fromisoformat(content["rows"][0]["values"][3]["value"]) >= FIRST
    picture = answer.plot()._repr_svg_()
    assert "ranks" in picture
    assert "2024-" in picture
    path = answer.certificate(tmp_path / "c.html")
    assert "ranks" in path.read_text(encoding="utf-8")
    arabic = paper_of(answer.released, answer.receipt, words=ARABIC)
    assert arabic.picture is not None
    assert "الرتب" in arabic.picture()
    assert any("الرتب" in note for note in arabic.notes)


def test_ranks_of_rows_that_noise_chose_hold_together_wherever_they_are_shown(protected, tmp_path):
    """The largest of many noisy medians is mostly one with a large error."""
    budget = protected.budget(rho=100, ledger=tmp_path / "l.db")
    sql = "SELECT ward, MEDIAN(cost) AS m FROM visits GROUP BY ward"
    alone, chosen = (
        budget.sql(f"{sql}{after}", bias="off").release(rho=1) for after in ("", " ORDER BY m DESC LIMIT 1")
    )
    wide = alone.errors()["m"], chosen.errors()["m"]
    assert wide == tuple(alone.released.plan.columns[0].ranks(confidence=sure) for sure in (0.95, Fraction(295, 300)))
    assert wide[0] < wide[1]
    for answer, error in zip((alone, chosen), wide, strict=True):
        said = ENGLISH.ranks.error(error)
        assert said in str(answer)
        assert said in answer.plot()._repr_svg_()
        content = answer.to_dict()["columns"][0]
        assert content["error"] == error
        metadata = json.loads(answer.table.schema.field("m").metadata[b"sitr"])
        assert metadata["error_95"] == error
    assert "hold together" in str(chosen).replace("\n", " ")
    assert "hold together" not in str(alone).replace("\n", " ")


@pytest.mark.parametrize("price", [{"epsilon": 3.0, "delta": 1e-6}, {"epsilon": 3.0, "delta": 1e-9}])
def test_unknown_keys_come_from_the_threshold(tmp_path, price):
    found = sitr.protect(
        rows(), name="visits", unit="id", max_groups=2, max_rows_per_group=2, bounds={"cost": (0, 100)}
    )
    budget = found.budget(epsilon=10.0, delta=1e-5, ledger=tmp_path / "l.db")
    request = budget.sql("SELECT ward, MEDIAN(cost) AS m, COUNT(DISTINCT age) AS k FROM visits GROUP BY ward")
    answer = request.release(**price)
    assert answer.table["ward"].to_pylist() == ["A", "B"]
    assert isinstance(answer.promise, sitr.ApproximateDP)
    assert answer.promise.epsilon == 3.0
    answer.released.plan.check()
    assert "QUANTILE(cost, 0.5): η is the" in " ".join(answer.to_dict()["words"]["checks"])


def test_names_that_hide_pythons_own_are_not_imported_with_a_star():
    assert {"median", "quantile", "quantiles", "histogram"} <= set(sitr.__all__)
    assert not {"min", "max", "sum", "open"} & set(sitr.__all__)
