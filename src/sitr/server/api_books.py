"""The routes about the books of a data set: what auditors read and verify, and what stewards write into them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field

from sitr.server import books, certificates, content
from sitr.server.access import Allowed, Caller, Everybody, Here
from sitr.server.api_questions import Object
from sitr.server.bodies import Body
from sitr.server.once import Onced
from sitr.server.role import Scope, UserRole

router = APIRouter(prefix="/api/v1")

Stewards = Annotated[Caller, Depends(Allowed((UserRole.STEWARD,), Scope.DECIDE))]
Audits = Annotated[Caller, Depends(Allowed((UserRole.STEWARD, UserRole.AUDITOR)))]


class ShareBody(Body):
    """A sub-budget."""

    account: str
    amount: str


class MoveBody(Body):
    """A part of a sub-budget that another gets."""

    source: str
    target: str
    amount: str


class RulesBody(Body):
    """The rules of a data set. Empty ones refuse nothing."""

    least: str = ""
    questions: int = Field(0, ge=0, description="The most charges within `seconds`; 0 for no limit.")
    seconds: int = Field(3600, ge=1)
    approve_above: str = ""


class MemberBody(Body):
    """Somebody's role in a data set."""

    user: str
    role: Literal["steward", "analyst", "auditor", "none"]
    account: str = ""


class CertificateBody(Body):
    """A certificate, as it was written."""

    model_config = ConfigDict(str_max_length=2_000_000)  # the limit of the whole request is less, unless it is raised

    page: str = Field(description="The whole HTML file.")
    file: str = Field("", max_length=200, description="Its name, for messages.")


@router.get("/datasets/{name}/ledger")
def ledger(name: str, caller: Audits, office: Here) -> dict[str, Any]:
    """The budget, its sub-budgets, roles and rules, and every charge."""
    found = office.books(caller.user, name)
    return content.dataset(found) | {
        "members": {who: member.duty.value for who, member in found.members.items()},
        "entries": [content.entry(each) for each in office.entries(caller.user, name)],
    }


@router.get("/datasets/{name}/ledger/verify")
def verify(name: str, caller: Audits, office: Here) -> dict[str, Any]:
    """Whether every row of the ledger is as it was signed, and the chain is whole."""
    return content.examined(office.examine(caller.user, name))


@router.get("/datasets/{name}/ledger/head", response_model=Object)
def head(name: str, caller: Audits, office: Here) -> Any:
    """The signed head of the ledger: hashes only, no question. Publish it, and everybody can verify certificates."""
    return JSONResponse(books.head(office, caller.user, name))


@router.get("/datasets/{name}/ledger/export", response_model=Object)
def export(name: str, caller: Audits, office: Here) -> Any:
    """The whole ledger, as sitr ledger export writes it: for an auditor who checks it without this server."""
    return JSONResponse(books.exported(office, caller.user, name))


@router.post("/datasets/{name}/certificates/verify", response_model=Object)
def verify_certificate(name: str, body: CertificateBody, caller: Audits, office: Here) -> Any:
    """Whether the ledger recorded exactly this page for an entry of this data set. Reads no rows."""
    page = body.page.encode(errors="replace")
    return certificates.as_json(certificates.verified(office, caller.user, name, page, file=body.file))


@router.get("/datasets/{name}/accounts", response_model=Object)
def accounts(name: str, caller: Audits, office: Here) -> Any:
    """The budget and its sub-budgets, with what each may use, has set aside and has paid, exactly."""
    return JSONResponse(books.accounts(office, caller.user, name))


@router.get("/datasets/{name}/members", response_model=Object)
def members(name: str, caller: Audits, office: Here) -> Any:
    """Everybody's role, and the sub-budgets of analysts."""
    found = office.books(caller.user, name).members
    return {who: {"role": member.duty.value, "account": member.share} for who, member in found.items()}


# What stewards write into them


@router.post("/datasets/{name}/accounts", status_code=204)
def allot(name: str, body: ShareBody, caller: Stewards, office: Here, once: Onced) -> None:
    """Make a sub-budget, or change it."""
    once(caller, body, lambda: office.allot(caller.user, name, body.account, body.amount))


@router.post("/datasets/{name}/accounts/move", status_code=204)
def move(name: str, body: MoveBody, caller: Stewards, office: Here, once: Onced) -> None:
    """Move a part of a sub-budget to another."""
    once(caller, body, lambda: office.move(caller.user, name, body.source, body.target, body.amount))


@router.post("/datasets/{name}/accounts/reserve", status_code=204)
def reserve(name: str, body: ShareBody, caller: Stewards, office: Here, once: Onced) -> None:
    """Set an amount aside for a sub-budget, what it has spent included: its siblings cannot use it."""
    once(caller, body, lambda: office.reserve(caller.user, name, body.account, body.amount))


@router.put("/datasets/{name}/rules", status_code=204)
def rules(name: str, body: RulesBody, caller: Stewards, office: Here) -> None:
    """Set the rules of a data set. They replace earlier ones."""
    office.rule(caller.user, name, least=body.least, rate=(body.questions, body.seconds), approval=body.approve_above)


@router.put("/datasets/{name}/members", status_code=204)
def assign(name: str, body: MemberBody, caller: Stewards, office: Here, people: Everybody) -> None:
    """Give somebody a role in a data set, or take it away."""
    office.assign(caller.user, name, body.user, body.role, people=people, account=body.account)
