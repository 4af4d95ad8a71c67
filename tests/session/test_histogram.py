"""Histograms through a budget: price, charge, data, noise, in this order; and free work on the answer afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr import ApproximateDP, PureDP, RandomDP, Relation, Row, ZeroConcentratedDP
from sitr.dataset.cells import Even, Grid, Rule, Step
from sitr.dataset.schema import Column, Kind
from sitr.errors import BackendFailure, BudgetExceeded, IncompatiblePromises, QuestionError, UnknownName
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.noise.coins import TestCoins
from sitr.questions.histogram.fit import HistogramPlan
from sitr.questions.histogram.isotonic import Form
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Sparse, Tree, Unlisted
from sitr.questions.histogram.projection import Ties
from sitr.questions.histogram.question import HistogramQuestion
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(ApproximateDP(1e7, 0.5), ledger=tmp_path / "sitr.db")


QUIET = PureDP(1e6)


def test_a_preview_reads_no_data_and_spends_nothing(budget: Budget, visits_path: Path) -> None:
    question = budget.histogram("cost", bins=10)
    visits_path.unlink()
    preview = question.preview(PureDP(1.0))
    assert preview.price == PureDP(1.0)
    plan = preview.plan
    assert isinstance(plan, HistogramPlan)
    assert preview.errors() == {"count": plan.noise.error()}
    assert plan.range_error(2, 5) > preview.errors()["count"] > 0
    assert "10 cells from 0 to 5000" in str(preview)
    assert "10 cells from 0 to 5000" in preview._repr_html_()
    assert preview.to_dict()["kind"] == "preview of histogram"
    assert budget.remaining() == budget.promise
    with pytest.raises(Exception, match=r"cannot be read|There is no description"):
        question.release(PureDP(1.0))


def test_a_release_is_charged_before_the_data_are_touched(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise BackendFailure(wanted="a.", given="b.", do="c.")

    monkeypatch.setattr(type(budget._at.backend), "read", broken)
    with pytest.raises(BackendFailure):
        budget.histogram("cost", bins=10).release(PureDP(1.0))
    (entry,) = budget.entries()
    assert entry.price == ApproximateDP(1.0, 0.0)
    assert entry.question == "HISTOGRAM OF cost in 10 cells from 0 to 5000 BY FLAT: SELECT COUNT(*) AS n FROM visits"


@pytest.mark.parametrize("method", [Flat(), Tree(2), Buckets(), Bins((2, 4, 8))], ids=str)
@pytest.mark.parametrize("price", [PureDP(0.3), ApproximateDP(0.3, 1e-7)], ids=str)
def test_the_ledger_is_charged_what_the_parts_promise(budget: Budget, method: Any, price: Any) -> None:
    answer = budget.histogram("cost", bins=8 if not isinstance(method, Bins) else (2, 4, 8), method=method).release(
        price
    )
    (entry,) = budget.entries()
    kept = answer.histogram.plan.promise()
    assert kept.epsilon == pytest.approx(entry.price.epsilon, rel=1e-9)  # type: ignore[union-attr]
    assert sitr.PureDP(kept.epsilon).covers(sitr.PureDP(entry.price.epsilon))  # type: ignore[union-attr]


def test_a_budget_that_is_used_up_refuses(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(ZeroConcentratedDP(0.1), ledger=tmp_path / "sitr.db")
    budget.histogram("cost", bins=4).release(ZeroConcentratedDP(0.1))
    with pytest.raises(BudgetExceeded):
        budget.histogram("cost", bins=4).release(ZeroConcentratedDP(0.01))
    with pytest.raises(BudgetExceeded):
        budget.histogram("cost", bins=4).release("zcdp(0.01)")
    with pytest.raises(IncompatiblePromises):
        budget.histogram("cost", bins=4).release("renyi(2, 0.1)")


def small(tmp_path: Path, relation: Relation = Relation.ADD_REMOVE) -> Budget:
    rows = pa.table({"x": [0.5, 1.5, 1.7, None, 9.0], "w": ["a", "b", "b", "c", None], "d": [date(2024, 1, 5)] * 5})
    data = sitr.protect(rows, name="t", unit=Row(), keys={"w": ["a", "b"]}, relation=relation)
    return data.budget(PureDP(1e8), ledger=tmp_path / "small.db")


def test_with_hardly_any_noise_the_cells_hold_what_the_table_has(tmp_path: Path) -> None:
    budget = small(tmp_path)
    line = budget.histogram("x", bins=2, bounds=(0, 2)).release(QUIET)
    assert line.counts.tolist() == [1, 3, 1]
    assert line.table.column_names == ["x", "x_from", "x_to", "count"]
    assert line.intervals().column_names == ["x", "x_from", "x_to", "count", "count_low", "count_high"]
    assert line.table["x"].to_pylist() == ["[0, 1)", "[1, 2]", "(no value)"]
    both = budget.histogram("w", "x", edges={"x": (0, 1, 2)}, outside={"x": Rule.DROP}, missing=Rule.CELL).release(
        QUIET
    )
    assert both.counts.reshape(3, 3).tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 0]]
    other = budget.histogram("w", outside=Rule.CELL).release(QUIET)
    assert dict(zip(other.table["w"].to_pylist(), other.counts, strict=True)) == {
        "a": 1,
        "b": 2,
        "(other)": 1,
        "(no value)": 1,
    }
    days = budget.histogram("d", every=Step.MONTH, bounds=(date(2024, 1, 1), date(2024, 2, 3))).release(QUIET)
    assert days.counts.tolist() == [5, 0, 0]
    few = budget.where(sitr.column("x") > 1).histogram("x", bins=2, bounds=(0, 2)).release(QUIET)
    assert few.counts.tolist() == [0, 3, 0]


def test_the_public_total_of_rows_that_are_replaced_is_exact(tmp_path: Path) -> None:
    budget = small(tmp_path, Relation.REPLACE_ONE)
    answer = budget.histogram("x", bins=50, bounds=(0, 2)).release(PureDP(0.5)).lattice()
    assert answer.counts.sum() == 5
    assert answer.histogram.total == 5


def asked_question(request: Any) -> HistogramQuestion:
    assert isinstance(request.question, HistogramQuestion)
    return request.question


def size(request: Any) -> int:
    """The number of cells."""
    grid = asked_question(request).tally.grid
    assert grid is not None
    return grid.size


def test_bounds_and_keys_come_from_the_description(budget: Budget) -> None:
    assert size(budget.histogram("cost", bins=4)) == 5
    assert size(budget.histogram("ward")) == 3
    assert size(budget.histogram("ward", missing=Rule.CELL)) == 4
    assert size(budget.histogram("ward", "cost", bins={"cost": 4})) == 15


def test_a_domain_that_only_the_rows_know_is_refused_or_paid_for(budget: Budget) -> None:
    with pytest.raises(QuestionError, match="public"):
        budget.histogram("days", bins=4)
    question = budget.histogram("days")  # of which no key is listed
    assert asked_question(question).method == Unlisted()
    assert asked_question(budget.histogram("days", missing=Rule.DROP)).method == Unlisted(Rule.DROP)
    with pytest.raises(QuestionError, match="threshold"):
        question.preview(PureDP(1.0))
    assert question.release(ApproximateDP(5.0, 1e-3)).counts.size <= 7
    (entry,) = budget.entries()
    assert entry.price == ApproximateDP(5.0, 1e-3)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ((), {}),
        (("cost", "cost"), {"bins": {"cost": 3}}),
        (("ward", "cost"), {"bins": 4}),
        (("cost",), {"bins": (4,)}),
        (("cost",), {"bins": (4, 8), "method": Tree()}),
        (("cost",), {"bins": (3, 8)}),
        (("ward", "days"), {}),
        (("days",), {"method": Flat()}),
        (("ward",), {"method": Tree()}),
        (("cost",), {"bins": 4, "method": "flat"}),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_spent(budget: Budget, columns: Any, said: Any) -> None:
    with pytest.raises(QuestionError):
        budget.histogram(*columns, **said).preview(PureDP(1.0))
    assert budget.entries() == []


def test_names_are_checked(budget: Budget) -> None:
    for call in (
        lambda: budget.histogram("nothing", bins=3),
        lambda: budget.histogram("cost", bins={"nothing": 3}),
    ):
        with pytest.raises(UnknownName):
            call()
    with pytest.raises(QuestionError, match="groups"):
        budget.group_by("ward").histogram("cost", bins=3)


def test_what_is_done_afterwards_costs_nothing(budget: Budget) -> None:
    answer = budget.histogram("cost", bins=12).release(PureDP(1.0), coins=TestCoins(1))
    left = budget.remaining()
    for after in (
        answer.lattice(ties=Ties.BY_INDEX),
        answer.simplex(total=900),
        answer.nonnegative(),
        answer.isotonic(Form.FALLING),
    ):
        assert after.histogram.processed
        assert after.promise == answer.promise
        assert (after.counts[:12] >= 0).all() or "form" in after.histogram.processed[0]
    told = answer.over(2, 5)
    assert told.low <= answer.counts[2:6].sum() <= told.high
    with pytest.raises(QuestionError, match="range of cells"):
        answer.over(5, 13)
    assert budget.remaining() == left


def test_the_papers(budget: Budget, tmp_path: Path) -> None:
    answer = budget.histogram("cost", bins=12).release(PureDP(1.0))
    assert answer.private
    assert "95% interval" in str(answer)
    picture = answer.plot(tmp_path / "a.svg").read_text()
    assert ET.fromstring(picture).tag.endswith("svg")
    page = answer.certificate(tmp_path / "a.html").read_text()
    assert "Private histogram" in page
    assert answer.to_dict()["kind"] == "histogram"
    assert len(answer.to_pandas()) == 13
    assert "<svg" in answer._repr_html_()
    wide = answer.intervals(confidence=0.999)
    assert (np.array(wide["count_high"]) >= np.array(answer.intervals()["count_high"])).all()


def test_test_coins_are_not_private(budget: Budget) -> None:
    answer = budget.histogram("cost", bins=3).release(PureDP(1.0), coins=TestCoins(5))
    assert not answer.private
    assert "NOT PRIVATE" in str(answer)
    again = budget.histogram("cost", bins=3).release(PureDP(1.0), coins=TestCoins(5))
    assert answer.counts.tolist() == again.counts.tolist()


def test_shares_of_a_choice_can_be_chosen(budget: Budget) -> None:
    answer = budget.histogram("cost", bins=(2, 4), method=Bins((2, 4), Fraction(1, 2))).release(PureDP(2.0))
    assert answer.histogram.plan.choice is not None
    assert answer.histogram.plan.choice.promise() == PureDP(1.0)


# Noise only where there are people: a random price through the same door

PRICE = RandomDP(PureDP(1.0), 0.1)


def crowd(**said: Any) -> Dataset:
    """1,000 rows in 10 of 100 cells."""
    table = pa.table({"x": [place % 10 + 0.5 for place in range(1000)], "u": [place // 2 for place in range(1000)]})
    return sitr.protect(table, name="crowd", **{"unit": Row(), "relation": Relation.REPLACE_ONE, **said})


def asked(budget: Budget, **said: Any) -> Any:
    return budget.histogram("x", bins=99, bounds=(0, 99), **{"method": Sparse(), **said})


def test_a_random_price_is_charged_as_what_it_promises(tmp_path: Path) -> None:
    budget = crowd().budget(RandomDP(PureDP(3.0), 0.1), ledger=tmp_path / "sitr.db")
    assert asked(budget).preview(PRICE).price == asked(budget).preview(PRICE).plan.promise()
    assert budget.entries() == []
    answer = asked(budget).release(PRICE)
    (entry,) = budget.entries()
    promised = SparseHistogram.fitting(PRICE, cells=100, people=1000).promise()
    assert entry.price == answer.promise == answer.histogram.plan.promise() == promised
    assert promised.gamma < 0.1  # type: ignore[union-attr]
    assert entry.question.startswith("HISTOGRAM OF x in 99 cells from 0 to 99 BY SPARSE")
    assert np.flatnonzero(~answer.histogram.empty).tolist() == list(range(10))
    assert not answer.counts[10:].any()
    assert answer.lattice().counts.sum() == 1000
    with pytest.raises(IncompatiblePromises, match="first charge"):
        asked(budget).release(PRICE, fresh=True)
    assert len(budget.entries()) == 1
    asked(budget, method=Flat()).release(PureDP(1.0))  # what is not random comes after it


def test_a_gamma_that_buys_nothing_is_not_charged(tmp_path: Path) -> None:
    budget = crowd().budget(PureDP(1.0), ledger=tmp_path / "sitr.db")
    answer = asked(budget).release(RandomDP(PureDP(0.5), 0.01))
    assert answer.promise == budget.entries()[0].price == PureDP(0.5)
    assert np.count_nonzero(answer.counts) > 50
    assert "γ is too small" in str(answer)
    assert "newcomer" not in str(answer)


def test_conditions_hide_the_rows_that_do_not_fulfil_them(tmp_path: Path) -> None:
    budget = crowd().budget(RandomDP(ApproximateDP(3.0, 1e-6), 0.1), ledger=tmp_path / "sitr.db")
    answer = asked(budget.where(sitr.column("x") < 3)).release(PRICE)  # type: ignore[arg-type]
    assert np.flatnonzero(~answer.histogram.empty).tolist() == [0, 1, 2]
    assert answer.histogram.plan.sparse.cells == 101
    assert answer.histogram.total is None
    assert budget.entries()[0].price.inner == ApproximateDP(1.0, 0.0)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("said", "promise", "error"),
    [
        ({"relation": Relation.ADD_REMOVE}, PureDP(3.0), QuestionError),
        ({"unit": "u", "max_groups": 2, "max_rows_per_group": 1}, RandomDP(PureDP(3.0), 0.1), QuestionError),
        ({}, PureDP(3.0), IncompatiblePromises),
        ({}, RandomDP(PureDP(3.0), 0.01), BudgetExceeded),
    ],
    ids=["add-remove", "person", "no γ", "too little γ"],
)
def test_where_no_newcomer_is_promised_anything_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Any, promise: Any, error: type[Exception]
) -> None:
    budget = crowd(**said).budget(promise, ledger=tmp_path / "sitr.db")
    if error is QuestionError:  # where the number of rows is no public number, it is not even looked up
        monkeypatch.setattr(type(budget._at.backend), "size", None)
    with pytest.raises(error):
        asked(budget).release(PRICE)
    assert budget.entries() == []


def test_the_papers_of_a_random_price(tmp_path: Path) -> None:
    budget = crowd().budget(RandomDP(PureDP(3.0), 0.1), ledger=tmp_path / "sitr.db")
    preview = str(asked(budget).preview(PRICE))
    answer = asked(budget).release(PRICE)
    exposed = answer.histogram.plan.sparse.exposed()
    page = answer.certificate(tmp_path / "a.html").read_text()
    for text in (preview, str(answer), page):
        words = " ".join(text.split())
        assert "protects a random newcomer" in words
        assert "Anyone who is alone in a cell is exposed outright" in words
        assert f"at most {exposed:.1f}" in words
        assert "Nobody can be exposed" not in words
    assert str(answer).count("exactly 0 ") >= 1
    assert page.count("exactly 0</td>") == 90
    told = answer.to_dict()
    assert told["exposed"] == exposed
    assert told["method"] == "sparse"
    assert {(cell["low"], cell["high"]) for cell in told["cells"][10:]} == {(0.0, 0.0)}
    later = asked(budget, method=Flat()).release(PureDP(1.0))
    for text in (
        str(later),
        str(asked(budget, method=Flat()).preview(PureDP(1.0))),
        later.certificate(tmp_path / "b.html").read_text(),
    ):
        assert "random newcomer" in " ".join(text.split())  # the budget says so, whatever this answer promises


# A paid answer is kept, and read again at no charge

KEPT = {
    "flat": (("cost",), {"bins": 6}, PureDP(1.0)),
    "two columns": (("ward", "cost"), {"bins": {"cost": 3}}, PureDP(1.0)),
    "tree": (("cost",), {"bins": 20, "method": Tree(3)}, PureDP(1.0)),
    "buckets": (("cost",), {"bins": 20, "method": Buckets()}, PureDP(1.0)),
    "bins": (("cost",), {"bins": (2, 4, 8)}, ApproximateDP(1.0, 1e-6)),
    "unlisted": (("days",), {}, ApproximateDP(5.0, 1e-3)),
    "beyond 64 bits": (("cost",), {"bins": 6}, PureDP(1e-30)),
}
each_kept = pytest.mark.parametrize(("columns", "said", "price"), KEPT.values(), ids=KEPT)


@pytest.mark.sampled(3)
@each_kept
def test_a_kept_histogram_is_returned_as_it_was(budget: Budget, columns: Any, said: Any, price: Any) -> None:
    answer, again = (budget.histogram(*columns, **said).release(price) for _ in range(2))
    assert again.receipt.again
    assert again.intervals() == answer.intervals()
    assert as_new(again).to_dict() == answer.to_dict()
    assert str(as_new(again)) == str(answer)
    assert again.nonnegative().histogram.processed
    assert len(budget.entries()) == 1


def as_new(again: Any) -> Any:
    """The same answer, without the note that it was asked for again."""
    return replace(again, receipt=replace(again.receipt, again=False))


def test_kept_dates_and_categories_are_returned_too(tmp_path: Path) -> None:
    budget = small(tmp_path, Relation.REPLACE_ONE)
    months = {"every": {"d": Step.MONTH}, "bounds": {"d": (date(2024, 1, 1), date(2024, 2, 3))}}
    request = budget.histogram("d", "w", outside={"w": Rule.CELL}, **months)  # type: ignore[arg-type]
    answer, again = (request.release(PureDP(1.0)) for _ in range(2))
    assert answer.histogram.total == 5
    assert again.receipt.again
    assert as_new(again).to_dict() == answer.to_dict()


def test_a_kept_sparse_histogram_is_returned_too(tmp_path: Path) -> None:
    budget = crowd().budget(RandomDP(PureDP(3.0), 0.1), ledger=tmp_path / "sitr.db")
    answer, again = (asked(budget).release(PRICE) for _ in range(2))
    assert again.receipt.again
    assert as_new(again).to_dict() == answer.to_dict()
    assert (again.histogram.empty == answer.histogram.empty).all()


@each_kept
def test_a_histogram_that_was_not_released_is_refused(budget: Budget, columns: Any, said: Any, price: Any) -> None:
    """Other counts than follow from what was measured, another shape, a total that is not public."""
    found = budget.histogram(*columns, **said).release(price, coins=TestCoins(3)).histogram
    assert found.possible()
    wider = Grid((*found.grid.axes, Even(Column("more", Kind.REAL), Fraction(0), Fraction(1), 2)))
    broken = [
        replace(found, counts=found.counts + 1e-3 * np.abs(found.counts) + 1),
        replace(found, total=5),
        replace(found, processed=("smoothed",)),
        replace(found, grid=wider),
        replace(found, empty=np.zeros(len(found.counts), np.bool_)),
        replace(found, starts=np.array([1])),
        replace(found, levels=tuple(level + 0.5 for level in found.levels)),
    ]
    if found.starts is not None:
        broken.append(replace(found, starts=None))
    for changed in broken:
        assert len(found.counts) == 0 or not changed.possible()


# Synthetic rows


def test_drawn_rows_follow_the_counts(tmp_path: Path) -> None:
    rows = small(tmp_path).histogram("x", bins=2, bounds=(0, 2)).release(QUIET).draw(50_000, coins=TestCoins(1))
    values = rows["x"].to_numpy(zero_copy_only=False)
    shares = [np.mean(values < 1), np.mean(values >= 1), np.mean(np.isnan(values))]
    for share, count in zip(shares, (1, 3, 1), strict=True):
        assert abs(share - count / 5) < 5 * np.sqrt(count / 5 * (1 - count / 5) / 50_000)
    inside = values[~np.isnan(values)]
    assert 0 <= inside.min() < 0.01
    assert 1.99 < inside.max() <= 2
    assert abs(np.mean(inside[inside >= 1]) - 1.5) < 5 * np.sqrt(1 / 12 / 30_000)  # evenly within a cell


def test_drawn_rows_have_the_types_of_the_columns(tmp_path: Path) -> None:
    budget = small(tmp_path)
    days = budget.histogram("d", every=Step.MONTH, bounds=(date(2024, 1, 1), date(2024, 2, 3))).release(QUIET)
    drawn = days.draw(400, coins=TestCoins(2))["d"].to_pylist()
    assert {day.month for day in drawn} == {1}
    assert {day.day for day in drawn} == set(range(1, 32))
    both = budget.histogram("w", "x", edges={"x": (0, 1, 2)}, outside={"x": Rule.DROP}, missing=Rule.CELL).release(
        QUIET
    )
    pairs = {
        (w, int(x)) for w, x in zip(*(both.draw(300, coins=TestCoins(3))[n].to_pylist() for n in "wx"), strict=True)
    }
    assert pairs == {("a", 0), ("b", 1)}
    other = budget.histogram("w", outside=Rule.CELL).release(QUIET)
    assert set(other.draw(300, coins=TestCoins(4))["w"].to_pylist()) == {"a", "b", None}


def test_whole_numbers_are_drawn_from_whole_cells(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(PureDP(1e8), ledger=tmp_path / "whole.db")
    drawn = budget.histogram("days", edges={"days": (0, 3, 6)}).release(QUIET).draw(2_000, coins=TestCoins(5))["days"]
    assert set(drawn.to_pylist()) == set(range(7))


def test_drawing_is_free_and_says_whether_the_noise_was_private(budget: Budget) -> None:
    answer = budget.histogram("cost", bins=4).release(PureDP(1.0))
    left = budget.remaining()
    assert answer.draw(10).num_rows == 10
    assert answer.lattice(total=100).draw(0).num_rows == 0
    assert budget.remaining() == left
    assert answer.draw(1).schema.metadata[b"sitr"] == b'{"private": true}'
    with pytest.raises(sitr.SitrError, match="rows"):
        answer.draw(-1)


def test_a_histogram_without_people_draws_from_all_cells(tmp_path: Path) -> None:
    empty = small(tmp_path).where(sitr.column("x") > 100).histogram("x", bins=2, bounds=(0, 2)).release(QUIET)
    values = empty.draw(300, coins=TestCoins(6))["x"].to_pylist()
    assert {None if value is None else int(value) for value in values} >= {0, 1, None}


def test_a_cell_that_is_known_to_be_empty_draws_nobody(tmp_path: Path) -> None:
    """The paper's pipeline: a random-DP histogram, then rows."""
    rows = pa.table({"x": [0.5] * 900 + [1.5] * 100})
    data = sitr.protect(rows, name="t", unit=Row(), relation=Relation.REPLACE_ONE)
    budget = data.budget(RandomDP(PureDP(1.0), 0.2), ledger=tmp_path / "random.db")
    question = budget.histogram("x", bins=10, bounds=(0, 10), method=Sparse(), missing=Rule.DROP)
    drawn = question.release(RandomDP(PureDP(1.0), 0.2)).draw(2_000, coins=TestCoins(7))["x"].to_numpy()
    assert drawn.max() < 2
    assert abs(np.mean(drawn < 1) - 0.9) < 0.05
