"""The number of people for each combination of the selected keys, read from rows, on all small neighbouring tables."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, product

import duckdb
import pyarrow as pa
import pytest

from sitr.backends.duckdb import DuckDB
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.reading import Totals, shaped, tree
from sitr.backends.sources import ArrowRows
from sitr.backends.statement import statement
from sitr.dataset.schema import describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.aggregate.bind import BoundedQuery, Cells, bound
from sitr.questions.aggregate.keys import number_of_people
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.stability import people

Rows = list[tuple[int, str | None, int, float]]

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("year", pa.int32()), ("cost", pa.float64())])
QUESTIONS = (
    "SELECT city, year, COUNT(*) AS n FROM visits GROUP BY city, year",
    "SELECT year, city, SUM(cost) AS total, MEDIAN(cost) AS m FROM visits GROUP BY year, city",
)
CELLS = list(product(("A", None), (2020, 2021)))
OTHERS: Rows = [(1, "A", 2020, 1.0), (1, "A", 2021, 1.0), (2, "B", 2020, 1.0), (3, None, 2021, 1.0)]


def rows_of(rows: Rows) -> DuckDB:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return DuckDB(ArrowRows(pa.Table.from_arrays(arrays, schema=SCHEMA)))


def asked(question: str, groups: int | None, *, in_total: int | None = None) -> BoundedQuery:
    described = describe(
        "visits",
        kinds=rows_of([]).kinds(),
        unit=Row() if groups is None else Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=groups,
        max_rows_per_group=None if groups is None else 2,
        max_rows=in_total,
        bounds={"cost": (0, 5)},
        granularity={},
        keys={"year": [2020, 2021]},
    )
    return bound(parse(question), described)


def subsets(cells):
    return chain.from_iterable(combinations(cells, size) for size in range(len(cells) + 1))


def moved(query: BoundedQuery, first: Cells, second: Cells) -> list[int]:
    """By how much the number of people of each combination differs, without zeros."""
    one, two = number_of_people(query, first), number_of_people(query, second)
    gaps = (one.get(key, 0) - two.get(key, 0) for key in one.keys() | two.keys())
    return [gap for gap in gaps if gap]


def in_every_cell(query: BoundedQuery, backend: DuckDB, *, salt: int) -> Cells:
    """The broken twin: a person counts in each of their cells."""
    whole = tree(query)
    assert isinstance(whole, Totals)
    source = backend.source
    select = statement(replace(whole, once=()), dialect=DUCKDB, source=source.relation, types=source.types(), salt=salt)
    connection = duckdb.connect()
    for name, table in source.tables().items():
        connection.register(name, table)
    found: Cells = shaped(query, connection.sql(select).fetchall())
    return found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("groups", [1, 3])
def test_one_person_moves_each_of_at_most_k_numbers_by_one(question: str, groups: int) -> None:
    """All 16 sets of cells that a person may have, in a table of four others."""
    query, far = asked(question, groups), people(asked(question, groups))
    before, reached = rows_of(OTHERS).read(query, salt=5), 0
    cells = subsets(CELLS) if question == QUESTIONS[0] else [CELLS, CELLS[:2]]
    for own in cells:
        mine: Rows = [(9, city, year, 2.0) for city, year in own for _ in range(3)]
        gaps = moved(query, rows_of(OTHERS + mine).read(query, salt=5), before)
        assert all(gap == 1 for gap in gaps)
        assert len(gaps) <= min(groups, len({city for city, _ in own}), far.l1)
        reached = max(reached, len(gaps))
    assert reached == min(groups, 2)


def test_so_it_is_under_a_cap_on_all_rows() -> None:
    query = asked(QUESTIONS[0], 3, in_total=2)
    before = rows_of(OTHERS).read(query, salt=5)
    for own in subsets(CELLS):
        mine: Rows = [(9, city, year, 2.0) for city, year in own for _ in range(3)]
        gaps = moved(query, rows_of(OTHERS + mine).read(query, salt=5), before)
        assert all(gap == 1 for gap in gaps)
        assert len(gaps) <= min(2, len({city for city, _ in own}))
        assert bool(gaps) == bool(own)


def test_without_counting_once_the_same_check_fails() -> None:
    query = asked(QUESTIONS[0], 2)
    mine: Rows = [(9, "A", 2020, 2.0), (9, "A", 2021, 2.0)]
    before, after = (in_every_cell(query, rows_of(rows), salt=5) for rows in (OTHERS, OTHERS + mine))
    assert moved(query, after, before) == [2]
    assert moved(query, rows_of(OTHERS + mine).read(query, salt=5), rows_of(OTHERS).read(query, salt=5)) == [1]


def test_people_are_counted_exactly_where_no_cap_cuts() -> None:
    query = asked(QUESTIONS[0], 6)
    found = number_of_people(query, rows_of(OTHERS).read(query, salt=5))
    assert found == {("A",): 1, ("B",): 1, (None,): 1}
    alone = asked(QUESTIONS[0], None)
    assert number_of_people(alone, rows_of(OTHERS).read(alone, salt=5)) == {("A",): 2, ("B",): 1, (None,): 1}
