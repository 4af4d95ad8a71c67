"""What is tabulated: numbers of rows or people, sums and means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.dataset.schema import Table
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.mean import Mean, mean
from sitr.questions.aggregate.functions.sum import Sum, sum
from sitr.questions.aggregate.nodes import Named
from sitr.questions.aggregate.term import Term

_CALL = re.compile(r"(sum|mean)\((.+)\)")

_DO = 'Write for example measures=["count", "sum(cost)", "mean(cost)"].'


class MeasureKind(Enum):
    """How a measure is computed."""

    COUNT = "count"
    PEOPLE = "people"
    SUM = "sum"
    MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Measure:
    """One column of numbers in every table.

    The number of a cell is Σ weight·(number of the term); for a mean it is this divided by the number of values, which
    is the term `values`, and plus `middle`.
    """

    name: str
    kind: MeasureKind
    weights: tuple[tuple[int, Fraction], ...]
    """The terms by number, each with the value of 1."""
    values: int | None = None
    middle: Fraction = Fraction(0)
    ends: tuple[Fraction, Fraction] | None = None
    """The least and the largest value of a row, of which a mean is no more."""

    @property
    def adds_up(self) -> bool:
        """Whether a margin is the sum of its parts."""
        return self.kind is not MeasureKind.MEAN


Wanted = str | Aggregate
"""A measure as users write it: "count", "people", "sum(cost)", "mean(cost)", or sitr.sum("cost")."""


def read(given: Wanted) -> tuple[MeasureKind, str]:
    """The kind of a measure, and its column.

    >>> read("sum(cost)"), read("count")
    ((<MeasureKind.SUM: 'sum'>, 'cost'), (<MeasureKind.COUNT: 'count'>, ''))
    """
    match given:
        case "count" | Count(of=None):
            return MeasureKind.COUNT, ""
        case "people":
            return MeasureKind.PEOPLE, ""
        case Sum(of=Name(name)):
            return MeasureKind.SUM, name
        case Mean(of=Name(name)):
            return MeasureKind.MEAN, name
        case str() if (found := _CALL.fullmatch(given.strip())) is not None:
            return MeasureKind(found[1]), found[2].strip()
    raise QuestionError(
        wanted='a measure: "count", "people", "sum(column)" or "mean(column)"', given=repr(given), do=_DO
    )


def aggregates(asked: Sequence[tuple[MeasureKind, str]]) -> tuple[Named, ...]:
    """What must be measured: a sum beside the mean of the same column follows from what the mean needs."""
    means = {column for kind, column in asked if kind is MeasureKind.MEAN}
    found: dict[str, Named] = {}
    for kind, column in asked:
        if kind in (MeasureKind.COUNT, MeasureKind.PEOPLE):
            found["n"] = Named("n", Count())
        elif column in means:
            found[f"mean {column}"] = Named(f"mean {column}", mean(column))
        else:
            made = sum(column)
            assert isinstance(made, Sum)
            found[f"sum {column}"] = Named(f"sum {column}", made)
    return tuple(found.values())


def measures(asked: Sequence[tuple[MeasureKind, str]], terms: Sequence[Term], table: Table) -> tuple[Measure, ...]:
    """How each measure follows from the measured terms."""
    if len(set(asked)) < len(asked) or not asked:
        raise QuestionError(wanted="one or more different measures", given=repr([*asked]), do=_DO)
    return tuple(_measure(kind, column, list(terms), table) for kind, column in asked)


def _measure(kind: MeasureKind, column: str, terms: list[Term], table: Table) -> Measure:
    if kind in (MeasureKind.COUNT, MeasureKind.PEOPLE):
        return Measure(kind.value, kind, ((terms.index(Term()), Fraction(1)),))
    name = table.column(column).name
    total = next(place for place, term in enumerate(terms) if term.quantised is not None and _column(term) == name)
    summed = terms[total]
    step, middle = summed.granularity, summed.centre * summed.granularity
    label = f"{kind.value} of {name}"
    if kind is MeasureKind.SUM and summed.centre == 0:
        return Measure(label, kind, ((total, step),))
    count = terms.index(Term(summed.of)) if Term(summed.of) in terms else terms.index(Term())
    if kind is MeasureKind.SUM:
        return Measure(label, kind, ((total, step), (count, middle)))
    low, high = (end * step for end in (summed.quantised.lower, summed.quantised.upper))  # type: ignore[union-attr]
    return Measure(label, kind, ((total, step),), count, middle, (low, high))


def _column(term: Term) -> str | None:
    assert term.of is not None
    return None if term.of.column is None else term.of.column.name
