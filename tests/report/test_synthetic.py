"""Words about synthetic rows: nothing that flatters, and nothing that was not released."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Kind
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Entry
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import TestCoins
from sitr.questions.arrow import arrow_type
from sitr.questions.synthetic.figures import Coefficient, Figure, Quality
from sitr.questions.synthetic.marginals import measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.quality_plan import quality_plan
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.synthetic.weighted_rows import WeightedRows
from sitr.report import synthetic
from sitr.report.chart import synthetic as synthetic_chart
from sitr.report.page import html
from sitr.report.text.terminal import as_text, render
from sitr.report.words.arabic.arabic import ARABIC
from tests.oracles.axes import granular, keyed

AXES = (
    granular("age", Kind.INTEGER, 0, 99, Fraction(1), 50, nulls=True),
    keyed("<b>ward", Kind.TEXT, keys=("a&b", "c")),
)
SHEET = Sheet(AXES, Person("id"), Relation.ADD_REMOVE, 3)
PRICE = ZeroConcentratedDP(0.1)
CODES = np.column_stack([np.arange(600) % 51, np.arange(600) % 2])
QUESTION = SyntheticQuestion(SHEET, "people", Method.JOINT)
ENTRY = Entry(7, "people", PRICE, QUESTION.text(), datetime(2026, 1, 2, tzinfo=UTC), "me", "1")
RECEIPT = Receipt(
    "people", "person (id), add-remove", ENTRY, Filter(ZeroConcentratedDP(0.5)).consent(PRICE), private=False
)
FOUND = Quality(
    quality_plan(SHEET, PRICE, text="QUALITY"),
    (Figure(("age",), 0.02, 0.001),),
    (Figure(("age", "<b>ward"), 0.123456, 0.001),),
    (),
    (),
    (0.8, 0.9),
)
PUBLIC = replace(FOUND, plan=None, holdout="census")


@pytest.fixture
def made() -> Portrait:
    planned = plan(SHEET, PRICE, method=Method.JOINT)
    schema = pa.schema([(axis.column.name, arrow_type(axis.column.kind)) for axis in AXES])
    return portrait(measure(planned, CODES, coins=TestCoins(1)), schema=schema, never=())


def test_a_preview_tells_every_error() -> None:
    budget = Filter(ZeroConcentratedDP(0.5))
    text = as_text(render(synthetic.preview(plan(SHEET, PRICE, method=Method.MARGINALS), budget)))
    assert "1 pairs of columns" in text
    assert "at most 3 rows of one person count" in text
    assert "left then  ρ = 0.4" in text
    poor = as_text(render(synthetic.preview(plan(SHEET, PRICE, method=Method.JOINT), Filter(ZeroConcentratedDP(0.05)))))
    assert "the budget cannot pay this" in poor
    told = synthetic.preview(plan(SHEET, PRICE, method=Method.JOINT), Filter(ZeroConcentratedDP(0.05))).to_dict()
    assert (told["budget"]["after"], told["pairs"]) == (None, None)
    json.dumps(told, allow_nan=False)


def test_a_preview_shows_the_price_and_the_error_of_the_quality() -> None:
    both = replace(QUESTION, quality=ZeroConcentratedDP(0.02)).plan(PRICE)
    assert both.quality is not None
    text = as_text(render(synthetic.preview(both, Filter(ZeroConcentratedDP(0.5)))))
    assert "price      ρ = 0.12: ρ = 0.1 for the rows, and ρ = 0.02 to measure their quality" in text
    assert re.search(rf"quality: each distance, in rows +± {both.quality.distances.error()}\s", text)
    assert "left then  ρ = 0.38" in text
    told = json.loads(json.dumps(synthetic.preview(both, Filter(ZeroConcentratedDP(0.5))).to_dict(), allow_nan=False))
    assert told["price"]["notation"] == "zcdp(rho=0.12)"
    assert (told["prices"]["rows"]["rho"], told["prices"]["quality"]["rho"]) == (0.1, 0.02)
    assert told["quality"] == {"distance_error_95": float(both.quality.distances.error())}
    alone = synthetic.preview(QUESTION.plan(PRICE), Filter(ZeroConcentratedDP(0.5))).to_dict()
    assert (alone["prices"]["quality"], alone["quality"]) == (None, None)


def test_two_prices_that_cost_less_together_say_so() -> None:
    price = ApproximateDP(1.0, 0.1)
    both = replace(QUESTION, quality=price).plan(price)
    text = " ".join(as_text(render(synthetic.preview(both, Filter(ApproximateDP(9.0, 0.9))))).split())
    assert "for the rows, and ε = 1, δ = 0.1 to measure their quality; together they lose less than the sum" in text


def test_rows_that_protect_nobody_say_so(made: Portrait) -> None:
    text = as_text(render(synthetic.answer(made, RECEIPT)))
    assert "test" in text.splitlines()[0].lower()
    assert "ρ = 0.4 of ρ = 0.5" in text


def test_pairs_that_the_model_misses_are_named(made: Portrait) -> None:
    assert "misses" not in as_text(render(synthetic.answer(made, RECEIPT)))
    one = (np.zeros(1, dtype=np.int64),) * 2
    model = WeightedRows(np.zeros((1, 2), dtype=np.int32), np.ones(1), one, (np.ones(1),) * 2, missed=((0, 1),))
    poor = replace(made, model=model)
    assert "the model misses 1 of" in as_text(render(synthetic.answer(poor, RECEIPT)))
    assert synthetic.answer(poor, RECEIPT).to_dict()["missed"] == [["age", "<b>ward"]]
    assert synthetic.answer(made, RECEIPT).to_dict()["missed"] == []


def test_for_machines(made: Portrait) -> None:
    told = json.loads(json.dumps(synthetic.answer(made, RECEIPT).to_dict(), allow_nan=False))
    assert (told["kind"], told["method"], told["rows_per_unit"]) == ("synthetic rows", "joint", 3)
    assert (told["receipt"]["entry"], told["receipt"]["private"]) == (7, False)
    assert [table["shape"] for table in told["tables"]] == [[51, 2]]
    found = synthetic.quality(FOUND, RECEIPT, private=True).to_dict()
    assert found["pairs"] == [{"columns": ["age", "<b>ward"], "found": 0.123456, "error_95": 0.001}]
    assert found["scores"] == {"synthetic": 0.8, "real": 0.9}
    assert (found["kind"], found["receipt"]["entry"], found["private"]) == ("quality of synthetic rows", 7, True)
    assert found["budget"]["after"]["remaining"]["notation"] == "zcdp(rho=0.4)"
    free = synthetic.quality(PUBLIC, None, private=True).to_dict()
    assert (free["public_table"], free["receipt"], "budget" in free) == ("census", None, False)


def test_subgroups_and_propensity_in_both_languages() -> None:
    groups = (Figure(("sex = f",), 0.25), Figure(("sex = m",), 0.125))
    found = replace(PUBLIC, propensity=0.625, subgroups=groups)
    english = " ".join(as_text(render(synthetic.quality(found, None, private=True))).split())
    assert "a classifier tells synthetic rows from real ones in 62.5% of cases; guessing has 50%" in english
    assert "mean Σ|p − q| 0.1875 0.2500 sex = f" in english
    arabic = as_text(render(synthetic.quality(found, None, private=True, words=ARABIC)))
    assert "62.5%" in arabic
    assert "يميز مصنّف" in arabic
    told = synthetic.quality(found, None, private=True).to_dict()
    assert told["propensity"] == 0.625
    assert told["subgroups"][0] == {"columns": ["sex = f"], "found": 0.25, "error_95": 0.0}


def test_a_regression_in_both_languages() -> None:
    lines = (Coefficient("age", 0.5, 0.75, 0.1), Coefficient("sex = m", -0.25, -0.25, 0.1))
    found = replace(PUBLIC, regression=lines)
    english = " ".join(as_text(render(synthetic.quality(found, None, private=True))).split())
    assert "1 of 2 coefficients differ from those of real rows by no more than" in english
    assert "the largest difference is 0.250" in english
    arabic = as_text(render(synthetic.quality(found, None, private=True, words=ARABIC)))
    assert "المعاملات" in arabic
    told = synthetic.quality(found, None, private=True).to_dict()
    assert told["regression"][0] == {"term": "age", "synthetic": 0.5, "real": 0.75, "error_95": 0.1}
    assert "regression" not in as_text(render(synthetic.quality(PUBLIC, None, private=True)))


def test_what_a_price_shows_in_both_languages() -> None:
    """A classifier of two columns stands for one of all, and says so; and errors have the noise in them."""
    worst = Figure(("age", "<b>ward"), 0.5, 0.04)
    lines = (Coefficient("age", 0.5, 0.75, 0.1),)
    found = replace(FOUND, pairs=(Figure(("age", "sex"), 0.25, 0.04), worst), regression=lines)
    english = " ".join(as_text(render(synthetic.quality(found, RECEIPT, private=True))).split())
    assert "tells synthetic rows from real ones in at most 62.5% (± 1.2%) of cases" in english
    assert "by no more than the 95% error of two samples, with the noise" in english
    arabic = as_text(render(synthetic.quality(found, RECEIPT, private=True, words=ARABIC)))
    assert "62.5%" in arabic
    assert "مع الضوضاء" in arabic
    told = synthetic.quality(found, RECEIPT, private=True).to_dict()
    wider = 30 / 26  # the error of both pairs at once, in the whole numbers of this noise
    expected = {"columns": ["age", "<b>ward"], "found": 0.625, "error_95": pytest.approx(0.01 * wider)}
    assert told["told_apart"] == expected
    assert synthetic.quality(PUBLIC, None, private=True).to_dict()["told_apart"] is None


def test_quality_in_words() -> None:
    text = as_text(render(synthetic.quality(FOUND, RECEIPT, private=True)))
    assert "0.1235 ± 0.0010" in text
    assert "ρ = 0.1" in text
    assert "0.800 when trained on synthetic rows, 0.900" in text
    assert "ρ = 0.4 of ρ = 0.5" in text
    assert "7, people, 2026-01-02" in text
    assert "NOT PRIVATE" not in text
    free = as_text(render(synthetic.quality(PUBLIC, None, private=True)))
    assert "compared  with the public table census" in free
    assert "entry" not in free
    assert "NOT PRIVATE" in as_text(render(synthetic.quality(FOUND, RECEIPT, private=False)))


def test_pictures_escape_what_they_quote(made: Portrait) -> None:
    chart = synthetic_chart.chart(made, CODES)
    assert "<b>" not in chart
    assert "&lt;b&gt;ward" in chart
    assert "a&amp;b" in chart
    judged = synthetic.quality(FOUND, RECEIPT, private=True)
    page = html.page(synthetic.answer(made, RECEIPT, rows=CODES, judged=judged))
    assert "<b>" not in page
    assert "script" not in page
    assert "at most 3 rows of one person count" in page
    assert "0.1235 ± 0.0010" in page
    assert synthetic_chart.chart(made, CODES[:0])  # no rows, no picture of them, and no error
