"""A sum over all groups moves by at most its distance, has sound intervals, and is used where groups say nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.in_total import is_total, total_distance
from sitr.questions.aggregate.left_out import left_out
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.term import Term
from tests.questions.aggregate.test_bias import GROUPS, SQL, backend, described, rows, watched

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

SMALL, LARGE = PureDP(0.1), PureDP(1_000.0)
BOTH = "SELECT ward, COUNT(*) AS n, COUNT(DISTINCT id) AS people FROM visits GROUP BY ward"


def totals(plan: AggregatePlan) -> list[str]:
    return [each.name for each in plan.measurements if is_total(each)]


def test_a_small_price_measures_sums_and_a_large_one_measures_groups() -> None:
    assert len(totals(fit(watched(), SMALL))) == 3
    assert totals(fit(watched(), LARGE)) == []
    assert totals(fit(watched("SELECT COUNT(*) AS n FROM visits"), SMALL)) == []  # there is one group


@pytest.mark.parametrize("price", [SMALL, ZeroConcentratedDP(1e-4), ApproximateDP(0.1, 1e-9)], ids=repr)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("relation", Relation)
def test_the_plan_keeps_its_price(price, known: bool, relation: Relation) -> None:
    if not known and not isinstance(price, ApproximateDP):
        return
    plan = fit(watched(table=described(relation=relation, known=known)), price)
    plan.check()
    assert totals(plan)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("salt", [1, 77])
def test_one_person_moves_a_sum_by_at_most_its_distance(relation: Relation, salt: int) -> None:
    """And by exactly that at worst: the broken twin, a distance of 1 less, is caught."""
    query = watched(table=described(relation=relation))
    assert query.watch is not None
    everyone, worst = rows(), 0
    for who in (11, 15, 35, 23):
        mine = [row for row in everyone if row[0] == who]
        rest = [row for row in everyone if row[0] != who]
        other = [(who, "A", 900.0)] * 9 if relation is Relation.REPLACE_ONE else []
        first, second = backend(rest + mine).read(query, salt=salt), backend(rest + other).read(query, salt=salt)
        for term in query.watch.terms:
            place = query.terms.index(term)
            moved = abs(sum(line[place] for line in first.values()) - sum(line[place] for line in second.values()))
            assert moved <= total_distance(query, term).l1 == GROUPS
            worst = max(worst, moved)
    if relation is Relation.ADD_REMOVE:
        assert worst == GROUPS


def test_the_distance_is_that_of_all_groups_together() -> None:
    assert total_distance(watched(), Term(watched().view.person, people=True)).l1 == GROUPS
    of_rows = watched("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", described(Row()))
    assert total_distance(of_rows, Term()).l1 == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("sql", "price", "measured"),
    [(SQL, PureDP(0.3), True), (BOTH, PureDP(0.1), True), (SQL, PureDP(1.5), False)],
    ids=["measured in total", "beside people by group", "added up"],
)
def test_intervals_of_shares_hold(sql: str, price: PureDP, measured: bool) -> None:
    """In 150 releases, the exact share of all groups lies in its interval at least as often as stated.

    That is so if sums were measured, and if the noisy numbers of groups are added up because none says anything.
    """
    query = watched(sql)
    assert query.watch is not None
    assert query.watch.cut is not None
    small = backend(rows()).read(query, salt=3)
    times = 2_000 if measured else 40
    exact = {key: tuple(times * number for number in line) for key, line in small.items()}  # a larger table
    cut, everybody = (
        sum(line[query.terms.index(term)] for line in exact.values())
        for term in (query.watch.cut, query.watch.everybody)
    )
    plan, truth = fit(query, price), Fraction(cut, everybody)
    assert bool(totals(plan)) is measured
    coins, held, shown, widths = TestCoins(5), 0, 0, []
    for _ in range(150):
        found = left_out(AggregateQuestion(query).answer(plan, exact, coins=coins))[0]
        if found.total:
            (share,) = set(found.shares)
            shown += 1
            held += share.low <= truth <= share.high
            widths.append(float(share.high - share.low))
    assert shown == 150 if measured else shown > 100
    assert held >= shown - 13  # 95% of 150 is 142; two deviations are 5
    assert np.median(widths) < (0.5 if measured else 0.95)  # and they say something


def test_added_groups_say_more_than_one_group() -> None:
    """The noise of a sum grows with the root of the number of groups, and its size with the number."""
    query = watched()
    small = backend(rows()).read(query, salt=3)
    question, plan = AggregateQuestion(query), fit(query, PureDP(1.5))
    tells = 0
    for seed, times in enumerate((40, 100, 300, 100_000)):
        exact = {key: tuple(times * number for number in line) for key, line in small.items()}
        found = left_out(question.answer(plan, exact, coins=TestCoins(seed)))[0]
        tells += any(share.tells for share in found.shares)
        if times == 100_000:
            assert not found.total
    assert tells >= 2


def test_people_of_groups_that_are_not_shown_are_not_divided_by() -> None:
    """With unknown keys, the number of people in all groups is not the sum of a shown column."""
    plan = fit(watched(BOTH, described(known=False)), ApproximateDP(0.1, 1e-9))
    assert totals(plan) == []


def test_the_bias_has_its_share_of_the_price_and_no_more() -> None:
    plan = fit(watched(), SMALL)
    shown = len([terms for terms in plan.query.measured if terms[0] in plan.query.shown_terms])
    noises: list[Any] = [each.mechanism for each in plan.measurements[shown:]]
    spent = sum(float(noise.cost()) for noise in noises)
    assert spent == pytest.approx(0.05 * 0.1, rel=1e-9)
