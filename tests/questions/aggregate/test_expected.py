"""Errors and ends of intervals hold for every row: for the row of other keys, and for rows that noise chose."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import sitr
from sitr.errors import QuestionError
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bias import Amount
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.other import with_other
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.split import targets_of
from sitr.questions.aggregate.targeted import met, refuse_uncertain
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH

PRICE = ApproximateZeroConcentratedDP(0.5, 1e-6)
ENDS = (
    "SELECT ward, COUNT(*) AS n, DP_INTERVAL_LOW(COUNT(*)) AS a, DP_INTERVAL_HIGH(COUNT(*)) AS b "
    "FROM visits GROUP BY ward"
)
COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def test_the_ends_of_an_interval_know_all_the_noise_of_the_row_of_other_keys(ask) -> None:
    query = with_other(ask(ENDS, max_groups=16, max_rows_per_group=1))
    question = AggregateQuestion(query)
    plan = question.plan(PRICE)
    assert plan.other_draws > 1
    nobody: Cells = {(f"k{i}",): (*[3] * len(query.terms), 3, 0, 0) for i in range(4)}
    release = question.answer(plan, nobody, coins=TestCoins(3))
    for row in release.intervals().to_pylist():
        assert (row["a"], row["b"]) == (row["n_low"], row["n_high"])
    assert release.rows[-1] == release.keys[-1]


def test_errors_before_a_release_hold_for_the_row_of_other_keys(ask) -> None:
    query = with_other(ask(COUNTS, max_groups=16, max_rows_per_group=1))
    question = AggregateQuestion(query)
    plan = question.plan(PRICE)
    release = question.answer(plan, {}, coins=TestCoins(3))
    (other,) = release.estimates(plan.columns[0])
    assert other.error <= question.errors(plan)["n"]
    targeted = fit(replace(query, split=targets_of({"n": 10}, ["n"])), PRICE)
    (one,) = met(targeted)
    assert one.error == Fraction(question.errors(targeted)["n"])


def test_errors_are_not_promised_where_the_number_of_keys_decides_them(ask) -> None:
    query = ask(f"{COUNTS} ORDER BY n DESC")
    plan = fit(query, PRICE)
    with pytest.raises(QuestionError, match="how many keys are released"):
        refuse_uncertain(plan)
    with pytest.raises(QuestionError, match="how many keys are released"):
        fit(replace(query, split=targets_of({"n": 10}, ["n"])), PRICE)
    for fine in (ask(COUNTS), ask(f"{COUNTS} ORDER BY n DESC", keys={"ward": ["A", "B"]})):
        refuse_uncertain(fit(fine, PRICE))
    assert "for a single released key" in ENGLISH.aggregate.together(None)
    assert "single" not in ENGLISH.aggregate.together(3)
    assert "لمفتاح منشور واحد" in ARABIC.aggregate.together(None)


def test_no_price_is_named_for_them(tmp_path) -> None:
    rows = pa.table({"id": [1, 2], "ward": ["A", "B"]})
    data = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = data.budget(PRICE, ledger=tmp_path / "ledger.db")
    with pytest.raises(QuestionError, match="how many keys are released"):
        budget.sql(f"{COUNTS} ORDER BY n DESC").price_for({"n": 10})


def test_a_column_without_a_largest_error_has_no_target(ask) -> None:
    query = ask("SELECT COUNT(*) * COUNT(DISTINCT id) AS square FROM visits")
    with pytest.raises(QuestionError, match="The error of square has no limit"):
        fit(replace(query, split=targets_of({"square": 10}, ["square"], rows=10)), ZeroConcentratedDP(0.5))


@pytest.mark.parametrize("asked", ["DP_INTERVAL_HIGH(COUNT(*))", "DP_INTERVAL_LOW(SUM(cost))"])
def test_only_the_same_end_may_have_the_name_of_an_end(ask, asked) -> None:
    with pytest.raises(QuestionError, match="the same name: n_low"):
        ask(f"SELECT COUNT(*) AS n, {asked} AS n_low FROM visits")


def test_an_end_with_its_usual_name_has_the_level_that_is_asked_for(ask) -> None:
    plan = fit(ask("SELECT DP_INTERVAL_LOW(COUNT(*)) AS n_low, COUNT(*) AS n FROM visits"), ZeroConcentratedDP(0.5))
    release = AggregateQuestion(plan.query).answer(plan, {}, coins=TestCoins(3))
    for sure in (0.95, 0.9999):
        (row,) = release.intervals(confidence=sure).to_pylist()
        (one,) = release.estimates(plan.columns[1], confidence=sure)
        assert row == {"n_low": one.low, "n": one.value, "n_high": one.high}


def test_left_out_rows_do_not_put_the_exact_count_outside_its_interval(ask) -> None:
    query, share = ask(COUNTS), Amount(Fraction(1, 2), Fraction(1, 3), Fraction(2, 3))
    for words, larger, rest in ((ENGLISH, "may be above", "outside their"), (ARABIC, "وقد يكون فوق", "خارج فتراتها")):
        said = words.aggregate.cut(("A",), share, query, counts=True)
        assert larger in said
        assert "is above this interval" not in said
        assert rest in words.aggregate.cut(("A",), share, query)
        assert "ward = A" in said.replace("\u2068", "").replace("\u2069", "")  # a value alone, such as 0, says nothing


def test_selected_keys_may_be_missing_too(ask) -> None:
    plan = fit(ask(COUNTS, max_groups=1, max_rows_per_group=2), sitr.ApproximateDP(1.0, 1e-3))
    assert plan.shared_delta
    for words, missing, finite in ((ENGLISH, "a key is missing", "finite factor"), (ARABIC, "أو يغيب", "بعامل منتهٍ")):
        assert missing in words.aggregate.exposure(plan)
        assert finite in words.aggregate.tail(plan)
