"""Questions in SQL about the visits table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sitr.questions.aggregate.bias import SHARE
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.sql import parse
from tests.oracles.visits import visits_table


@pytest.fixture(scope="session")
def ask() -> Callable[..., BoundedQuery]:
    """A question about the table, with a share for the bias, and some of its description changed."""
    return lambda sql, **changed: bound(parse(sql), visits_table(**changed)).watching(SHARE)
