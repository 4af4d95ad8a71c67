"""How many rows a person has in a view at most, and the caps that follow: smaller ones, which leave nothing out."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import sitr.questions.aggregate.bind as binding
from sitr.backends.duckdb import DuckDB
from sitr.backends.public import public_table
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Table, describe
from sitr.errors import QuestionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bias import SHARE
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.counting import counting
from sitr.questions.aggregate.rows_each import rows_each
from sitr.questions.aggregate.stability import people, stability
from sitr.questions.auto.question import check

# Person 1 has seven rows and two wards, and ward A has two rows in the public table.
VISITS = pa.table(
    {"id": [1] * 7 + [2, 3, 3, None], "ward": ["A"] * 4 + ["B"] * 3 + ["A", "B", "B", "A"], "cost": [4] * 11}
)
WARDS = pa.table({"ward": ["A", "A", "B"], "beds": [1, 2, 3]})
EACH = "(SELECT id, COUNT(*) AS n, SUM(cost) AS t FROM visits GROUP BY id)"
BACKEND = DuckDB(ArrowRows(VISITS), {"wards": ArrowRows(WARDS, "public wards")})

MOST = {
    f"{EACH} AS p": 1,
    f"{EACH} AS p WHERE n > 1": 1,
    f"(SELECT id, n * 2 AS n FROM {EACH} AS q WHERE t > 0) AS p": 1,
    f"{EACH} AS p WHERE id IN (SELECT id FROM visits WHERE cost > 3)": 1,
    f"{EACH} AS p WHERE n IN (SELECT beds FROM wards)": 1,
    f"(SELECT id, n FROM {EACH} AS q UNION ALL SELECT id, t AS n FROM {EACH} AS r) AS p": 2,
    f"{EACH} AS p JOIN wards ON p.n > wards.beds": 3,
    f"{EACH} AS p LEFT JOIN wards ON p.n > wards.beds": 3,
    f"{EACH} AS p JOIN {EACH} AS q ON p.id = q.id": 1,
    f"{EACH} AS p LEFT JOIN {EACH} AS q ON p.id = q.id AND q.n > 3": 1,
    "visits": None,
    "(SELECT id, ward, COUNT(*) AS n FROM visits GROUP BY id, ward) AS p": None,
    f"{EACH} AS p JOIN visits ON p.id = visits.id": None,
    f"visits LEFT JOIN {EACH} AS p ON visits.id = p.id": None,
    f"(SELECT id FROM {EACH} AS q UNION ALL SELECT id FROM visits) AS p": None,
}
"""The most rows of a person, by what a question reads FROM."""


def table(*, unit: Unit | None = None, groups: int | None = 3, rows: int | None = 4, total: int | None = None) -> Table:
    return describe(
        "visits", kinds=BACKEND.kinds(), unit=unit or Person("id"), relation=Relation.ADD_REMOVE, max_groups=groups,
        max_rows_per_group=rows, max_rows=total, bounds={"cost": (0, 9)}, granularity={}, keys={"ward": ["A", "B"]},
    )  # fmt: skip


def bounded(sql: str, described: Table | None = None) -> BoundedQuery:
    described = described or table()
    catalog = Catalog(described, ("wards",), lambda name: public_table(name, ArrowRows(WARDS, "public wards")))
    return asked(sql, described, catalog=catalog)


def numbers(query: BoundedQuery) -> dict[object, tuple[int, ...]]:
    return {key: found[:-1] for key, found in BACKEND.read(query, salt=5).items()}


@pytest.mark.parametrize("source", MOST)
def test_the_number_follows_from_how_a_view_is_made(source: str) -> None:
    assert rows_each(bounded(f"SELECT COUNT(*) AS n FROM {source}").view) == MOST[source]


@pytest.mark.parametrize("source", [source for source, most in MOST.items() if most is not None])
def test_nobody_has_more_rows_and_somebody_may_have_as_many(source: str) -> None:
    query = bounded(f"SELECT COUNT(*) AS n FROM {source}")
    counts = []
    for person in (1, 2, 3):
        one = VISITS.filter(pa.compute.equal(VISITS["id"], person))
        alone = DuckDB(ArrowRows(one), {"wards": ArrowRows(WARDS, "public wards")})
        counts.append(sum(found[0] for found in alone.read(_capped(query, 100), salt=5).values()))
    assert max(counts) == MOST[source]


def _capped(query: BoundedQuery, rows: int) -> BoundedQuery:
    return replace(query, max_groups=1, max_rows_per_group=rows, max_rows=None)


@pytest.mark.parametrize("after", ["", "GROUP BY p.n"])
@pytest.mark.parametrize("source", [source for source, most in MOST.items() if most == 1])
def test_one_row_for_each_person_moves_numbers_by_one(source: str, after: str) -> None:
    query = bounded(f"SELECT COUNT(*) AS c FROM {source} {after}")
    assert (query.max_groups, query.max_rows_per_group, query.max_rows) == (1, 1, None)
    far = stability(query, query.terms[0])
    assert far is not None
    assert far.l1 == far.l2_squared == people(query).l1 == 1


@pytest.mark.parametrize(
    "question",
    [f"SELECT COUNT(*) AS c, SUM(n) AS s FROM {EACH} AS p", f"SELECT n, SUM(t) AS s FROM {EACH} AS p GROUP BY n"],
)
def test_smaller_caps_leave_nothing_out_and_nothing_is_paid_to_measure_it(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = bounded(question)
    watched = query.watching(SHARE).watch
    monkeypatch.setattr(binding, "rows_each", lambda _: None)
    before = bounded(question)
    paid = before.watching(SHARE).watch
    assert numbers(query) == numbers(before)
    assert query.max_rows_per_group < before.max_rows_per_group
    assert watched is not None  # the numbers of people are clamped
    assert watched.cut is None
    assert not watched.beyond
    assert paid is not None
    assert paid.cut is not None


def test_a_smaller_cap_than_the_rows_of_a_person_is_measured() -> None:
    """Two rows of each person, and a description that allows one."""
    source = f"(SELECT id, n FROM {EACH} AS q UNION ALL SELECT id, t AS n FROM {EACH} AS r) AS p"
    query = bounded(f"SELECT COUNT(*) AS c FROM {source}", table(groups=1, rows=1)).watching(SHARE)
    assert query.watch is not None
    assert query.watch.cut is not None


def test_caps_in_total_are_lowered_too() -> None:
    source = f"(SELECT id, n FROM {EACH} AS q UNION ALL SELECT id, t AS n FROM {EACH} AS r) AS p"
    for described in (table(groups=5, rows=5), table(groups=None, rows=None, total=9)):
        query = bounded(f"SELECT n, COUNT(*) AS c FROM {source} GROUP BY n", described)
        far = stability(query, query.terms[0])
        assert far is not None
        assert (query.max_groups, query.max_rows_per_group, far.l1) == (2, 2, 2)


@pytest.mark.parametrize("public", [WARDS.slice(0, 0), WARDS.set_column(1, "beds", pa.array([None] * 3, pa.int64()))])
def test_a_public_table_that_nothing_matches_leaves_caps_of_one(public: pa.Table) -> None:
    described, source = table(), ArrowRows(public, "public wards")
    catalog = Catalog(described, ("wards",), lambda name: public_table(name, source))
    query = asked(f"SELECT COUNT(*) AS c FROM {EACH} AS p JOIN wards ON p.n = wards.beds", described, catalog=catalog)
    far = stability(query, query.terms[0])
    assert far is not None
    assert (query.max_groups, query.max_rows_per_group, far.l1) == (1, 1, 1)
    found = DuckDB(ArrowRows(VISITS), {"wards": source}).read(query, salt=5)
    assert [each[0] for each in found.values()] == [0]


def test_rows_that_are_units_have_no_such_number() -> None:
    assert (
        rows_each(bounded("SELECT COUNT(*) AS n FROM visits", table(unit=Row(), groups=None, rows=None)).view) is None
    )


def test_no_caps_can_be_chosen_and_no_rows_counted_where_nothing_is_cut() -> None:
    query = bounded(f"SELECT COUNT(*) AS c FROM {EACH} AS p")
    with pytest.raises(QuestionError, match="No caps leave rows out of this question"):
        check(query)
    with pytest.raises(QuestionError, match="No caps leave rows out of this question"):
        counting(query.watching(SHARE), 50)
    check(bounded("SELECT COUNT(*) AS c FROM visits"))
