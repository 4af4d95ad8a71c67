"""One described table for every test of a schema or a question, with other caps, bounds or keys on request."""

from __future__ import annotations

from typing import Any

from sitr.dataset.schema import Kind, Table, describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person

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


def visits_table(**changed: Any) -> Table:
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
