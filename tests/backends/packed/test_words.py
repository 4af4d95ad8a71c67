"""numpy counts granules as DuckDB's expression does, on every double; a twin that rounds to even does not."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sitr.backends.duckdb_dialect import DUCKDB, stays_inside
from sitr.backends.packed import words
from sitr.backends.packed.arrays import doubles
from sitr.dataset.schema import Quantised

UNITS = (
    Quantised(0, 100_000, Fraction(1, 100)),
    Quantised(-(2**53), 2**53, Fraction(1)),
    Quantised(-7, 5, Fraction(1, 3)),
    Quantised(3, 9, Fraction(7, 10)),
    Quantised(-3, 3, Fraction(10**9)),
    Quantised(-(2**40), -5, Fraction(1, 2**20)),
    Quantised(0, 2**53 - 58, Fraction(1, 3)),
)


def hostile(to: Quantised) -> list[float | None]:
    chance = random.Random(str(to))
    near = [float(n * to.granularity / 2) for n in (2 * to.lower - 1, 2 * to.lower + 1, 2 * to.upper - 1, 1, -1, 3, -5)]
    near += [float(chance.randint(2 * to.lower, 2 * to.upper) * to.granularity / 2) for _ in range(200)]
    beside = [math.nextafter(each, end) for each in near for end in (-math.inf, math.inf)]
    odd = [
        0.0,
        -0.0,
        0.49999999999999994,
        5e-324,
        -5e-324,
        1e308,
        -1e308,
        math.inf,
        -math.inf,
        math.nan,
        None,
        -math.nan,
    ]
    return [*near, *beside, *odd, *(chance.uniform(*map(float, to.ends)) for _ in range(200))]


def in_duckdb(values: Sequence[float | None], to: Quantised) -> list[int]:
    with duckdb.connect(":memory:") as engine:
        engine.register("given", pa.table({"place": range(len(values)), "x": pa.array(values, pa.float64())}))
        sql = f"SELECT coalesce({DUCKDB.granules('x', to)} - ({to.lower - 1}), 0) FROM given ORDER BY place"
        return [int(row[0]) for row in engine.sql(sql).fetchall()]


@pytest.mark.parametrize("to", UNITS)
def test_granules_are_those_of_the_statement(to: Quantised) -> None:
    values = hostile(to)
    found = words.granules(doubles(pa.array(values, pa.float64())), to).tolist()
    assert found == in_duckdb(values, to)
    assert {0, 1, to.upper - to.lower + 1} <= set(found)
    assert max(found) == to.upper - to.lower + 1


def test_both_kinds_of_ends_are_among_them() -> None:
    """Some quotients of an end round beyond the bounds, and are clamped again."""
    assert {stays_inside(to) for to in UNITS} == {True, False}


def test_rounding_to_even_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    to = UNITS[1]
    values = [0.5, 1.5, 2.5]
    assert words.granules(np.array(values), to).tolist() == in_duckdb(values, to)
    monkeypatch.setattr(np, "trunc", np.rint)
    assert words.granules(np.array(values), to).tolist() != in_duckdb(values, to)
