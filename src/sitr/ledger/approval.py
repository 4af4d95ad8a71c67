"""Make, approve and refuse requests. Every step is a signed row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sitr.errors import InvalidUse, quoted
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.ledger.book import writing
from sitr.ledger.ledger import Ledger
from sitr.ledger.proposals import APPROVED, ASKED, REFUSED, Proposal, check_decision, check_signed, proposal, proposals
from sitr.ledger.roles import check_charge
from sitr.ledger.steward import in_file
from sitr.ledger.who import user

DAYS = 14
"""How long a request is valid unless it says otherwise."""


def propose(
    ledger: Ledger,
    dataset: str,
    *,
    share: str,
    price: Promise,
    question: str,
    plan: str,
    description: str,
    reason: str,
    errors: Mapping[str, float],
    days: int = DAYS,
) -> Proposal:
    """Ask for approval of a charge. What would be left is recorded too; nothing is set aside and nothing is spent."""
    if not plan:
        raise InvalidUse(
            given="A question with a function of your own cannot be requested, because it has no text to approve.",
            do="Ask in SQL, or for a histogram; nothing was changed.",
        )
    said = _text(reason)
    if not said:
        raise InvalidUse(wanted="a reason", given=quoted(reason), do="Say what the answer is for.")
    if not isinstance(days, int) or isinstance(days, bool) or not 0 < days <= 366:
        raise InvalidUse(wanted="a number of days from 1 to 366", given=quoted(days), do="Correct it.")
    file = in_file(ledger)
    file.account(dataset)
    with writing(file._file) as page:
        spent = page.check_account(dataset)
        for known in page.overseen(dataset):
            check_charge(known.members, user(), share)
        charge, left = spent.filter().charge(price), spent.filter().consent(price).remaining()  # or it is refused now
        if spent.shares or share:
            left = spent.tree(dataset).charge(share, charge).left(share)
        for known in page.overseen(dataset):
            known.rules.check_price(charge)
        body = {
            "share": share,
            "price": write(charge),
            "question": question,
            "plan": plan,
            "description": description,
            "reason": said,
            "errors": dict(errors),
            "left": write(left),
            "expires": (datetime.now(UTC) + timedelta(days=days)).isoformat(),
        }
        number = page.act(ASKED, body, dataset=dataset)
        return proposal(page.connection, number)


def approve(ledger: Ledger, number: int, *, reason: str = "") -> Proposal:
    """Approve a request that somebody else made."""
    return _decide(ledger, number, APPROVED, reason)


def refuse(ledger: Ledger, number: int, *, reason: str = "") -> Proposal:
    """Refuse a request that somebody else made."""
    return _decide(ledger, number, REFUSED, reason)


def queue(ledger: Ledger, dataset: str | None = None) -> list[Proposal]:
    """All requests, or those for a data set, oldest first."""
    with in_file(ledger)._file.transaction(write=False) as connection:
        return proposals(connection, dataset)


def _text(reason: object) -> str:
    """A reason that can be stored; `InvalidUse` for octets that are no text."""
    try:
        if isinstance(reason, str) and reason.encode() is not None:
            return reason.strip()
    except UnicodeEncodeError:
        pass
    raise InvalidUse(wanted="a reason", given=ascii(reason), do="Say what the answer is for.")


def _decide(ledger: Ledger, number: int, kind: str, reason: str) -> Proposal:
    said = _text(reason)
    with writing(in_file(ledger)._file) as page:
        found = proposal(page.connection, number)
        page.check_account(found.dataset)
        page.check_steward(found.dataset)
        check_decision(found, by=user())
        check_signed(page.connection, number)  # what is approved is what was asked
        page.act(kind, {"reason": said}, dataset=found.dataset, about=number)
        return proposal(page.connection, number)
