"""What is measured: sums of integers over rows."""

from __future__ import annotations

from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.dataset.schema import NUMERIC, Kind, Quantised, quantise
from sitr.errors import DescriptionError, QuestionError
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.spelling import identifier

ROWS_LEFT_OUT = " WITH ROWS LEFT OUT"
"""In the name of a count of people, that only those are counted who have more rows than the cap."""


@dataclass(frozen=True, slots=True)
class Term:
    """One integer for each group: the sum of what the kept rows add to it. A row adds

    - 1 without an expression `of`;
    - 1 if the expression has a value, and else 0, where `quantised` is None;
    - the granules of its clamped value minus `centre`, and 0 without a value, otherwise.

    With `people`, each person who is identified by the column adds 1, whatever their rows. With `where`, only rows for
    which it is true add anything, and only people with such a row. With `cut`, only people with more rows in the group
    than the cap add 1. With `total`, a person adds the granules of all their values in the group, clamped once: no cap
    on rows is needed, and values are not clamped one by one.

    Equal terms are the same measurement: it is read, paid for and hidden once, however many columns show it.
    """

    of: Typed | None = None
    quantised: Quantised | None = None
    centre: int = 0
    people: bool = False
    where: Typed | None = None
    cut: bool = False
    total: bool = False

    def __post_init__(self) -> None:
        assert self.of is not None or not self.people, "people are counted by the column that identifies them"

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the most that a row with a value adds; that a person adds, if it is a total."""
        if self.quantised is None:
            return 0, 1
        return self.quantised.lower - self.centre, self.quantised.upper - self.centre

    @property
    def granularity(self) -> Fraction:
        """The value of 1 in the unit of the expression."""
        return self.quantised.granularity if self.quantised else Fraction(1)

    @property
    def name(self) -> str:
        """The term as SQL, for readers. Terms with other bounds have the same name.

        >>> Term().name
        'COUNT(*)'
        """
        return f"{self._call()}{f' FILTER (WHERE {self.where.text})' if self.where is not None else ''}"

    def _call(self) -> str:
        if self.of is None:
            return "COUNT(*)"
        if self.quantised is None:
            cut = ROWS_LEFT_OUT if self.cut else ""
            return f"COUNT({'DISTINCT ' if self.people else ''}{self.of.text}{cut})"
        if self.total:
            return f"SUM_PER_PERSON({self.of.text}, {', '.join(map(str, self.quantised.ends))})"
        centre = self.centre * self.granularity
        return f"SUM({self.of.text}{f' - {centre}' if centre > 0 else f' + {-centre}' if centre else ''})"


def summed(of: Typed, *, function: str, table: str) -> Term:
    """The sum of an expression's granules, for a function that needs numbers with bounds."""
    return Term(of, granules_of(of, function=function, table=table))


def granules_of(of: Typed, *, function: str, table: str) -> Quantised:
    """How the values of an expression enter a sum: its bounds in whole granules."""
    column = of.column
    if of.kind not in NUMERIC:
        raise QuestionError(
            given=f"{function} needs a column of numbers, but {column.name!r} has type {of.kind.value}."
            if column is not None
            else f"{function} needs numbers, but {of.mentioned} has type {of.kind.value}.",
            do="Count it, or choose another column.",
        )
    if column is not None and column.quantised is not None:
        return column.quantised
    if of.low is None or of.high is None:
        if column is None:
            raise DescriptionError(
                given=f"{function}({of.text}) needs bounds, but none follow from those of its columns.",
                do=f"Write {function}(CLAMP({of.text}, low, high)), with bounds from public knowledge.",
            )
        raise DescriptionError(
            given=f"{function}({identifier(column.name)}) needs bounds, but the description of {table} has none for "
            f"{column.name!r}.",
            do=f"Protect the data set with bounds={{{column.name!r}: (low, high)}}, from public knowledge.",
        )
    return _quantised(of, of.low, of.high)


def _quantised(of: Typed, low: Fraction, high: Fraction) -> Quantised:
    """In the steps of the expression if there are at most 2^53 of them, and else in about a million steps.

    Bounds between two steps are rounded outward, because values are rounded to the nearest step.
    """
    step = of.step if of.step is not None else (Fraction(1) if of.kind is Kind.INTEGER else None)
    for granularity in (step, None):
        kind, ends = Kind.REAL, (low, high)
        if granularity is not None:
            kind, ends = of.kind, (low // granularity * granularity, -(-high // granularity) * granularity)
        try:
            return quantise(of.text, kind, ends, granularity)
        except DescriptionError as problem:
            wrong = problem
    raise QuestionError(
        given=f"The range of {of.text}, {low} to {high}, cannot be cut into steps.",
        do=f"Write CLAMP({of.text}, low, high), with bounds from public knowledge.",
    ) from wrong
