"""What is known of an account after all its records: its terms, its total, its sub-budgets, rules and roles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.errors import LedgerError
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
    waiting: str = ""
    """What witnesses remembered of it, as `Waiting`, if somebody else went on after a loss and its own steward has
    not; empty if it does not wait."""
    seen: str = ""
    """In what an account waits for: the hash of the newest record that the witness knew, which tells two branches apart
    that look alike. Empty elsewhere."""

    def plain(self) -> dict[str, Any]:
        """As JSON, without what is empty: of a thousand accounts, all are written with every charge to one of them."""
        own = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}
        shares = {path: share.plain() for path, share in self.shares.items()}
        members = {user: {"duty": each.duty.value, "share": each.share} for user, each in self.members.items()}
        rules = {} if self.rules == FREE else asdict(self.rules)
        more = {"shares": shares, "rules": rules, "members": members}
        return {name: value for name, value in (own | more).items() if name == "opened" or value}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Spent:
        """From JSON, in which is missing what is empty, and what an older version of Sitr did not know."""
        shares = {path: Share.of(share) for path, share in plain.get("shares", {}).items()}
        members = {user: Member(Duty(each["duty"]), each["share"]) for user, each in plain.get("members", {}).items()}
        rules = Rules(**plain.get("rules", {}))
        return cls(**{**plain, "shares": shares, "rules": rules, "members": members})

    def stewards(self) -> Mapping[str, Member]:
        """The roles that decide who may go on: those of what is left, or if it has none, those that are remembered."""
        remembered = [] if self.members or not self.waiting else Waiting.of(self.waiting).remembered
        return next((each.members for each, _ in remembered if each.members), self.members)

    def counts_in(self, budget: Filter[Promise], neighbors: str) -> bool:
        """Whether its sum can be added to this budget: it is in the same flavor, and about the same neighbors."""
        if not self.charges:
            return True
        promise = parse(self.promise) if self.promise else None
        alike = promise is not None and type(promise) is type(budget.promise) and promise.adds_to(budget.promise)
        return alike and self.neighbors == neighbors

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

    def after(self, dataset: str, *, entry: int, price: str, share: str, by: str, lost: bool = False) -> Spent:
        """After one more entry; an error if the budget, or a sub-budget, does not consent, or who asks may not.

        An entry for what was `lost` may be made while it is being counted, and ends that when all of it is.
        """
        waiting = Waiting.of(self.waiting) if self.waiting and lost else Waiting()
        if waiting.due is None:
            check_waiting(self, dataset)
        check_charge(self.members, by, share)
        charge = parse(price)
        after = self.filter().consent(charge)
        shares = self.tree(dataset).charge(share, charge).shares if self.shares or share else self.shares
        paid, first = " ".join(map(str, after.paid)), self.first or price
        made = replace(self, entry=entry, charges=after.charges, paid=paid, first=first, shares=shares)
        made = made if waiting.due is None or not _met(waiting.due, after) else replace(made, waiting="")
        if len(_budgets) >= MOST_KNOWN:
            _budgets.clear()
        _budgets[made._budget] = after
        return made


@dataclass(frozen=True, slots=True)
class Waiting:
    """What its own steward will have to count as spent of an account after a loss."""

    remembered: tuple[tuple[Spent, bool], ...] = ()
    """What witnesses remember, and whether what is left of the ledger is the beginning of what they saw. The first one
    has the roles and rules that the account had."""
    unknown: bool = False
    """Whether some of it is not known: then nothing is left of the account."""
    due: str | None = None
    """What the account must have paid before anything else is charged to it, once its steward has gone on; empty if
    all of the budget. None while it waits for its steward."""

    def in_order(self) -> tuple[tuple[Spent, bool], ...]:
        """What is remembered, in the order of counting: first what goes on from what is left, then all that is added.

        The other way round, what was added would pass for a part of what went on.
        """
        return tuple(sorted(self.remembered, key=lambda each: not each[1]))

    def counting(self, left: Spent) -> str:
        """What an account with this much spent waits for when its steward has gone on; empty if nothing was lost."""
        budget = left.filter()
        total: list[Fraction] = list(budget.paid)
        unknown = self.unknown or (bool(self.remembered) and isinstance(budget.promise, RandomDP))
        for spent, own in self.in_order():
            if unknown or (spent.charges > 0 and not spent.paid) or not spent.counts_in(budget, left.neighbors):
                unknown = True
                break
            seen = map(Fraction, spent.paid.split()) if spent.paid else (Fraction(0) for _ in total)
            total = [max(paid, each) if own else paid + each for paid, each in zip(total, seen, strict=True)]
        due = "" if unknown else " ".join(map(str, total))
        return "" if _met(due, budget) else replace(self, due=due).written()

    def with_earlier(self, *others: Spent, alone: bool) -> Waiting:
        """Also what these accounts, and those that are remembered here, still waited for after an earlier loss.

        It comes first: what is remembered of an account that waited has the roles and rules of an older copy. `alone`
        says whether nobody else has written since; otherwise all of it counts again.
        """
        found, unknown = list[tuple[Spent, bool]](), self.unknown
        for spent, own in (*self.remembered, *((each, None) for each in others)):
            earlier = Waiting.of(spent.waiting) if spent.waiting else Waiting()
            found += [(each, was and alone) for each, was in earlier.remembered]
            found += [] if own is None else [(replace(spent, waiting=""), own)]  # or it would double with every loss
            unknown = unknown or earlier.unknown
        return Waiting(tuple(each for place, each in enumerate(found) if each not in found[:place]), unknown)

    def counts(self, earlier: Waiting) -> bool:
        """Whether nothing that had to be counted before is left out."""
        kept = all(
            (each, own) in self.remembered or (each, False) in self.remembered for each, own in earlier.remembered
        )
        return kept and self.unknown >= earlier.unknown

    def written(self) -> str:
        """As JSON."""
        said = {"remembered": [[each.plain(), own] for each, own in self.remembered], "all": self.unknown}
        return json.dumps(said if self.due is None else said | {"due": self.due})

    @classmethod
    def of(cls, text: str) -> Waiting:
        """From JSON."""
        said = json.loads(text)
        remembered = tuple((Spent.of(each), bool(own)) for each, own in said["remembered"])
        return cls(remembered, bool(said["all"]), said.get("due"))


def exhausted(budget: Filter[Promise]) -> bool:
    """Whether no price is small enough for what is left of a budget."""
    left = budget.remaining()
    inner = left.inner if isinstance(left, RandomDP) else left
    return not any(cast("Kept", inner).coordinates())


def _met(due: str, budget: Filter[Promise]) -> bool:
    """Whether a budget has paid what was due, or everything."""
    paid = zip(budget.paid, map(Fraction, due.split()), strict=True) if due else ()
    return exhausted(budget) or (bool(due) and all(each >= wanted for each, wanted in paid))


def check_waiting(spent: Spent, dataset: str) -> None:
    """Refuse a charge to an account whose steward has not gone on after a loss."""
    if spent.waiting:
        raise LedgerError(
            given=f"After a loss of the ledger, {dataset} waits for its own steward.",
            do="Ask its steward to run sitr ledger resume; nothing was spent.",
        )


IN_EACH = ") in each "
"""What the neighbors of an account say if its unit is a person in a period."""


def overseen(accounts: Mapping[str, Spent], dataset: str) -> tuple[Spent, ...]:
    """An account, and the one of all periods if it is that of one of them: whoever acts must be allowed to by both."""
    own, whole = accounts[dataset], accounts.get(dataset.rpartition("@")[0])
    if whole is None or IN_EACH not in own.neighbors or whole.neighbors != own.neighbors:
        return (own,)
    return own, whole
