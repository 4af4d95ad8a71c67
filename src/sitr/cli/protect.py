"""`sitr protect`: fix what is public about a file before any question is asked."""

from __future__ import annotations

import shlex
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sitr.cli.choices import Choices
from sitr.cli.dialogue import on_terminal
from sitr.cli.grouped import grouped
from sitr.cli.interview import interview
from sitr.cli.options import Json, Place
from sitr.cli.progress import working
from sitr.cli.terminal import console, say_json
from sitr.cli.terminal import table as empty
from sitr.neighbors.unit import Person
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from sitr.dataset.schema import Column, Key, Table
    from sitr.flavors.arrows import Additive, Kept
    from sitr.questions.aggregate.nodes import Query
    from sitr.report.words.words import Words
    from sitr.session.dataset import Unprotected


@grouped
def protect(choices: Choices, as_json: Json = False) -> None:
    """Describe what is public about a data set.

    Units, caps, bounds and keys are public, so they must come from public knowledge, never from the rows. Every value
    is read once, so that none can make a question fail later. The types of a CSV file are detected from its rows, and
    you confirm them with --type or --accept-types. The budget is opened in the ledger; nothing is charged. On a
    terminal and without options, it asks questions like `sitr start`.

    Example: sitr protect visits.parquet --unit patient_id --max-groups 3 --max-rows-per-group 2
    --bounds cost=0:5000 --keys ward=Cardiology,Surgery --budget 'zcdp(0.5)' --ledger sitr.db
    """
    choices.check_target()
    if choices == Choices(choices.source) and on_terminal(as_json=as_json):
        describe(*interview(choices), as_json=as_json)
        return
    found = looked(choices, as_json=as_json)
    choices.check_complete(found)
    describe(choices, found, as_json=as_json)


def looked(choices: Choices, *, as_json: bool) -> Unprotected:
    """The columns of the source, before anything is declared about them."""
    with working(f"Looking at the columns of {choices.shown}", quiet=as_json):
        return choices.look()


def describe(choices: Choices, found: Unprotected, *, as_json: bool) -> None:
    """Check and write the description, open the budget, and show what can be asked."""
    from sitr.ledger.terms import check_pair
    from sitr.report.text import terminal as text

    promised, target, ledger = choices.promised, choices.target, choices.ledger
    check_pair(promised, ledger)
    with working(f"Reading {choices.shown} once", quiet=as_json):
        dataset = choices.protect(found)
    dataset.save(target, promise=promised, ledger=ledger, second_budget=choices.second_budget)
    if as_json:
        say_json(_content(dataset.table, description=target, promised=promised, ledger=ledger))
    else:
        out = console()
        text.show(_columns(dataset.table), out=out)
        for line in _next_steps(dataset.table, target, promised, ledger).split("\n"):
            out.print(line, soft_wrap=line.startswith("  ") or not out.is_terminal)  # commands are copied whole


def _content(table: Table, *, description: Path, promised: Kept | None, ledger: Place | None) -> dict[str, object]:
    """The description as JSON."""
    from sitr.report.envelope import promise_dict

    return {
        "description": str(description),
        "name": table.name,
        "neighbors": table.neighbors(),
        "max_groups": table.max_groups,
        "max_rows_per_group": table.max_rows_per_group,
        "max_rows": table.max_rows,
        "columns": [
            {
                "name": column.name,
                "type": column.kind.value,
                "bounds": [str(end) for end in column.bounds] if column.bounds else None,
                "granularity": None if column.granularity is None else str(column.granularity),
                "keys": None if column.keys is None else [_plain(key) for key in column.keys],
            }
            for column in table.columns
        ],
        "budget": {"promise": promise_dict(promised), "ledger": str(ledger)} if promised is not None else None,
    }


def _columns(described: Table) -> Grid:
    """The columns, and what a question can do with each."""
    from sitr.report.figures import shortened, step, visible
    from sitr.report.summary import type_of
    from sitr.report.words.words import in_words

    words = in_words()
    grid = empty(*map(words.label, ("column", "type", "bounds", "step", "public keys", "can be")))
    for column in described.columns:
        keys = words.comma.join(map(words.aggregate.key, column.keys or ()))
        low, high = (_end(end) for end in column.bounds) if column.bounds else ("", "")
        grid.add_row(
            visible(column.name),
            type_of(column, words),
            words.interval(low, high) if column.quantised else "",
            "" if column.granularity is None else words.numerals(step(column.granularity)),
            shortened(keys, most=40)
            + (words.numerals(f" ({len(column.keys)})") if column.keys and len(keys) > 40 else ""),
            _uses(column, described, words),
        )
    return grid


def _end(end: object) -> str:
    """A bound in a table."""
    from sitr.report.figures import about

    return about(end, digits=15) if isinstance(end, Fraction) else str(end)


def _uses(column: Column, table: Table, words: Words) -> str:
    from sitr.dataset.schema import GROUPABLE, NUMERIC
    from sitr.questions.aggregate.expressions.typed import column_typed

    if isinstance(table.unit, Person) and table.unit.column == column.name:
        return words.label("counted distinct")
    summed = [words.label("summed")] if column.quantised and column.kind in NUMERIC else []
    by = words.label("grouped") if column_typed(column).possible else words.label("grouped with δ")
    return words.comma.join([*summed, *([by] if column.kind in GROUPABLE else [])]) or words.label("counted")


def _next_steps(table: Table, target: Path, promised: Kept | None, ledger: Place | None) -> str:
    from sitr.flavors.notation import write
    from sitr.flavors.random import RandomDP
    from sitr.flavors.uncapped import EXAMPLES
    from sitr.questions.aggregate.nodes import text
    from sitr.report.words.words import in_words

    words = in_words()
    written = f"{words.summary.protects(table)} {said(f'Written to {target}.')}"
    if promised is None:
        return f"{written}\n{said('No budget is set, so give --budget and --ledger with each question.')}"
    inner = cast("Additive", promised.inner) if isinstance(promised, RandomDP) else promised
    first = EXAMPLES[type(inner)] if inner.uncapped else write(inner.share(Fraction(1, 10)))
    asked = [str(target), text(_first_question(table)), "--price", first]
    newcomer = f"\n{warning}" if (warning := words.newcomer(promised)) else ""
    costs = (
        said(f"The budget has no cap, {write(promised)}; the ledger is {ledger}.")
        if promised.uncapped
        else said(f"All answers together may cost {write(promised)}; the ledger is {ledger}.") + newcomer
    )
    commands = (f"  {shlex.join(['sitr', command, *asked])}" for command in ("preview", "ask"))
    return "\n".join((written, f"{costs} {said('See what a first answer costs, then ask for it:')}", *commands))


def _first_question(table: Table) -> Query:
    """A count by the first column with public keys, or of everything: unknown keys might all stay below a threshold."""
    from sitr.questions.aggregate.expressions.expression import Name
    from sitr.questions.aggregate.functions.count import Count
    from sitr.questions.aggregate.nodes import Named, NamedKey, Query

    by = [column.name for column in table.columns if column.keys is not None][:1]
    return Query(table.name, (Named(_free_name(by), Count()),), tuple(NamedKey(name, Name(name)) for name in by))


def _free_name(taken: list[str]) -> str:
    """A name for a count that no column of the answer has."""
    return "n" if "n" not in taken else "rows"


def _plain(key: Key) -> str | int | bool | None:
    return key.isoformat() if isinstance(key, date) else key
