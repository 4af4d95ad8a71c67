"""Released numbers of people, for which the δ of the budget may be too large."""

from __future__ import annotations

import math
from contextlib import suppress

from sitr.errors import LargeDelta
from sitr.flavors.exposure import exposed, warn_of_delta
from sitr.flavors.promise import Promise
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.plan import Shown
from sitr.questions.aggregate.release import Release


def warn_of_released(released: object, promise: Promise, *, stacklevel: int = 2) -> None:
    """Warn if the promise has a δ that is not well below 1/N for the largest N that an answer shows to be there.

    N is the lower end of an interval around a released number of people, or of rows where rows are protected. All these
    intervals hold together with 95% probability. They follow from released numbers, so this reveals nothing more. Who
    makes errors of warnings still gets the answer, because it is paid for.
    """
    if exposed(promise, people=1) > 0:
        parts = getattr(released, "parts", (released,))
        people = max((_least(part) for part in parts if isinstance(part, Release)), default=0)
        if people > 0:
            with suppress(LargeDelta):
                warn_of_delta(promise, people=people, released=True, stacklevel=stacklevel + 1)


def _least(released: Release) -> int:
    """How many people there surely are in the largest group; 0 if the answer counts none."""
    rows = isinstance(released.plan.query.unit, Row)
    return max(
        (
            math.floor(one.low)
            for column in released.plan.columns
            if _counts(column, rows=rows)
            for one in released.estimates(column, rows=_largest(released, column), simultaneous=True)
            if one.value is not None and one.bounded
        ),
        default=0,
    )


def _largest(released: Release, column: Shown) -> list[int]:
    """The rows of the answer one of which has the largest number: intervals of many rows would take long.

    Rows of the same number of draws have intervals of the same width, so the largest number has the largest lower end.
    """
    found: dict[int, tuple[int, int]] = {}
    for row, place in enumerate(released.places):
        number, draws = next(released.granules(column, [place]))[0], released.draws(place)
        found[draws] = max(found.get(draws, (number, row)), (number, row))
    return [row for _, row in found.values()]


def _counts(column: Shown, *, rows: bool) -> bool:
    """Whether the column is a number of people, or of rows where rows are protected."""
    function = column.aggregate.aggregate
    return isinstance(function, Count) and (
        getattr(column.measured[0].term, "people", False) if function.distinct else rows
    )
