"""Random privacy of a finite mechanism on data drawn from a population: for which fraction γ of data does it fail?

X₁, …, Xₙ₊₁ are independent draws. The mechanism is (α, γ) or (α, η, γ) random if, except with probability γ, the laws
of the outcome for (X₁, …, Xₙ) and for the same with Xₙ₊₁ in place of Xₙ are (α, 0)- or (α, η)-close, in both
directions. [HRW11, Def. 1 and 2] A mechanism that ignores the order of records depends on their counts alone: pairs
are enumerated by the counts of the common n − 1 records, and each has a multinomial probability, an exact fraction.
Where these are too many, pairs are drawn, and γ is an interval that holds with the stated confidence.      [CP34]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING, Any

from sitr.audit.exact import rational
from sitr.audit.exact.claims import Verdict
from sitr.audit.exact.events import epsilon_at, exponential
from sitr.audit.exact.neighbors import records
from sitr.audit.exact.pairs import Ends, Pairs
from sitr.audit.exact.reading import read_table
from sitr.audit.exact.table import ROUNDING, Name, Row, Table
from sitr.errors import InvalidParameter, quoted
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.notation import parse
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.loss.law import Vector, check
from sitr.namespace import Later
from sitr.noise import Coins, uniform
from sitr.numbers import Interval, Number, exact, float_above, float_below, inside, natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

special = Later("scipy.special")

MOST = 200_000
"""At most this many pairs are enumerated."""

CONFIDENCE = 0.999
"""The default confidence of an interval from draws."""

Records = tuple[str, ...]
Rows = Callable[[Records], Sequence[Number]]


@dataclass(frozen=True, slots=True)
class Failing:
    """The fraction γ of data for which a promise fails, as an interval; the likeliest pair of data sets that fails."""

    value: Interval
    exact: Fraction | None
    """The exact γ, if all pairs were enumerated and decided."""
    pair: tuple[Name, Name] | None
    confidence: float | None
    """How sure the interval is, if pairs were drawn; None if it is proved."""


@dataclass(frozen=True, slots=True)
class RandomDecision:
    """A claim of random privacy, the verdict and the γ that led to it."""

    claim: str
    verdict: Verdict
    failing: Failing
    allowed: float

    def to_dict(self) -> dict[str, object]:
        """The decision for machines."""
        return {
            "claim": self.claim,
            "verdict": self.verdict.value,
            "allowed": self.allowed,
            "gamma": {"lower": self.failing.value.lower, "upper": self.failing.value.upper},
            "confidence": self.failing.confidence,
            "pair": None if self.failing.pair is None else [list(records(one)) for one in self.failing.pair],
        }


@dataclass(frozen=True, eq=False)
class PopulationMechanism:
    """A mechanism on data drawn from a population: pairs of rows, each with its probability or number of draws."""

    table: Table
    pairs: NDArray[np.int64]
    weights: tuple[Fraction, ...]
    drawn: int | None = None
    """The number of draws; None if all pairs are enumerated."""
    confidence: float = CONFIDENCE

    @cached_property
    def _both(self) -> Pairs:
        return Pairs.of(self.table, self.pairs)

    def gamma(self, *, epsilon: Number, delta: Number = 0) -> Failing:
        """The probability that a pair of data sets is not (ε, δ)-close."""
        check(epsilon, "epsilon", above=0.0, ends="above")
        check(delta, "delta", above=0.0, below=1.0, ends="above")
        fails, may = self._failing(exact(epsilon), exact(delta))
        least = sum((weight for weight, one in zip(self.weights, fails, strict=True) if one), Fraction(0))
        most = sum((weight for weight, one in zip(self.weights, may, strict=True) if one), Fraction(0))
        worst = max((place for place, one in enumerate(fails) if one), key=self.weights.__getitem__, default=None)
        first_and_second = None if worst is None else self.pairs[worst].tolist()
        names = None if first_and_second is None else self._names(*first_and_second)
        if self.drawn is not None:
            counts = (round(least * self.drawn), round(most * self.drawn))
            found = clopper_pearson(counts, self.drawn, confidence=self.confidence)
            return Failing(found, None, names, self.confidence)
        value = Interval(max(0.0, float_below(least)) if least else 0.0, min(1.0, float_above(most)) if most else 0.0)
        return Failing(value, least if least == most else None, names, None)

    def epsilon(self, *, gamma: Number, delta: Number = 0) -> Interval:
        """The least ε such that pairs of data sets are (ε, δ)-close except with probability γ: α of (α, γ), (α, η, γ).

        Each pair needs an ε of its own; all of them but the largest with a total probability of γ must be allowed.
        """
        check(delta, "delta", above=0.0, below=1.0, ends="above")
        rest = exact(delta)
        if not rest:
            return self._all_but(self._both.largest(), exact_gamma(gamma))
        low, high = float_below(rest), float_above(rest)
        found = [epsilon_at(self._both.some([place]), low, high).value for place in range(len(self._both))]
        ends = Ends(*(np.array([getattr(one, end) for one in found]) for end in ("lower", "upper")))
        return self._all_but(ends, exact_gamma(gamma))

    def delta(self, *, epsilon: Number, gamma: Number) -> Interval:
        """The least δ such that pairs of data sets are (ε, δ)-close except with probability γ: η of (α, η, γ)."""
        check(epsilon, "epsilon", above=0.0, ends="above")
        number = exact(epsilon)
        odds = exponential(float(number)) if number else (1.0, 1.0)
        return self._all_but(self._both.hockey_stick(*odds), exact_gamma(gamma))

    def _all_but(self, ends: Ends, gamma: Fraction) -> Interval:
        """The least number that all pairs but some with a total probability of at most γ need.

        Of drawn pairs, the share above the number must be so small, or so large, that an interval of this confidence
        lies on one side of γ.      [CP34]
        """
        count = len(self.pairs)
        low, high = (np.maximum(one[:count], one[count:]) for one in ends)
        few = many = gamma
        if self.drawn is not None:
            counts, ends_of = range(self.drawn + 1), self._share
            few = Fraction(bisect_right(counts, gamma, key=lambda one: Fraction(ends_of(one).upper)) - 1, self.drawn)
            many = Fraction(bisect_right(counts, gamma, key=lambda one: Fraction(ends_of(one).lower)) - 1, self.drawn)
        return Interval(max(0.0, self._quantile(low, many)), max(0.0, self._quantile(high, few)))

    def _share(self, count: int) -> Interval:
        """An interval for the probability of what this number of draws showed."""
        assert self.drawn is not None
        return clopper_pearson((count, count), self.drawn, confidence=self.confidence)

    def _quantile(self, needs: Vector, gamma: Fraction) -> float:
        """The least of these numbers above which pairs have a total probability of at most γ; infinite if γ < 0."""
        if gamma < 0:
            return math.inf
        above = Fraction(0)
        for place in np.argsort(-needs, kind="stable").tolist():
            above += self.weights[place]
            if above > gamma:
                return float(needs[place])
        return 0.0

    def _names(self, first: int, second: int) -> tuple[Name, Name]:
        return self.table.inputs[first], self.table.inputs[second]

    def verify(self, claim: object, /) -> RandomDecision:
        """Whether a claim such as `random(pure(1), 0.05)` or `random(approximate(1, 1e-6), 0.05)` holds."""
        promise = parse(claim) if isinstance(claim, str) else claim
        match promise:
            case RandomDP(inner=PureDP(epsilon), gamma=gamma):
                found = self.gamma(epsilon=epsilon)
            case RandomDP(inner=ApproximateDP(epsilon, delta), gamma=gamma):
                found = self.gamma(epsilon=epsilon, delta=delta)
            case _:
                raise InvalidParameter(
                    wanted="a claim such as random(pure(1), 0.05) or random(approximate(1, 1e-6), 0.05)",
                    given=quoted(claim),
                    do="State the inner promise and γ; other claims are about every input, without a population.",
                )
        goal = exact(gamma)
        low, high = (found.exact, found.exact) if found.exact is not None else map(Fraction, _ends(found.value))
        verdict = Verdict.KEPT if high <= goal else Verdict.BROKEN if low > goal else Verdict.UNDECIDED
        return RandomDecision(claim if isinstance(claim, str) else repr(claim), verdict, found, gamma)

    def _failing(self, epsilon: Fraction, delta: Fraction) -> tuple[list[bool], list[bool]]:
        """The pairs that surely fail, and those that may, in either direction."""
        both = self._both
        if delta == 0:
            found = both.largest()
            low, high = found.lower > float_above(epsilon), found.upper > float_below(epsilon)
        else:
            t = exponential(float(epsilon)) if epsilon else (1.0, 1.0)
            ends: Ends = both.hockey_stick(*t)
            low, high = ends.lower > float_above(delta), ends.upper > float_below(delta)
        if self.table.rows is not None:
            for place in np.flatnonzero(high & ~low):
                p, q = (self.table.rows[int(side[place])] for side in (both.first, both.second))
                low[place] = high[place] = _fails(p, q, epsilon, delta)
        count = len(self.pairs)
        return (low[:count] | low[count:]).tolist(), (high[:count] | high[count:]).tolist()


def exact_gamma(gamma: Number) -> Fraction:
    """γ as a fraction."""
    check(gamma, "gamma", above=0.0, below=1.0, ends="above")
    return exact(gamma)


def _fails(p: Row, q: Row, epsilon: Fraction, delta: Fraction) -> bool:
    event = rational.above(p, q, epsilon)
    return bool(event.places) if delta == 0 else rational.sign(event.p - delta, event.q, epsilon) > 0


def _ends(value: Interval) -> tuple[float, float]:
    return value.lower, value.upper


def population(
    table: object,
    /,
    *,
    records: Mapping[Any, Number],
    size: int | None = None,
    draws: int | None = None,
    confidence: Number = CONFIDENCE,
    rounding: Number = ROUNDING,
    coins: Coins | None = None,
) -> PopulationMechanism:
    """A mechanism on `size` records that are drawn from a population.

    `table` is a table whose inputs are data sets named by their records (`a a b`), one for each multiset or for each
    order; or a function that gives the probabilities of the outcomes for a sorted tuple of records, with a `size`.
    `records` are the probabilities of the records in the population. All pairs are enumerated, unless `draws` says how
    many to draw; then γ is an interval with this `confidence`.

    >>> asked = population([[1, 0], ["1/2", "1/2"], [0, 1]], records={"0": 0.9, "1": 0.1})
    Traceback (most recent call last):
    sitr.errors.InvalidParameter: Expected inputs named by the same number of records, such as a a b, got '1'. ...
    >>> def share(people):  # says truthfully whether anybody has the property
    ...     return (0, 1) if "1" in people else (1, 0)
    >>> asked = population(share, records={"0": 0.9, "1": 0.1}, size=3)
    >>> asked.gamma(epsilon=1).exact  # two new people differ, and the others do not have it: 2·0.9·0.1·0.9²
    Fraction(729, 5000)
    """
    weights = _population(records)
    if callable(table):
        people = natural(size if size is not None else 0, name="size", of="a data set")
        known: _Source = _Computed(table, rounding)
    else:
        listed = _Listed(read_table(table, rounding=rounding))
        known, people = listed, listed.size
    pairs: dict[tuple[Records, Records], Fraction] = {}
    if draws is None:
        for one, other, weight in _enumerated(weights, people, known.ordered):
            key = (known.key(one), known.key(other))
            pairs[key] = pairs.get(key, Fraction(0)) + weight
    else:
        count = natural(draws, name="draws", of="a population")
        for one, other in _drawn(weights, people, count, coins):
            key = (known.key(one), known.key(other))
            pairs[key] = pairs.get(key, Fraction(0)) + Fraction(1, count)
    read, places = known.rows([*dict.fromkeys(one for pair in pairs for one in pair)])
    found = np.array([[places[one], places[other]] for one, other in pairs], dtype=np.int64)
    sure = float(inside(confidence, of="an interval from draws", example=0.999))
    return PopulationMechanism(read, found, tuple(pairs.values()), draws, sure)


class _Source(ABC):
    """Where the law of the outcome for a data set comes from."""

    ordered: bool = False

    def key(self, people: Records) -> Records:
        """A data set as it is looked up: sorted, if the order does not matter."""
        return people if self.ordered else tuple(sorted(people))

    @abstractmethod
    def rows(self, wanted: list[Records]) -> tuple[Table, dict[Records, int]]:
        """The table of these data sets, and the row of each."""


class _Computed(_Source):
    """A function of a sorted data set."""

    def __init__(self, law: Rows, rounding: Number) -> None:
        self._law, self._rounding = law, rounding

    def rows(self, wanted: list[Records]) -> tuple[Table, dict[Records, int]]:
        values = [[*self._law(people)] for people in wanted]
        return Table.of(values, inputs=wanted, rounding=self._rounding), {one: n for n, one in enumerate(wanted)}


class _Listed(_Source):
    """A table with a row for each multiset of records, or for each order."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._names = {records(name): place for place, name in enumerate(table.inputs)}
        sizes = {len(name) for name in self._names}
        if (
            len(sizes) != 1
            or len(self._names) != len(table.inputs)
            or table.inputs == tuple(str(place) for place in range(1, len(table.inputs) + 1))
        ):
            raise InvalidParameter(
                wanted="inputs named by the same number of records, such as a a b",
                given=quoted(table.inputs[0]),
                do="Name each input by its records, separated by spaces.",
            )
        self.size = sizes.pop()
        self.ordered = any(tuple(sorted(name)) != name for name in self._names)

    def rows(self, wanted: list[Records]) -> tuple[Table, dict[Records, int]]:
        missing = next((one for one in wanted if one not in self._names), None)
        if missing is not None:
            raise InvalidParameter(
                wanted="an input in the table for every data set that can be drawn",
                given=f"none for {' '.join(missing)}",
                do="Add that row, or leave its records out of the population.",
            )
        return self._table, self._names


def _population(given: Mapping[object, Number]) -> dict[str, Fraction]:
    weights = {str(name): exact(weight) for name, weight in given.items()}
    if not weights or min(weights.values()) < 0 or sum(weights.values()) != 1:
        raise InvalidParameter(
            wanted="a population with a probability for each record, which add up to exactly 1",
            given=f"a sum of {float(sum(weights.values())):.15g}",
            do="Correct them; fractions such as Fraction(1, 3) are exact.",
        )
    return {name: weight for name, weight in weights.items() if weight}


def _enumerated(
    weights: Mapping[str, Fraction], size: int, ordered: bool
) -> Iterator[tuple[Records, Records, Fraction]]:
    """Every pair of data sets that differ in their last record, with its probability."""
    names, rest = sorted(weights), size - 1
    count = len(names) ** (size + 1) if ordered else math.comb(rest + len(names) - 1, rest) * len(names) ** 2
    if count > MOST:
        raise InvalidParameter(
            wanted=f"at most {MOST} pairs of data sets to enumerate",
            given=str(count),
            do="Draw pairs instead, for example draws=100000: γ is then an interval with a confidence.",
        )
    common = product(names, repeat=rest) if ordered else combinations_with_replacement(names, rest)
    for shared in common:
        ways = 1 if ordered else _orders(shared)
        likely = ways * math.prod((weights[name] for name in shared), start=Fraction(1))
        for one, other in product(names, repeat=2):
            yield (*shared, one), (*shared, other), likely * weights[one] * weights[other]


def _orders(shared: Records) -> int:
    """In how many orders the same records can come."""
    return math.factorial(len(shared)) // math.prod(math.factorial(shared.count(name)) for name in set(shared))


def _drawn(
    weights: Mapping[str, Fraction], size: int, count: int, coins: Coins | None
) -> Iterator[tuple[Records, Records]]:
    """Independent pairs; each record has exactly its probability."""
    names = [*weights]
    whole = math.lcm(*(weight.denominator for weight in weights.values()))
    steps = np.cumsum(
        np.array([int(weights[name] * whole) for name in names], dtype=np.int64 if whole < 2**63 else object)
    )
    found = uniform(bound=whole, size=(count, size + 1), coins=coins)
    places = np.searchsorted(steps, found, side="right")
    for row in places.tolist():
        people = tuple(names[place] for place in row)
        yield people[:-1], (*people[:-2], people[-1])


def clopper_pearson(counts: tuple[int, int], draws: int, *, confidence: float) -> Interval:
    """An interval for a probability: at least as many draws as the first count showed an event, at most the second.

    Each end fails with probability (1 − confidence)/2 at most.      [CP34]

    >>> clopper_pearson((0, 0), 1000, confidence=0.95)
    Interval(lower=0.0, upper=0.00368...)
    """
    tail = (1 - confidence) / 2
    few, many = counts
    low = 0.0 if few == 0 else float(special.betaincinv(few, draws - few + 1, tail))
    high = 1.0 if many == draws else float(special.betaincinv(many + 1, draws - many, 1 - tail))
    return Interval(low * (1 - 1e-9), min(1.0, high * (1 + 1e-9)))
