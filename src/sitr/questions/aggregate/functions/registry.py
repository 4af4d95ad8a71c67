"""All aggregate functions by their names in SQL."""

from __future__ import annotations

from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.person_sum import PersonSum
from sitr.questions.aggregate.functions.sum import Sum

FUNCTIONS: dict[str, type[Aggregate]] = {each.function: each for each in (Count, Sum, PersonSum)}


def written(*names: str) -> str:
    """How these functions can be written, or all of them.

    >>> written()
    'COUNT(*), COUNT(column), COUNT(DISTINCT unit), SUM(column) or SUM_PER_PERSON(column, low, high)'
    """
    *most, last = (form for name in names or FUNCTIONS for form in FUNCTIONS[name].forms)
    return f"{', '.join(most)} or {last}" if most else last
