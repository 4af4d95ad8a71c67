"""The rows of an answer as text, the same in every report."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from sitr.questions.aggregate.release import Release
from sitr.report.figures import Figures
from sitr.report.words.english.english import ENGLISH


@dataclass(frozen=True, slots=True)
class Cell:
    """One number, its error and its interval."""

    value: str
    error: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Row:
    """A key, part by part, and its numbers."""

    key: tuple[str, ...]
    cells: tuple[Cell, ...]


def rows(release: Release, *, most: int | None = None) -> list[Row]:
    """All rows of the answer, or its first `most` rows."""
    figures = [Figures.of(column) for column in release.plan.columns]
    return [
        Row(tuple(map(ENGLISH.key, key)), tuple(_cell(*pair) for pair in zip(figures, granules, strict=True)))
        for key, granules in islice(zip(release.keys, release.granules, strict=True), most)
    ]


def _cell(figures: Figures, granules: int) -> Cell:
    return Cell(figures.value(granules), figures.error(), figures.low(granules), figures.high(granules))
