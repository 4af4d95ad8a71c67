"""`sitr approve`: decide about a request that somebody else made."""

from __future__ import annotations

from typing import Annotated

import typer

from sitr.cli.far import far
from sitr.cli.ledger_care import opened_ledger
from sitr.cli.options import Json, LedgerHere
from sitr.cli.queue import show
from sitr.cli.terminal import console
from sitr.report.words.messages import said


def approve(
    ledger: LedgerHere,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the request; see sitr queue.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    as_json: Json = False,
) -> None:
    """Approve a request that somebody else made.

    It can then be asked, once, with --request NUMBER, until it expires. The decision is recorded in the ledger and is
    never revised. With --server, name the data set in place of the ledger.

    Example: sitr approve sitr.db 7
    """
    from sitr.ledger.approval import approve as decided
    from sitr.report.figures import visible

    there = far(ledger)
    if there is None:
        found = decided(opened_ledger(ledger), number, reason=reason)
    else:
        found = there.approve(number, reason=reason)
    show([found], as_json=as_json)
    if not as_json:
        who, until = visible(found.by), f"{found.expires:%Y-%m-%d}"
        told = said(f"{who} can now ask it once, with sitr ask and --request {number}, until {until}.")
        console().print(told, soft_wrap=True)
