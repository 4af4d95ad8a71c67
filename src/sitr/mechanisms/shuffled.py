"""A mechanism that each person runs alone; the answers are shuffled, so that nobody knows whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sitr.errors import IncompatiblePromises, InvalidParameter, InvalidPromise
from sitr.flavors.promise import Promise, count
from sitr.flavors.pure import PureDP
from sitr.loss.forms.shuffled import MOST_PEOPLE, ShuffledLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism, common_relation
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins
from sitr.noise.uniform import permutation
from sitr.numbers import Number, exact, float_above


@dataclass(frozen=True, slots=True)
class Shuffled:
    """`people` run the mechanism, each on their own data only; only their answers are seen, in random order.

    The mechanism's promise and sensitivity are for any two values that one person may have. One person is replaced by
    another; the number of people is public. Count only people who really answer, with coins of their own: an answer
    that is known, or was never given, hides nobody.

    >>> from sitr import Laplace
    >>> local = Laplace(scale=5, sensitivity=20)  # numbers from 0 to 20
    >>> Shuffled(local, people=100_000).loss().epsilon(delta=1e-6)
    Interval(lower=0.1697..., upper=0.1697...)
    """

    mechanism: Mechanism
    people: int

    def __post_init__(self) -> None:
        people = count(self.people, what="The number of people")
        object.__setattr__(self, "people", people)
        if people > MOST_PEOPLE:
            raise InvalidPromise(
                wanted=f"at most {MOST_PEOPLE} people",
                given=f"{self.people}",
                do=f"Give {MOST_PEOPLE}: a bound for fewer people also holds for more.",
            )
        if common_relation(self.mechanism) is not None:
            raise InvalidPromise(
                wanted="a mechanism that each person runs alone",
                given=f"{self.mechanism!r}, which reads several people",
                do="Put Shuffled inside: Subsampled(Shuffled(mechanism, people), rate, Sampling.SUBSET).",
            )
        local(self.mechanism.promise())

    @property
    def relation(self) -> Relation:
        """One person is replaced."""
        return Relation.REPLACE_ONE

    def release(self, values: Sequence[Any], *, coins: Coins | None = None, **more: Any) -> list[Any]:
        """The answers for the values of all people, in random order; all orders are equally likely.

        This is for somebody who is trusted with all values. Otherwise each person runs the mechanism alone, and
        `sitr.noise.permutation` shuffles the answers. There may be more people than were counted, never fewer.

        >>> from sitr import Laplace
        >>> sorted(Shuffled(Laplace(scale=0.001, sensitivity=20), people=3).release([20, 0, 7]))
        [0, 7, 20]
        """
        if len(values) < self.people:
            raise InvalidParameter(
                wanted=f"the values of at least {self.people} people for Shuffled",
                given=f"{len(values)} values",
                do="Count only people who answer: fewer people hide each other less.",
            )
        answers = [self.mechanism.release(value, coins=coins, **more) for value in values]
        return [answers[place] for place in permutation(size=len(answers), coins=coins)]

    def error(self, *, confidence: Number = 0.95, **more: Any) -> Any:
        """The mechanism's error, per answer."""
        return self.mechanism.error(confidence=confidence, **more)

    def promise(self) -> PureDP:
        """The promise of the mechanism: the other answers may happen to hide nobody.

        >>> from sitr import Laplace
        >>> Shuffled(Laplace(scale=5, sensitivity=20), people=100_000).promise()
        PureDP(epsilon=4.0)
        """
        return local(self.mechanism.promise())

    def loss(self) -> Loss:
        """A bound: the most that answers with this promise lose when they are shuffled.      [FMT21, Sec. 3]"""
        return replace(shuffled(self.promise(), people=self.people), bound=True)


def local(promise: Promise) -> PureDP:
    """The promise of what each person runs, which must be pure."""
    if not isinstance(promise, PureDP):
        raise IncompatiblePromises(
            wanted="a mechanism with a pure promise",
            given=repr(promise),
            do="Let each person use a mechanism such as Laplace noise.",
        )
    return promise


def shuffled(promise: PureDP, *, people: int) -> Loss:
    """The loss of this many shuffled answers; none if each of them says nothing.

    >>> shuffled(PureDP(0.0), people=10)
    Loss(laws=())
    """
    if promise.epsilon == 0.0:
        return Loss(())
    return Loss.of(ShuffledLaw(float_above(exact(promise.epsilon)), people))
