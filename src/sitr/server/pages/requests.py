"""Requests that wait for approval, and the books."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import File, Request, UploadFile
from fastapi.responses import Response

from sitr.errors import SitrError
from sitr.flavors.notation import parse
from sitr.ledger.entry import Entry
from sitr.ledger.proposals import Proposal, Status
from sitr.ledger.shares import Left
from sitr.report.figures import at_most
from sitr.report.words.words import in_words
from sitr.server import books, certificates
from sitr.server.access import Caller, Here, check_form
from sitr.server.office import Office, OpenedDataset
from sitr.server.pages.datasets import tree_of
from sitr.server.pages.files import written_json
from sitr.server.pages.routes import Audits, Field, Optional, Reads, Stewards, router, there
from sitr.server.problems import status_of
from sitr.server.render import page, problems
from sitr.server.similar import similar
from sitr.server.users import User
from sitr.session.verify import sentence


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A request, with what somebody needs to decide about it."""

    dataset: str
    request: Proposal
    after: tuple[Left, ...]
    """What would be left in its account and in all accounts above, if it were answered now."""
    exceeds: bool
    """Whether an account has too little left."""
    similar: list[Entry]
    """Similar questions that were answered already, as far as this person sees them."""


def shown_request(office: Office, user: User, opened: OpenedDataset, found: Proposal) -> ShownRequest:
    """A request with what would be left, and similar questions."""
    after: tuple[Left, ...] = ()
    exceeds = False
    if found.status in (Status.ASKED, Status.APPROVED):
        try:
            after = opened.budget.accounts().charge(found.share, parse(found.price)).line(found.share)
        except SitrError:
            exceeds = True
    entries = [each for each in office.entries(user, opened.name) if each.number != found.entry]
    return ShownRequest(opened.name, found, after, exceeds, similar(found.question, entries))


@router.get("/queue")
def queue(request: Request, caller: Reads, office: Here) -> Any:
    """The requests that one sees, of all data sets."""
    found = [
        shown_request(office, caller.user, each, one)
        for each in office.seen_by(caller.user)
        for one in office.queue(caller.user, each.name)
    ]
    words = in_words()

    def price(notation: str) -> str:
        kept: Any = parse(notation)
        return words.notation(kept)

    return page("queue.html", request, caller, found=found, price=price, rounded=lambda error: at_most(error, digits=2))


@router.post("/datasets/{name}/requests/{number}")
def decide(
    request: Request,
    name: str,
    number: int,
    caller: Stewards,
    office: Here,
    mark: Field,
    approve: Field,
    reason: Optional = "",
) -> Any:
    """Approve or refuse a request."""
    check_form(request, mark)
    office.decide(caller.user, name, number, approve=approve == "yes", reason=reason)
    return there("/queue")


@router.get("/datasets/{name}/ledger")
def ledger(request: Request, name: str, caller: Audits, office: Here) -> Any:
    """The books of a data set, verified now."""
    return _books(request, name, caller, office)


@router.get("/datasets/{name}/ledger/books.json")
def books_file(name: str, caller: Audits, office: Here) -> Response:
    """The whole ledger, for an auditor who checks it without this server."""
    return written_json(books.exported(office, caller.user, name), f"{name}-books.json")


@router.get("/datasets/{name}/ledger/head.json")
def head_file(name: str, caller: Audits, office: Here) -> Response:
    """The signed head of the ledger, to be published."""
    return written_json(books.head(office, caller.user, name), f"{name}-head.json")


@router.post("/datasets/{name}/ledger/certificate")
def certificate(
    request: Request,
    name: str,
    caller: Audits,
    office: Here,
    mark: Field,
    certificate: Annotated[UploadFile, File()],
) -> Any:
    """Whether a certificate is as it was recorded."""
    check_form(request, mark)
    page_sent, file = certificate.file.read(), certificate.filename or ""
    try:
        found = certificates.verified(office, caller.user, name, page_sent, file=file)
    except SitrError as error:
        return _books(request, name, caller, office, status=status_of(error), **problems(error))
    return _books(request, name, caller, office, verified=found, verdict=sentence(found, in_words()))


def _books(request: Request, name: str, caller: Caller, office: Office, *, status: int = 200, **more: Any) -> Any:
    opened = office.books(caller.user, name)
    shown: dict[str, Any] = {
        "examined": office.examine(caller.user, name),
        "entries": office.entries(caller.user, name),
        "accounts": tree_of(opened),
    }
    shown |= {"verified": None, "verdict": "", **more}
    return page("ledger.html", request, caller, status=status, opened=opened, tab="ledger", **shown)
