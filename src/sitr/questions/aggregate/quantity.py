"""What is measured: one integer for each group. `Term` is a sum over rows; the others are here."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from sitr.dataclass import dataclass
from sitr.dataset.schema import Quantised
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.term import Term


@dataclass(frozen=True, slots=True)
class Distinct:
    """The number of different values of an expression; NULL is none. With `where`, of rows for which it is true.

    Each person keeps as many different values in a group as they may have rows there: equal values count once, so this
    keeps more than the values of the kept rows.
    """

    of: Typed
    where: Typed | None = None

    @property
    def quantised(self) -> None:
        return None

    @property
    def granularity(self) -> Fraction:
        return Fraction(1)

    @property
    def name(self) -> str:
        return f"COUNT(DISTINCT {self.of.text}){_filter(self.where)}"


@dataclass(frozen=True, slots=True)
class Rank:
    """The granules of a value between the bounds that about `level`·n of the n values of the kept rows lie below.

    With an `end` of −1 or 1, it is at or below such a value, or at or above it: together they are an interval.
    """

    of: Typed
    quantised: Quantised
    level: Fraction
    end: int = 0
    where: Typed | None = None

    @property
    def granularity(self) -> Fraction:
        return self.quantised.granularity

    @property
    def shown(self) -> bool:
        """Whether it is shown by itself, and not only as an end of an interval."""
        return self.end == 0

    @property
    def extreme(self) -> bool:
        """Whether it is a minimum or a maximum."""
        return self.level in (0, 1)

    @property
    def name(self) -> str:
        end = {0: "", -1: ", a lower end", 1: ", an upper end"}[self.end]
        if self.extreme:
            return f"{'MAX' if self.level else 'MIN'}({self.of.text}){_filter(self.where)}{end}"
        return f"QUANTILE({self.of.text}, {decimal(self.level)}){_filter(self.where)}{end}"


@dataclass(frozen=True, slots=True)
class Bar:
    """The number of kept rows with a value in one cell of a histogram, a condition on a row.

    A row is in one cell at most, so all bars of a histogram are one measurement. It is known by its text, which is
    short: if each bar had all cells, a plan would have the square of their number.
    """

    of: Typed
    cell: Typed
    histogram: str
    where: Typed | None = None

    @property
    def quantised(self) -> None:
        return None

    @property
    def granularity(self) -> Fraction:
        return Fraction(1)

    @property
    def name(self) -> str:
        condition = self.cell.text if self.where is None else f"({self.cell.text}) AND ({self.where.text})"
        return f"COUNT(*) FILTER (WHERE {condition})"


Quantity: TypeAlias = Term | Distinct | Rank | Bar
"""Equal quantities are the same measurement."""


def family(quantity: Quantity) -> object:
    """Quantities of the same family are measured together, by one mechanism for all of their numbers."""
    return (quantity.of, quantity.histogram, quantity.where) if isinstance(quantity, Bar) else quantity


def decimal(level: Fraction) -> str:
    """A level as a question writes it.

    >>> decimal(Fraction(1, 4)), decimal(Fraction(1))
    ('0.25', '1')
    """
    return str(level.numerator) if level.denominator == 1 else repr(float(level))


def _filter(where: Typed | None) -> str:
    return "" if where is None else f" FILTER (WHERE {where.text})"
