"""Several mechanisms as one: the only place where losses are added or multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import Any, cast

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, InvalidParameter, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, Kept, express
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise, count
from sitr.flavors.pufferfish import Pufferfish, not_composable
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.law import check
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism, added, common_relation
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins
from sitr.numbers import Number, downward, exact, upward

More = Sequence[Mapping[str, Any]] | None
"""The further arguments of each part, by name."""


@dataclass(frozen=True, slots=True)
class Composed:
    """All parts on the same data, each with its own noise.

    >>> from sitr import Laplace
    >>> Composed((Laplace(scale=10), Laplace(scale=5))).promise()
    PureDP(epsilon=0.3)
    """

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))  # an iterator could be read only once
        if not self.parts:
            raise InvalidParameter(
                wanted="at least one mechanism for Composed", given="none", do="Put the parts into a tuple."
            )
        common_relation(*self.parts)

    @property
    def relation(self) -> Relation | None:
        """The neighbours that all parts protect; None if they do not say."""
        return common_relation(*self.parts)

    def promise(self, *, delta: Number | None = None) -> Kept | GaussianDP | Pufferfish:
        """The sum in the strongest flavor that all parts imply; around it their γ, if some are random.

        Zero-concentrated noise and keys that are shown with a δ of their own have (ρ, δ) in common. Give the δ of the
        whole, and the promise is the least (ε, δ) known; see `together`.

        Parts that are not random count with γ = 0: a promise for every pair of neighbours that replace one person
        holds for random pairs.

        >>> from sitr import Gaussian, Laplace
        >>> from sitr.mechanisms import Threshold
        >>> keys = Threshold(Laplace(scale=2, sensitivity=1), groups=1, least=35)
        >>> Composed((keys, Gaussian(sigma=10))).promise()
        ApproximateZeroConcentratedDP(rho=0.13, delta=...e-08)
        >>> Composed((keys, Gaussian(sigma=10))).promise(delta=1e-6)
        ApproximateDP(epsilon=0.9..., delta=1e-06)
        """
        return _whole(self, delta)

    def release(self, values: Sequence[Any], *, coins: Coins | None = None, more: More = None) -> list[Any]:
        """One value for each part, and the answer of each. `more` has the further arguments of each part.

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
        """The error of each part, per answer: all of them hold together less often.

        >>> from sitr import Laplace
        >>> Composed((Laplace(scale=10), Laplace(scale=5))).error()
        [30, 15]
        """
        asked = zip(self.parts, self._named(more), strict=True)
        return [part.error(confidence=confidence, **named) for part, named in asked]

    def loss(self) -> Loss | None:
        """The sum of independent losses; None if a part has none, a bound if a part's is.      [ZDW22, Thm 10]

        >>> from sitr import Laplace
        >>> Composed((Laplace(scale=10), Laplace(scale=5))).loss().epsilon(delta=1e-3)
        Interval(lower=0.29..., upper=0.29...)
        """
        return added(part.loss() for part in self.parts)

    def _named(self, more: More) -> Sequence[Mapping[str, Any]]:
        if more is None:
            return [{}] * len(self.parts)
        _check_values(more, len(self.parts))
        return more


ADDITIVE = (PureDP, ZeroConcentratedDP, ApproximateDP, ApproximateZeroConcentratedDP)
"""The flavors in which different promises are added, the strongest first."""

Counted = list[tuple[Promise, int]]
"""Promises, and how many times each is given."""


def together(promises: Sequence[tuple[Additive, int]], *, delta: Number) -> ApproximateDP:
    """The least known (ε, δ) for all of these together, with at most this δ.

    Zero-concentrated promises add up to ρ. All δᵢ of approximate ones, of either kind, are used, and leave
    δ' = δ − Σδᵢ for the conversion of ρ. An (εᵢ, δᵢ)-private mechanism is εᵢ-private except with probability δᵢ
    [KOV15]. So both of these hold, and the smaller ε is taken: Σεᵢ + ε(ρ, δ'), and ε(ρ + Σεᵢ²/2, δ').  [BS16, Sec. 8]

    >>> together([(ZeroConcentratedDP(0.005), 1), (ApproximateDP(0.5, 1e-7), 1)], delta=1e-6)
    ApproximateDP(epsilon=0.9..., delta=1e-06)
    >>> together([(PureDP(0.01), 1000)], delta=1e-6)
    ApproximateDP(epsilon=1.47..., delta=1e-06)
    """
    bounded = [(promise, times) for promise, times in promises if isinstance(promise, PureDP | ApproximateDP)]
    moments = [(moment, times) for promise, times in promises if (moment := _moment(promise)) is not None]
    spent = ApproximateDP.compose_counted([(express(promise, ApproximateDP), times) for promise, times in bounded])
    check(delta, "delta", above=0.0, below=1.0)
    used = sum((exact(getattr(promise, "delta", 0)) * times for promise, times in promises), Fraction(0))
    rest = exact(delta) - used
    if rest < 0 or (rest == 0 and moments):
        raise InvalidPromise(
            wanted=f"a delta above {upward(min(used, Fraction(1)))!r}, which the parts already use",
            given=f"delta={delta!r}",
            do="Give a larger delta, or parts with a smaller one.",
        )
    left = downward(rest)
    found = [] if moments else [spent]
    if left > 0.0:
        whole, noise = upward(delta), ZeroConcentratedDP.compose_counted(moments)
        squares = [(PureDP(promise.epsilon).to_zero_concentrated(), times) for promise, times in bounded]
        if moments:
            added = exact(spent.epsilon) + exact(noise.to_approximate(delta=left).epsilon)
            found.append(ApproximateDP(upward(added), whole))
        both = ZeroConcentratedDP.compose_counted([*moments, *squares])
        found.append(ApproximateDP(both.to_approximate(delta=left).epsilon, whole))
    return min(found, key=lambda promise: promise.epsilon)


def _moment(promise: Additive) -> ZeroConcentratedDP | None:
    """The moments that a promise bounds, apart from an event that its δ accounts for."""
    if isinstance(promise, ApproximateZeroConcentratedDP):
        return ZeroConcentratedDP(promise.rho)
    return promise if isinstance(promise, ZeroConcentratedDP) else None


def outside(mechanism: Mechanism) -> ApproximateZeroConcentratedDP:
    """The least ρ that is known for a mechanism, outside an event whose probability is its δ.

    >>> from sitr.mechanisms.exponential import Exponential
    >>> outside(Exponential(epsilon=1))
    ApproximateZeroConcentratedDP(rho=0.125, delta=0.0)
    """
    match mechanism:
        case Composed(parts):
            return ApproximateZeroConcentratedDP.compose([outside(part) for part in parts])
        case Repeated(inner, times):
            return outside(inner) * times
    promise = express(mechanism.promise(), ApproximateZeroConcentratedDP)
    return promise if promise.delta else ApproximateZeroConcentratedDP(concentrated(mechanism).rho, 0.0)


def concentrated(mechanism: Mechanism) -> ZeroConcentratedDP:
    """The least ρ that is known for a mechanism.

    Choices whose losses lie in an interval of length η have ρ = η²/8, not the η²/2 that their pure promise implies:
    such a mechanism has a method `zero_concentrated`.      [CR21]

    >>> from sitr.mechanisms.exponential import Exponential
    >>> concentrated(Repeated(Exponential(epsilon=1), 3))
    ZeroConcentratedDP(rho=0.375)
    """
    match mechanism:
        case Composed(parts):
            return ZeroConcentratedDP.compose([concentrated(part) for part in parts])
        case Repeated(inner, times):
            return concentrated(inner) * times
    known = getattr(mechanism, "zero_concentrated", None)
    return known() if known is not None else express(mechanism.promise(), ZeroConcentratedDP)


def _whole(mechanism: Composed | Repeated, delta: Number | None) -> Kept | GaussianDP | Pufferfish:
    parts = _parts(mechanism)
    bare = [(promise.inner if isinstance(promise, RandomDP) else promise, times) for promise, times in parts]
    inner = _sum(bare, delta)
    if not any(isinstance(promise, RandomDP) for promise, _ in parts):
        return inner
    if mechanism.relation is Relation.ADD_REMOVE:
        raise InvalidPromise(
            wanted="parts that protect persons who are replaced, as random promises do",
            given="one for tables that add or remove a person",
            do="Use a part that is about replacing one person.",
        )
    # γ and its parts add, whatever is inside.
    random = [promise if isinstance(promise, RandomDP) else RandomDP(promise, 0.0) for promise, _ in parts]
    gammas = [replace(part, inner=PureDP(0.0)) * times for part, (_, times) in zip(random, parts, strict=True)]
    return replace(RandomDP.compose(gammas), inner=inner)


def _parts(mechanism: Mechanism) -> Counted:
    """The promises of the innermost mechanisms: their sum is smaller than the sum of sums, where squares are added."""
    match mechanism:
        case Composed(parts):
            # The promise of a part that occurs a thousand times, as in (part,) * 1000, is computed once.
            runs = [list(run) for _, run in groupby(parts, key=id)]
            return [(promise, times * len(run)) for run in runs for promise, times in _parts(run[0])]
        case Repeated(inner, times):
            return [(promise, many * times) for promise, many in _parts(inner)]
    return [(mechanism.promise(), 1)]


def _sum(promises: Counted, delta: Number | None) -> Additive | GaussianDP | Pufferfish:
    """The sum in their common flavor, or else in the strongest flavor that all imply; or at a δ."""
    flavors = {type(promise) for promise, _ in promises}
    if Pufferfish in flavors and len(flavors) > 1:
        raise not_composable(sum(times for _, times in promises))
    if len(flavors) == 1 and not flavors & set(ADDITIVE):
        (flavor,) = flavors
        if flavor is GaussianDP:
            total: Promise = GaussianDP.compose_counted(cast("list[tuple[GaussianDP, int]]", promises))
        else:
            total = flavor.compose([promise * times for promise, times in promises])
        # The type says which flavors Sitr's own mechanisms promise.
        return (
            cast("GaussianDP | Pufferfish", total)
            if delta is None
            else express(total, ApproximateDP, delta=float(delta))
        )
    if delta is not None:
        known = [(express(promise, _flavor(promise)), times) for promise, times in promises]
        return together(known, delta=delta)
    for flavor in ADDITIVE:
        try:
            expressed = [(express(promise, flavor), times) for promise, times in promises]
        except IncompatiblePromises as error:
            reason = error
        else:
            return flavor.compose_counted(expressed)  # type: ignore[arg-type]
    raise IncompatiblePromises(
        wanted="parts with a flavor in common, or a δ for the sum",
        given=reason.given,
        do="Say how rarely all parts together may fail: promise(delta=1e-6).",
    )


def _flavor(promise: Promise) -> type[Additive]:
    kept = PureDP | ApproximateDP | ApproximateZeroConcentratedDP
    return type(promise) if isinstance(promise, kept) else ZeroConcentratedDP


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
        object.__setattr__(self, "times", count(self.times, what="The number of releases"))

    @property
    def relation(self) -> Relation | None:
        """The neighbours that the mechanism protects; None if it does not say."""
        return common_relation(self.mechanism)

    def promise(self, *, delta: Number | None = None) -> Kept | GaussianDP | Pufferfish:
        """`times` times the promise of one; with a δ, the least (ε, δ) known of all, as for `Composed`."""
        return _whole(self, delta)

    def release(self, values: Sequence[Any], *, coins: Coins | None = None, **more: Any) -> list[Any]:
        """`times` values, and the answer to each; further arguments are the same for all.

        >>> from sitr import Laplace
        >>> Repeated(Laplace(scale=0.001), 3).release([5, -7, 11])
        [5, -7, 11]
        """
        _check_values(values, self.times)
        return [self.mechanism.release(value, coins=coins, **more) for value in values]

    def error(self, *, confidence: Number = 0.95, **more: Any) -> Any:
        """The error per answer: all of them hold together less often.

        >>> from sitr.mechanisms.exponential import Exponential
        >>> Repeated(Exponential(epsilon=1), 3).error(candidates=10)
        10.28...
        """
        return self.mechanism.error(confidence=confidence, **more)

    def loss(self) -> Loss | None:
        """The sum of `times` independent losses; None if the mechanism has none.

        >>> from sitr import Laplace
        >>> Repeated(Laplace(scale=10), 10).loss().epsilon(delta=1e-3)
        Interval(lower=0.7..., upper=0.7...)
        """
        loss = self.mechanism.loss()
        return None if loss is None else loss * self.times


def _check_values(values: Sequence[Any], wanted: int) -> None:
    """Checked before anything is released; the number of values is not secret."""
    if len(values) != wanted:
        raise InvalidParameter(
            wanted=f"one value for each release, {wanted} in all",
            given=f"{len(values)}",
            do="Pass a list in the order of the releases.",
        )
