"""What the standing of a budget shows besides sums: odometers, and totals of plans fixed in advance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sitr.accounting.anytime import reading
from sitr.accounting.filter import Filter
from sitr.accounting.in_advance import InAdvance
from sitr.report.envelope import promise_dict
from sitr.report.words.protects import Protects
from sitr.report.words.words import Words


def meaning(standing: Filter, query: Protects, words: Words) -> str:
    """What a budget promises for all its answers together; one without a cap promises what it has recorded."""
    shown = reading(standing)
    return words.whole(standing.promise, query) if shown is None else words.standing.odometer(shown)


def notes(standing: Filter, in_advance: InAdvance | None, words: Words) -> Iterator[str]:
    """The sentences below a table of budgets."""
    if (shown := reading(standing)) is not None:
        yield words.standing.odometer(shown)
    if in_advance is not None and in_advance.telling:
        yield words.standing.in_advance(in_advance)


def recorded_dict(standing: Filter, in_advance: InAdvance | None) -> dict[str, Any]:
    """The same as JSON; each is null where there is none.

    ============  ======================================================================================================
    odometer      `recorded` charges and the `promise` at any moment: `epsilon`, apart from a `probability`; or null
    in_advance    `epsilon` at `delta` if all `charges` had been fixed in advance, of which `exact` have kept plans;
                  `summed_epsilon` follows from the sum in the budget; `obstacle` says why `epsilon` is null
    ============  ======================================================================================================
    """
    shown, found = reading(standing), in_advance
    promise = (
        None if shown is None or shown.epsilon is None else {"epsilon": shown.epsilon, "probability": shown.probability}
    )
    return {
        "odometer": None if shown is None else {"recorded": promise_dict(shown.recorded), "promise": promise},
        "in_advance": None
        if found is None
        else {
            "epsilon": found.epsilon,
            "delta": found.delta,
            "charges": found.charges,
            "exact": found.known,
            "summed_epsilon": found.summed,
            "obstacle": None if found.obstacle is None else found.obstacle.value,
        },
    }
