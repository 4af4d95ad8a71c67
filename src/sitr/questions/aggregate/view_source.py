"""What a view reads: its public tables, and what stands after FROM to read its rows."""

from __future__ import annotations

from collections.abc import Iterator

from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.expression import Expression, Name
from sitr.questions.aggregate.sources import Aliased, Among, Join, PersonCall, Select, Selected, Source, UnionAll
from sitr.questions.aggregate.view import (
    Joined,
    Matching,
    OfPeople,
    Paired,
    PerPerson,
    PersonNumber,
    TableRows,
    Together,
    View,
)


def tables(view: View) -> Iterator[str]:
    """The public tables that a view reads."""
    match view.rows:
        case Joined(inner, table) | Matching(inner, table):
            yield table
            yield from tables(inner)
        case Paired(inner, other):
            yield from tables(inner)
            yield from tables(other)
        case PerPerson(inner):
            yield from tables(inner)
        case OfPeople(inner, people):
            yield from tables(inner)
            yield from tables(people)
        case Together(views):
            for each in views:
                yield from tables(each)
        case TableRows():
            return


def source_of(view: View) -> Source:
    """What stands after FROM to read the rows of a view, with resolved names."""
    match view.rows:
        case TableRows(table):
            return table
        case PerPerson(inner, keys, numbers):
            assert isinstance(view.unit, Person)
            unit = Name(view.unit.column)
            columns = [Selected(view.unit.column, unit), *(Selected(name, of.expression) for name, of in keys)]
            columns += [Selected(name, _call(number)) for name, number, _ in numbers]
            return Select(
                source_of(inner),
                tuple(columns),
                None if inner.where is None else inner.where.expression,
                (unit, *(of.expression for _, of in keys)),
            )
        case Joined(inner, table, name, _, _, spoken, outer):
            right = table if name.lower() == table.lower() else Aliased(table, name)
            return Join(_named_source(inner, inner.name), right, spoken, outer=outer)
        case Paired(inner, other, name, spoken=spoken, outer=outer):
            return Join(_named_source(inner, inner.name), _named_source(other, name), spoken, outer=outer)
        case Together(views):
            return UnionAll(tuple(map(_listed_source, views)))
        case Matching(inner, table, spoken=(by, column, where), outside=outside):
            listed = Select(table, (Selected(_column_name(column), column),), where)
            return Among(_named_source(inner, inner.name), by, listed, outside)
        case OfPeople(inner, people, outside, by):
            assert isinstance(view.unit, Person)
            unit = Name(view.unit.column)
            where = None if people.where is None else people.where.expression
            others = Select(source_of(people), (Selected(unit.name, unit),), where)
            return Among(_named_source(inner, inner.name), by, others, outside)


def _column_name(column: Expression) -> str:
    return column.name if isinstance(column, Name) else "value"


def _named_source(view: View, name: str) -> Source:
    """The rows of a view under a name, which a table may have already."""
    source = _selected_source(view)
    if isinstance(source, Join) and all(each.table == name for each in view.columns):  # a sub-query
        source = _listed_source(view)
    named = isinstance(source, Join) or (isinstance(source, str) and source.lower() == name.lower())
    return source if named else Aliased(source, name)


def _call(number: PersonNumber) -> PersonCall:
    return PersonCall(number.function, None if number.of is None else number.of.expression, number.distinct)


def _selected_source(view: View) -> Source:
    """The rows of a view with its own columns; the rows themselves where nothing is computed, renamed or left out."""
    plain = view.where is None and all(each.typed.column is not None for each in view.columns)
    source = source_of(view) if plain else None
    renamed = any(each.typed.column is None or each.typed.column.name != each.name for each in view.columns)
    return _listed_source(view) if source is None or (renamed and not isinstance(source, Join)) else source


def _listed_source(view: View) -> Source:
    """The rows of a view with its columns, one by one."""
    columns = tuple(Selected(each.name, each.typed.expression) for each in view.columns)
    return Select(source_of(view), columns, None if view.where is None else view.where.expression)
