"""What a ledger stores: budgets, the charges to them, and seals of what was released for each charge."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from sitr.dataclass import dataclass
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
class Link:
    """Another charge that was made together with one, for the same question."""

    dataset: str
    number: int
    ledger: str = ""
    """The path of its ledger, from the folder of this one; empty if it is the same ledger."""


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
    beside: tuple[Link, ...] = ()
    """The charges to other data sets for the same question, which joins them."""
    plan: str = ""
    """The SHA-256 of the plan; empty if the plan has no text."""
    description: str = ""
    """The SHA-256 of the public description, which says what the plan was made for."""
    hash: str = ""
    """The hash of its record in the chain of the ledger."""
    second: bool = False
    """Whether the same rows have another budget elsewhere: then each person is promised the sum of both."""
    share: str = ""
    """The path of the sub-budget that it was charged to, such as team/ana; empty if it was the budget itself."""
    request: int = 0
    """The number of the request that it answers; 0 if nobody had to approve it."""
    coins: str = ""
    """"test coins" if the noise was drawn with them, and so protects nobody; empty for private coins."""

    @property
    def account(self) -> str:
        """The account that was charged, such as clinic/ana."""
        return f"{self.dataset}/{self.share}" if self.share else self.dataset


@dataclass(frozen=True, slots=True)
class Warrant:
    """On which sub-budget a charge is made, and by whose leave."""

    share: str = ""
    """The path of the sub-budget, such as team/ana; empty for the budget itself."""
    request: int = 0
    """The number of the approved request; 0 if there is none."""
    key: str = ""
    """The user's key for this charge, by which it can be repeated without paying twice; empty if there is none."""


DIRECT = Warrant()
"""A charge to the budget itself, without anybody's leave."""


class Sealed(Enum):
    """What can be sealed."""

    ANSWER = "answer"
    CERTIFICATE = "certificate"


@dataclass(frozen=True, slots=True)
class Seal:
    """The SHA-256 of something that was released for an entry, recorded before it is shown.

    Whoever holds a file can compute its hash and find out if it is what was released. An entry may have several seals:
    an answer in two stages has one for each, and every certificate file has its own. An entry without a seal is a
    charge whose answer never became durable; it stays spent.
    """

    entry: int
    kind: Sealed
    sha256: str
    at: datetime
