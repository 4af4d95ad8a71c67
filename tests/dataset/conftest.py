"""The visits table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sitr.dataset.schema import Table
from tests.oracles.visits import visits_table


@pytest.fixture(scope="session")
def visits() -> Callable[..., Table]:
    """The table, with some of its description changed."""
    return visits_table
