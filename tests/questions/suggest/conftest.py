"""Invented people with rows in groups, and questions about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sitr.dataset.schema import Kind, Table, describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bias import SHARE
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.sql import parse

PLACES = [f"p{number}" for number in range(8)]


def described(**changed: Any) -> Table:
    usual: dict[str, Any] = {
        "kinds": {"id": Kind.INTEGER, "place": Kind.TEXT, "value": Kind.REAL},
        "unit": Person("id"),
        "relation": Relation.ADD_REMOVE,
        "max_groups": 1,
        "max_rows_per_group": 1,
        "bounds": {"value": (-(2**40), 2**40)},
        "granularity": {},
        "keys": {"place": PLACES},
    }
    return describe("t", **(usual | changed))


@pytest.fixture(scope="session")
def ask() -> Callable[..., BoundedQuery]:
    """A question, with some of the description changed."""
    return lambda sql, **changed: bound(parse(sql), described(**changed)).watching(SHARE)


def people(
    seed: int, *, number: int, groups: Callable[[Any, int], Any], rows: Callable[[Any, int], Any], values: Any
) -> pa.Table:
    """People with so many groups, so many rows in each, and values, drawn from these laws."""
    random = np.random.default_rng(seed)
    ids, places = [], []
    for person, many in enumerate(np.clip(groups(random, number), 1, len(PLACES)).astype(int)):
        for place in random.permutation(len(PLACES))[:many]:
            count = int(max(1, rows(random, 1)[0]))
            ids += [person] * count
            places += [PLACES[place]] * count
    return pa.table({"id": ids, "place": places, "value": np.asarray(values(random, len(ids)), np.float64)})
