"""A question as frozen values, the same whether it was written in SQL or in Python calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sitr.dataset.literals import shown, writable
from sitr.errors import QuestionError
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.spelling import Value, identifier, literal


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

    >>> from sitr.questions.aggregate.functions.count import Count
    >>> text(Query("visits", (Named("n", Count()),), ("ward",), Compare("cost", Comparison.GREATER, 10)))
    'SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 10 GROUP BY ward'
    """
    keys = [*map(identifier, query.group_by)]
    selected = [*keys, *(f"{named.aggregate.sql()} AS {identifier(named.name)}" for named in query.aggregates)]
    where = f" WHERE {_condition(query.where)}" if query.where else ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(selected)} FROM {identifier(query.table)}{where}{group}"


def _condition(predicate: Predicate) -> str:
    match predicate:
        case Compare(column, comparison, value):
            return f"{identifier(column)} {comparison.value} {literal(value)}"
        case OneOf(column, values):
            return f"{identifier(column)} IN ({', '.join(map(literal, values))})"
        case Like(column, pattern):
            return f"{identifier(column)} LIKE {literal(pattern)}"
        case IsNull(column):
            return f"{identifier(column)} IS NULL"
        case Not(part):
            return f"NOT ({_condition(part)})"
        case And(parts):
            return " AND ".join(f"({_condition(part)})" for part in parts)
        case Or(parts):
            return " OR ".join(f"({_condition(part)})" for part in parts)
