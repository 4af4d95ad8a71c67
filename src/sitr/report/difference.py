"""How two answers differ: each number of one minus the same number of the other, with an interval. Free.

Each of the two intervals holds with probability 1 − α/2, so both hold together with probability 1 − α, whatever the two
noises have to do with each other. Then the exact difference lies between the smallest and the largest that they allow.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sitr.errors import InvalidUse
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.other import RowKey
from sitr.questions.aggregate.plan import Shown
from sitr.questions.aggregate.release import Release
from sitr.report.figures import CONFIDENCE, limit
from sitr.report.forms import forms
from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.words.words import Words, in_words

EACH = 1 - (1 - Fraction(CONFIDENCE)) / 2
"""The confidence of each of both intervals."""


def minus(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two numbers, and all differences that their intervals allow.

    >>> a, b = (Estimate(Fraction(x), Fraction(x - e), Fraction(x + e)) for x, e in ((10, 2), (4, 1)))
    >>> found = minus(a, b)
    >>> str(found.value), str(found.low), str(found.high)
    ('6', '3', '9')
    """
    value = None if one.value is None or other.value is None else one.value - other.value
    return Estimate(value, one.low - other.high, one.high - other.low)


def comparable(one: Release, other: Release) -> list[tuple[Shown, Shown]]:
    """The columns of numbers that both answers have under the same name, if both are grouped by the same keys."""
    names = [tuple(key.name for key in each.plan.query.keys) for each in (one, other)]
    there = {column.name: column for column in other.plan.columns}
    found = [(column, there[column.name]) for column in one.plan.columns if column.name in there]
    found = [pair for pair in found if all(not each.aggregate.ranked and each.aggregate.kind is None for each in pair)]
    return found if names[0] == names[1] else []


def difference_table(one: Release, other: Release, *, words: Words | None = None) -> PaperTable:
    """A row for each key that both answers have: both numbers, and their difference with its error."""
    words, columns = in_words(words), comparable(one, other)
    if not columns:
        raise InvalidUse(
            given="These answers have no column of numbers in common, or are grouped differently.",
            do="Compare answers with the same keys and the same names of columns.",
        )
    headings = [PaperColumn(key.name, Role.KEY) for key in one.plan.query.keys]
    for column, _ in columns:
        headings += [PaperColumn(each, Role.NUMBER) for each in words.server.differences(column.name)]
    common = [key for key in one.rows if key in set(other.rows)]
    return PaperTable(tuple(headings), lambda: _rows(one, other, columns, common, words), len(common))


def _rows(
    one: Release, other: Release, columns: list[tuple[Shown, Shown]], common: list[RowKey], words: Words
) -> Iterable[tuple[str, ...]]:
    cells: list[list[tuple[str, str, str]]] = []
    for here, there in columns:
        first = dict(zip(one.rows, one.estimates(here, confidence=EACH), strict=True))
        second = dict(zip(other.rows, other.estimates(there, confidence=EACH), strict=True))
        cells.append(
            [
                (
                    _written(first[key], here, words),
                    _written(second[key], there, words),
                    _written(minus(first[key], second[key]), here, words),
                )
                for key in common
            ]
        )
    for place, key in enumerate(common):
        yield (*map(words.aggregate.key, key), *(text for column in cells for text in column[place]))


def _written(one: Estimate, column: Shown, words: Words) -> str:
    if one.value is None:
        return words.aggregate.key(None)
    if not one.bounded:
        return words.numerals(f"{limit(one.value, round)} ± ∞")
    [form] = forms(column, [one])
    assert isinstance(one.error, Fraction)
    return words.numerals(f"{form.value(one)} ± {form.error(one.error)}")
