"""Rows whose value is among those of a sub-query, about a public table or about the same people."""

from __future__ import annotations

from dataclasses import replace

from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.catalog import Catalog, PublicTable
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.typed import column_typed
from sitr.questions.aggregate.naming import internals, is_unit, leaf
from sitr.questions.aggregate.public_join import row_names
from sitr.questions.aggregate.sources import Aliased, Among, PersonCall, Select
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.view import (
    Matching,
    OfPeople,
    View,
    Visible,
    both,
    protected,
)


def of_people(view: View, source: Among, people: View) -> View:
    """The rows of the people whom a sub-query lists, or of all others."""
    _one_column(len(people.columns))
    unit = view.unit
    if not isinstance(unit, Person):
        raise QuestionError(
            given="A row cannot be chosen by what other rows hold: here each row is protected by itself.",
            do="Leave the sub-query out, or protect people (unit=…) instead of rows.",
        )
    if not (is_unit(view.typed(source.by), unit) and is_unit(people.columns[0].typed, unit)):
        raise QuestionError(
            given="A sub-query after IN may only list people, because its rows must not mix different people.",
            do=f"Write {identifier(unit.column)} IN (SELECT {identifier(unit.column)} FROM …), or use a public table.",
        )
    if protected(people) != protected(view)[:1]:
        raise QuestionError(
            given="A sub-query after IN may only list people of the first protected table of the question.",
            do="Join the other table by the unit.",
        )
    # How the sub-query calls its table is no part of the question.
    columns = _as_leaves(view)
    spoken = replace(view, columns=columns).typed(source.by).expression
    rows = OfPeople(view, replace(people, columns=(), name=view.name), source.outside, spoken)
    return View(rows, columns, unit, view.relation, view.name)


def matching(view: View, source: Among, among: Select, public: PublicTable, catalog: Catalog) -> View:
    """Each row is compared with the rows of a public table, and kept or dropped by itself."""
    if among.group_by is not None and len(among.group_by) != len(among.columns):
        raise QuestionError(
            given="A sub-query about a public table cannot group it here.", do="Select a column, with WHERE or without."
        )
    _one_column(len(among.columns))
    (selected,) = among.columns
    if isinstance(selected.of, PersonCall):
        raise QuestionError(
            given="A sub-query about a public table cannot group it here.", do="Select a column, with WHERE or without."
        )
    taken = {each.name.lower() for each in view.columns} | {known.lower() for known in row_names(view, catalog)}
    here = {column.name: _free(f"{public.name}.{column.name}", taken) for column in public.columns}
    name = among.table.name if isinstance(among.table, Aliased) else public.name
    plain = replace(view, columns=tuple(Visible(name, each.name, column_typed(each)) for each in public.columns))
    inside = replace(
        view,
        columns=tuple(
            Visible(name, each.name, replace(column_typed(each), what=replace(each, name=here[each.name])))
            for each in public.columns
        ),
    )
    by, column = view.typed(source.by), inside.typed(selected.of)
    on = ROW_FUNCTIONS["="]("=", (by, column))
    if among.where is not None:
        on = both(on, inside.condition(among.where)) or on
    where = None if among.where is None else plain.condition(among.where).expression
    leaves = _as_leaves(view)
    spoken = replace(view, columns=leaves).typed(source.by).expression, plain.typed(selected.of).expression, where
    columns = tuple((at, there) for there, at in here.items())
    rows = Matching(view, public.name, columns, on, by, spoken, source.outside)
    return View(rows, leaves, view.unit, view.relation, view.name)


def _one_column(names: int) -> None:
    if names != 1:
        raise QuestionError(
            given=f"IN needs a sub-query with one column, and this one has {names}.", do="Select one column."
        )


def _as_leaves(view: View) -> tuple[Visible, ...]:
    """The columns of a view as columns of the rows that are made from it."""
    return tuple(
        replace(
            each, typed=replace(leaf(at, each.typed), shown=None if at == each.name else Name(each.name, each.table))
        )
        for each, at in zip(view.columns, internals(view), strict=True)
    )


def _free(name: str, taken: set[str]) -> str:
    while name.lower() in taken:
        name += "_"
    return name
