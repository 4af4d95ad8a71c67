"""What an answer would look like: the real plan, applied to invented rows.

Values are invented from the public description alone, so they say nothing about anybody and cost nothing. The noise and
the error bars are those of the plan. The number of rows is a public guess, by which invented counts are multiplied.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sitr.backends.duckdb import DuckDB
from sitr.backends.opening import in_zones
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Table
from sitr.errors import SitrError
from sitr.mechanisms.value_counts import ValueCounts
from sitr.noise.coins import system_coins
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.release import Release
from sitr.questions.invented import invented
from sitr.session import public
from sitr.session.request import Preview, Request

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1_000
"""How many rows are invented."""

MOST_CELLS = 2_000
"""The most cells of an answer that is imagined."""


@lru_cache(maxsize=64)
def _rows(table: Table) -> pa.Table:
    return invented(table, rows=ROWS, seed=0)


def imagined(request: Request[Any], preview: Preview, *, rows: int) -> Release | None:
    """An answer about invented rows, as if there were this many of them; None for questions that are not aggregates.

    No row of the data set is read: the backend has invented rows only.
    """
    plan, at = preview.plan, request.at
    if not isinstance(plan, AggregatePlan) or at.beside or (plan.query.cells or 0) > MOST_CELLS:
        return None
    backend = public.beside(in_zones(DuckDB(ArrowRows(_rows(at.table))), at.table), at.public)
    coins = system_coins()
    try:
        exact = backend.read(preview.question.reading(), salt=coins.bits(63))
        grown = {key: tuple(_times(value, max(1, rows // ROWS)) for value in cell) for key, cell in exact.items()}
        return preview.question.answer(plan, grown, coins=coins)  # type: ignore[no-any-return]
    except (SitrError, OverflowError):  # larger than the mechanism takes
        return None


def _times(value: Any, factor: int) -> Any:
    """An integer of a cell, or how often each value occurs in it, as if everything occurred so often."""
    if isinstance(value, ValueCounts):
        return ValueCounts(value.numbers, value.counts * factor)
    if isinstance(value, Mapping):
        return {each: count * factor for each, count in value.items()}
    return value * factor
