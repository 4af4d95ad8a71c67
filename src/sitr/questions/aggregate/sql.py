"""From SQL to nodes, through an allow-list: a construct that is not named here cannot be asked."""

from __future__ import annotations

import logging

import sqlglot
from sqlglot import exp

from sitr.dataset.literals import shown, writable
from sitr.errors import ForbiddenConstruct, QuestionError, SitrError
from sitr.questions.aggregate.after_sql import AFTER, after_part
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate, name_ends, name_windows
from sitr.questions.aggregate.dialect import QuestionDialect
from sitr.questions.aggregate.expressions.expression import Call, Expression, spelled
from sitr.questions.aggregate.from_clause import read_rows
from sitr.questions.aggregate.instead import instead
from sitr.questions.aggregate.keys_sql import alike, keys_of, marks_of, sets_of
from sitr.questions.aggregate.nodes import After, Named, NamedKey, Query
from sitr.questions.aggregate.places import beginning, place, place_of_word, remember
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.refusals import called, refuse_other_parts
from sitr.questions.aggregate.selected_sql import settle
from sitr.questions.aggregate.sets_sql import is_mark, name_marks
from sitr.questions.aggregate.unreadable import ALLOWED, misspelled, unreadable

# The parser logs a warning about statements that it does not know, and Python prints log records that have no handler
# into the output of a command. Handlers of the application still get them.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

_NOTHING = (exp.Semicolon, type(None))
"""What the parser returns for the text after the last semicolon, comments included."""


PARTS = ("expressions", "from_", "where", "group", "joins", "with_", "distinct", *AFTER)
"""The parts that a question can have."""


def parse(sql: str, *, skipped: int = 0) -> Query:
    """Read one SELECT; its first `skipped` characters were not written by the user, and no error shows them.

    >>> parse("SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward").group_by
    (NamedKey(name='ward', of=Name(name='ward', table=None)),)
    >>> parse("SELECT COUNT(*) FROM visits CROSS JOIN staff")
    Traceback (most recent call last):
    sitr.errors.ForbiddenConstruct: A question cannot contain a join without a condition. ...
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
    found = parse(before + text, skipped=len(before))
    if found.where is None or found.group_by or found.sets or found.after != After():
        raise QuestionError(given="The condition is followed by another part of a question.", do="Leave that out.")
    return found.where


def parse_expression(text: str) -> Expression:
    """Read an expression on one row.

    >>> parse_expression("EXTRACT(month FROM day)")
    Call(function='EXTRACT', arguments=(Literal(value='month'), Name(name='day', table=None)))
    """
    match parse_condition(f"({text}) IS NULL"):
        case Call("IS NULL", (found,)):
            return found
    raise QuestionError(given=f"{text!r} is not one expression.", do="Write for example EXTRACT(month FROM day).")


def _read(select: exp.Select) -> Query:
    refuse_other_parts(select, *PARTS)
    _refuse_distinct_on(select.args.get("distinct"))
    name_ends(select)
    name_windows(select)
    name_marks(select)
    table, where = read_rows(select)
    keys = keys_of(select)
    return Query(
        table=table,
        aggregates=_aggregates(select.expressions, keys),
        group_by=keys,
        where=where,
        after=after_part(select, keys),
        sets=sets_of(select, keys),
        marks=marks_of(select, keys),
    )


def _refuse_distinct_on(distinct: exp.Expr | None) -> None:
    """DISTINCT alone changes nothing: every group has one row, and all its keys are shown."""
    if distinct is not None:
        refuse_other_parts(distinct, within="DISTINCT ")


ONE_BY_ONE = (
    "Ask them one by one, or together: write them into a file and name it with --file (in Python: budget.batch)."
)


def single_select(sql: str, *, skipped: int = 0) -> exp.Select:
    """The parser's tree, which remembers its text: the first `skipped` characters were not written by the user."""
    if not writable(sql):
        raise QuestionError(
            wanted="a question in SQL, as valid Unicode text",
            given=shown(sql),
            do=ALLOWED,
        )
    statements = [part for part in sqlglot.parse(sql, dialect=QuestionDialect) if not isinstance(part, _NOTHING)]
    for statement in statements:
        remember(statement, sql, skipped=skipped)
    match statements:
        case [exp.Select() as select]:
            settle(select)
            return select
        case []:
            raise ForbiddenConstruct(wanted="one SELECT", given="no statement", do=ALLOWED)
        case [statement]:
            raise _other_statement(statement, sql)
    raise ForbiddenConstruct(
        wanted="one SELECT",
        given="several statements",
        do=ONE_BY_ONE,
        excerpt=place(statements[1]),
    )


def _other_statement(statement: exp.Expr, sql: str) -> QuestionError:
    name = called(statement)
    return misspelled(sql) or ForbiddenConstruct(
        wanted="one SELECT",
        given=name,
        do=ONE_BY_ONE if isinstance(statement, exp.Union) and statement.find(exp.AggFunc) else instead(statement),
        excerpt=place_of_word(statement, name) or beginning(statement),
    )


def _aggregates(items: list[exp.Expr], keys: tuple[NamedKey, ...]) -> tuple[Named, ...]:
    """The selected columns that are not keys."""
    aggregates: list[Named] = []
    for item in items:
        inner, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, None)
        if is_mark(item):
            continue
        if holds_aggregate(inner) or isinstance(inner, exp.Star):
            aggregate = aggregate_of(inner)
            aggregates.append(Named(aggregate.name() if alias is None else alias, aggregate))
        else:
            check_listed(item, keys)
    return tuple(aggregates)


def check_listed(item: exp.Expr, keys: tuple[NamedKey, ...]) -> None:
    """Refuse a selected column that is neither a key nor an aggregate."""
    of = expression(item.unalias())
    if not any(alike(of, key.of) for key in keys):
        raise _not_grouped(item, of, keys)


def _not_grouped(item: exp.Expr, of: Expression, keys: tuple[NamedKey, ...]) -> QuestionError:
    """The error for a selected column that is neither a key nor an aggregate."""
    if not keys:
        given, do = f"SELECT lists the key {spelled(of)}, but there is no GROUP BY.", f"Add GROUP BY {spelled(of)}."
    else:
        listed = ", ".join(spelled(key.of) for key in keys)
        given = f"SELECT lists the key {spelled(of)}, but GROUP BY lists {listed}."
        do = "List the same keys in both places."
    return QuestionError(given=given, do=do, excerpt=place(item))
