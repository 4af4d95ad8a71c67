"""`sitr queue`: the requests in a ledger, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from sitr.cli.far import far
from sitr.cli.ledger_care import opened_ledger
from sitr.cli.options import Json, LedgerHere
from sitr.cli.terminal import console, say_json
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitr.flavors.arrows import Kept
    from sitr.ledger.proposals import Proposal
    from sitr.report.paper import Facts


def queue(
    ledger: LedgerHere,
    dataset: Annotated[str | None, typer.Option(help="The data set in the ledger.")] = None,
    as_json: Json = False,
) -> None:
    """List the requests in a ledger, and what became of them.

    A request is asked, approved, refused, expired or answered. Decide with sitr approve or sitr refuse.

    With --server, name the data set in place of the ledger.

    Example: sitr queue sitr.db
    """
    from sitr.ledger.approval import queue as queued

    there = far(ledger, dataset)
    show(queued(opened_ledger(ledger), dataset) if there is None else there.queue(), as_json=as_json)


def show(found: Sequence[Proposal], *, as_json: bool) -> None:
    """Print requests."""
    from rich.console import Group
    from rich.text import Text

    from sitr.report.text import terminal as text

    if as_json:
        say_json({"requests": [content(each) for each in found]})
        return
    if not found:
        console().print(said("There is no request."))
        return
    first, *others = (text.facts(_facts(each)) for each in found)
    text.show(Group(first, *(part for each in others for part in (Text(), each))), out=console())


def _facts(found: Proposal) -> Facts:
    """A request, one fact below the other: who decides about it must see all of them, on every terminal."""
    from sitr.flavors.notation import parse
    from sitr.report.figures import at_most, visible
    from sitr.report.words.words import in_words

    words = in_words()
    errors = ", ".join(f"{visible(name)} ± {at_most(error, digits=2)}" for name, error in found.errors.items())
    facts = {
        "request": words.numerals(str(found.number)),
        "status": words.label(found.status.value),
        "who": visible(found.by),
        "account": visible(found.account),
        "question": words.question(found.question),
        "price": words.notation(cast("Kept", parse(found.price))),
        "would be left": words.notation(cast("Kept", parse(found.left)), left=True),
        "errors": words.numerals(errors),
        "reason": visible(found.reason),
    }
    return tuple((name, fact) for name, fact in facts.items() if fact)


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
