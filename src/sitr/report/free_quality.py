"""What a page says about synthetic rows for free: how they fit the noisy tables, if they are valid, and their use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sitr.questions.synthetic.agreement import Agreement, agreement
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.validity import Checked
from sitr.report.chart.agreement import heat
from sitr.report.figures import visible
from sitr.report.level import Level
from sitr.report.paper import PaperColumn, PaperTable, Section
from sitr.report.words.words import Words, in_words


def free_sections(
    portrait: Portrait, rows: Codes, checked: tuple[Checked, ...], *, words: Words | None = None
) -> list[Section]:
    """The sections of a page about these rows."""
    words = in_words(words)
    say, found = words.synthetic, agreement(portrait, rows)
    fits = list(_fits(found, words))
    columns = _headings(words, "tables", "mean score", "lowest", "of", "noise alone")
    sections = [
        Section(
            "How closely the rows follow the noisy tables",
            sentences=say.agreement(found),
            table=PaperTable(columns, lambda: fits, len(fits)),
            picture=heat(found, portrait.plan.sheet.names, words=words),
            level=Level.RESULT,
        )
    ]
    if checked:
        listed = list(_listed(checked, len(rows), words))
        heads = _headings(words, "demand", "columns", "kept in")
        table = PaperTable(heads, lambda: listed, len(listed))
        sections.append(Section("Whether the rows are valid", table=table, level=Level.RESULT))
    return [
        *sections,
        Section("What the rows can be used for", items=say.uses(), level=Level.RESULT),
        Section("What the rows cannot carry", items=say.limits(portrait.plan), level=Level.RESULT),
        Section("What the promise means for a person", sentences=say.person(), level=Level.RESULT),
    ]


def free_content(found: Agreement, checked: tuple[Checked, ...]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "fit": {
            "score": found.score,
            "tables": [
                {"columns": list(each.columns), "distance": each.found, "score": each.score, "noise": each.noise}
                for each in found.tables
            ],
            "people": [
                {"columns": list(each.columns), "distance": each.found, "score": each.score, "noise": each.noise}
                for each in found.people
            ],
        },
        "validity": [
            {"demand": each.demand.value, "columns": list(each.columns), "broken": each.broken} for each in checked
        ],
    }


def _headings(words: Words, *names: str) -> tuple[PaperColumn, ...]:
    return tuple(PaperColumn(words.label(name)) for name in names)


def _fits(found: Agreement, words: Words) -> Iterator[tuple[str, ...]]:
    for name, tables in words.synthetic.fits(found):
        if tables:
            worst = min(tables, key=lambda each: each.score)
            mean = sum(each.score for each in tables) / len(tables)
            noise = 1 - sum(each.noise for each in tables) / len(tables) / 2
            scores = [words.numerals(f"{100 * score:.1f}") for score in (mean, worst.score, noise)]
            yield name, scores[0], scores[1], words.synthetic.between(worst.columns), scores[2]


def _listed(checked: tuple[Checked, ...], rows: int, words: Words) -> Iterator[tuple[str, ...]]:
    for each in checked:
        names = ", ".join(visible(name) for name in each.columns)
        yield words.synthetic.demand(each), names, words.synthetic.valid(each.broken, rows)
