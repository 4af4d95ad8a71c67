"""What every ledger can do, wherever it is kept."""

from __future__ import annotations

from typing import Protocol

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.ledger.entry import Account, Entry


class Ledger(Protocol):
    """Budgets by data set, and the charges made to them: both only ever grow.

    Charge before touch: data are read only after `charge` has returned. A crash in between loses budget, never privacy.
    """

    def open(self, dataset: str, *, promise: Kept, neighbors: str) -> Account:
        """The account of this data set, made if there is none; `LedgerMismatch` if it was opened on other terms."""

    def account(self, dataset: str) -> Account:
        """The account of this data set, or `LedgerError`."""

    def accounts(self) -> list[Account]:
        """All accounts, by name."""

    def standing(self, dataset: str) -> Filter:
        """What is promised and spent at this moment: a snapshot, and no consent to anything."""

    def check(self, dataset: str) -> Filter:
        """The same, added up again from all entries; `LedgerError` if the running sum says something else."""

    def charge(self, dataset: str, *, price: Promise, question: str) -> tuple[Entry, Filter]:
        """Consent, record and make durable, as one; returns the entry and the budget right after it.

        The filter is asked on the state at this moment, and nobody can charge between its consent and the record.
        Raises `BudgetExceeded` or `LedgerBusy` with nothing spent, and `IncompatiblePromises` for a price that no such
        budget pays: a random one after the first charge, or without a γ in the budget.
        """

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """The charges to one data set, or to all, in the order in which they were made."""
