"""`sitr refuse`: decide about a request that somebody else made."""

from __future__ import annotations

from typing import Annotated

import typer

from sitr.cli.ledger_care import opened_ledger
from sitr.cli.options import Json, LedgerHere
from sitr.cli.queue import show


def refuse(
    ledger: LedgerHere,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the request; see sitr queue.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    as_json: Json = False,
) -> None:
    """Refuse a request that somebody else made.

    It cannot be asked. The decision is recorded in the ledger and is never revised.

    Example: sitr refuse sitr.db 7
    """
    from sitr.ledger.approval import refuse as decided

    show([decided(opened_ledger(ledger), number, reason=reason)], as_json=as_json)
