"""What a team does with a budget on a server: the same calls as with one that is here, made by the server."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from sitr.client.books import ServerLedger, read_proposal
from sitr.client.connection import new_key, no_server, part
from sitr.errors import InvalidUse, quoted
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import parse, write
from sitr.flavors.price import Amounts, Price, price_of
from sitr.ledger.proposals import Proposal
from sitr.ledger.roles import Duty, Member
from sitr.ledger.rules import Rules
from sitr.ledger.shares import Accounts, Share
from sitr.session.kept import UNREADABLE
from sitr.session.team import Shared

if TYPE_CHECKING:
    from sitr.session.desk import Desk


class FarShared(Shared):
    """A budget on a server that several people use. The server decides who may do what."""

    __slots__ = ()
    _at: Desk

    @property
    def _books(self) -> ServerLedger:
        return cast("ServerLedger", self._at.ledger)

    def allot(self, name: str, amount: Price | None = None, **amounts: Unpack[Amounts]) -> Self:
        """Make a sub-budget, or change what it may use: see `Budget.allot`."""
        self._post("accounts", {"account": self._path(name), "amount": write(price_of(amount, **amounts))})
        return self.account(name)

    def reserve(self, name: str, amount: Price | None = None, **amounts: Unpack[Amounts]) -> None:
        """Set an amount aside for a sub-budget: see `Budget.reserve`."""
        self._post("accounts/reserve", {"account": self._path(name), "amount": write(price_of(amount, **amounts))})

    def move(self, source: str, target: str, amount: Price | None = None, **amounts: Unpack[Amounts]) -> None:
        """Move a part of one sub-budget to another: see `Budget.move`."""
        paths = {"source": self._path(source), "target": self._path(target)}
        self._post("accounts/move", paths | {"amount": write(price_of(amount, **amounts))})

    def accounts(self) -> Accounts:
        """The budget of the data set and all its sub-budgets, for its stewards and auditors."""
        found = self._get("accounts")
        try:
            paid = tuple(map(Fraction, found["paid"]))
            shares = {str(path): Share.of(each) for path, each in found["shares"].items()}
            return Accounts(str(found["dataset"]), cast("Kept", parse(found["promise"])), paid, shares)
        except UNREADABLE:
            raise no_server() from None

    def rules(self) -> Rules:
        """The rules that the steward has set."""
        try:
            return Rules(**self._get("")["rules"])
        except UNREADABLE:
            raise no_server() from None

    def rule(
        self, *, least: Price | None = None, questions: int = 0, seconds: int = 0, approval: Price | None = None
    ) -> Rules:
        """Set the rules of the data set: see `Budget.rule`."""
        texts = ["" if given is None else write(price_of(given)) for given in (least, approval)]
        rate = {"questions": questions, "seconds": seconds} if questions else {}
        self._books.connection.put(f"{self._books.place}/rules", {"least": texts[0], "approve_above": texts[1]} | rate)
        return self.rules()

    def assign(self, user: str, duty: Duty | None, *, account: str = "") -> Mapping[str, Member]:
        """Give a user of the server a role, or take it away with None: see `Budget.assign`."""
        if not isinstance(user, str) or not isinstance(duty, Duty | None):
            raise InvalidUse(
                wanted="the name of a user and a sitr.ledger.Duty", given=quoted((user, duty)), do="Correct it."
            )
        role = "none" if duty is None else duty.value
        said = {"user": user, "role": role, "account": self._path(account) if account else ""}
        self._books.connection.put(f"{self._books.place}/members", said)
        return self.roles()

    def roles(self) -> Mapping[str, Member]:
        """Everybody's role, for stewards and auditors."""
        try:
            found = self._get("members").items()
            return {str(who): Member(Duty(each["role"]), str(each["account"])) for who, each in found}
        except UNREADABLE:
            raise no_server() from None

    def queue(self) -> list[Proposal]:
        """The requests that you see, oldest first: all of them, or as an analyst your own."""
        found = self._get("requests")
        if not isinstance(found, list):
            raise no_server()
        return [read_proposal(each) for each in reversed(found)]

    def approve(self, request: int, *, reason: str = "") -> Proposal:
        """Approve a request that somebody else made. This is never revised."""
        return self._decided(request, "approve", reason)

    def refuse(self, request: int, *, reason: str = "") -> Proposal:
        """Refuse a request that somebody else made. This is never revised."""
        return self._decided(request, "refuse", reason)

    def _decided(self, request: int, what: str, reason: str) -> Proposal:
        return read_proposal(self._post(f"requests/{part(str(request))}/{what}", {"reason": reason}))

    def _path(self, name: object) -> str:
        """A path from the budget of the data set."""
        path = Shared._path(self, name)
        return f"{self._books.share.casefold()}/{path}" if self._books.share else path

    def _get(self, what: str) -> Any:
        return self._books.connection.get(f"{self._books.place}/{what}".rstrip("/"))

    def _post(self, what: str, said: Mapping[str, object]) -> Any:
        """Send it with a key, so that a lost connection can be tried again."""
        return self._books.connection.post(f"{self._books.place}/{what}", said, key=new_key())
