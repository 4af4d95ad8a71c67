"""The histograms of a suggestion: exact cells, and one person in one cell of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind, describe
from sitr.errors import QuestionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.suggest.spreads import LARGEST, SMALLEST, About, Spread, measured

Ask = Callable[..., BoundedQuery]
SQL = "SELECT place, COUNT(*) AS n, SUM(value) AS total FROM t GROUP BY place"


def read(spread: Spread, rows: list[Any], salt: int = 1, kind: pa.DataType | None = None) -> dict[int, int]:
    ids, places, values = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "place": pa.array(places, pa.string()),
            "value": pa.array(values, kind or pa.float64()),
        }
    )
    cells = open_source(table, types={}).read(spread.query, salt=salt)
    return next(iter(cells.values()))[0] if cells else {}


def test_groups_and_rows_are_counted_for_each_person_beyond_all_caps(ask: Ask) -> None:
    rows: list[Any] = [(1, "p0", 1.0)] * 4 + [(2, "p0", 1.0)] * 5 + [(3, f"p{place}", 1.0) for place in range(5)]
    rows += [(4, "nowhere", 1.0)] * 9 + [(None, "p1", 1.0)] * 9  # no public key, and no person
    groups, lines, _ = measured(ask(SQL))
    assert (groups.about, lines.about) == (About.GROUPS, About.ROWS)
    assert read(groups, rows) == {0: 2, 3: 1}
    assert read(lines, rows) == {0: 1, 2: 1, 3: 1}
    (alone, _) = measured(ask("SELECT SUM(value) AS total FROM t"))
    assert read(alone, rows) == {2: 1, 3: 2, 4: 1}  # 4; 5 and 5; 9


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (0.0, 0),
        (-0.0, 0),
        (1.0, 1 - SMALLEST),
        (1.0000001, 2 - SMALLEST),
        (-1.0, SMALLEST - 1),
        (-1.0000001, SMALLEST - 2),
        (4096.0, 13 - SMALLEST),
        (1e-300, 1),
        (-1e-300, -1),
        (2.0**LARGEST, LARGEST + 1 - SMALLEST),
        (2.0**LARGEST + 1, LARGEST + 2 - SMALLEST),
        (-(2.0**LARGEST), SMALLEST - 1 - LARGEST),
        (-1e18, SMALLEST - 2 - LARGEST),
    ],
)
def test_a_value_is_in_the_cell_of_its_power_of_two_whatever_the_declared_bounds(
    ask: Ask, value: float, cell: int
) -> None:
    for changed in ({}, {"bounds": {"value": (0, 1)}}):
        *_, spread = measured(ask(SQL, **changed))
        assert read(spread, [(1, "p0", value), (2, "p0", None)]) == {cell: 1}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_what_is_no_number_is_in_no_cell(ask: Ask, value: float | None) -> None:
    *_, spread = measured(ask(SQL))
    assert read(spread, [(1, "p0", value)]) == {}


def test_whole_numbers_have_the_same_cells(ask: Ask) -> None:
    kinds = {"id": Kind.INTEGER, "place": Kind.TEXT, "value": Kind.INTEGER}
    *_, spread = measured(ask(SQL, kinds=kinds))
    rows = [(person, "p0", value) for person, value in enumerate([0, 1, 2, 3, -4, 2**41])]
    one = 1 - SMALLEST
    expected = {0: 1, one: 1, one + 1: 1, one + 2: 1, -one - 2: 1, LARGEST + 2 - SMALLEST: 1}
    assert read(spread, rows, kind=pa.int64()) == expected


ROW = st.tuples(st.integers(0, 3), st.sampled_from(["p0", "p1", "p2", "nowhere", None]), st.floats(-1e9, 1e9))


@settings(deadline=None, max_examples=5)
@given(st.lists(ROW, max_size=12), st.integers(0, 2**63 - 1))
def test_one_person_moves_one_cell_by_one(ask: Ask, rows: list[Any], salt: int) -> None:
    for spread in measured(ask(SQL)):
        with_one, without = read(spread, rows, salt), read(spread, [row for row in rows if row[0] != 0], salt)
        moved = [abs(with_one.get(cell, 0) - without.get(cell, 0)) for cell in with_one.keys() | without.keys()]
        assert sum(moved) <= 1 == spread.distance(Relation.ADD_REMOVE).l1
        assert all(spread.first <= cell <= spread.last for cell in with_one)


def test_replacing_a_person_moves_two_cells(ask: Ask) -> None:
    *_, spread = measured(ask(SQL, relation=Relation.REPLACE_ONE))
    far = spread.distance(Relation.REPLACE_ONE)
    assert (far.l1, far.l2_squared) == (2, 2)


def test_there_is_nothing_to_suggest_without_caps_and_sums(ask: Ask) -> None:
    with pytest.raises(QuestionError, match="nothing to suggest"):
        measured(ask("SELECT COUNT(*) AS n FROM t", unit=Row()))


@pytest.mark.parametrize(
    ("unit", "key", "named"),
    [("id", "n", "n"), ("n", "g", "g"), ("N", "g", "n_"), ("id", "g", "id"), ("id", "g", "n"), ("id", "N_", "n")],
)
def test_no_name_of_a_key_or_of_the_unit_is_taken_for_the_number_of_rows(unit: str, key: str, named: str) -> None:
    rows = open_source(pa.table({unit: [1] * 8 + [2] * 2, key: [5, 5, 5, 5, 6, 6, 6, 7, 5, 6]}), types={})
    table = describe(
        "t", kinds=rows.kinds(), unit=Person(unit), relation=Relation.ADD_REMOVE, max_groups=2, max_rows_per_group=2,
        bounds={}, granularity={}, keys={key: [5, 6, 7]},
    )  # fmt: skip
    groups, lines = measured(asked(f'SELECT "{key}" AS "{named}", COUNT(*) AS c FROM t GROUP BY 1', table))
    found = next(iter(rows.read(groups.query, salt=3).values()))[0]
    assert found == {2: 1, 1: 1}  # 3 groups and 2
    chosen = [next(iter(rows.read(lines.query, salt=salt).values()))[0] for salt in range(16)]
    assert all(sum(each.values()) == 2 for each in chosen)
    # The second person has one row in each group, the first one has 4, 3 and 1.
    assert {each.get(0) for each in chosen} == {1, 2}
