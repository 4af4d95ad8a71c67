"""Rules are read as conditions of SQL are, and unknown truth breaks none."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError, UnknownName
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.frame import Expr, column
from sitr.questions.synthetic.rules import broken, rules
from tests.oracles.axes import keyed

ROWS = pa.table(
    {
        "age": pa.array([9, 40, None, 15], pa.int16()),
        "ward": pa.array(["Maternity", None, "Surgery", "Maternity"]).dictionary_encode(),
        "cost": pa.array([Decimal("1.50"), None, Decimal("2.25"), Decimal("0.00")], pa.decimal128(8, 2)),
        "day": pa.array([date(2024, 1, 1), date(2024, 6, 1), None, date(2025, 1, 1)]),
        "ok": pa.array([True, False, None, True]),
        "path": pa.array(["a\\b", "a%", None, "ab"]),
        "at": pa.array(
            [datetime.fromisoformat(f"20{year}-01-01T00:00:00") for year in range(20, 24)], pa.timestamp("ns")
        ),
    }
)
KINDS = (Kind.INTEGER, Kind.TEXT, Kind.REAL, Kind.DATE, Kind.BOOLEAN, Kind.TEXT, Kind.TIMESTAMP)
TABLE = Table("t", tuple(map(Column, ROWS.column_names, KINDS)), Row(), Relation.ADD_REMOVE, 1, 1)
AXES = tuple(keyed(name, kind, keys=(0,)) for name, kind in zip(ROWS.column_names, KINDS, strict=True))


@pytest.mark.parametrize(
    ("rule", "sql"),
    [
        (column("age") < 15, "age < 15"),
        ((column("age") >= 15) | (column("ok") == True), "age >= 15 OR ok"),  # noqa: E712
        (~(column("ward") == "Maternity"), "NOT ward = 'Maternity'"),
        (
            (column("ward").is_null() | (column("cost") != 1.5)) & ~column("age").is_null(),
            "(ward IS NULL OR cost <> 1.5) AND age IS NOT NULL",
        ),
        (column("ward").like("M%y"), "ward LIKE 'M%y'"),
        (column("age").is_in([9, 15]), "age IN (9, 15)"),
        (column("cost") <= 2.25, "cost <= 2.25"),
        (column("day") > date(2024, 3, 1), "day > DATE '2024-03-01'"),
        (column("path").like("a\\%"), "path LIKE 'a\\%'"),
        (
            (column("at") > datetime.fromisoformat("2021-06-01T00:00:00"))
            | (column("at") < datetime.fromisoformat("0001-01-01T00:00:00")),
            "\"at\"::TIMESTAMP > TIMESTAMP '2021-06-01' OR \"at\"::TIMESTAMP < TIMESTAMP '0001-01-01'",
        ),
    ],
)
def test_they_mean_what_sql_means(rule: Expr, sql: str) -> None:
    connection = duckdb.connect()
    connection.register("rows", ROWS)
    wanted = [row[0] for row in connection.execute(f"SELECT coalesce({sql}, FALSE) FROM rows").fetchall()]
    assert broken(rules([rule], TABLE, AXES), ROWS).tolist() == wanted
    assert any(wanted)
    assert not all(wanted)


def test_each_of_several_counts() -> None:
    both = rules([column("age") < 15, column("age") > 30], TABLE, AXES)
    assert broken(both, ROWS).tolist() == [True, True, False, False]
    assert not broken((), ROWS).any()


@pytest.mark.parametrize(
    ("rule", "error"),
    [("age < 15", QuestionError), (column("nobody") < 15, UnknownName), (column("age") < "x", QuestionError)],
)
def test_they_are_checked(rule: Expr, error: type[Exception]) -> None:
    with pytest.raises(error):
        rules([rule], TABLE, AXES)


def test_only_imitated_columns_are_spoken_of() -> None:
    with pytest.raises(QuestionError, match="uses 'ward'"):
        rules([(column("age") < 15) & ~column("ward").is_null()], TABLE, AXES[:1])
