"""What is told about a histogram: true sentences, valid pages, and nothing that can act."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Categories, Dates, Edges, Even, Grid, Rule, Step
from sitr.dataset.domain import DeclaredCells, axis
from sitr.dataset.schema import Column, Kind, Table
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Entry
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import fit
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Method, Tree, Unlisted
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally
from sitr.report import histogram as report
from sitr.report.chart.histogram import figures
from sitr.report.figures import CONFIDENCE, all_digits
from sitr.report.page import html
from sitr.report.text.terminal import as_text, render
from sitr.report.words.english.english import ENGLISH

WORDS = ENGLISH.histogram

X, WARD, DAY = Column("x", Kind.REAL), Column("ward", Kind.TEXT), Column("day", Kind.DATE)
HOSTILE = ("<script>alert(1)</script>", "two\nlines\x1b[31m", "[red]markup[/red]", "\u202eturned", "جناح")
LINE = Grid((Even(X, Fraction(0), Fraction(8), 8),))
TILES = Grid((Categories(WARD, HOSTILE), Edges(X, (Fraction(0), Fraction(1), Fraction(2)))))
DAYS = Grid((Dates(DAY, date(2024, 1, 1), date(2024, 3, 31), Step.MONTH),))


def made(cells: Grid | Column, price: Additive, method: Method, counts: dict[Any, Any]) -> Histogram:
    table = Table("visits", (X, WARD, DAY), Row(), Relation.ADD_REMOVE, 1, 1)
    plan = fit(Tally.of(table, cells), price, method=method)
    return release(plan, counts, coins=TestCoins(1))


def receipt(histogram: Histogram, *, private: bool = True) -> Receipt:
    """Stamped as asked: no page can tell test coins but by the stamp."""
    price = histogram.plan.price
    budget = Filter(type(price).compose([price, price])).consent(price)  # type: ignore[list-item]
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    entry = Entry(7, "visits", price, histogram.plan.text, at, "me", "0.1.0")
    return Receipt("visits", "row, add-remove", entry, budget, private)


CASES = {
    "flat": (LINE, PureDP(1.0), Flat(), {1: 30}),
    "gaussian": (LINE, ZeroConcentratedDP(0.1), Flat(), {1: 30}),
    "tree": (LINE, PureDP(1.0), Tree(2), {1: 30}),
    "buckets": (LINE, PureDP(1.0), Buckets(), {1: 30}),
    "bins": (LINE, ApproximateDP(1.0, 1e-6), Bins((2, 8)), {1: 30}),
    "tiles": (TILES, PureDP(1.0), Flat(), {1: 30}),
    "days": (DAYS, PureDP(1.0), Flat(), {1: 30}),
    "unlisted": (WARD, ApproximateDP(1.0, 1e-6), Unlisted(), {(key,): (99, 99) for key in HOSTILE}),
    "nothing": (WARD, ApproximateDP(1.0, 1e-6), Unlisted(), {}),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@pytest.mark.sampled(4)
@each_case
def test_every_histogram_is_told_in_text_json_table_and_page(case: Any) -> None:
    found = made(*case)
    paid = receipt(found)
    told = json.loads(json.dumps(report.answer(found, paid).to_dict(), allow_nan=False))
    size = len(found.counts)
    assert len(told["cells"]) == size == found.table().num_rows == found.intervals().num_rows
    assert told["receipt"]["private"]
    assert (told["price"], told["receipt"]["entry"]) == (told["budget"]["charge"], 7)
    text = as_text(render(report.answer(found, paid)))
    assert "\x1b" not in text
    assert "charged" in text
    assert ("95% interval" in text) == (size > 0)
    page = html.page(report.answer(found, paid))
    assert "<script>" not in page
    assert "http" not in page.replace("http-equiv", "")
    HTMLParser().feed(page)
    assert "Private histogram" in page


@each_case
def test_every_plan_is_told_before_it_is_paid(case: Any) -> None:
    cells, price, method, _ = case
    table = Table("visits", (X, WARD, DAY), Row(), Relation.REPLACE_ONE, 1, 1)
    plan = fit(Tally.of(table, cells), price, method=method)
    text = as_text(render(report.preview(plan, Filter(price))))
    assert "<script>" not in html.fragment(report.preview(plan, Filter(price)))
    assert "replacing one row" in text
    assert "left then" in text
    assert json.dumps(report.preview(plan, Filter(price)).to_dict(), allow_nan=False)
    spent = Filter(price).consent(price)
    assert report.preview(plan, spent).to_dict()["budget"]["after"] is None
    assert "cannot pay" in as_text(render(report.preview(plan, spent)))


def test_sentences_say_what_is_true() -> None:
    flat = made(LINE, PureDP(0.5), Flat(), {})
    assert WORDS.measured(flat.plan) == "Each of 9 public cells gets its own noise, including empty cells."
    assert WORDS.noise(flat.plan).startswith("Discrete Laplace, scale 2: adding or removing one row")
    assert f"± {flat.plan.noise.error()}" in WORDS.error(flat.plan)
    assert "may be anything" in WORDS.intervals(made(LINE, PureDP(1.0), Buckets(), {}))
    assert "outside its interval" in WORDS.intervals(flat.lattice())
    shown = made(WARD, ApproximateDP(1.0, 1e-6), Unlisted(), {("a",): (99, 99)})
    assert "near the threshold" in WORDS.intervals(shown)
    assert "1 in 1," in WORDS.exposure(shown.plan)
    assert "exposed outright" in WORDS.exposure(flat.plan)
    assert "25% of the price" in WORDS.measured(made(LINE, PureDP(1.0), Buckets(), {}).plan)


def test_test_coins_are_told() -> None:
    found = made(LINE, PureDP(1.0), Flat(), {1: 3})
    paid = receipt(found, private=False)
    assert "NOT PRIVATE" in as_text(render(report.answer(found, paid)))
    assert "NOT PRIVATE" in html.page(report.answer(found, paid))
    assert "NOT PRIVATE" in html.fragment(report.answer(found, paid))
    assert report.answer(found, paid).to_dict()["receipt"]["private"] is False


def test_long_histograms_are_cut_and_it_is_said() -> None:
    wide = Grid((Even(X, Fraction(0), Fraction(1), 5_000),))
    found = made(wide, PureDP(1.0), Flat(), {})
    paid = receipt(found)
    assert "more" in as_text(render(report.answer(found, paid), most=10))
    assert len(as_text(render(report.answer(found, paid), most=None)).splitlines()) > 5_000
    assert html.page(report.answer(found, paid)).rpartition("All numbers")[2].count("<tr>") <= 1_001


def test_bars_are_as_long_as_the_counts() -> None:
    found = made(LINE, PureDP(1e6), Flat(), {0: 100, 1: 50, 2: 25})
    lines = as_text(render(report.answer(found, receipt(found)))).splitlines()[1:4]
    assert [line.count("█") for line in lines] == [30, 15, 7]


def test_bars_give_way_before_names_and_numbers_are_broken() -> None:
    found = made(LINE, PureDP(1e6), Flat(), {0: 100, 1: 50, 2: 25})
    wide = as_text(render(report.answer(found, receipt(found)))).splitlines()[:4]
    room = len(wide[1]) - 14
    narrow = as_text(render(report.answer(found, receipt(found))), width=room).splitlines()[:4]
    assert [line.rstrip("█▏▎▍▌▋▊▉ ") for line in narrow] == [line.rstrip("█▏▎▍▌▋▊▉ ") for line in wide]
    assert [line.count("█") for line in narrow[1:]] == [16, 8, 4]


@pytest.mark.parametrize("case", ["flat", "gaussian", "tree", "buckets", "bins", "tiles", "days", "unlisted"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_counts_are_rounded_to_the_noise_and_intervals_outward(case: str, epsilon: float) -> None:
    known: Any = CASES[case]
    cells, price, method, counts = known
    cheap: Additive = ApproximateDP(epsilon, 1e-6) if isinstance(price, ApproximateDP) else PureDP(epsilon)
    many = dict.fromkeys(counts, (9999, 9999)) if case == "unlisted" else {1: 3_217}
    found = made(cells, cheap, method, many)
    paper = report.answer(found, receipt(found))
    low, high = found.ends(confidence=CONFIDENCE)
    unit = 10.0 ** figures(found).place
    assert paper.table is not None
    for place, (*_, count, interval, _) in enumerate(paper.table.rows()):
        shown, (first, last) = (float(count.replace(",", "").replace("−", "-")), interval.split(" to "))
        assert abs(shown - found.counts[place]) <= unit / 2 + 1e-9
        assert float(first.replace(",", "").replace("−", "-")) <= low[place]
        assert last == "∞" or float(last.replace(",", "")) >= high[place]
        exact = float(all_digits(count).replace(",", "").replace("−", "-"))
        assert exact == pytest.approx(found.counts[place], rel=1e-14)
    said = "Counts are rounded to the first two digits of the error" in as_text(render(paper))
    assert said is (unit > 1 or not bool((found.counts == np.rint(found.counts)).all()))


def test_a_count_outside_its_interval_is_explained_and_no_other() -> None:
    words = "noise can push it beyond 0, and intervals leave out what no count can be"
    flat = made(LINE, PureDP(1.0), Flat(), {})
    for counts, said in ((-21.0, True), (3.0, False)):
        special = np.array([0])
        cells = np.array([counts] + [3.0] * 7)
        one = Histogram.of(flat.plan, flat.grid, ((cells.astype(np.int64),), special))
        paper = report.answer(one, receipt(one))
        shown = (as_text(render(paper)), html.fragment(paper), html.page(paper))
        assert [words in " ".join(text.split()) for text in shown] == [said] * 3
    processed = flat.lattice(total=9_000)
    assert "because intervals follow from the measured numbers alone" in as_text(
        render(report.answer(processed, receipt(processed)))
    )


def test_rows_without_a_value_that_are_left_out_are_said_to_be() -> None:
    column = Column("ward", Kind.TEXT, keys=("a", "b"))
    found = axis(column, DeclaredCells())
    assert found is not None
    left_out = made(Grid((found,)), PureDP(1.0), Flat(), {})
    assert WORDS.outside(left_out.plan).endswith("Rows without a value in ward are left out.")
    kept = made(Grid((replace(found, missing=Rule.CELL),)), PureDP(1.0), Flat(), {})
    assert "without a value" not in WORDS.outside(kept.plan)
