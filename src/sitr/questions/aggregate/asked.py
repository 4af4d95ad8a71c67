"""A question in SQL, checked against a description, with errors that point at the offending part of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sqlglot import exp

from sitr.dataset.schema import Table
from sitr.errors import SitrError
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate
from sitr.questions.aggregate.bind import BoundedQuery, bound, grouped
from sitr.questions.aggregate.nodes import NamedKey
from sitr.questions.aggregate.places import place
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.sql import parse, single_select
from sitr.questions.aggregate.view import View


def asked(sql: str, table: Table) -> BoundedQuery:
    """The question, bounded. Without a mistake, the places of its parts are never looked for."""
    query = parse(sql)
    try:
        return bound(query, table)
    except SitrError as error:
        view = View.of(table, name=query.alias)
        error.excerpt = place(_culprit(single_select(sql), table, view, error))
        raise


def _culprit(select: exp.Select, table: Table, view: View, error: SitrError) -> exp.Expr | None:
    """The smallest part of the question that has the same error by itself, or else the first."""
    source: exp.Table = select.args["from_"].this
    if source.name.lower() != table.name.lower():
        return source
    for part, check in _checks(select, view):
        try:
            check()
        except SitrError as found:
            if found.message == error.message:
                return part
    return None


def _checks(select: exp.Select, view: View) -> Iterator[tuple[exp.Expr, Callable[[], object]]]:
    """The parts of a question, smaller ones first, and what `bound` checks about each of them."""
    where, group = select.args.get("where"), select.args.get("group")
    if where is not None:
        for part in _inside(where.this):
            yield part, partial(_check_row, part, view)
        yield where.this, partial(_check_condition, where.this, view)
    for key in group.expressions if group is not None else ():
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
