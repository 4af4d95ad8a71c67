"""From SQL to nodes, through an allow-list: a construct that is not named here cannot be asked."""

from __future__ import annotations

import logging

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from sitr.dataset.literals import shown, writable
from sitr.errors import ForbiddenConstruct, QuestionError, SitrError
from sitr.questions.aggregate.after_sql import AFTER, after_part
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate
from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.from_clause import read_from
from sitr.questions.aggregate.instead import instead
from sitr.questions.aggregate.nodes import After, Named, NamedKey, Query
from sitr.questions.aggregate.places import beginning, place, place_of_word, remember
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.refusals import called, refuse_other_parts
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
    >>> parse("SELECT COUNT(*) FROM visits CROSS JOIN staff")
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
    found = parse(before + text, skipped=len(before))
    if found.where is None or found.group_by or found.after != After():
        raise QuestionError(given="The condition is followed by another part of a question.", do="Leave that out.")
    return found.where


def _read(select: exp.Select) -> Query:
    refuse_other_parts(select, "expressions", "from_", "where", "group", "joins", "with_", "distinct", *AFTER)
    _refuse_distinct_on(select.args.get("distinct"))
    table = read_from(select)
    keys = _keys(select)
    where = select.args.get("where")
    return Query(
        table=table,
        aggregates=_aggregates(select.expressions, keys),
        group_by=keys,
        where=expression(where.this) if where else None,
        after=after_part(select, keys),
    )


def _refuse_distinct_on(distinct: exp.Expr | None) -> None:
    """DISTINCT alone changes nothing: every group has one row, and all its keys are shown."""
    if distinct is not None:
        refuse_other_parts(distinct, within="DISTINCT ")


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
            named = isinstance(selected, exp.Alias) and selected.alias.lower() == item.name.lower()
            if named and not holds_aggregate(selected):
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
