"""Derived columns have the values of the expression, in the type of the column, whatever the row holds."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.backends.derivation import with_derived
from sitr.dataset.schema import Column, Kind, Table
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.frame import Expr
from sitr.questions.aggregate.view import View
from sitr.questions.synthetic.structure import Derived, Lookup

ROWS = pa.table(
    {
        "day": pa.array([date(2024, 2, 29), None, date(1999, 12, 31)], pa.date32()),
        "at": pa.array([datetime.fromisoformat("2024-02-29T23:59:59"), None, None], pa.timestamp("us")),
        "x": pa.array([3, None, -7], pa.int16()),
        "ward": pa.array(["a", None, "b"]).dictionary_encode(),
    }
)
KINDS = {"day": Kind.DATE, "at": Kind.TIMESTAMP, "x": Kind.INTEGER, "ward": Kind.TEXT, "new": Kind.INTEGER}
TABLE = Table("t", tuple(Column(n, k) for n, k in KINDS.items()), Row(), Relation.ADD_REMOVE, 1, 1)


def derived(rule: Expr | Lookup, kind: pa.DataType) -> list[Any]:
    of = rule if isinstance(rule, Lookup) else View.of(TABLE).typed(rule.expression)
    schema = pa.schema([pa.field("new", kind), *ROWS.schema])
    found = with_derived(ROWS, (Derived(Column("new", Kind.OTHER), of),), schema)
    assert found.schema == schema
    assert found.select(ROWS.column_names).equals(ROWS)
    values: list[Any] = found["new"].to_pylist()
    return values


day, at, x, ward = map(sitr.column, ("day", "at", "x", "ward"))


@pytest.mark.parametrize(
    ("rule", "kind", "expected"),
    [
        (day.dt.month(), pa.int8(), [2, None, 12]),
        (day.dt.year(), pa.int16(), [2024, None, 1999]),
        (at.dt.hour(), pa.uint8(), [23, None, None]),
        (x * 2 + 1, pa.int64(), [7, None, -13]),
        (x / 2, pa.float32(), [1.5, None, -3.5]),
        (x * x, pa.decimal128(10, 2), [9, None, 49]),
        (x.is_null(), pa.bool_(), [False, True, False]),
        (sitr.when(x > 0).then("up").otherwise("down"), pa.string(), ["up", "down", "down"]),
        (ward.str.to_uppercase(), pa.dictionary(pa.int32(), pa.string()), ["A", None, "B"]),
        (Lookup("ward", ("b", "a"), ("south", "north")), pa.string(), ["north", None, "south"]),
        (Lookup("ward", ("b", "a", None), (1, 2, 3)), pa.int8(), [2, 3, 1]),
        (Lookup("x", (3, -7), (date(2024, 1, 1), None)), pa.date32(), [date(2024, 1, 1), None, None]),
    ],
    ids=str,
)
def test_values(rule: Expr | Lookup, kind: pa.DataType, expected: list[Any]) -> None:
    assert derived(rule, kind) == expected


def test_a_value_that_does_not_fit_is_an_error_and_not_another_value() -> None:
    with pytest.raises(pa.ArrowException):
        derived(x * 1000, pa.int8())


def test_rows_keep_their_order() -> None:
    rows = pa.table({"x": pa.array(range(300_000, 0, -1), pa.int64())})
    table = Table("t", (Column("x", Kind.INTEGER), Column("y", Kind.INTEGER)), Row(), Relation.ADD_REMOVE, 1, 1)
    rule = Derived(Column("y", Kind.INTEGER), View.of(table).typed((x + 1).expression))
    found = with_derived(rows, (rule,), pa.schema([("x", pa.int64()), ("y", pa.int64())]))
    assert found["y"].to_numpy().tolist() == list(range(300_001, 1, -1))


def test_nothing_to_derive() -> None:
    assert with_derived(ROWS, (), ROWS.schema) is ROWS
