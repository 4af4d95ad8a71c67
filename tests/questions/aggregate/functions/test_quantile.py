"""Quantiles, minima and maxima as questions: how they are written, bounded, paid for and shown."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from sitr.dataset.schema import Kind, describe
from sitr.errors import DescriptionError, ForbiddenConstruct, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.expressions.expression import Call, Literal, Name
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.frame import Expr
from sitr.questions.aggregate.functions import extremes
from sitr.questions.aggregate.functions.function import Aggregate, Estimate
from sitr.questions.aggregate.functions.quantile import Enclosed, InOrder, median, quantile, quantiles
from sitr.questions.aggregate.nodes import Named, Query, text
from sitr.questions.aggregate.quantity import Rank
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.sql import parse
from sitr.session.plain import built, plain

KINDS = {"id": Kind.INTEGER, "g": Kind.INTEGER, "x": Kind.REAL, "n": Kind.INTEGER, "d": Kind.DATE, "t": Kind.TEXT}


DOUBLE = Call("*", (Name("x"), Literal(2)))


def table(*, groups=2, rows=3, keys=2, known=True, relation=Relation.ADD_REMOVE, unit=None):
    return describe(
        "visits",
        kinds=KINDS,
        unit=unit or Person("id"),
        relation=relation,
        max_groups=None if unit else groups,
        max_rows_per_group=None if unit else rows,
        bounds={"x": (0, 10), "n": (-5, 100), "d": (date(2024, 1, 1), date(2024, 12, 31))},
        granularity={"x": 0.5},
        keys={"g": list(range(keys))} if known else {},
    )


def ask(sql, **described):
    return AggregateQuestion(bound(parse(sql), table(**described)))


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("MEDIAN(x)", "MEDIAN(x)"),
        ("QUANTILE(x, 0.1)", "QUANTILE(x, 0.1)"),
        ("QUANTILE_CONT(x, 0.25)", "QUANTILE(x, 0.25)"),
        ("QUANTILE_DISC(x, 1)", "QUANTILE(x, 1)"),
        ("PERCENTILE_CONT(x, 0.5)", "QUANTILE(x, 0.5)"),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)", "QUANTILE(x, 0.9)"),
        ("PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x DESC)", "QUANTILE(x, 0.1)"),
        ("APPROX_QUANTILE(x, 0.5)", "QUANTILE(x, 0.5)"),
        ("APPROX_PERCENTILE(x, 0.5)", "QUANTILE(x, 0.5)"),
        ("QUANTILE(x + 1, [0.25, 0.75])", "QUANTILE(x + 1, [0.25, 0.75])"),
        ("APPROX_QUANTILES(x, 4)", "APPROX_QUANTILES(x, 4)"),
        ("MIN(x)", "MIN(x)"),
        ("MAX(DISTINCT x)", "MAX(x)"),
        ("WITH_INTERVAL(MAX(x))", "WITH_INTERVAL(MAX(x))"),
        ("WITH_INTERVAL(QUANTILE(x, 0.3))", "WITH_INTERVAL(QUANTILE(x, 0.3))"),
    ],
)
def test_one_spelling_that_reads_back(written, spelled):
    query = parse(f"SELECT {written} AS q FROM visits")
    assert text(query) == f"SELECT {spelled} AS q FROM visits"
    assert parse(text(query)) == query


def test_calls_are_the_same_questions():
    calls: dict[str, Aggregate] = {
        "MEDIAN(x)": median("x"),
        "QUANTILE(x, 0.1)": quantile("x", 0.1),
        "WITH_INTERVAL(QUANTILE(x * 2, [0.1, 0.9]))": quantile(Expr(DOUBLE), [0.1, 0.9], interval=True),
        "APPROX_QUANTILES(x, 4)": quantiles("x", 4),
        "MIN(x)": extremes.min("x"),
        "MAX(x)": extremes.max("x"),
    }
    for sql, call in calls.items():
        assert Query("visits", (Named("q", call),)) == parse(f"SELECT {sql} AS q FROM visits")


def test_every_level_of_a_list_is_a_column():
    question = ask("SELECT g, QUANTILE(x, [0.9, 0.1]) AS q, APPROX_QUANTILES(n, 2) AS a FROM visits GROUP BY g")
    assert [name for name, _ in question.query.shown] == ["q_0.9", "q_0.1", "a_0", "a_1", "a_2"]
    assert len(question.query.terms) == 5
    with pytest.raises(QuestionError, match="same name"):
        ask("SELECT APPROX_QUANTILES(x, 2) AS q, MAX(x) AS q_2 FROM visits")


@pytest.mark.parametrize(
    ("sql", "error", "match"),
    [
        ("MEDIAN(t)", QuestionError, "needs a column of numbers"),
        ("MEDIAN(id)", DescriptionError, "needs bounds"),
        ("QUANTILE(x, 1.5)", QuestionError, "levels from 0 to 1"),
        ("QUANTILE(x, -0.5)", QuestionError, "levels from 0 to 1|cannot contain"),
        ("QUANTILE(x, n)", ForbiddenConstruct, "QUANTILE"),
        ("QUANTILE(x)", ForbiddenConstruct, "QUANTILE"),
        ("APPROX_QUANTILES(x, 0)", QuestionError, "a whole number from 1"),
        ("APPROX_QUANTILES(x, 1000)", QuestionError, "a whole number from 1"),
        ("MEDIAN(DISTINCT x)", ForbiddenConstruct, "MEDIAN"),
        ("WITH_INTERVAL(x)", ForbiddenConstruct, "WITH_INTERVAL"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x, n)", ForbiddenConstruct, "."),
    ],
)
def test_what_cannot_be_asked_is_refused(sql, error, match):
    with pytest.raises(error, match=match):
        ask(f"SELECT {sql} AS q FROM visits")


@pytest.mark.parametrize("level", [2, "a", None, float("nan"), True, []])
def test_bad_levels_of_calls_are_refused(level):
    with pytest.raises(QuestionError):
        quantile("x", level)
    with pytest.raises(QuestionError, match="interval"):
        median("x", interval="yes")  # type: ignore[arg-type]


# The price

PRICES = [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-6), ApproximateDP(2.0, 0.0)]
SQL = (
    "SELECT g, COUNT(*) AS c, MEDIAN(x) AS m, MIN(n) AS low, QUANTILE(n, 1) AS high, COUNT(DISTINCT t) AS k "
    "FROM visits GROUP BY g"
)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("groups", [1, 2, 25])
def test_the_price_is_kept_and_used(price, relation, groups):
    question = ask(SQL, groups=groups, keys=40, relation=relation)
    plan = question.plan(price)
    plan.check()
    assert plan.promise().covers(price)
    assert len(plan.measurements) == 5
    choices = [each.mechanism for each in plan.measurements if isinstance(each.mechanism, GroupedQuantile)]
    assert [choice.level for choice in choices] == [Fraction(1, 2), 0, 1]
    assert {(choice.each, choice.groups, choice.cells) for choice in choices} == {(3, groups, 40)}
    # A little more of everything is too much, unless a bound on the loss is coarser than the promises.
    if isinstance(price, PureDP):
        assert sum(choice.promise().epsilon for choice in choices) == pytest.approx(3 / 5 * price.epsilon)
    if isinstance(price, ZeroConcentratedDP):
        assert sum(choice.zero_concentrated().rho for choice in choices) == pytest.approx(3 / 5 * price.rho)
        assert plan.promise().rho == pytest.approx(price.rho)


def test_a_delta_pays_for_many_groups():
    """Pure ε is divided by the number of groups; the sum of the losses grows with its square root."""
    sql = "SELECT g, MEDIAN(x) AS m FROM visits GROUP BY g"
    errors = [
        ask(sql, groups=25, keys=40).plan(price).columns[0].error() for price in (PureDP(1.0), ApproximateDP(1.0, 1e-6))
    ]
    assert errors[1] < 0.6 * errors[0]


def test_unknown_keys_share_the_price():
    plan = ask(SQL, known=False).plan(ApproximateDP(1.0, 1e-6))
    plan.check()
    assert plan.threshold is not None
    with pytest.raises(QuestionError, match="not public"):
        ask(SQL, known=False).plan(PureDP(1.0))


def test_a_row_by_itself_is_in_one_group():
    plan = ask("SELECT MEDIAN(x) AS m FROM visits", unit=Row()).plan(PureDP(1.0))
    assert plan.measurements[0].mechanism == GroupedQuantile(1, 0.5, 0, 20, each=1, groups=1, cells=1, flip=True)


def test_without_groups_a_person_has_the_rows_of_all_groups():
    plan = ask("SELECT MEDIAN(x) AS m FROM visits", groups=2, rows=3).plan(PureDP(1.0))
    expected = GroupedQuantile(Fraction(1, 6), 0.5, 0, 20, each=6, groups=1, cells=1, flip=True)
    assert plan.measurements[0].mechanism == expected


@pytest.mark.parametrize("price", PRICES[:3])
def test_plans_and_releases_can_be_written_down(price):
    sql = (
        "SELECT g, QUANTILE(x, [0.1, 0.9]) AS q, WITH_INTERVAL(MEDIAN(d)) AS m, HISTOGRAM(n, [0, 10, 20]) AS h, "
        "COUNT(DISTINCT d) AS k FROM visits GROUP BY g"
    )
    question = ask(sql)
    plan = question.plan(price)
    assert built(plain(plan)) == plan
    release = question.answer(plan, {}, coins=TestCoins(1))
    again = built(plain(release, without="plan"), plan=plan)
    assert again == release
    assert again.possible()
    assert again.table().equals(release.table())


# What is shown


def answered(sql, cells, price, *, seed=1, **described):
    question = ask(sql, **described)
    plan = question.plan(price)
    return question.answer(plan, cells, coins=TestCoins(seed))


def test_an_answer_has_values_dates_and_ranks():
    days = {19_723 + day: 1 for day in range(300)}  # 2024-01-01 is day 19,723
    sql = "SELECT MEDIAN(d) AS m, MAX(d) AS last, QUANTILE(x, 0.25) AS q, MAX(n) AS most FROM visits"
    terms = (days, days, {4: 9, 8: 30}, {7: 100, 9: 1})
    release = answered(sql, {(): (*terms, 5)}, PureDP(10**6))
    (row,) = release.table().to_pylist()
    assert row["m"] in (date(2024, 5, 29), date(2024, 5, 30))  # the middle of an even number of days
    # 2024-10-26 is the last day. A maximum lies at most twice an error, rounded up, and two more ranks inside.
    assert date(2024, 10, 22) <= row["last"] <= date(2024, 10, 26)
    assert (row["q"], row["most"]) == (4.0, 7)
    (ends,) = release.intervals().select(["m_low", "m_high", "q_high", "most_low", "most_high"]).to_pylist()
    bounds = {"m_low": date(2024, 1, 1), "m_high": date(2024, 12, 31), "q_high": 10.0, "most_high": 100}
    assert ends == {**bounds, "most_low": 7}  # only an extreme has an end without a further measurement
    errors = AggregateQuestion(release.plan.query).errors(release.plan)
    assert errors["m"] == release.plan.columns[0].ranks()
    assert errors["m"] > 0


def test_several_levels_come_in_order():
    release = answered("SELECT g, APPROX_QUANTILES(n, 5) AS q FROM visits GROUP BY g", {}, PureDP(0.1), keys=50)
    for row in release.table().drop_columns("g").to_pylist():
        assert list(row.values()) == sorted(row.values())


def one(value, low, high):
    return Estimate(*map(Fraction, (value, low, high)))


def test_formulas():
    assert InOrder(0).show([one(5, 4, 9), one(3, 1, 6)]) == one(3, 1, 6)
    assert InOrder(1).show([one(5, 4, 5), one(3, 1, 6)]) == one(5, 4, 6)
    assert Enclosed().show([one(5, 0, 9), one(6, 6, 9), one(7, 0, 7)]) == one(6, 6, 7)
    assert Enclosed().show([one(5, 0, 9), one(6, 6, 9), one(2, 0, 2)]) == one(5, 2, 6)
    assert InOrder(1).error([Fraction(2), Fraction(3)]) == Enclosed().error([Fraction(3), Fraction(2)]) == 3


def test_an_interval_holds_at_its_confidence_and_below():
    tallies = {(): ({50: 4000},) * 3 + (9,)}
    release = answered("SELECT WITH_INTERVAL(MEDIAN(n)) AS m FROM visits", tallies, PureDP(5.0))
    (column_shown,) = release.plan.columns
    for confidence in (0.5, 0.95):
        assert release.estimates(column_shown, confidence=confidence) == [one(50, 50, 50)]
    assert release.estimates(column_shown, confidence=0.9999) == [one(50, -5, 100)]  # it was not measured for this


@pytest.mark.parametrize(
    ("level", "keys"), [(0.5, 100), *(pytest.param(level, 1_000, marks=pytest.mark.slow) for level in (0.5, 0.05, 1.0))]
)
def test_intervals_of_values_and_ranks_cover(level, keys):
    """A thousand releases, each of a group of its own, or ten thousand; every usual definition of a quantile is in the
    interval."""
    generator = np.random.default_rng(7)
    values = np.sort(np.round(generator.gamma(2.0, 12.0, 150)).astype(int))
    tally = {int(v): int(n) for v, n in zip(*np.unique(values, return_counts=True), strict=True)}
    sql = f"SELECT g, WITH_INTERVAL(QUANTILE(n, {level})) AS q FROM visits GROUP BY g"
    question = ask(sql, groups=1, rows=1, keys=keys)
    plan = question.plan(PureDP(1.5))
    terms = len(plan.query.terms)
    cells = {(key,): (*((tally,) * terms), 150) for key in range(keys)}
    exact = {
        float(np.quantile(values, level, method=method)) for method in ("linear", "inverted_cdf", "weibull", "higher")
    }
    (shown,) = plan.columns
    ranks, missed, off, often, widths = shown.ranks(), 0, 0, 0, []
    for seed in range(10):
        release = question.answer(plan, cells, coins=TestCoins(seed))
        for found in release.estimates(shown):
            missed += not found.low <= min(exact) or not max(exact) <= found.high
            below, up_to = sum(values < found.value), sum(values <= found.value)
            away = max(below - level * 150, level * 150 - up_to)
            off, often = off + (away > ranks), often + (away > ranks / 20)
            widths.append(found.high - found.low)
    assert missed <= keys / 2
    assert off <= keys / 2
    assert np.median([float(width) for width in widths]) < 80  # of 105 between the bounds: an interval says something
    assert often > keys / 2  # a twentieth of the error would not be enough


def test_fitted_offsets_cover_the_error():
    plan = fit(bound(parse("SELECT WITH_INTERVAL(MEDIAN(n)) AS m FROM visits"), table()), PureDP(1.0))
    middle, low, high = (each.mechanism for each in plan.measurements)
    assert isinstance(middle, GroupedQuantile)
    assert isinstance(low, GroupedQuantile)
    assert isinstance(high, GroupedQuantile)
    assert middle.offset == 0
    assert low.offset == -high.offset == -(math.ceil(high.error(confidence=1 - Fraction(5, 300))) + 1)
    assert [term.end for term in plan.query.terms if isinstance(term, Rank)] == [0, -1, 1]
