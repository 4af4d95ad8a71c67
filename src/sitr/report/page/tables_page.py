"""A publication as one static page: its tables, which can be sorted, a chart of each, and what was promised.

The page needs no network and no other file. Its only script sorts tables; the page allows it by its hash and no other,
and without scripts everything is there, in the order of the cells.
"""

from __future__ import annotations

from base64 import b64encode
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from sitr.dataclass import dataclass
from sitr.dataset.publication import Publication
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.tables.marked import marked
from sitr.questions.tables.measures import Measure
from sitr.questions.tables.publication import PublishedTables, shown_measure
from sitr.questions.tables.quality import WITHHELD, QualityRule
from sitr.questions.tables.workload import Node
from sitr.report.chart.tables import chart, labelled
from sitr.report.figures import CONFIDENCE, Figures, visible
from sitr.report.page import html
from sitr.report.paper import Paper
from sitr.report.words.words import Words

MOST_DRAWN = 15
"""The most bars of the chart of a table."""


@dataclass(frozen=True, slots=True)
class PageCell:
    """What a cell of a table shows, and by what it is sorted: a number, or nothing for a text or an empty cell."""

    text: str
    sorted_by: str = ""
    soft: str = ""


@dataclass(frozen=True, slots=True)
class PageTable:
    """One table on the page."""

    anchor: str
    name: str
    keys: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[PageCell, ...]], ...]
    """For each row its labels and its other cells."""
    picture: str


def page(
    publication: PublishedTables,
    *,
    rule: QualityRule,
    withhold: bool,
    paper: Paper,
    who: Publication,
    certificate: str = "",
) -> str:
    """The page; it links to the `certificate` if its address is given."""
    words, plan = paper.words, publication.plan
    assert paper.query is not None and paper.receipt is not None
    tables = [
        _table(publication, node, f"table-{number}", words, rule=rule, withhold=withhold)
        for number, node in enumerate(plan.workload.tables, start=1)
    ]
    notes = (
        words.tables.adds_up(plan),
        words.tables.intervals(plan),
        words.tables.marks(rule, withhold=withhold),
        words.aggregate.bias(plan.records.query),
        *((words.tables.rounded(),) if plan.whole else ()),
    )
    return html.written(
        "tables.html",
        paper=paper,
        words=words,
        tables=tables,
        notes=notes,
        certificate=certificate,
        script=script(),
        allowed=b64encode(sha256(script().encode()).digest()).decode(),
        **html.head(paper, who, paper.query, paper.receipt),
    )


@cache
def script() -> str:
    """The script that sorts tables."""
    return files("sitr.report.page").joinpath("templates", "sort.js").read_text(encoding="utf-8")


def _table(
    publication: PublishedTables, node: Node, anchor: str, words: Words, *, rule: QualityRule, withhold: bool
) -> PageTable:
    plan, say = publication.plan, words.tables
    found = marked(publication, node, rule=rule, withhold=withhold)
    named = labelled(publication, node, words)
    columns = [_cells(publication, measure, node, found, words) for measure in plan.measures]
    rows = tuple((cell, tuple(part for each in columns for part in each[place])) for place, cell in enumerate(named))
    headings = [
        heading
        for measure in plan.measures
        for heading in (say.measure(measure), f"{words.label('95% interval')}: {say.measure(measure)}", say.mark())
    ]
    first = shown_measure(plan)
    hidden = [withhold and mark == WITHHELD for mark in found[f"{first.name}_mark"]]
    return PageTable(
        anchor,
        say.name(plan.workload, node),
        tuple(map(visible, plan.workload.names(node))),
        tuple(headings),
        rows,
        chart(publication, words=words, node=node, hidden=hidden, most=MOST_DRAWN),
    )


def _cells(
    publication: PublishedTables, measure: Measure, node: Node, found: dict[str, list[Any]], words: Words
) -> list[tuple[PageCell, PageCell, PageCell]]:
    """For each cell of a table the number, its interval and its mark."""
    plan, made = publication.plan, []
    step = None if measure.ends is not None else plan.step(measure)
    small = found.get(f"{measure.name}_small", [False] * plan.workload.cells(node))
    parts = (found[f"{measure.name}{end}"] for end in ("", "_low", "_high", "_mark"))
    for value, low, high, mark, few in zip(*parts, small, strict=True):
        if value is None:
            dash = PageCell(words.tables.withheld() if mark == WITHHELD else "–")
            made.append((dash, PageCell("–"), PageCell(mark)))
            continue
        one = Estimate(Fraction(repr(value)), Fraction(low), Fraction(high))
        wide = max(Fraction(high) - Fraction(low), Fraction(1, 10**9)) / 2
        far = Fraction(plan.error(measure, node, confidence=CONFIDENCE)) if step is not None else wide
        form = Figures.fitting(far, step=step)
        ends = words.interval(form.low(one), form.high(one))
        note = f"({words.tables.few()})" if few else ""
        made.append(
            (PageCell(words.numerals(form.value(one)), repr(value), note), PageCell(ends, repr(low)), PageCell(mark))
        )
    return made
