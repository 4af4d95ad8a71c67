"""A small town, as codes: what backends give for synthetic rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.dataset.schema import Kind
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import granular, keyed

AXES = (
    granular("age", Kind.INTEGER, 0, 79, Fraction(1), 20, nulls=True),
    keyed("ward", Kind.TEXT, keys=("a", "b", "c", "d")),
    granular("cost", Kind.REAL, 0, 4000, Fraction(1, 4), 40),
    keyed("ok", Kind.BOOLEAN, keys=(False, True)),
)


@pytest.fixture
def sheet() -> Sheet:
    return Sheet(AXES, Row(), Relation.ADD_REMOVE, 1)


@pytest.fixture
def town() -> Codes:
    """20,000 people: wards and costs follow age."""
    generator = np.random.default_rng(8)
    age = generator.integers(0, 20, 20_000)
    ward = np.where(generator.random(20_000) < 0.8, age // 5, generator.integers(0, 4, 20_000))
    cost = np.clip(np.rint(age * 1.5 + generator.normal(5, 3, 20_000)), 0, 39).astype(np.int64)
    ok = (generator.random(20_000) < 0.2 + 0.03 * age).astype(np.int64)
    return np.column_stack([np.where(age == 19, 20, age), ward, cost, ok])
