"""What people do with data sets on a server, each in their own name.

Whether somebody may do it is decided by the ledger of the data set, which records who did it. Somebody who has no role
in a ledger does not learn that the data set exists.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sitr.errors import (
    DescriptionError,
    FileError,
    InvalidUse,
    LedgerBusy,
    LedgerError,
    NotAllowed,
    SitrError,
    SourceError,
)
from sitr.flavors.notation import parse
from sitr.ledger.approval import DAYS, queue
from sitr.ledger.entry import Account, Entry
from sitr.ledger.examine import Examined
from sitr.ledger.looking import looking
from sitr.ledger.proposals import Proposal, Status
from sitr.ledger.roles import Duty, Member, check_charge
from sitr.ledger.steward import in_file
from sitr.ledger.who import acting
from sitr.report.chart.budget import budget_bar
from sitr.report.chart.spending import chart as spending
from sitr.report.chart.svg import standalone
from sitr.server.discreet import busy, discreet, places_of, without_places
from sitr.server.role import UserRole
from sitr.server.sent import SentQuestion, check_plan, check_reason, understood
from sitr.server.users import User, Users
from sitr.session.answer import Answer
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from sitr.session.dataset import open as open_description
from sitr.session.reopened import reopened
from sitr.session.request import Preview

log = logging.getLogger("sitr.server")


QUICK = 5
"""The effort up to which a question is planned within one look at the ledger."""


class Unknown(Exception):
    """There is no such data set or answer for this person."""


@dataclass(frozen=True, slots=True)
class OpenedDataset:
    """A data set, as one person sees it."""

    name: str
    budget: Budget
    members: Mapping[str, Member]
    user: User
    places: frozenset[str] = frozenset()
    """Where its files are, which nobody needs to know."""

    @property
    def member(self) -> Member | None:
        """The role of this person in the ledger; None while nobody has one."""
        return self.members.get(self.user.name)

    @property
    def account(self) -> str:
        """The name of the data set in its ledger."""
        return self.budget.table.account

    @property
    def unclaimed(self) -> bool:
        """Whether nobody has a role yet. Then a steward must take it first."""
        return not self.members

    @property
    def share(self) -> str:
        """The sub-budget that this person charges; empty for the budget itself."""
        return self.member.share if self.member is not None else ""

    def paying(
        self, account: str = "", *, request: int | None = None, key: str | None = None, period: str = ""
    ) -> Budget:
        """The budget, charged on the account that was named, or else on this person's own.

        Whether an account that is not theirs exists is not said.
        """
        if account:
            path = account.casefold().removeprefix(f"{self.account}/")
            check_charge(self.members, self.user.name, path)
        share = account or self.share or None
        return self.budget.paying(period=period or None, account=share, request=request, key=key)

    def requests(self) -> list[Proposal]:
        """The requests that this person sees, oldest first: all of them, or as an analyst their own."""
        found = queue(self.budget.ledger, None if self.budget.table.period else self.account)
        own = self.member is not None and self.member.duty is Duty.ANALYST
        return [
            each
            for each in found
            if each.dataset.partition("@")[0] == self.account and (not own or each.by == self.user.name)
        ]

    def charges(self) -> list[Entry]:
        """The charges that this person sees, oldest first; of all periods, if the data set has them."""
        ledger = self.budget.ledger
        if self.budget.table.period is None:
            found = ledger.entries(self.account)
        else:
            found = [each for each in ledger.entries() if each.dataset.partition("@")[0] == self.account]
        return [each for each in found if self.sees(each)]

    def spent(self) -> tuple[list[Account], list[Entry]]:
        """The accounts that were charged, one for each period, and the charges that this person sees."""
        charges = self.charges()
        names = dict.fromkeys(each.dataset for each in charges) or [self.account]
        return [self.budget.ledger.account(name) for name in names], charges

    def sees(self, entry: Entry) -> bool:
        """Whether this person sees an entry: all of them, or as an analyst their own and those of their account."""
        if self.member is None or self.member.duty is not Duty.ANALYST:
            return True
        own = self.member.share
        return entry.by == self.user.name or bool(own and (entry.share == own or entry.share.startswith(f"{own}/")))


@dataclass(frozen=True, slots=True)
class DescribedPlace:
    """Where a data set is described, and its budget."""

    name: str
    path: Path
    dataset: Dataset
    budget: Budget


@lru_cache(maxsize=256)
def _described(path: Path, _changed: int) -> Dataset:
    """A described data set; read again when its file changes."""
    return open_description(path)


@dataclass(frozen=True, slots=True)
class Office:
    """The data sets of a server."""

    descriptions: Callable[[], Mapping[str, Path]]
    told: Callable[[str, Mapping[str, object]], None] = field(default=lambda _event, _content: None)
    """Tells others about requests and decisions."""

    # Which data sets there are

    def names(self) -> list[str]:
        """The names of all data sets."""
        return sorted(self.descriptions())

    def seen_by(self, user: User) -> list[OpenedDataset]:
        """The data sets that this person sees."""
        found = []
        for name in self.names():
            try:
                found.append(self.open(user, name))
            except Unknown:
                continue
        return found

    def place(self, name: str) -> DescribedPlace:
        """Where a data set is described."""
        path = self.path(name)
        return DescribedPlace(name.casefold(), path, *self.described(name, path))

    def open(self, user: User, name: str, *, place: DescribedPlace | None = None) -> OpenedDataset:
        """A data set by its name, if this person has a role in it; a steward also sees one that nobody has taken."""
        if user.role is UserRole.ADMINISTRATOR:
            raise Unknown
        at = place or self.place(name)
        with _readable(name):
            members = at.budget.roles()
        found = OpenedDataset(at.name, at.budget, members, user, places_of(at.path, at.dataset, at.budget))
        if found.member is None and not (found.unclaimed and user.role is UserRole.STEWARD):
            raise Unknown
        return found

    def path(self, name: str) -> Path:
        """The description of a data set."""
        path = self.descriptions().get(name.casefold())
        if path is None:
            raise Unknown
        return path

    def without_places(self, error: SitrError, name: str = "") -> SitrError:
        """An error about a data set, or any of them, that does not say where files of the server are."""
        if isinstance(error, (DescriptionError, FileError, LedgerError, SourceError)):
            for each in [name] if name else self.names():
                with suppress(Unknown):
                    at = self.place(each)
                    error = without_places(error, at.name, places_of(at.path, at.dataset, at.budget))
        return error

    def described(self, name: str, path: Path) -> tuple[Dataset, Budget]:
        """The budget that a description names. One that cannot be read is logged, and the others are still served."""
        with _readable(name):
            dataset = _described(path, path.stat().st_mtime_ns)
            return dataset, dataset.budget()

    @contextmanager
    def acting_as(self, user: User, name: str, *, place: DescribedPlace | None = None) -> Iterator[OpenedDataset]:
        """A data set, in the name of somebody. Nothing is asked of one that nobody has taken."""
        with acting(user.name):
            with looking():
                found = self.open(user, name, place=place)
            if found.unclaimed:
                raise NotAllowed(
                    given=f"Nobody is the steward of {found.name} yet.", do="A steward must take it first."
                )
            with discreet(found):
                yield found

    def take(self, user: User, name: str) -> None:
        """Become the first steward of a data set."""
        with acting(user.name):
            found = self.open(user, name)
            if not found.unclaimed:
                raise NotAllowed(given=f"{found.name} has a steward already.", do="Ask them for a role.")
            found.budget.assign(user.name, Duty.STEWARD)

    # Questions

    def price_for(
        self,
        user: User,
        name: str,
        asked: SentQuestion,
        errors: Mapping[str, Any],
        *,
        account: str = "",
        period: str = "",
    ) -> Preview:
        """The preview at the least price for these errors."""
        with self.acting_as(user, name) as found:
            return understood(found.paying(account, period=period), asked).preview(error=errors)

    # Requests

    def propose(
        self,
        user: User,
        name: str,
        asked: SentQuestion,
        price: str,
        *,
        reason: str,
        days: int = DAYS,
        account: str = "",
        period: str = "",
        plan: str | None = None,
    ) -> Proposal:
        """Ask a steward to approve a question."""
        check_reason(reason)
        with self.acting_as(user, name) as found:
            request = understood(found.paying(account, period=period), asked)
            check_plan(request, paid := parse(price), plan)
            made = request.propose(paid, reason=reason, days=days)
        self.told("requested", {"dataset": name, "number": made.number})
        return made

    def decide(self, user: User, name: str, number: int, *, approve: bool, reason: str = "") -> Proposal:
        """Approve or refuse a request that somebody else made."""
        check_reason(reason)
        with self.acting_as(user, name) as found:
            if number not in {each.number for each in found.requests()}:
                raise Unknown
            act = found.budget.approve if approve else found.budget.refuse
            made = act(number, reason=reason)
        self.told("decided", {"dataset": name, "number": number})
        return made

    def queue(self, user: User, name: str) -> list[Proposal]:
        """The requests that this person sees: all of them, or as an analyst their own. Newest first."""
        return self.open(user, name).requests()[::-1]

    def waiting(self, user: User) -> int:
        """How many requests wait for this person's decision, or how many approved ones wait to be asked."""
        wanted = Status.ASKED if user.role is UserRole.STEWARD else Status.APPROVED
        if user.role not in (UserRole.STEWARD, UserRole.ANALYST):
            return 0
        found = (each for opened in self.seen_by(user) for each in self.queue(user, opened.name))
        return sum(
            each.status is wanted and (each.by != user.name) is (user.role is UserRole.STEWARD) for each in found
        )

    # Answers and the books

    def entries(self, user: User, name: str) -> list[Entry]:
        """The charges that this person sees, newest first."""
        with discreet(found := self.open(user, name)):
            return found.charges()[::-1]

    def answer(self, user: User, name: str, number: int) -> Answer:
        """A kept answer, for free."""
        with discreet(found := self.open(user, name)):
            if not any(each.number == number for each in found.charges()):
                raise Unknown
            return reopened(found.budget.ledger, number)

    def books(self, user: User, name: str) -> OpenedDataset:
        """A data set, for those who read its books: its stewards and auditors, also by its ledger."""
        found = self.open(user, name)
        if found.member is not None and found.member.duty is Duty.ANALYST:
            raise Unknown
        return found

    def certificate(self, user: User, name: str, number: int) -> str:
        """The page that explains and defends an answer. Its hash is recorded in the ledger first."""
        answer = self.answer(user, name, number)
        with acting(user.name), TemporaryDirectory() as folder:
            return answer.certificate(Path(folder) / "certificate.html").read_text(encoding="utf-8")

    def chart(self, user: User, name: str, number: int) -> str:
        """The chart of an answer, as SVG."""
        return standalone(self.answer(user, name, number).plot().svg)

    def budget_chart(self, user: User, name: str) -> str:
        """What is spent and what is left, as SVG."""
        return standalone(budget_bar(self.open(user, name).budget.standing()))

    def spending_chart(self, user: User, name: str) -> str:
        """What was spent over time by the charges that this person sees, as SVG."""
        found = self.open(user, name)
        return standalone(spending(*found.spent()))

    def examine(self, user: User, name: str) -> Examined:
        """Whether the ledger of a data set is as it was written."""
        return in_file(self.books(user, name).budget.ledger).examine()

    # What a steward does

    def allot(self, user: User, name: str, share: str, amount: str) -> None:
        """Make or change a sub-budget."""
        with self.acting_as(user, name) as found:
            found.budget.allot(share, parse(amount))

    def reserve(self, user: User, name: str, share: str, amount: str) -> None:
        """Set an amount aside for a sub-budget."""
        with self.acting_as(user, name) as found:
            found.budget.reserve(share, parse(amount))

    def move(self, user: User, name: str, source: str, target: str, amount: str) -> None:
        """Move a part of a sub-budget to another."""
        with self.acting_as(user, name) as found:
            found.budget.move(source, target, parse(amount))

    def rule(
        self, user: User, name: str, *, least: str = "", rate: tuple[int, int] = (0, 0), approval: str = ""
    ) -> None:
        """Set the least price, how many questions are answered within which seconds, and what needs approval."""
        with self.acting_as(user, name) as found:
            found.budget.rule(
                least=parse(least) if least else None,
                questions=rate[0],
                seconds=rate[1] if rate[0] else 0,
                approval=parse(approval) if approval else None,
            )

    def assign(self, user: User, name: str, who: str, role: str, *, people: Users, account: str = "") -> None:
        """Give somebody with an account a role in a data set, or take it away."""
        known = people.user(who)
        if known is None:
            raise InvalidUse(given=f"There is no account {who}.", do="An administrator can invite them.")
        duty = None if role == "none" else Duty(role)
        if duty is not None and known.role.value != duty.value:
            raise NotAllowed(
                given=f"{who} is registered as {known.role.value}.", do="Give them that role, or invite them anew."
            )
        with self.acting_as(user, name) as found:
            found.budget.assign(who, duty, account=account)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Nobody has a role in what cannot be read, so nobody learns where it was; the log says which it is."""
    try:
        yield
    except LedgerBusy:
        raise busy(name.casefold()) from None
    except (OSError, DescriptionError, FileError, SourceError, LedgerError) as failure:
        log.error("%s", json.dumps({"unreadable": name.casefold(), "failure": type(failure).__name__}))
        raise Unknown from None
