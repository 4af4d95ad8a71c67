"""One question, several accounts: all of them are charged, or none.

All ledgers are locked for writing, always in the same order, so that nobody else can charge them and nobody waits for
ever. Then every budget is asked, and only if all consent, the entries are written and committed. Accounts in one ledger
are charged by one transaction: all or none, whatever happens. Several ledgers are committed one after the
other. If the machine stops between two commits, or the disk is full, the first charge stays spent and there is no
answer: budget is lost, privacy is not. No answer is possible without all charges.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded, LedgerError
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.ledger.book import Page, writing
from sitr.ledger.database import Connection
from sitr.ledger.entry import DIRECT, Entry, Link, Warrant
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger

Charge = tuple[Entry, Filter]
"""An entry, and the budget after it."""


def charge_together(
    accounts: Sequence[tuple[Ledger, str]],
    *,
    price: Promise,
    question: str,
    plan: str = "",
    description: str = "",
    warrants: Sequence[Warrant] = (),
    written: str = "",
    coins: str = "",
) -> list[Charge]:
    """Charge a price to data sets in ledgers, to all or to none; the entries name each other.

    A single account is charged as ever. Everything that `Ledger.charge` raises can be raised, with nothing spent.
    """
    by = warrants or [DIRECT for _ in accounts]
    asked: dict[str, Any] = {"question": question, "plan": plan, "description": description}
    asked |= {"written": written, "coins": coins}
    if len(accounts) == 1:
        ((ledger, dataset),) = accounts
        return [ledger.charge(dataset, price=price, warrant=by[0], **asked)]
    for ledger, dataset in accounts:  # so that no file is made for a price that one of them cannot pay
        _consents(dataset, ledger.standing(dataset), price)
    files = [_file(ledger, price) for ledger, _ in accounts]
    locks = _each_once(files)
    with ExitStack() as stack:
        open_ones = {lock.identity(): stack.enter_context(writing(lock._file)) for lock in locks}
        pages = [open_ones[file.identity()] for file in files]
        connections = [page.connection for page in pages]
        for (_, dataset), file, connection in zip(accounts, files, connections, strict=True):
            _consents(dataset, file._filter(connection, file._account(connection, dataset)), price)
        links = _links([dataset for _, dataset in accounts], files, connections)
        return [
            file._charge(
                page,
                dataset,
                price=price,
                beside=_others(links, pages, files, place),
                warrant=by[place],
                **asked,
            )
            for place, ((_, dataset), file, page) in enumerate(zip(accounts, files, pages, strict=True))
        ]


def _consents(dataset: str, budget: Filter, price: Promise) -> None:
    """Refuse a price that one of the budgets cannot pay, and say which."""
    try:
        budget.consent(price)
    except BudgetExceeded:
        left, whole = write(budget.remaining()), write(budget.promise)
        raise BudgetExceeded(
            wanted=f"a price within the {left} of {whole} that is left of the budget of {dataset}",
            given=write(budget.charge(price)),
            do="Pay less, or ask without this table; nothing was spent from any budget and no data were read.",
        ) from None


def _file(ledger: Ledger, price: Promise) -> SqlLedger:
    if isinstance(ledger, LazyLedger):
        return ledger.made(price)
    if isinstance(ledger, SqlLedger):
        return ledger
    raise LedgerError(
        given=f"A ledger of type {type(ledger).__name__} cannot be charged together with another.",
        do="Keep the budgets of tables that are joined in SQLite files or on PostgreSQL; nothing was spent.",
    )


def _each_once(ledgers: Sequence[SqlLedger]) -> list[SqlLedger]:
    """Each ledger once, in an order which is the same for all programs."""
    found = {ledger.identity(): ledger for ledger in reversed(ledgers)}
    return [found[place] for place in sorted(found)]


def _links(datasets: Sequence[str], files: Sequence[SqlLedger], connections: Sequence[Connection]) -> list[Link]:
    """The numbers that the entries will have: the next ones of each ledger, which is locked."""
    found: list[Link] = []
    for place, (dataset, connection) in enumerate(zip(datasets, connections, strict=True)):
        last = connection.execute("SELECT coalesce(max(number), 0) AS last FROM entries").fetchone()["last"]
        before = sum(earlier is connection for earlier in connections[:place])
        found.append(Link(dataset, last + 1 + before, str(files[place].place)))
    return found


def _others(links: Sequence[Link], pages: Sequence[Page], files: Sequence[SqlLedger], place: int) -> tuple[Link, ...]:
    """The entries beside one, with the places of their ledgers as seen from its own."""
    return tuple(
        Link(link.dataset, link.number, "" if pages[other] is pages[place] else _seen(files[other], files[place]))
        for other, link in enumerate(links)
        if other != place
    )


def _seen(ledger: SqlLedger, here: SqlLedger) -> str:
    """The path of a file from the folder of another; otherwise the whole path or address, which has no password."""
    both = isinstance(ledger.place, Path) and isinstance(here.place, Path)
    return os.path.relpath(ledger.path, here.path.parent) if both else str(ledger.place)
