"""What a question costs: noise fitted to a price, before any data are read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, downward, exact, upward
from sitr.questions.aggregate.bind import BoundedQuery, Term
from sitr.questions.aggregate.stability import people, stability

LEAST = 1e-100
"""Less is no price: it could end at 0 when it is shared, and nobody could use the answer."""


@dataclass(frozen=True, slots=True)
class Noisy:
    """One column of the answer with the noise that it will get, in granules."""

    term: Term
    distance: Distance
    noise: Laplace | Gaussian

    @property
    def granularity(self) -> Fraction:
        """What one granule is worth."""
        return self.term.quantised.granularity if self.term.quantised else Fraction(1)

    def error(self, *, confidence: Number = 0.95) -> float:
        """The half-width of the interval around each released number that holds the exact one, in the column's unit."""
        return upward(self.noise.error(confidence=confidence) * self.granularity)


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with all its noise: everything that will happen to the data, and what it promises.

    `price` is what will be charged: the price asked, without a δ that this noise does not need. `tail_delta` is the
    part of δ for the finite tail of Gaussian noise; a threshold's δ is mass at L = +∞.
    """

    query: BoundedQuery
    price: Additive
    columns: tuple[Noisy, ...]
    threshold: Threshold | None = None
    tail_delta: float = 0.0

    def promise(self) -> Additive:
        """What the mechanisms together promise: at most the price."""
        # Laplace and Gaussian noise are for everybody: nothing here is random.
        noise = cast("Additive", Composed(tuple(column.noise for column in self.columns)).promise())
        if isinstance(noise, ZeroConcentratedDP) and isinstance(self.price, ApproximateDP):
            noise = noise.to_approximate(delta=self.tail_delta)
        if self.threshold is None:
            return noise
        shown = self.threshold.promise()
        rest = noise if isinstance(noise, ApproximateDP) else ApproximateDP(noise.epsilon, 0.0)  # type: ignore[union-attr]
        return shown + rest

    def infinite_mass(self) -> float:
        """P(L = +∞): the chance that somebody's presence is exposed outright, apart from the finite tail."""
        return self.threshold.promise().delta if self.threshold else 0.0


def fit(query: BoundedQuery, price: Promise) -> Plan:
    """The plan with the least error that the price can pay; each column gets an equal share."""
    match price:
        case PureDP() if price.epsilon >= LEAST:
            _refuse_unknown_keys(query, price)
            return _useful(Plan(query, price, _laplace(query, price)))
        case ZeroConcentratedDP() if price.rho >= LEAST:
            _refuse_unknown_keys(query, price)
            _refuse_offset(price)
            return _useful(Plan(query, price, _gaussian(query, price)))
        case ApproximateDP() if price.epsilon >= LEAST and (price.delta == 0 or LEAST <= price.delta < 1):
            return _useful(_approximate(query, price))
    raise QuestionError(
        wanted="A price that buys an answer was wanted: pure(ε), zcdp(ρ), or approximate(ε, δ) with δ < 1; "
        f"ε, ρ and a δ above 0 are at least {LEAST}.",
        given=f"{price!r} was given.",
        do="Pay a little more: with no privacy loss there is no answer.",
    )


def _useful(plan: Plan) -> Plan:
    """The plan, if its errors are numbers that can be shown."""
    lost = [noisy.term.name for noisy in plan.columns if noisy.noise.error() * noisy.granularity > sys.float_info.max]
    if lost:
        raise QuestionError(
            wanted=f"An answer with errors below {sys.float_info.max:.2g} was wanted.",
            given=f"For {plan.price!r} the error of {', '.join(lost)} is larger.",
            do="Pay a little more, or describe the data set with narrower bounds or smaller caps.",
        )
    return plan


def _approximate(query: BoundedQuery, price: ApproximateDP) -> Plan:
    """Laplace or Gaussian noise, whichever errs less here; both are fitted without looking at the data."""
    count = len(query.terms)
    half = downward(exact(price.delta) / 2)
    if query.known:
        candidates = [Plan(query, ApproximateDP(price.epsilon, 0.0), _laplace(query, PureDP(price.epsilon)))]
        noise_price, tail, threshold = price, price.delta, None
    else:
        if price.delta == 0.0:
            _refuse_unknown_keys(query, price)
        key_epsilon = downward(exact(price.epsilon) / (count + 1))
        rest = downward(exact(price.epsilon) - exact(key_epsilon))
        everything = _threshold(query, ApproximateDP(key_epsilon, price.delta))
        candidates = [Plan(query, price, _laplace(query, PureDP(rest)), everything)]
        noise_price, tail = ApproximateDP(rest, half), half
        threshold = _threshold(query, ApproximateDP(key_epsilon, half))
    rho = ZeroConcentratedDP.fitting(noise_price)
    if rho.rho > 0:
        candidates.append(Plan(query, price, _gaussian(query, rho), threshold, tail))
    return min(candidates, key=lambda plan: sum(_relative_error(column) for column in plan.columns))


def _laplace(query: BoundedQuery, price: PureDP) -> tuple[Noisy, ...]:
    part = price.share(Fraction(1, len(query.terms)))
    distances = [(term, stability(query, term)) for term in query.terms]
    return tuple(Noisy(term, far, Laplace.fitting(part, sensitivity=far.l1)) for term, far in distances)


def _gaussian(query: BoundedQuery, price: ZeroConcentratedDP) -> tuple[Noisy, ...]:
    part = price.share(Fraction(1, len(query.terms)))
    distances = [(term, stability(query, term)) for term in query.terms]
    return tuple(Noisy(term, far, Gaussian.fitting(part, sensitivity=far.l2)) for term, far in distances)


def _threshold(query: BoundedQuery, price: ApproximateDP) -> Threshold:
    return Threshold.fitting(price, sensitivity=people(query).l1, groups=query.max_groups)


def _relative_error(column: Noisy) -> Fraction:
    """Errors in different units are compared by what one unit can contribute."""
    return Fraction(column.noise.error(), column.distance.largest)


def _refuse_offset(price: ZeroConcentratedDP) -> None:
    if price.xi > 0:
        raise QuestionError(
            wanted="A price in zcdp(ρ) without ξ was wanted: the loss of Gaussian noise starts at 0.",
            given=f"{price!r} was given.",
            do="No noise here needs ξ: ask with xi=0.",
        )


def _refuse_unknown_keys(query: BoundedQuery, price: Promise) -> None:
    if unknown := [key.name for key in query.keys if key.keys is None]:
        raise QuestionError(
            wanted="Keys that are not public can only be shown above a threshold, and a threshold needs δ > 0.",
            given=f"The keys of {', '.join(unknown)} are not described, and the price is {price!r}.",
            do=f"Describe them with keys={{{unknown[0]!r}: […]}}, or use a budget and a price in ApproximateDP.",
        )
