"""The loss of a release on a random sample of people."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from sitr.errors import InvalidPromise
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss
from sitr.numbers import Number, exact, float_above


class Sampling(Enum):
    """How the sample is drawn, and with it which tables are neighbours.

    `POISSON`: each person is in it with probability q, independently; one person is added or removed.
    `SUBSET`: all samples of a fixed size, a fraction q of everybody, are equally likely; one person is replaced.
    """

    POISSON = "poisson"
    SUBSET = "subset"


def sampled(loss: Loss, *, rate: Number, sampling: Sampling = Sampling.POISSON) -> Loss:
    """The loss of one release on a sample. Less is lost from fewer people: a rate without a float is rounded up.

    One step of training with real Gaussian noise, and a thousand of them, each on a fresh sample:

    >>> from sitr.loss import gaussian
    >>> step = sampled(gaussian(sigma=0.8), rate=0.01)
    >>> step.epsilon(delta=1e-5), (step * 1000).epsilon(delta=1e-5)
    (Interval(lower=0.48..., upper=0.48...), Interval(lower=..., upper=...))
    """
    part = share(rate)
    if part == 0 or not loss.laws:
        return Loss(())
    if part == 1:
        return loss
    law, times = loss.laws[0]
    others = loss.laws[1:]
    if others or times > 1:
        raise InvalidPromise(
            wanted="The loss through a sample is known for one release per sample only.",
            given=f"{times + sum(many for _, many in others)} releases on the same sample were given.",
            do="Draw a new sample for each: Repeated(Subsampled(mechanism, rate), times), not the other way round.",
        )
    kind, other = (PoissonLaw, SubsetLaw) if sampling is Sampling.POISSON else (SubsetLaw, PoissonLaw)
    if isinstance(law, other):
        raise InvalidPromise(
            wanted="Both samples must be drawn for the same neighbours.",
            given="One is drawn for tables that add or remove a person, the other for tables that replace one.",
            do="Draw both in the same way.",
        )
    if isinstance(law, kind):  # a sample of a sample is a smaller sample
        return Loss.of(kind(law.inner, float_above(part * Fraction(law.rate))))
    return Loss.of(kind(law, float_above(part)))


def share(rate: Number) -> Fraction:
    """The rate of a sample as an exact number from 0 to 1.

    >>> share(0.25)
    Fraction(1, 4)
    """
    try:
        part = exact(rate)
    except (TypeError, ValueError, AttributeError):
        part = Fraction(-1)
    if not 0 <= part <= 1 or isinstance(rate, bool):
        raise InvalidPromise(
            wanted="The rate of a sample is a number from 0 to 1.",
            given=f"{rate!r} was given.",
            do="Give the probability with which a person is in the sample, such as 0.01.",
        )
    return part
