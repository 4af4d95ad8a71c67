"""One data set for every test of a question, described anew with other caps, bounds or keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.query.rewrite import BoundedQuery, bound
from sitr.query.schema import Kind, Table, describe
from sitr.query.sql import parse

KINDS = {
    "id": Kind.INTEGER,
    "ward": Kind.TEXT,
    "cost": Kind.REAL,
    "days": Kind.INTEGER,
    "born": Kind.DATE,
    "seen": Kind.TIMESTAMP,
    "urgent": Kind.BOOLEAN,
    "scan": Kind.OTHER,
}


def _visits(**changed: Any) -> Table:
    usual: dict[str, Any] = {
        "kinds": KINDS,
        "unit": Person("id"),
        "relation": Relation.ADD_REMOVE,
        "max_groups": 2,
        "max_rows_per_group": 3,
        "bounds": {"cost": (0, 10), "days": (-2, 5)},
        "granularity": {"cost": 0.5},
        "keys": {},
    }
    return describe("visits", **(usual | changed))


@pytest.fixture(scope="session")
def visits() -> Callable[..., Table]:
    """The table, with some of its description changed."""
    return _visits


@pytest.fixture(scope="session")
def ask() -> Callable[..., BoundedQuery]:
    """A question in SQL about the table, with some of its description changed."""
    return lambda sql, **changed: bound(parse(sql), _visits(**changed))
