"""How much one state of a Markov chain says about states at other times: max-influence, rounded up.

Let π_t be the law of X_t and A the transitions. Of the state a steps earlier and the state b steps later, X_i says

    P(X_{i−a} = l, X_{i+b} = r | X_i = x) = π_{i−a}(l)·A^a(l, x)/π_i(x) · A^b(x, r),

and the max-influence is the largest ln of the ratio of this for two states x and x′ that are possible at time i. The
two factors have their maxima by themselves: over l that are possible at time i − a, and over r.      [SWC17, Sec. 4.4]

All numbers are sums of products of numbers of at least 0, so floats have small relative errors: (k + 2)·2⁻⁵³ for each
step of a chain with k states. A probability below `TINY` may have lost more: it counts as anything up to twice TINY.
(Products that underflow add less than k²·2⁻¹⁰⁷⁴ to a row at each step, which is nothing beside TINY.) Which
probabilities are 0 is decided without floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.namespace import Later
from sitr.sensitivity.chain import Chain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Possible = NDArray[np.bool_]
else:
    np = Later("numpy")
    Reals = Possible = object

TINY = 1e-280
LOGARITHMS = 2**15
"""A bound on the errors of six logarithms of numbers between TINY and 1, and of five sums, in units of 2⁻⁵²."""


@dataclass(frozen=True, slots=True)
class _Power:
    """ln of the probabilities of n steps: upper and lower ends, up to the errors that `Influences.slack` bounds."""

    most: Reals
    least: Reals

    @classmethod
    def of(cls, values: Reals, possible: Possible) -> _Power:
        sure = possible & (values >= TINY)
        with np.errstate(divide="ignore"):
            logs = np.log(np.where(sure, values, 1.0))
        most = np.where(sure, logs, np.where(possible, math.log(2 * TINY), -math.inf))
        return cls(most, np.where(sure, logs, -math.inf))


def _ratios(most: Reals, least: Reals) -> Reals:
    """max over the last axis of most[x, ·] − least[x′, ·]; what cannot be seen given x does not count."""
    with np.errstate(invalid="ignore"):
        found = most[:, None, :] - least[None, :, :]
    return np.asarray(np.where(most[:, None, :] == -math.inf, -math.inf, found).max(axis=2))


@dataclass(slots=True)
class Influences:
    """The influence of each state of a series on states at other times, under one chain.

    Times are counted from 1 to `length`. Powers of the transitions are kept as they are needed.

    >>> chain = Influences(Chain([1, 0], [[0.9, 0.1], [0.4, 0.6]]), 100)
    >>> chain.at(8, before=5, after=5)
    0.3088...
    """

    chain: Chain
    length: int
    laws: list[tuple[Reals, Possible]] = field(init=False, default_factory=list)
    steps: list[tuple[Reals, Possible]] = field(init=False, default_factory=list)
    later: list[Reals] = field(init=False, default_factory=list)
    earlier: dict[tuple[int, bytes], Reals] = field(init=False, default_factory=dict)
    powers: list[_Power] = field(init=False, default_factory=list)
    one: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        rows = self.chain.transition
        self.one = (
            np.array([[float(p) for p in row] for row in rows]),
            np.array([[p > 0 for p in row] for row in rows]),
        )
        law = np.array([float(p) for p in self.chain.start])
        possible = np.array([p > 0 for p in self.chain.start])
        for _ in range(self.length):
            self.laws.append((law, possible))
            law, possible = law @ self.one[0], (possible[:, None] & self.one[1]).any(axis=0)

    @property
    def slack(self) -> float:
        """A bound on all errors of an influence: of 3 pairs of logarithms, each of at most `length` steps."""
        return math.ulp(1.0) * (4 * self.length * (self.chain.states + 2) + LOGARITHMS)

    def pairs(self, time: int) -> list[tuple[int, int]]:
        """The pairs of different states that are possible at this time."""
        states = np.flatnonzero(self.laws[time - 1][1]).tolist()
        return [(x, y) for x in states for y in states if x != y]

    def after(self, time: int, most: int) -> Reals:
        """For each pair of states the influence on the state b steps later, for b = 1, 2, …: an array (b, pair)."""
        x, y = np.array(self.pairs(time)).T
        return np.stack([self._later(b)[x, y] for b in range(1, most + 1)]) if most else np.empty((0, len(x)))

    def before(self, time: int, most: int) -> Reals:
        """The same for the state a steps earlier: an array (a, pair)."""
        x, y = np.array(self.pairs(time)).T
        found = [self._earlier(a, self.laws[time - 1 - a][1])[x, y] for a in range(1, most + 1)]
        return np.stack(found) + self._odds(time)[x, y] if most else np.empty((0, len(x)))

    def at(self, time: int, *, before: int | None, after: int | None) -> float:
        """The max-influence of X_time on the states at these distances, rounded up; infinite if one settles it."""
        if not self.pairs(time) or (before is None and after is None):
            return 0.0
        x, y = np.array(self.pairs(time)).T
        whole = np.zeros(len(x))
        if before is not None:
            whole += self._earlier(before, self.laws[time - 1 - before][1])[x, y] + self._odds(time)[x, y]
        if after is not None:
            whole += self._later(after)[x, y]
        return max(0.0, float(whole.max())) + self.slack

    def _odds(self, time: int) -> Reals:
        """ln π(x′)/π(x), rounded up, for states that are possible at this time."""
        now = _Power.of(*self.laws[time - 1])
        with np.errstate(invalid="ignore"):
            return np.asarray(now.most[None, :] - now.least[:, None])

    def _later(self, steps: int) -> Reals:
        """max over r of ln A^b(x, r) − ln A^b(x′, r)."""
        for more in range(len(self.later) + 1, steps + 1):
            power = self._power(more)
            self.later.append(_ratios(power.most, power.least))
        return self.later[steps - 1]

    def _power(self, steps: int) -> _Power:
        while len(self.steps) < steps:
            if not self.steps:
                self.steps.append(self.one)
            else:
                values, possible = self.steps[-1]
                there = (possible[:, :, None] & self.one[1][None, :, :]).any(axis=1)
                self.steps.append((values @ self.one[0], there))
            self.powers.append(_Power.of(*self.steps[-1]))
        return self.powers[steps - 1]

    def _earlier(self, steps: int, possible: Possible) -> Reals:
        """max over l of ln A^a(l, x) − ln A^a(l, x′), for l that are possible a steps earlier."""
        key = (steps, possible.tobytes())
        if key not in self.earlier:
            power = self._power(steps)
            self.earlier[key] = _ratios(power.most[possible].T, power.least[possible].T)
        return self.earlier[key]


def spread(nearby: int, *, epsilon: Fraction, influence: float) -> Fraction | None:
    """The σ with nearby/σ + e = ε, exactly; None if the influence leaves nothing of ε.

    >>> spread(9, epsilon=Fraction(1), influence=0.25), spread(9, epsilon=Fraction(1), influence=1.5)
    (Fraction(12, 1), None)
    """
    if not influence < math.inf or (left := epsilon - Fraction(influence)) <= 0:
        return None
    return nearby / left
