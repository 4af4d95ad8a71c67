"""A data set as a client needs it, to plan and preview questions on its own machine."""

from __future__ import annotations

from typing import Any

from sitr.accounting.filter import Filter
from sitr.ledger.looking import looking
from sitr.ledger.roles import check_charge
from sitr.ledger.sql import sitr_version
from sitr.server.office import OpenedDataset
from sitr.session.carried import filter_dict
from sitr.session.plain import plain


def described(found: OpenedDataset, account: str = "", period: str = "") -> dict[str, Any]:
    """The version of Sitr, the public description, and what the account that pays has left, exactly."""
    with looking():
        standing = _seen(found, account, period)
    return {"version": sitr_version(), "table": plain(found.budget.table), "standing": filter_dict(standing)}


def _seen(found: OpenedDataset, account: str, period: str) -> Filter:
    """The budget as an account sees it. Whether one that is not theirs exists is not said."""
    path = account.casefold().removeprefix(f"{found.account}/")
    if path:
        check_charge(found.members, found.user.name, path)
    budget = found.budget.paying(period=period or None)
    standing, share = budget.standing(), path or found.share
    return budget.accounts().seen_from(share, charges=standing.charges) if share else standing
