"""A mechanism that looks at a random sample of people only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.bounds import Number, ball, exact, upper, upward
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism, common_relation, float_above
from sitr.neighbors.relation import Relation
from sitr.noise.bernoulli import bernoulli
from sitr.noise.coins import Coins
from sitr.noise.uniform import permutation


class Sampling(Enum):
    """How the sample is drawn, and with it which tables are neighbours.

    `POISSON`: each person is in it with probability q, independently; one person is added or removed.
    `SUBSET`: all samples of a fixed size, a fraction q of everybody, are equally likely; one person is replaced.
    """

    POISSON = "poisson"
    SUBSET = "subset"


@dataclass(frozen=True, slots=True)
class Subsampled:
    """A mechanism on a fresh, secret sample in which each person is with probability `rate`.

    The sensitivity of the mechanism is that for the neighbours of its sampling.

    >>> from sitr import Gaussian, Repeated
    >>> Repeated(Subsampled(Gaussian(sigma=4), rate=0.01), 1000).loss().epsilon(delta=1e-5)
    Bounds(lower=0.27..., upper=0.27...)
    """

    mechanism: Mechanism
    rate: Number
    sampling: Sampling = Sampling.POISSON

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _share(self.rate))
        try:
            object.__setattr__(self, "sampling", Sampling(self.sampling))  # its name will do
        except ValueError:
            raise InvalidPromise(
                wanted=f"The sampling is one of {', '.join(kind.value for kind in Sampling)}.",
                given=f"{self.sampling!r} was given.",
                do="Choose poisson if people are added or removed, subset if one is replaced.",
            ) from None
        common_relation(self, self.mechanism)

    @property
    def relation(self) -> Relation:
        """The neighbours that the sampling is about."""
        return Relation.ADD_REMOVE if self.sampling is Sampling.POISSON else Relation.REPLACE_ONE

    def release(
        self, records: Sequence[Any], *, answer: Callable[[list[Any]], Any], coins: Coins | None = None, **more: Any
    ) -> Any:
        """Draw a sample, which nobody must ever see, and let the mechanism release what `answer` computes from it.

        There is one record for each person. Everybody is in a Poisson sample with probability q exactly. A subset has
        ⌊q·n⌋ of n people, and all of these subsets are equally likely: a share of at most q, and a smaller one loses
        less. Records keep their order. How many numbers `answer` computes is seen: the sample must not decide it.

        >>> from sitr import Laplace
        >>> Subsampled(Laplace(scale=0.001), rate=0.5, sampling=Sampling.SUBSET).release("abcdefghij", answer=len)
        5
        """
        if self.sampling is Sampling.POISSON:
            chosen = np.flatnonzero(bernoulli(probability=self.rate, size=len(records), coins=coins))
        else:
            size = math.floor(exact(self.rate) * len(records))
            chosen = np.sort(permutation(size=len(records), coins=coins)[:size])
        sample = [records[place] for place in chosen.tolist()]
        if isinstance(self.mechanism, Subsampled):  # a sample of the sample
            return self.mechanism.release(sample, answer=answer, coins=coins, **more)
        return self.mechanism.release(answer(sample), coins=coins, **more)

    def error(self, *, confidence: Number = 0.95, **more: Any) -> Any:
        """That of the mechanism's noise around the answer on the sample: how far the sample is off is not in it."""
        return self.mechanism.error(confidence=confidence, **more)

    def promise(self) -> PureDP | ApproximateDP:
        """(ln(1 + q(e^ε − 1)), qδ) of a mechanism that is pure or approximate.      [BBG18, Thm 8 and 9]

        >>> from sitr import Laplace
        >>> Subsampled(Laplace(scale=1), rate=0.01).promise()
        PureDP(epsilon=0.01703...)
        """
        match self.mechanism.promise():
            case PureDP(epsilon):
                return PureDP(amplified(epsilon, 0.0, rate=upward(self.rate))[0])
            case ApproximateDP(epsilon, delta):
                return ApproximateDP(*amplified(epsilon, delta, rate=upward(self.rate)))
            case other:
                raise IncompatiblePromises(
                    wanted="A mechanism with a pure or approximate promise was wanted.",
                    given=f"{other!r} was given: no such promise is known of a sample.",
                    do="Use loss(), which is exact: loss().epsilon(delta=1e-6), or loss().renyi(order=8).",
                )

    def loss(self) -> Loss:
        """The mechanism's loss, seen through the sample; none at rate 0.      [ZDW22, Thm 11 and Prop. 30]"""
        return sampled(self.mechanism.loss(), rate=self.rate, sampling=self.sampling)


def sampled(loss: Loss, *, rate: Number, sampling: Sampling = Sampling.POISSON) -> Loss:
    """The loss of one release on a sample. Less is lost from fewer people: a rate without a float is rounded up.

    >>> from sitr.loss.forms.gaussian import GaussianLaw
    >>> sampled(Loss.of(GaussianLaw(1.0)), rate=0)
    Loss(laws=())
    """
    share = _share(rate)
    if share == 0 or not loss.laws:
        return Loss(())
    if share == 1:
        return loss
    law, times = loss.laws[0]
    others = loss.laws[1:]
    if others or times > 1:
        raise InvalidPromise(
            wanted="One release on each sample was wanted: only of one the loss through a sample is known.",
            given=f"{times + sum(many for _, many in others)} releases on the same sample were given.",
            do="Draw a new sample for each: Repeated(Subsampled(mechanism, rate), times), not the other way round.",
        )
    kind, other = (PoissonLaw, SubsetLaw) if sampling is Sampling.POISSON else (SubsetLaw, PoissonLaw)
    if isinstance(law, other):
        raise InvalidPromise(
            wanted="A sample of a sample was wanted, with the same neighbours.",
            given="One is drawn for tables that add or remove a person, the other for tables that replace one.",
            do="Draw both in the same way.",
        )
    if isinstance(law, kind):  # a sample of a sample is a smaller sample
        return Loss.of(kind(law.inner, float_above(share * Fraction(law.rate))))
    return Loss.of(kind(law, float_above(share)))


def amplified(epsilon: float, delta: float, *, rate: float) -> tuple[float, float]:
    """(ln(1 + q(e^ε − 1)), qδ), rounded up: what (ε, δ) becomes on a sample.  Tight.      [BBG18, Thm 8 and 9]

    >>> amplified(1.0, 1e-6, rate=0.01)
    (0.01703..., 1e-08)
    """
    smaller = upper((ball(rate) * ball(epsilon).expm1()).log1p())
    return min(epsilon, smaller), upward(exact(rate) * exact(delta))


def _share(rate: Number) -> Fraction:
    try:
        share = exact(rate)
    except (TypeError, ValueError, AttributeError):
        share = Fraction(-1)
    if not 0 <= share <= 1 or isinstance(rate, bool):
        raise InvalidPromise(
            wanted="The rate of a sample is a number from 0 to 1.",
            given=f"{rate!r} was given.",
            do="Give the probability with which a person is in the sample, such as 0.01.",
        )
    return share
