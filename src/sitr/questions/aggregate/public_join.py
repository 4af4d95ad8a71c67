"""Joins with public tables, and how many public rows one row may match."""

from __future__ import annotations

from dataclasses import replace

from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import ForbiddenConstruct, QuestionError
from sitr.neighbors.unit import Person, Row
from sitr.questions.aggregate.catalog import MOST_MATCHES, Catalog, Compared, PublicTable
from sitr.questions.aggregate.expressions.expression import Call, Expression, Name
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, column_typed
from sitr.questions.aggregate.naming import apart, internals, leaf, qualified, with_null
from sitr.questions.aggregate.sources import Aliased, Join, Source
from sitr.questions.aggregate.view import (
    Joined,
    Matching,
    OfPeople,
    Paired,
    PerPerson,
    TableRows,
    Together,
    View,
    Visible,
    used,
)


def public_join(join: Join, left: View, catalog: Catalog) -> View:
    """A view joined with a public table: each row keeps its unit, and matches a bounded number of public rows."""
    name, public = _public(join.right, catalog)
    taken = {each.name.lower() for each in left.columns} | {known.lower() for known in row_names(left, catalog)}
    here = {
        column.name: column.name if column.name.lower() not in taken else f"{name}.{column.name}"
        for column in public.columns
    }
    if name.lower() in {each.table.lower() for each in left.columns} or {at.lower() for at in here.values()} & taken:
        raise QuestionError(
            given=f"Several tables of the question are called {name!r}.", do="Give each of them another name with AS."
        )
    right = [
        Visible(name, column.name, replace(column_typed(column), what=replace(column, name=here[column.name])))
        for column in public.columns
    ]
    condition = condition_of(join, left, name)
    on = replace(left, columns=(*left.columns, *right)).condition(condition)
    most = public.most(_compared(on, {at: there for there, at in here.items()}))
    _refuse_fan_out(on, most, left, public)
    if join.outer:
        right = [replace(each, typed=replace(each.typed, keys=with_null(each.typed))) for each in right]
    visible = [
        replace(each, typed=leaf(at, each.typed)) for each, at in zip(left.columns, internals(left), strict=True)
    ]
    columns = qualified([*visible, *right])
    spoken = replace(left, columns=columns).condition(condition).expression
    rows = Joined(
        left, public.name, name, tuple((at, there) for there, at in here.items()), on, spoken, join.outer, most
    )
    using = {known.lower() for known in join.using}
    shown = [each for each in columns if each.table != name or each.name.lower() not in using]
    return View(rows, qualified(shown), left.unit, left.relation, left.name)


def row_names(view: View, catalog: Catalog) -> set[str]:
    """The names that the columns of a view's rows have, whether a question can name them or not."""
    unit = view.unit.column if isinstance(view.unit, Person) else ""
    match view.rows:
        case TableRows(table):
            return {column.name for own in catalog.protected if own.name == table for column in own.columns}
        case PerPerson(_, keys, numbers):
            return {unit, *(name for name, _ in keys), *(name for name, _, _ in numbers)}
        case Joined(inner, columns=columns) | Paired(inner, columns=columns):
            return {unit, *internals(inner), *(here for here, _ in columns)}
        case Together(views):
            return {unit, *apart(views[0])}
        case Matching(inner) | OfPeople(inner):
            return {unit, *internals(inner)}


def _public(source: Source, catalog: Catalog) -> tuple[str, PublicTable]:
    """The public table on the right of a join, and the name that it has in the question."""
    of, name = (source.of, source.name) if isinstance(source, Aliased) else (source, None)
    found = catalog.find(of) if isinstance(of, str) else None
    if found is None:
        what = of if isinstance(of, str) else "a sub-query"
        known = f" Declared here: {', '.join(catalog.public)}." if catalog.public else ""
        raise ForbiddenConstruct(
            given=f"A question cannot contain a join with {what} here: only public tables can be joined, and protected "
            f"tables whose budgets are given.{known}",
            do="Declare a public table when you protect the data: sitr protect … --public wards=wards.csv, or "
            'sitr.protect(…, public={"wards": "wards.csv"}). To join a protected table that has the same people, give '
            "its budget: sitr ask … --with patients.sitr.yaml, or budget.beside(patients).",
        )
    return name or found.name, found


def condition_of(join: Join, left: View, right: str) -> Expression:
    """What a join compares, with USING written out."""
    if join.on is not None:
        return join.on
    parts: list[Expression] = []
    for name in join.using:
        column = left.find(Name(name))
        parts.append(Call("=", (Name(name, column[0].table if column else left.name), Name(name, right))))
    return parts[0] if len(parts) == 1 else Call("AND", tuple(parts))


def _compared(on: Typed, columns: dict[str, str]) -> tuple[Compared, ...]:
    """The columns of the public table that must equal something of the row, by their names there."""
    parts = on.parts if on.what == "AND" else (on,)
    found = {}
    for part in parts:
        if part.what == "=":
            for one, other in (part.parts, part.parts[::-1]):
                if one.column is not None and one.column.name in columns and not used(other) & columns.keys():
                    whole = other.column is not None and one.kind is other.kind is Kind.INTEGER
                    name = columns[one.column.name]
                    found[name] = Compared(name, whole or one.kind not in (*NUMERIC, *TEMPORAL))
    return tuple(found.values())


def _refuse_fan_out(on: Typed, most: int, left: View, public: PublicTable) -> None:
    """Refuse a join in which a row may match many public rows; where a row is a unit, more than one.

    This is for the reader of the answer, and for the time that it takes: the statement keeps one match of each row
    where a row is a unit, and caps are applied after the join where people are.
    """
    if isinstance(left.unit, Row) and most > 1:
        raise QuestionError(
            given=f"A row may match several rows of {public.name}, and would then count several times ({on.text}).",
            do="Join by columns that are unique in the public table, or protect people (unit=…) instead of rows.",
        )
    if (together := max(most, 1) * _fan_out(left)) > MOST_MATCHES:
        raise QuestionError(
            given=f"A row may match {together:,} rows of {public.name} and what is joined before it, more than the "
            f"{MOST_MATCHES:,} that are allowed ({on.text}).",
            do="Join by columns that are unique in the public table.",
        )


def _fan_out(view: View) -> int:
    """How many rows of public tables a row of a view may have matched."""
    match view.rows:
        case Joined(inner, most=most):
            return max(most, 1) * _fan_out(inner)
        case Paired(inner, other):
            return max(_fan_out(inner), _fan_out(other))
        case PerPerson(inner) | Matching(inner) | OfPeople(inner):
            return _fan_out(inner)
        case Together(views):
            return max(map(_fan_out, views))
        case TableRows():
            return 1
