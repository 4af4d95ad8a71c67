"""What a ledger stores: budgets, and the charges to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sitr.flavors.arrows import Kept


@dataclass(frozen=True, slots=True)
class Account:
    """One budget: the promise for a data set, and who is protected.

    `neighbors` says in words who is protected, such as "person (patient_id), add-remove". The same numbers mean less
    for a row than for a person, so a budget is never continued with other neighbors.
    """

    dataset: str
    promise: Kept
    neighbors: str
    opened: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """One charge: its price in the flavor of the budget, the question, the time (UTC), the user and the Sitr version.

    If the budget is a random promise, a price that is not random has the flavor inside that promise.

    Entries are numbered 1, 2, 3, … over the whole ledger, in the order in which they became durable.
    """

    number: int
    dataset: str
    price: Kept
    question: str
    at: datetime
    by: str
    version: str
