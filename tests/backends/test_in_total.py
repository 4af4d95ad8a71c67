"""A cap on all rows of a person: what is kept, and how far neighbouring tables are apart."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.reading import FewGroups, FewInTotal, FewRows, tree
from sitr.dataset.schema import Table, adjusted
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, Cells, bound
from sitr.questions.aggregate.quantity import Bar, Rank
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.stability import people, stability
from tests.backends.test_neighbors import Rows, moved, rows_of, table, within

QUESTIONS = (
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS total, COUNT(DISTINCT id) AS p FROM visits GROUP BY ward",
    "SELECT ward, AVG(cost) AS mean, COUNT(DISTINCT days) AS d FROM visits WHERE days < 40 GROUP BY ward",
    "SELECT ward, days, SUM_PER_PERSON(cost, -1, 7) AS s, COUNT(DISTINCT days) AS c FROM visits GROUP BY ward, days",
    "SELECT ward, HISTOGRAM(cost, [-2, 0, 2, 5]) AS h, COUNT(DISTINCT days) AS d FROM visits GROUP BY ward",
    "SELECT ward, MEDIAN(cost) AS middle, SUM(days) AS d FROM visits GROUP BY ward",
    "SELECT SUM(cost) AS total, COUNT(DISTINCT days) AS d, MEDIAN(days) AS middle FROM visits",
)


def described(groups: int | None, rows: int | None, total: int | None, **said: Any) -> Table:
    usual: dict[str, Any] = {"unit": Person("id"), "relation": Relation.ADD_REMOVE, "known": False}
    made = table(groups=groups or total, rows=rows or total, **(usual | said))
    return adjusted(made, max_rows=total)


def watched(question: str, described: Table) -> BoundedQuery:
    return bound(parse(question), described).watching(Fraction(1, 20))


def hostile(chance: random.Random, person: int) -> Rows:
    wards, costs = ["A", "B", "C", "Z", None], [None, math.nan, math.inf, -math.inf, -2.0, 5.0, 1e308, 0.25, 3.0]
    rows: Rows = [
        (person, chance.choice(wards), chance.choice(costs), chance.choice([0, 1, 2, 50, None]))
        for _ in range(chance.randint(0, 9))
    ]
    return rows * chance.choice([1, 1, 2, 30])


def check(query: BoundedQuery, first: Rows, second: Rows, *, salt: int) -> None:
    """All that is measured of two neighbours: sums, bars together, tallies, people, and people beyond the caps."""
    one, other = (rows_of(rows).read(query, salt=salt) for rows in (first, second))
    bars = []
    for place, term in enumerate(query.terms):
        if isinstance(term, Rank):
            _check_tallies(query, one, other, place)
            continue
        gap, limit = moved(query, one, other, place), stability(query, term)
        assert limit is not None
        assert within(gap, limit), term
        bars += [gap] if isinstance(term, Bar) else []
    if bars:
        limit = stability(query, next(term for term in query.terms if isinstance(term, Bar)))
        assert limit is not None
        assert sum(gap.l1 for gap in bars) <= limit.l1
        assert sum(gap.l2_squared for gap in bars) <= limit.l2_squared
    watch = query.watch
    assert within(moved(query, one, other, -1), people(query))
    if watch is not None and watch.beyond:
        beyond = [next(iter(cells.values()))[-2] if cells else 0 for cells in (one, other)]
        assert abs(beyond[0] - beyond[1]) <= 1


def _check_tallies(query: BoundedQuery, first: Cells, second: Cells, place: int) -> None:
    """How many values come and go in each group, for each of the two versions of the person."""
    most = query.max_rows or query.reached * query.max_rows_per_group
    for here, there in ((first, second), (second, first)):
        gone = []
        for key in here.keys() | there.keys():
            mine, theirs = (Counter[int](cells[key][place] if key in cells else {}) for cells in (here, there))
            gone.append((mine - theirs).total())
        assert max(gone, default=0) <= query.max_rows_per_group
        assert sum(map(bool, gone)) <= query.reached
        assert sum(gone) <= most


def replay(seed: int) -> None:
    chance = random.Random(seed)
    relation, question = chance.choice(list(Relation)), chance.choice(QUESTIONS)
    caps = chance.choice([(None, None), (chance.randint(1, 4), chance.randint(1, 4))])
    made = described(*caps, chance.randint(1, 6), relation=relation, known=chance.random() < 0.5)
    rest = [row for person in range(1, chance.randint(1, 5)) for row in hostile(chance, person)]
    mine, instead = hostile(chance, 0), hostile(chance, 0) if relation is Relation.REPLACE_ONE else []
    check(watched(question, made), rest + mine, instead[::-1] + rest, salt=chance.randrange(2**63))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_one_person_moves_nothing_beyond_its_stability(seed: int) -> None:
    replay(seed)


@pytest.mark.slow
def test_one_person_moves_nothing_of_many_questions_beyond_its_stability() -> None:
    """pytest -m slow tests/backends/test_in_total.py"""
    for seed in range(3_000):
        replay(seed)


def test_without_the_cap_the_replay_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin whose tree forgets the cap on all rows."""

    def forgetful(query: Any) -> Any:
        made = tree(query)
        return replace(made, of=replace(made.of, most=10**6)) if isinstance(made.of, FewInTotal) else made

    def replay_all() -> None:
        for seed in range(200):
            replay(seed)

    monkeypatch.setattr("sitr.backends.duckdb.tree", forgetful)
    with pytest.raises(AssertionError):
        replay_all()


def test_values_in_groups_without_a_kept_row_would_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin that counts different values of all groups of a person, not only of those with a kept row.

    The others have values in a group where they keep no row. One more person who does makes it a group of the answer.
    """
    query = bound(parse("SELECT ward, COUNT(DISTINCT days) AS d FROM visits GROUP BY ward"), described(9, 9, 1))
    rest: Rows = [(person, ward, 1.0, person) for person in range(1, 40) for ward in ("A", "B")]
    limit = stability(query, query.terms[0])
    assert limit == Distance(l1=1, l2_squared=1, largest=1)

    def gaps() -> list[Distance]:
        """For salts with which nobody keeps a row in Z, but for the person who comes."""
        found = []
        for salt in range(12):
            others: Rows = [row for row in rest for _ in range(3)] + [(p, "Z", 1.0, 100 + p) for p in range(1, 5)]
            one = rows_of(others).read(query, salt=salt)
            other = rows_of([*others, (0, "Z", 1.0, 7)]).read(query, salt=salt)
            found.append(moved(query, one, other, 0))
        return found

    assert all(within(gap, limit) for gap in gaps())
    from sitr.backends import statement

    real = statement.Writer.different

    def loose(self: Any, node: Any, name: str, *, cells: str, total: int | None) -> str:  # noqa: ARG001
        return real(self, node, name, cells="cells", total=None)

    monkeypatch.setattr(statement.Writer, "different", loose)
    assert not all(within(gap, limit) for gap in gaps())


def test_the_tree_has_only_the_caps_that_a_person_could_exceed() -> None:
    def nodes(groups: int, rows: int, total: int, question: str = QUESTIONS[0], *, known: bool = False) -> list[type]:
        made = tree(bound(parse(question), described(groups, rows, total, known=known)))
        node: Any = made.of
        found = []
        while hasattr(node, "of"):
            found.append(type(node))
            node = node.of
        return found

    assert nodes(3, 2, 5) == [FewInTotal, FewRows, FewGroups]
    assert nodes(5, 5, 5) == [FewInTotal, FewRows]  # five rows are in at most five groups
    assert nodes(3, 2, 6) == [FewRows, FewGroups]  # three groups of two rows have no more
    assert nodes(9, 2, 7, known=True) == [FewInTotal, FewRows]  # four wards are public
    assert nodes(9, 2, 8, known=True) == [FewRows]
    assert nodes(3, 2, 5, QUESTIONS[6]) == [FewRows]  # a single group


def test_the_caps_of_a_tree_are_those_of_its_question() -> None:
    for groups, rows, total in ((3, 2, 5), (5, 5, 5), (2, 9, 4), (1, 3, 2)):
        query = bound(parse(QUESTIONS[0]), described(groups, rows, total))
        caps = tree(query).caps
        assert (caps.groups, caps.rows, caps.total) == (query.max_groups, query.max_rows_per_group, query.max_rows)
        assert query.max_groups == min(groups, total)
        assert query.max_rows_per_group == min(rows, total)


def test_everything_is_kept_up_to_the_cap_and_exactly_the_cap_beyond_it() -> None:
    query = bound(parse(QUESTIONS[0]), described(9, 3, 5))
    few: Rows = [(0, ward, 1.0, 1) for ward in "AABC"]
    assert {key: cell[0] for key, cell in rows_of(few).read(query, salt=1).items()} == {("A",): 2, ("B",): 1, ("C",): 1}
    many: Rows = [(0, ward, 1.0, day) for ward in "ABCDE" for day in range(4)]
    for salt in range(5):
        kept = [cell[0] for cell in rows_of(many).read(query, salt=salt).values()]
        assert sum(kept) == 5
        assert max(kept) <= 3


def test_the_bounds_are_reached() -> None:
    for relation, factor in ((Relation.ADD_REMOVE, 1), (Relation.REPLACE_ONE, 2)):
        query = bound(parse(QUESTIONS[1]), described(4, 3, 4, relation=relation))
        limits = [stability(query, term) for term in query.terms[:2]]
        assert [limit and limit.l2_squared for limit in limits] == [10 * factor, 10 * 20**2 if factor == 1 else 9_248]
        mine: Rows = [(0, ward, 5.0, 1) for ward in "AAAB"]
        theirs: Rows = [(0, ward, 5.0, 1) for ward in "CCCD"] if factor == 2 else []
        one, other = (rows_of(rows).read(query, salt=1) for rows in (mine, theirs))
        gaps = [moved(query, one, other, place) for place in (0, 1)]
        assert [gap.l1 for gap in gaps] == [limit and limit.l1 for limit in limits]
        if factor == 2:  # for the squares of a sum, two people meet who pull it to both ends
            meeting: Rows = [*[(0, "B", 5.0, 1)] * 3, (0, "A", -2.0, 1)]
            mine[-1] = (0, "B", -2.0, 1)
            gaps[1] = moved(query, rows_of(mine).read(query, salt=1), rows_of(meeting).read(query, salt=1), 1)
        assert [gap.l2_squared for gap in gaps] == [limit and limit.l2_squared for limit in limits]


def test_the_choice_of_rows_is_uniform() -> None:
    """Of the wards A, A, A, B one row is kept: B for a quarter of the salts."""
    query = bound(parse(QUESTIONS[0]), described(None, None, 1))
    backend = rows_of([(0, "A", 1.0, 1), (0, "A", 1.0, 1), (0, "A", 2.0, 1), (0, "B", 1.0, 1)])
    kept = sum(("B",) in backend.read(query, salt=salt) for salt in range(160))
    # Binomial(160, 1/4) leaves [15, 69] with probability below 1e-6; a half would give about 80.
    assert 15 <= kept <= 69


def test_others_do_not_change_what_is_kept_of_a_person() -> None:
    query = watched(QUESTIONS[2], described(3, 2, 4))
    mine: Rows = [(7, ward, cost, day) for ward in "ABCD" for cost in (1.0, 2.0) for day in (1, 2)]
    crowd: Rows = [(8, "E", 4.0, 2)] * 50
    alone, crowded = rows_of(mine).read(query, salt=11), rows_of(crowd + mine[::-1]).read(query, salt=11)
    assert {k: (*cell[:-2], cell[-1]) for k, cell in crowded.items() if k != ("E",)} == {
        k: (*cell[:-2], cell[-1]) for k, cell in alone.items()
    }


def test_people_cut_in_a_group_and_people_who_lost_a_group_are_counted() -> None:
    query = watched(QUESTIONS[0], described(9, 2, 3))
    watch = query.watch
    assert watch is not None
    assert watch.cut is not None
    cut = query.terms.index(watch.cut)
    whole: Rows = [(1, "A", 1.0, 1), (1, "B", 1.0, 1), (1, "C", 1.0, 1)]  # nothing is left out
    assert [(cell[cut], cell[-2]) for cell in rows_of(whole).read(query, salt=1).values()] == [(0, 0)] * 3
    shorter: Rows = [(2, "A", 1.0, 1)] * 3  # a row of A is left out
    assert [(cell[cut], cell[-2]) for cell in rows_of(shorter).read(query, salt=1).values()] == [(1, 0)]
    wide: Rows = [(3, ward, 1.0, 1) for ward in "ABCD"]  # all rows of one ward are left out
    assert [(cell[cut], cell[-2]) for cell in rows_of(wide).read(query, salt=1).values()] == [(0, 1)] * 3
    both: Rows = [(4, ward, 1.0, day) for ward in "AB" for day in range(4)]
    found = rows_of(both).read(query, salt=1).values()  # two rows of one ward and one of the other
    assert sorted(cell[0] for cell in found) == [1, 2]
    assert [(cell[cut], cell[-2]) for cell in found] == [(1, 0)] * 2


def test_lost_groups_are_watched_only_where_they_can_be_lost() -> None:
    def beyond(groups: int, rows: int, total: int) -> bool:
        watch = watched(QUESTIONS[0], described(groups, rows, total, known=True)).watch
        return watch is not None and watch.beyond

    assert beyond(4, 2, 6)  # three wards can hold all six rows
    assert not beyond(4, 2, 7)  # four wards are public, and three of them cannot
    assert beyond(3, 2, 6)
