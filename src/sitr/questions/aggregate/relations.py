"""From what stands after FROM to a view, with every check; `view` proves that views keep each row's unit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sitr.errors import QuestionError, UnknownName
from sitr.namespace import Later
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.naming import refuse_repeated
from sitr.questions.aggregate.sources import Aliased, Among, Join, PersonCall, Select, Source, UnionAll
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.view import View, Visible

if TYPE_CHECKING:
    from sitr.questions.aggregate import among, pairing, per_person, public_join, union
else:  # most questions read one table
    among = Later("sitr.questions.aggregate.among")
    pairing = Later("sitr.questions.aggregate.pairing")
    per_person = Later("sitr.questions.aggregate.per_person")
    public_join = Later("sitr.questions.aggregate.public_join")
    union = Later("sitr.questions.aggregate.union")


def view_of(source: Source, catalog: Catalog) -> View:
    """The rows that a question is about."""
    match source:
        case str():
            return _table(source, catalog)
        case Aliased(of, name):
            view = view_of(of, catalog)
            return replace(view, name=name, columns=tuple(replace(each, table=name) for each in view.columns))
        case Select():
            return _select(source, catalog)
        case Join():
            return _join(source, catalog)
        case UnionAll(parts):
            return union.together([view_of(part, catalog) for part in parts])
        case Among():
            return _among(source, catalog)


def _table(name: str, catalog: Catalog) -> View:
    if (own := catalog.own(name)) is not None:
        return View.of(own)
    if catalog.find(name) is not None:
        raise QuestionError(
            given=f"The table {name} is public, so that a question about it alone needs no privacy.",
            do=f"Read it directly, or join it: FROM {identifier(catalog.table.name)} JOIN {identifier(name)} ON ….",
        )
    known = ", ".join((catalog.table.name, *catalog.public))
    raise UnknownName(
        given=f"This budget knows no table {name!r}, only {known}.",
        do=f"Write FROM {identifier(catalog.table.name)}.",
    )


def _select(select: Select, catalog: Catalog) -> View:
    """A sub-query that computes on rows needs no step of its own: its expressions take the place of its columns."""
    inner = view_of(select.table, catalog)
    if select.where is not None:
        inner = inner.keeping(select.where)
    if select.group_by is not None:
        return per_person.per_person(select, inner, catalog.table)
    if not select.columns:
        return inner
    columns, every = [], inner.unconditional()
    for column in select.columns:
        if isinstance(column.of, PersonCall):
            raise per_person.ungrouped(inner)
        typed, plain = inner.typed(column.of), every.typed(column.of)
        columns.append(Visible(inner.name, column.name, typed, None if plain == typed else plain))
    refuse_repeated([column.name for column in columns])
    return replace(inner, columns=tuple(columns))


def _join(join: Join, catalog: Catalog) -> View:
    left = view_of(join.left, catalog)
    if (other := _protected(join.right, catalog)) is not None:
        return pairing.paired(join, public_join.condition_of(join, left, other.name), left, other, other.name)
    return public_join.public_join(join, left, catalog)


def _protected(source: Source, catalog: Catalog) -> View | None:
    """The view on the right of a join if it is of a protected table, or None."""
    of = source.of if isinstance(source, Aliased) else source
    if isinstance(of, str):
        return view_of(source, catalog) if catalog.own(of) is not None else None
    return view_of(source, catalog)


def _among(source: Among, catalog: Catalog) -> View:
    """The rows whose value is among those of a sub-query: about a public table, or about the same people."""
    view, listed = view_of(source.of, catalog), source.among
    table = listed.table if isinstance(listed, Select) else None
    name = table.of if isinstance(table, Aliased) else table
    public = catalog.find(name) if isinstance(name, str) else None
    if public is not None and isinstance(listed, Select):
        return among.matching(view, source, listed, public, catalog)
    return among.of_people(view, source, view_of(listed, catalog))
