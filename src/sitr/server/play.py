"""Calculators that need no account: what many releases cost together, and what a group is promised."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from sitr.accounting.compare import compare
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.errors import InvalidUse, SitrError
from sitr.flavors.notation import parse
from sitr.report.comparison import tightest
from sitr.report.figures import at_most
from sitr.report.words.messages import error_text
from sitr.report.words.words import in_words
from sitr.server.access import ANYONE, Decided, Limits
from sitr.server.render import page, problems

router = APIRouter(include_in_schema=False, dependencies=[Depends(ANYONE)])

MOST_TIMES = 1000
"""How many releases are added up for a stranger."""

MOST_LETTERS = 200
"""How long the promise of a stranger may be: one with thousands of orders takes seconds."""


@router.get("/play")
def play(
    request: Request,
    limiter: Limits,
    settings: Decided,
    promise: Annotated[str, Query(max_length=MOST_LETTERS)] = "pure(0.1)",
    times: Annotated[int, Query(ge=1, le=MOST_TIMES)] = 100,
    delta: Annotated[float, Query(gt=0, lt=1)] = 1e-6,
    group: Annotated[int, Query(ge=1, le=100)] = 3,
) -> Any:
    """Compose a promise with itself, and look at it through every theorem."""
    limiter.count("play", request.client.host if request.client else "", most=settings.logins_per_minute * 6)
    values: dict[str, Any] = {"promise": promise, "times": times, "delta": delta, "group": group}
    try:
        values |= _found(promise, times, delta, group)
    except SitrError as error:
        values |= {"rows": (), "grouped": "", **problems(error)}
    return page("play.html", request, most_times=MOST_TIMES, **values)


def _found(notation: str, times: int, delta: float, group: int) -> dict[str, Any]:
    """What each theorem proves about repeated releases, and what one release promises to a group."""
    words = in_words()
    kept: Any = parse(notation)
    found = compare(Schedule((Part((kept,), times=times),)), delta=delta)
    best = tightest(found, recorded=False)
    rows = [
        (words.accounting.theorem(row.theorem.name), words.accounting.total(row.outcome), row == best)
        for row in found.rows
        if isinstance(row.outcome, Total)
    ]
    try:
        grouped = words.promise(kept.for_group(group))
    except SitrError as none:  # not every promise says something about groups
        grouped = error_text(none)
    if not rows:
        raise InvalidUse(given="No theorem has a total for this promise.", do="Try pure(0.1) or zcdp(0.01).")
    return {"rows": rows, "grouped": grouped, "at": words.formula(f"δ = {at_most(delta)}")}
