"""A digest is the same for the same rows in any order and place, and another one for all other rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.backend import Backend
from sitr.backends.digest import digest
from sitr.backends.spark import Spark, SparkFrame, sent
from tests import spark
from tests.laws import test_backends as backends

KEY = bytes(range(32))
Rows = dict[str, list[Any]]
ROWS: Rows = {
    "id": ["a", "b", "b", None],
    "ward": ["A", "B", "B", ""],
    "cost": [1.5, None, None, 2.25],
    "days": [1, 2, 2, None],
}


def table(rows: Rows, *, order: list[int] | None = None) -> pa.Table:
    found = pa.table([pa.array(rows[each.name], each.type) for each in backends.SCHEMA], schema=backends.SCHEMA)
    return found if order is None else found.take(order)


PLACES: dict[str, Callable[[pa.Table, Path], Backend]] = {
    "memory": backends.in_memory,
    "Parquet": backends.in_parquet,
    "DuckDB": backends.in_database,
    "PostgreSQL": backends.in_postgres,
}

OTHERS: dict[str, Rows] = {
    "a value": ROWS | {"cost": [1.5, None, None, 2.5]},
    "a missing value": ROWS | {"ward": ["A", "B", "B", None]},
    "a row less": {name: values[:3] for name, values in ROWS.items()},
    "a row more": {name: [*values, values[1]] for name, values in ROWS.items()},
    "exchanged": ROWS | {"ward": ["B", "A", "B", ""]},
    "nothing": {name: [] for name in ROWS},
}


@pytest.mark.parametrize("place", PLACES)
def test_the_same_rows_in_another_order_have_the_same_digest(place: str, tmp_path: Path) -> None:
    hold = PLACES[place]
    found = digest(hold(table(ROWS), tmp_path / "rows"), KEY)
    assert len(found) == 64
    assert digest(hold(table(ROWS, order=[2, 3, 0, 1]), tmp_path / "rows"), KEY) == found
    assert digest(hold(table(ROWS), tmp_path / "rows"), KEY[::-1]) != found
    others = {name: digest(hold(table(rows), tmp_path / "rows"), KEY) for name, rows in OTHERS.items()}
    assert found not in others.values()
    assert len(set(others.values())) == len(others)


@pytest.mark.slow
def test_rows_on_spark_have_a_digest() -> None:
    def found(rows: Rows) -> str:
        return digest(Spark(SparkFrame(sent(spark.session(), table(rows)))), KEY)

    assert found(ROWS) == found(ROWS)
    assert found(ROWS) not in [found(OTHERS[name]) for name in ("a value", "a row less")]


def test_a_column_is_part_of_it() -> None:
    renamed = pa.table({"id": [1], "x": [2]}), pa.table({"id": [1], "y": [2]})
    one, other = (digest(backends.in_memory(each, Path()), KEY) for each in renamed)
    assert one != other
