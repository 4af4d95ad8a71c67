"""Aggregates as methods of columns, as in narwhals and polars: `column("cost").mean()`."""

from __future__ import annotations

from typing import Any

from sitr.dataset.literals import shown
from sitr.errors import QuestionError
from sitr.namespace import Later
from sitr.numbers import Number
from sitr.questions.aggregate.habits import COLUMN, Hinted

# Aggregates are made of expressions, so they cannot be imported here.
counts = Later("sitr.questions.aggregate.functions.count")
extremes = Later("sitr.questions.aggregate.functions.extremes")
means = Later("sitr.questions.aggregate.functions.mean")
quantiles = Later("sitr.questions.aggregate.functions.quantile")
sums = Later("sitr.questions.aggregate.functions.sum")
variances = Later("sitr.questions.aggregate.functions.variance")


class Aggregates(Hinted):
    """What can be released about an expression. `sitr.mean("cost")` and its like are the same, with all options."""

    __slots__ = ()
    _hints = COLUMN

    def count(self) -> Any:
        """The number of rows that have a value."""
        return counts.count(self)

    def n_unique(self) -> Any:
        """The number of different values; of the unit, the number of people."""
        return counts.count(distinct=self)

    def sum(self) -> Any:
        return sums.sum(self)

    def mean(self) -> Any:
        return means.mean(self)

    def median(self) -> Any:
        return quantiles.median(self)

    def quantile(self, level: Number) -> Any:
        """The quantile at a level from 0 to 1."""
        return quantiles.quantile(self, level)

    def min(self) -> Any:
        return extremes.min(self)

    def max(self) -> Any:
        return extremes.max(self)

    def var(self, *, ddof: int = 1) -> Any:
        """The variance of a sample, or with `ddof=0` of a population."""
        return variances.variance(self, population=_population(ddof))

    def std(self, *, ddof: int = 1) -> Any:
        """The standard deviation of a sample, or with `ddof=0` of a population."""
        return variances.standard_deviation(self, population=_population(ddof))


def _population(ddof: object) -> bool:
    if type(ddof) is not int or ddof not in (0, 1):
        raise QuestionError(
            wanted="0 or 1 for ddof", given=shown(ddof), do="Write ddof=0 for a population, or ddof=1 for a sample."
        )
    return ddof == 0
