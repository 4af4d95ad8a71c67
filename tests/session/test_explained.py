"""A question as a tree: what is read, bounded, measured and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.language import Language, speaking
from sitr.report.explained import Branch
from sitr.session.dataset import Dataset

QUESTION = (
    "SELECT ward, AVG(cost) AS mean FROM visits WHERE days > 2 GROUP BY ward HAVING COUNT(*) > 10 ORDER BY mean LIMIT 3"
)
PRICES = [None, "zcdp(0.1)", "pure(1)", "approximate(1, 1e-6)"]


@pytest.fixture
def data() -> Dataset:
    rows = pa.table({"id": [1], "ward": ["A"], "cost": [1.0], "days": [3], "code": ["x"]})
    said: dict[str, Any] = {"bounds": {"cost": (0, 10), "days": (0, 9)}, "keys": {"ward": ["A", "B"]}}
    return sitr.protect(rows, unit="id", name="visits", max_groups=2, max_rows_per_group=3, max_rows=4, **said)


def lines(branch: Branch) -> list[str]:
    return [branch.line, *(line for each in branch.below for line in lines(each))]


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("language", Language)
def test_the_tree_has_four_parts_and_the_price(data: Dataset, price: str | None, language: Language) -> None:
    with speaking(language):
        found = data.explain(QUESTION, price)
        tree = found.tree
        text = str(found)
    assert len(tree.below) == (4 if price is None else 5)
    assert all(each.below for each in tree.below[:4])
    for word in ("days > 2", "AVG(cost)", "HAVING COUNT(*) > 10 ORDER BY mean LIMIT 3"):
        assert any(word in line for line in lines(tree)), word
    assert "└──" in text


def test_everything_is_said_in_english(data: Dataset) -> None:
    said = " ".join(lines(data.explain(QUESTION, "zcdp(0.1)").tree))
    for part in (
        "the rows of the protected table visits",
        "cost of each row is clamped to 0 … 10",
        "and at most 4 rows in all",
        "ward has 2 public values; rows with others are left out",
        "mean = AVG(cost), from SUM(cost - 5), COUNT(cost)",
        "COUNT(*) is measured and not shown",
        "acts on released rows and is free",
        "discrete Gaussian",
        "it says from how many something is left out",
    ):
        assert part in said, part


@pytest.mark.parametrize("price", PRICES[1:])
def test_the_shares_are_those_of_the_price(data: Dataset, price: str) -> None:
    found = data.explain(QUESTION, price).to_dict()["measured"]
    assert sum(each["share"] for each in found) == pytest.approx(1)
    assert sum(each["share"] for each in found if not each["shown"]) == pytest.approx(0.05, rel=0.02)


def test_unknown_keys_have_a_share_too(data: Dataset) -> None:
    found = data.explain("SELECT code, COUNT(*) AS n FROM visits GROUP BY code", "approximate(1, 1e-6)")
    assert any("has no public values" in line for line in lines(found.tree))
    assert any("which keys are shown" in line for line in lines(found.tree))
    assert "keys" in [each["name"] for each in found.to_dict()["measured"]]


def test_what_is_left_out_is_not_shown_where_the_threshold_shows_its_numbers() -> None:
    rows = pa.table({"id": [1], "cost": [1.0], "code": ["x"]})
    one = sitr.protect(rows, unit="id", name="visits", max_groups=2, max_rows_per_group=1, bounds={"cost": (0, 10)})
    question = "SELECT code, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY code"
    lines_of = one.explain(question, "approximate(1, 1e-6)").to_dict()["measured"]
    found = {each["name"]: each["shown"] for each in lines_of}
    assert "COUNT(*)" not in found
    assert "COUNT(DISTINCT id)" in found
    assert found == {name: name in ("SUM(cost)", "keys") for name in found}


def test_the_plan_is_that_of_the_preview(data: Dataset, tmp_path: Path) -> None:
    budget = data.budget(rho=1, ledger=tmp_path / "ledger.db")
    request = budget.sql(QUESTION)
    assert request.explain("zcdp(0.1)").plan == request.preview("zcdp(0.1)").plan
    assert request.explain(rho=0.1).plan == data.explain(QUESTION, "zcdp(0.1)").plan
    assert request.explain().plan is None
    assert budget.entries() == []
    noise = [each["noise"]["size"] for each in request.explain(rho=0.1).to_dict()["measured"]]
    plan: Any = request.preview(rho=0.1).plan
    assert noise == [float(each.mechanism.size) for each in plan.measurements]


def test_machines_read_the_same(data: Dataset) -> None:
    found = json.loads(json.dumps(data.explain(QUESTION, "zcdp(0.1)", max_rows=2).to_dict()))
    assert found["read"] == {"from": "visits", "where": "days > 2"}
    assert found["bounded"] == {
        "clamped": [{"of": "cost", "low": "0", "high": "10", "by": "row"}],
        "max_groups": 2,
        "max_rows_per_group": 2,
        "max_rows": 2,
        "keys": {"ward": 2},
    }
    assert found["shown"] == {
        "columns": [{"name": "mean", "formula": "AVG(cost)", "from": ["SUM(cost - 5)", "COUNT(cost)"]}],
        "hidden": ["COUNT(*)"],
        "after": "HAVING COUNT(*) > 10 ORDER BY mean LIMIT 3",
    }
    assert found["measured"][1]["distance"] == {"l1": 2, "l2_squared": 4, "largest": 2}


def test_views_are_drawn_from_the_outside_in(data: Dataset) -> None:
    found = data.explain(
        "SELECT AVG(t) AS m, SUM_PER_PERSON(t, 0, 5) AS s FROM "
        "(SELECT id, SUM(cost) AS t FROM visits WHERE days > 1 GROUP BY id)"
    )
    read = found.tree.below[0].below[0]
    assert read.line == "one row for each person, from their own rows"
    assert read.below[0].line == "only rows where days > 1"
    assert read.below[0].below[0].line == "the rows of the protected table visits"
    assert any("the total of t of each person and group is clamped to 0 … 5" in line for line in lines(found.tree))
