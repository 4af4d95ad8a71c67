"""Neighboring tables: the schema is the same, and the exact integers differ by at most the declared sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.reading import tree
from sitr.backends.sources import ArrowRows
from sitr.backends.statement import statement
from sitr.dataset.schema import Table, describe
from sitr.errors import BackendFailure
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import BoundedQuery, Cells, bound
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.stability import people, stability

Rows = list[tuple[int | None, str | None, float | None, int | None]]

SCHEMA = pa.schema([("id", pa.int64()), ("ward", pa.string()), ("cost", pa.float64()), ("days", pa.int32())])
QUESTIONS = (
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward",
    "SELECT ward, COUNT(cost) AS n, COUNT(DISTINCT id) AS p, SUM(days) AS d FROM visits WHERE cost > 3 GROUP BY ward",
    "SELECT ward, days, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward, days",
    "SELECT COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE ward LIKE 'A%' OR ward IS NULL",
    "SELECT COUNT(DISTINCT id) AS p FROM visits",
)
WEIRD = (None, math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308, 5e-324, 2.5)


def rows_of(rows: Rows, *, packs: bool = True) -> DuckDB:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return DuckDB(ArrowRows(pa.Table.from_arrays(arrays, schema=SCHEMA)), reader=Reader(packs=packs))


def table(*, unit: Unit, relation: Relation, groups: int | None, rows: int | None, known: bool) -> Table:
    return describe(
        "visits",
        kinds=rows_of([]).kinds(),
        unit=unit,
        relation=relation,
        max_groups=groups,
        max_rows_per_group=rows,
        bounds={"cost": (-2, 5), "days": (0, 9)},
        granularity={"cost": 0.25},
        keys={"ward": ["A", "B", "C", None], "days": [0, 1, 2, None]} if known else {},
    )


def moved(query: BoundedQuery, first: Cells, second: Cells, place: int) -> Distance:
    """How far apart two exact answers are in one column."""
    absent = (0,) * (len(query.terms) + 1)
    gaps = [abs(first.get(key, absent)[place] - second.get(key, absent)[place]) for key in first.keys() | second.keys()]
    return Distance(l1=sum(gaps), l2_squared=sum(gap**2 for gap in gaps), largest=max(gaps, default=0))


def within(gap: Distance, limit: Distance) -> bool:
    return gap.l1 <= limit.l1 and gap.l2_squared <= limit.l2_squared and gap.largest <= limit.largest


def check(query: BoundedQuery, first: Rows, second: Rows, *, salt: int) -> None:
    packs = salt % 2 == 0
    cells, neighbor = (rows_of(each, packs=packs).read(query, salt=salt) for each in (first, second))
    for place, term in enumerate(query.terms):
        limit = stability(query, term)
        assert limit is not None, term
        assert within(moved(query, cells, neighbor, place), limit), term
    assert within(moved(query, cells, neighbor, len(query.terms)), people(query))


values = st.one_of(st.sampled_from(WEIRD), st.floats(-10, 10))
row = st.tuples(st.sampled_from(["A", "B", "C", "Z", None]), values, st.sampled_from([0, 1, 2, 50, None]))
person = st.lists(row, max_size=12)
REMAKE: tuple[Callable[[list[Any]], list[Any]], ...] = (
    lambda own: own[:0],
    lambda own: [(None, None, None) for _ in own],
    lambda own: [(ward, math.nan, days) for ward, _, days in own],
    lambda own: own * 100,
    lambda own: [(ward, math.inf, 50) for ward, _, _ in own],
)


@settings(max_examples=20, deadline=None)
@given(
    others=st.lists(person, max_size=4),
    own=person,
    new=person,
    question=st.sampled_from(QUESTIONS),
    caps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    known=st.booleans(),
    relation=st.sampled_from(Relation),
    salt=st.integers(0, 2**63 - 1),
)
def test_one_person_moves_no_column_beyond_its_stability(
    others: list[Any],
    own: list[Any],
    new: list[Any],
    question: str,
    caps: tuple[int, int],
    known: bool,
    relation: Relation,
    salt: int,
) -> None:
    query = bound(
        parse(question), table(unit=Person("id"), relation=relation, groups=caps[0], rows=caps[1], known=known)
    )
    rest: Rows = [(number, *part) for number, part_list in enumerate(others, start=1) for part in part_list]
    mine: Rows = [(0, *part) for part in own]
    variants = [new] if relation is Relation.REPLACE_ONE else []
    for variant in (*variants, *(remake(own) for remake in REMAKE)):
        theirs: Rows = [(0, *part) for part in variant]
        if relation is Relation.ADD_REMOVE:  # removed altogether; every other remake is two such steps
            check(query, rest + mine, rest, salt=salt)
            check(query, rest + theirs, rest, salt=salt)
        else:
            check(query, rest + mine, theirs[::-1] + rest, salt=salt)


@settings(max_examples=20, deadline=None)
@given(
    others=st.lists(row, max_size=8),
    own=row,
    new=row,
    question=st.sampled_from([q for q in QUESTIONS if "DISTINCT" not in q]),
    known=st.booleans(),
    relation=st.sampled_from(Relation),
)
def test_one_row_moves_no_column_beyond_its_stability(
    others: list[Any], own: Any, new: Any, question: str, known: bool, relation: Relation
) -> None:
    query = bound(parse(question), table(unit=Row(), relation=relation, groups=None, rows=None, known=known))
    rest: Rows = [(1, *part) for part in others]
    second = [(2, *new)] if relation is Relation.REPLACE_ONE else []
    check(query, [*rest, (2, *own)], [*second, *rest], salt=0)


def test_the_bounds_are_reached() -> None:
    """These tables would refute a stability of half the size."""
    for relation, factor in ((Relation.ADD_REMOVE, 1), (Relation.REPLACE_ONE, 2)):
        described = table(unit=Person("id"), relation=relation, groups=2, rows=3, known=False)
        query = bound(parse(QUESTIONS[0]), described)
        mine: Rows = [(0, ward, 5.0, 1) for ward in "AB" for _ in range(4)]
        theirs: Rows = [(0, ward, 5.0, 1) for ward in "CD" for _ in range(4)] if factor == 2 else []
        first, second = rows_of(mine).read(query, salt=1), rows_of(theirs).read(query, salt=1)
        for place, term in enumerate(query.terms):
            gap, limit = moved(query, first, second, place), stability(query, term)
            assert limit is not None
            assert (gap.l1, gap.l2_squared) == (limit.l1, limit.l2_squared)


def test_without_the_caps_the_same_check_fails() -> None:
    """A broken twin without the caps is caught."""
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=1, known=False)
    query = bound(parse(QUESTIONS[0]), described)
    loose = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=9, rows=9, known=False)
    mine: Rows = [(0, ward, 5.0, 1) for ward in "AB" for _ in range(2)]
    cells = rows_of(mine).read(bound(parse(QUESTIONS[0]), loose), salt=1)
    limit = stability(query, query.terms[0])
    assert limit is not None
    assert not within(moved(query, cells, {}, 0), limit)


def test_the_release_has_one_schema_whatever_a_person_does() -> None:
    rest: Rows = [(number, "A", 1.0, 1) for number in range(1, 40)]
    own = [("B", 2.0, 1), ("A", None, 2)]
    for known, price in ((True, ZeroConcentratedDP(0.1)), (False, ApproximateDP(1.0, 1e-6))):
        described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=2, rows=2, known=known)
        for question in QUESTIONS[:4]:
            plan = fit(bound(parse(question), described), price)
            schemas = set()
            for variant in (own, *(remake(own) for remake in REMAKE)):
                cells = rows_of(rest + [(0, *part) for part in variant]).read(plan.query, salt=3)
                answer = AggregateQuestion(plan.query).answer(plan, cells, coins=TestCoins(1)).table()
                schemas.add(str(answer.schema))
                if known:
                    assert answer.num_rows == math.prod(len(key.keys or ()) for key in plan.query.keys)
            assert len(schemas) == 1


def test_a_person_with_a_thousand_copies_counts_like_one_at_the_caps() -> None:
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=2, known=False)
    query = bound(parse(QUESTIONS[0]), described)
    assert rows_of([(0, "A", 2.0, 1)] * 1000).read(query, salt=5) == {("A",): (2, 16, 1)}


@pytest.mark.parametrize("packs", [True, False])
def test_the_choice_of_rows_is_uniform(packs: bool) -> None:
    """One of the values 0, 0, 0, 4 is kept: the 4 for a quarter of the salts, not for half of them."""
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=1, known=False)
    query = bound(parse("SELECT SUM(cost) AS total FROM visits"), described)
    rows: Rows = [(0, "A", 0.0, 1), (0, "A", 0.0, 1), (0, "A", 0.0, 1), (0, "A", 4.0, 1)]
    backend = rows_of(rows, packs=packs)
    kept = sum(backend.read(query, salt=salt)[()][0] == 16 for salt in range(400))
    # Binomial(400, 1/4): outside [55, 149] with probability below 1e-6; a half would give about 200.
    assert 55 <= kept <= 149


@pytest.mark.parametrize("packs", [True, False])
def test_the_choice_of_groups_is_uniform(packs: bool) -> None:
    """3,000 people are in the same five wards and keep one each: about 600 people in every ward."""
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=1, known=False)
    query = bound(parse("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"), described)
    wards = ("Emergency", "Surgery", "Cardiology", "Orthopaedics", "Oncology")
    backend = rows_of([(person, ward, 1.0, 1) for person in range(3000) for ward in wards], packs=packs)
    for salt in (1, 2**62):
        kept = {key[0]: cell[0] for key, cell in backend.read(query, salt=salt).items()}
        # Binomial(3000, 1/5) leaves [485, 720] with probability below 1e-7; a single hash of DuckDB gave 370 and 750.
        assert set(kept) == set(wards)
        assert all(485 <= count <= 720 for count in kept.values()), kept


def test_others_do_not_change_what_is_kept_of_a_person() -> None:
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=1, known=False)
    query = bound(parse(QUESTIONS[2]), described)
    mine: Rows = [(7, ward, cost, days) for ward, cost, days in product("ABC", (1.0, 2.0, 3.0), (0, 1))]
    noise: Rows = [(8, "D", 4.0, 2)] * 50
    alone = rows_of(mine).read(query, salt=11)
    crowded = rows_of(noise + mine[::-1]).read(query, salt=11)
    assert {key: cell for key, cell in crowded.items() if key[0] != "D"} == alone


def test_a_failure_while_reading_quotes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=1, known=False)
    query = bound(parse(QUESTIONS[0]), described)

    def broken(*_: object, **__: object) -> str:
        return "SELECT CAST('patient 4711 was here' AS INTEGER)"

    for way in ("sitr.backends.duckdb.statement", "sitr.backends.packed.passes.scan"):
        monkeypatch.setattr(way, broken)
    with pytest.raises(BackendFailure) as failure:
        rows_of([(0, "A", 1.0, 1)]).read(query, salt=1)
    assert "4711" not in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None  # an error that is only suppressed can still be reached


def test_the_statement_reads_only_what_the_question_names() -> None:
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=1, known=False)
    query = bound(parse(QUESTIONS[4]), described)
    sql = statement(tree(query), dialect=DUCKDB, source="t", types={"id": "BIGINT"}, salt=1)
    assert "cost" not in sql
    assert "ward" not in sql


@pytest.mark.parametrize(
    "condition", ["cost > 1", "cost >= 1", "cost <> 1", "NOT cost < 1", "1 < cost", "cost + 0 > 1"]
)
def test_nan_is_missing_in_every_comparison(condition: str) -> None:
    """DuckDB sorts NaN above all numbers, so that a bare comparison would count it, and a computed one would not."""
    described = table(unit=Person("id"), relation=Relation.ADD_REMOVE, groups=1, rows=1, known=False)
    query = bound(parse(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"), described)
    rows: Rows = [(1, "A", math.nan, 1), (2, "A", None, 1), (3, "A", 4.5, 1), (4, "A", 5.0, 1)]
    assert [cells[0] for cells in rows_of(rows).read(query, salt=1).values()] == [2]
