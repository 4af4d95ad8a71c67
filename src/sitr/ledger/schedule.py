"""The charges in a ledger as a schedule, to which composition theorems apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sitr.accounting.schedule import Part, Schedule
from sitr.errors import LedgerError
from sitr.ledger.entry import Entry


def recorded(entries: Iterable[Entry]) -> Schedule:
    """Each question at each price is one part: its price, and how often it was paid.

    A schedule is fixed in advance, but the releases in a ledger are not. So only theorems that hold for adaptively
    chosen parameters apply to them. All charges must belong to one data set, because the total is promised to its
    people.

    >>> from datetime import UTC, datetime
    >>> from sitr.flavors.pure import PureDP
    >>> entry = Entry(1, "clinic", PureDP(0.1), "SELECT COUNT(*) FROM clinic", datetime.now(UTC), "amal", "0.1.0")
    >>> recorded([entry, entry])
    Schedule(parts=(Part(promises=(PureDP(epsilon=0.1),), times=2, name='SELECT COUNT(*) FROM clinic'),))
    """
    charges = list(entries)
    datasets = sorted({entry.dataset for entry in charges})
    if len(datasets) != 1:
        raise LedgerError(
            wanted="the charges to one data set",
            given=f"charges to {', '.join(datasets)}" if datasets else "no charges",
            do="Choose one of these data sets." if datasets else "Ask a question first.",
        )
    paid = Counter((entry.price, entry.question) for entry in charges)
    return Schedule(tuple(Part((price,), times, question) for (price, question), times in paid.items()))
