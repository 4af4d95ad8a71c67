"""The writing of the numbers of a column: with two digits of their error, or as dates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.plan import Shown
from sitr.report.figures import DateFigures, Figures


def forms(column: Shown, shown: Sequence[Estimate]) -> Sequence[Figures | DateFigures]:
    """How the numbers of a column are written: a quantile with all digits that it can have, whatever its interval."""
    step, kind = column.aggregate.step, column.aggregate.kind
    if kind is not None:
        return [DateFigures(kind)] * len(shown)
    if column.aggregate.ranked:
        return [Figures.fitting(Fraction(0), step=step)] * len(shown)
    return [Figures.fitting(one.error, step=step) for one in shown if isinstance(one.error, Fraction)]
