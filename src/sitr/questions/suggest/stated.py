"""The error of the noise that is stated beside suggested caps and bounds: that of the plan they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sitr.dataset.schema import Column, Quantised, quantise
from sitr.errors import SitrError
from sitr.flavors.promise import Promise
from sitr.neighbors.unit import Person
from sitr.numbers import upward
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.functions.function import BoundAggregate
from sitr.questions.aggregate.functions.mean import centred
from sitr.questions.aggregate.plan import NoisyTerm
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.term import Term
from sitr.questions.suggest.spreads import LARGEST, summed_column

Bounds = Mapping[str, tuple[float, float]]
"""By the name of the column."""


def stated(
    query: BoundedQuery, price: Promise, *, groups: int | None, rows: int | None, bounds: Bounds
) -> list[float] | None:
    """The 95% error of each shown term at these caps and bounds, of a quantile in ranks; None if there is no plan."""
    try:
        target = at(query, groups=groups, rows=rows, bounds=bounds)
        found = {each.term: each for each in fit(target, price).noisy}
        return [_error(found[_moved(term, bounds)]) for term in query.shown_terms]
    except SitrError:  # such as a price without δ where keys are not public, or granules wider than the bounds
        return None


def at(query: BoundedQuery, *, groups: int | None, rows: int | None, bounds: Bounds) -> BoundedQuery:
    """The query as far as its noise depends on it, with other caps and bounds."""
    columns = tuple(_rebound(column, bounds) for column in query.columns)
    hidden = tuple((name, _rebound(column, bounds)) for name, column in query.after.hidden)
    moved = replace(query, columns=columns, after=replace(query.after, hidden=hidden))
    if groups is None or rows is None or not isinstance(query.unit, Person):
        return moved
    most, total = groups if query.keys else 1, query.max_rows
    return replace(
        moved,
        max_groups=most,
        max_rows_per_group=rows if total is None else min(rows, total),
        max_rows=None if total is None or most * rows <= total else total,
    )


def _rebound(column: BoundAggregate, bounds: Bounds) -> BoundAggregate:
    return replace(
        column,
        terms=tuple(_moved(term, bounds) for term in column.terms),
        parts=tuple((name, _rebound(part, bounds)) for name, part in column.parts),
    )


def _moved(term: Quantity, bounds: Bounds) -> Quantity:
    """The term with the bounds of its column, which keeps its granularity if it has one."""
    column = summed_column(term)
    if column is None or column.name not in bounds:
        return term
    assert isinstance(term, Term)
    step = None if column.quantised in (None, _unknown(column)) else column.quantised.granularity
    bare = replace(term, quantised=quantise(column.name, column.kind, bounds[column.name], step), centre=0)
    return centred(bare) if term.centre else bare


def _unknown(column: Column) -> Quantised:
    """The bounds of a column that has none of its own, while they are looked for."""
    return quantise(column.name, column.kind, (-(2**LARGEST), 2**LARGEST), None)


def _error(noisy: NoisyTerm) -> float:
    return upward(noisy.choice.error() if noisy.choice is not None else noisy.width(0.95))
