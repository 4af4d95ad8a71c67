"""The routes by which programs ask: every kind of question, with its preview.

With `?exact=true` an answer comes as the server keeps it, with its whole receipt: that is what `sitr.connect` reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse

from sitr.ledger.looking import looking
from sitr.server import releases
from sitr.server.access import Allowed, Caller, Decided, Here, Limits
from sitr.server.bodies import (
    AnyBody,
    AskBody,
    BatchAskBody,
    HistogramAskBody,
    PayingBody,
    SuggestBody,
    SynthesizeBody,
    TablesAskBody,
)
from sitr.server.limiter import Limiter
from sitr.server.office import Office
from sitr.server.once import Key
from sitr.server.releases import Terms
from sitr.server.role import Scope, UserRole
from sitr.server.settings import Settings
from sitr.session.answer import Answer
from sitr.session.carried import written

router = APIRouter(prefix="/api/v1")

ASKERS = (UserRole.STEWARD, UserRole.ANALYST)
Asks = Annotated[Caller, Depends(Allowed(ASKERS, Scope.ASK))]
MayPreview = Annotated[Caller, Depends(Allowed(ASKERS))]

Object = dict[str, Any]
Exact = Annotated[bool, Query(description="The answer as the server keeps it, with its whole receipt.")]


def answered(answer: Answer, *, exact: bool = False) -> JSONResponse:
    """An answer as JSON, as it is kept or for people."""
    with looking():
        return JSONResponse(written(answer.receipt) if exact else _envelope(answer))


def _envelope(answer: Answer) -> Object:
    """An answer for people, without the place on the server's disk where it is kept."""
    found = answer.to_dict()
    found["receipt"]["kept"] = found["receipt"]["kept"] is not None
    return found


@dataclass(frozen=True, slots=True)
class Reception:
    """Where questions of every kind are handed in, and how often somebody may do that."""

    office: Office
    limiter: Limiter
    settings: Settings
    key: str | None = None
    exact: bool = False

    @contextmanager
    def released(self, name: str, body: AnyBody, caller: Caller) -> Iterator[Answer]:
        """Charge the price and answer. Until this ends, it counts among those for which somebody may wait at once."""
        self.limiter.count("ask", caller.name, most=self.settings.answers_per_minute)
        with self.limiter.running(caller.name, most=self.settings.answers_at_once):
            yield releases.release(self.office, caller.user, name, body.made, _terms(body, self.key))

    def answer(self, name: str, body: AnyBody, caller: Caller) -> JSONResponse:
        """The same, as JSON."""
        with self.released(name, body, caller) as found:
            return answered(found, exact=self.exact)

    def preview(self, name: str, body: AnyBody, caller: Caller) -> JSONResponse:
        """What an answer would cost and how far off it would be. Free; reads no rows."""
        self.limiter.count("preview", caller.name, most=self.settings.previews_per_minute, times=body.effort)
        return JSONResponse(releases.preview(self.office, caller.user, name, body.made, _terms(body)).to_dict())


def _terms(body: PayingBody, key: str | None = None) -> Terms:
    return Terms(body.price, body.account, body.period, body.request, key, body.fresh, body.plan)


async def _free(office: Here, limiter: Limits, settings: Decided) -> Reception:
    return Reception(office, limiter, settings)


async def _paid(office: Here, limiter: Limits, settings: Decided, key: Key = None, exact: Exact = False) -> Reception:
    return Reception(office, limiter, settings, key, exact)


Free = Annotated[Reception, Depends(_free)]
Paid = Annotated[Reception, Depends(_paid)]


@router.post("/datasets/{name}/ask", response_model=Object)
def ask(name: str, body: AskBody, caller: Asks, at: Paid) -> Any:
    """Charge the price and answer. With an Idempotency-Key, a repeated question is charged once."""
    return at.answer(name, body, caller)


@router.post("/datasets/{name}/batch", response_model=Object)
def batch(name: str, body: BatchAskBody, caller: Asks, at: Paid) -> Any:
    """Several questions with one plan and one charge."""
    return at.answer(name, body, caller)


@router.post("/datasets/{name}/histogram", response_model=Object)
def histogram(name: str, body: HistogramAskBody, caller: Asks, at: Paid) -> Any:
    """Counts in the public cells of one or several columns."""
    return at.answer(name, body, caller)


@router.post("/datasets/{name}/tables", response_model=Object)
def tables(name: str, body: TablesAskBody, caller: Asks, at: Paid) -> Any:
    """Many tables that add up, for one price."""
    return at.answer(name, body, caller)


@router.post("/datasets/{name}/suggest", response_model=Object)
def suggest(name: str, body: SuggestBody, caller: Asks, at: Paid) -> Any:
    """Caps and bounds for a question, chosen privately for a price."""
    return at.answer(name, body, caller)


@router.post("/datasets/{name}/synthesize", response_model=Object)
def synthesize(name: str, body: SynthesizeBody, caller: Asks, at: Paid) -> Any:
    """Synthetic rows, and how they were made. Repeated at the same price, the same rows come again for free.

    With `?exact=true`, `model` is the model file in Base64, from which any number of rows can be drawn.
    """
    with at.released(name, body, caller) as found:
        if at.exact:
            return JSONResponse({"model": releases.model(found, body.rows)})
        return JSONResponse({"answer": _envelope(found), "rows": releases.drawn(found, body.rows)})


# Previews


@router.post("/datasets/{name}/batch/preview", response_model=Object)
def preview_batch(name: str, body: BatchAskBody, caller: MayPreview, at: Free) -> Any:
    """The same for a batch. Free; reads no rows."""
    return at.preview(name, body, caller)


@router.post("/datasets/{name}/histogram/preview", response_model=Object)
def preview_histogram(name: str, body: HistogramAskBody, caller: MayPreview, at: Free) -> Any:
    """The same for a histogram. Free; reads no rows."""
    return at.preview(name, body, caller)


@router.post("/datasets/{name}/tables/preview", response_model=Object)
def preview_tables(name: str, body: TablesAskBody, caller: MayPreview, at: Free) -> Any:
    """The same for tables. Free; reads no rows."""
    return at.preview(name, body, caller)


@router.post("/datasets/{name}/suggest/preview", response_model=Object)
def preview_suggest(name: str, body: SuggestBody, caller: MayPreview, at: Free) -> Any:
    """The same for a suggestion. Free; reads no rows."""
    return at.preview(name, body, caller)


@router.post("/datasets/{name}/synthesize/preview", response_model=Object)
def preview_synthesize(name: str, body: SynthesizeBody, caller: MayPreview, at: Free) -> Any:
    """The same for synthetic rows. Free; reads no rows."""
    return at.preview(name, body, caller)
