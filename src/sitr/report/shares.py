"""What reports add where a sub-budget pays: what it and the accounts above it have left.

The JSON of a preview has one more key then, `accounts`: for each of them its `account`, its `share`, and what it has
`left`. Answers have no such key: their JSON stands in certificates, which do not say how a team divides its budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sitr.accounting.filter import Filter
from sitr.errors import SitrError
from sitr.ledger.receipt import Receipt
from sitr.ledger.shares import Accounts, Left
from sitr.ledger.steward import tree
from sitr.plans.plan import Plan
from sitr.report.envelope import after_paying, promise_dict
from sitr.report.paper import Facts, Paper


def answered(paper: Paper, receipt: Receipt) -> Paper:
    """The paper of an answer, with what is left now; as it is if the ledger cannot be read any more."""
    if receipt.ledger is None:
        return paper
    try:
        lefts = tree(receipt.ledger, receipt.entry.dataset).line(receipt.entry.share)
    except SitrError:
        return paper
    said = ("left now", paper.words.left_in(lefts))
    facts = tuple(said if name in ("left", "left then") else (name, text) for name, text in paper.facts)
    return replace(paper, facts=facts)


def previewed(paper: Paper, plan: Plan, accounts: Accounts, path: str, seen: Filter) -> Paper:
    """The paper of a preview; `seen` is the budget as the sub-budget sees it."""
    now, words = accounts.line(path), paper.words
    then = words.cannot_pay()
    if after_paying(plan, seen) is not None:
        then = words.left_in(accounts.charge(path, seen.charge(plan.price)).line(path))
    said = {"left now": words.left_in(now), "left then": then}
    facts: Facts = tuple((name, said.get(name, text)) for name, text in paper.facts)
    return replace(paper, facts=facts, to_dict=lambda: paper.to_dict() | {"accounts": _content(now)})


def _content(lefts: Sequence[Left]) -> list[dict[str, object]]:
    return [
        {"account": each.account, "share": promise_dict(each.whole), "left": promise_dict(each.left)} for each in lefts
    ]
