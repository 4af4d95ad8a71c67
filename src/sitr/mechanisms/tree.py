"""A running count, released after every step, with noise that grows only with the logarithm of the number of steps."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from sitr.errors import BudgetExceeded, InvalidParameter, InvalidUse
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import whole
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.granularity import movement
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.summed import Summand, least_width
from sitr.noise.coins import Coins
from sitr.numbers import Number, exact, natural, positive, square_root_upward, upward


@dataclass(frozen=True, slots=True)
class Tree:
    """Release the noisy sum so far, x_1 + … + x_t, after each of T = `steps` increments.

    The steps are the leaves of a binary tree. The sum of a node, of 2^j increments in a row, gets its noise once. As t
    is a sum of powers of two, x_1 + … + x_t is a sum of at most ⌊log₂ T⌋ + 1 nodes. A step is below one node of each of
    the ⌊log₂ T⌋ + 1 levels. So if one unit moves all increments together by at most Δ in the sum of sizes, it moves
    the nodes of each level by at most Δ: the cost is the cost of `noise`, times the levels. Increments may depend on
    earlier answers.      [DNPR10; CSS11, Alg. 2]

    >>> Tree(Laplace(scale=100), steps=1000).promise()
    PureDP(epsilon=0.1)
    >>> Tree(Gaussian(sigma=20), steps=1000).promise()
    ZeroConcentratedDP(rho=0.0125)
    >>> Tree(Laplace(scale=0.001), steps=5).release([3, 0, 4, 1, 5])
    [3, 3, 7, 8, 13]
    """

    noise: Laplace | Gaussian
    steps: int

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Laplace | Gaussian) or exact(self.noise.granularity) != 1:
            raise InvalidParameter(
                wanted="Laplace or Gaussian noise on integers for Tree",
                given=repr(self.noise),
                do="Count in whole granules.",
            )
        object.__setattr__(self, "steps", natural(self.steps, name="steps", of="Tree"))

    @classmethod
    def fitting(cls, price: PureDP | ZeroConcentratedDP, *, steps: int, sensitivity: Number = 1) -> Tree:
        """The least noise that keeps this promise: Laplace for a pure one, otherwise Gaussian.

        >>> Tree.fitting(PureDP(1), steps=1000).noise.scale
        Fraction(10, 1)
        """
        levels = cls(Laplace(1), steps).levels
        moved = movement(sensitivity, mechanism="Tree")
        if isinstance(price, PureDP):
            epsilon = positive(price.epsilon, name="epsilon", of="Tree")
            return cls(Laplace(levels * moved / epsilon, moved), steps)
        rho = positive(price.rho, name="rho", of="Tree")
        return cls(Gaussian(moved * square_root_upward(levels / (2 * rho)), moved), steps)

    @property
    def levels(self) -> int:
        """⌊log₂ T⌋ + 1: from single steps to the largest power of two that fits."""
        return self.steps.bit_length()

    def promise(self) -> PureDP | ZeroConcentratedDP:
        """The cost of the noise, times the number of levels, rounded up once."""
        return self.noise.flavor(upward(self.levels * self.noise.cost()))

    def loss(self) -> Loss:
        """The loss of a unit that moves one increment by Δ: one number on each level.

        A unit that moves several by Δ in total loses no more, if their movements are fixed in advance: this holds for
        all log-concave noise, see `Laplace.loss`. `promise()` also holds for movements that depend on earlier answers.

        >>> Tree(Laplace(scale=100), steps=1000).loss().max()
        0.1...
        """
        return self.noise.alone().loss() * self.levels

    def error(self, *, confidence: Number = 0.95, step: int | None = None) -> int:
        """The least w that bounds the noise of one sum with this confidence: after this step, or after the worst.

        The sum has as many terms as t has ones in binary: see `sitr.mechanisms.summed`.

        >>> Tree(Laplace(scale=10), steps=1000).error(), Tree(Laplace(scale=10), steps=1000).error(step=512)
        (84, 30)
        >>> Tree(Gaussian(sigma=10), steps=1000).error()
        59
        """
        terms = self._most() if step is None else self._checked(step).bit_count()
        return math.ceil(least_width((Summand(self.noise, terms),), confidence=confidence))

    def begin(self, *, coins: Coins | None = None) -> RunningCount:
        """A count that starts at 0 and takes one increment after another."""
        return RunningCount(self, coins)

    def release(self, increments: Sequence[int], *, coins: Coins | None = None) -> list[int]:
        """All sums so far, after each of the increments."""
        count = self.begin(coins=coins)
        return [count.release(increment) for increment in increments]

    def _most(self) -> int:
        """The most ones in binary of a number up to T: k, for the largest 2^k − 1 up to T."""
        return (self.steps + 1).bit_length() - 1

    def _checked(self, step: int) -> int:
        return natural(step, name="step", of="Tree", most=self.steps)


class RunningCount:
    """A tree at work. It holds sums without noise, and noise that was released: it cannot be copied or forked.

    On every level only the last node is needed: its sum while it grows, its noisy sum once it is complete. Step t
    completes a node on the level of the lowest one-bit of t; it absorbs the nodes below, which are no longer needed. No
    node gets noise twice.

    >>> count = Tree(Laplace(scale=0.001), steps=2).begin()
    >>> count.release(3), count.release(4), count.left
    (3, 7, 0)
    """

    __slots__ = ("_coins", "_lock", "_noise", "_noisy", "_owner", "_step", "_steps", "_sums")

    def __init__(self, tree: Tree, coins: Coins | None) -> None:
        self._noise, self._steps, self._coins = tree.noise, tree.steps, coins
        self._sums, self._noisy = [0] * tree.levels, [0] * tree.levels
        self._step = 0
        self._owner = os.getpid()
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many increments it may still take."""
        return self._steps - self._step

    def release(self, increment: int) -> int:
        """Take one more increment, and release the sum so far."""
        if not whole(increment):
            raise InvalidParameter(
                wanted="integers for Tree", given="something else", do="Count increments in whole units."
            )
        if self._owner != os.getpid():
            raise _ended("It was begun by another process, of which this one is a fork.")
        with self._lock:  # two threads must not complete the same node
            if self.left == 0:
                raise _ended(f"It has taken all of its {self._steps} increments.")
            step = self._step + 1
            level = (step & -step).bit_length() - 1
            complete = sum(self._sums[:level]) + int(increment)
            noisy = self._noise.release(complete, coins=self._coins)
            self._sums[: level + 1] = [0] * level + [complete]
            self._noisy[: level + 1] = [0] * level + [noisy]
            self._step = step
            return sum(noisy for place, noisy in enumerate(self._noisy) if step >> place & 1)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InvalidUse(
            given="A running count stays where it began: a copy would add new noise to the same sums, and their mean "
            "would reveal more than was promised.",
            do="Begin a new one, which costs again.",
        )


def _ended(reason: str) -> BudgetExceeded:
    return BudgetExceeded(
        given=f"This running count takes no more increments. {reason}",
        do="Begin a new one, which costs its promise again, and plan it for more steps.",
    )
