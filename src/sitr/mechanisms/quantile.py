"""Quantiles: numbers that a given share of all values lies below, chosen by how many ranks they are off."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter
from sitr.flavors.pure import PureDP
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import whole
from sitr.mechanisms.exponential import Exponential
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins, system_coins
from sitr.noise.inversion import settle
from sitr.noise.sums import exponential_sums
from sitr.numbers import Number, ball, exact, float_above, inside, natural, positive, upward
from sitr.precision import undisturbed, working_bits


@dataclass(frozen=True, slots=True)
class Quantiles:
    """For each level α an integer x between public bounds, with probability ∝ e^{−(ε/m)·cost(x)/(2Δ)}, m levels in all.

    cost(x) = max(#{v < x} − αn, αn − #{v ≤ x}) is the number of ranks by which x is off; a quantile costs 0 or less,
    the less the farther inside its equal values the target is. Values beyond the bounds count as the bounds. All
    integers between two neighbouring values cost the same: together they are one candidate, with their number as a
    weight.      [Smi11]

    A value that is added moves #{v < x} − αn by −α or 1 − α, and #{v ≤ x} − αn too: Δ = max(α, 1 − α) where units are
    added or removed. Where one is replaced, n stays, and Δ = 1. At levels 0 and 1, Δ = 1/2 is enough: one value moves
    all costs, #{v < x} or #{v > x}, the same way. For a unit with `each` values, Δ is `each` times as large. (At these
    levels, #{v < x} moves by the difference of two numbers that grow with x, by no more than `each`; its largest and
    its least value are no farther apart than one of the two grows in between.)

    >>> middle = Quantiles(epsilon=1000, levels=(0.25, 0.5), low=0, high=10**6)
    >>> middle.release([5, 200, 200, 30_000, 10**9])
    [200, 200]
    >>> middle.promise()
    PureDP(epsilon=1000.0)
    """

    epsilon: Number
    levels: tuple[Number, ...]
    low: int
    high: int
    relation: Relation = Relation.ADD_REMOVE
    each: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon", of="Quantiles"))
        object.__setattr__(self, "levels", _levels(self.levels))
        if not (whole(self.low) and whole(self.high) and self.low < self.high):
            raise InvalidParameter(
                wanted="low and high of Quantiles to be integers, low below high",
                given=f"{self.low!r} and {self.high!r}",
                do="Choose bounds without looking at the data.",
            )
        if not isinstance(self.relation, Relation):
            raise InvalidParameter(
                wanted="a Relation for Quantiles",
                given=repr(self.relation),
                do="Use Relation.ADD_REMOVE or Relation.REPLACE_ONE.",
            )
        for name, number in (("low", self.low), ("high", self.high)):  # not numpy's, which wrap around
            object.__setattr__(self, name, int(number))
        object.__setattr__(self, "each", natural(self.each, name="each", of="Quantiles"))

    def promise(self) -> PureDP:
        """ε for all levels together."""
        return PureDP(upward(exact(self.epsilon)))

    def loss(self) -> Loss:
        """The loss of m exponential mechanisms with ε/m each, for the worst data and bounds.      [DDR20, Lemma 3.4]

        >>> Quantiles(epsilon=1, levels=(0.5,), low=0, high=100).loss().epsilon(delta=1e-3).upper < 0.96
        True
        """
        return Loss.of(BoundedRangeLaw(float_above(self._share)), len(self.levels), bound=True)

    def error(self, *, confidence: Number = 0.95) -> float:
        """With this confidence, for all levels together, each x is at most this many ranks off.

        Of high − low + 1 candidates at least one costs 0 or less; see `Exponential.error`. Sorting the answers does not
        increase the largest error.

        >>> Quantiles(epsilon=1, levels=(0.5,), low=0, high=10**6).error()
        16.7...
        """
        rest, count = (1 - inside(confidence)) / len(self.levels), self.high - self.low + 1
        choices = (Exponential(self._share, self._moved(level)) for level in self.levels)
        return max(choice.error(candidates=count, confidence=1 - rest) for choice in choices)

    def release(self, values: Sequence[int], *, coins: Coins | None = None) -> list[int]:
        """One number for each level, in growing order; without any values, uniform numbers between the bounds."""
        if not all(whole(value) for value in values):
            raise InvalidParameter(
                wanted="integers for Quantiles", given="something else", do="Count values in whole units."
            )
        tossed = system_coins() if coins is None else coins
        runs = _runs(Counter(min(max(int(value), self.low), self.high) for value in values), self.low, self.high)
        return sorted(self._one(level, runs, tossed) for level in self.levels)

    def _one(self, level: Number, runs: list[Run], coins: Coins) -> int:
        share, people = exact(level), runs[-1].up_to
        unit, target = share.denominator, share.numerator * people
        # In units of 1/denominator they are integers.
        ranks = [max(unit * run.below - target, target - unit * run.up_to) for run in runs]
        least = min(ranks)
        costs = [cost - least for cost in ranks]  # only differences matter
        order = sorted(range(len(runs)), key=costs.__getitem__)
        rate = exact(self._share) / (2 * exact(self._moved(level)) * unit)  # as for `Exponential`
        chosen = runs[order[choose([runs[i].size for i in order], [costs[i] for i in order], rate, coins)]]
        return chosen.first + coins.below(chosen.size)

    def _moved(self, level: Number) -> Fraction:
        """Δ: half of how far apart one unit moves two costs."""
        share = exact(level)
        if share in (0, 1):
            return Fraction(self.each, 2)
        return self.each * (max(share, 1 - share) if self.relation is Relation.ADD_REMOVE else Fraction(1))

    @property
    def _share(self) -> Fraction:
        return exact(self.epsilon) / len(self.levels)


class Run(NamedTuple):
    """Neighbouring integers with the same number of values below them, and up to them."""

    first: int
    size: int
    below: int
    up_to: int


def _runs(counted: Counter[int], low: int, high: int) -> list[Run]:
    """All integers from low to high: each value by itself, and the integers between two values together.

    >>> _runs(Counter([4, 4, 7]), 0, 7)[1:3]
    [Run(first=4, size=1, below=0, up_to=2), Run(first=5, size=2, below=2, up_to=2)]
    """
    runs, first, below = [], low, 0
    for value, many in sorted(counted.items()):
        if value > first:
            runs.append(Run(first, value - first, below, below))
        runs.append(Run(value, 1, below, below + many))
        first, below = value + 1, below + many
    if first <= high:
        runs.append(Run(first, high + 1 - first, below, below))
    return runs


def choose(sizes: list[int], costs: list[int], rate: Fraction, coins: Coins) -> int:
    """i with probability ∝ size_i·e^{−rate·cost_i}, exactly; costs grow from 0.

    With R_i = Σ_{j≥i} size_j·e^{−rate·cost_j}, P(I ≥ i) = R_i/R_0. Let reach = 0.7·(b + the bits of Σ size) at a
    precision of b bits: the terms with rate·cost > reach are at most e^{−reach}·Σ size < 2^{−b} together, and are
    bounded instead of added. A draw that falls there, or too near to any border, is settled with more bits.
    """
    known = lru_cache(2)(partial(tails, sizes, costs, rate))

    def survival(i: int) -> arb:
        sums = known(working_bits())
        return sums[min(i, len(sums) - 1)] / sums[0] if i < len(sizes) else arb(0)

    return settle(survival, coins.bits(64), 64, coins=coins, more=64)


def tails(sizes: list[int], costs: list[int], rate: Fraction, bits: int) -> list[arb]:
    """R_0, R_1, … at this precision, as far as terms are added one by one."""
    total = sum(sizes)
    reach = Fraction(7, 10) * (bits + total.bit_length())
    near = bisect_right(costs, reach / rate)
    beyond = undisturbed(bits, lambda: arb(0).union(total * (-ball(reach)).exp())) if near < len(costs) else None
    terms = ((sizes[i], rate * costs[i]) for i in reversed(range(near)))
    return exponential_sums(terms, bits=bits, beyond=beyond)[::-1]


def _levels(levels: tuple[Number, ...]) -> tuple[Fraction, ...]:
    try:
        shares = tuple(exact(level) for level in levels)
    except (TypeError, ValueError, AttributeError):
        shares = ()
    growing = all(one < other for one, other in pairwise(shares))
    if not shares or not growing or shares[0] < 0 or shares[-1] > 1:
        raise InvalidParameter(
            wanted="levels between 0 and 1 in growing order",
            given=repr(levels),
            do="Choose for example (0.25, 0.5, 0.75).",
        )
    return shares
