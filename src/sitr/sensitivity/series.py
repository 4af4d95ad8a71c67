"""Queries about a series of states, and how far one state moves them: in the sum of sizes, if there are several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Protocol

from sitr.numbers import Number, granule, natural, positive


class SeriesQuery(Protocol):
    """A function of a series whose answer moves by at most `lipschitz` if one state changes, on a public grid."""

    @property
    def lipschitz(self) -> Number:
        """The most that the answer moves; of several numbers, the sum of sizes."""

    @property
    def granularity(self) -> Number:
        """Answers are multiples of this."""

    def __call__(self, series: Sequence[int], /) -> Any:
        """The exact answer, or the list of them."""


@dataclass(frozen=True, slots=True)
class Visits:
    """How often the series is in one of these states. One change moves it by at most 1.

    >>> Visits(1)([0, 1, 1, 0])
    2
    """

    state: int
    lipschitz: ClassVar = 1
    granularity: ClassVar = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", natural(self.state, name="state", of="Visits", least=0))

    def __call__(self, series: Sequence[int], /) -> int:
        return sum(one == self.state for one in series)


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How often the series is in each state. One change moves one count down and another up: 2 in all.

    >>> StateCounts(3)([0, 1, 1, 0])
    [2, 2, 0]
    """

    states: int
    lipschitz: ClassVar = 2
    granularity: ClassVar = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", natural(self.states, name="states", of="StateCounts", least=2))

    def __call__(self, series: Sequence[int], /) -> list[int]:
        found = Counter(series)
        return [found[state] for state in range(self.states)]


@dataclass(frozen=True, slots=True)
class StateShares:
    """The share of time in each state: counts divided by the length, which is public. One change moves them by 2/T.

    >>> StateShares(2, length=4)([0, 1, 1, 1])
    [Fraction(1, 4), Fraction(3, 4)]
    """

    states: int
    length: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", natural(self.states, name="states", of="StateShares", least=2))
        object.__setattr__(self, "length", natural(self.length, name="length", of="StateShares"))

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(2, self.length)

    @property
    def granularity(self) -> Fraction:
        return Fraction(1, self.length)

    def __call__(self, series: Sequence[int], /) -> list[Fraction]:
        return [Fraction(count, self.length) for count in StateCounts(self.states)(series)]


@dataclass(frozen=True, slots=True)
class Changes:
    """How often the state changes from one time to the next. One state is in two such steps: 2.

    >>> Changes()([0, 1, 1, 0])
    2
    """

    lipschitz: ClassVar = 2
    granularity: ClassVar = 1

    def __call__(self, series: Sequence[int], /) -> int:
        return sum(one != other for one, other in pairwise(series))


@dataclass(frozen=True, slots=True)
class OwnQuery:
    """A function of your own. That `lipschitz` is right is up to you: it cannot be checked here, and privacy needs it.

    The function returns integers, or fractions that are multiples of the granularity. It must have an answer to every
    series of states, and take as long for each.

    >>> longest = OwnQuery(lambda series: max(series), lipschitz=1)
    >>> longest([0, 1, 1])
    1
    """

    function: Callable[[Sequence[int]], Any]
    lipschitz: Number
    granularity: Number = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "lipschitz", positive(self.lipschitz, name="lipschitz", of="OwnQuery"))
        object.__setattr__(self, "granularity", granule(self.granularity, of="OwnQuery"))

    def __call__(self, series: Sequence[int], /) -> Any:
        return self.function(series)
