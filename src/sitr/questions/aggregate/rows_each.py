"""How many rows a unit can have in a view at most, where that follows from how the view is made.

Nothing about privacy rests on this number: a question is capped at it, and what is read is cut at the caps like any
other (`sitr.backends.reading`). It says that a smaller cap leaves nothing out, so that less noise is needed: of a
sub-query with one row for each person, a person moves an average by one row, whatever the description allows.
"""

from __future__ import annotations

from sitr.neighbors.unit import Person
from sitr.questions.aggregate.view import Joined, Matching, OfPeople, Paired, PerPerson, Together, View


def rows_each(view: View) -> int | None:
    """The most rows of one person in a view; None where nothing but caps limits them, or each row is a unit.

    - One row for each person is one row; with further keys, a person has as many rows as keys.
    - Conditions, and the choice of people or of rows by a public table, keep rows or drop them.
    - A row is beside as many rows of a public table as match it, and stays if the join is outer.
    - Views one after the other have the rows of all of them, and pairs have a row for each pair.
    """
    if not isinstance(view.unit, Person):
        return None
    match view.rows:
        case PerPerson(_, keys):
            return None if keys else 1
        case Matching(inner) | OfPeople(inner):
            return rows_each(inner)
        case Joined(inner, most=most):
            return _times(rows_each(inner), max(most, 1))  # there are no caps of 0 for a table that nothing matches
        case Together(views):
            found = [rows_each(each) for each in views]
            return None if None in found else sum(each for each in found if each is not None)
        case Paired(inner, other, outer=outer):
            one, two = rows_each(inner), rows_each(other)
            return None if two is None else _times(one, max(two, outer))
    return None


def _times(one: int | None, other: int) -> int | None:
    return None if one is None else one * other
