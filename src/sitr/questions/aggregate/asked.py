"""A question in SQL, checked against a description, with errors that point at the offending part of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from sitr.dataset.schema import Table
from sitr.errors import SitrError
from sitr.namespace import Later
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate
from sitr.questions.aggregate.bind import BoundedQuery, bound, grouped, selected
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.from_clause import read_rows
from sitr.questions.aggregate.grouping_sets import bound_with_sets
from sitr.questions.aggregate.nodes import NamedKey
from sitr.questions.aggregate.places import place
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.relations import view_of
from sitr.questions.aggregate.sets_sql import all_keys, holds_sets
from sitr.questions.aggregate.sources import Source
from sitr.questions.aggregate.sql import parse, single_select
from sitr.questions.aggregate.view import View

if TYPE_CHECKING:
    from sitr.questions.aggregate import equivalent, listing, obstacles
else:  # only a question that cannot be asked needs them
    equivalent = Later("sitr.questions.aggregate.equivalent")
    listing = Later("sitr.questions.aggregate.listing")
    obstacles = Later("sitr.questions.aggregate.obstacles")

Beyond = Callable[[BoundedQuery | None], Sequence[SitrError]]
"""Other obstacles than those of the text: of the price and the budget, for the question that can be asked instead."""


def asked(sql: str, table: Table, *, catalog: Catalog | None = None, beyond: Beyond = lambda _: ()) -> BoundedQuery:
    """The question, bounded. Without a mistake, the places of its parts are never looked for.

    If there is one, all obstacles are shown at once, those that are `beyond` the text included.
    """
    known = catalog or Catalog(table)
    try:
        return bound_with_sets(parse(sql), table, catalog=known)
    except SitrError as error:
        alike = error.others  # of the groupings
        first = error if error.excerpt is not None else pointed(error, sql, known)
        instead = equivalent.equivalent(sql, known)
        target = None if instead is None else bound(parse(instead), table, catalog=known)
        more = beyond(target)
        listed = None if target is None or target.known or not more else listing.listing_keys(target, known)
        if listed is not None and len(beyond(bound(parse(listed), table, catalog=known))) < len(more):
            # At this price, keys must be public.
            instead = f"{listed} /* {equivalent.BOUNDS} */" if instead and equivalent.BOUNDS in instead else listed
        raise first.among([*alike, *_others(first, sql, known), *more], instead=instead) from None


def pointed(error: SitrError, sql: str, catalog: Catalog) -> SitrError:
    """The same error, with the place of the part that it is about."""
    try:
        culprit, view = _culprit(single_select(sql), catalog, error)
    except (SitrError, RecursionError):  # the text cannot be read, and that is the error
        return error
    better = obstacles.explained(error, culprit, view)
    better.excerpt = place(culprit)
    return better


def _others(first: SitrError, sql: str, catalog: Catalog) -> list[SitrError]:
    """All obstacles but the first one, which is known already."""
    try:
        found = obstacles.obstacles(single_select(sql), catalog)
    except Exception:  # noqa: BLE001 (odd texts break the parser in many ways; the first obstacle is known)
        return []
    return [each for each in found if each.given != first.given]


def _culprit(tree: exp.Select, catalog: Catalog, error: SitrError) -> tuple[exp.Expr | None, View | None]:
    """The smallest part of the question that has the same error by itself, and what can be named there.

    The innermost SELECT is searched first.
    """
    for table in tree.find_all(exp.Table):
        if _fails(error, lambda table=table: view_of(table.name, catalog)):  # type: ignore[misc]
            return table, None
    for select in reversed(list(tree.find_all(exp.Select))):
        try:
            view = _kept(*read_rows(select), catalog)
        except SitrError as wrong:
            if wrong.message == error.message and select.args.get("from_") is not None:
                joins = select.args.get("joins")
                return (joins[-1] if joins else select.args["from_"]).this, None
            continue
        for part, check in _checks(select, view):
            if _fails(error, check):
                return part, view
    return None, None


def _kept(source: Source, where: Expression | None, catalog: Catalog) -> View:
    """The rows that WHERE keeps, whose bounds may follow from it; all of them if there is a mistake in it."""
    view = view_of(source, catalog)
    try:
        return selected(view, where)
    except SitrError:
        return view


def _fails(error: SitrError, check: Callable[[], object]) -> bool:
    """Whether a check has this error."""
    try:
        check()
    except SitrError as found:
        return found.message == error.message
    return False


def _checks(select: exp.Select, view: View) -> Iterator[tuple[exp.Expr, Callable[[], object]]]:
    """The parts of a question, smaller ones first, and what `bound` checks about each of them."""
    where, group = select.args.get("where"), select.args.get("group")
    if where is not None:
        for part in _inside(where.this):
            yield part, partial(_check_row, part, view)
        yield where.this, partial(_check_condition, where.this, view)
    for key in [] if group is None else all_keys(group) if holds_sets(group) else group.expressions:
        for part in _inside(key):
            yield part, partial(_check_row, part, view)
        yield key, partial(_check_key, key, view)
    for item in select.selects:
        inner = item.unalias()
        for part in _inside(inner):
            if not holds_aggregate(part):
                yield part, partial(_check_row, part, view)
            else:
                yield part, partial(_check_aggregate, part, view)


def _inside(item: exp.Expr) -> Iterator[exp.Expr]:
    """An expression and its parts, from the inside outwards."""
    for part in item.iter_expressions():
        if not isinstance(part, exp.Query):
            yield from _inside(part)
    if isinstance(item, exp.Condition) and not isinstance(item, exp.Identifier):
        yield item


def _check_row(item: exp.Expr, view: View) -> None:
    view.typed(expression(item))


def _check_condition(item: exp.Expr, view: View) -> None:
    view.condition(expression(item))


def _check_key(item: exp.Expr, view: View) -> None:
    grouped(NamedKey("key", expression(item)), view)


def _check_aggregate(item: exp.Expr, view: View) -> None:
    aggregate_of(item).bound(view)
