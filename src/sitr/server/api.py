"""The routes for programs, under /api/v1. A program sends a token: `Authorization: Bearer sitr_…`."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from sitr.errors import NotAllowed
from sitr.flavors.notation import parse
from sitr.ledger.approval import DAYS
from sitr.report.envelope import promise_dict
from sitr.server import content, registered
from sitr.server.access import ANYONE, EVERYBODY, Allowed, Caller, Decided, Everybody, Here, Limits, NotFound, Previewed
from sitr.server.api_questions import Asks, Exact, MayPreview, Object, answered
from sitr.server.attempts import Attempts
from sitr.server.bodies import Body, OneQuestion
from sitr.server.compared import compared, similar
from sitr.server.described import described
from sitr.server.metrics import exposition
from sitr.server.office import Office
from sitr.server.once import Once, Onced
from sitr.server.previews import PreviewPayment
from sitr.server.previews import preview as previewed
from sitr.server.role import Scope, UserRole
from sitr.server.sent import MOST_REASON
from sitr.session.carried import entry_dict

router = APIRouter(prefix="/api/v1")

READERS = (UserRole.STEWARD, UserRole.ANALYST, UserRole.AUDITOR)

Reads = Annotated[Caller, Depends(Allowed(READERS))]
Stewards = Annotated[Caller, Depends(Allowed((UserRole.STEWARD,), Scope.DECIDE))]
Administers = Annotated[Caller, Depends(Allowed((UserRole.ADMINISTRATOR,), Scope.DECIDE))]
Audits = Annotated[Caller, Depends(Allowed((UserRole.STEWARD, UserRole.AUDITOR)))]
Anybody = Annotated[Caller, Depends(Allowed(EVERYBODY))]

JSON = "application/json"


class QuestionBody(OneQuestion):
    """A question in SQL, and who would pay."""

    account: str = Field("", description="The sub-budget that pays; yours if you have one.")
    period: str = Field("", description="The period whose budget pays, such as 2026-03, if the data set has periods.")


class PricedBody(QuestionBody):
    """A question and its price."""

    price: str = Field(examples=["zcdp(0.05)"])


class WantedBody(QuestionBody):
    """A question and the errors that its columns may have."""

    error: dict[str, float | str] = Field(examples=[{"n": 100}])


class ProposalBody(PricedBody):
    """A question for a steward to approve."""

    reason: str = Field(max_length=MOST_REASON)
    days: int = Field(DAYS, description="How long it is valid, from 1 to 366.")
    plan: str | None = Field(None, max_length=64, description="The hash of the plan that the client expects.")


class RegistrationBody(Body):
    """A data set to be registered."""

    name: str
    description: str = Field(description="The public description, as sitr protect writes it, without a budget.")
    budget: str = Field(examples=["zcdp(0.5)"], description="What all answers together may cost, forever.")


class DecisionBody(Body):
    """What a steward decides."""

    reason: str = Field("", max_length=MOST_REASON)


class InvitationBody(Body):
    """An account to be made."""

    name: str
    role: UserRole


class IdentityBody(Body):
    """Who somebody is at the identity provider."""

    subject: str = Field(min_length=1, max_length=255, description="The claim sub of the provider's tokens.")


def _of(media: str) -> dict[int | str, dict[str, Any]]:
    """For the description: a response of this kind."""
    return {200: {"description": "As its type says.", "content": {media: {"schema": {"type": "string"}}}}}


# Open to everybody


@router.get("/health", dependencies=[Depends(ANYONE)])
def health() -> dict[str, str]:
    """Whether the server answers."""
    return {"status": "ok"}


@router.get("/metrics", dependencies=[Depends(ANYONE)], response_class=Response, responses=_of("text/plain"))
def metrics(request: Request) -> Response:
    """Counts of responses for Prometheus. No question, no name, no time, nothing that depends on data."""
    return Response(exposition(request.app.state.guard.seen), media_type="text/plain; version=0.0.4")


@router.get("/me")
def me(caller: Anybody) -> dict[str, str]:
    """Whose token this is."""
    return {"name": caller.name, "role": caller.user.role.value}


# Data sets


@router.get("/datasets/{name}/terms", response_model=Object)
def terms(name: str, caller: Reads, office: Here, account: str = "", period: str = "") -> Any:
    """The public description as a client needs it to plan questions, and what your account has left, exactly."""
    return JSONResponse(described(office.open(caller.user, name), account, period))


@router.get("/datasets/{name}/entries", response_model=list[Object])
def entries(name: str, caller: Reads, office: Here) -> Any:
    """The charges that you may see, oldest first, with everything that their records have."""
    return JSONResponse([entry_dict(each) for each in reversed(office.entries(caller.user, name))])


@router.get("/datasets")
def datasets(caller: Reads, office: Here) -> list[dict[str, Any]]:
    """The data sets in which you have a role."""
    return [content.dataset(found) for found in office.seen_by(caller.user)]


@router.post("/datasets", status_code=201)
def register(
    body: RegistrationBody,
    caller: Stewards,
    office: Here,
    people: Everybody,
    limiter: Limits,
    settings: Decided,
    once: Onced,
) -> dict[str, Any]:
    """Register a data set: a file in a folder that the operator has opened, its description and its budget."""
    limiter.count("ask", caller.name, most=settings.answers_per_minute)
    made = registered.Registered(body.name, body.description, body.budget)

    def done() -> dict[str, Any]:
        registered.register(office, people, settings, caller.user, made)
        return content.dataset(office.open(caller.user, body.name))

    return cast("dict[str, Any]", once(caller, body, done))


@router.get("/datasets/{name}")
def dataset(name: str, caller: Reads, office: Here) -> dict[str, Any]:
    """What is public about a data set, its budget, and your account."""
    return content.dataset(office.open(caller.user, name))


@router.post("/datasets/{name}/take", status_code=204)
def take(name: str, caller: Stewards, office: Here, once: Onced) -> None:
    """Become the first steward of a data set that has none."""
    once(caller, None, lambda: office.take(caller.user, name))


# Questions


@router.post("/datasets/{name}/preview", response_model=Object)
def preview(
    name: str,
    body: PricedBody,
    caller: MayPreview,
    office: Here,
    previews: Previewed,
    limiter: Limits,
    settings: Decided,
) -> Any:
    """What an answer would cost and how far off it would be. Free; reads no rows."""
    asked = body.question()
    limiter.count("preview", caller.name, most=settings.previews_per_minute, times=asked.effort)
    paying = PreviewPayment(body.price, body.account, body.period)
    content = previewed(previews, office, caller.user, name, asked, paying)
    return Response(content, media_type=JSON)


@router.post("/datasets/{name}/price")
def price(
    name: str, body: WantedBody, caller: MayPreview, office: Here, limiter: Limits, settings: Decided
) -> dict[str, Any]:
    """The preview at the least price for which columns have these errors. Free; reads no rows."""
    asked = body.question()
    limiter.count("preview", caller.name, most=settings.previews_per_minute, times=asked.effort)
    found = office.price_for(caller.user, name, asked, body.error, account=body.account, period=body.period)
    return found.to_dict()


# Answers


@router.get("/datasets/{name}/answers")
def answers(name: str, caller: Reads, office: Here) -> list[dict[str, Any]]:
    """The answers that you may see, newest first."""
    return [content.entry(each) for each in office.entries(caller.user, name)]


@router.get("/datasets/{name}/answers/{number}", response_model=Object)
def answer(name: str, number: int, caller: Reads, office: Here, exact: Exact = False) -> Any:
    """A kept answer again, for free."""
    return answered(office.answer(caller.user, name, number), exact=exact)


@router.get("/datasets/{name}/answers/{number}/certificate", response_class=Response, responses=_of("text/html"))
def certificate(name: str, number: int, caller: Reads, office: Here) -> Response:
    """The page that explains and defends an answer."""
    return Response(office.certificate(caller.user, name, number), media_type="text/html; charset=utf-8")


@router.get("/datasets/{name}/answers/{number}/chart", response_class=Response, responses=_of("image/svg+xml"))
def chart(name: str, number: int, caller: Reads, office: Here) -> Response:
    """The chart of an answer."""
    return Response(office.chart(caller.user, name, number), media_type="image/svg+xml")


@router.get("/datasets/{name}/compare", response_model=Object)
def compare(name: str, first: int, second: int, caller: Reads, office: Here) -> Any:
    """What two kept answers have in common, and how far apart they are. Free."""
    return JSONResponse(compared(*(office.answer(caller.user, name, number) for number in (first, second))))


# Requests


@router.get("/datasets/{name}/requests")
def requests(name: str, caller: Reads, office: Here) -> list[dict[str, Any]]:
    """The requests that you may see, newest first."""
    return [content.proposal(each) for each in office.queue(caller.user, name)]


@router.post("/datasets/{name}/requests", status_code=201)
def propose(
    name: str, body: ProposalBody, caller: Asks, office: Here, limiter: Limits, settings: Decided, once: Onced
) -> dict[str, Any]:
    """Ask a steward to approve a question at a price."""
    limiter.count("request", caller.name, most=settings.answers_per_minute)
    said = {name: getattr(body, name) for name in ("reason", "days", "account", "period", "plan")}

    def done() -> dict[str, Any]:
        return content.proposal(office.propose(caller.user, name, body.question(), body.price, **said))

    return cast("dict[str, Any]", once(caller, body, done))


@router.get("/datasets/{name}/requests/{number}/similar")
def similar_answers(name: str, number: int, caller: Reads, office: Here) -> list[dict[str, Any]]:
    """The charges that you may see for the same question; an answer that is `free` can be had instead of a new one."""
    asked = next((each for each in office.queue(caller.user, name) if each.number == number), None)
    if asked is None:
        raise NotFound
    return [content.entry(each) | {"free": free} for each, free in similar(asked, office.entries(caller.user, name))]


@router.post("/datasets/{name}/requests/{number}/approve")
def approve(name: str, number: int, body: DecisionBody, caller: Stewards, office: Here, once: Onced) -> dict[str, Any]:
    """Approve a request that somebody else made."""
    return _decided(office, once, caller, (name, number), body, approve=True)


@router.post("/datasets/{name}/requests/{number}/refuse")
def refuse(name: str, number: int, body: DecisionBody, caller: Stewards, office: Here, once: Onced) -> dict[str, Any]:
    """Refuse a request that somebody else made."""
    return _decided(office, once, caller, (name, number), body, approve=False)


def _decided(
    office: Office, once: Once, caller: Caller, at: tuple[str, int], body: DecisionBody, *, approve: bool
) -> dict[str, Any]:
    def done() -> dict[str, Any]:
        return content.proposal(office.decide(caller.user, *at, approve=approve, reason=body.reason))

    return cast("dict[str, Any]", once(caller, body, done))


# What administrators do


@router.get("/users")
def users(caller: Administers, people: Everybody) -> list[dict[str, Any]]:
    """All accounts."""
    assert caller
    return [{"name": each.name, "role": each.role.value, "enabled": each.enabled} for each in people.users()]


@router.post("/users", status_code=201)
def invite(body: InvitationBody, caller: Administers, people: Everybody) -> dict[str, str]:
    """Invite somebody. The link is shown once."""
    return {"path": f"/invitation/{people.invite(body.name, body.role, by=caller.name)}"}


@router.delete("/users/{user}", status_code=204)
def disable(user: str, caller: Administers, people: Everybody) -> None:
    """Forbid somebody to log in. Their sessions and tokens end at once."""
    assert caller
    people.enable(user, enabled=False)


@router.put("/users/{user}/identity", status_code=204)
def bind(user: str, body: IdentityBody, caller: Administers, people: Everybody, settings: Decided) -> None:
    """Let somebody at the identity provider log in to an account, by the subject that the provider gives them."""
    assert caller
    if not settings.oidc_issuer or people.user(user) is None:
        raise NotFound
    if not Attempts(people.path).bind(settings.oidc_issuer, body.subject, user):
        raise NotAllowed(
            given="This account or this identity is connected already.", do="Disconnect it first; nothing was changed."
        )


@router.delete("/users/{user}/identity", status_code=204)
def unbind(user: str, caller: Administers, people: Everybody, settings: Decided) -> None:
    """Let nobody at the identity provider log in to an account any more."""
    assert caller
    if not settings.oidc_issuer or people.user(user) is None:
        raise NotFound
    Attempts(people.path).unbind(settings.oidc_issuer, user)


@router.get("/promises/{notation}", dependencies=[Depends(ANYONE)])
def promise(notation: str) -> dict[str, Any]:
    """What a promise such as zcdp(0.05) means. No account is needed."""
    return promise_dict(parse(notation))
