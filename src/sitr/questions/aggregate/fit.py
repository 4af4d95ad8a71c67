"""The noise that a price pays for in an aggregate question, fitted before any row is read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, downward, exact
from sitr.plans.noise import LEAST, largest_mu
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.bind import BoundedQuery, Term
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.stability import people, stability

KEYS = ""
"""The name of the measurement that decides which keys are shown; no column of an answer can have this name."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of the answer, which shows the numbers of one measurement."""

    term: Term
    measured: Measurement

    @property
    def noise(self) -> Noise:
        assert isinstance(self.measured.mechanism, Noise)
        return self.measured.mechanism

    @property
    def distance(self) -> Distance:
        assert self.measured.distance is not None
        return self.measured.distance

    @property
    def granularity(self) -> Fraction:
        """The value of one granule."""
        return self.measured.granularity

    def error(self, *, confidence: Number = 0.95) -> float:
        """The half-width of the interval around each number, in the column's unit."""
        return self.measured.error(confidence=confidence)


@dataclass(frozen=True, slots=True)
class AggregatePlan(Plan):
    """A plan for a bounded query: one measurement per column, and one for the keys if they are not public."""

    query: BoundedQuery

    @property
    def columns(self) -> tuple[Shown, ...]:
        """The columns of the answer."""
        return tuple(Shown(term, self[term.name]) for term in self.query.terms)

    @property
    def threshold(self) -> Threshold | None:
        """The mechanism that decides which keys are shown; None if all keys are public."""
        found = [each.mechanism for each in self.measurements if each.name == KEYS]
        assert not found or isinstance(found[0], Threshold)
        return found[0] if found else None  # type: ignore[return-value]


def fit(query: BoundedQuery, price: Promise) -> AggregatePlan:
    """The plan with the least error at this price; each column gets an equal share."""
    match price:
        case PureDP() if price.epsilon >= LEAST:
            _refuse_unknown_keys(query, price)
            return _useful(_plan(query, price, _laplace(query, price)))
        case ZeroConcentratedDP() if price.rho >= LEAST:
            _refuse_unknown_keys(query, price)
            _refuse_offset(price)
            return _useful(_plan(query, price, _gaussian(query, price)))
        case ApproximateDP() if price.epsilon >= LEAST and (price.delta == 0 or LEAST <= price.delta < 1):
            return _useful(_approximate(query, price))
    raise QuestionError(
        wanted=f"a price of pure(ε), zcdp(ρ) or approximate(ε, δ) with δ < 1, each number at least {LEAST}",
        given=repr(price),
        do="Pay a little more: without any privacy loss there is no answer.",
    )


def _useful(plan: AggregatePlan) -> AggregatePlan:
    """The plan, unless an error is too large for a double."""
    lost = [shown.term.name for shown in plan.columns if shown.noise.error() * shown.granularity > sys.float_info.max]
    if lost:
        raise QuestionError(
            given=f"At the price {plan.price!r}, the error of {', '.join(lost)} exceeds {sys.float_info.max:.2g}.",
            do="Pay a little more, or describe the data set with narrower bounds or smaller caps.",
        )
    return plan


def _plan(
    query: BoundedQuery, price: Additive, noise: tuple[Measurement, ...], threshold: Threshold | None = None
) -> AggregatePlan:
    keys = () if threshold is None else (Measurement(KEYS, threshold, people(query)),)
    return AggregatePlan((*noise, *keys), price, text(query.query), query)


def _approximate(query: BoundedQuery, price: ApproximateDP) -> AggregatePlan:
    """Laplace or Gaussian noise, whichever has the smaller error; both are fitted without the data."""
    count = len(query.terms)
    half = downward(exact(price.delta) / 2)
    if query.known:
        candidates = [_plan(query, ApproximateDP(price.epsilon, 0.0), _laplace(query, PureDP(price.epsilon)))]
        threshold = None
    else:
        if price.delta == 0.0:
            _refuse_unknown_keys(query, price)
        key_epsilon = downward(exact(price.epsilon) / (count + 1))
        rest = downward(exact(price.epsilon) - exact(key_epsilon))
        everything = _threshold(query, ApproximateDP(key_epsilon, price.delta))
        candidates = [_plan(query, price, _laplace(query, PureDP(rest)), everything)]
        threshold = _threshold(query, ApproximateDP(key_epsilon, half))
    most = largest_mu(price, beside=() if threshold is None else (threshold,)) if price.delta > 0 else None
    if most is not None:
        candidates.append(_plan(query, price, _rounded(query, most), threshold))
    return min(candidates, key=lambda plan: sum(_relative_error(column) for column in plan.columns))


def _laplace(query: BoundedQuery, price: PureDP) -> tuple[Measurement, ...]:
    part = price.share(Fraction(1, len(query.terms)))
    return _measured(query, lambda far: Laplace.fitting(part, sensitivity=far.l1))


def _gaussian(query: BoundedQuery, price: ZeroConcentratedDP) -> tuple[Measurement, ...]:
    part = price.share(Fraction(1, len(query.terms)))
    single = not query.keys  # one number: its loss is known, see `Gaussian.loss`
    return _measured(query, lambda far: Gaussian.fitting(part, sensitivity=far.l2, single=single))


def _rounded(query: BoundedQuery, price: GaussianDP) -> tuple[Measurement, ...]:
    part = price.share(Fraction(1, len(query.terms)))
    return _measured(query, lambda far: RoundedGaussian.fitting(part, sensitivity=far.l2))


def _measured(query: BoundedQuery, noise: Callable[[Distance], Noise]) -> tuple[Measurement, ...]:
    distances = ((term, stability(query, term)) for term in query.terms)
    return tuple(Measurement(term.name, noise(far), far, _granularity(term)) for term, far in distances)


def _granularity(term: Term) -> Fraction:
    return term.quantised.granularity if term.quantised else Fraction(1)


def _threshold(query: BoundedQuery, price: ApproximateDP) -> Threshold:
    return Threshold.fitting(price, sensitivity=people(query).l1, groups=query.max_groups)


def _relative_error(column: Shown) -> Fraction:
    """The error relative to one unit's largest contribution, so that columns in different units can be compared."""
    return Fraction(column.noise.error(), column.distance.largest)


def _refuse_offset(price: ZeroConcentratedDP) -> None:
    if price.xi > 0:
        raise QuestionError(
            wanted="a price in zcdp(ρ) without ξ",
            given=repr(price),
            do="Leave ξ out: Gaussian noise does not need it.",
        )


def _refuse_unknown_keys(query: BoundedQuery, price: Promise) -> None:
    if unknown := [key.name for key in query.keys if key.keys is None]:
        raise QuestionError(
            given=f"The keys of {', '.join(unknown)} are not public, so the price needs δ > 0, but it is {price!r}.",
            do=f"Declare them with keys={{{unknown[0]!r}: […]}}, or set the budget and the price in approximate(ε, δ).",
        )
