"""What caps and bounds leave out is counted exactly, moves little with one person, and has sound intervals."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from sitr.backends.duckdb import DuckDB
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bias import Why, share_of
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.left_out import beyond_groups, left_out
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.stability import stability

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

SHARE = Fraction(1, 20)
SQL = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
GROUPS, ROWS = 2, 3


def rows(people: int = 40) -> list[tuple[int, str, float]]:
    """Person p has p % 6 rows in each of p % 4 wards; every fifth person has a value beyond the bounds."""
    return [
        (p, "ABC"[ward], 500.0 if p % 5 == 0 and n == 0 else float(n))
        for p in range(people)
        for ward in range(p % 4)
        for n in range(p % 6)
    ]


def backend(content: list[tuple[int, str, float]]) -> DuckDB:
    ids, wards, costs = zip(*content, strict=True) if content else ((), (), ())
    schema = pa.schema([("id", pa.int64()), ("ward", pa.string()), ("cost", pa.float64())])
    return DuckDB(ArrowRows(pa.table({"id": ids, "ward": wards, "cost": costs}, schema=schema)))


def described(unit: Unit = Person("id"), relation: Relation = Relation.ADD_REMOVE, *, known: bool = True) -> Table:  # noqa: B008
    caps = (GROUPS, ROWS) if isinstance(unit, Person) else (None, None)
    return describe(
        "visits",
        kinds=backend([]).kinds(),
        unit=unit,
        relation=relation,
        max_groups=caps[0],
        max_rows_per_group=caps[1],
        bounds={"cost": (0, 100)},
        granularity={"cost": 1},
        keys={"ward": ["A", "B", "C"]} if known else {},
    )


def watched(sql: str = SQL, table: Table | None = None) -> BoundedQuery:
    return asked(sql, table or described()).watching(SHARE)


def test_people_are_counted_exactly() -> None:
    query = watched()
    assert query.watch is not None
    assert query.watch.cut is not None
    cells = backend(rows()).read(query, salt=4)
    place = query.terms.index(query.watch.cut)
    everybody, clamped = query.terms.index(query.watch.everybody), query.terms.index(query.watch.clamped[0][1])
    many = Counter(p for p, _, _ in dict.fromkeys((p, ward, 0) for p, ward, _ in rows()))
    assert {line[-2] for line in cells.values()} == {sum(1 for groups in many.values() if groups > GROUPS)}
    # Nobody with at most two wards is left out of one, so that these people can be counted without the salt.
    few = backend([row for row in rows() if many[row[0]] <= GROUPS]).read(query, salt=4)
    for (ward,), line in few.items():
        own = Counter(p for p, where, _ in rows() if where == ward and many[p] <= GROUPS)
        assert line[everybody] == line[-1] == len(own)
        assert line[place] == sum(1 for n in own.values() if n > ROWS)
        assert line[clamped] == sum(1 for p in own if p % 5 == 0)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("salt", [1, 77])
def test_one_person_moves_each_number_by_at_most_its_distance(relation: Relation, salt: int) -> None:
    query = watched(table=described(relation=relation))
    everyone = rows()
    for who in (11, 15, 35, 23):
        mine = [row for row in everyone if row[0] == who]
        rest = [row for row in everyone if row[0] != who]
        other = [(who, "A", 900.0)] * 9 if relation is Relation.REPLACE_ONE else []
        first, second = backend(rest + mine).read(query, salt=salt), backend(rest + other).read(query, salt=salt)
        for place, term in enumerate(query.terms):
            gaps = [abs(first[key][place] - second[key][place]) for key in first]
            limit = stability(query, term)
            assert limit is not None
            assert sum(gaps) <= limit.l1
            assert sum(gap**2 for gap in gaps) <= limit.l2_squared
        assert abs(first[("A",)][-2] - second[("A",)][-2]) <= 1


def test_a_broken_twin_that_counts_rows_cut_is_caught() -> None:
    """One person can have any number of rows cut: such a count moves by more than 1."""
    query = watched()
    assert query.watch is not None
    assert query.watch.cut is not None
    limit = stability(query, query.watch.cut)
    assert limit is not None
    rows_cut = [max(0, n - ROWS) for n in (900, 2)]
    assert sum(rows_cut) > limit.l1


def test_the_price_is_divided_as_stated() -> None:
    for price in (PureDP(1.0), ZeroConcentratedDP(0.5), ApproximateDP(1.0, 1e-6)):
        with_bias, without = fit(watched(), price), fit(asked(SQL, described()), price)
        with_bias.check()
        shown = [each.noise.size for each in with_bias.noisy[:2]]
        alone = [each.noise.size for each in without.noisy[:2]]
        power = 1 if isinstance(with_bias.noisy[0].noise.promise(), PureDP) else Fraction(1, 2)
        for more, less in zip(shown, alone, strict=True):
            assert float(more / less) == pytest.approx(float(Fraction(20, 19)) ** float(power), rel=1e-2)


def test_unknown_keys_are_watched_too() -> None:
    query = watched(table=described(known=False))
    plan = fit(query, ApproximateDP(5.0, 1e-6))
    plan.check()
    release = AggregateQuestion(query).answer(plan, backend(rows(4000)).read(query, salt=2), coins=TestCoins(1))
    assert release.possible()
    assert len(release.keys) == 3
    found = left_out(release)
    assert [each.why for each in found] == [Why.ROWS, Why.BOUNDS]
    assert beyond_groups(release) is not None


def test_nothing_is_measured_where_nothing_can_be_left_out() -> None:
    assert watched("SELECT COUNT(DISTINCT id) AS n FROM visits").watch is None
    assert watched("SELECT COUNT(*) AS n FROM visits", described(Row())).watch is None
    clamped = watched("SELECT SUM(cost) AS s FROM visits", described(Row())).watch
    assert clamped is not None
    assert clamped.cut is None
    assert not watched("SELECT COUNT(DISTINCT id) AS n FROM visits").leaves_out
    assert asked(SQL, described()).leaves_out


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 2, "on", float("nan")])
def test_a_share_is_a_share(wrong: object) -> None:
    with pytest.raises(QuestionError, match="share of the price"):
        share_of(wrong)
    assert share_of("off") is None


def coverage(plan: AggregatePlan, *, draws: int, forget: bool = False) -> float:
    """How often all shares of an answer lie in their intervals."""
    query = plan.query
    cells = backend(rows(400)).read(query, salt=9)
    assert query.watch is not None
    places = [query.terms.index(term) for term in query.watch.terms]
    truth = {key: [Fraction(line[place], line[places[0]]) for place in places[1:]] for key, line in cells.items()}
    inside = total = 0
    question, coins = AggregateQuestion(query), TestCoins(5)
    for _ in range(draws):
        release = question.answer(plan, cells, coins=coins)
        for which, found in enumerate(left_out(release, confidence=0.5 if forget else 0.95)):
            for key, share in zip(release.keys, found.shares, strict=True):
                inside += share.low <= truth[key][which] <= share.high
                total += 1
    return inside / total


def test_intervals_of_shares_hold_what_they_promise() -> None:
    plan = fit(watched(), ZeroConcentratedDP(0.2))
    assert coverage(plan, draws=100) >= 0.95
    assert coverage(plan, draws=50, forget=True) < 0.95


@pytest.mark.parametrize(("shown", "by", "many"), [("p", "p", 3), ("p", "ward", 1), ("m", "n", 1)])
def test_shares_of_rows_that_their_own_noise_chose_hold_together(shown: str, by: str, many: int) -> None:
    """The largest of many noisy numbers of people is mostly too large, and the share of it too small."""
    other = {"p": "COUNT(DISTINCT id) AS p", "m": "COUNT(cost) AS m"}[shown]
    sql = f"SELECT ward, {other}, COUNT(*) AS n FROM visits GROUP BY ward"
    plain, chosen = (
        fit(watched(f"{sql}{after}"), ZeroConcentratedDP(5.0)) for after in ("", f" ORDER BY {by} LIMIT 1")
    )
    cells, question = backend(rows(400)).read(plain.query, salt=9), AggregateQuestion(chosen.query)
    release = question.answer(chosen, cells, coins=TestCoins(3))
    everything = replace(release, plan=plain)
    sure, place = 1 - Fraction(1, 20) / many, release.places[0]
    (found,), (every,) = left_out(release), left_out(everything, confidence=sure)
    assert found.shares == every.shares[place : place + 1]
    assert not found.total


def test_the_same_number_of_people_is_paid_once() -> None:
    query = watched("SELECT ward, COUNT(DISTINCT id) AS p, COUNT(*) AS n FROM visits GROUP BY ward")
    assert query.watch is not None
    assert query.watch.everybody in query.shown_terms
    assert len(query.terms) == 3  # people, rows, people with rows cut
    assert len(query.watch.terms) == 2


def test_values_beyond_bounds_that_no_question_can_write_are_counted() -> None:
    """EXP(2·cost) has bounds above 2^63, and people with values above them."""
    kinds = {"id": Kind.INTEGER, "cost": Kind.REAL}
    table = describe(
        "visits",
        kinds=kinds,
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=1,
        max_rows_per_group=1,
        bounds={"cost": (0, 40)},
        granularity={},
        keys={},
    )
    query = asked("SELECT SUM(EXP(2 * cost)) AS s FROM visits", table).watching(SHARE)
    assert query.watch is not None
    ((_, term),) = query.watch.clamped
    costs = [39.0, 39.9, 40.1, 50.0, None]
    backend = DuckDB(ArrowRows(pa.table({"id": list(range(5)), "cost": costs})))
    (cells,) = backend.read(query, salt=1).values()
    assert cells[query.terms.index(term)] == 2
