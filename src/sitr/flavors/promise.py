"""The protocol of all flavors of differential privacy, and the checks of their parameters."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import cache
from numbers import Rational, Real
from operator import index, le
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, SupportsIndex, cast, runtime_checkable

from sitr.errors import IncompatiblePromises, InvalidPromise, InvalidUse, quoted
from sitr.flavors.meaning import decided
from sitr.numbers import Interval, Number, downward, exact, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

LARGEST = sys.float_info.max

Points = tuple[tuple[float, float], ...]
"""Pairs (ε, δ), or (order, bound), sorted by the first number."""

NO_COORDINATES = "It composes only in plans fixed in advance: compare plans with it, and budget in another flavor."


class Obstacle(NamedTuple):
    """Why no conversion leads from one flavor to another, and what to do instead."""

    reason: str
    do: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.do}."


@runtime_checkable
class Promise(Protocol):
    """A bound on the privacy loss, as a frozen value.

    Composition is `+`, repetition `*`, a group of people `for_group`; `covers` says whether a mechanism that keeps
    this promise also keeps another one. Only promises of one flavor add: convert first with a `to_…` arrow.

    Every flavor also defines what it means for a loss: `Flavor.of(loss, …)` is the tightest promise of that flavor that
    the loss keeps, `kept_by` decides about a given one, and `excess` says how close they are.

    A flavor is a dataclass that inherits from this class (or from `Adding`) and is registered in `sitr.flavors`.
    Everything in which flavors differ is a member of the class, so that nothing else depends on which flavors exist.
    """

    __slots__ = ()

    notation: ClassVar[str]
    """How it is written, such as pure(ε)."""
    name: ClassVar[str] = ""
    """Its name in lists of flavors, if the word of its notation is another flavor's."""
    arrow: ClassVar[str] = ""
    """The name of the conversion to this flavor, where other flavors have one."""
    obstacle: ClassVar[Obstacle]
    """Why other promises may have no such conversion."""
    closed: ClassVar[Obstacle | None] = None
    """Why this promise implies no promise of another flavor without a further choice, if that is so."""
    odometer: ClassVar[str] = ""
    """The word for budgets of this flavor without a cap, such as pure in odometer(pure); none if there are none."""
    exposes: ClassVar[bool] = False
    """Whether it may allow a mechanism to expose somebody outright, with a small probability."""
    about_people: ClassVar[bool] = True
    """Whether it is about data sets that differ in one person, so that it can be promised to a random newcomer."""
    widths: ClassVar[tuple[float, ...]] = (1e-2, 1e-4, 1e-6)
    """The relative widths of the intervals with which `kept_by` tries to decide."""

    @classmethod
    def compose(cls, parts: Iterable[Self], /) -> Self:
        """The promise of any number of releases together, rounded outward once."""

    def __add__(self, other: Self, /) -> Self:
        """The promise of two releases together."""
        if type(other) is not type(self):
            raise incompatible(self, other)
        return self.compose((self, other))

    def __mul__(self, times: int, /) -> Self:
        """The promise of this many such releases together."""

    def for_group(self, size: int, /) -> Self:
        """The promise to a group of people."""

    def covers(self, other: Promise, /) -> bool:
        """Whether this promise implies the other one. Yes is a proof; no may mean that no proof was found."""
        return other.follows_from(self)

    def follows_from(self, promise: Promise, /) -> bool:
        """Whether a promise of another flavor, which need not know this flavor, implies this one by a conversion."""
        found = type(self).implied_by(promise)
        return found is not None and found.covers(self)

    # What it means for a loss

    def excess(self, loss: Loss, /, *, relative: float = ...) -> Interval:
        """ln(lost/allowed), as a proved interval: below 0 the loss keeps the promise, above 0 it breaks it."""

    def kept_by(self, loss: Loss, /) -> bool:
        """Whether this loss keeps the promise. Both answers are proved; `Undecided` is raised if neither can be."""
        return decided(self, loss, widths=self.widths)

    def worst_loss(self) -> Loss | None:
        """The largest loss of all mechanisms that keep this promise; None if no single one dominates the others."""
        return None

    @property
    def stated(self) -> Points:
        """The (ε, δ) that this promise consists of, by increasing ε; none if it bounds the loss in another way."""
        return ()

    def largest_loss(self) -> float | None:
        """The largest loss that this promise allows; None if it sets no limit."""
        return self.stated[-1][0] if self.stated and self.stated[-1][1] == 0.0 else None

    def infinite_mass(self) -> float:
        """An upper bound on P(L = +∞): the δ that remains at every ε, or 1 if the flavor has no better bound."""
        return self.stated[-1][1] if self.stated else 1.0

    def loss_quantile(self, *, delta: float) -> float | None:  # noqa: ARG002 - others need it
        """ε′ with P(L > ε′) ≤ δ, rounded up; None if the promise bounds no such quantile.

        An (ε, δ) promise allows P(L > ε) > δ, so that ε′ is larger than the ε at this δ.
        """
        return self.largest_loss()

    # Conversions

    @classmethod
    def implied_by(cls, promise: Promise, /, *, delta: float | None = None) -> Self | None:  # noqa: ARG003 - as above
        """The promise of this flavor that another one implies, by a conversion of either flavor; None without one."""
        arrow = getattr(promise, cls.arrow, None) if cls.arrow else None
        return None if arrow is None else cast("Self", arrow())

    # Budgets

    def coordinates(self) -> tuple[Fraction, ...]:
        """The numbers that add up to a valid stopping rule even if every release is chosen after earlier answers."""
        raise no_stopping_rule(self, NO_COORDINATES)

    def with_coordinates(self, values: Sequence[Fraction], /, *, up: bool) -> Self:  # noqa: ARG002 - others need them
        """The promise like this one that has these coordinates, rounded up or down."""
        raise no_stopping_rule(self, NO_COORDINATES)

    @property
    def uncapped(self) -> bool:
        """Whether this is a budget without a cap: see `sitr.flavors.uncapped`."""
        return False

    def adds_to(self, like: Promise, /) -> bool:
        """Whether the coordinates of this promise can be added to the coordinates of a budget."""
        return type(self) is type(like)

    # Notation

    def written(self) -> str:
        """The parameters as text, such as epsilon=1.0; `read` understands them. Defaults are left out."""
        values = ((each, getattr(self, each.name)) for each in fields(cast("Any", self)))
        return ", ".join(f"{each.name}={value!r}" for each, value in values if value != each.default)

    @classmethod
    def read(cls, *values: Any, **named: Any) -> Self:
        """The promise with these parameters, as they are written."""
        return cls(*values, **named)


class Adding(Promise, Protocol):
    """A promise whose coordinates add under composition, whether releases are fixed in advance or chosen adaptively.

    The coordinates are the parameters, unless a flavor says otherwise.
    """

    __slots__ = ()

    probabilities: ClassVar[frozenset[str]] = frozenset()
    """The parameters that are at most 1."""

    def __post_init__(self) -> None:
        for name in _names(type(self)):
            number = getattr(self, name)
            limit = 1.0 if name in self.probabilities else None
            checked = parameter(number, name=name, flavor=type(self).__name__, at_most=limit)
            object.__setattr__(self, name, checked)

    @property
    def uncapped(self) -> bool:
        """Its first parameter has no limit that anybody could reach; a probability still limits the charges."""
        if not self.odometer:
            return False
        first, *others = _names(type(self))
        return getattr(self, first) == LARGEST and all(
            0.0 < getattr(self, name) < 1.0 if name in self.probabilities else getattr(self, name) == 0.0
            for name in others
        )

    @classmethod
    def at_coordinates(cls, values: Sequence[Fraction], /, *, up: bool) -> Self:
        """The promise with these coordinates, rounded up or down; a probability is at most 1."""
        rounded = map(upward if up else downward, values)
        numbers = dict(zip(_names(cls), rounded, strict=True))
        return cls(
            **{name: min(1.0, number) if name in cls.probabilities else number for name, number in numbers.items()}
        )

    @classmethod
    def compose(cls, parts: Iterable[Self], /) -> Self:
        return cls.compose_counted([(part, 1) for part in parts])

    @classmethod
    def compose_counted(cls, parts: Iterable[tuple[Self, int]], /) -> Self:
        """The exact sum of the coordinates of promises that are each given so often, rounded up once.

        Two rounded steps could cost more than the price that the parts were fitted to.
        """
        several = [[value * times for value in part.coordinates()] for part, times in parts]
        columns = zip(*several, strict=True) if several else [()] * len(_names(cls))
        return cls.at_coordinates([sum(column, Fraction(0)) for column in columns], up=True)

    def covers(self, other: Promise, /) -> bool:
        """Whether the other one is of this flavor and has no smaller coordinate, or follows for another reason."""
        if type(other) is type(self) and all(map(le, self.coordinates(), other.coordinates())):
            return True
        return self.implies(other)

    def implies(self, other: Promise, /) -> bool:
        """Whether a promise that has another flavor or a smaller coordinate follows all the same."""
        return type(other) is not type(self) and other.follows_from(self)

    def __mul__(self, times: int, /) -> Self:
        return self.compose_counted([(self, count(times, what="The number of releases"))])

    def share(self, fraction: Fraction, /) -> Self:
        """A part of this promise, rounded down: shares of fractions that sum to 1 compose to at most the whole."""
        return self.at_coordinates([value * fraction for value in self.coordinates()], up=False)

    def coordinates(self) -> tuple[Fraction, ...]:
        return tuple(exact(getattr(self, name)) for name in _names(type(self)))

    def with_coordinates(self, values: Sequence[Fraction], /, *, up: bool) -> Self:
        return self.at_coordinates(values, up=up)


@cache
def _names(flavor: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(flavor))


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


def checked_delta(delta: float) -> float:
    """0 < δ < 1, as every conversion of moments to (ε, δ) needs it."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0.0 < delta < 1.0:
        raise InvalidPromise(
            wanted="0 < delta < 1 for the conversion of moments to approximate privacy",
            given=repr(delta),
            do="Choose how rarely the bound may fail, such as delta=1e-6: well below one in the number of people.",
        )
    return delta


def total(numbers: Iterable[float]) -> float:
    """The exact sum, rounded up once at the end."""
    return upward(sum(map(exact, numbers), Fraction(0)))


def ceiling(number: Fraction) -> float:
    """Rounded up; infinite, which is no bound, beyond the largest float."""
    return upward(number) if number <= exact(LARGEST) else math.inf


def largest_fitting(fits: Callable[[float], bool], *, start: float) -> float:
    """The largest float that fits, where all smaller ones do: by doubling from a start above 0, then by bisection."""
    low, high = 0.0, start
    while fits(high):
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def count(times: object, *, what: str, least: int = 1) -> int:
    """A number of repetitions or of people, as a Python integer: numpy's integers wrap around."""
    if isinstance(times, bool) or not isinstance(times, SupportsIndex) or index(times) < least:
        raise InvalidPromise(
            wanted=f"{what[0].lower()}{what[1:]} to be a whole number of at least {least}",
            given=quoted(times),
            do="Count releases or people with an integer.",
        )
    return index(times)


def foreign() -> InvalidUse:
    """The error for parameters that a notation does not have; `parse` replaces it by one that quotes the whole text."""
    return InvalidUse(given="This expression does not occur in a promise.", do="Write for example zcdp(0.5).")


def no_stopping_rule(promise: Promise, do: str) -> IncompatiblePromises:
    """The error for a budget in a flavor whose sums are no valid stopping rule."""
    return IncompatiblePromises(
        wanted="a promise that adds up even when releases are chosen after earlier answers",
        given=repr(promise),
        do=do,
    )


def incompatible(first: object, second: object) -> IncompatiblePromises:
    """The error for a sum of two flavors."""
    one_random = hasattr(first, "gamma") != hasattr(second, "gamma")
    return IncompatiblePromises(
        wanted=f"another promise of the flavor {type(first).__name__}, because only promises of one flavor add up",
        given=repr(second),
        do="If it is about replacing one person too, write it as RandomDP(…, gamma=0): the total says what it means."
        if one_random
        else "Convert one of them first with its to_… arrow, so that the total says what it means.",
    )
