"""A ledger that is created by its first charge."""

from __future__ import annotations

from pathlib import Path

from sitr.accounting.filter import Filter
from sitr.dataclass import dataclass
from sitr.dataset.database import Address
from sitr.errors import LedgerError
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.ledger import registry
from sitr.ledger.entry import DIRECT, Account, Entry, Seal, Sealed, Warrant
from sitr.ledger.located import located
from sitr.ledger.migrate import revision
from sitr.ledger.sql import SqlLedger, check_terms
from sitr.ledger.state import PATIENCE


@dataclass(frozen=True, slots=True)
class LazyLedger:
    """A `Ledger` for one data set. Its first charge creates the file and the account.

    Until then nothing is written, so that previews and refused questions leave no ledger behind: an account on the
    wrong terms could not be opened on the right ones later. An account that already exists is used, and raises
    `LedgerMismatch` if it has other terms.

    >>> from sitr.flavors.pure import PureDP
    >>> LazyLedger(Path("missing.db"), "visits", PureDP(0.5), "row, add-remove").standing("visits").remaining()
    PureDP(epsilon=0.5)
    """

    path: Path | Address
    """Where the ledger will be."""
    dataset: str
    promise: Kept
    neighbors: str
    source: str = ""
    """Where the rows are."""
    second: bool = False
    """Whether the rows may have another budget elsewhere."""
    of: str = ""
    """The account of a data set with periods, if this is the account of one of them."""

    def open(self, dataset: str, *, promise: Kept, neighbors: str, source: str = "", second: bool = False) -> Account:
        """The account of this data set, created now if missing."""
        made = SqlLedger(self.path)
        return made.open(dataset, promise=promise, neighbors=neighbors, source=source, second=second)

    def account(self, dataset: str) -> Account:
        """The account of this data set, or `LedgerError`."""
        if (found := self._found()) is not None:
            return found.account(dataset)
        raise LedgerError(
            given=f"{self.path} has no account for {dataset}, because nothing was charged yet.",
            do="Charge the data set first, or check its name.",
        )

    def accounts(self) -> list[Account]:
        """All accounts, by name; none before the first charge."""
        found = self._found()
        return [] if found is None else found.accounts()

    def standing(self, dataset: str) -> Filter:
        """The promise and what is spent now; nothing is spent before the first charge."""
        found = self._found()
        return Filter(self.promise) if found is None else found.standing(dataset)

    def check(self, dataset: str) -> Filter:
        """The same, added up from all entries."""
        found = self._found()
        return Filter(self.promise) if found is None else found.check(dataset)

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
        """Charge the price. The ledger is created only if the budget can pay it."""
        asked = {"question": question, "plan": plan, "description": description, "written": written, "coins": coins}
        return self.made(price).charge(dataset, price=price, warrant=warrant, **asked)

    def made(self, price: Promise) -> SqlLedger:
        """The ledger in the file, created now if the budget can pay this price."""
        if (found := self._found()) is None:
            Filter(self.promise).consent(price)
            if self.of:
                return self.opened()
            if not self.second:
                place = located(self.path, patience=0.0).place
                registry.refuse_second(self.source or registry.account_source(place, self.dataset), place, self.dataset)
            found = SqlLedger(self.path)
        if not self.of:
            self._open(found)
        return found

    def opened(self) -> SqlLedger:
        """The ledger, in which the account of this period is opened now, on the terms of all periods."""
        made = SqlLedger(self.path, create=False)
        made.open_part(self.dataset, of=self.of)
        return made

    def _open(self, made: SqlLedger) -> None:
        promise, neighbors = self.promise, self.neighbors
        made.open(self.dataset, promise=promise, neighbors=neighbors, source=self.source, second=self.second)

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """The charges to one data set, or to all, oldest first; none before the first charge."""
        found = self._found()
        return [] if found is None else found.entries(dataset)

    def charged(self, number: int) -> tuple[Entry, Filter]:
        """The entry of this number and the budget right after it, or `LedgerError`."""
        return SqlLedger(self.path, create=False).charged(number)

    def paid(self, dataset: str, *, price: Promise, question: str) -> list[Entry]:
        """All charges of this price for this question, newest first; none before the first charge."""
        found = self._found()
        return [] if found is None else found.paid(dataset, price=price, question=question)

    def asked(self, dataset: str, *, question: str) -> list[Entry]:
        """All charges for this question, newest first; none before the first charge."""
        found = self._found()
        return [] if found is None else found.asked(dataset, question=question)

    def plan(self, sha256: str) -> str:
        """The text of a plan that was charged; empty before the first charge."""
        found = self._found()
        return "" if found is None else found.plan(sha256)

    def keyed(self, key: str) -> Entry | None:
        """The charge that this user made under a key; None before the first charge."""
        found = SqlLedger(self.path, create=False) if self.of else self._found()
        return None if found is None else found.keyed(key)

    def seal(self, entry: int, kind: Sealed, sha256: str) -> None:
        """Record the hash of something that was released for an entry."""
        SqlLedger(self.path, create=False).seal(entry, kind, sha256)

    def seals(self, entry: int | None = None, *, sha256: str | None = None) -> list[Seal]:
        """The seals of one entry, or with one hash, or all, oldest first; none before the first charge."""
        found = self._found()
        return [] if found is None else found.seals(entry, sha256=sha256)

    def _found(self) -> SqlLedger | None:
        """The ledger in the file if it has the account, on these terms; None if there is no account yet."""
        if not self._exists():
            return None
        found = SqlLedger(self.path)
        for account in found.accounts():
            if account.dataset == self.dataset:
                check_terms(account, str(found.place), promise=self.promise, neighbors=self.neighbors)
                return found
        return None

    def _exists(self) -> bool:
        if isinstance(self.path, Path):
            return self.path.exists()
        database = located(self.path, patience=PATIENCE)
        with database.transaction(write=False) as connection:
            return revision(connection, name=str(database.place)) is not None
