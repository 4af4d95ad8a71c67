"""All aggregate functions by their names in SQL."""

from __future__ import annotations

from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.count_if import CountIf
from sitr.questions.aggregate.functions.covariance import Correlation, Covariance, PopulationCovariance
from sitr.questions.aggregate.functions.extremes import Maximum, Minimum
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.histogram import Histogram
from sitr.questions.aggregate.functions.mean import Mean
from sitr.questions.aggregate.functions.person_sum import PersonSum
from sitr.questions.aggregate.functions.quantile import ApproxQuantiles, Median, Quantile
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.functions.variance import (
    PopulationStandardDeviation,
    PopulationVariance,
    StandardDeviation,
    Variance,
)

LISTED: tuple[type[Aggregate], ...] = (
    Count,
    Sum,
    Mean,
    CountIf,
    Variance,
    PopulationVariance,
    StandardDeviation,
    PopulationStandardDeviation,
    Covariance,
    PopulationCovariance,
    Correlation,
    PersonSum,
    Minimum,
    Maximum,
    Median,
    Quantile,
    ApproxQuantiles,
    Histogram,
)

OTHER_NAMES: dict[str, type[Aggregate]] = {
    "MEAN": Mean,
    "COUNTIF": CountIf,
    **dict.fromkeys(("VARIANCE", "VAR", "VARIANCE_SAMP"), Variance),
    "VARIANCE_POP": PopulationVariance,
    **dict.fromkeys(("STDDEV", "STDEV"), StandardDeviation),
    **dict.fromkeys(
        (
            *("QUANTILE_CONT", "QUANTILE_DISC", "PERCENTILE_CONT", "PERCENTILE_DISC"),
            *("APPROX_QUANTILE", "APPROX_PERCENTILE", "PERCENTILE"),
        ),
        Quantile,
    ),
}
"""Names of the same functions in other dialects, and those that the parser gives them. Other ways to place a quantile
between two values differ by less than a rank."""

FUNCTIONS: dict[str, type[Aggregate]] = {each.function: each for each in LISTED}


def function_of(name: str) -> type[Aggregate] | None:
    """The aggregate function of this name."""
    return FUNCTIONS.get(name) or OTHER_NAMES.get(name)


def written(*names: str) -> str:
    """How these functions can be written, or all of them.

    >>> written("COUNT", "SUM")
    'COUNT(*), COUNT(column), COUNT(DISTINCT column) or SUM(column)'
    """
    found = dict.fromkeys(form for name in names or FUNCTIONS for form in FUNCTIONS[name].forms)
    *most, last = found
    return f"{', '.join(most)} or {last}" if most else last
