"""Random differential privacy: another promise that holds for all but a fraction of data sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, cast

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.meaning import KEPT, RELATIVE
from sitr.flavors.promise import Obstacle, Promise, count, foreign, incompatible, parameter
from sitr.numbers import Interval, Number, downward, exact, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

Parts = tuple[tuple[str, float], ...]
"""The sources of γ: names, and the share of each."""


class Basis(Enum):
    """The proof behind γ: for this number of people, or only asymptotic, as published."""

    FINITE_SAMPLE = "finite-sample"
    ASYMPTOTIC = "asymptotic"

    @classmethod
    def weakest(cls, bases: Iterable[Basis], /) -> Basis:
        return cls.ASYMPTOTIC if cls.ASYMPTOTIC in set(bases) else cls.FINITE_SAMPLE


@dataclass(frozen=True, slots=True, repr=False)
class RandomDP(Promise):
    """`inner` holds between X and X' that differ in one random draw, except on a set of samples of probability γ.

    P_{X, X'}(inner holds for this pair) ≥ 1 − γ, over n + 1 exchangeable draws from the population. [HRW11, Def. 1]

    It protects a *random newcomer*, not every person: somebody who is unlike the others may be in the fraction γ, and
    is then promised nothing. Data that are not exchangeable, because they are sorted or grow over time, are promised
    nothing either. Sums hold for plans fixed in advance, never for releases chosen after earlier answers.

    `parts` name the sources of γ; the rest of γ has no name. They are rounded down, because γ itself is the bound, and
    do not matter for equality and `covers`.

    >>> from sitr.flavors.pure import PureDP
    >>> RandomDP(PureDP(0.5), 0.01) + RandomDP(PureDP(0.25), 0.02)
    RandomDP(inner=PureDP(epsilon=0.75), gamma=0.03)
    >>> RandomDP(PureDP(0.5), 0.05, parts=(("newcomer", 0.04), ("largest pair", 0.01))) * 2
    RandomDP(inner=PureDP(epsilon=1.0), gamma=0.1, parts=(('newcomer', 0.08), ('largest pair', 0.02)))
    """

    notation = "random(promise, γ)"
    exposes = True
    obstacle = Obstacle(
        "Random privacy is about replacing one person", "state it as RandomDP with gamma=0 if this promise is so, too"
    )
    closed = Obstacle("It promises nothing for a fraction γ of data", "report it as it is, γ cannot be moved elsewhere")

    inner: Promise
    gamma: float
    basis: Basis = Basis.FINITE_SAMPLE
    parts: Parts = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", parameter(self.gamma, name="gamma", flavor="RandomDP", at_most=1.0))
        # A class, such as PureDP itself, has all members of a promise, but says nothing.
        if (
            isinstance(self.inner, type | RandomDP)
            or not isinstance(self.inner, Promise)
            or not self.inner.about_people
        ):
            raise InvalidPromise(
                wanted="a promise of another flavor inside RandomDP",
                given=repr(self.inner),
                do="Write for example RandomDP(PureDP(0.5), gamma=0.01).",
            )
        if not isinstance(self.basis, Basis):
            raise InvalidPromise(
                wanted="a basis of RandomDP",
                given=repr(self.basis),
                do="Write Basis.FINITE_SAMPLE, or Basis.ASYMPTOTIC for what holds only in the limit.",
            )
        object.__setattr__(self, "parts", tuple(_part(part) for part in self.parts))
        names, shares = [name for name, _ in self.parts], sum((exact(share) for _, share in self.parts), Fraction(0))
        if len(set(names)) < len(names) or min(Fraction(1), shares) > exact(self.gamma):
            raise InvalidPromise(
                wanted=f"parts of RandomDP, each named once, that add up to at most gamma={self.gamma!r}",
                given=f"parts={self.parts!r}",
                do="Add up parts with the same name, or choose a larger gamma.",
            )

    @classmethod
    def of(cls, loss: Loss, /, *, flavor: Any, gamma: float = 0.0, **options: Any) -> RandomDP:
        """The tightest promise of another flavor, with γ around it. The loss must be about replacing one person.

        >>> from sitr.flavors.pure import PureDP
        >>> from sitr.loss import laplace
        >>> RandomDP.of(laplace(scale=2), flavor=PureDP)
        RandomDP(inner=PureDP(epsilon=0.5000000...), gamma=0.0)
        """
        return cls(flavor.of(loss, **options), gamma)

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The inner promise against a loss that bounds every pair of data sets; nothing is promised where γ is 1."""
        return KEPT if self.gamma == 1.0 else self.inner.excess(loss, relative=relative)

    def kept_by(self, loss: Loss, /) -> bool:
        """Whether this loss, about replacing one person in any data set, keeps the inner promise, and so this one.

        A loss is about the worst data set, not about a fraction of them, so a "no" is about the inner promise.

        >>> from sitr.flavors.pure import PureDP
        >>> from sitr.loss import laplace
        >>> RandomDP(PureDP(0.6), 0.05).kept_by(laplace(scale=2))
        True
        """
        return self.gamma == 1.0 or self.inner.kept_by(loss)

    def coordinates(self) -> tuple[Fraction, ...]:
        """The coordinates of the inner promise, then γ, which add only for releases fixed before the first answer.

        `Filter` ensures this.
        """
        return *self.inner.coordinates(), exact(self.gamma)

    def with_coordinates(self, values: Sequence[Fraction], /, *, up: bool) -> RandomDP:
        gamma = min(1.0, (upward if up else downward)(values[-1]))
        return RandomDP(self.inner.with_coordinates(values[:-1], up=up), gamma, self.basis)

    def adds_to(self, like: Promise, /) -> bool:
        return isinstance(like, RandomDP) and self.inner.adds_to(like.inner) and like.allows(self.basis)

    def allows(self, basis: Basis, /) -> bool:
        """Whether a budget of this basis may be charged with a promise of another one."""
        return Basis.weakest((self.basis, basis)) is self.basis

    def written(self) -> str:
        name, _, _ = type(self.inner).notation.partition("(")
        asymptotic = ", asymptotic=true" if self.basis is Basis.ASYMPTOTIC else ""
        parts = f", parts={dict(self.parts)!r}" if self.parts else ""
        return f"{name}({self.inner.written()}), gamma={self.gamma!r}{asymptotic}{parts}"

    @classmethod
    def read(cls, inner: Any, gamma: Any, *, asymptotic: bool = False, parts: Any = None) -> RandomDP:
        if not isinstance(asymptotic, bool) or not isinstance(parts, dict | None):
            raise foreign()
        basis = Basis.ASYMPTOTIC if asymptotic else Basis.FINITE_SAMPLE
        return cls(inner, gamma, basis, tuple((parts or {}).items()))

    @classmethod
    def compose(cls, parts: Iterable[RandomDP], /) -> RandomDP:
        """The inner promises compose, γ adds (union bound), for a plan fixed in advance.      [HRW11, Prop. 4.2]

        The basis is the weakest, and parts of one name are added.
        """
        parts = tuple(parts)
        if not parts:
            raise InvalidPromise(
                wanted="at least one random promise, because a sum of none has no inner flavor",
                given="none",
                do="Compose nothing in a flavor of your choice, and write RandomDP around it with gamma=0.",
            )
        for part in parts:
            if type(part.inner) is not type(parts[0].inner):
                raise incompatible(parts[0].inner, part.inner)
        inner = cast("Any", type(parts[0].inner)).compose([part.inner for part in parts])
        gamma = _at_most_one(sum((exact(part.gamma) for part in parts), Fraction(0)))
        return cls(inner, gamma, Basis.weakest(part.basis for part in parts), joined((part.parts, 1) for part in parts))

    def __mul__(self, times: int, /) -> RandomDP:
        times = count(times, what="The number of releases")
        return self._times(self.inner * times, times)

    def infinite_mass(self) -> float:
        """The bound of the inner promise, for all data except the fraction γ."""
        return self.inner.infinite_mass()

    def for_group(self, size: int, /) -> RandomDP:
        """The inner promise for a group of t random newcomers, with tγ."""
        size = count(size, what="The size of a group")
        return self._times(self.inner.for_group(size), size)

    def _times(self, inner: Promise, times: int) -> RandomDP:
        gamma = _at_most_one(exact(self.gamma) * times)
        return RandomDP(inner, gamma, self.basis, joined([(self.parts, times)]))

    def covers(self, other: Promise, /) -> bool:
        """Parts do not matter. An asymptotic promise implies nothing for this number of people."""
        if isinstance(other, ComputationalDP):
            return other.follows_from(self)
        if not isinstance(other, RandomDP):
            return False  # γ, even 0, is about random newcomers: nothing is promised to every person
        if not other.allows(self.basis):
            return False
        return other.gamma == 1.0 or (self.gamma <= other.gamma and self.inner.covers(other.inner))

    def follows_from(self, promise: Promise, /) -> bool:
        """A promise implies every random promise around it."""
        return self.gamma == 1.0 or promise.covers(self.inner)

    def to_approximate(self, *, delta: float) -> NoReturn:
        """There is no such conversion: γ is about data, δ about coins."""
        raise IncompatiblePromises(
            given=f"{self!r} promises nothing for a fraction γ of data, so it has no ε at δ = {delta}.",
            do="Report it as it is, with γ; γ cannot be moved into δ.",
        )

    def __repr__(self) -> str:
        basis = f", basis={self.basis}" if self.basis is not Basis.FINITE_SAMPLE else ""
        parts = f", parts={self.parts!r}" if self.parts else ""
        return f"RandomDP(inner={self.inner!r}, gamma={self.gamma!r}{basis}{parts})"


def joined(several: Iterable[tuple[Parts, int]], /) -> Parts:
    """All parts, each multiplied by its number of times, with equal names added.

    >>> joined([((("newcomer", 0.04),), 2), ((("gate", 0.01), ("newcomer", 0.02)), 1)])
    (('newcomer', 0.1), ('gate', 0.01))
    """
    found: dict[str, Fraction] = {}
    for parts, times in several:
        for name, share in parts:
            found[name] = found.get(name, Fraction(0)) + times * exact(share)
    return tuple((name, downward(min(Fraction(1), share))) for name, share in found.items())


def _part(part: object) -> tuple[str, float]:
    match part:
        case (str() as name, share) if name.strip() and name.isprintable():
            parameter(share, name=f"the part {name!r} of gamma", flavor="RandomDP", at_most=1.0)
            return name, downward(cast("Number", share))
    raise InvalidPromise(
        wanted="parts of RandomDP as pairs of a name and a number",
        given=repr(part),
        do='Write for example parts=(("newcomer", 0.04), ("largest pair", 0.01)).',
    )


def _at_most_one(number: Fraction) -> float:
    return upward(min(Fraction(1), number))
