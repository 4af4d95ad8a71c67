"""What an act does to an account. The same function decides before an act is written and when a chain is read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from sitr.errors import LedgerError
from sitr.flavors.notation import parse, write
from sitr.ledger.database import Connection
from sitr.ledger.roles import Duty, assigned, check_steward
from sitr.ledger.rules import Rules, check_rate_of
from sitr.ledger.shares import check_path
from sitr.ledger.spent import Spent

ALLOT, RESERVE, MOVE, RULES, ROLE = "allotted", "reserved", "moved", "ruled", "assigned"
"""The acts of a steward on an account."""

EFFECTIVE = frozenset({ALLOT, RESERVE, MOVE, RULES, ROLE})


def applied(spent: Spent, dataset: str, kind: str, body: Mapping[str, Any], *, by: str) -> Spent:
    """The account after an act; an error if it is not possible, or if who acts is no steward."""
    check_steward(spent.members, by)
    tree = spent.tree(dataset)
    match kind:
        case "allotted":
            made = tree.allot(check_path(body["share"]), parse(body["amount"]))
        case "reserved":
            made = tree.reserve(check_path(body["share"]), parse(body["amount"]))
        case "moved":
            made = tree.move(check_path(body["share"]), check_path(body["to"]), parse(body["amount"]))
        case "ruled":
            return replace(spent, rules=_rules(spent, dataset, body))
        case "assigned":
            share, duty = str(body["share"]), Duty(body["role"]) if body["role"] else None
            tree.share(share)
            return replace(spent, members=assigned(spent.members, str(body["user"]), duty, share, by=by))
        case _:
            raise LedgerError(given=f"An act {kind!r} is not known.", do="Upgrade Sitr; nothing was changed.")
    return replace(spent, shares=made.shares)


def any_of(connection: Connection, dataset: str) -> bool:
    """Whether a steward did anything to this account."""
    for kind in EFFECTIVE:
        found = connection.execute("SELECT 1 FROM acts WHERE kind = ? AND dataset = ? LIMIT 1", (kind, dataset))
        if found.fetchone() is not None:
            return True
    return False


def _rules(spent: Spent, dataset: str, body: Mapping[str, Any]) -> Rules:
    """All rules, which take the place of earlier ones."""
    rules, tree = Rules(**body), spent.tree(dataset)
    check_rate_of(rules.questions, rules.seconds)
    for text in filter(None, (rules.least, rules.approval)):
        tree.amount(parse(text))
    return rules


def rules_body(rules: Rules) -> dict[str, Any]:
    """The body of the act that sets rules, with every promise in its own notation."""
    texts = {name: write(parse(text)) for name in ("least", "approval") if (text := getattr(rules, name))}
    return asdict(rules) | texts
