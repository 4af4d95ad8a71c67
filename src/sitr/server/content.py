"""Data sets, charges and requests as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sitr.ledger.entry import Entry
from sitr.ledger.examine import Examined
from sitr.ledger.proposals import Proposal
from sitr.report.envelope import promise_dict
from sitr.server.office import OpenedDataset


def dataset(found: OpenedDataset) -> dict[str, Any]:
    """What is public about a data set, its budget, its rules, and the account of this person."""
    table, standing, rules = found.budget.table, found.budget.standing(), found.budget.rules()
    tree = found.budget.accounts()
    own = found.share
    accounts = [path for path in tree.shares if not own or path == own or path.startswith(f"{own}/")]
    return {
        "name": found.name,
        "protects": table.neighbors(),
        "columns": [{"name": column.name, "kind": column.kind.value} for column in table.columns],
        "max_groups": table.max_groups,
        "max_rows_per_group": table.max_rows_per_group,
        "promise": promise_dict(standing.promise),
        "spent": promise_dict(standing.spent()),
        "remaining": promise_dict(standing.remaining()),
        "account": own,
        "accounts": {path: promise_dict(tree.left(path)) for path in accounts},
        "role": None if found.member is None else found.member.duty.value,
        "rules": asdict(rules),
    }


def entry(found: Entry) -> dict[str, Any]:
    """A charge."""
    return {
        "number": found.number,
        "account": found.account,
        "at": found.at.isoformat(),
        "by": found.by,
        "question": found.question,
        "price": promise_dict(found.price),
        "hash": found.hash or None,
    }


def proposal(found: Proposal) -> dict[str, Any]:
    """A request."""
    made = asdict(found)
    return made | {"at": found.at.isoformat(), "expires": found.expires.isoformat(), "status": found.status.value}


def examined(found: Examined) -> dict[str, Any]:
    """Whether a ledger is whole, and what is wrong with it."""
    return {
        "sound": found.sound,
        "witnessed": found.witnessed,
        "records": found.records,
        "hash": found.hash,
        "findings": [
            {"fault": each.fault.value, "record": each.record, "table": each.table, "row": each.row}
            for each in found.findings
        ],
    }
