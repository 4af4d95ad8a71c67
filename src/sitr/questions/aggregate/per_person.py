"""One row for each person: sub-queries that group by the unit."""

from __future__ import annotations

from fractions import Fraction

from sitr.dataset.schema import GROUPABLE, NUMERIC, Column, Kind, Table
from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.ranges import Range
from sitr.questions.aggregate.expressions.rules import range_of
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, zone_of
from sitr.questions.aggregate.naming import is_unit, leaf, refuse_repeated
from sitr.questions.aggregate.sources import PersonCall, Select
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import granules_of
from sitr.questions.aggregate.view import (
    PerPerson,
    PersonNumber,
    View,
    Visible,
)


def per_person(select: Select, inner: View, table: Table) -> View:
    """SELECT patient_id, SUM(cost) AS total … GROUP BY patient_id: one row for each person, or person and key."""
    grouped = [inner.typed(key) for key in select.group_by or ()]
    unit = inner.unit
    if not isinstance(unit, Person) or not any(is_unit(key, unit) for key in grouped):
        raise ungrouped(inner)
    keys: list[tuple[str, Typed]] = []
    numbers: list[tuple[str, PersonNumber, Kind]] = []
    columns: list[Visible] = []
    for column in select.columns:
        if isinstance(column.of, PersonCall):
            number, made = _number(column.of, inner, column.name, table)
            numbers.append((column.name, number, made.kind))
            columns.append(Visible(inner.name, column.name, made))
            continue
        of = inner.typed(column.of)
        if of not in grouped:
            raise QuestionError(
                given=f"The sub-query selects {of.text}, which GROUP BY does not list.",
                do="Add it to GROUP BY, or leave it out.",
            )
        made_leaf = leaf(unit.column if is_unit(of, unit) else column.name, of)
        columns.append(Visible(inner.name, column.name, made_leaf))
        if not is_unit(of, unit):
            keys.append((column.name, of))
    keys += [(f"{of.text}", of) for of in grouped if not is_unit(of, unit) and of not in [known for _, known in keys]]
    names = [unit.column, *(name for name, _ in keys), *(name for name, _, _ in numbers)]
    refuse_repeated(names)
    for _, of in keys:
        _refuse_other_kinds(of)
    rows = PerPerson(inner, tuple(keys), tuple(numbers))
    return View(rows, tuple(columns), unit, inner.relation, inner.name)


def ungrouped(view: View) -> QuestionError:
    """The refusal of an aggregate that would mix people."""
    unit = identifier(view.unit.column) if isinstance(view.unit, Person) else None
    return QuestionError(
        given="A sub-query with an aggregate must group by the unit, because its rows must belong to one person each.",
        do="Leave the sub-query out." if unit is None else f"Add GROUP BY {unit}.",
    )


def _refuse_other_kinds(of: Typed) -> None:
    if of.kind not in GROUPABLE:
        raise QuestionError(
            given=f"GROUP BY cannot use {of.text}, which has type {of.kind.value}.",
            do=f"Group by something of type {', '.join(kind.value for kind in GROUPABLE)}.",
        )


def _number(call: PersonCall, view: View, name: str, table: Table) -> tuple[PersonNumber, Typed]:
    """An aggregate of one person's rows, and the column that it makes.

    Its bounds are those of as many rows as a person may have in all groups of a question; beyond them it is clamped.
    """
    of = None if call.of is None else view.typed(call.of)
    most = Fraction(table.most_rows)
    if call.function == "COUNT":
        if call.distinct and of is not None:
            _refuse_other_kinds(of)
        found = Range(Fraction(of is None), most)  # nobody without rows has a group
        return PersonNumber("COUNT", of, call.distinct), _made(name, Kind.INTEGER, found, Fraction(1), nullable=False)
    if of is None or call.distinct:
        raise QuestionError(
            given=f"{call.function} cannot have {'DISTINCT' if call.distinct else '*'} in a sub-query.",
            do=f"Write {call.function}(column).",
        )
    number = PersonNumber(call.function, of)
    if call.function in ("MIN", "MAX"):
        if of.kind not in (*NUMERIC, *TEMPORAL):
            raise _not_numbers(call.function, of)
        return number, _made(name, of.kind, range_of(of), of.step, zone=zone_of(of))
    granules = granules_of(of, function=call.function, table=view.name)  # exact sums need them
    low, high = granules.ends
    if call.function == "AVG":
        return number, _made(name, Kind.REAL, Range(low, high), None)
    total = Range(min(low, low * most), max(high, high * most))
    whole = granules.granularity.denominator == 1 and of.kind is Kind.INTEGER
    return number, _made(name, Kind.INTEGER if whole else Kind.REAL, total, granules.granularity)


def _not_numbers(function: str, of: Typed) -> QuestionError:
    return QuestionError(
        given=f"{function} needs numbers, but {of.text} has type {of.kind.value}.",
        do="Count it, or choose another column.",
    )


def _made(
    name: str, kind: Kind, found: Range, step: Fraction | None, *, nullable: bool = True, zone: str | None = None
) -> Typed:
    return Typed(Column(name, kind, zone=zone), kind, (), found.low, found.high, step, nullable)
