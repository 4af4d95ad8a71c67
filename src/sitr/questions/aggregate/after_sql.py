"""From SQL to what is done with the released rows: HAVING, ORDER BY, LIMIT, OFFSET and FETCH."""

from __future__ import annotations

from sqlglot import exp

from sitr.errors import QuestionError
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate, over_aggregates
from sitr.questions.aggregate.expressions.expression import Expression, Name
from sitr.questions.aggregate.nodes import After, NamedKey, Order
from sitr.questions.aggregate.places import place
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.refusals import forbidden, refuse_other_parts

AFTER = ("having", "order", "limit", "offset")
"""The parts of a SELECT that are read here."""


def after_part(select: exp.Select, keys: tuple[NamedKey, ...]) -> After:
    """What is done with the released rows of a question."""
    having, order = select.args.get("having"), select.args.get("order")
    if order is not None:
        refuse_other_parts(order, "expressions", within="ORDER BY ")
    return After(
        None if having is None else over_aggregates(having.this),
        tuple(_order(item, select, keys) for item in (order.expressions if order is not None else ())),
        _limit(select.args.get("limit")),
        _number(select.args.get("offset"), "expression") or 0,
    )


def _order(item: exp.Expr, select: exp.Select, keys: tuple[NamedKey, ...]) -> Order:
    refuse_other_parts(item, "this", "desc", "nulls_first")
    by = item.this
    found: Expression
    if isinstance(by, exp.Literal) and not by.is_string and by.name.isdecimal():
        found = _at(by, select, keys)
    else:
        found = over_aggregates(by)
    return Order(found, bool(item.args.get("desc")), bool(item.args.get("nulls_first")))


def _at(position: exp.Literal, select: exp.Select, keys: tuple[NamedKey, ...]) -> Name:
    """The selected column of this number."""
    items = select.expressions
    if not 1 <= int(position.name) <= len(items):
        raise QuestionError(
            given=f"ORDER BY {position.name} names no column: SELECT has {len(items)}.",
            do="Use the number of a selected column, or its name.",
            excerpt=place(position),
        )
    item = items[int(position.name) - 1]
    if isinstance(item, exp.Alias):
        return Name(item.alias)
    if holds_aggregate(item):
        return Name(aggregate_of(item).name())
    of = expression(item)
    return Name(next((key.name for key in keys if key.of == of), getattr(of, "name", "")))


def _limit(limit: exp.Expr | None) -> int | None:
    if isinstance(limit, exp.Fetch):
        refuse_other_parts(limit, "direction", "count", "limit_options")
    elif limit is not None:
        refuse_other_parts(limit, "expression", "limit_options")
    options = None if limit is None else limit.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        raise forbidden(limit)
    return _number(limit, "count" if isinstance(limit, exp.Fetch) else "expression")


def _number(item: exp.Expr | None, part: str) -> int | None:
    """The number of rows in LIMIT, OFFSET or FETCH."""
    if item is None:
        return None
    found = item.args.get(part)
    if not (isinstance(found, exp.Literal) and not found.is_string and found.name.isdecimal() and len(found.name) < 16):
        raise forbidden(item)
    return int(found.name)
