"""The events of `dp_accounting`, read as losses and written from them (extra `dp-accounting`).

An event describes what was done. As in that library, the neighbouring relation is an argument of `from_event` and
`to_event`. A quotient of parameters may have no exact float, so losses are rounded upward.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.errors import InvalidPromise
from sitr.flavors.promise import count
from sitr.interop.noise_multiplier import (
    checked_noise,
    checked_rate,
    lost,
    noise_for,
    poisson,
    written,
)
from sitr.loss.forms.finite import FiniteLaw, pair
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import Law
from sitr.loss.loss import Loss
from sitr.namespace import needs
from sitr.neighbors.relation import Relation
from sitr.numbers import float_above, float_below

try:
    from dp_accounting import dp_event
    from dp_accounting.dp_event import DpEvent
except ModuleNotFoundError:
    needs("dp_accounting", extra="dp-accounting")
    raise

LARGEST = 500.0
"""The largest loss of one response that an event can describe in floats."""

NEAR = 64
"""How many floats are tried to find an event that has at least the given loss."""


def from_event(event: DpEvent, *, relation: Relation = Relation.ADD_REMOVE) -> Loss:
    """The privacy loss of an event. Nested counts multiply.

    >>> step = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(0.8))
    >>> from_event(dp_event.SelfComposedDpEvent(step, 10_000)).epsilon(delta=1e-5)
    Interval(lower=10.0..., upper=10.05...)
    """
    match event:
        case dp_event.NoOpDpEvent():
            return Loss(())
        case dp_event.SelfComposedDpEvent(event=inner, count=number):
            times = count(number, what="count", least=0)
            return from_event(inner, relation=relation) * times if times else Loss(())
        case dp_event.ComposedDpEvent(events=events):
            return Loss.compose(from_event(one, relation=relation) for one in events)
        case dp_event.PoissonSampledDpEvent(sampling_probability=rate, event=inner):
            _needs(Relation.ADD_REMOVE, relation, event)
            law = _single(from_event(inner, relation=relation), event)
            return poisson(law, rate=checked_rate(rate, "sampling_probability"))
        case dp_event.SampledWithoutReplacementDpEvent(source_dataset_size=people, sample_size=sample, event=inner):
            _needs(Relation.REPLACE_ONE, relation, event)
            law = _single(from_event(inner, relation=relation), event)
            sample = count(sample, what="sample_size", least=0)
            return _subset(law, sample, count(people, what="source_dataset_size", least=0))
        case dp_event.NonPrivateDpEvent():
            raise InvalidPromise(
                wanted="an event that keeps a promise",
                given="a NonPrivateDpEvent, whose loss is infinite",
                do="Leave it out only if it touched no data of protected people.",
            )
    return _mechanism(event, relation)


def _mechanism(event: DpEvent, relation: Relation) -> Loss:
    moves = _moves(relation)
    match event:
        case dp_event.GaussianDpEvent(noise_multiplier=noise):
            return Loss.of(GaussianLaw(lost(checked_noise(noise, "noise_multiplier"), moves=moves)))
        case dp_event.LaplaceDpEvent(noise_multiplier=noise):
            return Loss.of(LaplaceLaw(lost(checked_noise(noise, "noise_multiplier"), moves=moves)))
        case dp_event.DiscreteLaplaceDpEvent(noise_parameter=noise, sensitivity=sensitivity):
            scale = _scale(checked_noise(noise, "noise_parameter"))
            return Loss.of(DiscreteLaplaceLaw(scale, moves * count(sensitivity, what="sensitivity")))
        case dp_event.RandomizedResponseDpEvent(noise_parameter=noise, num_buckets=buckets):
            _needs(Relation.REPLACE_ONE, relation, event)
            noise, buckets = checked_rate(noise, "noise_parameter"), count(buckets, what="num_buckets")
            return Loss(()) if buckets == 1 or noise == 1.0 else Loss.of(_response(noise, buckets))
    raise InvalidPromise(
        wanted="an event whose privacy loss Sitr knows",
        given=repr(event),
        do="Describe it with Gaussian, Laplace, response, sampling and composition.",
    )


def to_event(loss: Loss, *, relation: Relation = Relation.ADD_REMOVE) -> DpEvent:
    """The event with this loss; `from_event` never reads it as a smaller one. A loss without an event is an error.

    >>> to_event(Loss.of(PoissonLaw(GaussianLaw(1.25), 0.01), 10_000))
    SelfComposedDpEvent(event=PoissonSampledDpEvent(sampling_probability=0.01,
        event=GaussianDpEvent(noise_multiplier=0.8)), count=10000)
    """
    events = []
    for law, times in loss.laws:
        event = _event(law, relation)
        events.append(event if times == 1 else dp_event.SelfComposedDpEvent(event, times))
    if len(events) == 1:
        return events[0]
    return dp_event.ComposedDpEvent(events) if events else dp_event.NoOpDpEvent()


def _event(law: Law, relation: Relation) -> DpEvent:
    moves = _moves(relation)
    match law:
        case GaussianLaw(mu):
            return dp_event.GaussianDpEvent(noise_for(mu, moves=moves))
        case LaplaceLaw(epsilon):
            return dp_event.LaplaceDpEvent(noise_for(epsilon, moves=moves))
        case DiscreteLaplaceLaw(scale, shift) if shift % moves == 0:
            return dp_event.DiscreteLaplaceDpEvent(_noise_parameter(scale), shift // moves)
        case PoissonLaw(inner, rate, added=False) if relation is Relation.ADD_REMOVE:
            return dp_event.PoissonSampledDpEvent(rate, _event(inner, relation))
        case SubsetLaw(inner, rate) if relation is Relation.REPLACE_ONE:
            sample, people = _simplest(rate).as_integer_ratio()
            return dp_event.SampledWithoutReplacementDpEvent(people, sample, _event(inner, relation))
        case FiniteLaw() if relation is Relation.REPLACE_ONE and (found := _response_event(law)):
            return found
    raise InvalidPromise(
        wanted=f"a loss that an event for {relation.value} neighbours can describe",
        given=repr(law),
        do="Pass the other relation if the loss was computed for it, or keep the loss in Sitr.",
    )


def _moves(relation: Relation) -> int:
    """A value of norm at most 1 is added or removed, or replaced: the sum moves by 1 or by 2."""
    return 1 if relation is Relation.ADD_REMOVE else 2


def _needs(needed: Relation, relation: Relation, event: DpEvent) -> None:
    if relation is not needed:
        raise InvalidPromise(
            wanted=f"{needed.value} neighbours for a {type(event).__name__}",
            given=relation.value,
            do=f"Pass relation=Relation.{needed.name} if the data are protected in that way.",
        )


def _single(loss: Loss, event: DpEvent) -> Law | None:
    """The single law of a mechanism on a sample; None if nothing is lost."""
    match loss.laws:
        case ():
            return None
        case ((law, 1),):
            return law
    raise InvalidPromise(
        wanted=f"one mechanism inside a {type(event).__name__}",
        given="several on one sample, which only Gaussians can share",
        do="Describe a new sample for each of them, if that is what was done.",
    )


def _subset(law: Law | None, sample: int, people: int) -> Loss:
    if sample > people:
        raise InvalidPromise(
            wanted="a sample no larger than the data set",
            given=f"{sample} of {people} people",
            do="Check sample_size and source_dataset_size: without replacement nobody is drawn twice.",
        )
    if law is None or sample == 0:
        return Loss(())
    return Loss.of(law if sample == people else SubsetLaw(law, float_above(Fraction(sample, people))))


def _simplest(rate: float) -> Fraction:
    """The simplest fraction that is read as this rate, because a loss has only the ratio of the two sizes."""
    shares = (Fraction(rate).limit_denominator(10**digits) for digits in range(18))
    return next((share for share in shares if float_above(share) == rate), Fraction(rate))


def _scale(noise: float) -> float:
    """The scale b = 1/a of e^{−a|x|} = e^{−|x|/b}, rounded down, to less noise."""
    return float_below(1 / Fraction(noise))


def _noise_parameter(scale: float) -> float:
    return written(1 / scale, lambda noise: -_scale(noise), least=-scale)


def _response(noise: float, buckets: int) -> FiniteLaw:
    """The truth with probability 1 − p, and otherwise any of all k answers, the true one included."""
    p = Fraction(checked_noise(noise, "noise_parameter"))
    lie = p / buckets
    truth, others = 1 - p + lie, (buckets - 2) * lie
    return pair((truth, lie, others), (lie, truth, others)) if others else pair((truth, lie), (lie, truth))


def _response_event(law: FiniteLaw) -> DpEvent | None:
    """Randomized response with losses −ε, perhaps 0, and ε, where e^ε = 1 + k(1 − p)/p; None for any other law."""
    if law.infinite or law.beyond or len(law.losses) not in (2, 3) or not 0.0 < law.greatest < LARGEST:
        return None
    others = law.log_masses[1] - law.log_masses[0] if len(law.losses) == 3 else -math.inf
    buckets = 2 + round(math.exp(min(others, LARGEST)))
    noise = buckets / (math.expm1(law.greatest) + buckets)
    for _ in range(NEAR):
        if (found := _response(noise, buckets)).greatest >= law.greatest:
            break
        noise = math.nextafter(noise, 0.0)
    alike = len(found.losses) == len(law.losses) and all(
        math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12 + buckets * 2.0**-51)  # the next p moves ε by k·2⁻⁵²
        for one, other in zip(found.losses + found.log_masses, law.losses + law.log_masses, strict=True)
    )
    return dp_event.RandomizedResponseDpEvent(noise, buckets) if alike else None
