"""Joins of views that share the unit: two protected tables, or one with itself; `view` proves that they are safe."""

from __future__ import annotations

from dataclasses import replace

from sitr.dataset.schema import Kind
from sitr.errors import ForbiddenConstruct, QuestionError, UnknownName
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.expression import Call, Expression, Name
from sitr.questions.aggregate.naming import internals, is_unit, leaf, qualified, with_null
from sitr.questions.aggregate.sources import Join
from sitr.questions.aggregate.view import Paired, View, Visible, protected


def paired(join: Join, condition: Expression, left: View, other: View, name: str) -> View:
    """The rows of a view beside those of another, which the question calls `name`; their units must be equal."""
    theirs = _check_units(left, other)
    taken = {known.lower() for known in (*internals(left), *_unit_names(left))}
    if name.lower() in {each.table.lower() for each in left.columns}:
        raise QuestionError(
            given=f"Several tables of the question are called {name!r}.", do="Give each of them another name with AS."
        )
    here = _names_here(other, name, taken)
    right = [Visible(name, each.name, leaf(at, each.typed)) for each, (at, _) in zip(other.columns, here, strict=True)]
    both = replace(left, columns=(*left.columns, *right))
    identified = next((at for at, there in here if there == theirs.column), None)
    conditions = condition.arguments if isinstance(condition, Call) and condition.function == "AND" else (condition,)
    rest = [part for part in conditions if not _equates(part, both, left, identified)]
    if identified is None or len(rest) == len(conditions):
        raise _without_unit(left, other, name)
    kind = next(each.typed.kind for each in right if each.typed.column and each.typed.column.name == identified)
    _check_kinds(both, left, kind, name)
    columns = _visible(left, right, identified, outer=join.outer)
    on = replace(left, columns=columns).condition(_all(rest)) if rest else None
    spoken = _all([_spoken_unit(columns, left, name, other), *([] if on is None else [on.expression])])
    rows = Paired(left, other, name, tuple(dict.fromkeys(here)), identified, kind, on, spoken, join.outer)
    using = {known.lower() for known in join.using}
    shown = tuple(each for each in columns if each.table != name or each.name.lower() not in using)
    return View(rows, shown, left.unit, left.relation, left.name)


def _unit_names(view: View) -> tuple[str, ...]:
    return (view.unit.column,) if isinstance(view.unit, Person) else ()


def _names_here(other: View, name: str, taken: set[str]) -> list[tuple[str, str]]:
    """The names of the other view's columns, here and there; no two names here are the same in lower case."""
    found: dict[str, str] = {}
    for there in internals(other):
        at = there
        while there not in found and at.lower() in taken:
            at = f"{name}.{at}"
        found.setdefault(there, at)
        taken.add(at.lower())
    return [(found[there], there) for there in internals(other)]


def _visible(left: View, right: list[Visible], identified: str, *, outer: bool) -> tuple[Visible, ...]:
    """The columns of both. In an inner join the ids of both tables are the same; in an outer join they can be NULL."""
    shown = [replace(each, typed=leaf(at, each.typed)) for each, at in zip(left.columns, internals(left), strict=True)]
    if outer:
        right = [replace(each, typed=replace(each.typed, keys=with_null(each.typed), nullable=True)) for each in right]
    else:
        unit = left.person
        assert unit is not None
        assert isinstance(left.unit, Person)
        own = leaf(left.unit.column, unit)
        right = [
            replace(each, typed=own) if each.typed.column is not None and each.typed.column.name == identified else each
            for each in right
        ]
    return qualified([*shown, *right])


def _equates(part: Expression, both: View, left: View, identified: str | None) -> bool:
    """Whether a condition says that the units are equal."""
    if not isinstance(part, Call) or part.function != "=" or not all(isinstance(each, Name) for each in part.arguments):
        return False
    try:
        columns = {both.column(each).column for each in part.arguments if isinstance(each, Name)}
    except UnknownName:  # found again, and reported, when the condition is checked
        return False
    return {column.name for column in columns if column is not None} == {*_unit_names(left), identified}


def _spoken_unit(columns: tuple[Visible, ...], left: View, name: str, other: View) -> Call:
    """The equality of the units, with the names that a question gives them."""
    unit, theirs = left.unit, other.unit
    assert isinstance(unit, Person)
    assert isinstance(theirs, Person)
    ours = next(each for each in columns if each.table != name and is_unit(each.typed, unit))
    found = next(each for each in other.columns if is_unit(each.typed, theirs))
    return Call("=", (Name(ours.name, ours.table), Name(found.name, name)))


def _all(parts: list[Expression]) -> Expression:
    return parts[0] if len(parts) == 1 else Call("AND", tuple(parts))


def _check_units(left: View, other: View) -> Person:
    """The unit of the other view, if both protect people in the same way."""
    for view in (left, other):
        if not isinstance(view.unit, Person):
            raise QuestionError(
                given=f"The table {protected(view)[0]} protects each row by itself, so that its rows have no unit to "
                "join by.",
                do="Protect both tables with the column that identifies a person (unit=…), or join public tables only.",
            )
    if left.relation is not other.relation:
        raise QuestionError(
            given=f"The tables {protected(left)[0]} and {protected(other)[0]} have different neighbours: "
            f"{left.relation.value} and {other.relation.value}.",
            do="Protect both tables with the same relation.",
        )
    assert isinstance(other.unit, Person)
    return other.unit


def _check_kinds(both: View, left: View, kind: Kind, name: str) -> None:
    ours = left.person
    assert ours is not None
    if ours.kind is not kind:
        raise QuestionError(
            given=f"People have ids of type {ours.kind.value} in {both.name} and of type {kind.value} in {name}.",
            do="Protect both tables with ids of the same type.",
        )


def _without_unit(left: View, other: View, name: str) -> ForbiddenConstruct:
    ours, theirs = (view.unit.column if isinstance(view.unit, Person) else "" for view in (left, other))
    do = f"Add {left.name}.{ours} = {name}.{theirs} to the conditions after ON, with AND."
    if protected(left) == protected(other):
        return ForbiddenConstruct(
            given=f"A question cannot contain a join of {protected(other)[0]} with itself unless the unit is the same: "
            "a row could meet rows of other people.",
            do=do,
        )
    return ForbiddenConstruct(
        given=f"A question cannot contain a join of the protected tables {left.name} and {name} unless the unit is the "
        "same: a row could meet rows of other people.",
        do=do,
    )
