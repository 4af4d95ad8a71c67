"""Extreme literals are answered like all others, wherever they are in a question."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sitr
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.reading import tree
from sitr.backends.statement import statement
from sitr.dataset.schema import Kind, describe
from sitr.errors import QuestionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.sql import parse
from sitr.questions.synthetic.rules import broken
from sitr.session.budget import Budget
from tests.oracles.expressions import compare

LEAST, MOST = -(2**63), 2**63 - 1
ROWS = pa.table(
    {
        "x": pa.array([LEAST, LEAST, LEAST + 7, 5, None, MOST], pa.int64()),
        "person": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
        "real": pa.array([float(LEAST), 1.5, 2.5, 3.5, 4.5, 5.5], pa.float64()),
        "natural": pa.array([0, 1, 2, 3, 4, 2**64 - 1], pa.uint64()),
        "small": pa.array([-128, 1, 2, 3, 4, 127], pa.int8()),
        "wide": pa.array([LEAST, 1, 2, 3, 4, MOST], pa.decimal128(25, 0)),
    }
)
PLENTY = sitr.PureDP(1000)
"""A price at which the noise is 0, except with a probability of about e^-1000."""


@pytest.mark.parametrize("value", [LEAST, LEAST + 1, -1, 0, MOST, -1.5, float(LEAST), -5e-324])
def test_a_literal_is_its_value(value: float) -> None:
    assert duckdb.execute(f"SELECT {DUCKDB.literal(value)}").fetchall() == [(value,)]


@pytest.fixture(params=["row", "person"])
def budget(request: pytest.FixtureRequest, tmp_path: Path) -> Budget:
    keys = {"x": [LEAST, 5, MOST], "small": [-128, 127]}
    if request.param == "row":
        data = sitr.protect(ROWS, name="t", unit=sitr.Row(), keys=keys)
    else:
        data = sitr.protect(ROWS, name="t", unit="person", max_groups=1, max_rows_per_group=1, keys=keys)
    return data.budget(sitr.PureDP(10**6), ledger=tmp_path / "ledger.db")


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (f"x = {LEAST}", 2),
        (f"x <> {LEAST}", 3),
        (f"{LEAST} < x", 3),
        (f"x IN ({LEAST}, 5)", 3),
        (f"x NOT IN ({LEAST}, 5)", 2),
        (f"x BETWEEN {LEAST} AND 0", 3),
        (f"x BETWEEN {LEAST} AND {LEAST}", 2),
        (f"NOT x > {LEAST}", 2),
        (f"x <= {MOST}", 5),
        (f"real > {LEAST}", 5),
        (f"real IN ({LEAST}, 1.5)", 2),
        (f"natural > {LEAST}", 6),
        (f"small >= {LEAST}", 6),
        (f"small = {LEAST}", 0),
        (f"wide = {LEAST}", 1),
    ],
)
def test_the_least_integer_in_a_condition(budget: Budget, condition: str, expected: int) -> None:
    answer = budget.sql(f"SELECT COUNT(*) AS n FROM t WHERE {condition}").release(PLENTY)
    assert answer.table["n"].to_pylist() == [expected]


def test_the_least_integer_as_a_condition_in_python(budget: Budget) -> None:
    answer = budget.where(sitr.column("x") == LEAST).agg(n=sitr.count()).release(PLENTY)
    assert answer.table["n"].to_pylist() == [2]


def test_the_least_integer_as_a_key(budget: Budget) -> None:
    answer = budget.sql("SELECT x, COUNT(*) AS n FROM t GROUP BY x").release(PLENTY)
    assert answer.table.to_pydict() == {"x": [LEAST, 5, MOST], "n": [2, 1, 1]}
    counted = budget.histogram("x", keys=[LEAST, MOST]).release(PLENTY)
    assert counted.table["count"].to_pylist()[:2] == [2, 1]


@pytest.mark.parametrize(
    "cells",
    [
        {"edges": [LEAST, 0, 10]},
        {"bins": 2, "bounds": (LEAST, LEAST + 8)},
        {"bins": 2, "bounds": (LEAST, 2**63)},
    ],
)
def test_the_least_integer_is_no_edge_and_costs_nothing(budget: Budget, cells: dict[str, Any]) -> None:
    """Such edges are equal as doubles."""
    with pytest.raises(QuestionError):
        budget.histogram("x", **cells)
    assert budget.remaining() == sitr.PureDP(10**6)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64(), pa.float64(), pa.decimal128(25, 0)])
def test_the_least_integer_in_a_rule(kind: pa.DataType) -> None:
    rule = compare("x", ">=", LEAST)
    assert broken((rule,), pa.table({"x": pa.array([0, 5, None], kind)})).tolist() == [True, True, False]


def test_the_least_integer_as_a_synthetic_value(budget: Budget) -> None:
    made = budget.synthesize(columns=["x"], keys={"x": [LEAST, 5]}, required=["x"], never=[sitr.column("x") == 5])
    assert set(made.release(PLENTY).draw(20)["x"].to_pylist()) == {LEAST}


TABLE = describe(
    "t",
    kinds={"id": Kind.INTEGER, "ward": Kind.TEXT, "cost": Kind.REAL, "day": Kind.DATE, "ok": Kind.BOOLEAN},
    unit=Person("id"),
    relation=Relation.ADD_REMOVE,
    max_groups=2,
    max_rows_per_group=3,
    bounds={"cost": (0, 10)},
    granularity={},
    keys={"ok": [True, None]},
)
TYPES = {"id": "BIGINT", "ward": "VARCHAR", "cost": "DOUBLE", "day": "DATE", "ok": "BOOLEAN"}
SUMS = """SELECT ward, day, ok, ABS(id) AS who, SUM(cost) AS s, COUNT(cost) AS n, COUNT(DISTINCT id) AS p FROM t
WHERE ward LIKE 'a%' AND (day > '2024-01-01' OR cost < 5) AND id IN (1, 2) AND ok IS NOT NULL
GROUP BY ward, day, ok, who"""


def functions(sql: str) -> set[str]:
    return {name.lower() for name in re.findall(r"([A-Za-z_]+)\(", sql)}


def test_rows_are_not_copied_and_reading_them_twice_gives_the_same() -> None:
    sql = statement(tree(bound(parse(SUMS), TABLE)), dialect=DUCKDB, source="t", types=TYPES, salt=5)
    assert sql.startswith("WITH rows AS NOT MATERIALIZED (")
    assert [name for name, kept in re.findall(r"(\w+) AS (NOT )?MATERIALIZED", sql) if not kept] == ["cells", "chosen"]
    volatile = {
        name
        for (name,) in duckdb.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = 'VOLATILE'"
        ).fetchall()
    }
    assert "random" in volatile
    assert {"hash", "row_number", "sum"} <= functions(sql)
    assert not functions(sql) & volatile
    assert "SAMPLE " not in sql.upper()


def test_like_takes_time_in_proportion_to_the_text() -> None:
    """Before DuckDB 2.0 a row of 500 letters took more than 10 seconds, and 1,000 letters ten times as long."""
    column = "SELECT repeat('a', 1000000 + i::INTEGER) AS s FROM range(3) AS r(i)"
    asked = (
        f"import duckdb; print(duckdb.execute(\"SELECT count(*) FROM ({column}) WHERE s LIKE '%_a%a%a%b'\").fetchall())"
    )
    found = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True, timeout=300)
    assert found.stdout == "[(0,)]\n"


def test_older_versions_of_duckdb_are_not_installed() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    (floor,) = [wanted for wanted in project["dependencies"] if wanted.startswith("duckdb")]
    assert floor == "duckdb>=2.0"
