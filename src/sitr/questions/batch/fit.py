"""The noise that one price pays for in several questions together, fitted by the loss of all of them.

The measurements of a batch are fixed in advance, so the exact loss of all of them together is a valid account: nothing
is chosen after something was seen. Each question gets a share of the price, by its weight, and shares it among its
measurements as it would alone. A measurement that several questions need gets all of their shares.

A pure ε and a ρ add up, so here a batch costs what its questions cost. Of an approximate price, questions that are
asked one by one would each get a part of ε and of δ; together they share the μ of the whole price in squares, and
n questions with Gaussian noise take about √n times the noise of one, instead of n times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import NoisePrice
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.numbers import downward, exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import measured, refuse_unknown_keys, total_error, useful
from sitr.questions.aggregate.keys import KeyThreshold
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.quantity import Rank
from sitr.questions.aggregate.selection import selection
from sitr.questions.aggregate.shares import Shares, main_terms, shares
from sitr.questions.aggregate.stability import people
from sitr.questions.batch.plan import BatchPlan
from sitr.questions.batch.readings import SharedReading, shared_readings
from sitr.questions.ways import Way, gaussian_ways, largest_fitting, pure_ways, ways

Thresholds = tuple[KeyThreshold | None, ...]
Plans = tuple[AggregatePlan, ...]


@dataclass(frozen=True, slots=True)
class Allotted:
    """A group with its share of the price: `keys` for choosing unknown keys, and `terms` of what is left after that."""

    query: BoundedQuery
    terms: Shares
    keys: Fraction


@dataclass(frozen=True, slots=True)
class Allotments:
    """The shares that are best for pure noise, and those that are best for Gaussian noise."""

    pure: list[Allotted]
    gaussian: list[Allotted]

    def best(self, way: Way) -> list[Allotted]:
        """The shares for what is bought."""
        return self.pure if isinstance(way.bought, PureDP) else self.gaussian


def fit(
    queries: Sequence[BoundedQuery], price: Promise, *, names: Sequence[str], weights: Sequence[Fraction], text: str
) -> BatchPlan:
    """The plan with the least error at this price, for all questions together."""
    paid, groups = affordable(price), shared_readings(queries)
    shared = Allotments(
        *(_shared(groups, queries, weights, like=like) for like in (PureDP(1.0), ZeroConcentratedDP(1.0)))
    )
    if all(query.known for query in queries) or getattr(paid, "delta", 0) == 0:
        for query in queries:
            refuse_unknown_keys(query, paid)
        none: Thresholds = (None,) * len(groups)
        found = [plans for way in ways(paid) for plans in _plans(shared, way, none)]
    elif isinstance(paid, ApproximateDP):
        found = _with_thresholds(shared, paid)
    else:
        assert isinstance(paid, ApproximateZeroConcentratedDP)  # no other price has a δ
        found = _outside_an_event(shared, paid)
    best = min(found, key=lambda plans: sum(map(total_error, plans)))
    places = [next(at for at, group in enumerate(groups) if place in group.members) for place in range(len(queries))]
    charged: Additive = best[0].price  # type: ignore[assignment]
    every = tuple(each for plan in best for each in plan.measurements)
    plan = BatchPlan(every, charged, text, tuple(names), tuple(queries), best, tuple(places))
    for part in plan.parts:
        useful(part)
    return plan


def _shared(
    groups: Sequence[SharedReading], queries: Sequence[BoundedQuery], weights: Sequence[Fraction], *, like: NoisePrice
) -> list[Allotted]:
    """The share of every measurement; those of one question add up to its weight.

    Where keys are not public, choosing them counts as one more measurement. `like` says for which noise shares are
    best.
    """
    whole, found = sum(weights, Fraction(0)), []
    kept = Fraction(0)
    for group in groups:
        terms: Shares = {}
        for member in group.members:
            for each, share in shares(queries[member], like).items():
                terms[each] = terms.get(each, Fraction(0)) + share * weights[member] / whole
        weight = sum(weights[member] for member in group.members) / whole
        keys = Fraction(0) if group.query.known else weight / (len(main_terms(group.query)) + 1)
        kept += weight - keys
        found.append((group.query, terms, weight, keys))
    return [
        Allotted(query, {each: share * (1 - keys / weight) / kept for each, share in terms.items()}, keys)
        for query, terms, weight, keys in found
    ]


def _plans(shared: Allotments, way: Way, thresholds: Thresholds) -> list[Plans]:
    """The plans of all groups if the price is spent this way; none if they are not proved to keep it.

    Choices of quantiles are not Gaussian: beside them, the largest μ is the one for which the loss of all measurements
    keeps the price.
    """

    allotted = shared.best(way)

    def at(bought: Way) -> Plans:
        pairs = zip(allotted, thresholds, strict=True)
        return tuple(measured(each.query, bought, each.terms, keys) for each, keys in pairs)

    choices = any(isinstance(term, Rank) for each in allotted for term in each.query.terms)
    if not (choices and isinstance(way.bought, GaussianDP) and isinstance(way.charged, ApproximateDP)):
        return [at(way)]
    price = way.charged
    found = largest_fitting(_fits(price, lambda mu: at(Way(price, GaussianDP(mu)))), start=way.bought.mu)
    return [] if found is None else [at(Way(price, GaussianDP(found)))]


def _fits(price: ApproximateDP, at: Callable[[float], Plans]) -> Callable[[float], bool]:
    def fits(mu: float) -> bool:
        loss = Composed(tuple(each.mechanism for plan in at(mu) for each in plan.measurements)).loss()
        try:
            return loss is not None and price.proved_by(loss)
        except OverflowError:  # nothing is proved about losses that are too small for the squares of floats
            return False

    return fits


def _with_thresholds(shared: Allotments, price: ApproximateDP) -> list[Plans]:
    """Keys share all of δ beside pure noise, or half of it beside Gaussian noise, where they may have either noise."""
    groups = shared.gaussian  # the shares of keys are the same for all noise
    many = sum(each.keys > 0 for each in groups)
    whole, half = (downward(exact(price.delta) / part) for part in (many, 2 * many))
    pure = _chosen(groups, lambda each: _threshold(each, price, whole))
    single = _chosen(groups, lambda each: _threshold(each, price, half))
    beside = [single, *([bell] if (bell := _bells(groups, price, half)) is not None else [])]
    return [
        *(plans for way in pure_ways(price, beside=_named(pure)) for plans in _plans(shared, way, pure)),
        *(
            plans
            for keys in beside
            for way in gaussian_ways(price, beside=_named(keys))
            for plans in _plans(shared, way, keys)
        ),
    ]


def _chosen(shared: Sequence[Allotted], make: Callable[[Allotted], KeyThreshold]) -> Thresholds:
    return tuple(make(each) if each.keys > 0 else None for each in shared)


def _named(thresholds: Thresholds) -> list[KeyThreshold]:
    return [each for each in thresholds if each is not None]


def _threshold(each: Allotted, price: ApproximateDP, delta: float) -> KeyThreshold:
    return selection(each.query, ApproximateDP(downward(exact(price.epsilon) * each.keys), delta))


def _bells(shared: Sequence[Allotted], price: ApproximateDP, delta: float) -> Thresholds | None:
    """Gaussian noise for the keys' share of μ², where at least half of δ is left for the tail; None without noise."""
    whole = GaussianDP.fitting(ApproximateDP(price.epsilon, downward(exact(price.delta) / 2)))
    if whole.mu == 0.0 or delta == 0.0:
        return None

    def bell(each: Allotted) -> GaussianThreshold:
        noise = RoundedGaussian.fitting(whole.share(each.keys), sensitivity=people(each.query).l2)
        return GaussianThreshold.lowest(noise, delta=delta, groups=each.query.max_groups)

    return _chosen(shared, bell)


def _outside_an_event(shared: Allotments, price: ApproximateZeroConcentratedDP) -> list[Plans]:
    """Keys get their share of ρ, and all of δ: Gaussian noise needs none."""
    delta = downward(exact(price.delta) / sum(each.keys > 0 for each in shared.gaussian))

    def keys(each: Allotted) -> GaussianThreshold:
        part = ApproximateZeroConcentratedDP(downward(exact(price.rho) * each.keys), delta)
        return GaussianThreshold.fitting(part, sensitivity=people(each.query).l2, groups=each.query.max_groups)

    chosen = _chosen(shared.gaussian, keys)
    return [plans for way in ways(price, beside=_named(chosen)) for plans in _plans(shared, way, chosen)]
