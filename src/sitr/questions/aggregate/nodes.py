"""A question as frozen values, the same whether it was written in SQL or in Python calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from functools import lru_cache

from sqlglot import TokenType, exp, parse_one
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError

from sitr.dataset.literals import shown, writable
from sitr.errors import QuestionError

Value = str | int | float | bool | date | datetime
"""A literal in a question."""


class Comparison(Enum):
    """The comparisons of a column with a literal."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Compare:
    """`column ⋚ value`; unknown, and so not selected, where the column is NULL."""

    column: str
    comparison: Comparison
    value: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """`column IN (…)`."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """`column LIKE pattern`, with % and _."""

    column: str
    pattern: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """`column IS NULL`."""

    column: str


@dataclass(frozen=True, slots=True)
class Not:
    """The negation."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold. Nested Ands are flattened."""

    parts: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(And, self.parts))


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds. Nested Ors are flattened."""

    parts: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(Or, self.parts))


Predicate = Compare | OneOf | Like | IsNull | Not | And | Or


def _flat(join: type[And | Or], parts: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
    """(a AND b) AND c and a AND (b AND c) are the same question, so they are the same value."""
    return tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, join) else (part,)))


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows; of rows where a column is not NULL; or, with `distinct`, of values of the unit's column."""

    column: str | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a column, each value clamped to its declared bounds; NULL and NaN add nothing."""

    column: str


Aggregate = Count | Sum


@dataclass(frozen=True, slots=True)
class Named:
    """An aggregate and the name of its column in the answer."""

    name: str
    aggregate: Aggregate

    def __post_init__(self) -> None:
        if not self.name or not writable(self.name):
            raise QuestionError(
                wanted="a name of valid Unicode text for a column of the answer",
                given=shown(self.name),
                do="Choose a name like n or total.",
            )


@dataclass(frozen=True, slots=True)
class Query:
    """`SELECT group_by, aggregates FROM table WHERE where GROUP BY group_by`."""

    table: str
    aggregates: tuple[Named, ...]
    group_by: tuple[str, ...] = ()
    where: Predicate | None = None


def text(query: Query) -> str:
    """The question as SQL in one spelling, for ledgers and certificates.

    >>> text(Query("visits", (Named("n", Count()),), ("ward",), Compare("cost", Comparison.GREATER, 10)))
    'SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 10 GROUP BY ward'
    """
    selected = [
        *map(_name, query.group_by),
        *(f"{spell(named.aggregate)} AS {_name(named.name)}" for named in query.aggregates),
    ]
    where = f" WHERE {_condition(query.where)}" if query.where else ""
    group = f" GROUP BY {', '.join(map(_name, query.group_by))}" if query.group_by else ""
    return f"SELECT {', '.join(selected)} FROM {_name(query.table)}{where}{group}"


def spell(aggregate: Aggregate) -> str:
    """An aggregate as SQL.

    >>> spell(Count("patient_id", distinct=True)), spell(Sum("cost"))
    ('COUNT(DISTINCT patient_id)', 'SUM(cost)')
    """
    match aggregate:
        case Count(None):
            return "COUNT(*)"
        case Count(column, distinct):
            return f"COUNT({'DISTINCT ' if distinct else ''}{_name(str(column))})"
        case Sum(column):
            return f"SUM({_name(column)})"


def _condition(predicate: Predicate) -> str:
    match predicate:
        case Compare(column, comparison, value):
            return f"{_name(column)} {comparison.value} {_literal(value)}"
        case OneOf(column, values):
            return f"{_name(column)} IN ({', '.join(map(_literal, values))})"
        case Like(column, pattern):
            return f"{_name(column)} LIKE {_literal(pattern)}"
        case IsNull(column):
            return f"{_name(column)} IS NULL"
        case Not(part):
            return f"NOT ({_condition(part)})"
        case And(parts):
            return " AND ".join(f"({_condition(part)})" for part in parts)
        case Or(parts):
            return " OR ".join(f"({_condition(part)})" for part in parts)


def _name(name: str) -> str:
    return name if _plain(name) else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=1024)
def _plain(name: str) -> bool:
    """Whether a name needs no quotes: it is not a keyword, and the parser reads it as it reads the quoted name."""
    if not (name.isascii() and name.isidentifier()):
        return False
    if [token.token_type for token in DuckDB().tokenize(name)] != [TokenType.VAR]:
        return False
    question = "SELECT {0}, SUM({0}) AS {0} FROM {0} WHERE {0} < 1 AND {0} IS NULL GROUP BY {0}"
    try:
        return _tree(question.format(name)) == _tree(question.format(_quoted(name)))
    except ParseError:
        return False


def _tree(sql: str) -> exp.Expr:
    """The parser's tree, without the difference between bare and quoted names."""
    tree = parse_one(sql, dialect=DuckDB)
    for name in tree.find_all(exp.Identifier):
        name.set("quoted", False)
    return tree


def _literal(value: Value) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return repr(value)
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
