"""From SQL to nodes, through an allow-list: a construct that is not named here cannot be asked."""

from __future__ import annotations

import logging
from dataclasses import replace
from fractions import Fraction

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from sitr.dataset.literals import shown, writable
from sitr.errors import ForbiddenConstruct, QuestionError, SitrError
from sitr.questions.aggregate.expressions.expression import Expression, Literal, Name, spelled
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.function import Aggregate, Arguments
from sitr.questions.aggregate.functions.quantile import Median, Quantile
from sitr.questions.aggregate.functions.registry import function_of
from sitr.questions.aggregate.instead import instead
from sitr.questions.aggregate.nodes import Named, NamedKey, Query
from sitr.questions.aggregate.places import beginning, place, place_of_word, remember
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.refusals import called, forbidden, refuse_other_parts
from sitr.questions.aggregate.unreadable import ALLOWED, misspelled, unreadable

# The parser logs a warning about statements that it does not know, and Python prints log records that have no handler
# into the output of a command. Handlers of the application still get them.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

_NOTHING = (exp.Semicolon, type(None))
"""What the parser returns for the text after the last semicolon, comments included."""


def parse(sql: str, *, skipped: int = 0) -> Query:
    """Read one SELECT; its first `skipped` characters were not written by the user, and no error shows them.

    >>> parse("SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward").group_by
    (NamedKey(name='ward', of=Name(name='ward', table=None)),)
    >>> parse("SELECT * FROM visits JOIN staff USING (ward)")
    Traceback (most recent call last):
    sitr.errors.ForbiddenConstruct: A question cannot contain a join: ...
    """
    try:
        return _read(single_select(sql, skipped=skipped))
    except SitrError:
        raise
    except RecursionError:
        raise QuestionError(given="The SQL is nested too deeply.", do="Nest fewer brackets.") from None
    except Exception as error:  # noqa: BLE001 (odd texts break the parser in many ways, and each must be refused in words)
        raise unreadable(error, sql, skipped=skipped) from None


def parse_condition(text: str) -> Expression:
    """Read a condition as it stands after WHERE.

    >>> parse_condition("days > 3")
    Call(function='>', arguments=(Name(name='days', table=None), Literal(value=3)))
    """
    before = "SELECT COUNT(*) AS n FROM t WHERE "
    where = parse(before + text, skipped=len(before)).where
    assert where is not None
    return where


def _read(select: exp.Select) -> Query:
    refuse_other_parts(select, "expressions", "from_", "where", "group")
    table, alias = _table(select.args.get("from_"))
    keys = _keys(select)
    where = select.args.get("where")
    return Query(
        table=table,
        aggregates=_aggregates(select.expressions, keys),
        group_by=keys,
        where=expression(where.this) if where else None,
        alias=alias,
    )


def single_select(sql: str, *, skipped: int = 0) -> exp.Select:
    """The parser's tree, which remembers its text: the first `skipped` characters were not written by the user."""
    if not writable(sql):
        raise QuestionError(
            wanted="a question in SQL, as valid Unicode text",
            given=shown(sql),
            do=ALLOWED,
        )
    statements = [part for part in sqlglot.parse(sql, dialect=DuckDB) if not isinstance(part, _NOTHING)]
    for statement in statements:
        remember(statement, sql, skipped=skipped)
    match statements:
        case [exp.Select() as select]:
            return select
        case []:
            raise ForbiddenConstruct(wanted="one SELECT", given="no statement", do=ALLOWED)
        case [statement]:
            raise _other_statement(statement, sql)
    raise ForbiddenConstruct(
        wanted="one SELECT", given="several statements", do="Ask them one by one.", excerpt=place(statements[1])
    )


def _other_statement(statement: exp.Expr, sql: str) -> QuestionError:
    name = called(statement)
    return misspelled(sql) or ForbiddenConstruct(
        wanted="one SELECT",
        given=name,
        do=instead(statement),
        excerpt=place_of_word(statement, name) or beginning(statement),
    )


def _table(source: exp.From | None) -> tuple[str, str | None]:
    """The name of the table, and its second name if it has one."""
    if source is None:
        raise QuestionError(given="The question has no FROM.", do="Add FROM and the name of the table.")
    table = source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise forbidden(table)
    refuse_other_parts(table, "this", "alias")
    return table.name, table.alias or None


def _keys(select: exp.Select) -> tuple[NamedKey, ...]:
    """What GROUP BY lists: expressions, numbers of selected columns, or their names. Each has a name in the answer."""
    group = select.args.get("group")
    if group is None:
        return ()
    refuse_other_parts(group, "expressions", within="GROUP BY ")
    items = list(select.expressions)
    found = [_key(item, items) for item in group.expressions]
    if len({key.of for key in found}) < len(found):
        raise QuestionError(
            given=f"GROUP BY lists a key more than once: {', '.join(spelled(key.of) for key in found)}.",
            do="Remove the repeated key.",
            excerpt=place(group),
        )
    return tuple(found)


def _key(item: exp.Expr, items: list[exp.Expr]) -> NamedKey:
    if isinstance(item, exp.Literal) and not item.is_string and item.name.isdecimal():
        if not 1 <= int(item.name) <= len(items):
            raise QuestionError(
                given=f"GROUP BY {item.name} names no column: SELECT has {len(items)}.",
                do="Use the number of a selected column, or its name.",
                excerpt=place(item),
            )
        return _named_key(items[int(item.name) - 1])
    if isinstance(item, exp.Column) and not item.table:
        for selected in items:
            if isinstance(selected, exp.Alias) and selected.alias.lower() == item.name.lower():
                return _named_key(selected)
    of = expression(item)
    for selected in items:
        if not holds_aggregate(selected) and expression(selected.unalias()) == of:
            return _named_key(selected)
    return NamedKey(_default_name(of), of)


def _named_key(selected: exp.Expr) -> NamedKey:
    of = expression(selected.unalias())
    return NamedKey(selected.alias if isinstance(selected, exp.Alias) else _default_name(of), of)


def _default_name(of: Expression) -> str:
    return of.name if isinstance(of, Name) else spelled(of)


def holds_aggregate(item: exp.Expr) -> bool:
    """Whether an aggregate function is in an expression."""
    return any(isinstance(part, exp.AggFunc) or function_of(_function(part)) for part in item.walk())


def _function(item: exp.Expr) -> str:
    """The name of a function in SQL; empty if it is none."""
    if isinstance(item, exp.Anonymous):
        return item.name.upper()
    return item.sql_name() if isinstance(item, exp.Func) else ""


def _aggregates(items: list[exp.Expr], keys: tuple[NamedKey, ...]) -> tuple[Named, ...]:
    """The selected columns that are not keys."""
    aggregates: list[Named] = []
    for item in items:
        inner, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, None)
        if holds_aggregate(inner) or isinstance(inner, exp.Star):
            aggregate = aggregate_of(inner)
            aggregates.append(Named(aggregate.name() if alias is None else alias, aggregate))
        elif expression(inner) not in [key.of for key in keys]:
            raise _not_grouped(item, expression(inner), keys)
    return tuple(aggregates)


def _not_grouped(item: exp.Expr, of: Expression, keys: tuple[NamedKey, ...]) -> QuestionError:
    """The error for a selected column that is neither a key nor an aggregate."""
    if not keys:
        given, do = f"SELECT lists the key {spelled(of)}, but there is no GROUP BY.", f"Add GROUP BY {spelled(of)}."
    else:
        listed = ", ".join(spelled(key.of) for key in keys)
        given = f"SELECT lists the key {spelled(of)}, but GROUP BY lists {listed}."
        do = "List the same keys in both places."
    return QuestionError(given=given, do=do, excerpt=place(item))


def aggregate_of(item: exp.Expr) -> Aggregate:
    """The aggregate of an expression."""
    if isinstance(item, exp.Paren):
        return aggregate_of(item.this)
    if _function(item) == "WITH_INTERVAL" and len(item.expressions) == 1:
        inner = aggregate_of(item.expressions[0])  # only quantiles have no interval without asking for it
        return replace(inner, interval=True) if isinstance(inner, Median | Quantile) else inner
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
