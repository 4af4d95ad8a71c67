"""Markov chains with finitely many states, exactly: what an observer may believe about a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sitr.errors import InvalidParameter, quoted
from sitr.numbers import Number, finite

MOST_STATES = 64


@dataclass(frozen=True, slots=True)
class Chain:
    """P(X_1 = x) = start[x], and P(X_{t+1} = y | X_1, …, X_t = x) = transition[x][y].

    Probabilities are exact: floats stand for the decimals that they print as, and each row adds up to 1.

    >>> Chain([1, 0], [[0.9, 0.1], [0.4, 0.6]]).states
    2
    """

    start: Sequence[Number]
    transition: Sequence[Sequence[Number]]

    def __post_init__(self) -> None:
        start = _law(self.start, "the start of a chain")
        rows = tuple(_law(row, "each row of the transitions of a chain") for row in _listed(self.transition))
        if not 2 <= len(start) <= MOST_STATES or {len(row) for row in rows} != {len(start)} or len(rows) != len(start):
            raise InvalidParameter(
                wanted=f"a start with 2 to {MOST_STATES} states and a square table of transitions between them",
                given=f"{len(start)} states and rows of {', '.join(str(len(row)) for row in rows) or 'nothing'}",
                do="Write one row of probabilities for each state.",
            )
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "transition", rows)

    @property
    def states(self) -> int:
        """The number of states, which are called 0, 1, 2, …"""
        return len(self.start)


def _listed(value: object) -> list[object]:
    if isinstance(value, str) or not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
        raise InvalidParameter(
            wanted="lists of probabilities for a chain", given=quoted(value), do="Write for example [[0.9, 0.1], …]."
        )
    return [value[place] for place in range(len(value))]


def _law(value: object, what: str) -> tuple[Fraction, ...]:
    """Exact probabilities with the sum 1."""
    found = [finite(number) for number in _listed(value)]
    law = tuple(number for number in found if number is not None and number >= 0)
    if len(law) != len(found) or sum(law) != 1:
        raise InvalidParameter(
            wanted=f"{what} to be probabilities that add up to exactly 1",
            given=quoted(value),
            do="Correct them; fractions such as Fraction(1, 3) are exact.",
        )
    return law
