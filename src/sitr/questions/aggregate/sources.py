"""What stands after FROM, as frozen values: the protected table, sub-queries, joins and parts put together."""

from __future__ import annotations

from typing import TypeAlias

from sitr.dataclass import dataclass
from sitr.questions.aggregate.expressions.expression import Expression, Name, inner, spelled
from sitr.questions.aggregate.spelling import identifier

PERSON_FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")


@dataclass(frozen=True, slots=True)
class PersonCall:
    """An aggregate inside a sub-query that groups by the unit: COUNT, SUM, AVG, MIN or MAX."""

    function: str
    of: Expression | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Selected:
    """A column of a sub-query."""

    name: str
    of: Expression | PersonCall


@dataclass(frozen=True, slots=True)
class Select:
    """A sub-query. Without columns it selects all of them; `group_by` is None if it does not group."""

    table: Source
    columns: tuple[Selected, ...] = ()
    where: Expression | None = None
    group_by: tuple[Expression, ...] | None = None


@dataclass(frozen=True, slots=True)
class Aliased:
    """A source under another name."""

    of: Source
    name: str


@dataclass(frozen=True, slots=True)
class Join:
    """A source beside a table, matched by a condition or by columns of the same name; `outer` is a LEFT JOIN."""

    left: Source
    right: Source
    on: Expression | None = None
    using: tuple[str, ...] = ()
    outer: bool = False


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of several sub-queries."""

    parts: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Among:
    """The rows of a source for which the value of an expression is among the rows of a sub-query, or `outside` them."""

    of: Source
    by: Expression
    among: Source
    outside: bool = False


Source: TypeAlias = str | Select | Aliased | Join | UnionAll | Among
"""A text is the name of a table."""


def from_text(source: Source) -> str:
    """What follows FROM, in one spelling."""
    match source:
        case str():
            return identifier(source)
        case Aliased(of, name):
            return f"{from_text(of)} AS {identifier(name)}"
        case Select() | Among():
            return f"({select_text(source)})"
        case UnionAll(parts):
            return f"({' UNION ALL '.join(select_text(part) for part in parts)})"
        case Join(left, right, on, using, outer):
            how = "LEFT JOIN" if outer else "JOIN"
            by = f"ON {spelled(on)}" if on is not None else f"USING ({', '.join(map(identifier, using))})"
            return f"{from_text(left)} {how} {from_text(right)} {by}"


def select_text(source: Source) -> str:
    """A sub-query without brackets."""
    if isinstance(source, Among):
        how = "NOT IN" if source.outside else "IN"
        return f"SELECT * FROM {from_text(source.of)} WHERE {inner(source.by)} {how} ({select_text(source.among)})"
    if not isinstance(source, Select):
        return f"SELECT * FROM {from_text(source)}"
    columns = ", ".join(map(_column, source.columns)) or "*"
    where = f" WHERE {spelled(source.where)}" if source.where is not None else ""
    group = f" GROUP BY {', '.join(map(spelled, source.group_by))}" if source.group_by else ""
    return f"SELECT {columns} FROM {from_text(source.table)}{where}{group}"


def _column(column: Selected) -> str:
    if isinstance(column.of, PersonCall):
        of = "*" if column.of.of is None else spelled(column.of.of)
        text = f"{column.of.function}({'DISTINCT ' if column.of.distinct else ''}{of})"
    else:
        text = spelled(column.of)
        if column.of == Name(column.name):
            return text
    return f"{text} AS {identifier(column.name)}"
