"""UNION ALL: several views of the same people as one."""

from __future__ import annotations

from sitr.dataset.schema import Column
from sitr.errors import QuestionError
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.expressions.rules import range_of
from sitr.questions.aggregate.expressions.typed import Typed, one_zone
from sitr.questions.aggregate.naming import apart, is_unit, refuse_repeated
from sitr.questions.aggregate.view import (
    Together,
    View,
    Visible,
    protected,
)


def together(views: list[View]) -> View:
    """All rows of several views."""
    first, *others = views
    if isinstance(first.unit, Row):
        raise QuestionError(
            given="UNION ALL could count a row twice, and here each row is protected by itself.",
            do="Join the conditions with OR, or protect people (unit=…) instead of rows.",
        )
    for other in others:
        if protected(other)[0] != protected(first)[0]:
            raise QuestionError(
                given=f"The parts of UNION ALL are about the people of different tables, {protected(first)[0]} and "
                f"{protected(other)[0]}.",
                do="Join the tables by the unit, or ask each of them by itself.",
            )
        if [each.typed.kind for each in other.columns] != [each.typed.kind for each in first.columns]:
            raise QuestionError(
                given="The parts of UNION ALL have different columns.",
                do="Select the same number of columns, of the same types, in all parts.",
            )
    refuse_repeated([each.name for each in first.columns])
    for place, each in enumerate(first.columns):
        if len({is_unit(view.columns[place].typed, first.unit) for view in views}) > 1:
            raise QuestionError(
                given=f"The parts of UNION ALL have the unit and something else as the column {each.name!r}.",
                do="Select the unit at the same place in all parts.",
            )
    columns = tuple(
        Visible(first.name, each.name, _merged(each, name, [other.columns[place].typed for other in others]))
        for place, (each, name) in enumerate(zip(first.columns, apart(first), strict=True))
    )
    return View(Together(tuple(views)), columns, first.unit, first.relation, first.name)


def _merged(first: Visible, name: str, others: list[Typed]) -> Typed:
    """A column of several parts: all of their values are possible."""
    found, same = range_of(first.typed), all(other == first.typed for other in others)
    for other in others:
        found = found.union(range_of(other))
    keys = [each.possible for each in (first.typed, *others)]
    listed = None if None in keys else tuple(dict.fromkeys(key for some in keys for key in some or ()))
    column = first.typed.column
    quantised = column.quantised if column is not None and same else None
    kept = tuple(sorted(listed, key=lambda key: key is None)) if listed is not None else None
    zone = one_zone([first.typed, *others], f"The column {first.name!r} of UNION ALL")
    own = column.keys if column is not None else None
    made = Column(name, first.typed.kind, quantised, kept if quantised is None else own, zone)
    spoken = None if name == first.name else Name(first.name)
    step = first.typed.step if same else None
    return Typed(made, made.kind, (), found.low, found.high, step, keys=made.keys, shown=spoken)
