"""From SQL to aggregates, and to arithmetic over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from sitr.questions.aggregate.expressions.expression import Aggregated, Expression, Literal
from sitr.questions.aggregate.functions.combined import Combined
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.extremes import Maximum, Minimum
from sitr.questions.aggregate.functions.function import Aggregate, Arguments
from sitr.questions.aggregate.functions.operators import RANKS, TOTALS, Filtered, IntervalEnd, Over
from sitr.questions.aggregate.functions.quantile import Median, Quantile
from sitr.questions.aggregate.functions.registry import function_of
from sitr.questions.aggregate.places import copied
from sitr.questions.aggregate.reader import AGGREGATE, expression
from sitr.questions.aggregate.refusals import forbidden, refuse_other_parts


def holds_aggregate(item: exp.Expr) -> bool:
    """Whether an aggregate function is in an expression."""
    return any(is_aggregate(part) for part in item.walk())


def aggregate_of(item: exp.Expr) -> Aggregate:
    """The aggregate of an expression: a call, a call with FILTER, or arithmetic over several."""
    if isinstance(item, exp.Paren):
        return aggregate_of(item.this)
    if isinstance(item, exp.Window):
        return _window(item)
    if isinstance(item, exp.Filter) and isinstance(item.expression, exp.Where):
        return Filtered(aggregate_of(item.this), expression(item.expression.this))
    if is_aggregate(item):
        return _called(item)
    if not isinstance(item, exp.Star) and holds_aggregate(item):
        return Combined(over_aggregates(item))
    raise forbidden(item)


def over_aggregates(item: exp.Expr) -> Expression:
    """An expression whose aggregates are read as such, and everything around them as on rows."""
    if is_aggregate(item) or isinstance(item, exp.Filter | exp.Window):
        return Aggregated(aggregate_of(item))
    whole = copied(item)
    for part in list(_outermost(whole)):
        found = exp.Placeholder()
        found.meta.update({**part.meta, AGGREGATE: aggregate_of(part)})
        part.replace(found)
    return expression(whole)


def _outermost(item: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates that are in no other one."""
    if is_aggregate(item) or isinstance(item, exp.Filter | exp.Window):
        yield item
    else:
        for part in item.iter_expressions():
            yield from _outermost(part)


def _window(item: exp.Window) -> Over:
    """A total over released rows, or a rank of them; windows over the rows of people are refused."""
    refuse_other_parts(item, "this", "partition_by", "order", "over")
    call, order = item.this, item.args.get("order")
    within = tuple(map(expression, item.args.get("partition_by") or ()))
    name = _function(call)
    if name in TOTALS and order is None and _only(call, "this") and holds_aggregate(call.this):
        return Over(name, aggregate_of(call.this), within)
    if name in RANKS and order is not None and len(order.expressions) == 1 and not call.args.get("expressions"):
        (by,) = order.expressions
        refuse_other_parts(by, "this", "desc", "nulls_first")
        if holds_aggregate(by.this):
            return Over(name, aggregate_of(by.this), within, bool(by.args.get("desc")))
    raise forbidden(item)


def name_windows(select: exp.Select) -> None:
    """RANK() OVER (PARTITION BY k ORDER BY n) is about the selected columns k and n."""
    columns = {item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    for window in [each for each in select.find_all(exp.Window) if each.parent_select is select]:
        order = window.args.get("order")
        ordered = [each.this for each in order.expressions] if order is not None else []
        for name in [*ordered, *(window.args.get("partition_by") or ()), window.this.this]:
            of = columns.get(name.name.lower()) if isinstance(name, exp.Column) and not name.table else None
            if of is not None and of.find(exp.Window) is None:
                found = copied(of)
                found.meta.clear()
                name.replace(found)


def is_aggregate(item: exp.Expr) -> bool:
    """Whether it is an aggregate function, without what stands around it."""
    return isinstance(item, exp.AggFunc | exp.WithinGroup) or _function(item) in _WRAPPERS or _known(item)


_ENDS = ("DP_INTERVAL_LOW", "DP_INTERVAL_HIGH")
_WRAPPERS = ("WITH_INTERVAL", *_ENDS)
"""Functions of aggregates."""


def name_ends(select: exp.Select) -> None:
    """DP_INTERVAL_LOW(n) is about the selected column n, as in Snowflake."""
    columns = {item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    for call in [call for call in select.find_all(exp.Anonymous) if _function(call) in _ENDS]:
        for name in call.expressions:
            bare = (isinstance(name, exp.Column) and not name.table) or (
                isinstance(name, exp.Literal) and name.is_string
            )
            of = columns.get(name.name.lower()) if bare else None
            if of is not None and holds_aggregate(of):
                found = copied(of)
                found.meta.clear()
                name.replace(found)


def _known(item: exp.Expr) -> bool:
    return function_of(_function(item)) is not None


def _function(item: exp.Expr) -> str:
    """The name of a function in SQL; empty if it is none."""
    if isinstance(item, exp.Anonymous):
        return item.name.upper()
    return item.sql_name() if isinstance(item, exp.Func) else ""


def _called(item: exp.Expr) -> Aggregate:
    if _function(item) == "WITH_INTERVAL" and len(item.expressions) == 1:
        inner = aggregate_of(item.expressions[0])  # only quantiles have no interval without asking for it
        return replace(inner, interval=True) if isinstance(inner, Median | Quantile | Minimum | Maximum) else inner
    if _function(item) in _ENDS and len(item.expressions) == 1:
        return IntervalEnd(aggregate_of(item.expressions[0]), upper=_function(item) == _ENDS[1])
    call = item.this if isinstance(item, exp.WithinGroup) else item
    if isinstance(call, exp.Func) and (function := function_of(_function(call))):
        arguments = _arguments(call)
        if isinstance(item, exp.WithinGroup):
            arguments = _ordered(item, arguments)
        found = None if arguments is None else function.read(arguments)
        if found is not None:
            return found
    if isinstance(item, exp.ApproxDistinct) and _only(item, "this"):
        return Count(expression(item.this), distinct=True)
    raise forbidden(item)


def _ordered(item: exp.WithinGroup, levels: Arguments | None) -> Arguments | None:
    """PERCENTILE_CONT(level) WITHIN GROUP (ORDER BY x): x and the level, which counts from above in DESC order."""
    order = item.expression
    if levels is None or not isinstance(order, exp.Order) or len(order.expressions) != 1:
        return None
    (by,) = order.expressions
    if not (isinstance(by, exp.Ordered) and _only(by, "this", "desc", "nulls_first") and len(levels.expressions) == 1):
        return None
    (level,) = levels.expressions
    if by.args.get("desc") and isinstance(level, Literal) and type(level.value) in (int, float):
        level = Literal(float(1 - Fraction(repr(level.value))))
    return Arguments((expression(by.this), level))


def _arguments(call: exp.Func) -> Arguments | None:
    """Expressions or *, perhaps after DISTINCT; None if there is anything else."""
    parts: list[object] = []
    for name, value in call.args.items():
        if (
            value and name != "big_int" and not isinstance(value, str)
        ):  # COUNT is marked so, and no part of the question
            parts += value if isinstance(value, list) else [value]
    parts = [each for part in parts for each in (part.expressions if isinstance(part, exp.Array) else [part])]
    distinct = [part for part in parts if isinstance(part, exp.Distinct) and _only(part, "expressions")]
    if len(distinct) == len(parts) == 1:
        parts = distinct[0].expressions
    stars = [part for part in parts if isinstance(part, exp.Star) and _only(part)]
    others = [part for part in parts if not any(part is star for star in stars)]
    if len(stars) > 1 or not all(isinstance(part, exp.Expr) for part in others):
        return None
    if any(isinstance(part, exp.Star | exp.Distinct | exp.Order | exp.Ordered) for part in others):
        return None
    return Arguments(tuple(map(expression, others)), star=bool(stars), distinct=bool(distinct))  # type: ignore[arg-type]


def _only(item: exp.Expr, *parts: str) -> bool:
    """Whether the node has only these parts: no FILTER, no ORDER BY inside an aggregate, no ESCAPE."""
    return not any(value for part, value in item.args.items() if part not in parts)
