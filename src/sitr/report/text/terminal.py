"""Previews and answers on a terminal, and as plain text."""

from __future__ import annotations

from io import StringIO
from typing import cast

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.questions.aggregate.fit import AggregatePlan
from sitr.questions.aggregate.nodes import spell
from sitr.questions.aggregate.release import Release
from sitr.report.envelope import after_paying
from sitr.report.figures import Figures, about, visible
from sitr.report.headline import Headline
from sitr.report.headline import headline as headline_of
from sitr.report.rows import rows
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation
from sitr.report.words.words import Protects

MOST_ROWS = 50
"""The most rows that a text shows, unless it must show all of them."""


def preview(plan: AggregatePlan, budget: Filter) -> RenderableType:
    """The price of a question and the errors of its answer; `budget` is the budget now."""
    table = _table()
    for heading in ("column", "what", "noise"):
        table.add_column(heading)
    for heading in (f"one {ENGLISH.unit(plan.query)} moves it by", "95% error"):
        table.add_column(heading, justify="right")
    for column in plan.columns:
        name, what = visible(column.term.name), visible(spell(column.term.spelled))
        moved = about(column.distance.largest * column.granularity)
        law = ENGLISH.noise(column.noise, granularity=column.granularity)
        # Text, not str: rich would read a name in square brackets as markup.
        table.add_row(*map(Text, (name, what, law, moved, f"± {Figures.of(column).error()}")))
    newcomer = ENGLISH.newcomer(budget.promise)
    return Group(
        Text(visible(plan.text), style="italic"),
        table,
        facts(
            ("price", notation(plan.price)),
            *promised(headline_of(plan), plan.query),
            ("keys", ENGLISH.shown_keys(plan)),
            ("caps", ENGLISH.contribution(plan.query)),
            ("outright", ENGLISH.exposure(plan)),
            ("error", ENGLISH.error()),
            *left(plan, budget),
            *([("random", newcomer)] if newcomer else ()),
        ),
    )


def answer(release: Release, receipt: Receipt, *, most: int | None = MOST_ROWS) -> RenderableType:
    """The numbers with their errors, their promise and their cost; all rows if `most` is None."""
    plan = release.plan
    table = _table()
    for key in plan.query.keys:
        table.add_column(Text(visible(key.name)))
    for column in plan.columns:
        table.add_column(Text(visible(column.term.name)), justify="right")
    shown = rows(release, most=most)
    for row in shown:
        table.add_row(*map(Text, row.key), *(Text(f"{cell.value} ± {cell.error}") for cell in row.cells))
    cut = (Text(ENGLISH.more(len(shown), len(release.keys))),) if len(shown) < len(release.keys) else ()
    band = () if receipt.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    newcomer = ENGLISH.newcomer(receipt.standing.promise)
    return Group(
        *band,
        table if release.keys else Text(ENGLISH.empty(plan)),
        *cut,
        facts(
            *promised(headline_of(plan), plan.query),
            ("outright", ENGLISH.exposure(plan)),
            ("error", ENGLISH.error()),
            ("charged", notation(receipt.entry.price)),
            *([("random", newcomer)] if newcomer else ()),
            *entry(receipt),
        ),
    )


def entry(receipt: Receipt) -> tuple[tuple[str, str], ...]:
    """What is left of the budget, and the ledger entry of the charge."""
    standing, charge = receipt.standing, receipt.entry
    return (
        ("left", f"{notation(standing.remaining(), left=True)} of {notation(standing.promise)}"),
        ("entry", f"{charge.number}, {visible(receipt.dataset)}, {charge.at:%Y-%m-%d %H:%M:%S} UTC"),
    )


def left(plan: Plan, standing: Filter) -> tuple[tuple[str, str], ...]:
    """What is left of the budget before and after this plan is paid."""
    after = after_paying(plan, standing)
    then = notation(after.remaining(), left=True) if after else "the budget cannot pay this"
    return (("left now", notation(standing.remaining(), left=True)), ("left then", then))


def promised(headline: Headline, query: Protects) -> tuple[tuple[str, str], ...]:
    """The promise as every report states it: in its own flavor, as (ε, δ), in words, and for the odds."""
    promise, odds = cast("Kept", headline.promise), ENGLISH.odds(headline, query)
    return (
        ("promise", f"{notation(promise)}, {ENGLISH.flavor(promise)}"),
        ("as (ε, δ)", ENGLISH.headline(headline)),
        ("meaning", ENGLISH.meaning(headline, query)),
        *([("odds", odds)] if odds else ()),
    )


def show(renderable: RenderableType, *, out: Console) -> None:
    """Print to a terminal as it is, and to a file or a pipe without trailing spaces."""
    if out.is_terminal:
        out.print(renderable)
    else:
        with out.capture() as held:
            out.print(renderable)
        out.print(Text("\n".join(line.rstrip() for line in held.get().splitlines())), soft_wrap=True)


def as_text(renderable: RenderableType, *, width: int = 100) -> str:
    """Plain text without colours, for `str(…)` and logs.

    `force_jupyter=False`: in a notebook, rich would otherwise display the text and leave the file empty.

    >>> as_text(Text("left", style="bold red"))
    'left'
    """
    file = StringIO()
    out = Console(file=file, width=width, color_system=None, force_terminal=False, force_jupyter=False, highlight=False)
    show(renderable, out=out)
    return file.getvalue().strip("\n")


def _table() -> Table:
    return Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)


def facts(*facts: tuple[str, str]) -> Table:
    """Labelled sentences, one below the other."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, sentence in facts:
        table.add_row(Text(name), Text(sentence))
    return table
