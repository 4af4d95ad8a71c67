"""What a steward does with a budget: divide it, move and reserve shares, and set rules. Every act is a signed row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sitr.accounting.filter import Filter
from sitr.errors import LedgerError
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.ledger import acts, chain
from sitr.ledger.book import now, writing
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.roles import Duty, Member
from sitr.ledger.rules import Rules
from sitr.ledger.shares import Accounts, check_path
from sitr.ledger.spent import Spent
from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import user


def allot(ledger: Ledger, dataset: str, path: str, amount: Promise) -> Accounts:
    """Make a sub-budget, or change its cap. It is an allocation, not a promise: see `sitr.ledger.shares`."""
    return _act(ledger, dataset, acts.ALLOT, {"share": check_path(path), "amount": write(amount)})


def reserve(ledger: Ledger, dataset: str, path: str, amount: Promise) -> Accounts:
    """Set an amount aside for a sub-budget, what it has spent included, so that its siblings cannot use it."""
    return _act(ledger, dataset, acts.RESERVE, {"share": check_path(path), "amount": write(amount)})


def move(ledger: Ledger, dataset: str, source: str, target: str, amount: Promise) -> Accounts:
    """Move a part of one sub-budget's cap to another."""
    body = {"share": check_path(source), "to": check_path(target), "amount": write(amount)}
    return _act(ledger, dataset, acts.MOVE, body)


def rule(ledger: Ledger, dataset: str, rules: Rules) -> Rules:
    """Set the rules of a data set; they take the place of earlier ones."""
    _act(ledger, dataset, acts.RULES, acts.rules_body(rules))
    return state(ledger, dataset).rules


def assign(ledger: Ledger, dataset: str, who: str, duty: Duty | None, *, share: str = "") -> Mapping[str, Member]:
    """Give somebody a role, an analyst also a sub-budget, or take the role away; returns all roles."""
    body = {"user": who, "role": "" if duty is None else duty.value, "share": share}
    _act(ledger, dataset, acts.ROLE, body)
    return state(ledger, dataset).members


def state(ledger: Ledger, dataset: str) -> Spent:
    """What all records together say about an account."""
    file = in_file(ledger)
    account = file.account(dataset)
    found = now(file._file)
    known = found.accounts.get(dataset)
    if known is None:
        raise LedgerError(
            given=f"{file.place} has no account for {account.dataset} in its chain.", do="Run sitr ledger verify."
        )
    return known


def tree(ledger: Ledger, dataset: str) -> Accounts:
    """The budget of a data set and its sub-budgets, as they are now."""
    if isinstance(ledger, LazyLedger) and ledger.of and not ledger.accounts():
        return Accounts(dataset, ledger.promise, Filter(ledger.promise).paid)
    file = in_file(ledger)
    if file.divided(dataset):
        return state(file, dataset).tree(dataset)
    budget = file.standing(dataset)
    return Accounts(dataset, budget.promise, budget.paid)


def newest(ledger: Ledger) -> str:
    """The hash of the newest record, which is another one whenever anything was written; empty if there is none."""
    with in_file(ledger)._file.transaction(write=False) as connection:
        found = chain.last(connection)
    return "" if found is None else found.hash


def in_file(ledger: Ledger) -> SqlLedger:
    """The ledger, if it has acts. The account of a period is opened now, if it is new."""
    if isinstance(ledger, LazyLedger) and ledger.of:
        return ledger.opened()
    if not isinstance(ledger, SqlLedger):
        raise LedgerError(
            given="This budget is opened by its first charge, kept in memory, or on a server.",
            do="Open it in a ledger file first, with sitr protect or Dataset.budget, or use the pages of its server; "
            "nothing was changed.",
        )
    return ledger


def named(ledger: Ledger, name: str) -> tuple[str, str]:
    """The data set and the path in a name such as clinic/team/ana. A data set may have a slash in its own name."""
    fits = [each.dataset for each in ledger.accounts() if name == each.dataset or name.startswith(f"{each.dataset}/")]
    dataset = max(fits, key=len) if fits else name.partition("/")[0]
    ledger.account(dataset)  # a wrong name is an error
    return dataset, name[len(dataset) + 1 :]


def _act(ledger: Ledger, dataset: str, kind: str, body: Mapping[str, Any]) -> Accounts:
    file = in_file(ledger)
    file.account(dataset)
    with writing(file._file) as page:
        page.check_steward(dataset)
        spent = acts.applied(page.check_account(dataset), dataset, kind, body, by=user())
        page.act(kind, body, dataset=dataset)
    return spent.tree(dataset)
