"""Refusals of SQL outside the allow-list, with the usual name of each construct."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, SqlglotError

from sitr.dataset.literals import shortened, shown
from sitr.errors import ForbiddenConstruct, QuestionError
from sitr.questions.aggregate.functions.registry import FUNCTIONS, written

ALLOWED = (
    f"Write SELECT with keys and {written()}, each with AS name, FROM one table, WHERE with comparisons of a column "
    "and a literal, BETWEEN, IN, LIKE, IS NULL, AND, OR and NOT, and GROUP BY columns; "
    'names with spaces or signs need double quotes, as in SUM("hours-per-week").'
)

_PARTS = {
    "joins": "a join",
    "laterals": "a join",
    "alias": "a second name for the table",
    "db": "a schema before the table",
    "order": "ORDER BY",
    "locks": "FOR UPDATE or FOR SHARE",
    "pivots": "PIVOT or UNPIVOT",
    "windows": "WINDOW",
    "when": "an older version of the table",
    "kind": "SELECT AS",
}
"""The usual names of parts that the parser does not call by their SQL names."""

_KINDS = {
    "Subquery": "a sub-query",
    "Select": "a sub-query",
    "Window": "a window function",
    "Star": "*",
    "Anonymous": "a function of your own",
    "Table": "a table function",
    "Div": "arithmetic",
    "Add": "arithmetic",
    "Sub": "arithmetic",
    "Mul": "arithmetic",
    "Mod": "arithmetic",
    "Column": "a column in place of a literal",
    "Placeholder": "a placeholder",
    "Null": "a comparison with NULL (write IS NULL)",
}
"""The usual names of constructs that the parser does not call by their SQL names."""


def forbidden(item: object, *, what: str | None = None) -> ForbiddenConstruct:
    """The error for a construct in a SELECT.

    >>> forbidden(exp.column("x") + 1).given
    'A question cannot contain arithmetic: x + 1.'
    """
    named, sql = what or called(item), shortened(_sql(item))
    return ForbiddenConstruct(given=f"A question cannot contain {named}{f': {sql}' if sql else ''}.", do=ALLOWED)


def _sql(item: object) -> str:
    """The construct as SQL, or an empty text if it cannot be written."""
    try:
        return item.sql(dialect=DuckDB, comments=False) if isinstance(item, exp.Expr) else ""
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 (incomplete constructs fail in many ways)
        return ""


def refuse_other_parts(item: exp.Expr, *parts: str, within: str = "") -> None:
    """Refuse a construct that has any other part than these."""
    for part, value in item.args.items():
        if value and part not in parts:
            what = within + _PARTS.get(part, part.strip("_").replace("_", " ").upper())
            raise forbidden(value[0] if isinstance(value, list) else value, what=what)


def called(item: object) -> str:
    """The usual name of a construct.

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
            name = item.sql_name()
            return f"{name} other than {written(name)}" if name in FUNCTIONS else f"the function {name}"
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", kind).upper()


def unreadable(error: Exception) -> QuestionError:
    """The error for a text that is not SQL, without the parser's own message."""
    match error:
        case ParseError(errors=[{"highlight": str(place)}, *_]) if place:
            given = f"The SQL cannot be read near {shown(place)}."
        case SqlglotError():
            given = "The SQL cannot be read: perhaps a quote or a comment is not closed."
        case _:
            given = "The SQL cannot be read."
    return QuestionError(given=given, do=ALLOWED)
