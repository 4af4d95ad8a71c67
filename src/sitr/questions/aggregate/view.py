"""What a question can name: rows that each belong to one unit, and columns computed from one row at a time.

A view is *unit-preserving*: the rows of the view that belong to a unit depend, as a multiset, on that unit's rows in
the protected tables alone, and on public things and the salt. So whatever is bounded for each unit in a view is bounded
for each unit in the tables. By induction over how views are made:

- `TableRows` are the rows of the table, and a selection or a computed column looks at one row at a time.
- `PerPerson` groups by the unit, and perhaps by more: a group holds rows of one unit. Its numbers are exact integers,
  or quotients of two, so that the order of the rows does not matter.
- `Joined` matches each row by itself with the rows of a public table. Where a row is a unit, at most one row of the
  public table counts, because the statement numbers the rows and keeps one match of each.
- `Matching` keeps a row, or drops it, by what it matches in a public table.
- `OfPeople` keeps the rows of a unit, or drops them, by whether another view has rows of the same unit: both views are
  unit-preserving, so what is kept of a unit depends on that unit's rows alone. A row without a unit is dropped, so that
  no NULL can decide about the rows of others, as it does in NOT IN. Where a row is a unit it cannot be made.
- `Together` has the rows of several views whose rows belong to the units of the same table. Where a row is a unit it
  cannot be made: a row would count several times.
- `Paired` puts each row of one view beside rows of the same unit in another, and a pair is kept or not by its own
  values. The other view may be of another protected table, which identifies people by a column of its own: two rows
  meet only if their units are equal, by a comparison that is one to one. Before they meet, at most `most` rows of each
  unit and view are kept; a keyed hash of this unit's own rows chooses them, as in `sitr.backends.reading`, claim 1.

**Several tables.** A unit's part of a view is then a function f(v, w, …) of its rows v, w, … in each table, without
rows where all of these are empty. Both tables have their own accounts, each of which is charged, so what each promises
must hold by itself. Three kinds of neighbours differ in this part and in no other: v comes or goes, w does, or both do.

- If the view needs a row of each table (`needed`), f(∅, w) = f(v, ∅) = ∅. Whatever comes or goes, the part comes or
  goes as a whole: the distances are those of one table.
- Otherwise, as in a LEFT JOIN of w to v, f(v, w) can become f(v, ∅), which is another part: then the distances are
  those of a replaced part, and they cover a part that comes or goes, too (`changes`).
- Neighbours that replace a person by another, in one table: where each table is needed, one part goes and another
  comes. Otherwise both parts are replaced, and such a view is refused.

So each promise holds even if equal ids in two tables do not mean the same person. For a person in both tables, who
comes or goes in both, a join costs its price once, and all questions together cost at most the sum of both budgets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError, SitrError, UnknownName, unknown_name
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Unit
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name, levels, spelled
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.rules import truths
from sitr.questions.aggregate.expressions.typed import Typed, column_typed, literal_typed
from sitr.questions.aggregate.narrowing import Known, known, narrowed

DEEPEST = 16
"""The deepest nesting of an expression: its text can be read back, by Sitr and by every backend."""

MOST_ROWS_PAIRED = 1_000
"""The most rows of each person and table that take part in a join of protected tables: without it, a person with n rows
in each of them would have n² in the join."""

MOST_COLUMNS_USED = 500
"""How often an expression may use columns, those of its sub-queries included: this bounds its text and its time."""


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
    condition on the columns of both, and `spoken` the same in the names of the question. A row matches at most `most`
    rows of the public table, as it was when the question was checked.
    """

    view: View
    table: str
    name: str
    columns: tuple[tuple[str, str], ...]
    on: Typed
    spoken: Expression
    outer: bool
    most: int


@dataclass(frozen=True, slots=True)
class Together:
    """The rows of several views, one after the other, with the columns of the first."""

    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """The rows of a view that match a row of a public table; with `outside`, those that match none.

    `columns` are the names of the table's columns here and there, `on` is the condition on the columns of both, `by`
    the expression of the row that must equal a column, which has a value in all rows that are kept, and `spoken` the
    same expression in the names of the question, and the column and the condition in those of the public table.
    """

    view: View
    table: str
    columns: tuple[tuple[str, str], ...]
    on: Typed
    by: Typed
    spoken: tuple[Expression, Expression, Expression | None]
    outside: bool


@dataclass(frozen=True, slots=True)
class OfPeople:
    """The rows of a view whose person has a row in another view of the table; with `outside`, those of all others.

    `spoken` is the unit in the names of the question.
    """

    view: View
    people: View
    outside: bool
    spoken: Expression


@dataclass(frozen=True, slots=True)
class Paired:
    """The rows of a view beside the matching rows of the same unit in another; all rows of the view, if it is `outer`.

    `name` is what the question calls the other view. `columns` are the names of its columns here and there, and
    `identified` is the name here of the column that identifies its people, of type `kind` in both. `on` is the
    condition beside the equality of the units, and `spoken` is all of it in the names of the question. At most `most`
    rows of each unit in each of the views can be matched.
    """

    view: View
    other: View
    name: str
    columns: tuple[tuple[str, str], ...]
    identified: str
    kind: Kind
    on: Typed | None
    spoken: Expression
    outer: bool
    most: int = MOST_ROWS_PAIRED


Base: TypeAlias = TableRows | PerPerson | Joined | Together | Paired | Matching | OfPeople


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that can be named, perhaps with the name of its table before it."""

    table: str
    name: str
    typed: Typed
    plain: Typed | None = None
    """The same without what conditions say about its values, where that makes a difference."""


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
        if len({each.table for each in found}) > 1 and not _same(found):
            both = " or ".join(f"{each.table}.{each.name}" for each in found)
            raise UnknownName(given=f"Several tables have a column {name.name!r}.", do=f"Write {both}.")
        if not found or len({each.table for each in found}) != len(found):
            known = [each.name for each in self.columns]
            raise unknown_name(name.name, known, lacks=f"The table {name.table or self.name} has no column")
        return found[0].typed

    def typed(self, expression: Expression) -> Typed:
        """The expression with its type, after all checks; nothing in it can fail on a row."""
        _refuse_deep(expression)
        return self._checked(self._typed(expression, known(self.where)))

    def called(self, function: str, *parts: Typed) -> Typed:
        """A call, after the same checks, of parts whose columns are known already.

        These are not looked up again by their names, which may mean other columns here: SELECT a AS b, b AS a.
        """
        found = self._checked(_applied(function, parts))
        _refuse_deep(found.expression)
        return found

    def _checked(self, found: Typed) -> Typed:
        _refuse_odd_values(found)
        if _uses(found, _grown(self.rows)) > MOST_COLUMNS_USED:
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

    def keeping(self, where: Expression) -> View:
        """The rows of this view for which a condition holds too.

        Other conditions say nothing about the values here: two questions with the same text are the same, whether a
        condition stands in a sub-query or beside the others.
        """
        return replace(self, where=both(self.where, self.unconditional().condition(where)))

    def unconditional(self) -> View:
        """All rows, with columns about whose values no condition says anything."""
        columns = tuple(replace(each, typed=each.plain or each.typed, plain=None) for each in self.columns)
        return replace(self, where=None, columns=columns)

    def _typed(self, expression: Expression, facts: Mapping[Expression, Known]) -> Typed:
        found = self._plainly(expression, facts)
        return found if found.column is not None and self._identifies(found.column) else narrowed(found, facts)

    def _identifies(self, column: Column) -> bool:
        return isinstance(self.unit, Person) and column.name == self.unit.column

    def _plainly(self, expression: Expression, facts: Mapping[Expression, Known]) -> Typed:
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
                return _applied(function, [self._typed(part, facts) for part in arguments])


def _refuse_deep(expression: Expression) -> None:
    if levels(expression) > DEEPEST + 1:
        raise QuestionError(
            given=f"The condition is nested more deeply than {DEEPEST} levels.",
            do="Nest fewer NOT, AND and OR.",
        )


def _same(found: Sequence[Visible]) -> bool:
    """Whether all of these are the same column, as the ids of two tables that are joined by them."""
    columns = {each.typed.column for each in found}
    return len(columns) == 1 and None not in columns


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


def protected(view: View) -> tuple[str, ...]:
    """The protected tables that a view reads, each once; the first identifies its people."""
    match view.rows:
        case TableRows(table):
            return (table,)
        case PerPerson(inner) | Joined(inner) | Matching(inner):
            return protected(inner)
        case OfPeople(inner, people):
            return tuple(dict.fromkeys((*protected(inner), *protected(people))))
        case Paired(inner, other):
            return tuple(dict.fromkeys((*protected(inner), *protected(other))))
        case Together(views):
            return tuple(dict.fromkeys(name for each in views for name in protected(each)))


def needed(view: View) -> set[str]:
    """The protected tables without whose rows a unit has none in the view."""
    match view.rows:
        case TableRows(table):
            return {table}
        case PerPerson(inner) | Joined(inner) | Matching(inner):
            return needed(inner)
        case OfPeople(inner, people, outside):
            return needed(inner) if outside else needed(inner) | needed(people)
        case Paired(inner, other, outer=outer):
            return needed(inner) if outer else needed(inner) | needed(other)
        case Together(views):
            return set.intersection(*map(needed, views))


def meeting(view: View) -> int:
    """The most rows of each person and table that a join of protected tables can match; 0 if the view has none."""
    match view.rows:
        case TableRows():
            return 0
        case PerPerson(inner) | Joined(inner) | Matching(inner):
            return meeting(inner)
        case OfPeople(inner, people):
            return max(meeting(inner), meeting(people))
        case Paired(inner, other, most=most):
            return max(most, meeting(inner), meeting(other))
        case Together(views):
            return max(map(meeting, views))


def changes(view: View) -> Relation:
    """How the part of one unit differs between neighbours: it comes or goes, or it is replaced by another.

    Raises `QuestionError` where the parts of two units could be replaced.
    """
    if needed(view) >= set(protected(view)):
        return view.relation
    if view.relation is Relation.REPLACE_ONE:
        raise QuestionError(
            given="A LEFT JOIN of two protected tables could change the rows of two people where one person is "
            "replaced by another.",
            do="Write JOIN, or protect the tables with add-remove neighbours.",
        )
    return Relation.REPLACE_ONE


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


def _uses(typed: Typed, text: int) -> int:
    """How often an expression uses columns; one of text counts as often as `text` says."""
    if not typed.parts:
        return 0 if typed.is_literal else text if typed.kind is Kind.TEXT else 1
    return sum(_uses(part, text) for part in typed.parts)


def _grown(rows: Base) -> int:
    """How often the columns of text in these rows use others at most: text that grows in each of several sub-queries,
    as name || name does, would else have no limit."""
    match rows:
        case TableRows():
            return 1
        case PerPerson(inner, keys):
            return _most_used(inner, [of for _, of in keys])
        case Joined(inner) | Matching(inner) | OfPeople(inner):
            views: tuple[View, ...] = (inner,)
        case Paired(inner, other):
            views = (inner, other)
        case Together(views):
            pass
    return max(_most_used(each, [column.typed for column in each.columns]) for each in views)


def _most_used(view: View, columns: Sequence[Typed]) -> int:
    text = _grown(view.rows)
    return max([text, *(_uses(each, text) for each in columns if each.kind is Kind.TEXT)])
