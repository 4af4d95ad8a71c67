"""A schedule: a list of releases, fixed in advance, and what each of them promises."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sitr.errors import InvalidPromise
from sitr.flavors.promise import Promise, count
from sitr.flavors.pufferfish import Pufferfish, not_composable
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import added

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
    known: Loss | None = field(default=None, repr=False)
    """The loss of one such release, if its mechanism is known: it keeps all promises."""

    def __post_init__(self) -> None:
        if count(self.times, what="The number of times of a step") > MOST_TIMES:
            raise InvalidPromise(
                wanted="at most 10⁸ releases in a step",
                given=str(self.times),
                do="Write several steps if you really mean that many releases.",
            )
        if any(isinstance(promise, Pufferfish) for promise in self.promises):
            raise not_composable(None)
        if not self.promises or len({_exceptions(promise) for promise in self.promises}) != 1:
            raise InvalidPromise(
                wanted="promises that hold at once: none of them random, or all with one γ of one basis",
                given=repr(self.promises),
                do="Give at least one promise, and put RandomDP with one γ around all of them or around none.",
            )

    @property
    def exceptions(self) -> RandomDP:
        """The fraction γ of data for which one such release may promise nothing; 0 unless it is random.

        Its parts are the parts that the promise names, or else all of it comes from this step.
        """
        first = self.promises[0]
        if not isinstance(first, RandomDP):
            return RandomDP(PureDP(0.0), 0.0)
        named = ((self.name, first.gamma),) if self.name and first.gamma else ()
        return replace(first, inner=PureDP(0.0), parts=first.parts or named)

    @property
    def inner(self) -> Part:
        """The same step for the data that are not in the fraction γ."""
        promises = (promise.inner if isinstance(promise, RandomDP) else promise for promise in self.promises)
        return replace(self, promises=tuple(promises))

    def called(self, place: int) -> str:
        """The step in a message: its place, and its name if it has one."""
        return f"step {place}{f' ({self.name})' if self.name else ''}"

    def loss(self) -> Loss | None:
        """The loss of one such release if it is known, or else the worst that its only promise allows; None otherwise.

        None also for a random promise, which has no law for the fraction γ. `inner` has the loss for the other data.
        """
        if isinstance(self.promises[0], RandomDP):
            return None
        return self.known if self.known is not None or len(self.promises) > 1 else self.promises[0].worst_loss()


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
        return sum(part.times for part in self.parts)

    @property
    def random(self) -> bool:
        """Whether some step holds only for all but a fraction of data."""
        return any(isinstance(part.promises[0], RandomDP) for part in self.parts)

    def loss(self) -> Loss | None:
        """The losses of all releases, added; None if a step has none."""
        losses = ((part.loss(), part.times) for part in self.parts)
        return added(None if loss is None else loss * times for loss, times in losses)

    @property
    def exceptions(self) -> RandomDP:
        """Σγ, the union bound over all releases, with its weakest basis and its parts.      [HRW11, Prop. 4.2]"""
        return RandomDP.compose(part.exceptions * part.times for part in self.parts)

    @property
    def gamma(self) -> float:
        """The fraction of data for which nothing is promised."""
        return self.exceptions.gamma

    @property
    def inner(self) -> Schedule:
        """The schedule for the data that are in no step's fraction γ."""
        return Schedule(tuple(part.inner for part in self.parts))


def _exceptions(promise: Promise) -> tuple[float, Basis] | None:
    return (promise.gamma, promise.basis) if isinstance(promise, RandomDP) else None
