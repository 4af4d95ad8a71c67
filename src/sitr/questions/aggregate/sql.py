"""From SQL to nodes, through an allow-list: a construct that is not named here cannot be asked."""

from __future__ import annotations

import logging
import math
import sys
from datetime import date, datetime

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from sitr.dataset.literals import shortened, shown, writable
from sitr.errors import ForbiddenConstruct, QuestionError, SitrError
from sitr.questions.aggregate.functions.function import Aggregate, Arguments
from sitr.questions.aggregate.functions.registry import FUNCTIONS
from sitr.questions.aggregate.instead import instead
from sitr.questions.aggregate.nodes import (
    And,
    Compare,
    Comparison,
    IsNull,
    Like,
    Named,
    Not,
    OneOf,
    Or,
    Predicate,
    Query,
)
from sitr.questions.aggregate.places import beginning, place, place_of_word, remember
from sitr.questions.aggregate.refusals import called, forbidden, refuse_other_parts
from sitr.questions.aggregate.spelling import Value, identifier
from sitr.questions.aggregate.unreadable import ALLOWED, misspelled, unreadable

_COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: Comparison.EQUAL,
    exp.NEQ: Comparison.UNEQUAL,
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.AT_MOST,
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.AT_LEAST,
}
_MIRRORED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.GREATER: Comparison.LESS,
    Comparison.AT_LEAST: Comparison.AT_MOST,
}
# The parser logs a warning about statements that it does not know, and Python prints log records that have no handler
# into the output of a command. Handlers of the application still get them.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

_NOTHING = (exp.Semicolon, type(None))
"""What the parser returns for the text after the last semicolon, comments included."""


def parse(sql: str, *, skipped: int = 0) -> Query:
    """Read one SELECT; its first `skipped` characters were not written by the user, and no error shows them.

    >>> parse("SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward").group_by
    ('ward',)
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


def parse_condition(text: str) -> Predicate:
    """Read a condition as it stands after WHERE.

    >>> parse_condition("days > 3")
    Compare(column='days', comparison=<Comparison.GREATER: '>'>, value=3)
    """
    before = "SELECT COUNT(*) AS n FROM t WHERE "
    where = parse(before + text, skipped=len(before)).where
    assert where is not None
    return where


def _read(select: exp.Select) -> Query:
    refuse_other_parts(select, "expressions", "from_", "where", "group")
    group_by = _group_by(select.args.get("group"))
    where = select.args.get("where")
    return Query(
        table=_table(select.args.get("from_")),
        aggregates=_selected(select.expressions, group_by),
        group_by=group_by,
        where=predicate(where.this) if where else None,
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


def _table(source: exp.From | None) -> str:
    if source is None:
        raise QuestionError(given="The question has no FROM.", do="Add FROM and the name of the table.")
    table = source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise forbidden(table)
    refuse_other_parts(table, "this")
    return table.name


def _group_by(group: exp.Group | None) -> tuple[str, ...]:
    if group is None:
        return ()
    refuse_other_parts(group, "expressions", within="GROUP BY ")
    names = tuple(_column(key) for key in group.expressions)
    if len(set(names)) < len(names):
        raise QuestionError(
            given=f"GROUP BY lists a key more than once: {', '.join(names)}.",
            do="Remove the repeated key.",
            excerpt=place(group),
        )
    return names


def _selected(items: list[exp.Expr], group_by: tuple[str, ...]) -> tuple[Named, ...]:
    keys: list[str] = []
    aggregates: list[Named] = []
    for item in items:
        inner, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, None)
        if isinstance(inner, exp.Column):
            keys.append(_column(inner))
            if alias is not None:
                raise forbidden(item, part="key alias")
        else:
            aggregate = aggregate_of(inner)
            aggregates.append(Named(aggregate.name() if alias is None else alias, aggregate))
    if sorted(keys) != sorted(group_by):
        raise _other_keys(items, keys, group_by)
    return tuple(aggregates)


def _other_keys(items: list[exp.Expr], keys: list[str], group_by: tuple[str, ...]) -> QuestionError:
    """The error for keys that are not the same in SELECT and in GROUP BY, at the first that is not in both."""
    lone = next((item for item in items if isinstance(item, exp.Column) and item.name not in group_by), None)
    selected, grouped = ", ".join(map(identifier, dict.fromkeys(keys))), ", ".join(map(identifier, group_by))
    if not group_by:
        given, do = f"SELECT lists the keys {selected}, but there is no GROUP BY.", f"Add GROUP BY {selected}."
    elif not keys:
        given, do = (
            f"GROUP BY lists the keys {grouped}, but SELECT does not.",
            f"Write SELECT {grouped}, and then the rest.",
        )
    else:
        given = f"SELECT lists the keys {', '.join(map(identifier, keys))}, but GROUP BY lists {grouped}."
        do = "List the same keys in both places."
    return QuestionError(
        given=given,
        do=do,
        excerpt=place(lone if lone is not None else items[0].root().args.get("group")),
    )


def aggregate_of(item: exp.Expr) -> Aggregate:
    """The aggregate of an expression."""
    if isinstance(item, exp.Func) and (function := FUNCTIONS.get(item.sql_name())):
        arguments = _arguments(item)
        found = None if arguments is None else function.read(arguments)
        if found is not None:
            return found
    raise forbidden(item)


def _arguments(call: exp.Func) -> Arguments | None:
    """Columns, literals and *, perhaps after DISTINCT; None if there is anything else."""
    parts: list[object] = []
    for name, value in call.args.items():
        if value and name != "big_int":  # how the parser marks a COUNT, which is no part of the question
            parts += value if isinstance(value, list) else [value]
    distinct = [part for part in parts if isinstance(part, exp.Distinct) and _only(part, "expressions")]
    if len(distinct) == len(parts) == 1:
        parts = distinct[0].expressions
    columns = tuple(_column(part) for part in parts if isinstance(part, exp.Column))
    literals = tuple(_value(part) for part in parts if isinstance(part, exp.Literal))
    stars = [part for part in parts if isinstance(part, exp.Star) and _only(part)]
    if len(columns) + len(literals) + len(stars) < len(parts) or len(stars) > 1:
        return None
    return Arguments(columns, literals, star=bool(stars), distinct=bool(distinct))


def predicate(item: exp.Expr) -> Predicate:
    """The condition of an expression."""
    match item:
        case exp.Paren():
            return predicate(item.this)
        case exp.And() | exp.Or():
            join = And if isinstance(item, exp.And) else Or
            return join(tuple(predicate(part) for part in item.flatten()))
        case exp.Not():
            return Not(predicate(item.this))
        case exp.Is(expression=exp.Null()):
            return _negated(item, IsNull(_column(item.this)))
        case exp.Between() if _only(item, "this", "low", "high"):
            name = _column(item.this)
            low, high = _value(item.args["low"]), _value(item.args["high"])
            return And((Compare(name, Comparison.AT_LEAST, low), Compare(name, Comparison.AT_MOST, high)))
        case exp.In() if item.args.get("query"):
            raise forbidden(item.args["query"])
        case exp.In() if _only(item, "this", "expressions"):
            return OneOf(_column(item.this), tuple(map(_value, item.expressions)))
        case exp.Like(expression=exp.Literal(is_string=True) as pattern):
            return _negated(item, Like(_column(item.this), pattern.name))
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return _compare(item)
    raise forbidden(item)


def _negated(item: exp.Expr, predicate: Predicate) -> Predicate:
    """The parser stores the NOT of NOT LIKE inside the LIKE."""
    refuse_other_parts(item, "this", "expression", "negate")
    return Not(predicate) if item.args.get("negate") else predicate


def _compare(item: exp.Binary) -> Compare:
    """A column and a literal, in either order."""
    comparison = _COMPARISONS[type(item)]
    if isinstance(item.expression, exp.Column) and not isinstance(item.this, exp.Column):
        return Compare(_column(item.expression), _MIRRORED.get(comparison, comparison), _value(item.this))
    return Compare(_column(item.this), comparison, _value(item.expression))


def _column(item: exp.Expr) -> str:
    """A bare column name."""
    if not isinstance(item, exp.Column) or not isinstance(item.this, exp.Identifier):
        raise forbidden(item)
    if not _only(item, "this"):
        raise forbidden(item, part="table")
    return item.name


def _value(item: exp.Expr) -> Value:
    """A literal: text, number, truth value, DATE '…' or TIMESTAMP '…'."""
    match item:
        case exp.Literal(is_string=True):
            return str(item.name)
        case exp.Literal():
            return _number(item)
        case exp.Neg(this=exp.Literal(is_string=False) as literal):
            return -_number(literal)
        case exp.Boolean():
            return bool(item.this)
        case exp.Cast(this=exp.Literal(is_string=True) as literal, to=exp.DataType() as kind) if _only(
            item, "this", "to"
        ) and _only(kind, "this"):
            try:
                if kind.this is exp.DataType.Type.DATE:
                    return date.fromisoformat(literal.name)
                if kind.this in (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ):
                    return datetime.fromisoformat(literal.name)
            except ValueError:
                raise QuestionError(
                    wanted="a date that exists, such as '2024-12-31' or '2024-12-31 09:30:00'",
                    given=shown(literal.name),
                    do="Write year, month and day, then the time if there is one.",
                    excerpt=place(literal),
                ) from None
    raise forbidden(item)


def _number(literal: exp.Literal) -> int | float:
    try:
        number = int(literal.name) if literal.name.isdecimal() else float(literal.name)
    except ValueError:  # 1e, or thousands of digits
        number = math.nan
    if not abs(number) <= sys.float_info.max:
        raise QuestionError(
            wanted="a number that a double can hold",
            given=shortened(literal.name),
            do="Write it like 12, 0.5 or 1e-3.",
            excerpt=place(literal),
        )
    return number


def _only(item: exp.Expr, *parts: str) -> bool:
    """Whether the node has only these parts: no FILTER, no ORDER BY inside an aggregate, no ESCAPE."""
    return not any(value for part, value in item.args.items() if part not in parts)
