"""What must be allowed before a charge, besides the budget itself: roles, sub-budgets, rules, requests and keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from sitr.errors import NotAllowed
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import parse, write
from sitr.flavors.promise import Promise
from sitr.ledger import chain, proposals
from sitr.ledger.database import Connection
from sitr.ledger.entry import Warrant
from sitr.ledger.roles import check_charge
from sitr.ledger.spent import Spent, check_waiting
from sitr.ledger.who import user


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
    at: datetime
    """When it is made, as its entry says: whoever reads the chain again decides by the same time."""


LOST = "lost with the ledger"
"""The question of an entry that stands for charges which are no longer in the ledger. Nobody has to allow it."""


NEXT = 2**62
"""The number of an entry that comes after all others."""


def check(connection: Connection, known: Sequence[Spent], charge: Charge) -> None:
    """Refuse a charge that is not allowed. `known` is its account, and then the one of all periods if there is one."""
    warrant, spent = charge.warrant, known[0]
    for each in known:
        check_waiting(each, charge.dataset)
    check_charge(spent.members, user(), warrant.share)
    for whole in known[1:]:
        check_charge(whole.members, user(), warrant.share)
    _check_rules(connection, known, charge.dataset, NEXT, charge.price, charge.at.isoformat())
    if warrant.request:
        bound = {"share": warrant.share, "price": write(charge.price), "question": charge.question}
        bound |= {"plan": charge.plan, "description": charge.description}
        found = proposals.proposal(connection, warrant.request)
        proposals.check_signed(connection, warrant.request)
        proposals.check_answer(found, bound, dataset=charge.dataset, by=user())
    else:
        _check_unasked(known, charge.price)
    if warrant.key and _used(connection, warrant.key):
        raise NotAllowed(
            given="Another question was charged under this key in the meantime.",
            do="Ask again with the same key to get its answer; nothing was spent.",
        )
    if spent.shares or warrant.share:
        spent.tree(charge.dataset).charge(warrant.share, charge.price)


def check_again(connection: Connection, row: Any, known: Sequence[Spent]) -> None:
    """Refuse an entry of a chain that the rules of its time forbade. `known` is what was known before it.

    The charge for what was lost is exempt, after the act of going on, which only a steward can do.
    """
    if row["question"] == LOST and row["request"] is None and _resumed(connection, row):
        return
    for each in known:
        check_waiting(each, row["dataset"])
    price = parse(row["price"])
    for whole in known[1:]:
        check_charge(whole.members, row["by"], row["share"] or "")
    _check_rules(connection, known, row["dataset"], row["number"], price, row["at"])
    if row["request"] is None:
        _check_unasked(known, price)


def _check_rules(
    connection: Connection, known: Sequence[Spent], dataset: str, number: int, price: Promise, at: str
) -> None:
    """The least price, and the rate of questions before the entry of this number: in all periods, if they have one."""
    for spent, name in zip(known, (dataset, f"{dataset.rpartition('@')[0]}@"), strict=False):
        spent.rules.check_price(price)
        if spent.rules.questions:
            back, all_of_them = spent.rules.questions, spent is not known[0]
            spent.rules.check_rate(_earlier(connection, name, number, back, all_of_them), datetime.fromisoformat(at))


def _check_unasked(known: Sequence[Spent], price: Promise) -> None:
    """The price of a charge that nobody approved."""
    for rules in (spent.rules for spent in known):
        if rules.needs_approval(price):
            raise NotAllowed(
                given=f"Prices above {rules.approval} need approval.",
                do="Make a request with sitr request, and ask when it is approved; nothing was spent.",
            )


def _earlier(connection: Connection, name: str, number: int, back: int, periods: bool) -> datetime | None:
    """The time of the charge that is this number of charges before an entry; None if there were fewer.

    The charges are those to an account, or to all accounts whose names begin like this.
    """
    ours, of = ("substr(dataset, 1, ?) = ?", (len(name), name)) if periods else ("dataset = ?", (name,))
    nth = f"SELECT at FROM entries WHERE {ours} AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?"
    row = connection.execute(nth, (*of, number, back - 1)).fetchone()
    return None if row is None else datetime.fromisoformat(row["at"])


def _resumed(connection: Connection, row: Any) -> bool:
    """Whether somebody went on after a loss before this entry, and no question was asked in between."""
    entry = chain.of_row(connection, "entries", row["number"])
    if entry is None:
        return False
    for found in chain.back(connection, entry.number):
        if found.table == "acts":
            act = connection.execute("SELECT kind FROM acts WHERE number = ?", (int(found.row),)).fetchone()
            if act is not None and act["kind"] == proposals.RESUMED:
                return True
        if found.table == "seals":
            return False
        if found.table == "entries":
            other = connection.execute("SELECT question FROM entries WHERE number = ?", (int(found.row),)).fetchone()
            if other is None or other["question"] != LOST:
                return False
    return False


def columns(warrant: Warrant) -> dict[str, object]:
    """What an entry holds of an warrant."""
    key = own_key(warrant.key) if warrant.key else None
    return {"share": warrant.share or None, "request": warrant.request or None, "key": key}


def own_key(key: str) -> str:
    """A key of this user, so that nobody repeats what somebody else has asked."""
    return sha256(json.dumps([user(), key]).encode()).hexdigest()


def _used(connection: Connection, key: str) -> bool:
    found = connection.execute("SELECT 1 FROM entries WHERE key = ?", (own_key(key),))
    return found.fetchone() is not None
