"""Where questions are asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitr.backends.backend import Backend
from sitr.dataset.publication import Publication
from sitr.dataset.schema import Table
from sitr.ledger.ledger import Ledger


def account_name(table: Table) -> str:
    """The name of a data set in the ledger. Questions ignore case, so budgets must too."""
    return table.name.casefold()


@dataclass(frozen=True, slots=True)
class Desk:
    """A described table, the backend that holds its rows, and its account in a ledger."""

    table: Table
    backend: Backend
    ledger: Ledger
    account: str
    """The name of the data set in the ledger."""
    publication: Publication = field(default=Publication(), compare=False)
    """Who publishes the answers, for their certificates."""
