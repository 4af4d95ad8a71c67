"""A running count that is told after every step, with noise that grows with the logarithm of their number only."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import NoReturn

from flint import arb, ctx

from sitr.errors import BudgetExceeded
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import Number, ball, exact, square_root_upward, upper, upward
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import whole
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.granularity import movement
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import natural, positive
from sitr.noise.coins import Coins
from sitr.noise.draws import inside
from sitr.noise.gaussian import discrete_gaussian_width


@dataclass(frozen=True, slots=True)
class Tree:
    """Tell after each of T = `steps` increments x_1, x_2, … their sum so far, x_1 + … + x_t, with noise.

    The steps are the leaves of a binary tree. The sum of a node, of 2^j increments in a row, gets its noise once. As t
    is a sum of powers of two, x_1 + … + x_t is a sum of at most ⌊log₂ T⌋ + 1 nodes. A step is below one node of each of
    the ⌊log₂ T⌋ + 1 levels. So if one unit moves all increments together by at most Δ in the sum of sizes, it moves
    those of each level by at most Δ: the tree costs so many times what its `noise` costs for Δ. Increments may depend
    on earlier answers.      [DNPR10; CSS11, Alg. 2]

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
            raise ValueError(
                f"Tree wants Laplace or Gaussian noise on integers. {self.noise!r} was given. Count in whole granules."
            )
        object.__setattr__(self, "steps", natural(self.steps, name="steps", mechanism="Tree"))

    @classmethod
    def fitting(cls, price: PureDP | ZeroConcentratedDP, *, steps: int, sensitivity: Number = 1) -> Tree:
        """The least noise that keeps this promise: Laplace for a pure one, otherwise Gaussian.

        >>> Tree.fitting(PureDP(1), steps=1000).noise.scale
        Fraction(10, 1)
        """
        levels = cls(Laplace(1), steps).levels
        moved = movement(sensitivity, mechanism="Tree")
        if isinstance(price, PureDP):
            epsilon = positive(price.epsilon, name="epsilon", mechanism="Tree")
            return cls(Laplace(levels * moved / epsilon, moved), steps)
        rho = positive(price.rho, name="rho", mechanism="Tree")
        return cls(Gaussian(moved * square_root_upward(levels / (2 * rho)), moved), steps)

    @property
    def levels(self) -> int:
        """⌊log₂ T⌋ + 1: from single steps to the largest power of two that fits."""
        return self.steps.bit_length()

    def promise(self) -> PureDP | ZeroConcentratedDP:
        """So many times that of the noise as there are levels, rounded up once."""
        moved = exact(self.noise.sensitivity)
        if isinstance(self.noise, Laplace):
            return PureDP(upward(self.levels * moved / exact(self.noise.scale)))
        return ZeroConcentratedDP(upward(self.levels * moved**2 / (2 * exact(self.noise.sigma) ** 2)))

    def loss(self) -> Loss:
        """That of a unit which moves one increment by Δ: one number on each level.

        A unit that moves several together by Δ loses no more, if it is fixed beforehand which of them by how much: that
        is so for every log-concave noise, see `Laplace.loss`. `promise()` holds however it is chosen.

        >>> Tree(Laplace(scale=100), steps=1000).loss().max()
        0.1...
        """
        noise = self.noise if isinstance(self.noise, Laplace) else replace(self.noise, single=True)
        return noise.loss() * self.levels

    def error(self, *, confidence: Number = 0.95, step: int | None = None) -> int:
        """The least w that holds the noise of one sum with this confidence: after this step, or after the worst.

        As many terms are added as t has ones in binary, m at most. The law of m Laplace terms is known (`_together`).
        That of m Gaussian ones is nearly the Gaussian of σ√m, and what it may be off is allowed for (`_apart`): there w
        is proved to be enough, and hardly ever more than the least.

        >>> Tree(Laplace(scale=10), steps=1000).error(), Tree(Laplace(scale=10), steps=1000).error(step=512)
        (84, 30)
        >>> Tree(Gaussian(sigma=10), steps=1000).error()
        59
        """
        rest = 1 - inside(confidence)
        terms = self._most() if step is None else self._checked(step).bit_count()
        if isinstance(self.noise, Laplace):
            return _least(partial(_together, terms, exact(self.noise.scale)), rest)
        apart = _apart(terms, exact(self.noise.sigma))
        if apart is None:  # σ is so small that only Chernoff's bound is used: P(|S| ≥ s) ≤ 2e^{−s²/2mσ²}
            square = 2 * terms * ball(exact(self.noise.sigma) ** 2) * (ball(2) / ball(rest)).log()
            return max(0, math.ceil(exact(upper(square.sqrt()))) - 1)
        sigma = exact(self.noise.sigma) * square_root_upward(Fraction(terms))
        return discrete_gaussian_width(sigma=sigma, confidence=1 - rest / apart)

    def begin(self, *, coins: Coins | None = None) -> RunningCount:
        """A count that starts at 0 and takes one increment after another."""
        return RunningCount(self, coins)

    def release(self, increments: Sequence[int], *, coins: Coins | None = None) -> list[int]:
        """All sums so far, after each of the increments."""
        count = self.begin(coins=coins)
        return [count.release(increment) for increment in increments]

    def _most(self) -> int:
        """The most ones of a number up to T: that of 2^k − 1 if it is one of these, or of the last that was."""
        return (self.steps + 1).bit_length() - 1

    def _checked(self, step: int) -> int:
        if natural(step, name="a step", mechanism="Tree") > self.steps:
            raise ValueError(f"Tree wants a step from 1 to {self.steps}. {step!r} was given. Choose one of these.")
        return int(step)


class RunningCount:
    """A tree at work. It holds sums without noise, and noise that was told: it can be neither copied nor forked.

    Of every level only the last node is needed: its sum while it grows, its noisy sum once it is complete. After step t
    the node that is complete is on the level of the lowest one in t; it takes in those below, which are not needed any
    more. No node gets noise twice.

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
        """Take one more increment, and tell the sum so far."""
        if not whole(increment):
            raise ValueError("Tree wants integers. Something else was given. Count increments in whole units.")
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
            return sum(told for place, told in enumerate(self._noisy) if step >> place & 1)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "A running count stays where it began. A copy or a pickle was asked for: both would add noise to the same "
            "sums, and the mean of the two would tell more than was promised. Begin a new one, which costs again."
        )


def _ended(reason: str) -> BudgetExceeded:
    return BudgetExceeded(
        wanted="One more increment of a running count was wanted.",
        given=reason,
        do="Begin a new one, which costs its promise again, and plan it for more steps.",
    )


def _least(tail: Callable[[int], arb], rest: Fraction) -> int:
    """The least w ≥ 0 with 2·P(S > w) ≤ 1 − c. `tail` is enclosed at the working precision, which grows until it tells.

    It always does: a tie would make e^{−1/t}, which is transcendental, a root of a rational polynomial.
    """

    def holds(width: int) -> bool:
        bits = 128
        while True:
            with ctx.workprec(bits):
                over = 2 * tail(width) - ball(rest)
                if over <= 0 or over > 0:
                    return bool(over <= 0)
            bits *= 2

    low, high = -1, 0
    while not holds(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _together(terms: int, scale: Fraction, width: int) -> arb:
    """P(S > w) for the sum S of m discrete Laplace variables, w ≥ 0, with q = e^{−1/t} and y = 1 − q².

    E[z^S] = (1 − q)^{2m}/((1 − qz)(1 − q/z))^m. Its pole at 1/q makes the masses of s ≥ 0: with u = 1 − qz,

        (1 − q/z)^{−m} = y^{−m}·((1 − u)/(1 − u/y))^m = y^{−m}·(1 + (1/y − 1)·u/(1 − u/y))^m = y^{−m}·Σ_i c_i·u^i,
        c_i = Σ_{l≤i} C(m, l)·C(i−1, l−1)·(1/y − 1)^l·y^{l−i},   c_0 = 1.

    So they are those of negative binomial variables N_k, E[z^{N_k}] = ((1 − q)/(1 − qz))^k, weighed and added,
    and P(N_k > w) is that of fewer than k failures among w + k trials; nothing cancels anywhere:

        P(S > w) = Σ_{k=1}^m (1 − q)^{2m−k}·y^{−m}·c_{m−k}·Σ_{i<k} C(w+k, i)·(1 − q)^i·q^{w+k−i}.
    """
    m, rate = terms, ball(1 / scale)
    gap, q = -(-rate).expm1(), (-rate).exp()
    y = gap * (1 + q)
    more = q * q / y
    total = arb(0)
    for k in range(1, m + 1):
        i = m - k
        ways = ((math.comb(m, n) * math.comb(i - 1, n - 1), n) for n in range(1, i + 1))
        weight = sum((number * more**n * y ** (n - i) for number, n in ways), arb(0))
        rare = sum((math.comb(width + k, n) * gap**n * q ** (k - n) for n in range(k)), arb(0))
        total += gap ** (2 * m - k) * (weight if i else 1) * rare
    return total * (-ball(width / scale)).exp() / y**m


def _apart(terms: int, sigma: Fraction) -> Fraction | None:
    """By what factor a mass of a sum of m discrete Gaussians may exceed that of one of σ√m; None where σ is too small.

    For two of variance a and b, Σ_x e^{−x²/2a − (z−x)²/2b} = e^{−z²/2(a+b)}·Σ_x e^{−(x − az/(a+b))²/2v}, v = ab/(a+b).
    The last sum is √(2πv)·(1 ± r) wherever the bell is centred, r = 2Σ_k e^{−2π²vk²} ≤ 2h/(1 − h) with h = e^{−2π²v}
    (Poisson's formula [DLMF, §20.7]), so that the masses have a ratio of at most (1 + r)/(1 − r). Adding the (k + 1)-th
    to k of them, v = σ²k/(k + 1).      [KLS21]
    """
    factor = arb(1)
    with ctx.workprec(128):
        for k in range(1, terms):
            h = (-2 * arb.pi() ** 2 * ball(sigma**2 * Fraction(k, k + 1))).exp()
            r = 2 * h / (1 - h)
            if not r < 1:
                return None
            factor *= (1 + r) / (1 - r)
    return exact(upper(factor))
