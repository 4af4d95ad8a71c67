"""Keys that nobody has listed, shown with the numbers of people that selected them: one measurement, shown twice."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from sitr.dataset.schema import Kind, describe
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.other import with_other
from sitr.questions.aggregate.plan import KEYS
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.split import weights_of
from sitr.questions.aggregate.sql import parse
from sitr.session.plain import built, plain

APPROXIMATE, MOMENTS = ApproximateDP(1.0, 1e-6), ApproximateZeroConcentratedDP(0.1, 1e-6)
PEOPLE = "SELECT g, COUNT(DISTINCT id) AS n FROM t GROUP BY g"


def ask(sql, *, groups=2, rows=3, relation=Relation.ADD_REMOVE, public=False):
    table = describe(
        "t",
        kinds={"id": Kind.INTEGER, "g": Kind.TEXT, "h": Kind.TEXT, "x": Kind.INTEGER},
        unit=Person("id"),
        relation=relation,
        max_groups=groups,
        max_rows_per_group=rows,
        bounds={"x": (0, 10)},
        granularity={},
        keys={"h": ["a", "b"], **({"g": ["a", "b"]} if public else {})},
    )
    return AggregateQuestion(bound(parse(sql), table))


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("groups", [2, 40])
@pytest.mark.parametrize("price", [APPROXIMATE, MOMENTS])
@pytest.mark.parametrize("sql", [PEOPLE, "SELECT g, COUNT(DISTINCT id) AS n, SUM(x) AS s FROM t GROUP BY g"])
def test_the_threshold_is_the_measurement(sql, price, groups, relation):
    plan = ask(sql, groups=groups, relation=relation).plan(price)
    plan.check()
    assert plan.counted is not None
    assert [each.name for each in plan.measurements] == (["SUM(x)", KEYS] if "SUM" in sql else [KEYS])
    assert isinstance(plan.threshold, Threshold | GaussianThreshold)
    assert plan.columns[0].measured[0].noise == plan.threshold.noise
    # All of the price is used, and a little more would be too much.
    if sql == PEOPLE and price == MOMENTS:
        assert plan.promise().rho == pytest.approx(0.1)
    if sql == PEOPLE and isinstance(plan.threshold, Threshold):
        assert plan.promise().epsilon == pytest.approx(1.0)


def test_it_has_half_the_noise_of_a_second_measurement():
    reused, again = ask(PEOPLE).plan(APPROXIMATE), ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g").plan(APPROXIMATE)
    assert again.counted is None
    assert isinstance(again.threshold, PartitionSelection)
    assert again.threshold.error() > reused.threshold.error()
    assert reused.columns[0].error(rows=1_000) == reused.threshold.noise.error()


@pytest.mark.parametrize(
    ("sql", "how"),
    [
        ("SELECT g, COUNT(*) AS n FROM t GROUP BY g", {}),  # a person may have three rows
        ("SELECT g, COUNT(x) AS n FROM t GROUP BY g", {"rows": 1}),
        ("SELECT g, COUNT(*) FILTER (WHERE x > 3) AS n FROM t GROUP BY g", {"rows": 1}),
        ("SELECT g, COUNT(DISTINCT id) FILTER (WHERE x > 3) AS n FROM t GROUP BY g", {}),
        ("SELECT g, SUM(x) / COUNT(DISTINCT id) AS n FROM t GROUP BY g", {}),
        ("SELECT g, COUNT(DISTINCT id) AS n, SUM(x) / COUNT(DISTINCT id) AS m FROM t GROUP BY g", {}),
        ("SELECT g, h, COUNT(DISTINCT id) AS n FROM t GROUP BY g, h", {}),
        ("SELECT g, DP_INTERVAL_LOW(COUNT(DISTINCT id)) AS n FROM t GROUP BY g", {}),
        (PEOPLE, {"public": True}),
    ],
)
def test_other_numbers_are_measured_again(sql, how):
    assert ask(sql, **how).plan(APPROXIMATE).counted is None


def test_rows_are_people_where_each_has_one():
    assert ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g", rows=1).plan(APPROXIMATE).counted is not None
    assert ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g", rows=1).plan(MOMENTS).counted is not None


def test_a_row_for_other_keys_and_weights_need_a_measurement_of_their_own():
    one = ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g", groups=1, rows=1)
    assert AggregateQuestion(with_other(one.query)).plan(APPROXIMATE).counted is None
    weighted = replace(one.query, split=weights_of({"n": 2}, ["n"]))
    assert AggregateQuestion(weighted).plan(APPROXIMATE).counted is None


@pytest.mark.sampled(1)
@pytest.mark.parametrize("price", [MOMENTS, APPROXIMATE])
def test_the_number_shown_is_the_one_that_passed(price):
    """Every number shown has reached the threshold, and is the exact one with this noise."""
    question = ask("SELECT g, COUNT(DISTINCT id) AS n, SUM(x) AS s FROM t GROUP BY g")
    plan = question.plan(price)
    people = {("a",): 500, ("b",): 120, ("c",): plan.threshold.least, ("d",): 1}
    place = plan.query.terms.index(plan.counted)
    cells = {key: (*tuple(many if at == place else 0 for at in range(2)), many) for key, many in people.items()}
    seen, shown = [], 0
    for seed in range(100):
        found = question.answer(plan, cells, coins=TestCoins(seed))
        assert found.possible()
        numbers = dict(zip(found.keys, (row[place] for row in found.measured), strict=True))
        assert min(numbers.values()) >= plan.threshold.least
        assert ("d",) not in numbers
        shown += ("c",) in numbers
        seen.append(numbers["a",] - 500)
        low, high = found.intervals()["n_low"].to_pylist()[0], found.intervals()["n_high"].to_pylist()[0]
        assert low <= numbers["a",] <= high
    assert 30 < shown < 90  # a half, and what is equal
    assert abs(sum(seen) / 100) < 4 * plan.threshold.noise.deviation / 10
    held = sum(abs(one) <= plan.threshold.noise.width(confidence=0.95) for one in seen)
    assert held > 80


@pytest.mark.parametrize("price", [APPROXIMATE, MOMENTS])
def test_plans_and_releases_can_be_written_down(price):
    question = ask(PEOPLE)
    plan = question.plan(price)
    assert built(plain(plan)) == plan
    release = question.answer(plan, {("a",): (500, 500)}, coins=TestCoins(1))
    again = built(plain(release, without="plan"), plan=plan)
    assert again == release
    assert again.possible()


def test_a_number_below_the_threshold_is_no_release():
    question = ask(PEOPLE)
    plan = question.plan(APPROXIMATE)
    found = question.answer(plan, {("a",): (500, 500)}, coins=TestCoins(1))
    assert found.possible()
    assert not replace(found, measured=((plan.threshold.least - 1,),)).possible()


def test_the_error_before_a_release_is_the_largest_of_all_numbers():
    plan = ask(PEOPLE).plan(APPROXIMATE)
    (column,) = plan.columns
    assert column.depends_on_rows
    for rows in (None, 40, 1_000):
        first = max(plan.threshold.least, rows or 0)
        each = [one.error for one in column.estimates((number,) for number in range(first, first + 150))]
        assert column.width(Fraction(95, 100), rows=rows) == max(each)
