"""Shuffling: all people randomize their own answers, and a shuffler removes the order of the answers.

If R is a local randomizer with L ≤ ε, R(x) and R(y) are mixtures of two laws A and B, with weights α = e^ε/(e^ε + 1)
and 1 − α, and the other way round [KOV15, Thm 3.3]. For the value z of any other person, R(z) is at least e^{−ε} times
R(x) and e^{−ε} times R(y), and so at least e^{−ε}·(R(x) + R(y))/2 = e^{−ε}·(A + B)/2: with probability e^{−ε} that
person is a *clone*, who answers by A or by B with probability ½ each; otherwise the answer does not depend on x or y.
So the output is post-processing of the numbers a and b of answers by A and by B.      [FMT21, Sec. 3]

Among n people, C ~ Bin(n − 1, e^{−ε}) are clones. If C + 1 fair coins fall as a and b with probability M, then P and Q
are M·(1 ± tanh(ε/2)·(a − b)/(a + b)): under P, the replaced person answers by A with probability α. Anybody can add a
clone by post-processing, so that fewer clones mean a larger loss. There are sharper bounds [FMT23]; this one is proved
above, for every R.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
from flint import arb

from sitr.loss.law import FUNCTIONS, LossCells, Masses, SymmetricLaw, Vector, between, check, joined
from sitr.numbers import upper
from sitr.precision import nearest, precision

MOST_PEOPLE = 10**8

FEW = 4096
"""Up to this number of people all outputs are counted, so that a cell without any is known to be empty."""

LOG_LEAST = -400.0
"""Masses below e^{−400} are only bounded from above. For all others np(1 − e^{−κ}) ≤ 400, with κ ≤ ln 2 as in
`_deviation`, and so κnp ≤ 556: of up to np coins, f(k) is at least e^{−600}, and it and its inverse are floats."""

SPECK = 1e-310
"""More than everything that is too small for a float."""

DEEP = 50.0
"""A window leaves out numbers of clones that contribute less than 2e^{−50} of the sum."""


@dataclass(frozen=True, slots=True)
class ShuffledLaw(SymmetricLaw):
    """The shuffled answers of n people, each with a largest loss ε, one of whom is replaced.

    L = ln P/Q is 2·artanh(tanh(ε/2)·(a − b)/(a + b)), from −ε to ε, and above l ≥ 0 where b/(a + b) is less than
    sinh((ε − l)/2)/(2·sinh(ε/2)·cosh(l/2)). Exchanging P and Q exchanges a and b.

    >>> law = ShuffledLaw(4.0, 100_000)
    >>> law.reversed() == law, law.greatest
    (True, 4.0)
    """

    epsilon: float
    people: int

    def __post_init__(self) -> None:
        check(self.epsilon, "epsilon", above=0.0, below=600.0)
        check(self.people, "people", above=1, below=MOST_PEOPLE, ends="above and below")

    @property
    def greatest(self) -> float:
        return self.epsilon

    @property
    def blur(self) -> float:
        """b/(a + b) at an edge is right to within a factor 1 ± 6F, and the loss moves by less than twice that."""
        return 16 * FUNCTIONS

    def cells(self, edges: Vector) -> LossCells:
        sizes, place = np.unique(np.abs(edges), return_inverse=True)
        found = [self._beyond(share) for share in self._shares(sizes)]
        more_p, less_p, more_q, less_q = np.array([logs for logs, _ in found])[place].transpose(1, 2, 0)
        outputs = np.array([number for _, number in found])[place]
        # P has the same mass below −l as Q has above l. An atom at an edge is counted on the side of 0.
        right = edges >= 0.0
        places = np.where(right, -outputs, outputs + 1)
        return joined(
            _between(np.where(right, more_p, less_q), np.where(right, less_p, more_q), places),
            _between(np.where(right, more_q, less_p), np.where(right, less_q, more_p), places),
        )

    def _shares(self, losses: Vector) -> Vector:
        """For l ≥ 0, the b/(a + b) below which the loss is above l: at most ½, and 0 from ε on."""
        inside = np.minimum(losses, self.epsilon)
        down = np.exp(-inside)
        shares = down / (1 + down) * (np.expm1(inside - self.epsilon) / math.expm1(-self.epsilon))
        return np.minimum.accumulate(np.minimum(shares, 0.5))

    def _beyond(self, share: float) -> tuple[Vector, float]:
        """ln of P of b < share·(a + b) and of the rest, and of Q, each with its error; and the number of outputs.

        With f and F the masses of C fair coins and k the largest such b, P is F(k − 1) + αf(k) and leaves
        1 − F(k) + (1 − α)f(k), and Q is the same with α and 1 − α exchanged: nothing cancels.
        """
        if share <= 0.0:
            return np.array(((-math.inf, 0.0), (0.0, 0.0), (-math.inf, 0.0), (0.0, 0.0))), 0.0
        moved, log_most = self._deviation(share)
        if log_most < LOG_LEAST:  # an error of 1 covers every smaller mass
            return np.array(((log_most, 1.0), (0.0, 0.0), (log_most, 1.0), (0.0, 0.0))), math.nan
        odd = math.exp(-self.epsilon)
        likely, unlikely = 1 / (1 + odd), odd / (1 + odd)
        mixed = np.array(((1.0, likely, 0.0), (0.0, unlikely, 1.0), (1.0, unlikely, 0.0), (0.0, likely, 1.0)))
        means = _means(_clones(self.epsilon, self.people, moved), share, 2 * math.exp(log_most - DEEP))
        masses, off = (mixed @ means).T
        known = np.maximum(masses, 2 * off)  # −ln(1 − x) ≤ 2x for x ≤ ½
        outputs = math.nan
        if self.people <= FEW:
            outputs = float(np.ceil(np.arange(1.0, self.people + 1) * share).sum())
        return np.column_stack((np.log(known), 2 * off / known)), outputs

    def _deviation(self, share: float) -> tuple[int, float]:
        """The window of the numbers of clones that matter, and ln of a bound on P and Q of b < share·(a + b).

        Of C coins, a share s falls on one side with a probability of at most 2e^{−κ(C + 1)}, where κ is
        ln 2 + s·ln s + (1 − s)·ln(1 − s) [Hoe63, Thm 1]. In its mean over C, a clone has a smaller probability.
        """
        rate = math.log(2) + share * math.log(share) + (1 - share) * math.log1p(-share)
        rate = max(0.0, rate - 8 * FUNCTIONS)
        clone = math.exp(-self.epsilon)
        fewer = clone * math.expm1(-rate)
        moved = (self.people - 1) * (clone - clone * math.exp(-rate) / (1 + fewer)) / _unit(self.epsilon, self.people)
        return round(moved), math.log(2) - rate + (self.people - 1) * math.log1p(fewer) * (1 - 8 * FUNCTIONS)


def _between(above: Vector, below: Vector, places: Vector) -> Masses:
    return between(above[0], below[0], np.maximum(above[1], below[1]), steps=places)


# Clones, and the coins that they toss


@dataclass(frozen=True, slots=True, eq=False)
class _Clones:
    """The law of C on a window, which ends or has its middle at the mean; all numbers are rounded once."""

    numbers: Vector
    masses: Vector
    outside: float
    """An upper bound on the mass outside the window."""
    middle: int
    beyond: Vector
    """From the middle on, the mass above each number, within the window; before it, less the mass up to each."""


def _unit(epsilon: float, people: int) -> float:
    """Windows are moved by multiples of this, about the standard deviation of C."""
    clone = math.exp(-epsilon)
    return 1 + math.sqrt((people - 1) * clone * (1 - clone))


@lru_cache(maxsize=64)
@precision()
def _clones(epsilon: float, people: int, moved: int) -> _Clones:
    """A window around the mean of C minus `moved` units, wide enough by Bernstein's inequality."""
    others, clone, unit = people - 1, math.exp(-epsilon), _unit(epsilon, people)
    centre = others * clone - moved * unit
    half = DEEP / 3 + math.sqrt(DEEP * DEEP / 9 + 2 * DEEP * others * min(clone, 0.25)) + unit / 2 + 2
    first, last = max(0, math.floor(centre - half)), min(others, math.ceil(centre + half))
    with precision(192):
        odds = 1 / arb(epsilon).expm1()
        log_ways = arb(others + 1).lgamma() - arb(first + 1).lgamma() - arb(others - first + 1).lgamma()
        masses = [(log_ways + first * odds.log() - others * (1 + odds).log()).exp()]
        for number in range(first, last):
            masses.append(masses[-1] * (others - number) * odds / (number + 1))
        sums = list(accumulate(masses))
        # Nothing much cancels in sums of f·(mass up to C) before the mean, nor of f·(mass above C) after it.
        middle = min(round(others * clone), last) - first
        beyond = [-mass for mass in sums[:middle]] + [sums[-1] - mass for mass in sums[middle:-1]]
        outside = 1 - sums[-1] if last - first < others else arb(0)
    return _Clones(
        numbers=np.arange(first, last + 1, dtype=np.float64),
        masses=np.array([nearest(mass) for mass in masses]),
        outside=upper(outside),
        middle=middle,
        beyond=np.array([nearest(mass, zero=150) for mass in beyond]),
    )


def _means(clones: _Clones, share: float, cut: float) -> Vector:
    """The means of F(k − 1), f(k) and 1 − F(k), each with its error, for the largest k < share·(C + 1).

    From C to C + 1 coins, F(k − 1) moves by −f(k − 1)/2, and F(k) by −f(k)/2; or if k grows, by f(k)/2 and f(k + 1)/2.
    So the means are the values in the middle of the window plus a sum of such moves. At most `cut` lies outside.
    """
    numbers, middle = clones.numbers, clones.middle
    last = np.ceil((numbers + 1) * share) - 1
    grows = last[1:] > last[:-1]
    # From f(k) to the next: C/2k of it if k has grown to this, else C/2(C − k), for C + 1 in the place of C.
    quotients = numbers[1:] / (2 * np.where(grows, last[1:], numbers[1:] - last[1:]))
    mass = np.ones(len(numbers))
    mass[middle + 1 :] = np.cumprod(quotients[middle:])
    mass[:middle] = np.cumprod(1 / quotients[:middle][::-1])[::-1]
    at, start, start_off = _coins(int(numbers[middle]), int(last[middle]))
    mass *= at
    # In units of 2F: two roundings for each factor; the rest is for products and for pairwise sums.
    size = 10 + np.abs(numbers - numbers[middle]) / 8
    here, moves = clones.masses * mass, mass[:-1] * clones.beyond / 2
    k, rest = last[:-1], (numbers - last)[:-1]
    lower = moves * np.where(grows, 1.0, -k / (rest + 1))
    inside = float(clones.masses.sum())
    below, exactly = start * inside + float(lower.sum()), float(here.sum())
    below_off = start_off + 2 * FUNCTIONS * (10 * start + float((np.abs(lower) * size[:-1]).sum()))
    exactly_off = 2 * FUNCTIONS * float((here * size).sum())
    cut = min(cut, clones.outside) + SPECK
    if numbers[middle] > 0.0:
        above, above_off = 1 - below - exactly, below_off + exactly_off + FUNCTIONS
    else:  # mostly nobody is a clone, and this may be small: 1 − F is 0 without coins
        rising = moves * np.where(grows, rest / (k + 1), -1.0)
        above, above_off = -float(rising.sum()), 2 * FUNCTIONS * float((np.abs(rising) * size[:-1]).sum())
        above_off += clones.outside
    return np.array(
        ((max(0.0, below), below_off + cut), (exactly, exactly_off + cut), (max(0.0, above), above_off + cut))
    )


def _coins(coins: int, heads: int) -> tuple[float, float, float]:
    """f(k), F(k − 1) and its error, for k ≤ C/2: F(k − 1)/f(k) = k/(C − k + 1) + …, whose quotients fall."""
    with precision(128):
        log_ways = arb(coins + 1).lgamma() - arb(heads + 1).lgamma() - arb(coins - heads + 1).lgamma()
        at = nearest((log_ways - coins * arb.const_log2()).exp())
    terms = np.arange(min(heads, math.ceil(5 * math.sqrt(coins)) + 10), dtype=np.float64)
    quotients = (heads - terms) / (coins - heads + 1 + terms)
    series = np.cumprod(quotients)
    left = 0.0
    if len(terms) < heads:
        left = float(series[-1] * quotients[-1] / (1 - quotients[-1]))
    off = 2 * FUNCTIONS * float((series * (10 + terms / 8)).sum()) + left
    return at, at * float(series.sum()), at * off
