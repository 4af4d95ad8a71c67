"""A schedule: a list of releases, fixed in advance, and what each of them promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sitr.errors import InvalidPromise
from sitr.flavors.promise import Promise, count
from sitr.flavors.random import Basis, Parts, RandomDP, joined
from sitr.loss.loss import Loss
from sitr.numbers import exact, upward

MOST_TIMES = 10**8


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of release, repeated. All its promises hold *at once*, so each theorem may use the one that suits it.

    Either none of the promises is random or all are, with one γ of one basis: they then fail on the same set of data,
    which are assumed to be exchangeable.

    >>> from sitr import PureDP
    >>> Part((PureDP(0.1),), times=10).times
    10
    """

    promises: tuple[Promise, ...]
    times: int = 1
    name: str = ""
    stated: Loss | None = field(default=None, repr=False)
    """The loss of one such release, if its mechanism is known: it keeps all promises."""

    def __post_init__(self) -> None:
        if count(self.times, what="The number of times of a step") > MOST_TIMES:
            raise InvalidPromise(
                wanted="at most 10⁸ releases in a step",
                given=str(self.times),
                do="Write several steps if you really mean that many releases.",
            )
        if not self.promises or len({_exceptions(promise) for promise in self.promises}) != 1:
            raise InvalidPromise(
                wanted="promises that hold at once: none of them random, or all with one γ of one basis",
                given=repr(self.promises),
                do="Give at least one promise, and put RandomDP with one γ around all of them or around none.",
            )

    @property
    def gamma(self) -> float:
        """The fraction of data for which one such release may promise nothing; 0 unless it is random."""
        return getattr(self.promises[0], "gamma", 0.0)

    @property
    def gamma_parts(self) -> Parts:
        """Where that fraction comes from, by name: as the promise says, or else all of it from this step."""
        first = self.promises[0]
        return (first.parts if isinstance(first, RandomDP) else ()) or (
            ((self.name, self.gamma),) if self.name and self.gamma else ()
        )

    @property
    def inner(self) -> Part:
        """The same step for the data that are not in the fraction γ."""
        promises = (promise.inner if isinstance(promise, RandomDP) else promise for promise in self.promises)
        return Part(tuple(promises), self.times, self.name, self.stated)

    @property
    def loss(self) -> Loss | None:
        """The loss of one such release: as stated, or else the worst that its only promise allows; None if neither."""
        return self.stated if self.stated is not None or len(self.promises) > 1 else self.promises[0].worst_loss()


@dataclass(frozen=True, slots=True)
class Schedule:
    """Steps whose kinds, numbers and parameters were fixed before the first of them."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidPromise(
                wanted="at least one step in a schedule",
                given="none",
                do="Write what is released, for example Schedule((Part((PureDP(0.1),)),)).",
            )

    @property
    def releases(self) -> int:
        """How many releases there are in all."""
        return sum(part.times for part in self.parts)

    @property
    def random(self) -> bool:
        """Does any step hold only for all but a fraction of data?"""
        return any(isinstance(part.promises[0], RandomDP) for part in self.parts)

    @property
    def gamma(self) -> float:
        """Σγ, the union bound over all releases.      [HRW11, Prop. 4.2]"""
        return upward(min(Fraction(1), sum((exact(part.gamma) * part.times for part in self.parts), Fraction(0))))

    @property
    def basis(self) -> Basis:
        """What that γ rests on."""
        promises = (part.promises[0] for part in self.parts)
        return Basis.weakest(promise.basis for promise in promises if isinstance(promise, RandomDP))

    @property
    def gamma_parts(self) -> Parts:
        """Where that γ comes from, by name."""
        return joined((part.gamma_parts, part.times) for part in self.parts)

    @property
    def inner(self) -> Schedule:
        """The schedule for the data that are in no step's fraction γ."""
        return Schedule(tuple(part.inner for part in self.parts))


def _exceptions(promise: Promise) -> tuple[float, Basis] | None:
    return (promise.gamma, promise.basis) if isinstance(promise, RandomDP) else None
