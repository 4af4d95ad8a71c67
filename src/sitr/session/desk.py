"""Where questions are asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from sitr.dataclass import dataclass
from sitr.dataset.publication import Publication
from sitr.dataset.schema import Table
from sitr.errors import DescriptionError, QuestionError
from sitr.ledger.entry import DIRECT, Warrant
from sitr.ledger.ledger import Ledger

if TYPE_CHECKING:
    from sitr.backends.backend import Backend
    from sitr.session.public import Source

VARIABLE = "SITR_KEEP_ANSWERS"
"""Set to "no", it turns the keeping of answers off, for all budgets of a process."""


def keeping() -> bool:
    """Whether the environment allows answers to be kept."""
    found = os.environ.get(VARIABLE, "yes").strip().lower()
    if found not in ("yes", "no"):
        raise DescriptionError(
            wanted=f"yes or no in {VARIABLE}",
            given=repr(os.environ[VARIABLE]),
            do="Correct the variable or unset it; nothing was spent.",
        )
    return found == "yes"


class Elsewhere(Protocol):
    """A server that has the rows and the ledger, and a door of its own."""

    def ask(self, question: Any, plan: Any, *, price: Any, warrant: Warrant, fresh: bool) -> tuple[Any, Any]:
        """What the server released for this question, and its receipt. It is charged there, once."""

    def propose(self, question: Any, plan: Any, *, price: Any, reason: str, days: int) -> Any:
        """The request for somebody else to approve this question, as it is in the ledger of the server."""


def check_kind(given: object, kinds: type | tuple[type, ...], *, wanted: str, do: str) -> None:
    """Refuse something of another kind where a question is made."""
    if not isinstance(given, kinds):
        raise QuestionError(wanted=wanted, given=f"{given!r}", do=do)


@dataclass(frozen=True, slots=True)
class Desk:
    """A described table, the backend that holds its rows, and its account in a ledger."""

    table: Table
    rows: Callable[[], Backend] = field(repr=False)
    """Opens the backend. A preview never does."""
    ledger: Ledger
    account: str
    """The name of the data set in the ledger."""
    source: str = ""
    """The file of rows by name, and how its lines are read if it is CSV; both are public. Empty for rows in memory."""
    keep: bool = True
    """Whether answers are kept beside the ledger, and returned when the same question is asked again."""
    publication: Publication = field(default=Publication(), compare=False)
    """Who publishes the answers, for their certificates."""
    beside: tuple[Desk, ...] = ()
    """Other protected tables that the question joins; their accounts are charged too."""
    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)
    """The public tables that the question joins, by name."""
    warrant: Warrant = DIRECT
    """The sub-budget that pays, and by whose leave."""
    elsewhere: Elsewhere | None = field(default=None, repr=False, compare=False)
    """The server that charges and reads, if the data set is not here."""

    @property
    def backend(self) -> Backend:
        """The backend that holds the rows."""
        return self.rows()
