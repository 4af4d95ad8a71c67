"""One quantile in each group of a table, where one unit can be in several groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import whole
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.inward import chosen_by, farthest, weights
from sitr.mechanisms.permute_and_flip import PermuteAndFlip
from sitr.mechanisms.quantile import choose
from sitr.mechanisms.value_counts import ValueCounts
from sitr.namespace import Later
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins, system_coins
from sitr.noise.race import best_run
from sitr.numbers import (
    Number,
    ball,
    exact,
    flag,
    float_above,
    inside,
    natural,
    positive,
    square_root_upward,
    upper,
    upward,
    within,
)
from sitr.precision import precision
from sitr.sensitivity.in_total import ways

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[Any]
else:
    np = Later("numpy")
    Integers = object

"""Integers of 64 bits, or Python's."""


@dataclass(frozen=True, slots=True)
class GroupedQuantile:
    """For each group an integer x between public bounds, with probability ∝ e^{−rate·cost(x)}.

    With t = αn + offset, cost(x) = max(#{v < x} − t, t − #{v ≤ x}) is the number of ranks by which x is off, as for
    `Quantiles`; below 0 it says how far inside the values equal to x the target is. With an offset above 0, `high`
    never costs more than 0 for being too low; with one below 0, `low` never costs more than 0 for being too high. So
    some x always costs 0 or less, and

        offset > 0, cost(x) ≤ offset  ⟹  x = high or #{v ≤ x} ≥ αn:  x is at or above a quantile,
        offset < 0, cost(x) ≤ −offset ⟹  x = low  or #{v < x} ≤ αn:  x is at or below one.

    **How far one unit moves the costs of one group.** A value that is added moves #{v < x} − t, and #{v ≤ x} − t too,
    by −α or 1 − α; so the larger of the two, or the less of one of them and 0, moves no farther. So `each` values move
    costs by at most Δ = each·max(α, 1 − α), up or down, and the logarithms of two
    probabilities differ by numbers in an interval of length η = 2·rate·Δ. A unit that is replaced moves each of
    the two by at most each·α + each·(1 − α): Δ = each, even if it has fewer values than before. At level 0 without an
    offset above 0, the cost is #{v < x}, plus a constant unless x = low. Let a unit that is added or replaced move
    #{v < x} by d(x); d(low) = 0, and d is a difference of two functions that grow from 0 to at most `each`, so two of
    its values are no farther apart than `each`: η = rate·each. So it is at level 1 without an offset below 0.

    **All groups.** The choices in different groups are independent, and one unit changes at most k = min(groups,
    cells) groups, where `cells` is the number of groups if it is public. Replacing it changes s groups that both
    versions have, and k − s groups of each version, max(0, 2k − cells) ≤ s ≤ k. So the promise is kη for a unit that is
    added or removed, and the largest of sη' + 2(k − s)η for one that is replaced, where η' is the η of a group that
    both versions have. Every choice is zero-concentrated with η²/8.      [CR21; DDR20, Lemma 3.4]

    **At most `total` values of a unit in all groups.** A unit with c values in a group has η = 2·rate·c·max(α, 1 − α)
    there. One with c values that is replaced by one with c′ moves each of the two counts by at most cα + c′(1 − α) or
    c(1 − α) + c′α: η = 2·rate·(max(α, 1 − α)·max(c, c′) + min(α, 1 − α)·min(c, c′)), and rate·max(c, c′) at level 0. So
    η is the f(c, c′) of `sitr.sensitivity.in_total`, and Ση and Ση² are largest at the corners listed there. For the
    loss, groups are put together: the logarithms of two choices with η₁ and η₂ together differ by numbers in an
    interval of length η₁ + η₂. Fill bins of the widest η, one after the other. No two bins in a row have room to be
    one, so b ≥ 2 bins hold more than ⌊b/2⌋ times the widest η: b ≤ 2⌈Ση/widest⌉ − 1.

    **Inward.** At level 0 or 1 without an offset, candidates may weigh more the farther they are inside the bounds, see
    `sitr.mechanisms.inward`: P(x) ∝ w(x)·e^{−rate·cost(x)}. The weights are public, so η is the same.

    **Permute and flip** (`flip`): x is the best of −rate·cost(x) + E_x with independent exponential noise E_x
    [DKSSWXZ21]. Given the noise of all others, whose best is b, x is chosen with probability
    min(1, e^{−(b + rate·cost(x))}), and a unit moves b + rate·cost(x) by no more than two costs move apart: by η. So
    each choice keeps the same pure promise η, with smaller errors [MS20, Alg. 1]. Its losses lie in no interval of
    length η, so its ρ is the η²/2 that a pure promise implies.

    >>> middle = GroupedQuantile(rate=1000, level=0.5, low=0, high=10**6, groups=3)
    >>> middle.release([{5: 1, 200: 2, 30_000: 1}, {7: 10}])
    [200, 7]
    >>> GroupedQuantile(rate=1, level=0.5, low=0, high=10**6, groups=3).promise()
    PureDP(epsilon=3.0)
    """

    rate: Number
    level: Number
    low: int
    high: int
    each: int = 1
    groups: int = 1
    cells: int | None = None
    relation: Relation = Relation.ADD_REMOVE
    offset: int = 0
    total: int | None = None
    inward: bool = False
    flip: bool = False

    def __post_init__(self) -> None:
        name = "GroupedQuantile"
        object.__setattr__(self, "rate", positive(self.rate, name="rate", of=name))
        object.__setattr__(self, "level", within(self.level, name="level", of=name, most=1))
        given = [place for place in ("cells", "total") if getattr(self, place) is not None]
        for place in ("each", "groups", *given):
            object.__setattr__(self, place, natural(getattr(self, place), name=place, of=name))
        if not (whole(self.low) and whole(self.high) and whole(self.offset) and self.low <= self.high):
            raise InvalidParameter(
                wanted="low, high and offset of GroupedQuantile to be integers, low not above high",
                given=f"{self.low!r}, {self.high!r} and {self.offset!r}",
                do="Choose bounds without looking at the data.",
            )
        if not isinstance(self.relation, Relation):
            raise InvalidParameter(
                wanted="a Relation for GroupedQuantile",
                given=repr(self.relation),
                do="Use Relation.ADD_REMOVE or Relation.REPLACE_ONE.",
            )
        for place in ("inward", "flip"):
            flag(getattr(self, place), name=place, of=name)
        if self.inward and (self.flip or self.offset or exact(self.level) not in (0, 1)):
            raise InvalidParameter(
                wanted="inward=True only at level 0 or 1 of GroupedQuantile, without an offset and without flip",
                given=f"level={self.level}, offset={self.offset}, flip={self.flip}",
                do="Leave inward out.",
            )
        for place in ("low", "high", "offset"):  # not numpy's, which wrap around
            object.__setattr__(self, place, int(getattr(self, place)))

    def fitted(self, price: PureDP | ZeroConcentratedDP) -> Self:
        """The same choices with the largest rate that keeps this promise.

        >>> one = GroupedQuantile(rate=1, level=0.5, low=0, high=100, groups=4)
        >>> one.fitted(PureDP(2.0)).rate, one.fitted(ZeroConcentratedDP(0.5)).rate
        (Fraction(1, 2), Fraction(1, 1))
        """
        if isinstance(price, PureDP):
            return replace(self, rate=exact(price.epsilon) / replace(self, rate=1)._epsilon())
        one = replace(self, rate=1, flip=False)  # ρ is smaller without
        return replace(one, rate=1 / square_root_upward(one._rho() / exact(price.rho)))

    def promise(self) -> PureDP:
        """The sum over all groups of one unit."""
        return PureDP(upward(self._epsilon()))

    def zero_concentrated(self) -> ZeroConcentratedDP:
        """The sum of η²/8: a quarter of what a pure promise implies, because losses lie in an interval of length η.

        With `flip`, the sum of what pure promises imply.      [CR21]
        """
        return ZeroConcentratedDP(upward(self._rho()))

    def loss(self) -> Loss:
        """The loss of k choices, for the worst data and bounds.

        If a unit is replaced, each group that changes counts with the larger η: a smaller one is dominated by it.

        >>> GroupedQuantile(rate=0.1, level=0.5, low=0, high=9, groups=30).loss().epsilon(delta=1e-6).upper < 2.2
        True
        """
        counted = [sum(times for _, times in parts) for parts in self.changes()]
        widest = max(width for parts in self.changes() for width, _ in parts)
        law = response(float_above(widest)) if self.flip else BoundedRangeLaw(float_above(widest))
        return Loss.of(law, min(max(counted), self._bins(widest)), bound=True)

    def _bins(self, widest: Fraction) -> int:
        """How many choices with the widest η are as bad as all choices that one unit changes."""
        return 2 * math.ceil(self._epsilon() / widest) - 1

    @precision()
    def error(self, *, confidence: Number = 0.95) -> float:
        """With this confidence, x is at most this many ranks off, in each group by itself; see `Exponential.error`.

        With weights, the bound itself costs nothing at level 0 or 1, and all others together weigh S_K − w_0.

        >>> GroupedQuantile(rate=0.5, level=0.5, low=0, high=10**6).error()
        33.5...
        >>> GroupedQuantile(rate=0.5, level=0, low=0, high=10**6, inward=True).error()
        35.4...
        """
        count, rate = self._count, exact(self.rate)
        if self.inward:
            level, own = inside(confidence), weights(1, count)
            odds = (weights(count, count) - own) * level / (own * (1 - level))
            return upper(ball(odds).log() / ball(rate)) if odds > 1 else 0.0
        return _error(rate, count, exact(confidence), flip=self.flip)

    def beyond(self, chosen: int, *, confidence: Number) -> int:
        """With this confidence, the least value (at level 1 the largest) is not farther inside than this number.

        Only if choices lean `inward`: see `sitr.mechanisms.inward`. Values must exist.

        >>> GroupedQuantile(rate=1, level=1, low=0, high=100, inward=True).beyond(90, confidence=0.95)
        3
        """
        count, first = self._count, exact(self.level) == 0
        inside_by = farthest(chosen - self.low if first else self.high - chosen, count, confidence=confidence)
        return self.low + inside_by if first else self.high - inside_by

    def release(self, groups: Sequence[Mapping[int, int]], *, coins: Coins | None = None) -> list[int]:
        """One number for each group, whose values come with their counts; without values it is uniform."""
        plain = (values for values in groups if not isinstance(values, ValueCounts))
        kinds = {type(number) for values in plain for pair in values.items() for number in pair}
        if not all(issubclass(kind, Integral) for kind in kinds):
            raise InvalidParameter(
                wanted="integers with their counts for GroupedQuantile",
                given="something else",
                do="Count values in whole units.",
            )
        tossed = system_coins() if coins is None else coins
        return [self._one(values, tossed) for values in groups]

    def _one(self, values: Mapping[int, int], coins: Coins) -> int:
        """All integers between two neighbouring values cost the same: together they are one candidate, a run."""
        first, size, below, up_to = self._runs(values)
        share = exact(self.level)
        unit = share.denominator
        target = share.numerator * int(up_to[-1]) + unit * self.offset
        # In units of 1/denominator of the level, costs are integers.
        too_high, too_low = unit * below - target, target - unit * up_to
        if self.offset > 0:
            too_low[-1] = min(too_low[-1], 0)
        if self.offset < 0:
            too_high[0] = min(too_high[0], 0)
        costs = np.maximum(too_high, too_low)
        costs = costs - costs.min()  # only differences matter
        rate = exact(self.rate) / unit
        if self.flip:
            chosen = best_run(size, costs, rate, coins)
            return int(first[chosen]) + coins.below(int(size[chosen]))
        order = np.argsort(costs, kind="stable")
        starts, sizes = first[order].tolist(), size[order].tolist()
        weighed = [self._weight(start, many) for start, many in zip(starts, sizes, strict=True)]
        at = choose(weighed, costs[order].tolist(), rate, coins)
        return self._within(starts[at], sizes[at], coins)

    def _weight(self, start: int, many: int) -> int:
        """The weight of a run: the number of its candidates, or the sum of their weights."""
        if not self.inward:
            return many
        near, far = self._places(start, many)
        return weights(far, self._count) - weights(near, self._count)

    def _within(self, start: int, many: int, coins: Coins) -> int:
        """A candidate of a run, by its weight."""
        if not self.inward:
            return start + coins.below(many)
        near, _ = self._places(start, many)
        drawn = coins.below(self._weight(start, many)) + weights(near, self._count)
        inside_by = chosen_by(drawn, self._count)
        return self.low + inside_by if exact(self.level) == 0 else self.high - inside_by

    def _places(self, start: int, many: int) -> tuple[int, int]:
        """The candidates of a run counted from the bound: from the first number up to, but not including, the other."""
        if exact(self.level) == 0:
            return start - self.low, start - self.low + many
        return self.high - start - many + 1, self.high - start + 1

    @property
    def _count(self) -> int:
        return self.high - self.low + 1

    def _runs(self, values: Mapping[int, int]) -> tuple[Integers, Integers, Integers, Integers]:
        """The runs in growing order: their first integers, their sizes, and the numbers of values below and up to them.

        The bound that the offset points to is a run by itself. Python's integers are used where 64 bits might not do.
        """
        total = int(values.counts.sum()) if isinstance(values, ValueCounts) else sum(map(int, values.values()))
        largest = (total + abs(self.offset) + 1) * 4 * exact(self.level).denominator
        small = max(abs(self.low), abs(self.high), largest) < 2**62
        kind = np.int64 if small else object
        here, counts = self._clamped(values, kind)
        up_to = np.cumsum(counts) if len(counts) else counts
        # Between two values, before the first and after the last.
        gaps = np.append(np.array([self.low], kind), here + 1)
        sizes = np.append(here, np.array([self.high + 1], kind)) - gaps
        reached = np.append(np.array([0], kind), up_to)
        first = np.append(here, gaps)
        size = np.append(np.ones_like(here), sizes)
        below, up_to = np.append(up_to - counts, reached), np.append(up_to, reached)
        kept = np.flatnonzero(size > 0)
        kept = kept[np.argsort(first[kept], kind="stable")]
        return first[kept], size[kept], below[kept], up_to[kept]

    def _clamped(self, values: Mapping[int, int], kind: Any) -> tuple[Integers, Integers]:
        """The values between the bounds in growing order with their counts, and the bound that the offset points to."""
        bound = self.high if self.offset > 0 else self.low
        if isinstance(values, ValueCounts) and kind is np.int64:
            here, counts = values.within(self.low, self.high)
            if self.offset and not np.any(here == bound):
                place = len(here) if self.offset > 0 else 0
                here, counts = np.insert(here, place, bound), np.insert(counts, place, 0)
            return here, counts
        clamped: dict[int, int] = {}
        for value, count in values.items():
            place = min(max(int(value), self.low), self.high)
            clamped[place] = clamped.get(place, 0) + int(count)
        if self.offset:
            clamped.setdefault(bound, 0)
        return np.array(sorted(clamped), kind), np.array([clamped[value] for value in sorted(clamped)], kind)

    def changes(self) -> list[list[tuple[Fraction, int]]]:
        """All ways in which one unit can change groups: pairs of an η and the number of groups."""
        share, rate = exact(self.level), exact(self.rate)
        one_way = (share == 0 and self.offset <= 0) or (share == 1 and self.offset >= 0)
        if self.total is not None:
            small, large = (Fraction(0), rate) if one_way else (2 * rate * part for part in sorted((share, 1 - share)))
            return [
                [(large * max(one, other) + small * min(one, other), times) for one, other, times in way if times]
                for way in ways(
                    each=self.each, total=self.total, groups=self.groups, cells=self.cells, relation=self.relation
                )
            ]
        added = rate * self.each * (1 if one_way else 2 * max(share, 1 - share))
        reached = self.groups if self.cells is None else min(self.groups, self.cells)
        if self.relation is Relation.ADD_REMOVE:
            return [[(added, reached)]]
        both = rate * self.each * (1 if one_way else 2)
        fewest = 0 if self.cells is None else max(0, 2 * reached - self.cells)
        return [[(both, shared), (added, 2 * (reached - shared))] for shared in sorted({fewest, reached})]

    def _epsilon(self) -> Fraction:
        return max(sum((width * times for width, times in parts), Fraction(0)) for parts in self.changes())

    def _rho(self) -> Fraction:
        part = Fraction(1, 2 if self.flip else 8)
        return max(sum((width**2 * times * part for width, times in parts), Fraction(0)) for parts in self.changes())


@lru_cache(256)
def _error(rate: Fraction, count: int, confidence: Fraction, *, flip: bool) -> float:
    """The error of one choice among this many candidates: all numbers of an answer share it."""
    mechanism = PermuteAndFlip if flip else Exponential
    return mechanism(2 * rate).error(candidates=count, confidence=confidence)
