"""Sub-budgets: how much of a data set's budget an analyst, a project or a period may use.

Accounts form a tree. The promise of the data set is its root; below it are shares, named like `clinic/ana` or
`clinic/team/ana`. Each has a cap, and may have a reserve: an amount that its siblings cannot use. A charge to an
account counts in it and in all accounts above it, and is accepted by all of them or by none.

Write p for what is paid, and

    needed(X) = max(reserve(X) − p(X), Σ needed(children of X), 0)

for what must stay free for X. Always, and at every account A, root included,

    p(A) + Σ needed(children of A) ≤ cap(A).                                                                       (*)

A charge c to X raises p at X and above. Off this line nothing changes, and on it c + needed(B) is the larger of a
constant, for which (*) holds already, and of c + the needs of all accounts that hang off the line below B. So (*) still
holds if and only if, for each A from X up to the root,

    c ≤ cap(A) − p(A) − Σ needed(accounts that hang off the line from A down to X).

All of this is for each coordinate of the promises by itself, in exact fractions.

Shares are allocations, not promises about what one analyst learned: the sum of all caps may exceed the root, and the
root still refuses whatever exceeds its promise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

from sitr.accounting.coordinates import at_most
from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded, IncompatiblePromises, LedgerError, quoted, suggestion
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP

Amount = tuple[Fraction, ...]
"""The coordinates of a promise, as in `sitr.accounting.coordinates`."""

LONGEST = 100
"""The most letters in one part of the name of a share."""


@dataclass(frozen=True, slots=True)
class Share:
    """A sub-budget, and what was charged to it and to those below it."""

    cap: Amount
    reserve: Amount
    paid: Amount
    charges: int = 0

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        texts = {name: " ".join(map(str, getattr(self, name))) for name in ("cap", "reserve", "paid")}
        return {**texts, "charges": self.charges}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Share:
        """From JSON."""
        cap, reserve, paid = (tuple(map(Fraction, plain[name].split(" "))) for name in ("cap", "reserve", "paid"))
        return cls(cap, reserve, paid, plain["charges"])


@dataclass(frozen=True, slots=True)
class Left:
    """What an account lets be charged to it now, of its whole share; both rounded down."""

    account: str
    left: Kept
    whole: Kept


@dataclass(frozen=True, slots=True)
class Accounts:
    """The budget of a data set and its shares. Shares are named by their paths from the root, such as `team/ana`."""

    dataset: str
    promise: Kept
    paid: Amount
    shares: Mapping[str, Share] = field(default_factory=dict)

    def name(self, path: str) -> str:
        """The name of an account as users see it."""
        return f"{self.dataset}/{path}" if path else self.dataset

    def share(self, path: str) -> Share:
        """A share by its path, or `LedgerError`; with an empty path, the root as a share of everything."""
        if not path:
            whole = self.promise.coordinates()
            return Share(whole, tuple(Fraction(0) for _ in whole), self.paid)
        if path not in self.shares:
            raise LedgerError(
                given=f"{self.dataset} has no sub-budget {quoted(path)}.",
                do=suggestion(path, self.shares)
                if self.shares
                else "Run sitr ledger allot to make it; nothing was spent.",
            )
        return self.shares[path]

    def children(self, path: str) -> Iterator[str]:
        """The shares right below an account."""
        return (each for each in self.shares if parent(each) == path)

    def needed(self, path: str) -> Amount:
        """What must stay free for a share."""
        share, below = self.share(path), self._needs(path)
        return tuple(
            max(reserve - paid, need, Fraction(0))
            for reserve, paid, need in zip(share.reserve, share.paid, below, strict=True)
        )

    def _needs(self, path: str, *, without: str = "") -> Amount:
        """What must stay free for the shares right below an account, one of them left out."""
        total = tuple(Fraction(0) for _ in self.paid)
        for child in self.children(path):
            if child != without:
                total = added(total, self.needed(child))
        return total

    def lefts(self, path: str) -> Iterator[tuple[str, Amount]]:
        """Each account from this one up to the root, and the most that it lets this one be charged."""
        hanging, below = self._needs(path), ""
        for account in line(path):
            if below:
                hanging = added(hanging, self._needs(account, without=below))
            share, below = self.share(account), account
            yield (
                account,
                tuple(cap - paid - need for cap, paid, need in zip(share.cap, share.paid, hanging, strict=True)),
            )

    def left(self, path: str) -> Kept:
        """The most that could be charged to an account now, rounded down."""
        least = tuple(map(min, zip(*(amount for _, amount in self.lefts(path)), strict=True)))
        return cast("Kept", at_most(least, like=self.promise))

    def line(self, path: str) -> tuple[Left, ...]:
        """What this account and all accounts above it have left."""
        wholes = ((each, at_most(self.share(each).cap, like=self.promise)) for each in line(path))
        return tuple(Left(self.name(each), self.left(each), cast("Kept", whole)) for each, whole in wholes)

    def seen_from(self, path: str, *, charges: int) -> Filter[Kept]:
        """The budget as an account sees it: of the promise, exactly what could be charged to it now is left."""
        least = map(min, zip(*(amount for _, amount in self.lefts(path)), strict=True))
        taken = zip(self.promise.coordinates(), least, strict=True)
        return Filter(self.promise, charges, tuple(whole - left for whole, left in taken))

    def charge(self, path: str, price: Promise) -> Accounts:
        """The accounts after a charge in the budget's flavor; `BudgetExceeded` says which account refused."""
        cost = price.coordinates()
        for account, left in self.lefts(path):
            if any(value > most for value, most in zip(cost, left, strict=True)):
                rest, whole = at_most(left, like=self.promise), at_most(self.share(account).cap, like=self.promise)
                raise BudgetExceeded(
                    wanted=f"a price within the {write(rest)} of {write(whole)} that {self.name(account)} has left, "
                    "without what is reserved",
                    given=write(price),
                    do="Pay less, or ask the steward for a larger share; nothing was spent and no data were read.",
                )
        shares = dict(self.shares)
        for account in line(path):
            if account:
                share = shares[account]
                shares[account] = replace(share, paid=added(share.paid, cost), charges=share.charges + 1)
        return replace(self, paid=added(self.paid, cost), shares=shares)

    def allot(self, path: str, cap: Promise) -> Accounts:
        """The accounts with a new share, or with another cap for one."""
        check_path(path)
        self.share(parent(path))  # which must be there
        amount = self.amount(cap)
        zeros = tuple(Fraction(0) for _ in amount)
        before = self.shares.get(path, Share(zeros, zeros, zeros))
        return self._with({path: replace(before, cap=amount)})

    def reserve(self, path: str, amount: Promise) -> Accounts:
        """The accounts with this much of everything set aside for a share, what it has spent included."""
        check_path(path)
        return self._with({path: replace(self.share(path), reserve=self.amount(amount))})

    def move(self, source: str, target: str, amount: Promise) -> Accounts:
        """The accounts after a part of one share's cap was moved to another."""
        check_path(source)
        check_path(target)
        moved, giver, taker = self.amount(amount), self.share(source), self.share(target)
        if source == target:
            raise LedgerError(
                given=f"{self.name(source)} is both the source and the target.", do="Name two sub-budgets."
            )
        less = tuple(cap - part for cap, part in zip(giver.cap, moved, strict=True))
        return self._with({source: replace(giver, cap=less), target: replace(taker, cap=added(taker.cap, moved))})

    def amount(self, promise: Promise) -> Amount:
        """The coordinates of an amount, which must have the flavor of the budget."""
        if isinstance(self.promise, RandomDP):
            raise IncompatiblePromises(
                wanted="a budget without γ", given=write(self.promise), do="A budget with a γ cannot be divided."
            )
        if type(promise) is not type(self.promise) or not promise.adds_to(self.promise):
            raise IncompatiblePromises(
                wanted=f"an amount in the flavor of the budget, {write(self.promise)}",
                given=write(promise),
                do="Write it in that flavor; nothing was changed.",
            )
        return promise.coordinates()

    def exceeded(self, path: str) -> bool:
        """Whether the caps right below an account add up to more than its own: then not all can be used up."""
        total = tuple(Fraction(0) for _ in self.paid)
        for child in self.children(path):
            total = added(total, self.shares[child].cap)
        return any(all_of_them > cap for all_of_them, cap in zip(total, self.share(path).cap, strict=True))

    def _with(self, changed: Mapping[str, Share]) -> Accounts:
        """The accounts with these shares, if (*) still holds wherever they count."""
        made = replace(self, shares=dict(sorted({**self.shares, **changed}.items())))
        for path, share in changed.items():
            if any(reserve > cap for reserve, cap in zip(share.reserve, share.cap, strict=True)):
                raise self._short(path)
            for account in line(path):
                held = made.share(account)
                needs = zip(held.paid, made._needs(account), held.cap, strict=True)
                if any(paid + need > cap for paid, need, cap in needs):
                    raise self._short(account)
        return made

    def _short(self, path: str) -> BudgetExceeded:
        return BudgetExceeded(
            given=f"What {self.name(path)} has spent and what is reserved in it would be more than its share.",
            do="Choose another amount; nothing was changed.",
        )


def added(one: Amount, other: Amount) -> Amount:
    """The sum of two amounts."""
    return tuple(first + second for first, second in zip(one, other, strict=True))


def line(path: str) -> Iterator[str]:
    """An account and all accounts above it, up to the root, whose path is empty.

    >>> list(line("team/ana"))
    ['team/ana', 'team', '']
    """
    while path:
        yield path
        path = parent(path)
    yield ""


def parent(path: str) -> str:
    """The account right above one."""
    return path.rpartition("/")[0]


def check_path(path: object) -> str:
    """Refuse a path that could be taken for another, or that cannot be shown."""
    parts = path.split("/") if isinstance(path, str) else []
    if not parts or any(
        not part.isprintable() or part != part.strip().casefold() or not 0 < len(part) <= LONGEST for part in parts
    ):
        raise LedgerError(
            wanted=f"a name such as ana or team/ana, in small letters, of at most {LONGEST} letters in each part",
            given=quoted(path),
            do="Choose another name; nothing was changed.",
        )
    return cast("str", path)
