"""A question whose keys are listed in WHERE: what can be asked where keys are not public and the price has no δ."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

from sitr.dataset.schema import Kind
from sitr.errors import SitrError
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.spelling import Value
from sitr.questions.aggregate.sql import parse

KEYS = "replace the values after IN by public ones"
"""The comment after a question with placeholders for keys."""

_PLACEHOLDERS: dict[Kind, tuple[Value, Value]] = {
    Kind.TEXT: ("A", "B"),
    Kind.INTEGER: (1, 2),
    Kind.BOOLEAN: (False, True),
    Kind.DATE: (date(2024, 1, 1), date(2024, 1, 2)),
    Kind.TIMESTAMP: (datetime(2024, 1, 1), datetime(2024, 1, 2)),  # noqa: DTZ001
}


def listing_keys(query: BoundedQuery, catalog: Catalog) -> str | None:
    """The question with placeholders for its keys that are not public; None if they cannot be listed."""
    unknown = [key for key in query.keys if key.keys is None]
    listed: list[Expression] = [
        Call("IN", (key.of.expression, *map(Literal, _PLACEHOLDERS[key.kind]))) for key in unknown
    ]
    asked = query.query
    parts = (*(() if asked.where is None else (asked.where,)), *listed)
    where = parts[0] if len(parts) == 1 else Call("AND", parts)
    found = text(replace(asked, where=where))
    try:
        known = bound(parse(found), catalog.table, catalog=catalog).known
    except SitrError:
        return None
    return f"{found} /* {KEYS} */" if known else None
