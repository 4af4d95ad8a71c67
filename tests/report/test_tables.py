"""What is told about tables that add up."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Column, Kind, Quantised, Table
from sitr.flavors.arrows import Additive
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language, speaking
from sitr.ledger.entry import Entry
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.noise.coins import TestCoins
from sitr.questions.tables.publication import PublishedTables, release
from sitr.questions.tables.question import tables_question
from sitr.report import tables as report
from sitr.report.chart.tables import chart
from sitr.report.page import html
from sitr.report.text.terminal import as_text, render

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

COLUMNS = (
    Column("س", Kind.TEXT, keys=("أ", "ب", "ج")),
    Column("ص", Kind.TEXT, keys=("<b>", "م")),
    Column("ع", Kind.REAL, Quantised(0, 200, Fraction(1, 2))),
    Column("id", Kind.INTEGER),
)
GROUPS = {"س": {"ط": {"ي": ["أ", "ب"], "ك": ["ج"]}}}


@cache
def made(
    price: Additive, *, unit: Unit | None = None, measures: tuple[str, ...] = ("count", "sum(ع)", "mean(ع)")
) -> PublishedTables:
    relation = Relation.REPLACE_ONE if unit is None else Relation.ADD_REMOVE
    table = Table("visits", COLUMNS, unit or Row(), relation, 1 if unit is None else 2, 1 if unit is None else 2)
    wanted = [("س", "ص"), "ط", ()]
    question = tables_question(table, wanted, measures=measures, hierarchies=GROUPS)
    plan = question.plan(price)
    random = np.random.default_rng(1)
    columns = [random.integers(0, 3, 400), random.integers(0, 2, 400)]
    values = [random.integers(-100, 100, 400), np.ones(400, np.int64)][: len(plan.records.valued)]
    return release(plan, np.column_stack([*columns, *values]), coins=TestCoins(1))


def receipt(publication: PublishedTables) -> Receipt:
    price = publication.plan.price
    budget = Filter(type(price).compose([price, price])).consent(price)  # type: ignore[list-item]
    entry = Entry(7, "visits", price, publication.plan.text, datetime(2026, 1, 2, tzinfo=UTC), "me", "0.1.0")
    return Receipt("visits", "row, replace-one", entry, budget, private=True)


PRICES = (ZeroConcentratedDP(0.5), PureDP(1.0))


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("language", Language)
def test_pages_and_terminals_show_every_cell(price: Additive, language: Language) -> None:
    publication = made(price)
    with speaking(language):
        paper = report.answer(publication, receipt(publication))
        text, page = as_text(render(paper)), html.page(paper)
    assert paper.table is not None
    rows = list(paper.table.rows())
    assert len(rows) == paper.table.size == 6 + 2 + 1
    assert "&lt;b&gt;" in page
    assert "<b>م" not in page
    assert "ط" in text
    content = paper.to_dict()
    assert json.loads(json.dumps(content)) == content
    assert [table["cells"] for table in content["tables"]] == [6, 2, 1]
    assert len(content["tables"][0]["values"]["count"]) == 6
    assert content["objective"]["noise"] == ("discrete Laplace" if isinstance(price, PureDP) else "residual Gaussian")


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_previews_show_the_error_of_every_table(price: Additive) -> None:
    plan = made(price).plan
    paper = report.preview(plan, Filter(price))
    assert paper.table is not None
    rows = list(paper.table.rows())
    assert [row[0] for row in rows] == ["س × ص", "ط", "total"]
    assert all(row[2].startswith("± ") for row in rows)
    assert [name for name, _ in report.errors(plan, paper.words)] == [
        each["name"] for each in report.error_contents(plan)
    ]
    assert "mean" not in str(report.error_contents(plan))


def test_the_gap_to_the_optimum_is_said() -> None:
    plan = made(ZeroConcentratedDP(0.5)).plan
    assert plan.gap <= 1e-3
    assert (
        "a dual bound proves this"
        in report.preview(plan, Filter(ZeroConcentratedDP(1.0))).to_dict()["words"]["optimum"]
    )


def test_a_chart_draws_the_first_table() -> None:
    drawn = chart(made(ZeroConcentratedDP(0.5)))
    assert drawn.startswith("<svg")
    assert drawn.count("<rect") >= 6


def test_people_have_caps() -> None:
    paper = report.answer(made(PRICES[0], unit=Person("id")), receipt(made(PRICES[0])))
    assert "at most 4 rows" in paper.caps
