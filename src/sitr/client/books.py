"""The ledger of a data set, as far as its server shows it. Nothing is written here: the server charges."""

# ruff: noqa: ARG002 - a protocol names these arguments

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from sitr.accounting.filter import Filter
from sitr.client.connection import ServerConnection, no_server, part
from sitr.errors import LedgerError
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.ledger.entry import DIRECT, Account, Entry, Seal, Sealed, Warrant
from sitr.ledger.proposals import Proposal, Status
from sitr.session.carried import read, read_entry, read_filter
from sitr.session.kept import UNREADABLE


@dataclass(frozen=True, slots=True)
class ServerLedger:
    """A `Ledger` for one data set on a server. What is left is what your account there has left."""

    connection: ServerConnection
    name: str
    """The name of the data set on the server."""
    dataset: str
    """Its name in the ledger."""
    neighbors: str
    share: str = ""
    """The sub-budget that pays; empty for yours."""
    period: str = ""
    """The period whose budget pays; empty if the data set has none."""

    @property
    def place(self) -> str:
        """Where the data set is."""
        return f"/datasets/{part(self.name)}"

    def account(self, dataset: str) -> Account:
        """The terms of the budget."""
        if dataset != self.dataset:
            raise LedgerError(given=f"The server has no account for {dataset}.", do="Check the name.")
        return Account(dataset, self.standing(dataset).promise, self.neighbors, datetime.now(UTC))

    def accounts(self) -> list[Account]:
        """The one account."""
        return [self.account(self.dataset)]

    def standing(self, dataset: str) -> Filter:
        """The promise, and what is spent now as the account that pays sees it."""
        assert dataset == self.dataset
        said = {"account": self.share, "period": self.period}
        more = "&".join(f"{name}={part(value)}" for name, value in said.items() if value)
        found = self.connection.get(f"{self.place}/terms?{more}")
        try:
            return read_filter(found["standing"])
        except UNREADABLE:
            raise no_server() from None

    def check(self, dataset: str) -> Filter:
        """The same: whoever may read the books verifies them on the server."""
        return self.standing(dataset)

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """The charges that you see, oldest first."""
        assert dataset in (None, self.dataset)
        found = self.connection.get(f"{self.place}/entries")
        try:
            return [read_entry(each) for each in found]
        except UNREADABLE:
            raise no_server() from None

    def charged(self, number: int) -> tuple[Entry, Filter]:
        """The entry of this number, and the budget right after it."""
        _, receipt = read(self.kept_answer(number), ledger=self)
        return receipt.entry, receipt.standing

    def kept_answer(self, number: int) -> Any:
        """A kept answer, as it is carried."""
        return self.connection.get(f"{self.place}/answers/{number}?exact=true")

    def certificate(self, number: int) -> str:
        """The page of an answer, whose hash the server records."""
        return self.connection.text(f"{self.place}/answers/{number}/certificate")

    def paid(self, dataset: str, *, price: Promise, question: str) -> list[Entry]:
        """None: the server looks for kept answers itself."""
        return []

    def asked(self, dataset: str, *, question: str) -> list[Entry]:
        """None, for the same reason as `paid`."""
        return []

    def plan(self, sha256: str) -> str:
        """None: plans are on the server."""
        return ""

    def keyed(self, key: str) -> Entry | None:
        """None, for the same reason as `paid`."""
        return None

    def seals(self, entry: int | None = None, *, sha256: str | None = None) -> list[Seal]:
        """None: they are on the server."""
        return []

    def open(self, dataset: str, *, promise: Kept, neighbors: str, source: str = "", second: bool = False) -> Account:
        """Refused: a steward opens budgets on the server."""
        _refuse()

    def charge(
        self,
        dataset: str,
        *,
        price: Promise,
        question: str,
        plan: str = "",
        description: str = "",
        warrant: Warrant = DIRECT,
        written: str = "",
        coins: str = "",
    ) -> tuple[Entry, Filter]:
        """Refused: only the server charges."""
        _refuse()

    def seal(self, entry: int, kind: Sealed, sha256: str) -> None:
        """Refused: only the server records hashes."""
        _refuse()


def read_proposal(content: Any) -> Proposal:
    """A request, as a server sends it."""
    try:
        read = {
            "at": datetime.fromisoformat(content["at"]),
            "expires": datetime.fromisoformat(content["expires"]),
            "status": Status(content["status"]),
        }
        return Proposal(**{**content, **read})
    except UNREADABLE:
        raise no_server() from None


def _refuse() -> NoReturn:
    raise LedgerError(
        given="This budget is on a server, which alone writes to its ledger.",
        do="Use the pages or the API of the server for this; nothing was spent.",
    )
