"""Several mechanisms as one: the only place where losses are added or multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive, Kept, express
from sitr.flavors.promise import Promise, count
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import Number
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism, common_relation, python_integer
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins

More = Sequence[Mapping[str, Any]] | None
"""For each part what else it wants to know, by name."""


@dataclass(frozen=True, slots=True)
class Composed:
    """All parts on the same data, each with its own noise.

    >>> from sitr import Laplace
    >>> Composed((Laplace(scale=10), Laplace(scale=5))).promise()
    PureDP(epsilon=0.3)
    """

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))  # what can be walked through only once has no parts later
        if not self.parts:
            raise ValueError("Composed wants at least one mechanism. None was given. Put the parts into a tuple.")
        common_relation(*self.parts)

    @property
    def relation(self) -> Relation | None:
        """The neighbours that all parts protect; None if they do not say."""
        return common_relation(*self.parts)

    def promise(self) -> Kept:
        """The sum in the strongest flavor that all parts imply; around it their γ, if some are random.

        Parts that are not random count with γ = 0: what holds for every pair of neighbours that replace one person
        holds for random pairs.
        """
        promises = [part.promise() for part in self.parts]
        if not any(isinstance(promise, RandomDP) for promise in promises):
            return _strongest(promises)[0]
        if self.relation is Relation.ADD_REMOVE:
            raise InvalidPromise(
                wanted="Parts that protect those who are replaced were wanted, as random promises do.",
                given="Another part is for tables that add or remove a person.",
                do="Use a part that is about replacing one person.",
            )
        random = [promise if isinstance(promise, RandomDP) else RandomDP(promise, 0.0) for promise in promises]
        _, expressed = _strongest([promise.inner for promise in random])
        return RandomDP.compose(replace(part, inner=inner) for part, inner in zip(random, expressed, strict=True))

    def release(self, values: Sequence[Any], *, coins: Coins | None = None, more: More = None) -> list[Any]:
        """One value for each part, and the answer of each. `more` has for each part what else it wants to know.

        >>> from sitr import Laplace
        >>> Composed((Laplace(scale=0.001), Laplace(scale=0.002))).release([5, [-7, 3]])
        [5, [-7, 3]]
        >>> from sitr.mechanisms.sparse_vector import SparseVector
        >>> both = Composed((Laplace(scale=0.001), SparseVector(epsilon=1000)))
        >>> both.release([5, [30, 50]], more=[{}, {"threshold": 40}])
        [5, [False, True]]
        """
        _check_values(values, len(self.parts))
        asked = zip(self.parts, values, self._named(more), strict=True)
        return [part.release(value, coins=coins, **named) for part, value, named in asked]

    def error(self, *, confidence: Number = 0.95, more: More = None) -> list[Any]:
        """That of each part, each answer by itself: all of them hold together less often.

        >>> from sitr import Laplace
        >>> Composed((Laplace(scale=10), Laplace(scale=5))).error()
        [30, 15]
        """
        asked = zip(self.parts, self._named(more), strict=True)
        return [part.error(confidence=confidence, **named) for part, named in asked]

    def loss(self) -> Loss:
        """The sum of independent losses.      [ZDW22, Thm 10]

        >>> from sitr import Laplace
        >>> Composed((Laplace(scale=10), Laplace(scale=5))).loss().epsilon(delta=1e-3)
        Bounds(lower=0.29..., upper=0.29...)
        """
        return Loss.compose(part.loss() for part in self.parts)

    def _named(self, more: More) -> Sequence[Mapping[str, Any]]:
        if more is None:
            return [{}] * len(self.parts)
        _check_values(more, len(self.parts))
        return more


def _strongest(promises: list[Promise]) -> tuple[Additive, list[Additive]]:
    """The sum in the strongest flavor that all imply, and each of them in that flavor."""
    for flavor in (PureDP, ZeroConcentratedDP, ApproximateDP):
        try:
            expressed = [express(promise, flavor) for promise in promises]
        except IncompatiblePromises as error:
            reason = error
        else:
            return flavor.compose(expressed), expressed  # type: ignore[arg-type, return-value]
    raise reason


@dataclass(frozen=True, slots=True)
class Repeated:
    """One mechanism, a number of times on the same data, each with fresh noise.

    >>> from sitr import Laplace
    >>> Repeated(Laplace(scale=10), 10).promise()
    PureDP(epsilon=1.0)
    """

    mechanism: Mechanism
    times: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", count(python_integer(self.times), what="The number of releases"))

    @property
    def relation(self) -> Relation | None:
        """The neighbours that the mechanism protects; None if it does not say."""
        return common_relation(self.mechanism)

    def promise(self) -> Kept:
        """`times` times the promise of one."""
        return Composed((self.mechanism,)).promise() * self.times

    def release(self, values: Sequence[Any], *, coins: Coins | None = None, **more: Any) -> list[Any]:
        """`times` values, and the answer to each; what else the mechanism wants to know is the same for all.

        >>> from sitr import Laplace
        >>> Repeated(Laplace(scale=0.001), 3).release([5, -7, 11])
        [5, -7, 11]
        """
        _check_values(values, self.times)
        return [self.mechanism.release(value, coins=coins, **more) for value in values]

    def error(self, *, confidence: Number = 0.95, **more: Any) -> Any:
        """That of each answer by itself: all of them hold together less often.

        >>> from sitr.mechanisms.exponential import Exponential
        >>> Repeated(Exponential(epsilon=1), 3).error(candidates=10)
        10.28...
        """
        return self.mechanism.error(confidence=confidence, **more)

    def loss(self) -> Loss:
        """The sum of `times` independent losses.

        >>> from sitr import Laplace
        >>> Repeated(Laplace(scale=10), 10).loss().epsilon(delta=1e-3)
        Bounds(lower=0.7..., upper=0.7...)
        """
        return self.mechanism.loss() * self.times


def _check_values(values: Sequence[Any], wanted: int) -> None:
    """Before anything is released: how many values there are is no secret."""
    if len(values) != wanted:
        raise ValueError(
            f"One value for each release was wanted, {wanted} in all. {len(values)} were given. "
            "Give a list, in the order of the releases."
        )
