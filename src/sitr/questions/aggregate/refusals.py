"""Refusals of SQL outside the allow-list, with the usual name of each construct."""

from __future__ import annotations

import re

from sqlglot import exp

from sitr.dataset.literals import shortened
from sitr.errors import ForbiddenConstruct
from sitr.questions.aggregate.dialect import sql_of
from sitr.questions.aggregate.functions.registry import FUNCTIONS, written
from sitr.questions.aggregate.instead import instead
from sitr.questions.aggregate.places import place, place_of_word, source

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
    sql = shortened(_as_written(item) or _sql(item))
    return ForbiddenConstruct(
        given=f"A question cannot contain {named}{f': {sql}' if sql not in ('', named) else ''}.",
        do=instead(item, part=part),
        excerpt=place(item) or place_of_word(of, word),
    )


def _as_written(item: object) -> str:
    """The construct in the user's words, where the parser has others or parts of it were replaced; or empty."""
    text = source(item) or ""
    if isinstance(item, exp.Subquery | exp.Select):
        return text if item.find(exp.Placeholder) and "?" not in text else ""
    return text if _own_name(item, text) or (isinstance(item, exp.GroupConcat) and text) else ""


def _own_name(item: object, text: str) -> str:
    """The name that the user gave to a function, if the parser has another one; or empty."""
    found = re.match(r"(\w+)\s*\(", text)
    odd = exp.Anonymous | exp.Connector | exp.Lambda
    if found is None or not isinstance(item, exp.Func) or isinstance(item, odd):
        return ""
    return "" if found[1].upper() == item.sql_name() else found[1].upper()


def _sql(item: object) -> str:
    """The construct as SQL, or an empty text if it cannot be written."""
    try:
        return sql_of(item, comments=False) if isinstance(item, exp.Expr) else ""
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
            if name not in FUNCTIONS and (own := _own_name(item, source(item) or "")):
                return f"the function {own}"
            return f"{name} other than {written(name)}" if name in FUNCTIONS else f"the function {name}"
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", kind).upper()
