"""The noise that a price pays for in an aggregate question, fitted before any row is read."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import write
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import NoisePrice
from sitr.mechanisms.candidates import least_noise
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.threshold import Threshold
from sitr.numbers import downward, exact
from sitr.plans.plan import FAINT, Measurement
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.in_total import measured_in_total, says_nothing
from sitr.questions.aggregate.keys import KeyThreshold
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.plan import BESIDE, BEYOND, KEYS, AggregatePlan, NoisyTerm
from sitr.questions.aggregate.quantity import Bar, Quantity, Rank
from sitr.questions.aggregate.second_cap import LOST
from sitr.questions.aggregate.selection import counted_term, selection
from sitr.questions.aggregate.shares import Shares, main_terms, shares
from sitr.questions.aggregate.split import Targets
from sitr.questions.aggregate.stability import people, stability
from sitr.questions.aggregate.targeted import targeted
from sitr.questions.aggregate.term import Term
from sitr.questions.ways import Way, gaussian_ways, largest_fitting, pure_ways, ways
from sitr.sensitivity.bounded import bounded

MISS = Fraction(5, 100) / 3
"""How often each end of a quantile's interval may miss: an interval with a number and two ends is shown for 95%."""

SELECTED = 100
"""How many released keys have ends of intervals that hold together, where noisy numbers choose rows and keys are not
public.

With more keys, the interval is the public bounds. The ends move by a few ranks only when this number is doubled.
"""


FEW = 15
"""A minimum or a maximum may be this many ranks inside the values.

From the exact laws on 50 tables of many shapes: the mean errors of both ways are equal at about 10 to 15 ranks.
"""


def fit(query: BoundedQuery, price: Promise) -> AggregatePlan:
    """The plan with the least error at this price, divided as `shares` says."""
    paid = affordable(price, gaussian=not any(isinstance(term, Rank) for term in query.terms))
    if not query.shown_terms:
        return _keys_alone(query, paid)
    if query.known or getattr(paid, "delta", 0) == 0:
        refuse_unknown_keys(query, paid)
        plans = [plan for way in ways(paid) for plan in _plans(query, way)]
    elif isinstance(paid, ApproximateDP):
        plans = _with_threshold(query, paid)
    else:
        assert isinstance(paid, ApproximateZeroConcentratedDP)  # no other price has a δ
        plans = _outside_an_event(query, paid)
    return useful(plans[0] if len(plans) == 1 else min(plans, key=total_error))


def _keys_alone(query: BoundedQuery, price: Promise) -> AggregatePlan:
    """Only the keys are chosen, for the whole price."""
    if getattr(price, "delta", 0) == 0:
        refuse_unknown_keys(query, price)
    far, spelled = people(query), text(query.query)
    if isinstance(price, ApproximateDP):
        keys: KeyThreshold = selection(query, price)
    else:
        assert isinstance(price, ApproximateZeroConcentratedDP)  # no other price has a δ
        keys = GaussianThreshold.fitting(price, sensitivity=far.l2, groups=query.max_groups)
    return AggregatePlan((Measurement(KEYS, keys, far),), price, spelled, query)


def useful(plan: AggregatePlan) -> AggregatePlan:
    """The plan, unless an error is too large for a double."""
    beyond = [each.term for each in plan.noisy if _wide(each) and each.width(0.95) > sys.float_info.max]
    if not beyond:
        return plan
    columns = (*plan.columns, *plan.hidden)
    lost = [column.name for column in columns if any(each.term in beyond for each in column.measured)]
    if lost:
        raise QuestionError(
            given=f"At the price {plan.price!r}, the error of {', '.join(lost)} exceeds {sys.float_info.max:.2g}.",
            do="Pay a little more, or describe the data set with narrower bounds or smaller caps.",
        )
    return plan


def _wide(noisy: NoisyTerm) -> bool:
    """Whether its noise may be that large: quantiles of a noise are at most a thousand times its size."""
    return noisy.choice is None and noisy.noise.size * noisy.granularity > sys.float_info.max / 1000


def _plan(
    query: BoundedQuery, way: Way, threshold: KeyThreshold | None = None, *, counted: Term | None = None
) -> AggregatePlan:
    if counted is not None:
        own = shares(query, way.bought)
        rest = 1 - own.pop((counted,))
        parts = {terms: share / rest for terms, share in own.items()}
        return measured(query, way, parts, threshold, counted=counted)
    if isinstance(query.split, Targets):
        many = len(main_terms(query))
        return targeted(
            query.split,
            way.bought,
            lambda parts: measured(query, way, shares(query, way.bought, parts), threshold),
            many,
        )
    return measured(query, way, shares(query, way.bought), threshold)


def measured(
    query: BoundedQuery,
    way: Way,
    parts: Shares,
    threshold: KeyThreshold | None = None,
    *,
    counted: Term | None = None,
) -> AggregatePlan:
    """The plan that gives each measurement its share of what is bought.

    What is left out is measured in each group, or over all groups if that says more. What is `counted` is shown by the
    threshold.
    """
    families, watch = [terms for terms in query.measured if terms[0] != counted], query.watch
    found = [_measurement(query, terms, way.bought.share(parts[terms])) for terms in families]
    keys = () if threshold is None else (Measurement(KEYS, threshold, people(query)),)
    beyond: tuple[Measurement, ...] = ()
    if watch is not None and watch.beyond:
        one = bounded(low=0, high=1, groups=1, cells=1, relation=query.changes)
        noise = least_noise(way.bought.share(parts[()]), l1=one.l1, l2=one.l2)
        beyond = (Measurement(BEYOND, noise.alone(), one),)
    if watch is not None and watch.rows is not None:
        far = watch.rows.distance(query.changes)
        noise = least_noise(way.bought.share(parts[LOST]), l1=far.l1, l2=far.l2)
        beyond = (Measurement(LOST, noise.alone(), far), *beyond)
    by_term = {term: each for terms, each in zip(families, found, strict=True) for term in terms}
    if watch is not None and says_nothing(query, watch, by_term):
        shown = query.shown_terms
        for place, (term, *_) in enumerate(families):
            if term not in shown and isinstance(term, Term):
                found[place] = measured_in_total(query, term, way.bought.share(parts[(term,)]))
    return AggregatePlan((*found, *keys, *beyond), way.charged, text(query.query), query, counted)


def _plans(
    query: BoundedQuery, way: Way, threshold: KeyThreshold | None = None, *, counted: Term | None = None
) -> list[AggregatePlan]:
    """The plan that spends a price this way; none if no plan is proved to keep it.

    Beside Gaussian noise of μ, a quantile gets the rate with ρ = μ²/2, and so the noise of both shrinks and grows
    together. Choices are not Gaussian: the largest μ is the one for which the loss of the whole plan keeps the price.
    """
    choices = any(isinstance(term, Rank) for term in query.terms)
    if not (choices and isinstance(way.bought, GaussianDP) and isinstance(way.charged, ApproximateDP)):
        return [_plan(query, way, threshold, counted=counted)]
    price = way.charged
    if price.epsilon < FAINT:
        return []

    def at(mu: float) -> AggregatePlan:
        return _plan(query, Way(price, GaussianDP(mu)), threshold, counted=counted)

    def fits(mu: float) -> bool:
        loss = at(mu).loss()
        try:
            return loss is not None and price.proved_by(loss)
        except OverflowError:  # nothing is proved about losses that are too small for the squares of floats
            return False

    found = largest_fitting(fits, start=way.bought.mu)
    return [] if found is None else [at(found)]


def _measurement(query: BoundedQuery, terms: tuple[Quantity, ...], part: NoisePrice) -> Measurement:
    """The measurement of some terms together, for this share of the price."""
    term, far = terms[0], stability(query, terms[0])
    if isinstance(term, Rank):
        return Measurement(term.name, _choice(query, term, part), None, term.granularity)
    assert far is not None
    noise = least_noise(part, l1=far.l1, l2=far.l2)
    alone = not query.keys and len(terms) == 1
    name = f"HISTOGRAM({term.of.text}, …)" if isinstance(term, Bar) else term.name
    return Measurement(name, noise.alone() if alone else noise, far, term.granularity)


def _choice(query: BoundedQuery, term: Rank, part: NoisePrice) -> GroupedQuantile:
    """The choice of a quantile in each group. A Gaussian share says only how large its rate is, and proves nothing.

    The offset of an end covers its error, when this column is shown with a confidence of 95%, and one rank more: so the
    interval holds every usual definition of a quantile, which lie between neighbouring values. Where noisy numbers
    choose rows, it holds together with those of all cells and columns. A minimum or a maximum is such an end where that
    is at most `FEW` ranks inside the values. Where it would be more, it leans inward instead: `sitr.mechanisms.inward`.
    """
    toward = term.end or (1 if term.level == 0 else -1 if term.level == 1 else 0)
    found = _fitted(query, term, part, offset=toward)
    together = (query.cells or SELECTED) * len(query.shown) if query.after.by_noise else 1
    found = replace(found, offset=toward * (math.ceil(found.error(confidence=1 - MISS / together)) + BESIDE))
    if term.extreme and term.shown and abs(found.offset) > FEW:
        return _fitted(query, term, part, inward=True)
    return found


def _fitted(
    query: BoundedQuery, term: Rank, part: NoisePrice, *, offset: int = 0, inward: bool = False
) -> GroupedQuantile:
    """The choice with the largest rate for this share of the price.

    Choices permute and flip where their promise is pure; elsewhere the exponential mechanism is better.
    """
    one = GroupedQuantile(
        rate=1,
        level=term.level,
        low=term.quantised.lower,
        high=term.quantised.upper,
        each=query.max_rows_per_group,
        groups=query.max_groups,
        cells=query.cells,
        relation=query.changes,
        offset=offset,
        total=query.max_rows,
        inward=inward,
        flip=isinstance(part, PureDP) and not inward,
    )
    return one.fitted(part.to_zero_concentrated() if isinstance(part, GaussianDP) else part)


def _with_threshold(query: BoundedQuery, price: ApproximateDP) -> list[AggregatePlan]:
    """The keys get the same share as a term, and all of δ beside pure noise or half of δ beside Gaussian noise.

    Beside Gaussian noise they may have a threshold with such noise, or the optimal selection. Gaussian noise is better
    where people have many groups, because it grows only with the square root of their number.
    """
    share = Fraction(1, len(main_terms(query)) + 1)
    epsilon, half = downward(exact(price.epsilon) * share), downward(exact(price.delta) / 2)
    whole = selection(query, ApproximateDP(epsilon, price.delta))
    single = selection(query, ApproximateDP(epsilon, half))
    beside: list[KeyThreshold] = [single, *_bell_threshold(query, price, half, share)]
    return [
        *(plan for way in pure_ways(price, beside=(whole,)) for plan in _plans(query, way, whole)),
        *(plan for keys in beside for way in gaussian_ways(price, beside=(keys,)) for plan in _plans(query, way, keys)),
        *_counting(query, price),
    ]


def _counting(query: BoundedQuery, price: ApproximateDP) -> list[AggregatePlan]:
    """The plans whose threshold shows the numbers of people by which it selects keys, for the share of this column.

    The optimal selection has no number to show.
    """
    counted = counted_term(query)
    if counted is None:
        return []
    half, far = downward(exact(price.delta) / 2), people(query)
    pure, bell = (shares(query, like)[(counted,)] for like in (PureDP(1.0), GaussianDP(1.0)))

    def laplace(share: Fraction, delta: float) -> Threshold:
        part = ApproximateDP(downward(exact(price.epsilon) * share), delta)
        return Threshold.fitting(part, sensitivity=far.l1, groups=query.max_groups)

    whole, bells = laplace(pure, price.delta), _bell_threshold(query, price, half, bell)
    if pure == bell == 1:
        alone: list[KeyThreshold] = [whole, *bells]
        return [_keys_and_count(query, price, keys, counted) for keys in alone]
    gaussian: list[KeyThreshold] = [laplace(bell, half), *bells]
    thresholds: list[tuple[KeyThreshold, list[Way]]] = [
        (whole, pure_ways(price, beside=(whole,))),
        *((keys, gaussian_ways(price, beside=(keys,))) for keys in gaussian),
    ]
    return [plan for keys, found in thresholds for way in found for plan in _plans(query, way, keys, counted=counted)]


def _keys_and_count(query: BoundedQuery, price: Additive, keys: KeyThreshold, counted: Term) -> AggregatePlan:
    """The threshold is the only measurement."""
    return AggregatePlan((Measurement(KEYS, keys, people(query)),), price, text(query.query), query, counted)


def _outside_an_event(query: BoundedQuery, price: ApproximateZeroConcentratedDP) -> list[AggregatePlan]:
    """The keys get the same share of ρ as a term, and all of δ: Gaussian noise needs none.

    At the same ρ, Laplace noise would need a higher threshold, even for a single group. Where the threshold shows the
    number of people, it has the share of that column, and nothing else measures it.
    """
    counted = counted_term(query)
    share = Fraction(1, len(main_terms(query)) + 1)
    if counted is not None:
        share = shares(query, ZeroConcentratedDP(1.0))[(counted,)]
    part = ApproximateZeroConcentratedDP(downward(exact(price.rho) * share), price.delta)
    keys = GaussianThreshold.fitting(part, sensitivity=people(query).l2, groups=query.max_groups)
    if counted is not None and share == 1:
        return [_keys_and_count(query, price, keys, counted)]
    return [plan for way in ways(price, beside=(keys,)) for plan in _plans(query, way, keys, counted=counted)]


def _bell_threshold(
    query: BoundedQuery, price: ApproximateDP, delta: float, share: Fraction
) -> list[GaussianThreshold]:
    """Gaussian noise for a share of μ², and this δ for keys that pass by chance; none if μ is too small.

    δ + (1 − δ)·δ_μ(ε) is within the price, see `GaussianThreshold.loss`.
    """
    rest = downward((exact(price.delta) - exact(delta)) / (1 - exact(delta)))
    part = GaussianDP.fitting(ApproximateDP(price.epsilon, rest)).share(share)
    if part.mu == 0.0 or delta == 0.0:
        return []
    noise = RoundedGaussian.fitting(part, sensitivity=people(query).l2)
    return [GaussianThreshold.lowest(noise, delta=delta, groups=query.max_groups)]


def total_error(plan: AggregatePlan) -> Fraction:
    """The sum of all errors, and of the number of people with which a key is shown: all relative to one person's."""
    keys = plan.threshold.error() if plan.threshold is not None else 0
    shown = plan.query.shown_terms
    return sum((_relative_error(each) for each in plan.noisy if each.term in shown), Fraction(keys))


def _relative_error(noisy: NoisyTerm) -> Fraction:
    """The error relative to one unit's largest contribution, so that terms in different units can be compared."""
    if noisy.choice is not None:
        return exact(noisy.choice.error()) / noisy.choice.each
    return Fraction(noisy.noise.error(), noisy.distance.largest)


def refuse_unknown_keys(query: BoundedQuery, price: Promise) -> None:
    if first := next((key for key in query.keys if key.keys is None), None):
        unknown = [key.name for key in query.keys if key.keys is None]
        raise QuestionError(
            given=f"The keys of {', '.join(unknown)} are not public, so the price needs δ > 0, but it is "
            f"{write(price)}.",
            do=_make_public(first.of),
        )


def _make_public(of: Typed) -> str:
    """What to do about a key that is not public: only columns can have declared keys, under their own names."""
    if of.column is not None:
        name = of.column.name
        return (
            f"Declare them with keys={{{name!r}: […]}} (--keys {name}=A,B), list them in the question with WHERE "
            f"{of.text} IN (…), or set the budget and the price in zcdp(ρ, δ) or approximate(ε, δ)."
        )
    bounded = [part.column.name for part in of.parts if part.column is not None]
    if of.what in ("DATE_TRUNC", "//") and len(bounded) == 1:
        name = bounded[0]
        return (
            f"Give public bounds={{{name!r}: (low, high)}} (--bounds {name}=LOW:HIGH), list them in the question with "
            f"WHERE {of.text} IN (…), or set the budget and the price in zcdp(ρ, δ) or approximate(ε, δ)."
        )
    return (
        f"List them in the question with WHERE {of.text} IN (…), or set the budget and the price in zcdp(ρ, δ) or "
        "approximate(ε, δ)."
    )
