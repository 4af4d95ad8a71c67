"""Windows over released rows: SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC).

They see the released rows of an answer, never the rows of people, and cost nothing beyond the aggregates inside. The
window of a row has all rows that HAVING leaves, or those with the same values of some keys. How they are computed, and
with which intervals, is in `sitr.questions.aggregate.windows`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Expression, spelled
from sitr.questions.aggregate.functions.function import BoundAggregate
from sitr.questions.aggregate.functions.operators import Over, OverRows


def windows_of(column: BoundAggregate) -> tuple[Over, ...]:
    """The windows in a column, with the names of the description; () if it has none."""
    found = column.formula.windows if isinstance(column.formula, OverRows) else ()
    return tuple(each for each, _ in found)


def check_windows(columns: Sequence[BoundAggregate], keys: Sequence[Expression]) -> None:
    """Refuse a window within anything but keys of the question."""
    for window in (each for column in columns for each in windows_of(column)):
        for part in window.within:
            if part not in keys:
                raise QuestionError(
                    given=f"PARTITION BY {spelled(part)} is not among the keys of the question.",
                    do="List it in GROUP BY, or leave it out.",
                )
