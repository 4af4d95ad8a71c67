"""The public range of a quotient of measured numbers, where it follows from what the rows add to both."""

from __future__ import annotations

from fractions import Fraction

from sitr.questions.aggregate.functions.linear import Linear
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.term import Term

Found = tuple[Fraction | None, Fraction | None, int | None]


def possible_quotient(above: Linear, below: Linear, terms: tuple[Quantity, ...]) -> Found:
    """The least and the greatest quotient, and the place of the count below; None where there is none.

    A share of rows lies between 0 and 1, and a sum over the number of rows between the bounds of what a row adds.
    """
    place = _single(below)
    if place is None or not _counts(terms[place]):
        return None, None, None
    under, factor = terms[place], below.weights[place]
    if above.constant:
        return None, None, place
    low = high = Fraction(0)
    for weight, term in zip(above.weights, terms, strict=True):
        if not weight:
            continue
        ends = (Fraction(1), Fraction(1)) if term == under else _of_one_row(term, under)
        if ends is None:
            return None, None, place
        scaled = sorted(weight / factor * end for end in ends)
        low, high = low + scaled[0], high + scaled[1]
    return low, high, place


def _single(linear: Linear) -> int | None:
    places = [place for place, weight in enumerate(linear.weights) if weight]
    return places[0] if len(places) == 1 and linear.constant == 0 else None


def _counts(term: Quantity) -> bool:
    """Whether it is a number of rows or of people, at least 1 where there are any."""
    return isinstance(term, Term) and term.quantised is None


def _of_one_row(above: Quantity, below: Quantity) -> tuple[Fraction, Fraction] | None:
    """What a row that is counted below adds above; None if rows may add something that are not counted below."""
    if not (isinstance(above, Term) and isinstance(below, Term)) or above.total:
        return None
    if below.people or above.people:
        same = above.of == below.of if below.people else below.of is None
        inside = above.people and same and below.where in (None, above.where)
        return (Fraction(0), Fraction(1)) if inside else None
    if below.where not in (None, above.where) or (below.of is not None and below.of != above.of):
        return None
    low, high = (end * above.granularity for end in above.reach)
    if above.quantised is None:
        return Fraction(0), Fraction(1)
    complete = above.where == below.where and above.of is not None and (below.of == above.of or not above.of.nullable)
    return (low, high) if complete else (min(low, Fraction(0)), max(high, Fraction(0)))
