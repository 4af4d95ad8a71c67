"""`sitr.connect`: a budget on a server."""

from __future__ import annotations

import os
from typing import NoReturn

from sitr.backends.backend import Backend
from sitr.client.books import ServerLedger
from sitr.client.call import FarCall
from sitr.client.connection import TIMEOUT, ServerConnection, no_server, part
from sitr.client.far import FarBudget
from sitr.dataset.schema import Table
from sitr.errors import InvalidUse, LedgerError, printable
from sitr.ledger.sql import sitr_version
from sitr.session.budget import Budget
from sitr.session.desk import Desk
from sitr.session.kept import UNREADABLE
from sitr.session.plain import built

VARIABLE = "SITR_TOKEN"
"""The environment variable with the token, if none is given."""


def connect(address: str, *, token: str | None = None, dataset: str | None = None, timeout: float = TIMEOUT) -> Budget:
    """The budget of a data set on a server, used like any other.

    `budget = sitr.connect("https://sitr.hospital.example", token=…)`; then `budget.sql(…).preview(rho=0.01)` is made
    here, from the public description, and `budget.ask(…, rho=0.01)` is charged and answered there. Answers are the same
    objects as those of a budget here. Without a `token`, the variable SITR_TOKEN has it. `dataset` can be left out if
    you see only one.
    """
    connection = ServerConnection.to(
        address, token=os.environ.get(VARIABLE, "") if token is None else token, timeout=timeout
    )
    name = _only(connection) if dataset is None else dataset.casefold()
    terms = connection.get(f"/datasets/{part(name)}/terms")
    if not isinstance(terms, dict) or terms.get("version") != sitr_version():
        theirs = printable(str(terms.get("version"))) if isinstance(terms, dict) else None
        raise LedgerError(
            given=f"The server runs version {theirs} of Sitr, and this is {sitr_version()}.",
            do="Install the same version; nothing was sent.",
        )
    table = _table(terms)
    books = ServerLedger(connection, name, table.account, table.neighbors())
    desk = Desk(table, _nowhere, books, table.account, keep=False, elsewhere=FarCall(books))
    return FarBudget(desk)


def _only(connection: ServerConnection) -> str:
    """The name of the data set, if there is only one."""
    found = connection.get("/datasets")
    try:
        names = [printable(str(each["name"])) for each in found]
    except (TypeError, KeyError):
        raise no_server() from None
    if len(names) == 1:
        return names[0]
    if names:
        raise InvalidUse(
            given=f"The server has several data sets: {', '.join(names)}.", do="Name one of them with dataset=…."
        )
    raise LedgerError(given="You have no role in any data set of this server.", do="Ask a steward for one.")


def _table(terms: dict[str, object]) -> Table:
    try:
        found = built(terms["table"])
    except UNREADABLE:
        found = None
    if not isinstance(found, Table):
        raise no_server()
    return found


def _nowhere() -> Backend:
    _refuse()


def _refuse() -> NoReturn:
    raise LedgerError(
        given="The rows of this data set are on its server, and stay there.",
        do="Ask questions that need no rows on this machine.",
    )
