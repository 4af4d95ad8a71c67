"""The rows of an answer as text: each number with its error, its interval, and what was left out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sitr.questions.aggregate.bias import Amount
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.functions.quantile import Enclosed
from sitr.questions.aggregate.left_out import LeftOut, left_out
from sitr.questions.aggregate.plan import Shown
from sitr.questions.aggregate.release import Release
from sitr.report.aggregate_bias import notes_of
from sitr.report.column_errors import heading
from sitr.report.figures import CONFIDENCE, AllDigits, DateFigures, Figures, Rounded, about, limit, percent
from sitr.report.forms import forms
from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.words.words import Words, in_words

_BLOCK = 200
"""The number of rows that are written at a time."""


def answer_table(release: Release, left: Sequence[LeftOut], words: Words) -> PaperTable:
    """The rows of an answer: its keys, its numbers with their intervals, and what was left out.

    A terminal shows the intervals of values that were paid for beside an error in ranks; others follow from the errors.
    """
    plan = release.plan
    interval = words.label("95% interval")
    say, query = words.aggregate, plan.query
    pairs = (
        (
            PaperColumn(heading(each.name, plan, words), Role.NUMBER, computed=not each.released),
            PaperColumn(
                interval,
                Role.INTERVAL,
                of=words.interval_of(each.name),
                terminal=isinstance(each.aggregate.formula, Enclosed),
            ),
        )
        for each in plan.columns
    )
    keys = (PaperColumn(key.name, Role.KEY) for key in query.keys)
    lost = (
        PaperColumn(say.left_out(each.why, each.of, query, total=each.total), Role.NUMBER, detail=True) for each in left
    )
    return PaperTable(
        (*keys, *(column for pair in pairs for column in pair), *lost),
        lambda: written(release, words),
        len(release.rows),
        notes=lambda: notes_of(release, words),
    )


def written(release: Release, words: Words | None = None) -> Iterator[tuple[str, ...]]:
    """The rows as text: the key, part by part, and for each column the number with its error, and its interval.

    They are computed block by block, because most readers see the first rows only.
    """
    words = in_words(words)
    columns, every = release.plan.columns, release.rows
    for first in range(0, len(every), _BLOCK):
        keys = every[first : first + _BLOCK]
        places = range(first, first + len(keys))
        shown = [release.estimates(column, confidence=CONFIDENCE, rows=places) for column in columns]
        ranks = [column.ranks(confidence=release.sure(CONFIDENCE)) for column in columns]
        cells = [_cells(column, some, one, words) for column, some, one in zip(columns, shown, ranks, strict=True)]
        lost = [[_percent(share, words) for share in each.shares] for each in left_out(release, rows=places)]
        for key, row, left in zip(
            keys, zip(*cells, strict=True), zip(*lost, strict=True) if lost else _none(keys), strict=True
        ):
            yield (*map(words.aggregate.key, key), *(text for cell in row for text in cell), *left)


def _none(keys: Sequence[object]) -> Iterator[tuple[str, ...]]:
    return (() for _ in keys)


def _percent(share: Amount, words: Words) -> str:
    """A share with its error, or a sentence where the interval is too wide to mean anything."""
    if not share.tells:
        return words.aggregate.too_small()
    return words.numerals(f"{percent(share.value)} ± {percent(share.error)}")


def _cells(column: Shown, shown: Sequence[Estimate], ranks: float | None, words: Words) -> Iterator[tuple[str, str]]:
    """Each number with its error, perhaps in ranks, and its interval."""
    said = None if ranks is None else words.ranks.error(ranks)
    exactly = AllDigits() if column.aggregate.kind is None else DateFigures(column.aggregate.kind)
    each = iter(forms(column, [one for one in shown if one.limited]))
    for one in shown:
        if not one.limited:
            value = words.aggregate.key(None) if one.value is None else words.numerals(f"{about(one.value)} ± ∞")
            yield value, words.interval(limit(one.low, math.floor), limit(one.high, math.ceil))
            continue
        figures = next(each)
        (text, interval), (exact, outer) = (
            (f"{form.value(one)} {said or f'± {form.error(one.error)}'}", words.interval(form.low(one), form.high(one)))
            for form in (figures, exactly)
        )
        yield Rounded(words.numerals(text), exact=words.numerals(exact)), Rounded(interval, exact=outer)


def rounded(column: Shown, limited: Sequence[Estimate]) -> bool:
    """Whether one of these numbers is shown with fewer digits than it has."""
    return any(isinstance(figures, Figures) and figures.rounds for figures in forms(column, limited))
