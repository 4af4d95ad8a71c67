"""The kept answers of a ledger, shown again without the data set and without a charge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from sitr.errors import FileError
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.report.papers import can_be_shown
from sitr.session.kept import UNREADABLE, KeptAnswer, changed, find, opened
from sitr.session.plain import built


class State(Enum):
    """What became of an answer."""

    PRIVATE = "private"
    TEST = "test"
    """Made with test coins, so it protects nobody."""
    CHANGED = "changed"
    """The file was changed or is damaged, and is not shown."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A kept answer."""

    entry: Entry
    state: State


def listed(ledger: Ledger, dataset: str | None = None) -> list[Listed]:
    """The kept answers of one data set, or of all, oldest first.

    Entries whose answers were deleted, never kept, or kept by another version of Sitr are left out.
    """
    found: list[Listed] = []
    for entry in ledger.entries(dataset):
        try:
            kept = find(ledger, entry)
        except FileError:
            found.append(Listed(entry, State.CHANGED))
            continue
        if kept is not None:
            found.append(Listed(entry, State.PRIVATE if kept.private else State.TEST))
    return found


def taken(ledger: Ledger, number: int) -> tuple[Any, Receipt]:
    """What was released for an entry, and its receipt, from the ledger and the file alone.

    Synthetic rows are drawn from a model that is fitted again, so they need the data set; and the mechanism of a
    statistic may be a function of your own, which no file holds.
    """
    entry, _ = ledger.charged(number)
    kept = find(ledger, entry)
    if kept is None:
        raise FileError(
            given=f"No answer of entry {number} is kept by this version of Sitr.",
            do="Run sitr ledger answers to see what is kept.",
        )
    plan = _paid(kept, ledger)
    released, receipt = opened(kept, plan, ledger=ledger) if plan is not None else (None, None)
    if receipt is None or not can_be_shown(released):
        raise FileError(
            given=f"Entry {number} is not an answer that can be shown from the ledger alone.",
            do="Ask the same question again at the same price: that costs nothing for synthetic rows, but a statistic "
            "with a function of your own is charged."
            if receipt is None
            else "Repeat the same request for synthetic rows at the same price: that costs nothing.",
        )
    return released, receipt


def _paid(kept: KeptAnswer, ledger: Ledger) -> Plan | None:
    """The plan in a file, if the entry paid for it; None if the file holds none."""
    if kept.content["plan"] is None:
        return None
    try:
        plan = built(kept.content["plan"])
        if kept.entry in ledger.paid(kept.entry.dataset, price=plan.price, question=plan.text):
            return cast("Plan", plan)
    except UNREADABLE:
        pass
    raise changed(kept)
