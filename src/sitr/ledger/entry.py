"""What a ledger remembers: budgets, and the charges made to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sitr.flavors.arrows import Kept


@dataclass(frozen=True, slots=True)
class Account:
    """One budget: what is promised for a data set, and to whom.

    `neighbors` says in plain words who is protected, such as "person (patient_id), add-remove": the same numbers
    mean less for a row than for a person, so a budget is never continued under another reading.
    """

    dataset: str
    promise: Kept
    neighbors: str
    opened: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """One charge: its price in the flavor of the budget, for which question, when (UTC), by whom, with which Sitr.

    To a budget with a γ, a price that is not random is in the flavor inside it.

    Entries are numbered 1, 2, 3, … through the whole ledger, in the order in which they became durable.
    """

    number: int
    dataset: str
    price: Kept
    question: str
    at: datetime
    by: str
    version: str
