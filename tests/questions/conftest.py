"""Plans for every test of a release."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from sitr.dataset.schema import Kind, describe
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.sql import parse

KINDS = {
    "id": Kind.INTEGER,
    "ward": Kind.TEXT,
    "cost": Kind.REAL,
    "days": Kind.INTEGER,
    "born": Kind.DATE,
    "urgent": Kind.BOOLEAN,
}


def _plan(sql: str, *, price: Promise | None = None, **changed: Any) -> AggregatePlan:
    usual: dict[str, Any] = {
        "kinds": KINDS,
        "unit": Person("id"),
        "relation": Relation.ADD_REMOVE,
        "max_groups": 2,
        "max_rows_per_group": 3,
        "bounds": {"cost": (0, 10), "days": (-2, 5)},
        "granularity": {"cost": 0.1},
        "keys": {"ward": ["B", "A", None], "urgent": [True, False], "born": [date(2024, 2, 29), date(1999, 1, 1)]},
    }
    return fit(bound(parse(sql), describe("visits", **(usual | changed))), price or PureDP(1))


@pytest.fixture(scope="session")
def plan() -> Callable[..., AggregatePlan]:
    """A question in SQL with its noise; `price` and the description may be changed."""
    return _plan
