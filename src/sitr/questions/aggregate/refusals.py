"""Refusals of SQL outside the allow-list, with the usual name of each construct."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from sitr.dataset.literals import shortened
from sitr.errors import ForbiddenConstruct
from sitr.questions.aggregate.functions.registry import FUNCTIONS, written
from sitr.questions.aggregate.instead import instead
from sitr.questions.aggregate.places import place, place_of_word

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
    "Table": "a table function",
    "Div": "arithmetic",
    "Add": "arithmetic",
    "Sub": "arithmetic",
    "Mul": "arithmetic",
    "Mod": "arithmetic",
    "Column": "a column in place of a literal",
    "Placeholder": "a placeholder",
    **dict.fromkeys(("EQ", "NEQ", "LT", "LTE", "GT", "GTE"), "a comparison in place of a literal"),
}
"""The usual names of constructs that the parser does not call by their SQL names."""


def forbidden(item: object, *, part: str = "", within: str = "", of: exp.Expr | None = None) -> ForbiddenConstruct:
    """The error for an expression, or for a `part` that an expression has; `of` has parts that are only words.

    >>> forbidden(exp.column("x") + 1).given
    'A question cannot contain arithmetic: x + 1.'
    """
    word = part.strip("_").replace("_", " ").upper()
    named = within + _PARTS.get(part, word) if part else called(item)
    sql = shortened(_sql(item))
    return ForbiddenConstruct(
        given=f"A question cannot contain {named}{f': {sql}' if sql not in ('', named) else ''}.",
        do=instead(item, part=part),
        excerpt=place(item) or place_of_word(of, word),
    )


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
            found = value[0] if isinstance(value, list) else value
            raise forbidden(found, part=part, within=within, of=item)


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
            name = item.name.upper() if isinstance(item, exp.Anonymous) else item.sql_name()
            return f"{name} other than {written(name)}" if name in FUNCTIONS else f"the function {name}"
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", kind).upper()
