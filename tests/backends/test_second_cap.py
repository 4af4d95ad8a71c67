"""Rows left out, up to a second cap: the exact number, and how far neighbouring tables are apart."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends import statement
from sitr.flavors.pure import PureDP
from sitr.neighbors.relation import Relation
from sitr.questions.aggregate.bind import BoundedQuery, Cells, bound
from sitr.questions.aggregate.counting import counting
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.second_cap import LOST, SecondCap
from sitr.questions.aggregate.sql import parse
from tests.backends.test_in_total import QUESTIONS, described, hostile
from tests.backends.test_neighbors import Rows, rows_of

WARDS = ("A", "B", "C", "D")
BY_WARD = QUESTIONS[0]


def counted(
    question: str, rows: int, groups: int, each: int, total: int | None = None, *, known: bool = False
) -> BoundedQuery:
    made = described(groups, each, total, known=known)
    return counting(bound(parse(question), made).watching(Fraction(1, 20)), rows)


def lost(query: BoundedQuery, rows: Rows, *, salt: int = 1) -> int:
    cells: Cells = rows_of(rows).read(query, salt=salt)
    assert query.watch is not None
    found = {int(cell[-3 if query.watch.beyond else -2]) for cell in cells.values()}
    assert len(found) <= 1  # the same in every cell
    return found.pop() if found else 0


def visits(*of_person: dict[str, int]) -> Rows:
    return [
        (person, ward, 1.0, 1)
        for person, wards in enumerate(of_person)
        for ward, many in wards.items()
        for _ in range(many)
    ]


def test_the_number_is_exact_where_nobody_has_more_rows_than_the_second_cap() -> None:
    rows = visits({"A": 1}, {"A": 5, "B": 2}, {"C": 9}, {"A": 4, "B": 4, "C": 4})
    assert lost(counted(BY_WARD, 20, 4, 3), rows) == (2 + 0) + 6 + 3
    assert lost(counted("SELECT COUNT(*) AS n FROM visits", 20, 1, 3), rows) == 4 + 6 + 9
    assert lost(counted(BY_WARD, 20, 4, 3, 5), rows) == 2 + 6 + 7  # at most five rows in all


def test_groups_that_are_left_out_count_too() -> None:
    """Equal rows in each ward, so that the choice of wards does not matter."""
    rows = visits(*(dict.fromkeys(WARDS, 4) for _ in range(5)))
    for salt in range(5):
        assert lost(counted(BY_WARD, 16, 2, 3), rows, salt=salt) == 5 * (16 - 6)
        assert lost(counted(BY_WARD, 16, 2, 3, 5), rows, salt=salt) == 5 * (16 - 5)


def test_rows_beyond_the_second_cap_do_not_count() -> None:
    rows = visits({"A": 1000}, {"A": 12, "B": 12}, {"A": 7})
    assert lost(counted(BY_WARD, 10, 4, 3, known=True), rows) == (10 - 3) + (10 - 6) + (7 - 3)


def test_rows_without_a_person_and_rows_that_are_not_selected_do_not_count() -> None:
    rows = visits({"A": 9}) + [(None, "A", 1.0, 1)] * 50 + [(7, "A", 1.0, 99)] * 50
    assert lost(counted(f"{BY_WARD} ORDER BY n".replace("GROUP", "WHERE days < 40 GROUP"), 20, 2, 3), rows) == 6


def test_one_person_can_move_it_by_the_whole_declared_distance() -> None:
    """The declared number is not only an upper bound: without groups, and where groups are left out."""
    alone = counted("SELECT COUNT(*) AS n FROM visits", 10, 1, 3)
    assert alone.watch is not None
    assert alone.watch.rows == SecondCap(rows=10, most=7)
    assert lost(alone, visits({"A": 50})) == 7
    cut = counted(BY_WARD, 10, 1, 3)
    assert cut.watch is not None
    assert cut.watch.rows == SecondCap(rows=10, most=9)
    rows = visits({"A": 1, "B": 1, "C": 1, "D": 20, "E": 1})
    assert max(lost(cut, rows, salt=salt) for salt in range(20)) == 9


def test_the_plan_pays_for_this_distance() -> None:
    query = counted(BY_WARD, 50, 4, 3, known=True)
    plan = fit(query, PureDP(1.0))
    assert plan.lost is not None
    assert plan.lost.name == LOST
    assert plan.lost.distance is not None
    assert plan.lost.distance.l1 == 47
    assert plan.lost.mechanism.promise().epsilon <= 0.05  # type: ignore[attr-defined]
    assert plan.loss() is not None
    without = fit(replace(query, counted_up_to=None), PureDP(1.0))
    assert without.lost is None
    assert without.columns[0].error() == plan.columns[0].error()  # it is paid by the share for the bias


def neighbours(seed: int) -> tuple[BoundedQuery, Rows, Rows, int]:
    chance = random.Random(seed)
    relation = chance.choice(list(Relation))
    questions = [question for question in QUESTIONS if "COUNT(*)" in question or "SUM(cost)" in question]
    caps = (chance.randint(1, 4), chance.randint(1, 4), chance.choice([None, chance.randint(1, 6)]))
    made = described(*caps, relation=relation, known=chance.random() < 0.5)
    query = bound(parse(chance.choice(questions)), made).watching(Fraction(1, 20))
    query = counting(query, query.max_rows_per_group + chance.choice([1, 2, 5, 30]))
    rest = [row for person in range(1, chance.randint(1, 5)) for row in hostile(chance, person)]
    mine, instead = hostile(chance, 0), hostile(chance, 0) if relation is Relation.REPLACE_ONE else []
    return query, rest + mine, instead[::-1] + rest, chance.randrange(2**63)


def replay(seed: int) -> int:
    """How far one person moved the number, as a share of what is declared in percent."""
    query, first, second, salt = neighbours(seed)
    assert query.watch is not None
    assert query.watch.rows is not None
    gap = abs(lost(query, first, salt=salt) - lost(query, second, salt=salt))
    limit = query.watch.rows.distance(query.changes)
    assert gap <= limit.largest <= limit.l1, seed
    return 100 * gap // limit.largest


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_one_person_moves_it_by_no_more_than_its_distance(seed: int) -> None:
    replay(seed)


@pytest.mark.slow
def test_one_person_moves_it_by_no_more_in_thousands_of_questions() -> None:
    """pytest -m slow tests/backends/test_second_cap.py"""
    assert Counter(map(replay, range(3_000)))[100] > 50


@pytest.mark.parametrize("broken", ["without the second cap", "with rows of all people", "one less"])
def test_the_replay_notices_a_broken_twin(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = statement.Writer.rows_lost

    def wrong(self: Any, _: SecondCap, node: Any, **said: Any) -> str:
        if broken == "without the second cap":
            found: str = real(self, SecondCap(10**6, 10**6), node, **said)
            return found
        return f"(SELECT {self.dialect.total('n')} FROM cells)"

    if broken == "one less":
        monkeypatch.setattr(
            "sitr.questions.aggregate.second_cap.SecondCap.distance",
            lambda self, changes: replace(real_distance(self, changes), largest=self.most - 1),
        )
    else:
        monkeypatch.setattr(statement.Writer, "rows_lost", wrong)
    with pytest.raises(AssertionError):
        _replay_all(range(300))


def _replay_all(seeds: Iterable[int]) -> None:
    for seed in seeds:
        replay(seed)


real_distance = SecondCap.distance
