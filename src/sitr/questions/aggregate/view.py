"""What a question can name: rows that each belong to one unit, and columns computed from one row at a time.

A view is *unit-preserving*: the rows of the view that belong to a unit depend on that unit's rows in the table alone,
and on public things. So whatever is bounded for each unit in a view is bounded for each unit in the table.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitr.dataset.literals import shown
from sitr.dataset.schema import Kind, Table
from sitr.errors import QuestionError, SitrError, UnknownName, unknown_name
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Unit
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name, levels
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
class View:
    """Rows that satisfy `where`, with columns by name; `unit` says who is protected, and `relation` how."""

    rows: TableRows
    columns: tuple[tuple[str, Typed], ...]
    unit: Unit
    relation: Relation
    name: str
    """The name that columns may have before them."""
    where: Typed | None = None

    @classmethod
    def of(cls, table: Table, *, name: str | None = None) -> View:
        """The view of a table that has all its columns."""
        columns = tuple((column.name, column_typed(column)) for column in table.columns)
        return cls(TableRows(table.name), columns, table.unit, table.relation, name or table.name)

    def find(self, name: str) -> Typed | None:
        """The column of this name as written, or else the only column that matches when case is ignored."""
        exactly = [typed for known, typed in self.columns if known == name]
        loosely = [typed for known, typed in self.columns if known.lower() == name.lower()]
        found = exactly or loosely
        return found[0] if len(found) == 1 else None

    def column(self, name: Name) -> Typed:
        """The column of this name, or an error that suggests another name."""
        if name.table is not None and name.table.lower() != self.name.lower():
            raise UnknownName(
                given=f"The question has no table {name.table!r}.", do=f"Write {self.name}.{name.name}, or {name.name}."
            )
        found = self.find(name.name) if isinstance(name.name, str) else None
        if found is None:
            lacks = f"The table {self.name} has no column"
            raise unknown_name(name.name, [known for known, _ in self.columns], lacks=lacks)
        return found

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
            case Call(function, arguments):
                rule = ROW_FUNCTIONS.get(function)
                if rule is None:
                    raise unknown_name(function, ROW_FUNCTIONS, lacks="There is no function")
                parts = tuple(self._typed(part) for part in arguments)
                try:
                    return rule(function, parts)
                except SitrError:
                    raise
                except ValueError:  # too few or too many arguments, as a call in Python may have
                    raise QuestionError(
                        given=f"{function} has the wrong number of arguments.", do="Look it up in the reference."
                    ) from None


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
