"""What is outside the allow-list, called by the name that people know it by."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, SqlglotError

from sitr.dataset.literals import shortened, shown
from sitr.errors import ForbiddenConstruct, QuestionError

ALLOWED = (
    "Allowed is SELECT keys and COUNT(*), COUNT(column), COUNT(DISTINCT unit), SUM(column), each with AS name, "
    "FROM one table, WHERE with comparisons of a column and a literal, BETWEEN, IN, LIKE, IS NULL, AND, OR, NOT, "
    'and GROUP BY columns. Names with spaces or signs in them need double quotes, as in SUM("hours-per-week").'
)

_PARTS = {
    "joins": "a join",
    "laterals": "a join",
    "alias": "a second name for the table",
    "db": "a schema in front of the table",
    "order": "ORDER BY",
    "locks": "FOR UPDATE or FOR SHARE",
    "pivots": "PIVOT or UNPIVOT",
    "windows": "WINDOW",
    "when": "an older version of the table",
    "kind": "SELECT AS",
}
"""The parts of a construct whose names the parser did not take from SQL."""

_KINDS = {
    "Subquery": "a sub-query",
    "Select": "a sub-query",
    "Window": "a window function",
    "Star": "*",
    "Anonymous": "a function of your own",
    "Table": "a function as table",
    "Div": "arithmetic",
    "Add": "arithmetic",
    "Sub": "arithmetic",
    "Mul": "arithmetic",
    "Mod": "arithmetic",
    "Column": "a column in place of a literal",
    "Sum": "SUM of anything but a column",
    "Count": "COUNT of anything but *, a column, or DISTINCT and the unit",
    "Placeholder": "a placeholder",
    "Null": "a comparison with NULL (write IS NULL)",
}
"""The same for constructs."""


def forbidden(item: object, *, what: str | None = None) -> ForbiddenConstruct:
    """The error for a construct in a SELECT.

    >>> forbidden(exp.column("x") + 1).wanted
    'A question without arithmetic was wanted.'
    """
    named = what or called(item)
    return ForbiddenConstruct(
        wanted=f"A question without {named} was wanted.",
        given=f"The text has: {shortened(_written(item)) or named}.",
        do=ALLOWED,
    )


def _written(item: object) -> str:
    """The construct as SQL, or nothing if it cannot be written as such."""
    try:
        return item.sql(dialect=DuckDB, comments=False) if isinstance(item, exp.Expr) else ""
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 (incomplete constructs fail in as many ways as there are)
        return ""


def refuse_other_parts(item: exp.Expr, *parts: str, within: str = "") -> None:
    """Whatever a construct has apart from these parts is forbidden."""
    for part, value in item.args.items():
        if value and part not in parts:
            what = within + _PARTS.get(part, part.strip("_").replace("_", " ").upper())
            raise forbidden(value[0] if isinstance(value, list) else value, what=what)


def called(item: object) -> str:
    """What a construct is called by people.

    >>> called(exp.func("upper", exp.column("x"))), called(exp.Command(this="load")), called(exp.GroupingSets())
    ('the function UPPER', 'LOAD', 'GROUPING SETS')
    """
    kind = type(item).__name__
    match item:
        case _ if kind in _KINDS:
            return _KINDS[kind]
        case exp.Command():
            return item.name.upper()
        case exp.Func() if not isinstance(item, exp.Connector):
            return f"the function {item.sql_name()}"
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", kind).upper()


def unreadable(error: Exception) -> QuestionError:
    """The error for a text that is no SQL, without the parser's picture of it."""
    match error:
        case ParseError(errors=[{"highlight": str(place)}, *_]) if place:
            given = f"The text cannot be read near {shown(place)}."
        case SqlglotError():
            given = "The text cannot be read: perhaps a quote or a comment is not closed."
        case _:
            given = "The text cannot be read."
    return QuestionError(wanted="A question in SQL was wanted.", given=given, do=ALLOWED)
