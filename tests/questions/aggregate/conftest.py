"""The visits table, and questions in SQL about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sitr.dataset.schema import Table
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.sql import parse
from tests.oracles.visits import visits_table


@pytest.fixture(scope="session")
def visits() -> Callable[..., Table]:
    """The table, with some of its description changed."""
    return visits_table


@pytest.fixture(scope="session")
def ask() -> Callable[..., BoundedQuery]:
    """A question in SQL about the table, with some of its description changed."""
    return lambda sql, **changed: bound(parse(sql), visits_table(**changed))
