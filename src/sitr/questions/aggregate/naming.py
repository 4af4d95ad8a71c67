"""The names that columns have in rows made from a view, and in questions about these rows."""

from __future__ import annotations

from dataclasses import replace

from sitr.dataset.schema import Column, Key
from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.expressions.typed import Typed, zone_of
from sitr.questions.aggregate.view import View, Visible


def is_unit(of: Typed, unit: Person) -> bool:
    """Whether it is the column that identifies people."""
    return of.column is not None and of.column.name == unit.column


def leaf(name: str, of: Typed) -> Typed:
    """A computed column as a column of the next view: what is known about it stays known, but not its name there."""
    column = Column(name, of.kind, of.column.quantised if of.column is not None else None, of.keys, zone_of(of))
    return replace(of, what=column, parts=(), shown=None)


def qualified(columns: list[Visible] | tuple[Visible, ...]) -> tuple[Visible, ...]:
    """The columns; those whose name several tables have are shown with their table."""
    names = [each.name.lower() for each in columns]
    return tuple(
        replace(each, typed=replace(each.typed, shown=Name(each.name, each.table)))
        if names.count(each.name.lower()) > 1
        else replace(each, typed=replace(each.typed, shown=None if _plain(each) else Name(each.name, each.table)))
        for each in columns
    )


def _plain(each: Visible) -> bool:
    """Whether a column has the same name in a question and in the rows."""
    return each.typed.column is not None and each.typed.column.name == each.name


def internals(view: View) -> list[str]:
    """The names of a view's columns in the rows that are made from it: columns keep theirs, and no two are mixed up."""
    plain = {each.typed.column.name for each in view.columns if each.typed.column is not None}
    taken = {name.lower() for name in plain | ({view.unit.column} if isinstance(view.unit, Person) else set())}
    found = []
    for each in view.columns:
        name = each.typed.column.name if each.typed.column is not None else each.name
        while each.typed.column is None and name.lower() in taken:
            name += "_"
        taken.add(name.lower())
        found.append(name)
    return found


def apart(view: View) -> list[str]:
    """The same, but a column that is listed twice has two names: another part of UNION ALL may have two columns there.

    The unit is the unit in all parts, however often it is listed.
    """
    unit = view.unit.column if isinstance(view.unit, Person) else None
    plain = internals(view)
    every, found = {name.lower() for name in plain}, list[str]()
    for name in plain:
        own = name
        while own != unit and own in found:
            own += "_"
            while own.lower() in every:
                own += "_"
        every.add(own.lower())
        found.append(own)
    return found


def with_null(typed: Typed) -> tuple[Key, ...] | None:
    """The keys of a column in rows that may have no match, and so no value."""
    return typed.keys if typed.keys is None or None in typed.keys else (*typed.keys, None)


def refuse_repeated(names: list[str]) -> None:
    """Refuse several columns of one name."""
    lowered = [name.lower() for name in names]
    if repeated := {name for name in names if lowered.count(name.lower()) > 1}:
        raise QuestionError(
            given=f"Several columns of a sub-query have the same name: {', '.join(sorted(repeated))}.",
            do="Name them with AS.",
        )
