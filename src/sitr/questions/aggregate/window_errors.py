"""The errors of columns with windows before a release, where all keys are public and HAVING leaves all rows."""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.operators import RANKS, Over


def rows_of_window(query: BoundedQuery, over: Over) -> int | None:
    """The number of rows in each window: those of the public keys that it is not within; None if it is not known."""
    if query.cells is None or query.after.having is not None:
        return None
    return query.cells // math.prod(len(key.keys or ()) for key in query.keys if key.of.expression in over.within)


def rank_error(over: Over, rows: int) -> Fraction | None:
    """How far a rank can be off, whatever the numbers are: it is between 1 and the number of rows; None of a total."""
    return Fraction(rows - 1) if over.called in RANKS else None
