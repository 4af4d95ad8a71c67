"""What caps and bounds leave out, measured for a small share of the price.

An answer about people with at most m rows in each of at most k groups is not an answer about all rows. Three numbers
say how far the two may be apart, and one person moves each of them by little:

- people with some, but not all rows of a group left out, after the choice of k groups: by 1 in each of these;
- people with a value beyond the bounds in a group, for each expression that is summed: likewise;
- people with all rows of a group left out, by the cap on groups or on all rows: by 1 in total.

Where a price is too small to tell for each group, the first two are counted for all groups together: see `in_total`.

How *much* they left out has no bound that is public. The number of rows is measured up to a second cap, if the question
has one: see `second_cap`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.errors import QuestionError
from sitr.numbers import finite
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, literal_typed
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.second_cap import SecondCap
from sitr.questions.aggregate.term import Term

SHARE = Fraction(1, 20)
"""The share of a price that is spent on what was left out, unless the question says otherwise."""

WIDEST = Fraction(1, 2)
"""The widest interval of a share that is shown as a number."""


_LARGE = 2**62
"""Numbers of a question are below 2^63: values are divided by this before they are compared with larger ones."""


class Why(Enum):
    """Why something was left out."""

    ROWS = "rows beyond the cap"
    BOUNDS = "values beyond the bounds"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of people, or a share of them, and an interval around it."""

    value: Fraction
    low: Fraction
    high: Fraction

    @property
    def error(self) -> Fraction:
        """The largest distance from the number to an end."""
        return max(self.value - self.low, self.high - self.value)

    @property
    def tells(self) -> bool:
        """Whether a share says anything: its interval is at most half as wide as all shares."""
        return self.high - self.low <= WIDEST


@dataclass(frozen=True, slots=True)
class Watch:
    """What is measured about the rows and values that were left out.

    `everybody` counts the people in a group (the rows, where each row is a unit), `cut` those with rows beyond the cap,
    and `clamped` those with values of an expression beyond its bounds. `beyond` says that the people are counted, in
    total, of whom all rows of a group are left out, and `rows` that rows left out are counted, up to this second cap.
    """

    share: Fraction
    everybody: Term
    cut: Term | None
    clamped: tuple[tuple[str, Term], ...]
    beyond: bool
    rows: SecondCap | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.everybody, *((self.cut,) if self.cut else ()), *(term for _, term in self.clamped))


def share_of(bias: object) -> Fraction | None:
    """The share of the price for the bias: a number below 1, or "off"; None if it is not measured.

    >>> share_of(0.05), share_of("off")
    (Fraction(1, 20), None)
    """
    if bias in ("off", None):
        return None
    share = finite(bias)
    if share is None or not 0 < share < 1:
        raise QuestionError(
            wanted='a share of the price between 0 and 1 for bias, or "off"',
            given=repr(bias),
            do="Leave it out to spend 5%.",
        )
    return share


def watch(
    terms: tuple[Quantity, ...],
    *,
    who: Typed | None,
    share: Fraction,
    beyond: bool,
    cuts: bool = True,
    rows: SecondCap | None = None,
) -> Watch | None:
    """What can be left out of these terms; None if nothing can. `who` identifies people, unless each row is a unit.

    `cuts` says whether rows beyond a cap can be left out, and `beyond` whether all rows of a group can.
    """
    clamped = tuple(dict(_clamped(terms, who)).items())
    counts_rows = any(not isinstance(term, Term) or not (term.people or term.total) for term in terms)
    cut = Term(who, people=True, cut=True) if who is not None and counts_rows and cuts else None
    if cut is None and not clamped and not beyond:
        return None
    everybody = Term() if who is None else Term(who, people=True)
    return Watch(share, everybody, cut, clamped, beyond, None if cut is None else rows)


def _clamped(terms: tuple[Quantity, ...], who: Typed | None) -> Iterator[tuple[str, Term]]:
    """For each expression that is summed, the people or rows with a value beyond its bounds."""
    for term in terms:
        of = clamped_in(term)
        if of is None or term.quantised is None:
            continue
        outside = _outside(of, *term.quantised.ends)
        where = outside if term.where is None else ROW_FUNCTIONS["AND"]("AND", (term.where, outside))
        yield of.text, Term(who, people=who is not None, where=where)


def clamped_in(term: Quantity) -> Typed | None:
    """The expression whose values are clamped for a term; None if nothing can lie beyond its bounds."""
    if term.of is None or term.quantised is None or term.of.kind in TEMPORAL:
        return None
    if isinstance(term, Term) and term.total:
        return None  # what a total of a person has beyond the bounds is not a matter of single rows
    if term.of.what == "CLAMP":
        return term.of.parts[0]
    return term.of if _exposed(term.of) else None  # not the square of a clamped value


def _exposed(of: Typed) -> bool:
    """Whether a column can take an expression beyond its bounds: not if CLAMP stands around every column."""
    return of.what != "CLAMP" and (of.column is not None or any(map(_exposed, of.parts)))


def _outside(of: Typed, low: Fraction, high: Fraction) -> Typed:
    """The value is below the lower bound or above the upper one."""
    while max(abs(low), abs(high)) > _LARGE:
        of, low, high = ROW_FUNCTIONS["/"]("/", (of, literal_typed(_LARGE))), low / _LARGE, high / _LARGE
    below, above = (ROW_FUNCTIONS[sign](sign, (of, _number(end))) for sign, end in (("<", low), (">", high)))
    return ROW_FUNCTIONS["OR"]("OR", (below, above))


def _number(end: Fraction) -> Typed:
    return literal_typed(int(end) if end.denominator == 1 else float(end))
