"""All aggregate functions by their names in SQL."""

from __future__ import annotations

from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.extremes import Maximum, Minimum
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.histogram import Histogram
from sitr.questions.aggregate.functions.person_sum import PersonSum
from sitr.questions.aggregate.functions.quantile import ApproxQuantiles, Median, Quantile
from sitr.questions.aggregate.functions.sum import Sum

FUNCTIONS: dict[str, type[Aggregate]] = {
    each.function: each
    for each in (Count, Sum, PersonSum, Minimum, Maximum, Median, Quantile, ApproxQuantiles, Histogram)
}
OTHER_NAMES: dict[str, type[Aggregate]] = dict.fromkeys(
    (
        *("QUANTILE_CONT", "QUANTILE_DISC", "PERCENTILE_CONT", "PERCENTILE_DISC"),
        *("APPROX_QUANTILE", "APPROX_PERCENTILE", "PERCENTILE"),
    ),
    Quantile,
)
"""The names of other databases. Their ways to place a quantile between two values differ by less than a rank."""


def function_of(name: str) -> type[Aggregate] | None:
    """The aggregate function of this name."""
    return FUNCTIONS.get(name) or OTHER_NAMES.get(name)


def written(*names: str) -> str:
    """How these functions can be written, or all of them.

    >>> written("COUNT", "SUM")
    'COUNT(*), COUNT(column), COUNT(DISTINCT column) or SUM(column)'
    """
    *most, last = (form for name in names or FUNCTIONS for form in FUNCTIONS[name].forms)
    return f"{', '.join(most)} or {last}" if most else last
