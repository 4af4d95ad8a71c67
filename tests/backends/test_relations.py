"""Sub-queries, joins and parts keep each row's unit: totals are sums over people, and one person moves them little."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb import DuckDB
from sitr.backends.public import public_table
from sitr.backends.relations import Relations
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Column, Table, describe
from sitr.errors import QuestionError, SitrError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.catalog import Catalog, Compared
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.stability import stability

SCHEMA = pa.schema(
    [("id", pa.int64()), ("ward", pa.string()), ("cost", pa.float64()), ("days", pa.int32()), ("day", pa.date32())]
)
WARDS = pa.table(
    {
        "ward": ["A", "B", "C", "C", None],
        "region": ["north", "south", "south", "east", "nowhere"],
        "beds": [10, 20, 30, 40, 50],
        "id": [1, 2, 3, 4, 5],
    }
)
QUESTIONS = (
    "SELECT region, COUNT(*) AS n, SUM(beds) AS beds FROM visits JOIN wards ON visits.ward = wards.ward "
    "GROUP BY region",
    "SELECT region, COUNT(*) AS n FROM visits LEFT JOIN wards USING (ward) GROUP BY region",
    "SELECT COUNT(*) AS n FROM visits v JOIN wards w ON v.days < w.beds",
    "SELECT SUM(total) AS s, COUNT(*) AS n FROM (SELECT id, SUM(cost) AS total FROM visits GROUP BY id) "
    "WHERE total > 2",
    "SELECT ward, SUM(n) AS s, SUM(m) AS m, SUM(a) AS a FROM (SELECT id, ward, COUNT(DISTINCT days) AS n, "
    "MAX(cost) AS m, AVG(cost) AS a FROM visits WHERE days < 40 GROUP BY id, ward) GROUP BY ward",
    "WITH big AS (SELECT id, ward, cost * 2 AS x FROM visits WHERE cost > 1) "
    "SELECT ward, SUM(x) AS s FROM big GROUP BY ward",
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM (SELECT ward, cost FROM visits WHERE cost < 1 UNION ALL "
    "SELECT ward, cost FROM visits WHERE days < 2) GROUP BY ward",
    "SELECT region, SUM(c) AS s FROM (SELECT id, ward, SUM(cost) AS c FROM visits GROUP BY 1, 2) AS p "
    "JOIN wards ON p.ward = wards.ward WHERE beds > 10 GROUP BY region",
    "SELECT SUM(DATE_DIFF('day', first, DATE '2024-12-31')) AS s "
    "FROM (SELECT id, MIN(day) AS first FROM visits GROUP BY id)",
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE id IN (SELECT id FROM visits WHERE cost > 2) "
    "GROUP BY ward",
    "SELECT COUNT(*) AS n FROM visits WHERE id NOT IN (SELECT id FROM visits GROUP BY id HAVING COUNT(*) > 2)",
    "SELECT ward, COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits x WHERE x.id = v.id AND x.days > 1"
    ") AND v.cost < 4 GROUP BY ward",
    "SELECT ward, COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM wards WHERE beds > 15) GROUP BY ward",
    "SELECT region, COUNT(*) AS n FROM visits, wards WHERE visits.ward = wards.ward AND days NOT IN "
    "(SELECT beds FROM wards WHERE region = 'south') GROUP BY region",
    "SELECT SUM(t) AS s FROM (SELECT id, SUM(cost) AS t FROM visits WHERE ward IN (SELECT ward FROM wards WHERE beds < "
    "25) GROUP BY id) AS p WHERE id IN (SELECT id FROM visits WHERE days < 3)",
    "SELECT SUM(v) AS s, SUM(w) AS t FROM (SELECT id, LEAST(GREATEST(SUM(cost) / COUNT(*), -2), 5) AS v, "
    "MAX(days) - MIN(days) AS w FROM visits GROUP BY id HAVING COUNT(*) > 1)",
    "SELECT SUM(a) AS a, SUM(b) AS b FROM (SELECT id, COUNT_IF(days > 1) AS a, SUM(cost) FILTER (WHERE ward = 'A') AS "
    "b FROM visits GROUP BY id HAVING COUNT(*) FILTER (WHERE cost > 0) > 0)",
    "SELECT kind, COUNT(*) AS n FROM (SELECT id, ward, CASE WHEN COUNT(*) > 2 OR ward = 'B' THEN 'often' ELSE 'rare' "
    "END AS kind FROM visits GROUP BY id, ward) GROUP BY kind",
)
WEIRD = (None, math.nan, math.inf, -math.inf, -0.0, 1e308, 5e-324, 2.5)
Rows = list[tuple[Any, ...]]


def backend(rows: Rows) -> DuckDB:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=SCHEMA)
    return DuckDB(ArrowRows(table), {"wards": ArrowRows(WARDS, "public wards")})


def described(unit: Unit, relation: Relation, groups: int | None, rows: int | None) -> Table:
    return describe(
        "visits",
        kinds=backend([]).kinds(),
        unit=unit,
        relation=relation,
        max_groups=groups,
        max_rows_per_group=rows,
        bounds={"cost": (-2, 5), "days": (0, 9), "day": (date(2024, 1, 1), date(2024, 12, 31))},
        granularity={"cost": 0.25},
        keys={"ward": ["A", "B", "C", None]},
    )


def bounded(question: str, table: Table) -> BoundedQuery:
    catalog = Catalog(table, ("wards",), lambda name: public_table(name, ArrowRows(WARDS, "public wards")))
    return asked(question, table, catalog=catalog)


def moved(query: BoundedQuery, first: Cells, second: Cells, place: int) -> Distance:
    absent = (0,) * (len(query.terms) + 1)
    gaps = [abs(first.get(key, absent)[place] - second.get(key, absent)[place]) for key in first.keys() | second.keys()]
    return Distance(l1=sum(gaps), l2_squared=sum(gap**2 for gap in gaps), largest=max(gaps, default=0))


values = st.one_of(st.sampled_from(WEIRD), st.floats(-10, 10))
row = st.tuples(
    st.sampled_from(["A", "B", "C", "Z", None]),
    values,
    st.sampled_from([0, 1, 2, 50, None]),
    st.sampled_from([date(1, 1, 1), date(2024, 5, 1), date(9999, 12, 31), None]),
)
person = st.lists(row, max_size=8)


@settings(max_examples=25, deadline=None)
@given(
    others=st.lists(person, max_size=3),
    own=person,
    question=st.sampled_from(QUESTIONS),
    caps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    salt=st.integers(0, 2**63 - 1),
)
def test_a_person_moves_nothing_beyond_its_stability(
    others: list[Any], own: list[Any], question: str, caps: tuple[int, int], salt: int
) -> None:
    query = bounded(question, described(Person("id"), Relation.ADD_REMOVE, *caps))
    rest: Rows = [(number, *part) for number, rows in enumerate(others, start=1) for part in rows]
    mine: Rows = [(0, *part) for part in own]
    without, with_me = backend(rest).read(query, salt=salt), backend(mine[::-1] + rest).read(query, salt=salt)
    alone = backend(mine).read(query, salt=salt)
    for place, term in enumerate(query.terms):
        gap, limit = moved(query, with_me, without, place), stability(query, term)
        assert limit is not None, term
        assert gap.l1 <= limit.l1, term
        assert gap.l2_squared <= limit.l2_squared, term
        together = Counter({key: cells[place] for key, cells in without.items()})
        together.update({key: cells[place] for key, cells in alone.items()})
        assert {key: n for key, n in together.items() if n} == {
            key: cells[place] for key, cells in with_me.items() if cells[place]
        }, "totals are sums over people"


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_text_of_a_question_reads_back_the_same(question: str) -> None:
    table = described(Person("id"), Relation.ADD_REMOVE, 2, 3)
    query = bounded(question, table)
    again = bounded(text(query.query), table)
    assert text(again.query) == text(query.query)
    rows: Rows = [(n % 5, "ABCZ"[n % 4], n / 3, n % 7, date(2024, 1 + n % 12, 1)) for n in range(60)]
    assert backend(rows).read(again, salt=3) == backend(rows).read(query, salt=3)


ROWS: Rows = [(n, "ABC"[n % 3], float(n % 4), n % 7, date(2024, 1 + n % 12, 1)) for n in range(30)]


def test_joins_and_sub_queries_count_what_sql_counts() -> None:
    """With caps that nobody reaches, the answers are those of the plain statement."""
    table = described(Person("id"), Relation.ADD_REMOVE, 50, 50)
    source = backend(ROWS).source
    assert isinstance(source, ArrowRows)
    with duckdb.connect() as plain:
        plain.register("visits", source.table)
        plain.register("wards", WARDS)
        for question in QUESTIONS[:2] + QUESTIONS[3:8] + QUESTIONS[9:]:
            query = bounded(question, table)
            expected = plain.execute(question).fetchall()
            found = backend(ROWS).read(query, salt=1)
            width, names = len(query.keys), [named.name for named in query.query.aggregates]
            for line in expected:
                key = tuple(line[:width])
                if key not in found:
                    assert query.keys[0].keys is not None
                    assert key[0] not in query.keys[0].keys
                    continue
                for column, value in zip(query.columns, line[width:], strict=True):
                    (term,) = column.terms
                    exact = found[key][query.terms.index(term)] * term.granularity
                    assert float(exact) == pytest.approx(float(value or 0), abs=1e-3), (question, names)


def test_a_row_that_is_a_unit_matches_one_public_row() -> None:
    """The check on the public table can be stale, so the statement enforces it."""
    table = described(Row(), Relation.ADD_REMOVE, None, None)
    with pytest.raises(QuestionError, match="several rows of wards"):
        bounded(QUESTIONS[0], table)
    stale = Catalog(table, ("wards",), lambda name: replace(public_table(name, ArrowRows(WARDS)), most=lambda _: 1))
    query = asked(QUESTIONS[0], table, catalog=stale)
    counted = sum(cells[0] for cells in backend([(0, "C", 1.0, 1, None)]).read(query, salt=1).values())
    assert counted <= 1


NEAR = 10**18
"""Here one double stands for about a hundred whole numbers."""

CLOSE_TOGETHER = {
    "whole numbers as doubles": ("t.id + 0 = p.id", pa.array([NEAR + 256]), pa.array(range(NEAR, NEAR + 500))),
    "a double and whole numbers": ("t.id = p.id", pa.array([2.0**53]), pa.array([2**53, 2**53 + 1])),
    "decimals": ("t.id = p.id", pa.array([0.1]), pa.array([Decimal("0.1"), Decimal("0.1") + Decimal("1e-22")])),
    "parts of a microsecond": (
        "t.id = p.id",
        pa.array([datetime(2024, 1, 1)], pa.timestamp("us")),  # noqa: DTZ001
        pa.array([1_704_067_200_000_000_000, 1_704_067_200_000_000_001], pa.timestamp("ns")),
    ),
}


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(("on", "own", "listed"), CLOSE_TOGETHER.values(), ids=CLOSE_TOGETHER)
def test_public_values_that_a_comparison_cannot_tell_apart_match_once(
    on: str, own: pa.Array, listed: pa.Array, kind: str
) -> None:
    """They are different in the public table, and so unique; compared as doubles, several of them equal one row."""
    rows, public = ArrowRows(pa.table({"id": own})), ArrowRows(pa.table({"id": listed}), name="public p")
    columns = tuple(Column(name, found) for name, found in rows.kinds().items())
    table = Table("t", columns, Row(), Relation.ADD_REMOVE, 1, 1)
    question = f"SELECT COUNT(*) AS n FROM t {kind} p ON {on}"
    with pytest.raises(QuestionError, match="several rows of p"):
        asked(question, table, catalog=Catalog(table, ("p",), lambda name: public_table(name, public)))
    trusting = Catalog(table, ("p",), lambda name: replace(public_table(name, public), most=lambda _: 1))
    found = DuckDB(rows, public={"p": public}).read(asked(question, table, catalog=trusting), salt=1)
    assert [cells[0] for cells in found.values()] == [1]


def test_joins_that_match_many_public_rows_are_refused_before_the_charge() -> None:
    table = described(Person("id"), Relation.ADD_REMOVE, 2, 3)
    many = ArrowRows(pa.table({"ward": ["A"] * 40}), name="public many")
    catalog = Catalog(table, ("many",), lambda name: public_table(name, many))
    join = "JOIN many m{0} ON m{0}.ward = 'A' "
    asked(f"SELECT COUNT(*) AS n FROM visits {join.format(1)}", table, catalog=catalog)
    with pytest.raises(QuestionError, match="1,600 rows of many"):
        asked(f"SELECT COUNT(*) AS n FROM visits {join.format(1)}{join.format(2)}", table, catalog=catalog)


def test_a_literal_among_public_rows_is_answered() -> None:
    query = bounded(
        "SELECT COUNT(*) AS n FROM visits WHERE 1 IN (SELECT 1 FROM wards)",
        described(Person("id"), Relation.ADD_REMOVE, 2, 3),
    )
    assert [cells[0] for cells in backend([(1, "A", 1.0, 1, None)]).read(query, salt=1).values()] == [1]


def test_any_column_name_of_a_public_table_is_read() -> None:
    named = public_table("p", ArrowRows(pa.table({"a{b}": [1, 2], "{0}": [3, 3]})))
    assert [column.keys for column in named.columns] == [(1, 2), (3,)]
    assert named.most((Compared("{0}", exactly=True),)) == 2


NOBODY: Rows = [(None, "A", 9.0, 1, None), (1, "A", 1.0, 1, None), (1, "B", 1.0, 1, None), (2, "A", 9.0, 1, None)]


def test_a_row_without_a_person_decides_about_nobody() -> None:
    """In plain SQL, a NULL in the list of NOT IN drops the rows of everybody."""
    question = "SELECT COUNT(*) AS n FROM visits WHERE id NOT IN (SELECT id FROM visits WHERE cost > 5)"
    query = bounded(question, described(Person("id"), Relation.ADD_REMOVE, 2, 3))
    with_nobody, without = (backend(rows).read(query, salt=1) for rows in (NOBODY, NOBODY[1:]))
    assert with_nobody == without
    assert next(iter(without.values()))[0] == 2


class ListsRowsWithoutAPerson(Relations):
    def _is_one_of(self, base: Any) -> str:
        return super()._is_one_of(base).replace('"id" IS NOT NULL', "TRUE")


def test_a_twin_that_lists_rows_without_a_person_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitr.backends.relations.Relations", ListsRowsWithoutAPerson)
    monkeypatch.setattr("sitr.backends.statement.Relations", ListsRowsWithoutAPerson, raising=False)
    with pytest.raises((AssertionError, StopIteration)):
        test_a_row_without_a_person_decides_about_nobody()


class ForgetsToMatchOnce(Relations):
    def _one_match(self, rows: Any, selected: str, columns: Any, join: str, matched: Any) -> str:  # noqa: ARG002
        return f"(SELECT {selected} FROM {rows.source} {join})"


def test_a_broken_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitr.backends.relations.Relations", ForgetsToMatchOnce)
    with pytest.raises(AssertionError):
        test_a_row_that_is_a_unit_matches_one_public_row()


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("SELECT COUNT(*) AS n FROM (SELECT ward, COUNT(*) AS c FROM visits GROUP BY ward)", "must group by the unit"),
        ("SELECT COUNT(*) AS n FROM visits v JOIN visits w ON v.ward = w.ward", "with itself"),
        ("SELECT COUNT(*) AS n FROM wards", "is public"),
        ("SELECT COUNT(*) AS n FROM visits JOIN bills ON visits.id = bills.id", "only public tables"),
        ("SELECT COUNT(*) AS n FROM (SELECT ward FROM visits UNION SELECT ward FROM visits)", "UNION ALL"),
        (
            "SELECT SUM(v) AS s FROM (SELECT id, days AS d, SUM(cost) * days AS v FROM visits GROUP BY id, days)",
            "does not select it by itself",
        ),
        ("SELECT SUM(v) AS s FROM (SELECT DISTINCT id, SUM(cost) * 2 AS v FROM visits GROUP BY id)", "DISTINCT"),
        ("SELECT SUM(v) AS s FROM (SELECT SUM(cost) * 2 AS v FROM visits)", "must group by the unit"),
        ("SELECT COUNT(*) AS n FROM (SELECT ward FROM visits LIMIT 5)", "LIMIT"),
        (
            "SELECT ward, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY ward",
            "Several tables",
        ),
        ("SELECT COUNT(*) AS n FROM visits CROSS JOIN wards", "join"),
        ("SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM visits WHERE cost > 2)", "only list people"),
        ("SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT days FROM visits)", "only list people"),
        ("SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)", "sub-query"),
        ("SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT id FROM visits) OR cost > 1", "sub-query"),
        ("SELECT COUNT(*) AS n FROM visits FULL JOIN wards ON visits.ward = wards.ward", "join"),
    ],
)
def test_what_mixes_people_is_refused(question: str, reason: str) -> None:
    with pytest.raises(SitrError, match=reason):
        bounded(question, described(Person("id"), Relation.ADD_REMOVE, 2, 3))


def test_people_cannot_be_listed_where_a_row_is_a_unit() -> None:
    with pytest.raises(QuestionError, match="each row is protected by itself"):
        bounded(QUESTIONS[9], described(Row(), Relation.ADD_REMOVE, None, None))
    bounded(QUESTIONS[12], described(Row(), Relation.ADD_REMOVE, None, None))  # a public list is no row of a person


def test_parts_cannot_be_put_together_where_a_row_is_a_unit() -> None:
    with pytest.raises(QuestionError, match="count a row twice"):
        bounded(QUESTIONS[6], described(Row(), Relation.ADD_REMOVE, None, None))


@pytest.mark.parametrize(
    "parts",
    [
        "SELECT days AS a, days AS b FROM visits UNION ALL SELECT days AS a, beds AS b FROM more",
        "SELECT days AS a, days AS b FROM visits UNION ALL SELECT beds AS a, days AS b FROM more",
        "SELECT id AS i, days AS a, days AS b, days AS c FROM visits UNION ALL "
        "SELECT id, days, beds, days + 1 FROM more",
        "SELECT id AS i, id AS j, days AS a, days + 1 AS days_, days AS b FROM visits UNION ALL "
        "SELECT id AS i, id AS j, beds AS a, days AS days_, beds - 1 AS b FROM more",
    ],
)
def test_a_column_that_one_part_lists_twice_is_two_columns(parts: str) -> None:
    """In another part these places have different columns; they must not be taken for one."""
    table = described(Person("id"), Relation.ADD_REMOVE, 50, 50)
    more = "(SELECT id, days, 7 - days AS beds FROM visits) AS more"
    question = f"SELECT SUM(CLAMP(a, -9, 9)) AS a, SUM(CLAMP(b, -9, 9)) AS b FROM ({parts.replace('more', more)}) AS p"
    query = bounded(question, table)
    source = backend(ROWS).source
    assert isinstance(source, ArrowRows)
    with duckdb.connect() as plain:
        plain.register("visits", source.table)
        expected = plain.execute(re.sub(r"CLAMP\((\w), -9, 9\)", r"\1", question)).fetchall()
    (cells,) = backend(ROWS).read(query, salt=1).values()
    found = [float(cells[query.terms.index(term)] * term.granularity) for (term,) in (c.terms for c in query.columns)]
    assert found == list(map(float, expected[0]))
    assert text(bounded(text(query.query), table).query) == text(query.query)
