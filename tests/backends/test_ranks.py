"""Tallies, different values and bars: read from the kept rows, and moved by one person as far as it is declared."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb import DuckDB
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Table, describe
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.questions.aggregate.bind import BoundedQuery, Cells, bound
from sitr.questions.aggregate.quantity import Rank, family
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.stability import stability

Rows = list[tuple[Any, ...]]

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("ward", pa.string()),
        ("cost", pa.float64()),
        ("days", pa.int32()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
    ]
)
FIRST = dt.date(2024, 1, 1)
moment = dt.datetime.fromisoformat
BOUNDS: dict[str, Any] = {
    "cost": (0, 10),
    "days": (-5, 20),
    "day": (FIRST, dt.date(2024, 1, 31)),
    "at": (moment("2024-01-01"), moment("2024-01-02")),
}
EVERYTHING = (
    "SELECT ward, COUNT(*) AS n, COUNT(days) AS c, SUM(days) AS s, MEDIAN(days) AS m, MAX(days) AS x, "
    "COUNT(DISTINCT days) AS k, HISTOGRAM(days, [-5, 0, 3, 20]) AS h, COUNT(DISTINCT id) AS p FROM visits GROUP BY ward"
)
QUESTIONS = (
    EVERYTHING,
    "SELECT ward, MEDIAN(cost) AS m FROM visits GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT days) AS k, COUNT(DISTINCT ward) AS w FROM visits GROUP BY ward",
    "SELECT COUNT(DISTINCT ward) AS w, MIN(cost) AS m, COUNT(DISTINCT day) AS d, MAX(day) AS last FROM visits",
    "SELECT ward, days, MEDIAN(at), HISTOGRAM(cost, [0, 5, 10]) AS h, COUNT(*) AS n FROM visits GROUP BY ward, days",
    "SELECT HISTOGRAM(cost * 2, [0, 5, 10]) AS h, COUNT(DISTINCT LOWER(ward)) AS w FROM visits WHERE days > 1",
)
WEIRD = (None, math.nan, math.inf, -math.inf, -0.0, 1e308, 5e-324, 2.5, 7.25)


def backend(rows: Rows) -> DuckDB:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return DuckDB(ArrowRows(pa.Table.from_arrays(arrays, schema=SCHEMA)))


def table(*, unit: Unit, relation: Relation, groups: int | None, rows: int | None, known: bool) -> Table:
    return describe(
        "visits",
        kinds=backend([]).kinds(),
        unit=unit,
        relation=relation,
        max_groups=groups,
        max_rows_per_group=rows,
        bounds=BOUNDS,
        granularity={"cost": 0.25},
        keys={"ward": ["A", "B", None]} if known else {},
    )


def asked(
    sql: str, *, groups: int = 2, rows: int = 2, known: bool = True, relation: Relation | None = None
) -> BoundedQuery:
    described = table(
        unit=Person("id"), relation=relation or Relation.ADD_REMOVE, groups=groups, rows=rows, known=known
    )
    return bound(parse(sql), described)


def moved(query: BoundedQuery, one: Cells, other: Cells) -> None:
    """No term moves farther than its distance, whoever is added, removed or replaced."""
    absent: tuple[Any, ...] = (*({} if isinstance(term, Rank) else 0 for term in query.terms), 0)
    keys = set(one) | set(other)
    families: dict[object, list[int]] = {}
    for place, term in enumerate(query.terms):
        pairs = [(one.get(key, absent)[place], other.get(key, absent)[place]) for key in keys]
        if isinstance(term, Rank):
            check_tallies(query, [(Counter(a), Counter(b)) for a, b in pairs])
        else:
            families.setdefault(family(term), []).extend(b - a for a, b in pairs)
    for term in query.terms:
        if not isinstance(term, Rank):
            far = stability(query, term)
            assert far is not None
            check_distance(families[family(term)], far)


def check_distance(moves: list[int], far: Distance) -> None:
    assert sum(map(abs, moves)) <= far.l1
    assert sum(move * move for move in moves) <= far.l2_squared
    assert max(map(abs, moves), default=0) <= far.largest


def check_tallies(query: BoundedQuery, pairs: list[tuple[Counter[int], Counter[int]]]) -> None:
    """At most m values of each version of a person in each of at most k groups."""
    lost, new = [(a - b).total() for a, b in pairs], [(b - a).total() for a, b in pairs]
    for some in (lost, new):
        assert max(some, default=0) <= query.max_rows_per_group
        assert sum(many > 0 for many in some) <= query.max_groups
    if query.relation is Relation.ADD_REMOVE:
        assert not any(lost) or not any(new)


values = st.tuples(
    st.sampled_from(["A", "B", "b", "C", None]),
    st.sampled_from(WEIRD),
    st.sampled_from([None, -(2**31), -1, 0, 1, 2, 3, 30, 2**31 - 1]),
    st.sampled_from([None, dt.date(1, 1, 1), FIRST, dt.date(2024, 1, 15), dt.date(9999, 12, 31)]),
    st.sampled_from([None, *map(moment, ("0001-01-01", "2024-01-01T12:00:00", "9999-12-31"))]),
)


def people(rows: list[tuple[Any, ...]], persons: list[int | None]) -> Rows:
    return [(persons[place % len(persons)], *row) for place, row in enumerate(rows)]


@settings(max_examples=60)
@given(
    common=st.lists(values, max_size=12),
    own=st.lists(values, min_size=1, max_size=8),
    other=st.lists(values, max_size=8),
    question=st.sampled_from(QUESTIONS),
    known=st.booleans(),
    caps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    salt=st.integers(0, 2**63 - 1),
)
def test_neighbors_differ_by_no_more_than_declared(common, own, other, question, known, caps, salt):
    rows = people(common, [1, 2, None])
    mine, theirs = [(9, *row) for row in own], [(9, *row) for row in other]
    for relation, neighbor in ((Relation.ADD_REMOVE, rows), (Relation.REPLACE_ONE, rows + theirs)):
        query = asked(question, groups=caps[0], rows=caps[1], known=known, relation=relation)
        one, two = (backend(some).read(query, salt=salt) for some in (rows + mine, neighbor))
        moved(query, one, two)


@settings(max_examples=30)
@given(
    rows=st.lists(values, max_size=10), own=values, salt=st.integers(0, 2**63 - 1), question=st.sampled_from(QUESTIONS)
)
def test_every_row_may_be_protected(rows, own, salt, question):
    """Where the unit is a row, there are no caps to enforce."""
    described = table(unit=Row(), relation=Relation.ADD_REMOVE, groups=None, rows=None, known=True)
    query = bound(parse(question), described)
    one, two = (backend([(1, *row) for row in some]).read(query, salt=salt) for some in ([*rows, own], rows))
    moved(query, one, two)


@settings(max_examples=40)
@given(
    rows=st.lists(values, max_size=25),
    caps=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    salt=st.integers(0, 2**63 - 1),
)
def test_tallies_and_bars_come_from_the_rows_of_the_sums(rows, caps, salt):
    query = asked(EVERYTHING, groups=caps[0], rows=caps[1], known=False)
    for n, c, s, m, x, k, *bars, p, everybody in backend(people(rows, [1, 2, 3])).read(query, salt=salt).values():
        assert m == x  # two quantiles of one column are read once
        assert sum(m.values()) == c <= n
        assert sum(value * count for value, count in m.items()) == s
        assert p == everybody
        assert k <= n + p * caps[1]
        # Tallies are clamped and bars are not: only values inside the bounds can be compared.
        assert bars[1] == sum(count for value, count in m.items() if 0 <= value < 3)
        assert sum(bars) <= c


def test_without_caps_everything_is_counted():
    rows = people(
        [("A", 2.6, day % 4, FIRST + dt.timedelta(day), moment(f"2024-01-01T{day:02}:00:00")) for day in range(8)]
        + [("A", math.inf, None, None, None), (None, math.nan, 99, dt.date(1, 1, 1), None)],
        [1, 2],
    )
    sql = (
        "SELECT ward, MEDIAN(cost), MEDIAN(days), MEDIAN(day), MEDIAN(at), COUNT(DISTINCT day) AS k, "
        "HISTOGRAM(days, [0, 1, 2, 3]) AS h FROM visits GROUP BY ward"
    )
    found = backend(rows).read(asked(sql, groups=3, rows=100), salt=1)
    first, noon = (FIRST - dt.date(1970, 1, 1)).days, int(dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp())
    assert found[("A",)] == (
        {10: 8, 40: 1},
        {0: 2, 1: 2, 2: 2, 3: 2},
        {first + day: 1 for day in range(8)},
        {noon + 3600 * day: 1 for day in range(8)},
        *(8, 2, 2, 4, 2),
    )
    assert found[(None,)] == ({}, {20: 1}, {first: 1}, {}, *(1, 0, 0, 0, 1))


def test_a_condition_can_leave_nothing():
    query = asked("SELECT MEDIAN(days) AS m, COUNT(DISTINCT ward) AS k FROM visits WHERE days > 1000")
    assert backend([]).read(query, salt=3) == {(): ({}, 0, 0)}


@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (2, 3)])
def test_the_distance_is_reached(groups, rows):
    """One person with many rows adds as much as the caps allow, to as many groups."""
    crowd = [(1, ward, 1.0, day, None, None) for ward in "AB" for day in range(-3, 15)]
    sql = "SELECT ward, COUNT(DISTINCT days), MEDIAN(days), HISTOGRAM(days, [-5, 20]) FROM visits GROUP BY ward"
    query = asked(sql, groups=groups, rows=rows)
    found = backend(crowd).read(query, salt=11)
    assert len(found) == groups
    for different, tally, bar, persons in found.values():
        assert different == sum(tally.values()) == bar == rows
        assert persons == 1
    far = stability(query, query.terms[0])
    assert far is not None
    assert far.l1 == groups * rows


def test_different_values_take_no_places_of_equal_rows():
    """Rows a, a, a, a, b and two places: both values are kept under every salt, where two rows seldom hold both."""
    rows = [(1, "A", None, day, None, None) for day in (4, 4, 4, 4, 7)]
    sql = "SELECT ward, COUNT(DISTINCT days) AS k, MEDIAN(days) AS m FROM visits GROUP BY ward"
    found = [backend(rows).read(asked(sql), salt=salt)[("A",)] for salt in range(30)]
    assert {different for different, _, _ in found} == {2}
    assert {len(tally) for _, tally, _ in found} == {1, 2}  # the broken twin: the values of kept rows


def test_the_salt_chooses_which_values_are_kept():
    rows = [(1, "A", None, day, None, None) for day in range(10)]
    rows += [(2, "A", None, day, None, None) for day in range(3)]
    query = asked("SELECT ward, COUNT(DISTINCT days) AS k FROM visits GROUP BY ward", rows=3)
    assert {backend(rows).read(query, salt=salt)[("A",)][0] for salt in range(40)} >= {4, 5, 6}


def test_the_order_of_rows_says_nothing():
    rows = people([("A", 2.5 * (day % 5), day % 7, FIRST, None) for day in range(40)], [1, 2, 3])
    query = asked(EVERYTHING, rows=3)
    assert backend(rows).read(query, salt=5) == backend(rows[::-1]).read(query, salt=5)


def test_a_person_with_very_many_rows_does_not_count_more():
    many = [(1, "A", 1.0, day % 25 - 5, None, None) for day in range(30_000)]
    query = asked(EVERYTHING, rows=2)
    n, c, s, m, _, k, *bars, p, everybody = backend(many).read(query, salt=5)[("A",)]
    assert (n, c, sum(m.values()), k, p, everybody) == (2, 2, 2, 2, 1, 1)
    assert sum(value * count for value, count in m.items()) == s
    assert sum(bars) == 2
