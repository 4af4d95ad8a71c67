"""Random differential privacy: another promise, kept for all but a fraction of data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, cast

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.promise import Promise, count, incompatible, parameter
from sitr.loss.bounds import exact, upward


@dataclass(frozen=True, slots=True)
class RandomDP:
    """`inner` holds between X and X' that differ in one random draw, but for a set of samples of probability γ.

    P_{X, X'}(inner holds for this pair) ≥ 1 − γ, over n + 1 independent draws from the population.      [HRW11, Def. 1]

    It protects a *random newcomer*, not every person: whoever is unlike the others may be in the fraction γ, and is
    then promised nothing. Sums hold for plans fixed in advance, never for releases chosen after earlier answers.

    >>> from sitr.flavors.pure import PureDP
    >>> RandomDP(PureDP(0.5), 0.01) + RandomDP(PureDP(0.25), 0.02)
    RandomDP(inner=PureDP(epsilon=0.75), gamma=0.03)
    """

    inner: Promise
    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", parameter(self.gamma, name="gamma", flavor="RandomDP", at_most=1.0))
        if not isinstance(self.inner, Promise) or isinstance(self.inner, RandomDP):
            raise InvalidPromise(
                wanted="RandomDP wants a promise of another flavor that holds but for the fraction gamma.",
                given=f"{self.inner!r} was given.",
                do="Write for example RandomDP(PureDP(0.5), gamma=0.01).",
            )

    @classmethod
    def compose(cls, parts: Iterable[RandomDP], /) -> RandomDP:
        """The inner promises compose, γ adds (union bound), for a plan fixed in advance.      [HRW11, Prop. 4.2]"""
        parts = tuple(parts)
        if not parts:
            raise InvalidPromise(
                wanted="At least one random promise was wanted: a sum of none has no inner flavor.",
                given="There is none.",
                do="Compose nothing in a flavor of your choice, and write RandomDP around it with gamma=0.",
            )
        for part in parts:
            if type(part.inner) is not type(parts[0].inner):
                raise incompatible(parts[0].inner, part.inner)
        inner = cast("Any", type(parts[0].inner)).compose([part.inner for part in parts])
        return cls(inner, _at_most_one(sum((exact(part.gamma) for part in parts), Fraction(0))))

    def __add__(self, other: RandomDP, /) -> RandomDP:
        if not isinstance(other, RandomDP):
            raise incompatible(self, other)
        return self.compose((self, other))

    def __mul__(self, times: int, /) -> RandomDP:
        times = count(times, what="The number of releases")
        return RandomDP(self.inner * times, _at_most_one(exact(self.gamma) * times))

    def for_group(self, size: int, /) -> RandomDP:
        """The inner promise for a group of t random newcomers, with tγ."""
        size = count(size, what="The size of a group")
        return RandomDP(self.inner.for_group(size), _at_most_one(exact(self.gamma) * size))

    def covers(self, other: Promise, /) -> bool:
        if not isinstance(other, RandomDP):
            return False  # γ, even 0, is about random newcomers: nothing is promised to every person
        return other.gamma == 1.0 or (self.gamma <= other.gamma and self.inner.covers(other.inner))

    def to_approximate(self, *, delta: float) -> NoReturn:
        """There is no such arrow: γ is about data, δ about coins."""
        raise IncompatiblePromises(
            wanted=f"A promise about every person was wanted, at δ = {delta}.",
            given=f"{self!r} promises nothing for a fraction γ of data, however lucky the coins are.",
            do="Report it as it is, with γ; γ cannot be moved into δ.",
        )


def _at_most_one(number: Fraction) -> float:
    return upward(min(Fraction(1), number))
