"""What must be allowed before a charge, besides the budget itself: roles, sub-budgets, rules, requests and keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from sitr.errors import NotAllowed
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import write
from sitr.ledger import proposals
from sitr.ledger.entry import Warrant
from sitr.ledger.roles import check_charge
from sitr.ledger.spent import Spent
from sitr.ledger.who import user

if TYPE_CHECKING:
    from sitr.ledger.book import Page


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that is about to be made."""

    dataset: str
    price: Kept
    """In the flavor of the budget."""
    question: str
    plan: str
    description: str
    warrant: Warrant


def check(page: Page, spent: Spent, charge: Charge) -> None:
    """Refuse a charge that is not allowed. `spent` is what is known of its account."""
    warrant, rules = charge.warrant, spent.rules
    check_charge(spent.members, user(), warrant.share)
    rules.check_price(charge.price)
    if rules.questions:
        rules.check_rate(_earlier(page, charge.dataset, rules.questions), datetime.now(UTC))
    if warrant.request:
        bound = {"share": warrant.share, "price": write(charge.price), "question": charge.question}
        bound |= {"plan": charge.plan, "description": charge.description}
        found = proposals.proposal(page.connection, warrant.request)
        proposals.check_signed(page.connection, warrant.request)
        proposals.check_answer(found, bound, dataset=charge.dataset, by=user())
    elif rules.needs_approval(charge.price):
        raise NotAllowed(
            given=f"Prices above {rules.approval} need approval.",
            do="Make a request with sitr request, and ask when it is approved; nothing was spent.",
        )
    if warrant.key and _used(page, warrant.key):
        raise NotAllowed(
            given="Another question was charged under this key in the meantime.",
            do="Ask again with the same key to get its answer; nothing was spent.",
        )
    if spent.shares or warrant.share:
        spent.tree(charge.dataset).charge(warrant.share, charge.price)


def _earlier(page: Page, dataset: str, back: int) -> datetime | None:
    """The time of the charge that is this number of charges back; None if there were fewer."""
    nth = "SELECT at FROM entries WHERE dataset = ? ORDER BY number DESC LIMIT 1 OFFSET ?"
    row = page.connection.execute(nth, (dataset, back - 1)).fetchone()
    return None if row is None else datetime.fromisoformat(row["at"])


def columns(warrant: Warrant) -> dict[str, object]:
    """What an entry holds of an warrant."""
    key = own_key(warrant.key) if warrant.key else None
    return {"share": warrant.share or None, "request": warrant.request or None, "key": key}


def own_key(key: str) -> str:
    """A key of this user, so that nobody repeats what somebody else has asked."""
    return sha256(json.dumps([user(), key]).encode()).hexdigest()


def _used(page: Page, key: str) -> bool:
    found = page.connection.execute("SELECT 1 FROM entries WHERE key = ?", (own_key(key),))
    return found.fetchone() is not None
