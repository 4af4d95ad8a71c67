"""What a ledger has recorded, as a schedule: the same value that all composition theorems look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sitr.accounting.schedule import Part, Schedule
from sitr.errors import LedgerError
from sitr.ledger.entry import Entry


def recorded(entries: Iterable[Entry]) -> Schedule:
    """Each question at each price is a step: its recorded price, and how often it was paid.

    A schedule is fixed in advance, which a ledger's releases are not: only theorems that stay valid when parameters are
    chosen adaptively speak of them truly. The charges must be those of one data set, or nobody would know to whom the
    total is promised.

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
            wanted="The charges to one data set were wanted.",
            given=f"There are charges to {', '.join(datasets)}." if datasets else "Nothing has been charged yet.",
            do="Choose one of these data sets." if datasets else "Ask a question first.",
        )
    paid = Counter((entry.price, entry.question) for entry in charges)
    return Schedule(tuple(Part((price,), times, question) for (price, question), times in paid.items()))
