"""The books of a data set, as files for an auditor, and as a client reads them."""

from __future__ import annotations

from typing import Any

from sitr.errors import NotAllowed
from sitr.flavors.notation import write
from sitr.ledger import steward
from sitr.ledger.export import export
from sitr.ledger.roles import Duty
from sitr.ledger.steward import in_file
from sitr.server.discreet import discreet
from sitr.server.office import Office, OpenedDataset
from sitr.server.users import User


def exported(office: Office, user: User, name: str) -> dict[str, Any]:
    """Everything in the ledger of a data set, for who reads the books of all data sets that are in it."""
    with discreet(found := office.books(user, name)):
        if not _reads_all(found):
            raise NotAllowed(
                given="This ledger also holds data sets whose books you do not read.",
                do="Use its signed head, which names no question, or ask their stewards for a role.",
            )
        return export(in_file(found.budget.ledger))


def head(office: Office, user: User, name: str) -> dict[str, Any]:
    """The signed head of the ledger of a data set: hashes only. With it everybody can verify certificates."""
    with discreet(found := office.books(user, name)):
        made: dict[str, Any] = export(in_file(found.budget.ledger))["head"]
    return made


def _reads_all(found: OpenedDataset) -> bool:
    ledger = found.budget.ledger
    for name in {each.dataset.partition("@")[0] for each in ledger.accounts()}:
        member = steward.state(ledger, name).members.get(found.user.name)
        if member is None or member.duty is Duty.ANALYST:
            return False
    return True


def accounts(office: Office, user: User, name: str) -> dict[str, Any]:
    """The budget of a data set and its sub-budgets, exactly."""
    with discreet(found := office.books(user, name)):
        tree = found.budget.accounts()
    return {
        "dataset": tree.dataset,
        "promise": write(tree.promise),
        "paid": [str(each) for each in tree.paid],
        "shares": {path: share.plain() for path, share in tree.shares.items()},
    }
