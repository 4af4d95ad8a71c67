"""Neighbour replay over questions of the whole grammar and tables with values that nobody expects.

The exact integers of neighbouring tables differ by no more than the declared distance, keys are public where they are
said to be, no statement fails, and the answer has one schema and one order of keys.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.sources import ArrowRows
from sitr.errors import SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.neighbors.unit import Row as EachRow
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import BoundedQuery, Cells, bound
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.stability import people, stability
from tests.backends.test_neighbors import moved, within
from tests.questions.aggregate import strategies
from tests.questions.aggregate.strategies import Row

PRICE = ApproximateDP(1.0, 1e-6)


def drawn(chance: random.Random, relation: Relation, *, by_row: bool) -> BoundedQuery | None:
    """A bounded question; None if it is refused, which is always in words."""
    groups, rows, total = (None, None, None) if by_row else drawn_caps(chance)
    unit = EachRow() if by_row else Person("id")
    described = strategies.table(unit=unit, relation=relation, groups=groups, rows=rows, total=total)
    try:
        return bound(strategies.query(chance), described)
    except SitrError:
        return None


def drawn_caps(chance: random.Random) -> tuple[int | None, int | None, int | None]:
    """Caps on groups and on rows in each, half of the time on all rows too, and sometimes on all rows alone."""
    if chance.random() < 0.1:
        return None, None, chance.randint(1, 5)
    return chance.randint(1, 3), chance.randint(1, 3), chance.choice([None, chance.randint(1, 8)])


def people_of(chance: random.Random) -> list[Row]:
    """Rows of a few people, some without one, and of a person with many rows in many groups."""
    found = [strategies.hostile(chance, chance.choice([1, 2, 3, None])) for _ in range(chance.randint(0, 12))]
    return found + [strategies.tame(chance, 4) for _ in range(chance.randint(0, 12))]


def own(chance: random.Random) -> list[Row]:
    """The rows of the person who comes or goes: different ones, equal ones, or very many."""
    rows = [chance.choice((strategies.hostile, strategies.tame))(chance, 0) for _ in range(chance.randint(1, 15))]
    return rows * chance.choice([1, 1, 3, 100])


def read(query: BoundedQuery, rows: list[Row], salt: int) -> Cells:
    """The exact integers. A failure here would be a failure after the charge, which may depend on rows."""
    reader = Reader(packs=salt % 2 == 0, memory=200 if salt % 3 else None)
    cells: Cells = DuckDB(ArrowRows(strategies.arrow(rows)), reader=reader).read(query, salt=salt)
    return cells


def replay(seed: int) -> bool:
    """Whether a question was answered, after all checks."""
    chance = random.Random(seed)
    relation, by_row = chance.choice(list(Relation)), chance.random() < 0.2
    query = drawn(chance, relation, by_row=by_row)
    if query is None:
        return False
    rest, mine, salt = people_of(chance), own(chance), chance.randrange(2**63)
    if by_row:
        mine = mine[:1]
    instead = [] if relation is Relation.ADD_REMOVE else own(chance)[: 1 if by_row else None]
    tables = [rest + mine, instead[::-1] + rest]
    first, second = (read(query, rows, salt) for rows in tables)
    for place, term in enumerate(query.terms):
        limit = stability(query, term)
        assert limit is not None, (seed, query.query, term)
        assert within(moved(query, first, second, place), limit), (seed, query.query, term)
    assert within(moved(query, first, second, len(query.terms)), people(query)), (seed, query.query)
    for place, key in enumerate(query.keys):
        if key.keys is not None:
            assert {cell[place] for cell in (*first, *second)} <= set(key.keys), (seed, query.query)
    _check_answers(query, [first, second])
    return True


def _check_answers(query: BoundedQuery, cells: list[Cells]) -> None:
    """One schema, and one order of the keys where they are public."""
    if query.cells is not None and query.cells > 5_000:
        return
    plan = fit(query, PRICE)
    answers = [AggregateQuestion(query).answer(plan, exact, coins=TestCoins(1)).table() for exact in cells]
    assert answers[0].schema == answers[1].schema
    names = [key.name for key in query.keys]
    if query.known:
        assert answers[0].select(names) == answers[1].select(names)
        assert answers[0].num_rows == query.cells


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_one_unit_moves_no_answer_beyond_its_stability(seed: int) -> None:
    replay(seed)


@pytest.mark.slow
def test_one_unit_moves_no_answer_of_many_beyond_its_stability() -> None:
    """pytest -m slow tests/backends/test_replay.py"""
    assert sum(map(replay, range(5_000))) > 3_000


def test_enough_questions_are_answered() -> None:
    """Else the replay would check little: most drawn questions are admitted, and all kinds of keys occur."""
    queries = [drawn(random.Random(seed), Relation.ADD_REMOVE, by_row=False) for seed in range(300)]
    admitted = [query for query in queries if query is not None]
    assert len(admitted) > 200
    assert {True, False} == {query.known for query in admitted}
    assert any(key.clamped for query in admitted for key in query.keys)
    assert any(query.where is not None for query in admitted)
    assert {0, 1, 2} <= {len(query.keys) for query in admitted}


def test_a_broken_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the list of public keys, a row can have a key that no answer may show."""
    monkeypatch.setattr("sitr.backends.statement._listed", lambda key: False)  # noqa: ARG005
    with pytest.raises(AssertionError):
        assert all(replay(seed) in (True, False) for seed in range(400))
