"""Neighbour replay over the whole grammar: rank terms, filters, joins, sub-queries, parts, other rows and mixed keys.

Tables hold values that nobody expects in types that nobody expects. One unit's rows come, go or are replaced, in the
table, in a table beside it, or in both; the exact integers move no further than the plan says.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.sources import ArrowRows
from sitr.errors import SitrError
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.neighbors.unit import Row as EachRow
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery, Cells, bound
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.keys import selected
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.other import other_cells, with_other
from sitr.questions.aggregate.quantity import Bar, Rank
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.stability import people, stability
from sitr.questions.aggregate.view import View, protected
from tests.backends.test_neighbors import within
from tests.backends.test_replay import drawn_caps, own, people_of
from tests.questions.aggregate import grammar, strategies
from tests.questions.aggregate.grammar import Storage
from tests.questions.aggregate.strategies import Row

PRICE = ApproximateZeroConcentratedDP(0.5, 1e-6)
Beside = list[tuple[int | None, Any, Any, Any]]


def drawn(chance: random.Random, storage: Storage) -> BoundedQuery | None:
    """A bounded question; None if it is refused, which is always in words."""
    relation, by_row = chance.choice(list(Relation)), chance.random() < 0.15
    groups, rows, total = (None, None, None) if by_row else drawn_caps(chance)
    unit = EachRow() if by_row else Person("id")
    table = grammar.table(storage, unit=unit, relation=relation, groups=groups, rows=rows, total=total)
    try:
        query = bound(grammar.query(chance), table, catalog=grammar.catalog(storage, table))
    except SitrError:
        return None
    if chance.random() < 0.5:
        query = query.watching(Fraction(1, 20))
        if chance.random() < 0.5:
            query = replace(query, counted_up_to=query.max_rows_per_group + chance.choice([1, 3, 50]))
    try:
        return with_other(query) if chance.random() < 0.5 else query
    except SitrError:
        return query


def stays_of(chance: random.Random, *who: int | None) -> Beside:
    """A few rows of these people in the table beside."""
    one = chance.choice
    return [
        (one(who), one([None, -1, 0, 1, 4, 9]), one(["a", "b", "", None]), one([None, math.nan, -0.0, math.inf, 1.5]))
        for _ in range(chance.randint(0, 6))
    ]


def neighbors(chance: random.Random, query: BoundedQuery) -> list[tuple[list[Row], Beside]]:
    """Two tables, each with the one beside it: the rows of person 0 differ, and nothing else."""
    rest, beside = people_of(chance), stays_of(chance, 1, 2, 3, 4, None)
    mine = own(chance)
    replaced = query.relation is Relation.REPLACE_ONE
    if not isinstance(query.unit, Person):
        mine = mine[:1]
        return [(rest + mine, []), ((own(chance)[:1] if replaced else []) + rest, [])]
    theirs, other = own(chance) if replaced else [], stays_of(chance, 0) if replaced else []
    known = stays_of(chance, 0)
    if len(protected(query.view)) == 1:
        return [(rest + mine, beside), (theirs[::-1] + rest, beside)]
    changed = chance.choice(["here", "there", "both"])
    first, second = (rest + mine, beside + known), (theirs[::-1] + rest, other + beside)
    if changed == "here":
        second = (second[0], first[1])
    if changed == "there":
        second = (first[0], second[1])
    return [first, second]


def moved(one: dict[Any, int], other: dict[Any, int]) -> Distance:
    gaps = [abs(one.get(key, 0) - other.get(key, 0)) for key in one.keys() | other.keys()]
    return Distance(l1=sum(gaps), l2_squared=sum(gap**2 for gap in gaps), largest=max(gaps, default=0))


def check_ranks(query: BoundedQuery, first: Cells, second: Cells, place: int) -> None:
    """What comes and what goes is within the caps; a unit that comes takes no value of others away."""
    gone: dict[Any, int] = {}
    come: dict[Any, int] = {}
    for key in first.keys() | second.keys():
        one, other = (Counter(cells[key][place] if key in cells else {}) for cells in (first, second))
        gone[key], come[key] = (one - other).total(), (other - one).total()
    for part in (gone, come):
        assert max(part.values(), default=0) <= query.max_rows_per_group
        assert sum(number > 0 for number in part.values()) <= query.reached
        assert query.max_rows is None or sum(part.values()) <= query.max_rows
    if query.changes is Relation.ADD_REMOVE:
        assert not (any(gone.values()) and any(come.values()))


def check_other(query: BoundedQuery, first: Cells, second: Cells, chance: random.Random) -> None:
    """With the row for other keys, for any keys that are shown: its noise has as many draws as a unit has groups."""
    every = list({selected(query, key) for key in first.keys() | second.keys()})
    chosen = {key for key in every if chance.random() < 0.5}
    shown = [key for key in first.keys() | second.keys() if selected(query, key) in chosen]
    rest = [other_cells(query, cells, shown) for cells in (first, second)]
    for place, term in enumerate(query.terms):
        limit = stability(query, term)
        if limit is None or term not in query.shown_terms or isinstance(term, Bar):
            continue
        gap = moved({key: first[key][place] for key in shown if key in first},
                    {key: second[key][place] for key in shown if key in second})  # fmt: skip
        others = [abs(one[place] - other[place]) for one, other in zip(*rest, strict=True)]
        assert gap.l1 + sum(others) <= limit.l1, term
        spread = sum(Fraction(each**2, query.max_groups) for each in others)
        assert gap.l2_squared + spread <= limit.l2_squared, term


def check_terms(query: BoundedQuery, first: Cells, second: Cells, seed: object) -> None:
    """Every measurement, and the number of people, moves within its distance."""
    families: dict[object, tuple[dict[Any, int], dict[Any, int], Distance]] = {}
    for place, term in enumerate(query.terms):
        limit = stability(query, term)
        if isinstance(term, Rank) or limit is None:
            check_ranks(query, first, second, place)
            continue
        name: object = (term.of, term.histogram, term.where) if isinstance(term, Bar) else term
        one, other, _ = families.setdefault(name, ({}, {}, limit))
        one.update({(place, key): cells[place] for key, cells in first.items()})
        other.update({(place, key): cells[place] for key, cells in second.items()})
    for measured, (one, other, limit) in families.items():
        assert within(moved(one, other), limit), (seed, measured)
    one, other = ({key: cells[-1] for key, cells in each.items()} for each in (first, second))
    assert within(moved(one, other), people(query)), seed


def replay(seed: int) -> BoundedQuery | None:
    """The question, after all checks; None if it was refused."""
    chance = random.Random(seed)
    storage = Storage.drawn(chance)
    query = drawn(chance, storage)
    if query is None:
        return None
    salt = chance.randrange(2**63)
    reader = Reader(packs=salt % 2 == 0, memory=200 if salt % 3 else None)
    first, second = (storage.backend(*tables, reader).read(query, salt=salt) for tables in neighbors(chance, query))
    check_terms(query, first, second, seed)
    if query.watch is not None and query.watch.beyond:
        gap = {cells[-2] for cells in first.values()} | {0}, {cells[-2] for cells in second.values()} | {0}
        assert abs(max(gap[0]) - max(gap[1])) <= 1 or not (first and second), seed
    if query.watch is not None and query.watch.rows is not None:
        place = -3 if query.watch.beyond else -2
        lost = [int(next(iter(cells.values()))[place]) if cells else 0 for cells in (first, second)]
        assert abs(lost[0] - lost[1]) <= query.watch.rows.distance(query.changes).largest, seed
    if query.other:
        check_other(query, first, second, chance)
    check_answers(query, [first, second], seed)
    return query


def check_answers(query: BoundedQuery, cells: list[Cells], seed: int) -> None:
    """One schema, and one order of the keys where they are public; no numbers make the answer fail."""
    for place, key in enumerate(query.keys):
        if key.keys is not None:
            assert {cell[place] for each in cells for cell in each} <= set(key.keys), seed
    if query.cells is not None and query.cells > 300:
        return
    try:
        plan = fit(query, PRICE)
    except SitrError:  # before the charge, and whatever the rows are
        return
    answers = [AggregateQuestion(query).answer(plan, exact, coins=TestCoins(1)).table() for exact in cells]
    assert answers[0].schema == answers[1].schema, seed
    names = [key.name for key in query.keys]
    if query.known:
        assert answers[0].select(names) == answers[1].select(names), seed
        assert answers[0].num_rows == query.cells, seed


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_one_unit_moves_no_answer_beyond_what_is_declared(seed: int) -> None:
    replay(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 5_000, 500))
def test_one_unit_moves_no_answer_of_thousands_beyond_what_is_declared(first: int) -> None:
    """pytest -m slow tests/backends/test_grammar_replay.py"""
    assert sum(replay(seed) is not None for seed in range(first, first + 500)) > 250


def read_back(seed: int) -> bool:
    """Whether the text of a question was checked: it reads back as the same question about the same rows."""
    chance = random.Random(seed)
    storage = Storage.drawn(chance)
    table = grammar.table(storage, unit=Person("id"), relation=Relation.ADD_REMOVE, groups=2, rows=2, total=None)
    catalog = grammar.catalog(storage, table)
    try:
        query = bound(grammar.query(chance), table, catalog=catalog)
    except SitrError:
        return False
    again = asked(text(query.query), table, catalog=catalog)
    assert text(again.query) == text(query.query), seed
    if again != query:  # other views keep the names of tables
        rows = storage.backend(people_of(chance), stays_of(chance, 1, 2, 3, 4))
        assert rows.read(again, salt=seed) == rows.read(query, salt=seed), seed
    return True


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_the_text_of_a_question_reads_back_the_same(seed: int) -> None:
    read_back(seed)


@pytest.mark.slow
def test_the_texts_of_thousands_read_back_the_same() -> None:
    assert sum(map(read_back, range(3_000))) > 2_000


def views(view: View) -> set[str]:
    """The kinds of steps in a view."""
    found = {type(view.rows).__name__}
    for part in ("view", "other", "people"):
        if isinstance(inner := getattr(view.rows, part, None), View):
            found |= views(inner)
    return found.union(*(views(each) for each in getattr(view.rows, "views", ())))


def test_every_part_of_the_grammar_is_replayed() -> None:
    """Else the replay would check little: most questions are admitted, with all kinds of steps, terms and keys."""
    found, admitted = Counter[str](), 0
    for seed in range(150):
        chance = random.Random(seed)
        query = drawn(chance, Storage.drawn(chance))
        if query is None:
            continue
        admitted += 1
        found.update(views(query.view))
        found.update({type(term).__name__ for term in query.terms})
        found.update({"other"} if query.other else ())
        found.update({"in total"} if query.max_rows is not None else ())
        found.update({"mixed"} if 0 < len(query.selected) < len(query.keys) else ())
        found.update({"replaced parts"} if query.changes is not query.relation else ())
        found.update({"one row each"} if query.keeps_all else ())
        found.update(zone for zone in grammar.ZONES.values() if zone in repr(query))
    assert admitted > 100
    steps = {"TableRows", "PerPerson", "Joined", "Matching", "OfPeople", "Paired", "Together"}
    terms = {"Term", "Rank", "Distinct", "Bar"}
    assert found.keys() >= steps | terms | {"other", "in total", "mixed", "replaced parts", "one row each"}
    assert found.keys() >= set(grammar.ZONES.values())


def caught(seeds: Iterable[int]) -> bool:
    """Whether the replay of one of these questions fails."""
    for seed in seeds:
        try:
            replay(seed)
        except AssertionError:
            return True
    return False


def uncapped(self: object, node: object, *, cells: object, total: object) -> list[tuple[str, str]]:
    del self, node, cells, total
    return [("few_cells", "SELECT 1 AS one"), ("kept_rows", "SELECT * FROM rows")]


TWINS: dict[str, tuple[str, Any]] = {
    "quantiles of all rows": ("sitr.backends.statement.Writer.kept_rows", uncapped),
    "rows that meet other people's": ("sitr.backends.relations.Relations._same_unit", lambda *_: "TRUE"),
    "no cap on all rows": ("sitr.backends.statement._few", lambda node, **_: f"n <= {node.most}"),
    "keys that nobody listed": ("sitr.backends.statement._listed", lambda _: False),
    "rows of people without an id": (
        "sitr.backends.statement._where",
        lambda conditions: f" WHERE {' AND '.join(conditions[1:])}" if conditions[1:] else "",
    ),
}


QUICK = ("quantiles of all rows", "no cap on all rows")
"""Twins that one of the first questions catches."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "broken"),
    [pytest.param(*twin, marks=[pytest.mark.sample] if name in QUICK else []) for name, twin in TWINS.items()],
    ids=TWINS,
)
def test_broken_twins_are_caught(monkeypatch: pytest.MonkeyPatch, where: str, broken: Any) -> None:
    monkeypatch.setattr(where, broken)
    assert caught(range(400))


MILLION = (
    "SELECT w, COUNT(*) AS c, SUM(x) AS s, COUNT(DISTINCT m) AS d FROM visits GROUP BY w",
    "SELECT MEDIAN(x) AS v, MAX(n) AS h FROM visits WHERE t LIKE '%a%'",
    "SELECT t, COUNT(*) AS c FROM visits GROUP BY t",
    "SELECT a.w, COUNT(*) AS c FROM visits a JOIN visits b ON a.id = b.id AND a.n < b.n GROUP BY a.w",
    "SELECT SUM(v) AS s FROM (SELECT id, SUM(x) AS v FROM visits GROUP BY id)",
    "SELECT w, COUNT(*) AS c FROM visits JOIN codes ON n = size WHERE id NOT IN (SELECT id FROM visits WHERE m > 5) "
    "GROUP BY w",
)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("total", [3, None])
def test_a_person_with_a_million_rows_counts_within_the_caps(total: int | None) -> None:
    chance = random.Random(5)
    storage = grammar.Storage((pa.int64(), [0, 1, 2, 3, 4]), (pa.int64(), [0, 1, 2, 3, 4]), strategies.TYPES)
    table = grammar.table(storage, unit=Person("id"), relation=Relation.ADD_REMOVE, groups=2, rows=2, total=total)
    rest, mine = people_of(chance) + people_of(chance), [strategies.hostile(chance, 0) for _ in range(500)]
    few, one = storage.table(rest), storage.table(mine)
    many = pa.concat_tables([few, *[one] * 2_000])
    for sql in MILLION:
        query = asked(sql, table, catalog=grammar.catalog(storage, table))
        first, second = (
            DuckDB(ArrowRows(held), {"codes": grammar.CODES_ROWS}).read(query, salt=7) for held in (many, few)
        )
        check_terms(query, first, second, sql)
