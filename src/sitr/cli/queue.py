"""`sitr queue`: the requests in a ledger, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.ledger_care import opened_ledger
from sitr.cli.options import Json, LedgerHere
from sitr.cli.terminal import console, say_json, table
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitr.ledger.proposals import Proposal


def queue(
    ledger: LedgerHere,
    dataset: Annotated[str | None, typer.Option(help="The data set in the ledger.")] = None,
    as_json: Json = False,
) -> None:
    """List the requests in a ledger, and what became of them.

    A request is asked, approved, refused, expired or answered. Decide with sitr approve or sitr refuse.

    Example: sitr queue sitr.db
    """
    from sitr.ledger.approval import queue as queued

    show(queued(opened_ledger(ledger), dataset), as_json=as_json)


def show(found: Sequence[Proposal], *, as_json: bool) -> None:
    """Print requests."""
    from sitr.report.figures import visible
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words

    if as_json:
        say_json({"requests": [content(each) for each in found]})
        return
    if not found:
        console().print(said("There is no request."))
        return
    words = in_words()
    grid = table(
        *map(words.label, ("request", "who", "account", "question", "price")),
        *map(words.label, ("errors", "would be left", "reason", "status")),
    )
    for each in found:
        errors = ", ".join(f"{visible(name)} ±{error:.3g}" for name, error in each.errors.items())
        grid.add_row(
            words.numerals(str(each.number)),
            visible(each.by),
            visible(each.account),
            words.question(each.question),
            each.price,
            words.numerals(errors),
            each.left,
            visible(each.reason),
            words.label(each.status.value),
        )
    text.show(grid, out=console())


def content(found: Proposal) -> dict[str, object]:
    """A request as JSON."""
    return {
        "number": found.number,
        "account": found.account,
        "by": found.by,
        "at": found.at.isoformat(),
        "expires": found.expires.isoformat(),
        "question": found.question,
        "price": found.price,
        "errors": dict(found.errors),
        "left": found.left,
        "reason": found.reason,
        "status": found.status.value,
        "decided_by": found.decided_by or None,
        "why": found.why or None,
        "entry": found.entry or None,
        "plan": found.plan,
    }
