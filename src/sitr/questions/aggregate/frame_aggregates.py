"""Aggregates as methods of columns, as in narwhals and polars: `column("cost").mean()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sitr.dataset.literals import shown
from sitr.errors import QuestionError
from sitr.namespace import Later
from sitr.numbers import Number

if TYPE_CHECKING:
    import sitr.questions.aggregate.functions.count as counts
    import sitr.questions.aggregate.functions.extremes as extremes
    import sitr.questions.aggregate.functions.mean as means
    import sitr.questions.aggregate.functions.quantile as quantiles
    import sitr.questions.aggregate.functions.sum as sums
    import sitr.questions.aggregate.functions.variance as variances
    from sitr.questions.aggregate.frame import Expr
else:  # they are made of expressions
    counts = Later("sitr.questions.aggregate.functions.count")
    extremes = Later("sitr.questions.aggregate.functions.extremes")
    means = Later("sitr.questions.aggregate.functions.mean")
    quantiles = Later("sitr.questions.aggregate.functions.quantile")
    sums = Later("sitr.questions.aggregate.functions.sum")
    variances = Later("sitr.questions.aggregate.functions.variance")


class Aggregates:
    """What can be released about an expression. `sitr.mean("cost")` and its like are the same, with all options."""

    __slots__ = ()

    def count(self) -> counts.Count:
        """The number of rows that have a value."""
        return counts.count(self._itself)

    def n_unique(self) -> counts.Count:
        """The number of different values; of the unit, the number of people."""
        return counts.count(distinct=self._itself)

    def sum(self) -> sums.Sum:
        return cast("sums.Sum", sums.sum(self._itself))

    def mean(self) -> means.Mean:
        return means.mean(self._itself)

    def median(self) -> quantiles.Median:
        return quantiles.median(self._itself)

    def quantile(self, level: Number) -> quantiles.Quantile:
        """The quantile at a level from 0 to 1."""
        return quantiles.quantile(self._itself, level)

    def min(self) -> extremes.Minimum:
        return extremes.min(self._itself)

    def max(self) -> extremes.Maximum:
        return extremes.max(self._itself)

    def var(self, *, ddof: int = 1) -> variances.Variance | variances.PopulationVariance:
        """The variance of a sample, or with `ddof=0` of a population."""
        return variances.variance(self._itself, population=_population(ddof))

    def std(self, *, ddof: int = 1) -> variances.StandardDeviation | variances.PopulationStandardDeviation:
        """The standard deviation of a sample, or with `ddof=0` of a population."""
        return variances.standard_deviation(self._itself, population=_population(ddof))

    @property
    def _itself(self) -> Expr:
        return cast("Expr", self)


def _population(ddof: object) -> bool:
    if type(ddof) is not int or ddof not in (0, 1):
        raise QuestionError(
            wanted="0 or 1 for ddof", given=shown(ddof), do="Write ddof=0 for a population, or ddof=1 for a sample."
        )
    return ddof == 0
