"""`sitr ledger export` and `plot`: a ledger without its database, and a picture of what was spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.ledger_care import opened_ledger
from sitr.cli.ledger_content import content_of
from sitr.cli.options import Json, LedgerHere, check_file
from sitr.cli.progress import working
from sitr.cli.terminal import Command, console, say_json
from sitr.errors import BadUsage, FileError
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from sitr.accounting.filter import Filter
    from sitr.ledger.entry import Account
    from sitr.ledger.sql import SqlLedger


def export(
    ledger: LedgerHere,
    to: Annotated[
        Path | None, typer.Argument(metavar="TO", help="A .json file, or a new folder for CSV files.")
    ] = None,
    head: Annotated[
        Path | None, typer.Option(help="Write the signed head to a .json file: hashes only, no questions.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a whole ledger to files, for an auditor without the database.

    The export has every budget, act, charge and seal, and every record with its hash and signature. sitr verify reads
    it in place of the ledger, and so does sitr_check.py, which needs nothing of Sitr. It names all questions. The head
    names none: publish it, and everybody can verify certificates with it.

    Example: sitr ledger export sitr.db books.json --head head.json
    """
    if to is None and head is None:
        raise BadUsage(
            wanted="a file or folder to write to, or --head", given="neither", do="Name one, such as books.json."
        )
    for path, name in ((to, "TO"), (head, "--head")):
        if path is not None:
            _new(path, name, folder=name == "TO")
    from sitr.ledger.export import export as exported
    from sitr.ledger.export import write_json, write_tables

    books = opened_ledger(ledger)
    with working(f"Reading {ledger}", quiet=as_json):
        content, written = exported(books), list[Path]()
        if to is not None and to.suffix == ".json":
            write_json(_shown(books) | content, to)
            written.append(to)
        elif to is not None:
            written += write_tables(content, to)
        if head is not None:
            write_json(content["head"], head)
            written.append(head)
    if as_json:
        say_json({"ledger": str(ledger), "records": len(content["records"]), "files": list(map(str, written))})
    else:
        console().print(said(f"Written: {', '.join(map(str, written))}"), soft_wrap=True)


def plot(
    ledger: LedgerHere,
    to: Annotated[Path, typer.Argument(metavar="TO", help="The file to write: .svg for the chart, .html for a page.")],
    dataset: Annotated[str | None, typer.Option(help="The data set in the ledger.")] = None,
    as_json: Json = False,
) -> None:
    """Draw what was spent: over time, by account and by flavor.

    Example: sitr ledger plot sitr.db spending.html
    """
    check_file(to, "TO", (".svg", ".html"))
    from sitr.report.chart.spending import chart
    from sitr.report.chart.svg import standalone
    from sitr.report.page.spending import spending_page

    books = opened_ledger(ledger)
    with working("Drawing", quiet=as_json):
        standings, entries = _standings(books, dataset), books.entries(dataset)
        if to.suffix == ".html":
            drawn = spending_page(_name(books), standings, entries)
        else:
            drawn = standalone(chart([account for account, _ in standings], entries))
    to.write_text(drawn, encoding="utf-8")
    if as_json:
        say_json({"ledger": str(ledger), "file": str(to)})
    else:
        console().print(said(f"Written: {to}"), soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    """Add the commands to `sitr ledger`."""
    for command in (export, plot):
        app.command(command.__name__, cls=Command)(command)


def _standings(books: SqlLedger, dataset: str | None = None) -> list[tuple[Account, Filter]]:
    accounts = books.accounts() if dataset is None else [books.account(dataset)]
    return [(account, books.check(account.dataset)) for account in accounts]


def _shown(books: SqlLedger) -> dict[str, object]:
    """What sitr ledger show says as JSON."""
    from sitr.ledger import steward
    from sitr.session.in_advance import all_in_advance

    names = [account.dataset for account in books.accounts()]
    divided = {name: steward.tree(books, name) for name in names if books.divided(name)}
    return content_of(_name(books), _standings(books), books.entries(), divided, all_in_advance(books, names))


def _name(books: SqlLedger) -> str:
    return books.place.name if isinstance(books.place, Path) else books.place


def _new(path: Path, name: str, *, folder: bool) -> None:
    """Refuse a place where something is already, or that cannot be written."""
    if path.suffix or not folder:
        check_file(path, name, (".json",))
    if path.exists():
        raise FileError(given=f"{path} is there already.", do="Name a new file.")
