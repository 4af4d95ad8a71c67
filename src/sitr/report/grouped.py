"""The table of a question with CUBE, ROLLUP or GROUPING SETS: one row for each cell of each grouping."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.tables.grouping import GroupedTables
from sitr.report.figures import AllDigits, Figures, Rounded, visible
from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.words.words import Words

ALL = AllDigits()


def table(publication: GroupedTables, words: Words) -> PaperTable:
    """Its keys, its marks, and its numbers with their intervals."""
    plan = publication.plan
    columns = [PaperColumn(visible(key.name), Role.KEY) for key in plan.query.keys]
    columns += [PaperColumn(visible(mark.name), Role.KEY) for mark in plan.query.query.marks]
    for measure in plan.measures:
        name = visible(measure.name)
        columns += [
            PaperColumn(
                words.aggregate.unmeasured(name) if plan.records.query.unmeasured else name,
                Role.NUMBER,
                computed=not measure.adds_up,
            ),
            PaperColumn(words.label("95% interval"), Role.INTERVAL, of=name),
        ]
    return PaperTable(tuple(columns), lambda: _rows(publication, words), publication.table().num_rows)


def _rows(publication: GroupedTables, words: Words) -> Iterator[tuple[str, ...]]:
    plan = publication.plan
    for (node, _, row), shown in zip(publication.rows, publication.intervals().to_pylist(), strict=True):
        grouped = {column for column, _ in node}
        said = [
            words.aggregate.key(row[key.name]) if place in grouped else words.tables.every()
            for place, key in enumerate(plan.query.keys)
        ]
        said += [words.numerals(str(row[mark.name])) for mark in plan.query.query.marks]
        for measure in plan.measures:
            value, low, high = (shown[f"{measure.name}{end}"] for end in ("", "_low", "_high"))
            one = Estimate(None if value is None else Fraction(repr(value)), Fraction(low), Fraction(high))
            step = None if measure.ends is not None else plan.step(measure)
            wide = max(Fraction(one.high) - Fraction(one.low), Fraction(1, 10**9))
            said += _number(one, Figures.fitting(wide / 2, step=step), words)
        yield tuple(said)


def _number(one: Estimate, own: Figures, words: Words) -> list[str]:
    written = []
    for form in (own, ALL):
        value = "–" if one.value is None else words.numerals(f"{form.value(one)} ± {form.error(one.error)}")
        written.append((value, words.interval(form.low(one), form.high(one))))
    short, full = written
    return [Rounded(part, exact=whole) for part, whole in zip(short, full, strict=True)]
