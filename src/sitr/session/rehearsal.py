"""A ledger for previews: a whole budget that nothing was spent of, and that no charge is accepted for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sitr.accounting.filter import Filter
from sitr.errors import LedgerError
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.ledger.entry import Account, Entry


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A `Ledger` that remembers nothing, so that it refuses every charge: no answer can come of it.

    >>> from sitr.flavors.pure import PureDP
    >>> Rehearsal(PureDP(0.5)).standing("visits").remaining()
    PureDP(epsilon=0.5)
    """

    promise: Kept

    def open(self, dataset: str, *, promise: Kept, neighbors: str) -> Account:
        """An account on these terms."""
        return Account(dataset, promise, neighbors, datetime.now(UTC))

    def account(self, dataset: str) -> Account:
        """Refused: there are none."""
        raise _refused(dataset)

    def accounts(self) -> list[Account]:
        """None."""
        return []

    def standing(self, dataset: str) -> Filter:  # noqa: ARG002 - the same for every data set
        """The whole budget."""
        return Filter(self.promise)

    def check(self, dataset: str) -> Filter:
        """The whole budget: there are no entries to add up."""
        return self.standing(dataset)

    def charge(self, dataset: str, *, price: Promise, question: str) -> tuple[Entry, Filter]:  # noqa: ARG002
        """Refused, always."""
        raise _refused(dataset)

    def entries(self, dataset: str | None = None) -> list[Entry]:  # noqa: ARG002
        """None."""
        return []


def _refused(dataset: str) -> LedgerError:
    return LedgerError(
        wanted="A charge needs a ledger that remembers it.",
        given=f"The budget of {dataset} is a rehearsal, for previews only.",
        do="Open the budget with a ledger; nothing was spent and no data were read.",
    )
