"""`sitr ledger show` and `sitr ledger answers`: the budgets, the charges and the kept answers of a ledger."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli import ledger_care, ledger_digest, ledger_export, ledger_shares
from sitr.cli.ledger_care import refuse_missing
from sitr.cli.ledger_content import content_of, entry_content
from sitr.cli.options import Json, LedgerHere
from sitr.cli.terminal import Command, Group, console, help_alone, say_json, table
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from rich.table import Table

    from sitr.accounting.filter import Filter
    from sitr.ledger.entry import Account, Entry

app = typer.Typer(cls=Group, help="Inspect a ledger.")
app.callback(invoke_without_command=True)(help_alone)
ledger_care.add_to(app)
ledger_shares.add_to(app)
ledger_export.add_to(app)
ledger_digest.add_to(app)


@app.command("show", cls=Command)
def show(
    ledger: LedgerHere,
    dataset: Annotated[str | None, typer.Option(help="The data set in the ledger.")] = None,
    as_json: Json = False,
) -> None:
    """Show all budgets, what is left of them, and all charges.

    Example: sitr ledger show sitr.db
    """
    refuse_missing(ledger)
    from sitr.ledger import steward  # only now: much slower than to look for a file
    from sitr.ledger.sql import SqlLedger
    from sitr.report.figures import visible
    from sitr.report.standing import notes
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words
    from sitr.session.in_advance import all_in_advance

    kept = SqlLedger(ledger, create=False)
    accounts = kept.accounts() if dataset is None else [kept.account(dataset)]
    standings = [(account, kept.check(account.dataset)) for account in accounts]
    entries = kept.entries(dataset)
    divided = {each.dataset: steward.tree(kept, each.dataset) for each in accounts if kept.divided(each.dataset)}
    fixed = all_in_advance(kept, [account.dataset for account in accounts])
    if as_json:
        say_json(content_of(str(ledger), standings, entries, divided, fixed))
        return
    out = console()
    text.show(_accounts(standings), out=out)
    for found in divided.values():
        if found.shares:
            out.print()
            text.show(ledger_shares.shares_table(found), out=out)
            for note in ledger_shares.notes(found):
                out.print(note, soft_wrap=True)
    for account, budget in standings:
        if newcomer := in_words().newcomer(budget.promise):
            text.show(f"\n{visible(account.dataset)}: {newcomer} {said(CLOSED if budget.charges else OPEN)}", out=out)
        for note in notes(budget, fixed.get(account.dataset), in_words()):
            text.show(f"\n{visible(account.dataset)}: {note}", out=out)
    out.print()
    text.show(_entries(entries) if entries else said("No question has been asked yet."), out=out)


@app.command("answers", cls=Command)
def answers(
    ledger: LedgerHere,
    dataset: Annotated[str | None, typer.Option(help="The data set in the ledger.")] = None,
    as_json: Json = False,
) -> None:
    """List the answers that are kept beside a ledger.

    Each is private, a test (made with test coins), or changed (and never shown). See one with sitr show.

    Example: sitr ledger answers sitr.db
    """
    from sitr.ledger.sql import SqlLedger
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words
    from sitr.session.shelf import listed

    found = listed(SqlLedger(ledger, create=False), dataset)
    if as_json:
        kept = [entry_content(each.entry) | {"state": each.state.value} for each in found]
        say_json({"ledger": str(ledger), "answers": kept})
        return
    states = [in_words().label(each.state.value) for each in found]
    shown = _entries([each.entry for each in found], states) if found else said("No answer is kept.")
    text.show(shown, out=console())


OPEN = "Only the first charge may be random, with mechanisms fixed in advance."
CLOSED = "No further charge may be random, because only the first one may."


def _accounts(standings: list[tuple[Account, Filter]]) -> Table:
    from sitr.report.figures import visible
    from sitr.report.words.words import in_words

    words = in_words()
    grid = table(*map(words.label, ("data set", "protects each", "promise", "spent", "left")), "")
    for account, budget in standings:
        promised, left = words.notation(budget.promise), words.notation(budget.remaining(), left=True)
        who, spent = words.protects(account.neighbors), words.notation(budget.spent())
        grid.add_row(visible(account.dataset), who, promised, spent, left, _bar(budget))
    return grid


def _entries(entries: list[Entry], states: list[str] | None = None) -> Table:
    from sitr.report.figures import visible
    from sitr.report.words.words import in_words

    words = in_words()
    headings = map(words.label, ("entry", "time (UTC)", "who", "data set", "question", "price"))
    grid = table(*headings, *([words.label("kept")] if states else []))
    for place, entry in enumerate(entries):
        time = f"{entry.at:%Y-%m-%d %H:%M:%S}"
        texts = (visible(entry.by), visible(entry.account), words.question(entry.question))
        grid.add_row(
            words.numerals(str(entry.number)),
            words.numerals(time),
            *texts,
            words.notation(entry.price),
            *(states[place : place + 1] if states else []),
        )
    return grid


def _bar(budget: Filter) -> str:
    """The spent share of the scarcest parameter, rounded up; the bar is full only if all of it is spent.

    γ does not count: when it is spent, other answers can still be bought. A budget without a cap has no bar.
    """
    from sitr.report.words.notation import parameters
    from sitr.report.words.words import in_words

    if budget.promise.uncapped:
        return ""
    spent, promised = parameters(budget.spent()), parameters(budget.promise)
    share = max((spent[name] / whole for name, whole in promised.items() if whole and name != "γ"), default=Fraction(1))
    full = math.floor(10 * share)
    return "█" * full + "░" * (10 - full) + in_words().numerals(f" {math.ceil(100 * share)}%")
