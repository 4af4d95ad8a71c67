"""A question as frozen values, the same whether it was written in SQL or in Python calls."""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown, writable
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Expression, Literal, Name, spelled
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.sources import Source, from_text
from sitr.questions.aggregate.spelling import identifier


@dataclass(frozen=True, slots=True)
class Named:
    """An aggregate and the name of its column in the answer."""

    name: str
    aggregate: Aggregate

    def __post_init__(self) -> None:
        check_name(self.name)


@dataclass(frozen=True, slots=True)
class NamedKey:
    """What the rows are grouped by, and the name of its column in the answer."""

    name: str
    of: Expression

    def __post_init__(self) -> None:
        check_name(self.name)


def check_name(name: str) -> None:
    """Refuse a name that an answer cannot have."""
    if not name or not writable(name):
        raise QuestionError(
            wanted="a name of valid Unicode text for a column of the answer",
            given=shown(name),
            do="Choose a name like n or total.",
        )


@dataclass(frozen=True, slots=True)
class Order:
    """One part of ORDER BY. NULL comes last, unless it comes first."""

    by: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class After:
    """What is done with the released rows: HAVING, ORDER BY, LIMIT and OFFSET.

    Names are those of the answer's columns. An aggregate that is not selected is measured and paid like any other.
    """

    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def sql(self) -> str:
        """Everything that follows GROUP BY."""
        having = f" HAVING {spelled(self.having)}" if self.having is not None else ""
        order = f" ORDER BY {', '.join(map(_ordered, self.order))}" if self.order else ""
        limit = f" LIMIT {self.limit}" if self.limit is not None else ""
        return f"{having}{order}{limit}{f' OFFSET {self.offset}' if self.offset else ''}"


def _ordered(order: Order) -> str:
    """A number alone would be the place of a column."""
    down, nulls = " DESC" if order.descending else "", " NULLS FIRST" if order.nulls_first else ""
    by = spelled(order.by)
    return f"{f'({by})' if by.isdecimal() else by}{down}{nulls}"


@dataclass(frozen=True, slots=True)
class GroupingMark:
    """GROUPING(key): 1 in rows that are for all values of the key, and else 0; of several keys, a binary number."""

    name: str
    places: tuple[int, ...]
    """The keys by number."""

    def __post_init__(self) -> None:
        check_name(self.name)


@dataclass(frozen=True, slots=True)
class Query:
    """`SELECT group_by, aggregates FROM table WHERE where GROUP BY group_by`, and what is done `after` it.

    With several groupings, as in CUBE and ROLLUP, `sets` has the keys of each by number, and `marks` are GROUPING(key).
    """

    table: Source
    aggregates: tuple[Named, ...]
    group_by: tuple[NamedKey, ...] = ()
    where: Expression | None = None
    after: After = After()
    sets: tuple[tuple[int, ...], ...] = ()
    marks: tuple[GroupingMark, ...] = ()


def text(query: Query) -> str:
    """The question as SQL in one spelling, for ledgers and certificates.

    >>> from sitr.questions.aggregate.expressions.expression import Call
    >>> from sitr.questions.aggregate.functions.count import Count
    >>> dear = Call(">", (Name("cost"), Literal(10)))
    >>> text(Query("visits", (Named("n", Count()),), (NamedKey("ward", Name("ward")),), dear))
    'SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 10 GROUP BY ward'
    """
    keys = [_named(key) for key in query.group_by]
    marks = [
        f"GROUPING({', '.join(_listed(query.group_by, place) for place in mark.places)}) AS {identifier(mark.name)}"
        for mark in query.marks
    ]
    selected = [*keys, *marks, *(f"{named.aggregate.sql()} AS {identifier(named.name)}" for named in query.aggregates)]
    where = f" WHERE {spelled(query.where)}" if query.where else ""
    group = _group_by(query)
    return f"SELECT {', '.join(selected)} FROM {from_text(query.table)}{where}{group}{query.after.sql()}"


def _group_by(query: Query) -> str:
    keys = [_listed(query.group_by, place) for place in range(len(query.group_by))]
    if query.sets:
        listed = (f"({', '.join(keys[place] for place in each)})" for each in query.sets)
        return f" GROUP BY GROUPING SETS ({', '.join(listed)})"
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _listed(keys: tuple[NamedKey, ...], place: int) -> str:
    """A key as GROUP BY lists it: by its number where its text would be taken for another key."""
    of = keys[place].of
    others = [key.name.lower() for number, key in enumerate(keys) if number != place]
    number = isinstance(of, Literal) or (isinstance(of, Name) and of.table is None and of.name.lower() in others)
    return str(place + 1) if number else spelled(of)


def _named(key: NamedKey) -> str:
    return spelled(key.of) if key.of == Name(key.name) else f"{spelled(key.of)} AS {identifier(key.name)}"
