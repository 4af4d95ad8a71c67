"""The sparse vector technique: many questions whether a value is large, where only answers of "yes" cost."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import NoReturn

from sitr.errors import BudgetExceeded, InvalidParameter, InvalidUse
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import whole
from sitr.mechanisms.granularity import movement
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import bounding
from sitr.noise.coins import Coins
from sitr.noise.laplace import discrete_laplace, discrete_laplace_width
from sitr.numbers import Number, exact, flag, inside, natural, positive, upward


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Answer for one value q_i after another whether q_i + ν_i ≥ T_i + ρ, and stop after c = `answers` times yes.

    One unit moves every value by at most Δ. ρ is drawn once, with scale Δ/ε₁, and ν_i for every value, with scale
    2cΔ/ε₂, or cΔ/ε₂ if a unit moves all values the same way (`monotone`); ε = ε₁ + ε₂. Both are discrete Laplace noise.
    With one answer it is called above-threshold.      [LSL17, Alg. 7; DR14, Alg. 1]

    Let D and D' be neighbours, and d the largest whole number up to Δ: integers move by no more. Compare D and ρ = z
    with D' and ρ = z + d. The masses of ρ differ by a factor of at most e^{ε₁}. Every no is at least as likely there,
    because q'_i ≤ q_i + d. For a yes ν_i must reach at most 2d farther, at most d if q'_i ≥ q_i: a factor of at most
    e^{ε₂/c}, at most c times. (If all q'_i ≤ q_i, compare with D' and ρ = z: no factors but those c.) So any number of
    no costs nothing, and values and thresholds may be chosen after all earlier answers.

    >>> SparseVector(epsilon=1, answers=3).promise()
    PureDP(epsilon=1.0)
    >>> SparseVector(epsilon=1000, answers=2).release([3, 50, 20, 70, 90], threshold=40)
    [False, True, False, True]
    """

    epsilon: Number
    sensitivity: Number = 1
    answers: int = 1
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon", of="SparseVector"))
        object.__setattr__(self, "sensitivity", movement(self.sensitivity, mechanism="SparseVector"))
        object.__setattr__(self, "answers", natural(self.answers, name="answers", of="SparseVector"))
        flag(self.monotone, name="monotone", of="SparseVector")

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """The scales of ρ and ν. ε₁ : ε₂ = 1 : (2c)^{2/3}, or 1 : c^{2/3}, makes ν − ρ vary least.  [LSL17, Sec. 4.2]

        The ratio is rounded, the sum of ε₁ and ε₂ is not.

        >>> SparseVector(epsilon=1, answers=4).scales
        (Fraction(5, 1), Fraction(10, 1))
        """
        steps = self.answers * (1 if self.monotone else 2)
        ratio = Fraction(steps ** (2 / 3)).limit_denominator(1000)
        first = exact(self.epsilon) / (1 + ratio)
        return exact(self.sensitivity) / first, exact(self.sensitivity) * steps / (first * ratio)

    def promise(self) -> PureDP:
        """ε for the whole stream, however long it is."""
        return PureDP(upward(exact(self.epsilon)))

    def loss(self) -> Loss:
        """A bound: the response that every PureDP(ε) allows, however many values follow.      [KOV15, Thm 3.3]"""
        return bounding(self.promise())

    def error(self, *, values: int, confidence: Number = 0.95) -> int:
        """With this confidence all `values` are judged correctly, except those closer to the threshold than this.

        A yes then means q ≥ T − error, a no q < T + error: |ρ| stays below its part with probability 1 − β/2, and
        all |ν_i| below theirs, by a union bound, β being 1 minus the confidence.

        >>> SparseVector(epsilon=1).error(values=100)
        36
        """
        rest = 1 - inside(confidence)
        count = natural(values, name="values", of="SparseVector")
        threshold, value = self.scales
        return discrete_laplace_width(scale=threshold, confidence=1 - rest / 2) + discrete_laplace_width(
            scale=value, confidence=1 - rest / (2 * count)
        )

    def begin(self, *, coins: Coins | None = None) -> Stream:
        """A stream that can be asked about one value after another."""
        return Stream(self, coins)

    def release(self, values: Sequence[int], *, threshold: int, coins: Coins | None = None) -> list[bool]:
        """The answers up to the last permitted yes."""
        stream = self.begin(coins=coins)
        asked = takewhile(lambda _: stream.left > 0, values)
        return [stream.release(value, threshold=threshold) for value in asked]


class Stream:
    """A sparse vector at work. It holds the noise of the threshold, and counts: it can be neither copied nor forked.

    >>> stream = SparseVector(epsilon=1000).begin()
    >>> stream.release(3, threshold=40), stream.release(50, threshold=40), stream.left
    (False, True, 0)
    """

    __slots__ = ("_coins", "_left", "_lock", "_owner", "_scale", "_shift")

    def __init__(self, mechanism: SparseVector, coins: Coins | None) -> None:
        scale, self._scale = mechanism.scales
        self._coins = coins
        self._shift = discrete_laplace(scale=scale, coins=coins)
        self._left = mechanism.answers
        self._owner = os.getpid()
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many times it may still say yes."""
        return self._left

    def release(self, value: int, *, threshold: int) -> bool:
        """Whether the value is at least the threshold, noise included."""
        if not (whole(value) and whole(threshold)):
            raise InvalidParameter(
                wanted="integers for SparseVector",
                given="something else",
                do="Count values and thresholds in whole units.",
            )
        if self._owner != os.getpid():
            raise _stopped("It was begun by another process, of which this one is a fork.")
        with self._lock:  # two threads must not both give the last answer
            if self._left == 0:
                raise _stopped("It has said yes as often as it may.")
            noise = discrete_laplace(scale=self._scale, coins=self._coins)
            above = int(value) + noise >= int(threshold) + self._shift
            self._left -= above
        return above

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InvalidUse(
            given="A sparse vector at work stays where it began: a copy would answer more often than was promised.",
            do="Begin a new one, which costs its epsilon again.",
        )


def _stopped(reason: str) -> BudgetExceeded:
    return BudgetExceeded(
        given=f"This sparse vector answers no more. {reason}",
        do="Begin a new one, which costs its epsilon again.",
    )


@dataclass(frozen=True, slots=True)
class RefinedSparseVector:
    """A sparse vector that also releases every value it says yes to, with fresh Laplace noise.

    The noise of the search must not be shown: that is a known mistake [LSL17, Alg. 3]. This noise has a scale of its
    own, and each of the c values costs Δ/scale.      [DR14, Alg. 3]

    >>> RefinedSparseVector(SparseVector(epsilon=1, answers=3), scale=10).promise()
    PureDP(epsilon=1.3)
    >>> found = RefinedSparseVector(SparseVector(epsilon=1000, answers=2), scale=0.001)
    >>> found.release([3, 50, 20, 70, 90], threshold=40)
    [None, 50, None, 70]
    """

    search: SparseVector
    scale: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, name="scale", of="RefinedSparseVector"))

    def promise(self) -> PureDP:
        """ε + c·Δ/scale."""
        search = self.search
        values = search.answers * exact(search.sensitivity) / exact(self.scale)
        return PureDP(upward(exact(search.epsilon) + values))

    def loss(self) -> Loss:
        """A bound: the search's, and Laplace noise on each of the c numbers.      [ZDW22, Thm 10]

        A search that says yes less often releases fewer numbers, and those lose less.

        >>> search = SparseVector(epsilon=0.1, answers=20)
        >>> RefinedSparseVector(search, scale=20).loss().epsilon(delta=1e-3).upper < 0.9  # the promise is 1.1
        True
        """
        return self.search.loss() + Laplace(self.scale, self.search.sensitivity).loss() * self.search.answers

    def error(self, *, confidence: Number = 0.95) -> int:
        """The error of each released number; for the error of yes and no see `search.error`.

        >>> RefinedSparseVector(SparseVector(epsilon=1), scale=10).error()
        30
        """
        return discrete_laplace_width(scale=self.scale, confidence=confidence)

    def begin(self, *, coins: Coins | None = None) -> RefinedStream:
        """A stream that can be asked about one value after another."""
        return RefinedStream(self.search.begin(coins=coins), self.scale, coins)

    def release(self, values: Sequence[int], *, threshold: int, coins: Coins | None = None) -> list[int | None]:
        """A noisy number for each yes, None for each no, up to the last permitted yes."""
        stream = self.begin(coins=coins)
        asked = takewhile(lambda _: stream.left > 0, values)
        return [stream.release(value, threshold=threshold) for value in asked]


@dataclass(frozen=True, slots=True)
class RefinedStream:
    """A refined sparse vector at work."""

    _search: Stream
    _scale: Number
    _coins: Coins | None

    @property
    def left(self) -> int:
        """How many times it may still say yes."""
        return self._search.left

    def release(self, value: int, *, threshold: int) -> int | None:
        """The noisy value if it is at least the threshold, all noise included."""
        if not self._search.release(value, threshold=threshold):
            return None
        return int(value) + discrete_laplace(scale=self._scale, coins=self._coins)
