"""What is known of an account after all its records: its terms, its total, its sub-budgets, rules and roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import parse
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.ledger.roles import Duty, Member, check_charge
from sitr.ledger.rules import FREE, Rules
from sitr.ledger.shares import Accounts, Share

MOST_KNOWN = 4096
"""The number of budgets that are remembered."""

_budgets: dict[tuple[str, int, str, str], Filter[Promise]] = {}
"""Budgets that were just computed, by what is written of them: whoever reads a chain again needs each of them next."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a witness knows of an account."""

    opened: str
    """The hash of the record that opened it: its promise and neighbors cannot change."""
    promise: str = ""
    neighbors: str = ""
    entry: int = 0
    """The number of its last entry; 0 before the first."""
    charges: int = 0
    paid: str = ""
    """The exact sum of all charges, as in the last entry."""
    first: str = ""
    """The price of its first entry."""
    shares: Mapping[str, Share] = field(default_factory=dict, hash=False)
    """Its sub-budgets by their paths."""
    rules: Rules = FREE
    members: Mapping[str, Member] = field(default_factory=dict, hash=False)
    """Roles by the names of users."""

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        shares = {path: share.plain() for path, share in self.shares.items()}
        members = {user: {"duty": each.duty.value, "share": each.share} for user, each in self.members.items()}
        return own | {"shares": shares, "rules": asdict(self.rules), "members": members}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Spent:
        """From JSON; what an older version of Sitr did not know is missing there."""
        shares = {path: Share.of(share) for path, share in plain.get("shares", {}).items()}
        members = {user: Member(Duty(each["duty"]), each["share"]) for user, each in plain.get("members", {}).items()}
        rules = Rules(**plain.get("rules", {}))
        return cls(**{**plain, "shares": shares, "rules": rules, "members": members})

    def filter(self) -> Filter[Promise]:
        """The budget of the data set."""
        known = _budgets.get(self._budget)
        return self._filter() if known is None else known

    @property
    def _budget(self) -> tuple[str, int, str, str]:
        return self.promise, self.charges, self.paid, self.first

    def _filter(self) -> Filter[Promise]:
        promise = parse(self.promise)
        first = parse(self.first) if self.first and isinstance(promise, RandomDP) else None
        paid = Filter(promise).paid if not self.charges else tuple(map(Fraction, self.paid.split(" ")))
        return Filter(promise, self.charges, paid, first if isinstance(first, RandomDP) else None)

    def tree(self, dataset: str) -> Accounts:
        """The budget of the data set and its sub-budgets."""
        budget = self.filter()
        return Accounts(dataset, cast("Kept", budget.promise), budget.paid, self.shares)

    def after(self, dataset: str, *, entry: int, price: str, share: str, by: str) -> Spent:
        """After one more entry; an error if the budget, or a sub-budget, does not consent, or who asks may not."""
        check_charge(self.members, by, share)
        charge = parse(price)
        after = self.filter().consent(charge)
        shares = self.tree(dataset).charge(share, charge).shares if self.shares or share else self.shares
        paid, first = " ".join(map(str, after.paid)), self.first or price
        made = replace(self, entry=entry, charges=after.charges, paid=paid, first=first, shares=shares)
        if len(_budgets) >= MOST_KNOWN:
            _budgets.clear()
        _budgets[made._budget] = after
        return made


IN_EACH = ") in each "
"""What the neighbors of an account say if its unit is a person in a period."""


def overseen(accounts: Mapping[str, Spent], dataset: str) -> tuple[Spent, ...]:
    """An account, and the one of all periods if it is that of one of them: whoever acts must be allowed to by both."""
    own, whole = accounts[dataset], accounts.get(dataset.rpartition("@")[0])
    if whole is None or IN_EACH not in own.neighbors or whole.neighbors != own.neighbors:
        return (own,)
    return own, whole
