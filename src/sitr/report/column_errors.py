"""The error of a column in words, before and after a release."""

from __future__ import annotations

from collections.abc import Sequence

from sitr.questions.aggregate.functions.function import End, Estimate
from sitr.questions.aggregate.plan import AggregatePlan, Shown
from sitr.report.figures import CONFIDENCE, AllDigits, Figures, Rounded
from sitr.report.words.words import Words

ROWS = 1_000
"""The number of rows for which reports give an error that depends on it."""


def heading(name: str, plan: AggregatePlan, words: Words) -> str:
    """The name of a column. If its bias is not measured, this is said wherever its errors are shown."""
    return words.aggregate.unmeasured(name) if plan.query.unmeasured else name


def error_of(column: Shown, plan: AggregatePlan, words: Words, *, cells: int | None = None) -> str:
    """The largest error of a column, before any row is read; where it depends on the number of rows, for how many."""
    sure, draws = plan.sure(CONFIDENCE, cells=cells), plan.other_draws
    if (ranks := column.ranks(confidence=sure)) is not None:
        return words.ranks.error(ranks)
    if not column.depends_on_rows:
        return _plus_minus(column.width(sure, draws=draws), column, words)
    found = column.width(sure, rows=ROWS, draws=draws)
    if isinstance(found, float) or found == column.width(sure, draws=draws):
        return words.aggregate.unlimited()
    return words.aggregate.at_rows(_plus_minus(found, column, words), ROWS)


def largest_error(
    column: Shown, shown: Sequence[Estimate], plan: AggregatePlan, words: Words, *, cells: int | None = None
) -> str:
    """The largest error of a column in an answer with this many cells."""
    if column.aggregate.ranked or not shown:
        return error_of(column, plan, words, cells=cells)
    return _plus_minus(max(one.error for one in shown), column, words)


def _plus_minus(width: End, column: Shown, words: Words) -> str:
    if isinstance(width, float):
        return "± ∞"
    figures = Figures.fitting(width, step=column.aggregate.step)
    short, exact = (words.numerals(f"± {form.error(width)}") for form in (figures, AllDigits()))
    return Rounded(short, exact=exact)


def error_sentence(plan: AggregatePlan, words: Words, *, cells: int | None, before: bool = False) -> str:
    """What the errors mean: of numbers with noise, of quantiles, or of both; perhaps `before` a release."""
    say, ranked = words.aggregate, [column.aggregate.ranked for column in plan.columns]
    noisy = say.together(cells) if plan.query.after.by_noise else say.error()
    other = say.other_error() if before and plan.other_draws > 1 else ""
    own = () if all(ranked) and not plan.query.after.by_noise else (noisy, other)
    return " ".join(filter(None, (*own, words.ranks.meaning() if any(ranked) else "")))
