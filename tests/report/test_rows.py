"""Rows are written part by part, in the order of the release."""

from __future__ import annotations

from sitr.questions.aggregate.release import Release
from sitr.report.figures import Figures
from sitr.report.rows import Cell, rows


def test_every_row_is_there(answer: Release) -> None:
    written = rows(answer)
    assert len(written) == len(answer.keys)
    assert all(len(row.key) == len(answer.plan.query.keys) for row in written)
    figures = [Figures.of(column) for column in answer.plan.columns]
    for row, granules in zip(written, answer.granules, strict=True):
        for cell, shown, value in zip(row.cells, figures, granules, strict=True):
            assert cell == Cell(shown.value(value), shown.error(), shown.low(value), shown.high(value))


def test_the_first_rows(make) -> None:
    assert rows(make("many"), most=3) == rows(make("many"))[:3]
