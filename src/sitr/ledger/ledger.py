"""What every ledger must do."""

from __future__ import annotations

from typing import Protocol

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.ledger.entry import DIRECT, Account, Entry, Seal, Sealed, Warrant


class Ledger(Protocol):
    """Budgets by data set, and the charges to them. Nothing is ever deleted.

    Data are read only after `charge` has returned. A crash in between loses budget, never privacy.
    """

    def open(self, dataset: str, *, promise: Kept, neighbors: str, source: str = "", second: bool = False) -> Account:
        """The account of this data set, created if missing; `LedgerMismatch` if it was opened with other terms.

        `source` says where the rows are. If they have a budget elsewhere, only `second` allows another one.
        """

    def account(self, dataset: str) -> Account:
        """The account of this data set, or `LedgerError`."""

    def accounts(self) -> list[Account]:
        """All accounts, by name."""

    def standing(self, dataset: str) -> Filter:
        """The promise and what is spent now: a snapshot, which reserves nothing."""

    def check(self, dataset: str) -> Filter:
        """The same, added up from all entries; `LedgerError` if the stored sum differs."""

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
        """Check the price and record it durably, as one step; returns the entry and the budget after it.

        `plan` and `description` are hashes of what is asked and of what it is asked about. The `warrant` names the
        sub-budget, if there is one: it and all accounts above it consent, or nothing is charged. `written` is the text
        of the plan, which is stored with the charge, and `coins` says if the noise will be drawn with test coins.

        No other charge can come between the check and the record. Raises `BudgetExceeded` or `LedgerBusy`, with nothing
        spent, and `IncompatiblePromises` for a price that such a budget cannot pay: a random price after the first
        charge, or a random price where the budget has no γ.
        """

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """The charges to one data set, or to all, oldest first."""

    def charged(self, number: int) -> tuple[Entry, Filter]:
        """The entry of this number and the budget right after it, as `charge` returned them, or `LedgerError`."""

    def paid(self, dataset: str, *, price: Promise, question: str) -> list[Entry]:
        """All charges of this price for this question, newest first; none if the data set has no account."""

    def asked(self, dataset: str, *, question: str) -> list[Entry]:
        """All charges for this question, newest first; none if the data set has no account."""

    def plan(self, sha256: str) -> str:
        """The text of a plan that was charged, by its hash; empty if none is stored."""

    def keyed(self, key: str) -> Entry | None:
        """The charge that this user made under a key; None if there is none."""

    def seal(self, entry: int, kind: Sealed, sha256: str) -> None:
        """Record durably the hash of something that was released for an entry; once, if it is recorded again."""

    def seals(self, entry: int | None = None, *, sha256: str | None = None) -> list[Seal]:
        """The seals of one entry, or with one hash, or all, oldest first."""
