"""What an answer says about secrets: its laws given each of them, and how far two such laws are apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, cast

from sitr.errors import InvalidParameter, quoted
from sitr.numbers import Number, finite

Law = Mapping[Number, Number]
"""Values and their probabilities."""

Masses = tuple[tuple[Fraction, Fraction], ...]
"""A law exactly: values in increasing order, with their probabilities, which are above 0."""

Given = tuple[tuple[str, tuple[tuple[str, Masses], ...]], ...]
"""Priors by name, and in each the law given each secret that is possible."""


def wasserstein(first: Law, second: Law) -> Fraction:
    """W_∞: the least distance within which all of one law can be moved to make the other, exactly.

    On a line it is best to keep the order: sup over u of |F⁻¹(u) − G⁻¹(u)|.      [SWC17, Sec. 3.1]

    >>> wasserstein({0: 0.5, 1: 0.5}, {0: 0.25, 1: 0.5, 2: 0.25})
    Fraction(1, 1)
    """
    return _distance(_masses(first), _masses(second))


@dataclass(frozen=True, slots=True)
class SecretLaws:
    """The laws of a public query given each secret, for every prior, and pairs that nobody may distinguish.

    `laws[prior][secret]` maps values of the query to probabilities. A secret that a prior excludes is left out there.
    Without `pairs`, nobody may distinguish any two of them.

    >>> told = SecretLaws({"flu": {"ill": {1: 0.5, 4: 0.5}, "well": {0: 0.5, 3: 0.5}}})
    >>> told.distance
    Fraction(1, 1)
    """

    laws: Mapping[str, Mapping[str, Law]] | Given
    pairs: Iterable[tuple[str, str]] | None = None

    def __post_init__(self) -> None:
        laws = tuple(
            (prior, tuple((secret, _masses(law)) for secret, law in _items(one))) for prior, one in _items(self.laws)
        )
        names = [*dict.fromkeys(secret for _, one in laws for secret, _ in one)]
        pairs = tuple(combinations(names, 2) if self.pairs is None else map(tuple, self.pairs))
        for pair in pairs:
            if len(pair) != 2 or pair[0] == pair[1] or any(secret not in names for secret in pair):
                raise InvalidParameter(
                    wanted="pairs of two different secrets that are named in the laws",
                    given=quoted(pair),
                    do="Write for example pairs=[('ill', 'well')].",
                )
        object.__setattr__(self, "laws", laws)
        object.__setattr__(self, "pairs", pairs)
        if not self.compared:
            raise InvalidParameter(
                wanted="a prior under which two secrets of a pair are possible",
                given="none",
                do="Check priors and secrets.",
            )

    @classmethod
    def of(
        cls,
        query: Callable[[Any], Number] | Mapping[Any, Number],
        /,
        *,
        priors: Mapping[str, Mapping[Any, Number]],
        secrets: Mapping[str, Iterable[Hashable]],
        pairs: Iterable[tuple[str, str]] | None = None,
    ) -> SecretLaws:
        """The same from priors on whole data sets, and secrets as the data sets for which they are true.

        >>> homes = {"all or none": {(0, 0): 0.5, (1, 1): 0.5}, "alone": {(0, 0): 0.25, (0, 1): 0.5, (1, 1): 0.25}}
        >>> told = SecretLaws.of(sum, priors=homes, secrets={"ill": [(1, 0), (1, 1)], "well": [(0, 0), (0, 1)]})
        >>> told.distance
        Fraction(2, 1)
        """
        asked = query.__getitem__ if isinstance(query, Mapping) else query
        laws: dict[str, dict[str, dict[Number, Fraction]]] = {}
        named = dict(secrets)
        for prior, law in priors.items():
            weights = {world: _probability(p) for world, p in law.items()}
            laws[prior] = {}
            for secret, worlds in named.items():
                true = {world: weights[world] for world in dict.fromkeys(worlds) if weights.get(world, 0) > 0}
                if whole := sum(true.values(), Fraction(0)):
                    found = laws[prior].setdefault(secret, {})
                    for world, weight in true.items():
                        found[asked(world)] = found.get(asked(world), Fraction(0)) + weight / whole
        return cls(laws, None if pairs is None else list(pairs))

    @property
    def compared(self) -> list[tuple[str, tuple[str, str], Masses, Masses]]:
        """Every prior and pair of secrets that are both possible, with the two laws."""
        found = []
        for prior, one in cast("Given", self.laws):
            known = dict(one)
            for first, second in cast("Sequence[tuple[str, str]]", self.pairs):
                if first in known and second in known:
                    found.append((prior, (first, second), known[first], known[second]))
        return found

    @property
    def distance(self) -> Fraction:
        """W: the largest W_∞ of all priors and pairs.      [SWC17, Sec. 3.1]"""
        return max(_distance(one, other) for _, _, one, other in self.compared)

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Every value that the query may have, in increasing order."""
        return tuple(sorted({value for _, one in cast("Given", self.laws) for _, law in one for value, _ in law}))


def _distance(first: Masses, second: Masses) -> Fraction:
    """Both quantile functions are constant between two sums of probabilities: walk along all of them."""
    far, i, j = Fraction(0), 0, 0
    (x, p), (y, q) = first[0], second[0]
    while True:
        far = max(far, abs(x - y))
        moved = min(p, q)
        p, q = p - moved, q - moved
        if not p:
            if (i := i + 1) == len(first):
                return far
            x, p = first[i]
        if not q:
            y, q = second[j := j + 1]


def _items(value: object) -> list[tuple[Any, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else list(cast("Iterable[tuple[Any, Any]]", value))


def _masses(law: object) -> Masses:
    found: dict[Fraction, Fraction] = {}
    for value, probability in _items(law):
        if (number := finite(value)) is None:
            raise InvalidParameter(
                wanted="numbers as values of a query", given=quoted(value), do="Use integers or fractions."
            )
        found[number] = found.get(number, Fraction(0)) + _probability(probability)
    if sum(found.values(), Fraction(0)) != 1:
        raise InvalidParameter(
            wanted="the law of a query given a secret to add up to exactly 1",
            given=f"{float(sum(found.values(), Fraction(0))):.15g}",
            do="Correct the probabilities; fractions such as Fraction(1, 3) are exact.",
        )
    return tuple(sorted((value, p) for value, p in found.items() if p > 0))


def _probability(number: Number) -> Fraction:
    found = finite(number)
    if found is None or not 0 <= found <= 1:
        raise InvalidParameter(
            wanted="probabilities from 0 to 1", given=quoted(number), do="Write them as 0.1 or Fraction(1, 3)."
        )
    return found
