"""What is measured: sums of integers over rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sitr.dataset.schema import Column, Quantised
from sitr.questions.aggregate.spelling import identifier


@dataclass(frozen=True, slots=True)
class Term:
    """One integer for each group: the sum of what the kept rows add to it. A row adds

    - 1 without a `column`;
    - 1 if the column has a value, and else 0, where `quantised` is None;
    - the granules of its clamped value minus `centre`, and 0 without a value, otherwise.

    With `people`, each person who is identified by the column adds 1, whatever their rows.

    Equal terms are the same measurement: it is read, paid for and hidden once, however many columns show it.
    """

    column: Column | None = None
    quantised: Quantised | None = None
    centre: int = 0
    people: bool = False

    def __post_init__(self) -> None:
        assert self.column is not None or not self.people, "people are counted by the column that identifies them"

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the most that a row with a value adds."""
        if self.quantised is None:
            return 0, 1
        return self.quantised.lower - self.centre, self.quantised.upper - self.centre

    @property
    def granularity(self) -> Fraction:
        """The value of 1 in the unit of the column."""
        return self.quantised.granularity if self.quantised else Fraction(1)

    @property
    def name(self) -> str:
        """The term as SQL, for readers. Terms with other bounds have the same name.

        >>> Term().name
        'COUNT(*)'
        """
        if self.column is None:
            return "COUNT(*)"
        column = identifier(self.column.name)
        if self.quantised is None:
            return f"COUNT({'DISTINCT ' if self.people else ''}{column})"
        centre = self.centre * self.granularity
        return f"SUM({column}{f' - {centre}' if centre > 0 else f' + {-centre}' if centre else ''})"
