"""A question in SQL, checked against a description, with errors that point at the offending part of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sqlglot import exp

from sitr.dataset.schema import Table
from sitr.errors import SitrError, UnknownName
from sitr.questions.aggregate.bind import BoundedQuery, bound, condition, groupable
from sitr.questions.aggregate.places import place
from sitr.questions.aggregate.sql import aggregate_of, parse, predicate, single_select


def asked(sql: str, table: Table) -> BoundedQuery:
    """The question, bounded. Without a mistake, the places of its parts are never looked for."""
    query = parse(sql)
    try:
        return bound(query, table)
    except SitrError as error:
        error.excerpt = place(_culprit(single_select(sql), table, error))
        raise


def _culprit(select: exp.Select, table: Table, error: SitrError) -> exp.Expr | None:
    """The part of the question that has the same error by itself."""
    source: exp.Table = select.args["from_"].this
    if source.name.lower() != table.name.lower():
        return source
    for part, check in _checks(select, table):
        try:
            check()
        except SitrError as found:
            if found.message == error.message:
                unknown = (name for name in part.find_all(exp.Column) if table.find(name.name) is None)
                return next(unknown, part) if isinstance(error, UnknownName) else part
    return None


def _checks(select: exp.Select, table: Table) -> Iterator[tuple[exp.Expr, Callable[[], object]]]:
    """The parts of a question, and what `bound` checks about each of them."""
    where, group = select.args.get("where"), select.args.get("group")
    for leaf in _leaves(where.this) if where else ():
        yield leaf, partial(_check_condition, leaf, table)
    for name in group.expressions if group else ():
        yield name, partial(_check_key, name, table)
    for item in select.selects:
        if not isinstance(inner := item.unalias(), exp.Column):
            yield inner, partial(_check_aggregate, inner, table)


def _check_condition(item: exp.Expr, table: Table) -> None:
    condition(predicate(item), table)


def _check_key(item: exp.Expr, table: Table) -> None:
    groupable(table.column(item.name))


def _check_aggregate(item: exp.Expr, table: Table) -> None:
    aggregate_of(item).bound(table)


def _leaves(item: exp.Expr) -> Iterator[exp.Expr]:
    """The comparisons in a condition."""
    if isinstance(item, exp.Paren | exp.Not):
        yield from _leaves(item.this)
    elif isinstance(item, exp.Connector):
        for part in item.flatten():
            yield from _leaves(part)
    else:
        yield item
