"""What is told about tables that add up."""

from __future__ import annotations

import json
import math
import re
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
from sitr.report.figures import CONFIDENCE, Rounded
from sitr.report.page import html
from sitr.report.text.terminal import as_text, render
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import in_words

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
    price: Additive,
    *,
    unit: Unit | None = None,
    measures: tuple[str, ...] = ("count", "sum(ع)", "mean(ع)"),
    whole: bool = False,
) -> PublishedTables:
    relation = Relation.REPLACE_ONE if unit is None else Relation.ADD_REMOVE
    table = Table("visits", COLUMNS, unit or Row(), relation, 1 if unit is None else 2, 1 if unit is None else 2)
    wanted = [("س", "ص"), "ط", ()]
    question = tables_question(table, wanted, measures=measures, hierarchies=GROUPS, whole=whole)
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
    with speaking(Language.ARABIC):
        arabic = report.errors(plan, in_words(None))
    assert arabic[0][0].startswith("عدد الصفوف بحسب")


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_previews_show_the_error_of_a_mean_for_a_number_of_rows(price: Additive) -> None:
    plan = made(price).plan
    paper = report.preview(plan, Filter(price))
    assert paper.table is not None
    assert all(re.fullmatch(r"± [\d.]+ at 1,000 rows", row[4]) for row in paper.table.rows())
    tiny = made(PureDP(1e-7) if isinstance(price, PureDP) else ZeroConcentratedDP(1e-7)).plan
    assert {row[4] for row in report._error_rows(tiny, paper.words)} == {"depends on the data"}


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_the_error_of_a_mean_is_that_of_no_wider_interval(price: Additive) -> None:
    publication = made(price)
    plan, mean = publication.plan, publication.plan.measures[2]
    for node in plan.workload.tables:
        low, high = (end.ravel() for end in publication.ends(mean, node, confidence=CONFIDENCE))
        for rows, wide in zip(publication._values(mean, node).ravel(), (high - low) / 2, strict=True):
            assert wide <= plan.error_at(math.floor(rows), mean, node, confidence=CONFIDENCE)
        many = 10**7  # where the noise of the number of rows is small: that of a sum with the largest mean
        total, values = mean.weights[0][0], mean.values
        assert values is not None
        if plan.pure:
            rest = 1 - (1 - CONFIDENCE) / 2
            parts = [float(plan.term_width(term, node, confidence=rest)) for term in (total, values)]
            wanted = parts[0] / 2 + 50 * parts[1]
        else:
            parts = [float(plan.term_variances(term, node).max()) for term in (total, values)]
            wanted = 1.96 * math.sqrt(parts[0] / 4 + 50**2 * parts[1])
        assert plan.error_at(many, mean, node, confidence=CONFIDENCE) * many == pytest.approx(wanted, rel=2e-3)


def test_the_noise_of_a_single_row_is_in_one_cell() -> None:
    alone, person = made(PRICES[0]).plan, made(PRICES[0], unit=Person("id")).plan
    assert ENGLISH.tables.noise(alone).endswith("enough for replacing one row, in whichever cell it is.")
    assert ENGLISH.tables.noise(person).endswith("one person with up to 4 rows, in whichever cells they are.")


@pytest.mark.parametrize("whole", [False, True])
def test_an_answer_says_that_its_numbers_are_rounded(whole: bool) -> None:
    publication = made(ZeroConcentratedDP(0.5), measures=("count",), whole=whole)
    facts = dict(report.answer(publication, receipt(publication)).facts)
    assert ("digits" in facts) is not whole


def test_rounded_numbers_are_shown_to_two_digits_of_their_own_error() -> None:
    """Their intervals have no impossible numbers and may be narrower; rounding adds a twentieth of them at most."""
    publication = made(ZeroConcentratedDP(0.0001), measures=("count",), whole=True)
    plan, table = publication.plan, report.answer(publication, receipt(publication)).table
    assert table is not None
    narrowest = math.inf
    for row in table.rows():
        cell = row[2]
        assert isinstance(cell, Rounded)
        both = [text.replace(",", "").replace("−", "-").split(" ± ") for text in (cell, cell.exact)]
        (near, off), (value, _) = ([float(part) for part in parts] for parts in both)
        assert abs(near - value) <= off / 20
        narrowest = min(narrowest, off)
    assert narrowest < plan.error(plan.measures[0], plan.workload.tables[0]) * 0.6


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


def test_the_errors_of_all_tables_are_shown_at_other_prices() -> None:
    """Three tables with a count and a sum each; errors of means depend on the number of rows."""
    plan = made(ZeroConcentratedDP(0.1)).plan
    names = [each["name"] for each in report.error_contents(plan)]
    assert names == [f"{what}{where}" for where in (" by س × ص", " by ط", "") for what in ("count", "sum of ع")]
    shown = dict(report.errors(plan, in_words(None)))
    assert list(shown) == names
    assert all(text.startswith("± ") for text in shown.values())


@pytest.mark.parametrize(("language", "said"), [(Language.ENGLISH, "(no value)"), (Language.ARABIC, "(بلا قيمة)")])
def test_the_cell_of_rows_without_a_value_is_named_in_the_language(language: Language, said: str) -> None:
    columns = (Column("age", Kind.INTEGER, Quantised(0, 90, Fraction(1))),)
    table = Table("visits", columns, Row(), Relation.ADD_REMOVE, 1, 1)
    question = tables_question(table, ["age"], bins={"age": 2})
    publication = release(question.plan(PRICES[0]), np.zeros((5, 1), np.int64), coins=TestCoins(1))
    with speaking(language):
        paper = report.answer(publication, receipt(publication))
        shown = as_text(render(paper)), chart(publication)
    assert all(said in each for each in shown)
    assert language is Language.ENGLISH or not any("(no value)" in each for each in shown)
