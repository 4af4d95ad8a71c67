"""A mechanism that looks at a random sample of people only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.loss.sampling import Sampling, one_release, sampled, share
from sitr.mechanisms.mechanism import Mechanism, bounding, common_relation
from sitr.neighbors.relation import Relation
from sitr.noise.bernoulli import bernoulli
from sitr.noise.coins import Coins
from sitr.noise.uniform import permutation
from sitr.numbers import Number, ball, exact, upper, upward
from sitr.precision import precision


@dataclass(frozen=True, slots=True)
class Subsampled:
    """A mechanism on a fresh, secret sample in which each person is with probability `rate`.

    The mechanism's sensitivity must be for the neighbours of the sampling.

    Sitr's own noise has integer values. A training run adds real noise, which on a sample may lose much more: its loss
    is `sitr.Training(…).loss()`, and one step loses `sitr.loss.sampled(sitr.loss.gaussian(sigma=…), rate=…)`.

    >>> from sitr import Laplace, Repeated
    >>> Repeated(Subsampled(Laplace(scale=4), rate=0.01), 1000).loss().epsilon(delta=1e-5)
    Interval(lower=0.265..., upper=0.265...)
    """

    mechanism: Mechanism
    rate: Number
    sampling: Sampling = Sampling.POISSON

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", share(self.rate))
        try:
            object.__setattr__(self, "sampling", Sampling(self.sampling))  # a name is accepted too
        except ValueError:
            raise InvalidPromise(
                wanted=f"a sampling among {', '.join(kind.value for kind in Sampling)}",
                given=repr(self.sampling),
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
        less. Records keep their order. The number of values that `answer` returns must not depend on the sample.

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
        """The error of the noise around the answer on the sample. The error of sampling is not included."""
        return self.mechanism.error(confidence=confidence, **more)

    def promise(self) -> PureDP | ApproximateDP:
        """(ln(1 + q(e^ε − 1)), qδ) of a mechanism that is pure or approximate.      [BBG18, Thm 8 and 9]

        >>> from sitr import Laplace
        >>> Subsampled(Laplace(scale=1), rate=0.01).promise()
        PureDP(epsilon=0.01703...)
        """
        found = self._amplified()
        if found is None:
            raise IncompatiblePromises(
                wanted="a mechanism with a pure or approximate promise",
                given=f"{self.mechanism.promise()!r}, which says nothing about a sample",
                do="Use loss(): loss().epsilon(delta=1e-6), or loss().renyi(order=8).",
            )
        return found

    def loss(self) -> Loss | None:
        """The mechanism's loss on a sample; zero at rate 0.      [ZDW22, Thm 11 and Prop. 30]

        For several releases on one sample no such law is known: then it is the bound that follows from `promise()`, or
        None without such a promise.
        """
        loss = self.mechanism.loss()
        if loss is not None and one_release(loss, sampling=self.sampling):
            return sampled(loss, rate=self.rate, sampling=self.sampling)
        found = self._amplified()
        return None if loss is None or found is None else bounding(found)

    def _amplified(self) -> PureDP | ApproximateDP | None:
        match self.mechanism.promise():
            case PureDP(epsilon):
                return PureDP(amplified(epsilon, 0.0, rate=upward(self.rate))[0])
            case ApproximateDP(epsilon, delta):
                return ApproximateDP(*amplified(epsilon, delta, rate=upward(self.rate)))
        return None


@precision()
def amplified(epsilon: float, delta: float, *, rate: float) -> tuple[float, float]:
    """(ln(1 + q(e^ε − 1)), qδ), rounded up: what (ε, δ) becomes on a sample.  Tight.      [BBG18, Thm 8 and 9]

    >>> amplified(1.0, 1e-6, rate=0.01)
    (0.01703..., 1e-08)
    """
    smaller = upper((ball(rate) * ball(epsilon).expm1()).log1p())
    return min(epsilon, smaller), upward(exact(rate) * exact(delta))
