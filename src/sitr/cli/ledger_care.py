"""`sitr ledger verify`, `backup`, `restore` and `resume`: whether a ledger is whole, and what to do after a bad day."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json, LedgerHere, Place
from sitr.cli.progress import working
from sitr.cli.terminal import Command, console, say_json, table
from sitr.errors import no_ledger
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from rich.table import Table

    from sitr.ledger.examine import Examined
    from sitr.ledger.resume import Resumed
    from sitr.ledger.sql import SqlLedger

SOUND = "Every row is as it was signed, the chain is whole, and it ends where its witness says."
WHOLE = "Every row is as it was signed, and the chain is whole."
ALONE = "This installation has no witness of it, so nobody can say here whether its end was cut off."
BROKEN = "This ledger is not as it was written. Nothing is charged to it until it is restored."


def verify(ledger: LedgerHere, as_json: Json = False) -> None:
    """Find every change that was made to a ledger by hand.

    Each row is compared with its signed record, each record with the next one, and the end with the witness of this
    installation. Ends with 1 if anything was found.

    Example: sitr ledger verify sitr.db
    """
    found_ledger = opened_ledger(ledger)
    with working(f"Reading {ledger}", quiet=as_json):
        found = found_ledger.examine()
    if as_json:
        say_json({"ledger": str(ledger), "sound": found.sound, **_content(found)})
    else:
        _show(found)
    if not found.sound:
        raise typer.Exit(1)


def backup(
    ledger: LedgerHere,
    to: Annotated[Path, typer.Argument(metavar="COPY", help="The file to write.")],
    as_json: Json = False,
) -> None:
    """Copy a ledger while it is in use.

    A copy without the -wal file of a ledger can miss its last charges; this command misses none.

    Example: sitr ledger backup sitr.db sitr-2026-11.db
    """
    from sitr.ledger.resume import back_up

    records = back_up(opened_ledger(ledger), to)
    if as_json:
        say_json({"ledger": str(ledger), "copy": str(to), "records": records})
    else:
        console().print(said(f"{to} is a copy of {ledger} with its records: {records}."), soft_wrap=True)


def restore(
    copy: Annotated[Path, typer.Argument(metavar="COPY", help="The backup.")],
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="Where the ledger was.")],
    as_json: Json = False,
) -> None:
    """Put a backup in the place of a lost ledger.

    What was charged after the backup is known from the witness, and stays spent; without the witness, all budgets in
    the ledger are exhausted.

    Example: sitr ledger restore sitr-2026-11.db sitr.db
    """
    from sitr.ledger.resume import restore as restored

    if not copy.exists():
        raise no_ledger(copy.absolute())
    _tell(ledger, restored(copy, ledger), as_json=as_json)


def resume(ledger: LedgerHere, as_json: Json = False) -> None:
    """Go on with a ledger that lost its end or its witness.

    What the witness remembers counts as spent; without the witness, all budgets in the ledger are exhausted. This is
    recorded in the ledger.

    Example: sitr ledger resume sitr.db
    """
    from sitr.ledger.resume import resume as resumed

    _tell(ledger, resumed(opened_ledger(ledger)), as_json=as_json)


def add_to(app: typer.Typer) -> None:
    """Add the commands to `sitr ledger`."""
    for command in (verify, backup, restore, resume):
        app.command(command.__name__, cls=Command)(command)


def refuse_missing(ledger: Place) -> None:
    """Refuse a file that is not there, before much is loaded."""
    if isinstance(ledger, Path) and ledger.parent.is_dir() and not ledger.exists():
        raise no_ledger(ledger.absolute())


def opened_ledger(ledger: Place) -> SqlLedger:
    """The ledger of a command, which must be there."""
    refuse_missing(ledger)
    from sitr.ledger.sql import SqlLedger  # only now: much slower than to look for a file

    return SqlLedger(ledger, create=False)


def _content(found: Examined) -> dict[str, object]:
    return {
        "id": found.ledger,
        "records": found.records,
        "hash": found.hash,
        "signers": [{"public": public, "records": records} for public, records in found.signers],
        "witnessed": found.witnessed,
        "findings": [asdict(each) | {"fault": each.fault.value} for each in found.findings],
    }


def _show(found: Examined) -> None:
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words

    out = console()
    whole = SOUND if found.witnessed else f"{said(WHOLE)} {said(ALONE)}"
    out.print(said(whole if found.sound else BROKEN), soft_wrap=True)
    if found.findings:
        text.show(_findings(found), out=out)
    told = in_words().verify.records(found.records, len(found.signers), found.hash)
    out.print(told, soft_wrap=True)  # a hash is copied whole


def _findings(found: Examined) -> Table:
    from sitr.report.figures import visible
    from sitr.report.words.words import in_words

    words = in_words()
    grid = table(*map(words.label, ("record", "table", "row", "what is wrong")))
    for each in found.findings:
        number = words.numerals(str(each.record)) if each.record else ""
        grid.add_row(number, each.table, visible(each.row), said(each.fault.value))
    return grid


def _tell(ledger: Place, found: list[Resumed], *, as_json: bool) -> None:
    from sitr.report.envelope import promise_dict
    from sitr.report.figures import visible
    from sitr.report.words.words import in_words

    if as_json:
        lost = [
            {
                "dataset": each.dataset,
                "charged": None if each.price is None else promise_dict(each.price),
                "exhausted": each.exhausted,
                "waiting": each.waiting,
            }
            for each in found
        ]
        say_json({"ledger": str(ledger), "lost": lost})
        return
    words, out = in_words(), console()
    if not found:
        out.print(said("Nothing was charged after the backup."))
    for each in found:
        name = visible(each.dataset)
        if each.waiting:
            out.print(said(f"{name}: waits for its own steward, who runs sitr ledger resume."), soft_wrap=True)
        elif each.price is None:
            out.print(said(f"{name}: nothing was lost."), soft_wrap=True)
        elif each.exhausted:
            out.print(said(f"{name}: all that was left is counted as spent."), soft_wrap=True)
        else:
            out.print(said(f"{name}: {words.notation(each.price)} is counted as spent."), soft_wrap=True)
