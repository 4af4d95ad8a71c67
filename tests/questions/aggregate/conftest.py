"""The visits table, and questions in SQL about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

import pytest
from flint import arb

from sitr.dataset.schema import Table
from sitr.mechanisms import quantile
from sitr.mechanisms.grouped_quantile import GroupedQuantile
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


@pytest.fixture
def same_cells() -> Iterator[None]:
    """Cells with the same rows share their chances, which are exact: ten thousand draws of them take seconds.

    An answer never does this, because the time it takes would tell which groups are equal.
    """
    tails, weight = quantile.tails, GroupedQuantile._weight

    @lru_cache(256)
    def shared(sizes: tuple[int, ...], costs: tuple[int, ...], rate: Fraction, bits: int) -> list[arb]:
        return tails(list(sizes), list(costs), rate, bits)

    known: dict[tuple[int, int, int], tuple[GroupedQuantile, int]] = {}

    def weighed(mechanism: GroupedQuantile, start: int, many: int) -> int:
        place = (id(mechanism), start, many)  # with the mechanism, so that no other gets its number
        if place not in known:
            known[place] = (mechanism, weight(mechanism, start, many))
        return known[place][1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            quantile, "tails", lambda sizes, costs, rate, bits: shared(tuple(sizes), tuple(costs), rate, bits)
        )
        patched.setattr(GroupedQuantile, "_weight", weighed)
        yield
