"""All aggregate functions by their names in SQL."""

from __future__ import annotations

from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.count_if import CountIf
from sitr.questions.aggregate.functions.covariance import Correlation, Covariance, PopulationCovariance
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.mean import Mean
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.functions.variance import (
    PopulationStandardDeviation,
    PopulationVariance,
    StandardDeviation,
    Variance,
)

_LISTED: tuple[type[Aggregate], ...] = (
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
)

_OTHER_NAMES: dict[str, type[Aggregate]] = {
    "MEAN": Mean,
    "COUNTIF": CountIf,
    **dict.fromkeys(("VARIANCE", "VAR", "VARIANCE_SAMP"), Variance),
    "VARIANCE_POP": PopulationVariance,
    **dict.fromkeys(("STDDEV", "STDEV"), StandardDeviation),
}
"""Names of the same functions in other dialects, and those that the parser gives them."""

FUNCTIONS: dict[str, type[Aggregate]] = {**{each.function: each for each in _LISTED}, **_OTHER_NAMES}


def written(*names: str) -> str:
    """How these functions can be written, or all of them.

    >>> written("COUNT", "SUM")
    'COUNT(*), COUNT(column), COUNT(DISTINCT unit) or SUM(column)'
    """
    found = dict.fromkeys(form for name in names or FUNCTIONS for form in FUNCTIONS[name].forms)
    *most, last = found
    return f"{', '.join(most)} or {last}" if most else last
