"""Rows as cell numbers: every value has its cell, and no person has more rows than the cap."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv
from pyarrow.parquet import write_table

from sitr.backends.backend import Backend
from sitr.backends.duckdb import open_source
from sitr.dataset.cells import Drawable, Rule
from sitr.dataset.schema import Kind
from sitr.errors import BackendFailure
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import granular, keyed

NAN, INF = float("nan"), float("inf")
NUMBER = granular("x", Kind.REAL, 0, 9, Fraction(1, 2), 5, nulls=True)


def codes(values: pa.Array, axis: Drawable) -> list[int]:
    rows = open_source(pa.table({"x": values}), types={}).read(Sheet((axis,), Row(), Relation.ADD_REMOVE, 1), salt=0)
    found: list[int] = rows[:, 0].tolist()
    return found


def test_numbers() -> None:
    values = [0.0, 0.5, 1.0, 4.5, -3.0, 99.0, INF, -INF, NAN, None, 0.74, 0.76]
    assert codes(pa.array(values), NUMBER) == [0, 0, 1, 4, 0, 4, 4, 0, 5, 5, 0, 1]
    assert codes(pa.array(values), replace(NUMBER, missing=Rule.DROP)) == [0, 0, 1, 4, 0, 4, 4, 0, 0, 1]
    assert codes(pa.array([Decimal("1.00"), Decimal("4.50")]), NUMBER) == [1, 4]
    large = granular("x", Kind.INTEGER, -(2**53), 2**53, Fraction(1), 1000)
    assert codes(pa.array([-(2**63), -(2**53), 0, 2**53, 2**63 - 1]), large) == [0, 0, 499, 999, 999]


def test_keys() -> None:
    text = keyed("x", Kind.TEXT, keys=("b", "a'", ""), nulls=True)
    assert codes(pa.array(["a'", "", "b", "c", None]), text) == [1, 2, 0, 3, 3]
    assert codes(pa.array(["a'", "", "b", "c", None]).dictionary_encode(), keyed("x", Kind.TEXT, keys=("b",))) == [0]
    assert codes(pa.array([True, None, False]), keyed("x", Kind.BOOLEAN, keys=(False, True), nulls=True)) == [1, 2, 0]
    assert codes(pa.array([7, 3, 5], pa.uint8()), keyed("x", Kind.INTEGER, keys=(3, 7))) == [1, 0]
    assert codes(pa.array(["a", None]), keyed("x", Kind.TEXT, nulls=True)) == [0, 0]


def test_dates_and_moments() -> None:
    days = granular("x", Kind.DATE, 19_723, 19_732, Fraction(1), 5, nulls=True)  # from 2024-01-01
    values = [date(2024, 1, 1), date(2024, 1, 3), date(2024, 1, 10), date(1, 1, 1), date(9999, 12, 31), None]
    assert codes(pa.array(values), days) == [0, 1, 4, 0, 4, 5]
    first = 19_723 * 86_400
    moments = granular("x", Kind.TIMESTAMP, first, first + 86_399, Fraction(1), 24, nulls=True)
    at: list[datetime | None] = [
        datetime.fromisoformat(text)
        for text in ("2024-01-01T00:59:59.999999", "2024-01-01T01:00:00", "2024-01-01T23:59:00", "2030-01-01T00:00:00")
    ]
    at.append(None)
    for unit in ("s", "ms", "us", "ns"):
        assert codes(pa.array(at, pa.timestamp("us")).cast(pa.timestamp(unit), safe=False), moments) == [
            0,
            1,
            23,
            23,
            24,
        ]


PEOPLE = pa.table({"id": [1, 1, 1, 1, 2, None, 3, 3], "x": [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0]})


def sources(table: pa.Table, folder: Path) -> list[Backend]:
    write_table(table, folder / "rows.parquet")
    write_csv(table, folder / "rows.csv")
    return [open_source(source, types={}) for source in (table, folder / "rows.parquet", folder / "rows.csv")]


@pytest.mark.parametrize("most", [1, 2, 3, 10])
def test_no_person_has_more_rows_than_allowed(most: int, tmp_path: Path) -> None:
    sheet = Sheet((NUMBER,), Person("id"), Relation.ADD_REMOVE, most)
    theirs = {1: Counter([0, 0, 1, 2]), 2: Counter([3]), 3: Counter([4, 4])}
    for backend in sources(PEOPLE, tmp_path):
        found = Counter(backend.read(sheet, salt=9)[:, 0].tolist())
        assert sum(found[cell] for cell in (0, 1, 2)) == min(most, 4)
        assert (found[3], found[4]) == (1, min(most, 2))  # rows without a person are left out
        assert all(found[cell] <= theirs[1][cell] for cell in (0, 1, 2))


def test_the_choice_of_rows_is_uniform() -> None:
    """One of four rows is kept, and two of them are equal: each row is kept for a quarter of a thousand people."""
    table = pa.table({"id": np.repeat(np.arange(1000), 4), "x": [0.0, 0.0, 1.0, 2.0] * 1000})
    kept = Counter(
        open_source(table, types={}).read(Sheet((NUMBER,), Person("id"), Relation.ADD_REMOVE, 1), salt=5)[:, 0].tolist()
    )
    assert kept.total() == 1000
    assert abs(kept[0] - 500) < 85  # chance strays so far once in 10^7
    assert abs(kept[1] - 250) < 75


def test_the_choice_depends_on_no_other_person() -> None:
    sheet = Sheet((NUMBER,), Person("id"), Relation.ADD_REMOVE, 1)
    others = PEOPLE.filter(pa.array([row != 2 for row in PEOPLE["id"].to_pylist()]))
    choices = set()
    for salt in range(12):
        mine, without = (
            open_source(table, types={}).read(sheet, salt=salt)[:, 0].tolist() for table in (PEOPLE, others)
        )
        assert Counter(mine) - Counter(without) == Counter([3])
        choices.add(min(mine))
    assert len(choices) > 1


def replayed(table: pa.Table, sheet: Sheet) -> Codes:
    rows = open_source(table, types={}).read(sheet, salt=77)
    return np.bincount(rows[:, 0] * 3 + rows[:, 1], minlength=18)


@pytest.mark.parametrize("relation", Relation)
def test_neighbors_are_no_farther_apart_than_the_distance(relation: Relation) -> None:
    """A person is added, removed or replaced, with many rows in one cell or in several."""
    ward = keyed("w", Kind.TEXT, keys=("a", "b"), nulls=True)
    sheet = Sheet((NUMBER, ward), Person("id"), relation, 3)
    generator = np.random.default_rng(6)

    def person(who: int, rows: int, same: bool) -> list[tuple[int, float, str]]:
        made = [(who, float(generator.integers(0, 10)) / 2, "abc"[generator.integers(0, 3)]) for _ in range(rows)]
        return made[:1] * rows if same else made

    farthest = 0.0
    for _ in range(12):
        base = [row for who in range(8) for row in person(who, int(generator.integers(1, 6)), False)]
        one, other = (
            person(99, int(generator.integers(3, 7)), same) for same in (True, bool(generator.integers(0, 2)))
        )
        pair = (base, base + one) if relation is Relation.ADD_REMOVE else (base + one, base + other)
        left, right = (
            replayed(pa.table(dict(zip(("id", "x", "w"), map(list, zip(*rows, strict=True)), strict=True))), sheet)
            for rows in pair
        )
        assert np.abs(left - right).sum() <= sheet.distance().l1
        assert ((left - right) ** 2).sum() <= sheet.distance().l2_squared
        farthest = max(farthest, float(((left - right) ** 2).sum()))
    assert farthest >= sheet.distance().l2_squared / 2  # one of them brings all its rows to one cell


def test_types_of_every_source(tmp_path: Path) -> None:
    memory, parquet, csv = sources(PEOPLE, tmp_path)
    assert memory.schema() == PEOPLE.schema
    assert parquet.schema().equals(PEOPLE.schema)
    assert csv.schema().names == ["id", "x"]


def test_failures_quote_nothing(tmp_path: Path) -> None:
    _, parquet, _ = sources(PEOPLE, tmp_path)
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 secret PAR1")
    with pytest.raises(BackendFailure, match="withheld") as failure:
        parquet.read(Sheet((NUMBER,), Row(), Relation.ADD_REMOVE, 1), salt=0)
    assert "secret" not in str(failure.value)
