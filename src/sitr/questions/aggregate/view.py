"""What a question can name: rows that each belong to one unit, and columns computed from one row at a time.

A view is *unit-preserving*: the rows of the view that belong to a unit depend, as a multiset, on that unit's rows in
the table alone, and on public things. So whatever is bounded for each unit in a view is bounded for each unit in the
table. By induction over how views are made:

- `TableRows` are the rows of the table, and a selection or a computed column looks at one row at a time.
- `PerPerson` groups by the unit, and perhaps by more: a group holds rows of one unit. Its numbers are exact integers,
  or quotients of two, so that the order of the rows does not matter.
- `Joined` matches each row by itself with the rows of a public table. Where a row is a unit, at most one row of the
  public table matches it, because the statement keeps one row for each value of the matched columns.
- `Matching` keeps a row, or drops it, by what it matches in a public table.
- `OfPeople` keeps the rows of a unit, or drops them, by whether another view has rows of the same unit: both views are
  unit-preserving, so what is kept of a unit depends on that unit's rows alone. A row without a unit is dropped, so that
  no NULL can decide about the rows of others, as it does in NOT IN. Where a row is a unit it cannot be made.
- `Together` has the rows of several views of the same table. Where a row is a unit it cannot be made: a row would count
  several times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sitr.dataset.literals import shown
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError, SitrError, UnknownName, unknown_name
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Unit
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name, levels, spelled
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.rules import truths
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, column_typed, literal_typed

DEEPEST = 16
"""The deepest nesting of an expression: its text can be read back, by Sitr and by every backend."""

MOST_COLUMNS_USED = 500
"""How often an expression may use columns: this bounds its text and its time, whatever it was computed from."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of the protected table as they are."""

    table: str


@dataclass(frozen=True, slots=True)
class PersonNumber:
    """COUNT, SUM, AVG, MIN or MAX of one person's rows in a group, exactly; it is never shown."""

    function: str
    of: Typed | None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class PerPerson:
    """One row for each person and each value of the keys, with numbers computed from the person's rows."""

    view: View
    keys: tuple[tuple[str, Typed], ...]
    numbers: tuple[tuple[str, PersonNumber, Kind], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """The rows of a view beside the matching rows of a public table; all rows of the view, if it is `outer`.

    `name` is what the question calls the table. `columns` are the names of its columns here and there. `on` is the
    condition on the columns of both, and `spoken` the same in the names of the question. `matched` are the names,
    there, of the columns that decide about a match where a row is a unit.
    """

    view: View
    table: str
    name: str
    columns: tuple[tuple[str, str], ...]
    on: Typed
    spoken: Expression
    outer: bool
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """The rows of several views, one after the other, with the columns of the first."""

    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """The rows of a view that match a row of a public table; with `outside`, those that match none.

    `columns` are the names of the table's columns here and there, `on` is the condition on the columns of both, `by`
    the expression of the row that must equal a column, which has a value in all rows that are kept, and `spoken` the
    column and the condition in the names of the public table.
    """

    view: View
    table: str
    columns: tuple[tuple[str, str], ...]
    on: Typed
    by: Typed
    spoken: tuple[Expression, Expression | None]
    outside: bool


@dataclass(frozen=True, slots=True)
class OfPeople:
    """The rows of a view whose person has a row in another view of the table; with `outside`, those of all others."""

    view: View
    people: View
    outside: bool


Base: TypeAlias = TableRows | PerPerson | Joined | Together | Matching | OfPeople


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that can be named, perhaps with the name of its table before it."""

    table: str
    name: str
    typed: Typed


@dataclass(frozen=True, slots=True)
class View:
    """Rows that satisfy `where`, with columns by name; `unit` says who is protected, and `relation` how."""

    rows: Base
    columns: tuple[Visible, ...]
    unit: Unit
    relation: Relation
    name: str
    """What messages call it, and what columns may have before them."""
    where: Typed | None = None

    @classmethod
    def of(cls, table: Table, *, name: str | None = None) -> View:
        """The view of a table that has all its columns."""
        called = name or table.name
        columns = tuple(Visible(called, column.name, column_typed(column)) for column in table.columns)
        return cls(TableRows(table.name), columns, table.unit, table.relation, called)

    @property
    def person(self) -> Typed | None:
        """The column that identifies people; None where each row is a unit."""
        if not isinstance(self.unit, Person):
            return None
        shown = (
            each.typed for each in self.columns if each.typed.column and each.typed.column.name == self.unit.column
        )
        return next(shown, column_typed(Column(self.unit.column, Kind.OTHER)))

    def find(self, name: Name) -> list[Visible]:
        """The columns of this name as written, or else those that match when case is ignored."""
        here = [each for each in self.columns if name.table is None or each.table.lower() == name.table.lower()]
        exactly = [each for each in here if each.name == name.name]
        return exactly or [each for each in here if each.name.lower() == name.name.lower()]

    def column(self, name: Name) -> Typed:
        """The column of this name, or an error that suggests another name."""
        tables = list(dict.fromkeys(each.table for each in self.columns)) or [self.name]
        if name.table is not None and name.table.lower() not in map(str.lower, tables):
            raise UnknownName(
                given=f"The question has no table {name.table!r}.",
                do=f"Write {tables[0]}.{name.name}, or {name.name} alone.",
            )
        found = self.find(name) if isinstance(name.name, str) else []
        if len({each.table for each in found}) > 1:
            both = " or ".join(f"{each.table}.{each.name}" for each in found)
            raise UnknownName(given=f"Several tables have a column {name.name!r}.", do=f"Write {both}.")
        if len(found) != 1:
            known = [each.name for each in self.columns]
            raise unknown_name(name.name, known, lacks=f"The table {name.table or self.name} has no column")
        return found[0].typed

    def typed(self, expression: Expression) -> Typed:
        """The expression with its type, after all checks; nothing in it can fail on a row."""
        if levels(expression) > DEEPEST + 1:
            raise QuestionError(
                given=f"The condition is nested more deeply than {DEEPEST} levels.",
                do="Nest fewer NOT, AND and OR.",
            )
        found = self._typed(expression)
        _refuse_odd_values(found)
        if _uses(found) > MOST_COLUMNS_USED:
            raise QuestionError(
                given=f"The expression {found.text[:40]}… uses columns more than {MOST_COLUMNS_USED} times.",
                do="Ask for something simpler.",
            )
        return found

    def condition(self, expression: Expression) -> Typed:
        """The expression, which must be true or false."""
        found = self.typed(expression)
        truths("WHERE", (found,))
        return found

    def _typed(self, expression: Expression) -> Typed:
        match expression:
            case Name():
                return self.column(expression)
            case Literal(value):
                return literal_typed(value)
            case Aggregated():
                raise QuestionError(
                    given=f"The aggregate {spelled(expression)} stands where each row needs a value.",
                    do="Use aggregates in SELECT, HAVING and ORDER BY, and not inside each other.",
                )
            case Call(function, arguments):
                rule = ROW_FUNCTIONS.get(function)
                if rule is None:
                    raise unknown_name(function, ROW_FUNCTIONS, lacks="There is no function")
                return _applied(function, [self._typed(part) for part in arguments])


def _applied(function: str, parts: Sequence[Typed]) -> Typed:
    try:
        return ROW_FUNCTIONS[function](function, tuple(parts))
    except SitrError:
        raise
    except ValueError:  # too few or too many arguments, as a call in Python may have
        pass
    raise QuestionError(given=f"{function} has the wrong number of arguments.", do="Look it up in the reference.")


def both(one: Typed | None, other: Typed | None) -> Typed | None:
    """Two conditions, of which both must hold."""
    if one is None or other is None:
        return one or other
    return _applied("AND", [part for each in (one, other) for part in (each.parts if each.what == "AND" else (each,))])


def used(typed: Typed) -> set[str]:
    """The names of the columns that an expression reads."""
    if isinstance(typed.what, Column):
        return {typed.what.name}
    return set().union(*map(used, typed.parts))


def _refuse_odd_values(typed: Typed) -> None:
    """Refuse values that only calls in Python can have, such as bytes, NaN and times with a zone."""
    if typed.is_literal and typed.kind is Kind.OTHER and typed.value is not None:
        raise QuestionError(
            given=f"A question cannot hold the value {shown(typed.value)}.",
            do="Use text, finite numbers, true, false, dates or times without a zone.",
        )
    for part in typed.parts:
        _refuse_odd_values(part)


def _uses(typed: Typed) -> int:
    if not typed.parts:
        return 0 if typed.is_literal else 1
    twice = typed.what in ("CLAMP", "CAST", "DATE_ADD") or typed.kind in TEMPORAL  # written twice by a backend
    return sum(map(_uses, typed.parts)) * (2 if twice else 1) + twice
