"""Each demand counts the rows that break it, and no others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.dataset.schema import Column, Kind
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.marginals import measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.synthetic.structure import Derived, Lookup, Ordered, Structure
from sitr.questions.synthetic.validity import Demand, validity
from tests.oracles.axes import granular, keyed

AXES = (
    granular("low", Kind.INTEGER, 0, 9, Fraction(1), 5, nulls=True),
    granular("high", Kind.INTEGER, 0, 9, Fraction(1), 5, nulls=True),
    keyed("ward", Kind.TEXT, keys=("x", "y")),
)
RULES = Structure(
    (Derived(Column("of", Kind.TEXT), Lookup("ward", ("x", "y"), ("X", "Y"))),),
    (Ordered("low", "high"),),
    (("low", "high"),),
)
SCHEMA = pa.schema([("low", pa.int16()), ("high", pa.int64()), ("ward", pa.string()), ("of", pa.string())])
GOOD = {"low": [1, None], "high": [1, None], "ward": ["x", "y"], "of": ["X", "Y"]}
NEVER = ((sitr.column("low") == 7) & (sitr.column("ward") == "x")).expression


@pytest.fixture(scope="module")
def made() -> Portrait:
    planned = plan(Sheet(AXES, Row(), Relation.ADD_REMOVE, 1), ZeroConcentratedDP(1.0), method=Method.JOINT)
    measured = measure(planned, np.zeros((9, 3), dtype=np.int64), coins=TestCoins(1))
    return portrait(measured, schema=SCHEMA, never=(NEVER,), structure=RULES)


def found(made: Portrait, **changes: Any) -> dict[tuple[Demand, tuple[str, ...]], int]:
    rows = pa.table(GOOD | changes, schema=changes.pop("schema", SCHEMA))
    again = rows.set_column(3, "of", pa.array([{"x": "X", "y": "Y"}.get(each) for each in rows["ward"].to_pylist()]))
    return {(each.demand, each.columns): each.broken for each in validity(made, rows, again) if each.broken}


def test_good_rows(made: Portrait) -> None:
    assert found(made) == {}
    assert (
        len(validity(made, pa.table(GOOD, schema=SCHEMA), pa.table(GOOD, schema=SCHEMA))) == 4 + 3 + 1 + 1 + 1 + 1 + 1
    )


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"low": [3, None]}, {(Demand.ORDERED, ("low", "high")): 1}),
        ({"low": [1, 2]}, {(Demand.TOGETHER, ("low", "high")): 1}),
        ({"high": [10, None]}, {(Demand.VALUES, ("high",)): 1}),
        ({"low": [-1, None]}, {(Demand.VALUES, ("low",)): 1}),
        ({"of": ["Y", None]}, {(Demand.DERIVED, ("of",)): 2}),
        ({"ward": ["z", None], "of": [None, None]}, {(Demand.VALUES, ("ward",)): 1, (Demand.NULL, ("ward",)): 1}),
        ({"low": [7, None], "high": [7, None]}, {(Demand.NEVER, ()): 1}),
        ({"schema": SCHEMA.set(0, pa.field("low", pa.int32()))}, {(Demand.TYPE, ("low",)): 2}),
    ],
    ids=lambda value: str(next(iter(value))),
)
def test_each_demand(made: Portrait, changes: dict[str, Any], broken: dict[Any, int]) -> None:
    assert found(made, **changes) == broken
