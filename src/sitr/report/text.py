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
from sitr.questions.aggregate.fit import Plan
from sitr.questions.aggregate.nodes import spell, text
from sitr.report.certificate import Certificate, after_paying
from sitr.report.english import ENGLISH
from sitr.report.figures import Figures, about, visible
from sitr.report.headline import Headline, of_answer
from sitr.report.rows import rows
from sitr.report.words import Protects, notation

MOST_ROWS = 50
"""How many rows a text shows unless it must hold them all."""


def preview(plan: Plan, budget: Filter) -> RenderableType:
    """What a question would cost and how precise its answer would be; `budget` is the filter as it stands."""
    table = _table()
    for heading in ("column", "what", "noise"):
        table.add_column(heading)
    for heading in (f"one {ENGLISH.unit(plan.query)} moves it by", "95% error"):
        table.add_column(heading, justify="right")
    for column in plan.columns:
        name, what = visible(column.term.name), visible(spell(column.term.spelled))
        moved = about(column.distance.largest * column.granularity)
        law = ENGLISH.noise(column.noise, granularity=column.granularity)
        # Text, not str: a name in square brackets is a name, not markup.
        table.add_row(*map(Text, (name, what, law, moved, f"± {Figures.of(column).error()}")))
    after = after_paying(plan, budget)
    newcomer = ENGLISH.newcomer(budget.promise)
    left = notation(after.remaining(), left=True) if after else "the budget cannot pay this"
    return Group(
        Text(visible(text(plan.query.query)), style="italic"),
        table,
        facts(
            ("price", notation(plan.price)),
            *promised(of_answer(plan), plan.query),
            ("keys", ENGLISH.shown_keys(plan)),
            ("caps", ENGLISH.contribution(plan.query)),
            ("outright", ENGLISH.exposure(plan)),
            ("error", ENGLISH.error()),
            ("left now", notation(budget.remaining(), left=True)),
            ("left then", left),
            *([("random", newcomer)] if newcomer else ()),
        ),
    )


def answer(certificate: Certificate, *, most: int | None = MOST_ROWS) -> RenderableType:
    """The numbers with their errors, what they promise and what they cost; without `most`, all of the numbers."""
    release, plan = certificate.release, certificate.release.plan
    table = _table()
    for key in plan.query.keys:
        table.add_column(Text(visible(key.name)))
    for column in plan.columns:
        table.add_column(Text(visible(column.term.name)), justify="right")
    shown = rows(release, most=most)
    for row in shown:
        table.add_row(*map(Text, row.key), *(Text(f"{cell.value} ± {cell.error}") for cell in row.cells))
    cut = (Text(ENGLISH.more(len(shown), len(release.keys))),) if len(shown) < len(release.keys) else ()
    band = () if release.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    newcomer = ENGLISH.newcomer(certificate.budget.promise)
    return Group(
        *band,
        table if release.keys else Text(ENGLISH.empty(plan)),
        *cut,
        facts(
            *promised(of_answer(plan), plan.query),
            ("outright", ENGLISH.exposure(plan)),
            ("error", ENGLISH.error()),
            ("charged", notation(certificate.charge())),
            (
                "left",
                f"{notation(certificate.budget.remaining(), left=True)} of {notation(certificate.budget.promise)}",
            ),
            *([("random", newcomer)] if newcomer else ()),
            ("entry", f"{certificate.entry}, {visible(certificate.dataset)}, {certificate.at:%Y-%m-%d %H:%M:%S} UTC"),
        ),
    )


def promised(headline: Headline, query: Protects) -> tuple[tuple[str, str], ...]:
    """What is promised, the same in every report: in its own flavor, as (ε, δ), in words, and for the odds."""
    promise, odds = cast("Kept", headline.promise), ENGLISH.odds(headline, query)
    return (
        ("promise", f"{notation(promise)}, {ENGLISH.flavor(promise)}"),
        ("as (ε, δ)", ENGLISH.headline(headline)),
        ("meaning", ENGLISH.meaning(headline, query)),
        *([("odds", odds)] if odds else ()),
    )


def show(renderable: RenderableType, *, out: Console) -> None:
    """On a terminal as it is; into a file or a pipe without the spaces that fill up lines."""
    if out.is_terminal:
        out.print(renderable)
    else:
        with out.capture() as held:
            out.print(renderable)
        out.print(Text("\n".join(line.rstrip() for line in held.get().splitlines())), soft_wrap=True)


def as_text(renderable: RenderableType, *, width: int = 100) -> str:
    """Plain text without colours, for `str(…)` and logs.

    In a notebook rich would display the text and leave the file empty, unless it is told not to.

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
    """Names and sentences, one below the other."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, sentence in facts:
        table.add_row(Text(name), Text(sentence))
    return table
