"""The routes by which programs ask: every kind of question, with its preview.

With `?exact=true` an answer comes as the server keeps it, with its whole receipt: that is what `sitr.connect` reads.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import JSONResponse

from sitr.ledger.looking import looking
from sitr.server import releases
from sitr.server.access import Allowed, Caller, Decided, Here, Limits
from sitr.server.bodies import (
    AskBody,
    BatchAskBody,
    HistogramAskBody,
    PayingBody,
    SuggestBody,
    SynthesizeBody,
    TablesAskBody,
)
from sitr.server.releases import Made, Terms
from sitr.server.role import Scope, UserRole
from sitr.session.answer import Answer
from sitr.session.carried import written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitr.server.limiter import Limiter
    from sitr.server.settings import Settings

router = APIRouter(prefix="/api/v1")

ASKERS = (UserRole.STEWARD, UserRole.ANALYST)
Asks = Annotated[Caller, Depends(Allowed(ASKERS, Scope.ASK))]
MayPreview = Annotated[Caller, Depends(Allowed(ASKERS))]

Object = dict[str, Any]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
Exact = Annotated[bool, Query(description="The answer as the server keeps it, with its whole receipt.")]


def answered(answer: Answer, *, exact: bool = False) -> JSONResponse:
    """An answer as JSON, without the place on the server's disk where it is kept."""
    with looking():
        if exact:
            return JSONResponse(written(answer.receipt))
        found = answer.to_dict()
    found["receipt"]["kept"] = found["receipt"]["kept"] is not None
    return JSONResponse(found)


def _terms(body: PayingBody, key: str | None = None) -> Terms:
    return Terms(body.price, body.account, body.period, body.request, key, body.fresh, body.plan)


@contextmanager
def _allowed(caller: Caller, limiter: Limiter, settings: Settings) -> Iterator[None]:
    """Count an answer, and let somebody wait for a few of them at once."""
    limiter.count("ask", caller.name, most=settings.answers_per_minute)
    with limiter.running(caller.name, most=settings.answers_at_once):
        yield


@router.post("/datasets/{name}/ask", response_model=Object)
def ask(
    name: str,
    body: AskBody,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    key: Key = None,
    exact: Exact = False,
) -> Any:
    """Charge the price and answer. With an Idempotency-Key, a repeated question is charged once."""
    with _allowed(caller, limiter, settings):
        return answered(releases.release(office, caller.user, name, body.made, _terms(body, key)), exact=exact)


@router.post("/datasets/{name}/batch", response_model=Object)
def batch(
    name: str,
    body: BatchAskBody,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    key: Key = None,
    exact: Exact = False,
) -> Any:
    """Several questions with one plan and one charge."""
    with _allowed(caller, limiter, settings):
        return answered(releases.release(office, caller.user, name, body.made, _terms(body, key)), exact=exact)


@router.post("/datasets/{name}/histogram", response_model=Object)
def histogram(
    name: str,
    body: HistogramAskBody,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    key: Key = None,
    exact: Exact = False,
) -> Any:
    """Counts in the public cells of one or several columns."""
    with _allowed(caller, limiter, settings):
        return answered(releases.release(office, caller.user, name, body.made, _terms(body, key)), exact=exact)


@router.post("/datasets/{name}/tables", response_model=Object)
def tables(
    name: str,
    body: TablesAskBody,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    key: Key = None,
    exact: Exact = False,
) -> Any:
    """Many tables that add up, for one price."""
    with _allowed(caller, limiter, settings):
        return answered(releases.release(office, caller.user, name, body.made, _terms(body, key)), exact=exact)


@router.post("/datasets/{name}/suggest", response_model=Object)
def suggest(
    name: str,
    body: SuggestBody,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    key: Key = None,
    exact: Exact = False,
) -> Any:
    """Caps and bounds for a question, chosen privately for a price."""
    with _allowed(caller, limiter, settings):
        return answered(releases.release(office, caller.user, name, body.made, _terms(body, key)), exact=exact)


@router.post("/datasets/{name}/synthesize", response_model=Object)
def synthesize(
    name: str,
    body: SynthesizeBody,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    key: Key = None,
    exact: Exact = False,
) -> Any:
    """Synthetic rows, and how they were made. Repeated at the same price, the same rows come again for free.

    With `?exact=true`, `model` is the model file in Base64, from which any number of rows can be drawn.
    """
    with _allowed(caller, limiter, settings):
        found = releases.release(office, caller.user, name, body.made, _terms(body, key))
        if exact:
            return JSONResponse({"model": releases.model(found, body.rows)})
        rows = releases.drawn(found, body.rows)
    return JSONResponse({"answer": _envelope(found), "rows": rows})


def _envelope(answer: Answer) -> Object:
    found = answer.to_dict()
    found["receipt"]["kept"] = found["receipt"]["kept"] is not None
    return found


# Previews


def _previewed(
    name: str, made: Made, body: PayingBody, caller: Caller, office: Here, limits: tuple[Limiter, int]
) -> Any:
    limiter, most = limits
    limiter.count("preview", caller.name, most=most, times=body.effort)
    return JSONResponse(releases.preview(office, caller.user, name, made, _terms(body)).to_dict())


@router.post("/datasets/{name}/batch/preview", response_model=Object)
def preview_batch(
    name: str, body: BatchAskBody, caller: MayPreview, office: Here, limiter: Limits, settings: Decided
) -> Any:
    """The same for a batch. Free; reads no rows."""
    return _previewed(name, body.made, body, caller, office, (limiter, settings.previews_per_minute))


@router.post("/datasets/{name}/histogram/preview", response_model=Object)
def preview_histogram(
    name: str, body: HistogramAskBody, caller: MayPreview, office: Here, limiter: Limits, settings: Decided
) -> Any:
    """The same for a histogram. Free; reads no rows."""
    return _previewed(name, body.made, body, caller, office, (limiter, settings.previews_per_minute))


@router.post("/datasets/{name}/tables/preview", response_model=Object)
def preview_tables(
    name: str, body: TablesAskBody, caller: MayPreview, office: Here, limiter: Limits, settings: Decided
) -> Any:
    """The same for tables. Free; reads no rows."""
    return _previewed(name, body.made, body, caller, office, (limiter, settings.previews_per_minute))


@router.post("/datasets/{name}/suggest/preview", response_model=Object)
def preview_suggest(
    name: str, body: SuggestBody, caller: MayPreview, office: Here, limiter: Limits, settings: Decided
) -> Any:
    """The same for a suggestion. Free; reads no rows."""
    return _previewed(name, body.made, body, caller, office, (limiter, settings.previews_per_minute))


@router.post("/datasets/{name}/synthesize/preview", response_model=Object)
def preview_synthesize(
    name: str, body: SynthesizeBody, caller: MayPreview, office: Here, limiter: Limits, settings: Decided
) -> Any:
    """The same for synthetic rows. Free; reads no rows."""
    return _previewed(name, body.made, body, caller, office, (limiter, settings.previews_per_minute))
