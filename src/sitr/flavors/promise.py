"""What every flavor of differential privacy has in common, and the checks on its parameters."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from numbers import Rational, Real
from typing import Protocol, Self, runtime_checkable

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.loss.bounds import Number, exact, upward

LARGEST = sys.float_info.max


@runtime_checkable
class Promise(Protocol):
    """A bound on the privacy loss, as a frozen value.

    Composition is `+`, repetition `*`, a group of people `for_group`; `covers` asks if a mechanism that keeps
    this promise also keeps another one. Only promises of one flavor add: convert first with a `to_…` arrow.
    """

    def __add__(self, other: Self, /) -> Self:
        """What two releases promise together."""

    def __mul__(self, times: int, /) -> Self:
        """What a number of such releases promise together."""

    @classmethod
    def compose(cls, parts: Iterable[Self], /) -> Self:
        """What any number of releases promise together, rounded outward once."""

    def for_group(self, size: int, /) -> Self:
        """The promise to a group of people."""

    def covers(self, other: Promise, /) -> bool:
        """Does this promise imply the other one?"""

    def share(self, fraction: Fraction, /) -> Self:
        """A part of this promise as a price; parts that add up to 1 compose to at most the whole."""


def parameter(number: object, *, name: str, flavor: str, at_most: float | None = None) -> float:
    """A privacy parameter: finite, at least 0, a float from here on (a `Fraction` is rounded up)."""
    wanted = f"{flavor} wants {name} to be a number of at least 0" + (f" and at most {at_most:g}." if at_most else ".")
    if isinstance(number, bool) or not isinstance(number, Real):
        raise InvalidPromise(wanted=wanted, given=f"{number!r} was given.", do=f"Write {name} as a number.")
    # A short numpy float cannot be compared with the largest double.
    value: Number = exact(number) if isinstance(number, Rational) else float(number)
    # Written so that NaN fails as well.
    if not 0 <= value <= (LARGEST if at_most is None else at_most):
        raise InvalidPromise(wanted=wanted, given=f"{number} was given.", do=f"Choose {name} within that range.")
    return upward(value) + 0.0  # −0.0 becomes 0.0


def total(numbers: Iterable[float]) -> float:
    """The exact sum, rounded up once at the end."""
    return upward(sum(map(exact, numbers), Fraction(0)))


def count(times: object, *, what: str) -> int:
    """A number of repetitions or of people: a whole number of at least 1."""
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise InvalidPromise(
            wanted=f"{what} must be a whole number of at least 1.",
            given=f"{times!r} was given.",
            do="Count releases or people with an integer.",
        )
    return times


def incompatible(first: object, second: object) -> IncompatiblePromises:
    """The error for a sum of two flavors."""
    return IncompatiblePromises(
        wanted=f"Only promises of one flavor add up, here {type(first).__name__}.",
        given=f"{second!r} was given.",
        do="Convert one of them first with its to_… arrow, so that the total says what it means.",
    )
