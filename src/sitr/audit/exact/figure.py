"""One proved figure of a finite mechanism, and where it is attained."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sitr.audit.exact.table import Name, shown
from sitr.numbers import Interval

SHOWN = 6
"""At most this many outcomes are written out."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A tight parameter of a mechanism as a proved interval, with the pair of inputs that attains it.

    The lower end is attained by this pair and, where there are any, by these outcomes. The upper end holds for all
    neighbouring pairs.
    """

    value: Interval
    pair: tuple[Name, Name]
    """The inputs of P and Q: P is the law of the outcome for the first."""
    outcomes: tuple[str, ...] = ()
    """The outcomes that attain it: for an event all of them, for an average the one with the largest share."""
    exact: Fraction | None = None
    """The exact number, if the probabilities are fractions and the number is one too."""
    odds: Fraction | None = None
    """The exact e^ε of an ε, if the probabilities are fractions."""
    at: float | None = None
    """The order or the tilt λ at which a supremum is attained, if it is one."""

    @property
    def lower(self) -> float:
        return self.value.lower

    @property
    def upper(self) -> float:
        return self.value.upper

    def place(self) -> str:
        """The pair and the outcomes in few words."""
        first, second = map(shown, self.pair)
        return f"{first} → {second}"

    def event(self) -> str:
        """The outcomes in few words."""
        more = len(self.outcomes) - SHOWN
        return ", ".join(self.outcomes[:SHOWN]) + (f", … ({more} more)" if more > 0 else "")
