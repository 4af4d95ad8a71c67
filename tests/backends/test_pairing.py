"""Joins of two protected tables keep each row's unit, whichever table a person comes to or leaves."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.backends.public import public_table
from sitr.backends.relations import Relations
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Table, describe
from sitr.flavors.approximate import ApproximateDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.stability import people, stability
from sitr.questions.aggregate.view import Paired
from sitr.questions.batch.question import BatchQuestion
from sitr.questions.suggest.question import SuggestionQuestion
from sitr.questions.suggest.spreads import measured
from tests.backends.test_neighbors import moved, within

VISITS = pa.schema([("id", pa.int64()), ("ward", pa.string()), ("cost", pa.float64()), ("days", pa.int32())])
PATIENTS = pa.schema([("pid", pa.int32()), ("ward", pa.string()), ("age", pa.float64()), ("days", pa.int16())])
WARDS = pa.table({"ward": ["A", "B", "C", "C", None], "region": ["north", "south", "south", "east", "nowhere"]})
INNER = (
    "SELECT patients.ward, COUNT(*) AS n, SUM(cost) AS s FROM visits JOIN patients ON id = pid GROUP BY patients.ward",
    "SELECT COUNT(*) AS n, SUM(age) AS a, COUNT(DISTINCT id) AS p FROM visits v "
    "JOIN patients p ON v.days <= p.days AND p.pid = v.id WHERE age > 1",
    "SELECT v.ward, SUM(age) AS a FROM visits v JOIN (SELECT pid, MAX(age) AS age FROM patients GROUP BY pid) p "
    "ON v.id = p.pid GROUP BY v.ward",
    "SELECT a.ward, COUNT(*) AS n FROM visits a JOIN visits b ON a.id = b.id AND a.days < b.days GROUP BY a.ward",
    "SELECT a.ward, COUNT(*) AS n FROM visits a LEFT JOIN visits b ON a.id = b.id AND a.days < b.days GROUP BY a.ward",
    "SELECT region, COUNT(*) AS n FROM visits v JOIN patients p ON v.id = p.pid JOIN wards w ON w.ward = p.ward "
    "GROUP BY region",
    "SELECT SUM(n) AS s FROM (SELECT id, COUNT(*) AS n FROM visits JOIN patients ON id = pid GROUP BY id)",
    "SELECT x.w, COUNT(*) AS n FROM (SELECT v.id, p.ward AS w FROM visits v JOIN patients p ON v.id = p.pid) AS x "
    "JOIN patients q ON x.id = q.pid GROUP BY x.w",
    "SELECT p.ward, COUNT(*) AS n FROM visits v, patients p WHERE v.id = p.pid AND v.id NOT IN "
    "(SELECT id FROM visits WHERE cost > 3) GROUP BY p.ward",
    "SELECT p.ward, COUNT(DISTINCT v.ward) AS n FROM patients p JOIN visits v ON p.pid = v.id GROUP BY p.ward",
)
OUTER = (
    "SELECT patients.ward, COUNT(*) AS n, SUM(age) AS a FROM visits LEFT JOIN patients ON id = pid "
    "GROUP BY patients.ward",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN patients p ON v.id = p.pid WHERE p.pid IS NULL",
    "SELECT visits.ward, COUNT(*) AS n FROM patients LEFT JOIN visits ON pid = id AND cost > 1 GROUP BY visits.ward",
    "SELECT ward, COUNT(*) AS n FROM (SELECT v.ward AS ward FROM visits v JOIN patients p ON v.id = p.pid UNION ALL "
    "SELECT ward FROM visits) GROUP BY ward",
)
WEIRD = (None, math.nan, math.inf, -math.inf, -0.0, 0.0, 1e308, 5e-324, 2.5)
Rows = list[tuple[Any, ...]]


def table(rows: Rows, schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def backend(visits: Rows, patients: Rows) -> DuckDB:
    beside = {"patients": DuckDB(ArrowRows(table(patients, PATIENTS), "protected patients"))}
    return DuckDB(ArrowRows(table(visits, VISITS)), {"wards": ArrowRows(WARDS, "public wards")}, beside)


def described(name: str, unit: str, schema: pa.Schema, relation: Relation, caps: tuple[int, int]) -> Table:
    return describe(
        name,
        kinds=ArrowRows(table([], schema)).kinds(),
        unit=Person(unit),
        relation=relation,
        max_groups=caps[0],
        max_rows_per_group=caps[1],
        bounds={"cost": (-2, 5)} if name == "visits" else {"age": (0, 9)},
        granularity={"cost": 0.25} if name == "visits" else {"age": 0.5},
        keys={"ward": ["A", "B", "C"]},
    )


def bounded(
    question: str,
    caps: tuple[int, int] = (2, 3),
    *,
    relation: Relation = Relation.ADD_REMOVE,
    most: int | None = None,
) -> BoundedQuery:
    visits = described("visits", "id", VISITS, relation, caps)
    patients = described("patients", "pid", PATIENTS, relation, caps)
    wards = public_table("wards", ArrowRows(WARDS, "public wards"))
    query = asked(question, visits, catalog=Catalog(visits, ("wards",), lambda _: wards, (patients,)))
    rows = query.view.rows
    if most is None or not isinstance(rows, Paired):
        return query
    return replace(query, view=replace(query.view, rows=replace(rows, most=most)))


def check(query: BoundedQuery, first: Cells, second: Cells) -> None:
    for place, term in enumerate(query.terms):
        limit = stability(query, term)
        assert limit is not None, term
        assert within(moved(query, first, second, place), limit), term
    assert within(moved(query, first, second, len(query.terms)), people(query))


def mine(rows: Rows, who: int | None) -> Rows:
    return [(who, *row) for row in rows]


def crowd(others: list[tuple[Rows, Rows]]) -> tuple[Rows, Rows]:
    """Other people in both tables, and rows of nobody."""
    sides = ([], []) if not others else (others[0][0][:2], others[0][1][:2])
    visits, patients = mine(sides[0], None), mine(sides[1], None)
    for number, (seen, known) in enumerate(others, start=1):
        visits += mine(seen, number)
        patients += mine(known, number)
    return visits, patients


numbers = st.one_of(st.sampled_from(WEIRD), st.floats(-10, 10))
row = st.tuples(st.sampled_from(["A", "B", "C", "Z", None]), numbers, st.sampled_from([0, 1, 2, None]))
rows_of_one = st.lists(row, max_size=6)
person = st.tuples(rows_of_one, rows_of_one)
SWAPPED = ([("A", 1.0, 1)] * 3, [("B", 1.0, 1)] * 3)


CASES = {
    "others": st.lists(person, max_size=3),
    "own": person,
    "question": st.sampled_from(INNER + OUTER),
    "caps": st.tuples(st.integers(1, 3), st.integers(1, 3)),
    "most": st.sampled_from([None, 1, 3]),
    "salt": st.integers(0, 2**63 - 1),
}


def replay(others: list[Any], own: Any, question: str, caps: tuple[int, int], most: int | None, salt: int) -> None:
    """One person comes to, or leaves, one of the tables or both."""
    query = bounded(question, caps, most=most)
    visits, patients = crowd(others)
    seen, known = mine(own[0], 0), mine(own[1], 0)
    everything = backend(seen[::-1] + visits, patients + known[::-1]).read(query, salt=salt)
    nothing = backend(visits, patients).read(query, salt=salt)
    check(query, everything, backend(visits, patients + known).read(query, salt=salt))
    check(query, everything, backend(visits + seen, patients).read(query, salt=salt))
    check(query, everything, nothing)
    alone = backend(seen, known).read(query, salt=salt)
    for place, term in enumerate(query.terms):
        if "DISTINCT v" in question and place == 0:
            continue  # people share different values
        together = Counter({key: cells[place] for key, cells in nothing.items()})
        together.update({key: cells[place] for key, cells in alone.items()})
        assert {key: n for key, n in together.items() if n} == {
            key: cells[place] for key, cells in everything.items() if cells[place]
        }, f"totals are sums over people: {term}"


@settings(max_examples=12)
@given(**CASES)
@example(others=[], own=SWAPPED, question=OUTER[0], caps=(1, 3), most=None, salt=1)
def test_a_person_moves_nothing_beyond_its_stability_in_one_table_or_in_both(**case: Any) -> None:
    replay(**case)


@pytest.mark.slow
@settings(max_examples=1_000)
@given(**CASES)
def test_a_person_moves_nothing_in_many_tables(**case: Any) -> None:
    """pytest -m slow tests/backends/test_pairing.py"""
    replay(**case)


@settings(max_examples=5)
@given(
    others=st.lists(person, max_size=3),
    own=person,
    instead=person,
    question=st.sampled_from(INNER),
    salt=st.integers(0, 2**63 - 1),
)
def test_a_person_who_is_replaced_in_one_table_or_in_both(
    others: list[Any], own: Any, instead: Any, question: str, salt: int
) -> None:
    """By other rows of the same id, or by a person of another id who is known to the other table already."""
    query = bounded(question, relation=Relation.REPLACE_ONE)
    visits, patients = crowd(others)
    seen, known = mine(own[0], 0), mine(own[1], 0)
    newcomers = mine(instead[1], 99)
    before = backend(visits + seen, patients + known + newcomers).read(query, salt=salt)
    for who in (0, 99):
        after = backend(visits + mine(instead[0], who), patients + known + newcomers).read(query, salt=salt)
        check(query, before, after)
    both = backend(visits + mine(instead[0], 99), patients + newcomers).read(query, salt=salt)
    check(query, backend(visits + seen, patients + known).read(query, salt=salt), both)


def test_a_left_join_that_forgets_the_other_table_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: with the distance of one table, a person who leaves the other table moves too much."""
    monkeypatch.setattr("sitr.questions.aggregate.bind.changes", lambda view: view.relation)
    query = bounded(OUTER[0], (1, 3))
    visits, patients = mine(SWAPPED[0], 0), mine(SWAPPED[1], 0)
    first, second = (backend(visits, known).read(query, salt=1) for known in (patients, []))
    with pytest.raises(AssertionError):
        check(query, first, second)


@pytest.mark.parametrize(
    "question", [OUTER[0], "SELECT p.days, COUNT(*) AS n FROM visits LEFT JOIN patients p ON id = pid GROUP BY p.days"]
)
def test_every_measurement_of_a_left_join_has_the_distance_of_a_replaced_person(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of keys, of the bias and of the people beyond a cap too, in a batch, and where caps are suggested."""
    query = bounded(question)
    found = distances(query)
    monkeypatch.setattr("sitr.questions.aggregate.bind.changes", lambda view: view.relation)
    assert distances(replace(query, view=replace(query.view, relation=Relation.REPLACE_ONE))) == found
    assert distances(query) != found


def distances(query: BoundedQuery) -> list[Any]:
    questions = (
        AggregateQuestion(query),
        BatchQuestion(("one",), (query,), (Fraction(1),)),
        SuggestionQuestion(query, measured(query)),
    )
    price = ApproximateDP(1.0, 1e-6)
    return [each.distance for question in questions for each in question.plan(price).measurements]


def test_no_distance_forgets_that_tables_are_joined() -> None:
    """A question about joined tables `changes` by more than the relation of its description says."""
    for folder in ("aggregate", "batch", "suggest"):
        for path in (Path(sitr.__file__).parent / "questions" / folder).rglob("*.py"):
            assert not re.search(r"(query|target|reading)\.relation\b", path.read_text()), path


class ForgetsTheUnit(Relations):
    def _same_unit(self, base: Any, types: Any) -> str:  # noqa: ARG002
        return "TRUE"


class ForgetsPrecision(Relations):
    def _same_unit(self, base: Any, types: Any) -> str:  # noqa: ARG002
        one, other = base.view.unit.column, base.identified
        return f'CAST("{one}" AS FLOAT) = CAST("{other}" AS FLOAT)'


@pytest.mark.parametrize("twin", [ForgetsTheUnit, ForgetsPrecision])
def test_broken_twins_are_caught(monkeypatch: pytest.MonkeyPatch, twin: type) -> None:
    """Without an exact equality of units, one person meets the rows of others, and moves the totals of many."""
    query = bounded(INNER[0], (1, 1))
    visits: Rows = [(who, "A", 1.0, 1) for who in range(2**24, 2**24 + 20)]

    def replayed() -> None:
        cells = (backend(visits, known).read(query, salt=1) for known in ([(2**24, "A", 1.0, 1)], []))
        check(query, *cells)

    replayed()
    monkeypatch.setattr("sitr.backends.relations.Relations", twin)
    with pytest.raises(AssertionError):
        replayed()


class ForgetsTheCap(Relations):
    def _capped(self, select: str, *_: object, **__: object) -> str:
        return f"({select})"


def test_a_person_with_very_many_rows_in_both_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """10⁴ rows each would be 10⁸ pairs. At most 1,000 rows of each table meet, whatever the order of the rows."""
    query = bounded("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits JOIN patients ON id = pid", (1_000, 2_000))
    visits: Rows = [(0, "A", float(n % 7), n % 5) for n in range(10_000)]
    patients: Rows = [(0, "B", float(n % 3), n % 5) for n in range(10_000)]
    found = backend(visits, patients).read(query, salt=5)
    assert found[()][0] == 1_000 * 1_000
    assert backend(visits[::-1], patients[::-1]).read(query, salt=5) == found
    few = bounded("SELECT COUNT(*) AS n FROM visits JOIN patients ON id = pid", (1_000, 2_000), most=3)
    assert backend(visits[:20], patients[:20]).read(few, salt=5)[()][0] == 9
    monkeypatch.setattr("sitr.backends.relations.Relations", ForgetsTheCap)
    assert backend(visits[:20], patients[:20]).read(few, salt=5)[()][0] == 400


def test_rows_that_meet_are_chosen_uniformly() -> None:
    """Of each person's costs 0, 0, 0, 4 one meets the other table: the 4 of a quarter of the people, not of half."""
    query = bounded("SELECT SUM(cost) AS s FROM visits JOIN patients ON id = pid", (1, 1), most=1)
    visits: Rows = [(who, "A", cost, 1) for who in range(400) for cost in (0.0, 0.0, 0.0, 4.0)]
    kept = backend(visits, [(who, "A", 1.0, 1) for who in range(400)]).read(query, salt=7)[()][0] / 16
    # Binomial(400, 1/4): outside [55, 149] with probability below 1e-6; a half would give about 200.
    assert 55 <= kept <= 149


@pytest.mark.parametrize("question", INNER + OUTER)
def test_joins_count_what_sql_counts(question: str) -> None:
    """With caps that nobody reaches, the answers are those of the plain statement, and the text reads back the same."""
    visits: Rows = [(n % 8 or None, "ABC"[n % 3], float(n % 5), n % 3) for n in range(30)]
    patients: Rows = [(n, "ABC"[n % 3], float(n % 4), n % 3) for n in (1, 2, 3, 3, 4, 5, 9)]
    query = bounded(question, (50, 500))
    again = bounded(text(query.query), (50, 500))
    assert text(again.query) == text(query.query)
    found = backend(visits, patients).read(query, salt=3)
    assert backend(visits, patients).read(again, salt=3) == found
    with duckdb.connect() as plain:
        plain.register("visits", table([row for row in visits if row[0] is not None], VISITS))
        plain.register("patients", table(patients, PATIENTS))
        plain.register("wards", WARDS)
        expected = plain.execute(question).fetchall()
    width = len(query.keys)
    assert {key for key in found if key != (None,)} == {tuple(line[:width]) for line in expected} - {(None,)}
    for line in expected:
        cells = found[tuple(line[:width])]
        for column, value in zip(query.columns, line[width:], strict=True):
            (term,) = column.terms
            exact = cells[query.terms.index(term)] * getattr(term, "granularity", 1)
            assert float(exact) == pytest.approx(float(value or 0), abs=1e-3), question


@pytest.mark.parametrize(
    ("first", "second", "ids"),
    [
        (pa.string(), pa.large_string(), ["a", "b", "ä"]),
        (pa.uint64(), pa.int64(), [0, 1, 2**62]),
        (pa.decimal128(38, 0), pa.int64(), [0, 1, 2**62]),
        (pa.binary(), pa.binary(), [b"a", b"\xff\x00", b""]),
        (pa.date32(), pa.date32(), [0, 1, 2]),
    ],
)
def test_ids_of_any_type_meet_their_equals(first: pa.DataType, second: pa.DataType, ids: list[Any]) -> None:
    visits = VISITS.set(0, pa.field("id", first))
    patients = PATIENTS.set(0, pa.field("pid", second))
    seen = table([(who, "A", 1.0, 1) for who in ids for _ in range(2)], visits)
    known = table([(who, "A", 1.0, 1) for who in ids[1:]], patients)
    tables = [
        describe(
            name,
            kinds=ArrowRows(rows).kinds(),
            unit=Person(unit),
            relation=Relation.ADD_REMOVE,
            max_groups=1,
            max_rows_per_group=9,
            bounds={},
            granularity={},
            keys={},
        )
        for name, unit, rows in (("visits", "id", seen), ("patients", "pid", known))
    ]
    question = "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.id = patients.pid"
    query = asked(question, tables[0], catalog=Catalog(tables[0], beside=(tables[1],)))
    rows = DuckDB(ArrowRows(seen), beside={"patients": DuckDB(ArrowRows(known, "protected patients"))}).read(
        query, salt=1
    )
    assert rows[()][0] == 4
