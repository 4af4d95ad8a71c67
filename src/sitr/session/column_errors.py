"""The errors of an answer by column, with the unit of each: values, or ranks for quantiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sitr.questions.aggregate.plan import AggregatePlan


class ColumnErrors(dict[str, float]):
    """The largest error of every column. It is a dictionary that also says which errors are numbers of ranks.

    The error of a quantile, a minimum or a maximum is a number of ranks: with 95% probability, at most that number of
    counted values lie between the number shown and the exact one.

    >>> found = ColumnErrors({"n": 31.0, "middle": 160.0}, ranks=["middle"])
    >>> found, found["middle"], found.units
    ({'n': 31.0, 'middle': 160.0 ranks}, 160.0, {'n': 'value', 'middle': 'ranks'})
    """

    def __init__(self, errors: Mapping[str, float], *, ranks: Iterable[str] = ()) -> None:
        super().__init__(errors)
        self.ranks = frozenset(ranks)
        """The columns whose errors are numbers of ranks."""

    @property
    def units(self) -> dict[str, str]:
        """For each column "value", in the unit of the column, or "ranks"."""
        return {name: "ranks" if name in self.ranks else "value" for name in self}

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {self._said(name)}' for name in self)}}}"

    def _said(self, name: str) -> str:
        return f"{self[name]!r} ranks" if name in self.ranks else repr(self[name])


def ranked(plan: object) -> tuple[str, ...]:
    """The columns of a plan whose errors are numbers of ranks."""
    columns = plan.columns if isinstance(plan, AggregatePlan) else ()
    return tuple(column.name for column in columns if column.aggregate.ranked)
