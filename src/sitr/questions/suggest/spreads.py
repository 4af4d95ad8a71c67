"""What is measured before caps and bounds are suggested: histograms in which each person is in one cell.

- The *groups* of each person: one number for each person.
- The *rows* of each person in one of their groups, chosen at random; without GROUP BY, all rows of each person.
- The *values* of a column that is summed, in one row of each person, chosen at random.

A reading keeps one row of each person, so each person is in one cell of each histogram, or in none: adding or removing
a person moves one count by 1, and replacing one moves two counts by 1. Cells are powers of two up to public maxima, and
one beyond. Neither caps nor bounds of the description enter: what these would leave out is seen here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from sitr.dataset.schema import NUMERIC, Column, Kind, Quantised
from sitr.errors import QuestionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.after import AS_RELEASED
from sitr.questions.aggregate.bind import BoundedQuery, GroupKey
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.typed import Typed, column_typed, literal_typed
from sitr.questions.aggregate.functions.function import BoundAggregate
from sitr.questions.aggregate.functions.quantile import Quantile
from sitr.questions.aggregate.nodes import After, Named, Query
from sitr.questions.aggregate.quantity import Rank
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import PerPerson, PersonNumber, View, Visible, both
from sitr.questions.aggregate.view_source import source_of
from sitr.sensitivity.bounded import bounded

MOST_GROUPS, MOST_ROWS = 10, 14
"""The largest caps that are suggested, as powers of two."""

SMALLEST, LARGEST = -16, 40
"""The smallest and the largest bound that is suggested, as powers of two."""

MOST_LISTED = 500
"""Beyond this many public keys, rows with other keys are not left out of the histograms."""

_MOST = 2**40
"""No person has more groups or rows than this."""


class About(Enum):
    """What a histogram is about."""

    GROUPS = "groups"
    ROWS = "rows"
    VALUES = "values"


@dataclass(frozen=True, slots=True)
class Spread:
    """A histogram of people: the reading, and the numbers of the first and of the last cell.

    Of groups and rows, cell 0 has the number 1, and cell j those above 2^(j−1), up to 2^j. Of values, cell 0 has zero,
    cell j > 0 those above 2^(j+s−2), up to 2^(j+s−1), with s = `SMALLEST`, and cell −j the same below zero. Cell 1 also
    has smaller ones, and the outermost cells all larger ones.
    """

    about: About
    column: str
    """Whose values; empty for groups and rows."""
    query: BoundedQuery
    first: int
    last: int

    @property
    def name(self) -> str:
        return f"values of {self.column}" if self.about is About.VALUES else self.about.value

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.last - self.first + 1

    def distance(self, relation: Relation) -> Distance:
        """How far one unit moves the counts: it is in one cell at most."""
        return bounded(low=0, high=1, groups=1, cells=None, relation=relation)


def measured(query: BoundedQuery, *, bounds: bool = True) -> tuple[Spread, ...]:
    """The histograms for a question; those of values only where bounds are to be suggested."""
    found = (*_people(query), *(_values(query, column) for column in summed(query) if bounds))
    if not found:
        raise QuestionError(
            given="There is nothing to suggest: each row is a unit, and no column is summed.",
            do='Name a column of numbers, such as suggest("cost"), or a question that sums one.',
        )
    return found


def summed(query: BoundedQuery) -> list[Column]:
    """The columns of numbers that are summed as they are, each once: bounds are suggested for them."""
    found = {}
    for term in query.shown_terms:
        if (column := summed_column(term)) is not None:
            found[column.name] = column
    return list(found.values())


def summed_column(term: object) -> Column | None:
    """The column that a term sums, if bounds can be suggested for it."""
    if not isinstance(term, Term) or term.total or term.quantised is None or term.of is None:
        return None
    return term.of.column if term.of.kind in NUMERIC else None


def _people(query: BoundedQuery) -> Iterator[Spread]:
    if not isinstance(query.unit, Person):
        return
    each = _per_person(_listed(query), tuple((key.name, key.of) for key in query.keys))
    if query.keys:
        most = MOST_GROUPS if query.cells is None else min(MOST_GROUPS, (query.cells - 1).bit_length())
        yield _spread(About.GROUPS, "", _per_person(each, ()), _whole_cell(most + 1), 0, most + 1)
    yield _spread(About.ROWS, "", each, _whole_cell(MOST_ROWS + 1), 0, MOST_ROWS + 1)


def _per_person(view: View, keys: tuple[tuple[str, Typed], ...]) -> View:
    """One row for each person and key, with the number of rows; no key and no unit takes the name of that number."""
    assert isinstance(view.unit, Person)
    taken = {view.unit.column.lower()}
    named = tuple((_free(name, taken), of) for name, of in keys)
    count = _free("n", taken)
    number = Typed(Column(count, Kind.INTEGER), Kind.INTEGER, (), Fraction(0), Fraction(_MOST), Fraction(1), False)
    rows = PerPerson(view, named, ((count, PersonNumber("COUNT", None), Kind.INTEGER),))
    return View(rows, (Visible(view.name, "n", number),), view.unit, view.relation, view.name)


def _free(name: str, taken: set[str]) -> str:
    """A name that no column has, in whatever case; it is taken then."""
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name


def _listed(query: BoundedQuery) -> View:
    """The rows of a question; where the public keys are listed, only rows with one of them, as in its answer."""
    view = query.view
    for key in query.keys:
        if key.keys is not None and not key.clamped and len(key.keys) <= MOST_LISTED:
            view = replace(view, where=both(view.where, _one_of(key)))
    return view


def _one_of(key: GroupKey) -> Typed:
    keys = key.keys or ()
    literals = tuple(literal_typed(value) for value in keys if value is not None)
    conditions = [ROW_FUNCTIONS["IN"]("IN", (key.of, *literals))] if literals else []
    conditions += [ROW_FUNCTIONS["IS NULL"]("IS NULL", (key.of,))] if None in keys else []
    return conditions[0] if len(conditions) == 1 else ROW_FUNCTIONS["OR"]("OR", tuple(conditions))


def _values(query: BoundedQuery, column: Column) -> Spread:
    """The column as it is, whatever bounds are declared."""
    bare = column_typed(Column(column.name, column.kind))
    view = replace(query.view, columns=(Visible(query.view.name, column.name, bare),))
    last = LARGEST + 1 - SMALLEST + 1
    return _spread(About.VALUES, column.name, view, _value_cell(column, last), -last, last)


def _whole_cell(last: int) -> Expression:
    """⌈log₂ n⌉, from 0 to `last`. Only comparisons, because rounded logarithms could misplace a power of two."""
    cells = [part for power in range(last) for part in (Call("<=", (Name("n"), Literal(2**power))), Literal(power))]
    return Call("CASE", (*cells, Literal(last)))


def _value_cell(column: Column, last: int) -> Expression:
    """The number of the cell of a value; NULL for infinite values and for what is no number."""
    least = 0 if column.kind is Kind.INTEGER else SMALLEST
    sizes = [(power - SMALLEST + 1, _literal(power)) for power in range(least, LARGEST + 1)]
    found: list[Expression] = []

    def cell(sign: str, end: Literal, number: int) -> None:
        found.extend((Call(sign, (Name(column.name), end)), Literal(number)))

    for number, end in reversed(sizes):
        cell("<", Literal(-end.value), -number - 1)  # type: ignore[operator]
    cell("<", Literal(0), -1)
    cell("<=", Literal(0), 0)
    for number, end in sizes:
        cell("<=", end, number)
    cell("<=", Literal(2**62), last)
    return Call("CASE", (*found, Literal(None)))


def _literal(power: int) -> Literal:
    return Literal(2**power if power >= 0 else 2.0**power)


def _spread(about: About, column: str, view: View, cell: Expression, first: int, last: int) -> Spread:
    """The people by cell, one row of each: all cell numbers are read, each with its number of rows."""
    of = view.typed(cell)
    if of.nullable and about is About.VALUES:
        present = ROW_FUNCTIONS["NOT"]("NOT", (ROW_FUNCTIONS["IS NULL"]("IS NULL", (view.columns[0].typed,)),))
        view = replace(view, where=both(view.where, present))
    spoken = Named(about.value, Quantile(of.expression, (Fraction(1, 2),)))
    where = None if view.where is None else view.where.expression
    reads = BoundAggregate(spoken.aggregate, (Rank(of, Quantised(first, last, Fraction(1)), Fraction(1, 2)),))
    query = Query(source_of(view), (spoken,), (), where, After())
    return Spread(about, column, BoundedQuery(query, view, (), (reads,), 1, 1, AS_RELEASED), first, last)
