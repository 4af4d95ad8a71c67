"""Two ways to bound a sum: each row, or each person's total. Which has less noise follows from public facts alone.

SUM(x) clamps each row to the bounds of x, and a person adds as many rows as the caps allow. SUM_PER_PERSON(x, low,
high) clamps the total of each person in a group once, and all rows of the person there count. With the bounds of a
single row for the total, its noise is that of one row for each person.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.errors import SitrError
from sitr.neighbors.unit import Person
from sitr.numbers import Number
from sitr.questions.aggregate.expressions.expression import Literal
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.functions.function import BoundAggregate
from sitr.questions.aggregate.functions.person_sum import PersonSum
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class ClampedSum:
    """A sum as SQL, and the largest error of its column at the same price."""

    sql: str
    error: float


@dataclass(frozen=True, slots=True)
class Clamping:
    """A column that is a sum, bounded both ways; the question asks for one of the two."""

    column: str
    rows: ClampedSum
    person: ClampedSum


def clampings(plan: AggregatePlan, *, confidence: Number = Fraction(95, 100)) -> tuple[Clamping, ...]:
    """For each sum of the plan, its errors if rows or people's totals are clamped; none where each row is a person.

    All sums change together, at the same price. A SUM_PER_PERSON whose expression has no bounds has no other way.
    """
    query = plan.query
    if not isinstance(query.unit, Person):
        return ()
    turned = [_other(column, query.view) for column in query.columns]
    if all(other is None for other in turned):
        return ()
    columns = tuple(other or column for other, column in zip(turned, query.columns, strict=True))
    try:
        twin = fit(replace(query, columns=columns), plan.price)
    except SitrError:  # an error that is too large for a double
        return ()
    found = []
    for named, column, other in zip(query.query.aggregates, query.columns, turned, strict=True):
        if other is not None:
            here, there = (_way(each, named.name, confidence) for each in (plan, twin))
            by_row = isinstance(column.aggregate, Sum)
            found.append(Clamping(named.name, here if by_row else there, there if by_row else here))
    return tuple(found)


def _other(column: BoundAggregate, view: View) -> BoundAggregate | None:
    """The same sum, bounded the other way; None if the column is no sum, or has no other way."""
    match column.aggregate:
        case Sum(of):
            (term,) = column.terms
            assert term.quantised is not None
            low, high = (Literal(int(end) if end.denominator == 1 else float(end)) for end in term.quantised.ends)
            return _bound(PersonSum(of, low, high), view)
        case PersonSum(of):
            return _bound(Sum(of), view)
    return None


def _bound(aggregate: Sum | PersonSum, view: View) -> BoundAggregate | None:
    try:
        return aggregate.bound(view)
    except SitrError:
        return None


def _way(plan: AggregatePlan, name: str, confidence: Number) -> ClampedSum:
    shown = next(column for column in plan.columns if column.name == name)
    return ClampedSum(shown.sql, plan.expected(shown, confidence=confidence))
