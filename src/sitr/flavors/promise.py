"""The protocol of all flavors of differential privacy, and the checks of their parameters."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from numbers import Rational, Real
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from flint import arb

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.numbers import Interval, Number, exact, upper, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

LARGEST = sys.float_info.max


@runtime_checkable
class Promise(Protocol):
    """A bound on the privacy loss, as a frozen value.

    Composition is `+`, repetition `*`, a group of people `for_group`; `covers` asks if a mechanism that keeps
    this promise also keeps another one. Only promises of one flavor add: convert first with a `to_…` arrow.

    Every flavor also says what it means of a loss: `Flavor.of(loss, …)` is the tightest promise of that flavor that the
    loss keeps, `kept_by` decides about a given one, and `excess` says how close they are.
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
        """Does this promise imply the other one? Yes is a proof; no may mean that none was found."""

    def excess(self, loss: Loss, /, *, relative: float = ...) -> Interval:
        """ln(lost/allowed), as a proved interval: below 0 the loss keeps the promise, above 0 it breaks it."""

    def kept_by(self, loss: Loss, /) -> bool:
        """Does this loss keep the promise? Both answers are proved; `Undecided` is raised if neither can be."""

    def worst_loss(self) -> Loss | None:
        """The largest loss of all mechanisms that keep this promise; None if no single one dominates the others."""


@runtime_checkable
class Excepting(Protocol):
    """A promise that may fail for a fraction γ of data: any promise implies it around itself."""

    inner: Promise
    gamma: float


@runtime_checkable
class Several(Protocol):
    """A promise that is a conjunction of others."""

    @property
    def parts(self) -> tuple[Promise, ...]:
        """The promises that it consists of."""


def implies_around(promise: Promise, other: object) -> bool:
    """Does the other promise consist of promises that this one implies, with exceptions or several at once?"""
    match other:
        case Excepting():
            return other.gamma == 1.0 or promise.covers(other.inner)
        case Several():
            return all(promise.covers(part) for part in other.parts)
    return False


def parameter(number: object, *, name: str, flavor: str, at_most: float | None = None) -> float:
    """A privacy parameter: finite, at least 0, a float from here on (a `Fraction` is rounded up)."""
    wanted = f"{name} of {flavor} to be a number of at least 0" + (f" and at most {at_most:g}" if at_most else "")
    if isinstance(number, bool) or not isinstance(number, Real):
        raise InvalidPromise(wanted=wanted, given=repr(number), do=f"Write {name} as a number.")
    # A short numpy float cannot be compared with the largest double.
    value: Number = exact(number) if isinstance(number, Rational) else float(number)
    # Written so that NaN fails as well.
    if not 0 <= value <= (LARGEST if at_most is None else at_most):
        raise InvalidPromise(wanted=wanted, given=str(number), do=f"Choose {name} within that range.")
    return (upward(value) if isinstance(value, Fraction) else float(value)) + 0.0  # −0.0 becomes 0.0


def total(numbers: Iterable[float]) -> float:
    """The exact sum, rounded up once at the end."""
    return upward(sum(map(exact, numbers), Fraction(0)))


def ceiling(number: Fraction) -> float:
    """Rounded up; infinite, which is no bound, beyond the largest float."""
    return upward(number) if number <= exact(LARGEST) else math.inf


def probability(bound: arb) -> float:
    """A bound on a probability, rounded up: at most 1, also where the ball knows nothing.

    A positive number below every float becomes the least float at once: written out, e^(−10²⁰) would fill the memory.
    """
    if bound <= 0:
        return 0.0
    if bound < arb(2) ** -1074:
        return math.ulp(0.0)
    return upper(bound) if bound < 1 else 1.0


def count(times: object, *, what: str) -> int:
    """A number of repetitions or of people: a whole number of at least 1."""
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise InvalidPromise(
            wanted=f"{what[0].lower()}{what[1:]} to be a whole number of at least 1",
            given=repr(times),
            do="Count releases or people with an integer.",
        )
    return times


def incompatible(first: object, second: object) -> IncompatiblePromises:
    """The error for a sum of two flavors."""
    one_random = isinstance(first, Excepting) != isinstance(second, Excepting)
    return IncompatiblePromises(
        wanted=f"another promise of the flavor {type(first).__name__}, because only promises of one flavor add up",
        given=repr(second),
        do="If it is about replacing one person too, write it as RandomDP(…, gamma=0): the total says what it means."
        if one_random
        else "Convert one of them first with its to_… arrow, so that the total says what it means.",
    )
