"""Histograms beside other aggregates, and counts of different values: written, bounded, paid for and shown."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from sitr.errors import ForbiddenConstruct, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.frame import column
from sitr.questions.aggregate.functions.count import count
from sitr.questions.aggregate.functions.histogram import histogram
from sitr.questions.aggregate.nodes import Named, Query, text
from sitr.questions.aggregate.quantity import Distinct
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.stability import stability
from sitr.questions.aggregate.view import View
from sitr.session.plain import text as plain_text

KEYS = {"ward": ["A", "B", "C", "D", "E"]}


@pytest.mark.parametrize("written", ["HISTOGRAM(days, [0, 2, 5])", "HISTOGRAM(days, 0, 2, 5)"])
def test_edges_are_a_list_or_arguments(written):
    query = parse(f"SELECT {written} AS h FROM visits")
    assert text(query) == "SELECT HISTOGRAM(days, [0, 2, 5]) AS h FROM visits"
    assert parse(text(query)) == query == Query("visits", (Named("h", histogram("days", [0, 2, 5])),))


def test_dates_are_edges_too(ask):
    query = ask("SELECT HISTOGRAM(born, '1900-01-01', DATE '1950-01-01', '2000-01-01') AS h FROM visits")
    assert [name for name, _ in query.shown] == ["h_1900-01-01_1950-01-01", "h_1950-01-01_2000-01-01"]
    assert histogram("born", [date(1900, 1, 1), date(2000, 1, 1)]).sql() == (
        "HISTOGRAM(born, [DATE '1900-01-01', DATE '2000-01-01'])"
    )


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("HISTOGRAM(ward, [0, 1])", QuestionError),
        ("HISTOGRAM(days, [3, 2])", QuestionError),
        ("HISTOGRAM(days, [2, 2])", QuestionError),
        ("HISTOGRAM(days, ['a', 'b'])", QuestionError),
        ("HISTOGRAM(days, [NULL, 2])", QuestionError),
        ("HISTOGRAM(days)", ForbiddenConstruct),
        ("HISTOGRAM(days, [0])", ForbiddenConstruct),
        ("HISTOGRAM(days, [0, cost])", ForbiddenConstruct),
        ("HISTOGRAM(DISTINCT days, 0, 1)", ForbiddenConstruct),
        (f"HISTOGRAM(days, {list(range(300))})", QuestionError),
    ],
)
def test_bad_histograms_are_refused(ask, sql, error):
    with pytest.raises(error):
        ask(f"SELECT {sql} AS h FROM visits")


@pytest.mark.parametrize("edges", [3, "ab", [], [1], [0, column("days")]])
def test_bad_edges_of_calls_are_refused(edges, visits):
    with pytest.raises(QuestionError, match="edges"):
        histogram("days", edges).bound(View.of(visits()))


def test_all_bars_are_one_measurement(ask):
    """Five bars cost as much as one count: each row is in one of them."""
    sql = "SELECT ward, HISTOGRAM(days, [-2, 0, 1, 2, 3, 5]) AS h FROM visits GROUP BY ward"
    query = ask(sql, keys=KEYS)
    plan = AggregateQuestion(query).plan(PureDP(1.0))
    plan.check()
    (only,) = plan.measurements
    assert only.mechanism == Laplace(scale=6, sensitivity=6)  # k·m = 2·3, whatever the number of bars
    assert only.distance == Distance(l1=6, l2_squared=18, largest=3)
    assert len(plan.noisy) == len(plan.columns) == 5
    assert len(plan.first) == 1


@pytest.mark.parametrize("relation", Relation)
def test_distances(ask, relation):
    query = ask(
        "SELECT ward, HISTOGRAM(days, [0, 5]) AS h, COUNT(DISTINCT born) AS k FROM visits GROUP BY ward",
        keys=KEYS,
        relation=relation,
    )
    bars, different = (stability(query, term) for term in query.terms)
    if relation is Relation.ADD_REMOVE:
        assert bars == different == Distance(l1=6, l2_squared=18, largest=3)
    else:
        assert bars == Distance(l1=12, l2_squared=36, largest=3)
        assert different == Distance(l1=12, l2_squared=36, largest=3)
    whole = ask("SELECT HISTOGRAM(days, [0, 5]) AS h, COUNT(DISTINCT born) AS k FROM visits", relation=relation)
    bars, different = (stability(whole, term) for term in whole.terms)
    # One bar is one number: a person who is replaced moves 6 rows in or out, and no more than 6 different values.
    assert bars == different == Distance(l1=6, l2_squared=36, largest=6)
    several = ask("SELECT HISTOGRAM(days, [0, 2, 5]) AS h FROM visits", relation=relation)
    bars, more = (stability(several, term) for term in several.terms)
    # With two bars, 6 rows may move from one to the other.
    assert bars == more == Distance(*((6, 36, 6) if relation is Relation.ADD_REMOVE else (12, 72, 6)))


@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-6)])
def test_an_answer_has_a_column_for_each_bar(ask, price):
    query = ask("SELECT ward, COUNT(*) AS n, HISTOGRAM(days, [0, 2, 5]) AS h FROM visits GROUP BY ward", keys=KEYS)
    question = AggregateQuestion(query)
    plan = question.plan(price)
    plan.check()
    rng = np.random.default_rng(1)
    exact: Cells = {
        (key,): (int(rng.integers(900)), int(rng.integers(900)), int(rng.integers(900)), 3) for key in "ABC"
    }
    release = question.answer(plan, exact, coins=TestCoins(3))
    table = release.table()
    assert table.column_names == ["ward", "n", "h_0_2", "h_2_5"]
    for place, name in enumerate(table.column_names[1:]):
        shown = table[name].to_pylist()
        error = plan.columns[place].error(confidence=Fraction(999_999, 10**6))
        away = [abs(one - exact.get((key,), (0, 0, 0))[place]) for key, one in zip("ABCDE", shown, strict=True)]
        assert max(away) <= error
        assert max(away) > 0  # every number has noise of its own
    assert len({tuple(row) for row in release.measured}) == 5


def test_noise_of_the_bars_is_independent(ask):
    """Groups without rows show the noise itself: neither bars nor groups share it."""
    keys = {"ward": [f"w{place}" for place in range(400)]}
    question = AggregateQuestion(
        ask("SELECT ward, HISTOGRAM(days, [0, 2, 5]) AS h FROM visits GROUP BY ward", keys=keys)
    )
    release = question.answer(question.plan(PureDP(0.1)), {}, coins=TestCoins(9))
    one, other = np.array(release.measured, float).T
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.25
    assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.25


# Different values


def test_different_values_of_any_key(ask):
    for of in (
        "ward",
        "days",
        "born",
        "seen",
        "urgent",
        "LOWER(ward)",
        "DATE_TRUNC('month', born)",
        "CAST(cost AS INTEGER)",
    ):
        (term,) = ask(f"SELECT COUNT(DISTINCT {of}) AS k FROM visits").terms
        assert isinstance(term, Distinct)
        assert term.name == f"COUNT(DISTINCT {of})"
    (term,) = ask("SELECT COUNT(DISTINCT id) AS k FROM visits").terms
    assert not isinstance(term, Distinct)  # people: each adds 1
    (term,) = ask("SELECT APPROX_COUNT_DISTINCT(ward) AS k FROM visits").terms
    assert isinstance(term, Distinct)
    assert count(distinct="ward").sql() == "COUNT(DISTINCT ward)"


@pytest.mark.parametrize("of", ["cost", "scan", "*"])
def test_what_has_no_keys_cannot_be_counted(ask, of):
    with pytest.raises((QuestionError, ForbiddenConstruct), match="DISTINCT"):
        ask(f"SELECT COUNT(DISTINCT {of}) AS k FROM visits")


def test_a_plan_grows_with_the_number_of_cells_and_not_with_its_square(ask):
    sizes = []
    for cells in (20, 80):
        query = ask(f"SELECT HISTOGRAM(days, {list(range(cells + 1))}) AS h FROM visits")
        assert len(query.measured[0]) == cells
        sizes.append(len(plain_text(AggregateQuestion(query).plan(ZeroConcentratedDP(0.5)))))
    assert sizes[1] < 5 * sizes[0]


def test_bars_of_histograms_with_other_edges_are_other_measurements(ask):
    query = ask("SELECT HISTOGRAM(days, [0, 2, 5]) AS a, HISTOGRAM(days, [0, 2, 6]) AS b FROM visits")
    assert [len(terms) for terms in query.measured] == [2, 2]
    same = ask("SELECT HISTOGRAM(days, [0, 2, 5]) AS a, HISTOGRAM(days, 0, 2, 5) AS b FROM visits")
    assert [len(terms) for terms in same.measured] == [2]
