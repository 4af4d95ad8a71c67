"""A ledger as JSON: its budgets, with their sub-budgets, and its charges."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from sitr.cli.ledger_shares import shares_content

if TYPE_CHECKING:
    from sitr.accounting.filter import Filter
    from sitr.accounting.in_advance import InAdvance
    from sitr.ledger.entry import Account, Entry
    from sitr.ledger.shares import Accounts


def content_of(
    ledger: str,
    standings: list[tuple[Account, Filter]],
    entries: list[Entry],
    divided: dict[str, Accounts],
    fixed: dict[str, InAdvance],
) -> dict[str, object]:
    """The budgets and charges of a ledger as JSON; `fixed` are totals of plans fixed in advance, by data set."""
    from sitr.report.envelope import promise_dict
    from sitr.report.standing import recorded_dict

    return {
        "ledger": ledger,
        "accounts": [
            {
                "dataset": account.dataset,
                "neighbors": account.neighbors,
                "opened": account.opened.isoformat(),
                "promise": promise_dict(budget.promise),
                "spent": promise_dict(budget.spent()),
                "remaining": promise_dict(budget.remaining()),
                "shares": shares_content(divided[account.dataset]) if account.dataset in divided else [],
                **recorded_dict(budget, fixed.get(account.dataset)),
            }
            for account, budget in standings
        ],
        "entries": [entry_content(entry) for entry in entries],
    }


def entry_content(entry: Entry) -> dict[str, object]:
    """An entry as JSON."""
    from sitr.report.envelope import promise_dict

    return {
        "number": entry.number,
        "dataset": entry.dataset,
        "account": entry.account,
        "at": entry.at.isoformat(),
        "by": entry.by,
        "version": entry.version,
        "question": entry.question,
        "price": promise_dict(entry.price),
        "beside": [asdict(link) for link in entry.beside],
        "plan": entry.plan or None,
        "description": entry.description or None,
        "hash": entry.hash or None,
    }
