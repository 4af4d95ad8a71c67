"""The loss of a release on a random sample of people."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from sitr.errors import InvalidPromise
from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import Law
from sitr.loss.loss import Loss
from sitr.numbers import Number, finite, float_above


class Sampling(Enum):
    """How the sample is drawn, and with it which tables are neighbours.

    `POISSON`: each person is in it with probability q, independently; one person is added or removed.
    `SUBSET`: all samples of a fixed size, a fraction q of everybody, are equally likely; one person is replaced.
    """

    POISSON = "poisson"
    SUBSET = "subset"


def sampled(loss: Loss, *, rate: Number, sampling: Sampling = Sampling.POISSON) -> Loss:
    """The loss of one release on a sample. The loss grows with the rate, so a rate without a float is rounded up.

    One step of training with real Gaussian noise, and a thousand of them, each on a fresh sample:

    >>> from sitr.loss import gaussian
    >>> step = sampled(gaussian(sigma=0.8), rate=0.01)
    >>> step.epsilon(delta=1e-5), (step * 1000).epsilon(delta=1e-5)
    (Interval(lower=0.48..., upper=0.48...), Interval(lower=..., upper=...))
    """
    part = share(rate)
    if part == 0 or not loss.laws:
        return Loss((), loss.bound)
    if part == 1:
        return loss
    if not one_release(loss, sampling=sampling):
        raise InvalidPromise(
            wanted="the loss of one release per sample",
            given=f"{sum(times for _, times in loss.laws)} releases on the same sample",
            do="Draw a new sample for each: Repeated(Subsampled(mechanism, rate), times), not the other way round.",
        )
    proper, slips = _split(loss, sampling)
    kind, other = (PoissonLaw, SubsetLaw) if sampling is Sampling.POISSON else (SubsetLaw, PoissonLaw)
    found = []
    for law, _ in proper:
        if isinstance(law, other):
            raise InvalidPromise(
                given="One sample is for tables that add or remove a person, the other for tables that replace one.",
                do="Draw both in the same way.",
            )
        # A sample of a sample is a smaller sample.
        inner, rest = (law.inner, part * Fraction(law.rate)) if isinstance(law, kind) else (law, part)
        found.append((kind(inner, float_above(rest)), 1))
    return Loss((*found, *slips), loss.bound)


def one_release(loss: Loss, *, sampling: Sampling = Sampling.POISSON) -> bool:
    """Whether this is the loss of one release, which is known through a sample: one law, added once.

    In a Poisson sample, laws that only lose nothing or everything may be added to it. Let the laws P and Q of such a
    release have a common part of mass c. Then the answers of both releases have a common part of mass c, too, in which
    only the first one differs; and in a sample, which mixes the answers with and without a person, likewise.
    """
    proper, _ = _split(loss, sampling)
    return sum(times for _, times in proper) <= 1


def _split(loss: Loss, sampling: Sampling) -> tuple[list[tuple[Law, int]], list[tuple[Law, int]]]:
    """The laws with finite losses, and the laws that lose nothing or everything, which a Poisson sample may contain."""
    slips: list[tuple[Law, int]] = [
        (law, times)
        for law, times in loss.laws
        if isinstance(law, FiniteLaw) and law.losses == (0.0,) and sampling is Sampling.POISSON
    ]
    return [part for part in loss.laws if part not in slips], slips


def share(rate: Number) -> Fraction:
    """The rate of a sample as an exact number from 0 to 1.

    >>> share(0.25)
    Fraction(1, 4)
    """
    part = finite(rate)
    if part is None or not 0 <= part <= 1:
        raise InvalidPromise(
            wanted="a rate from 0 to 1",
            given=repr(rate),
            do="Give the probability that a person is in the sample, such as 0.01.",
        )
    return part
