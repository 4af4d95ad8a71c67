"""A step that looks only at a random sample of people promises more."""

from __future__ import annotations

from collections.abc import Iterable

from sitr.accounting.curves import SampledGaussian
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.mechanisms.subsampled import amplified


def subsampled(promises: Iterable[Promise], *, rate: float) -> tuple[Promise, ...]:
    """The promises if each person is in the sample with probability q, independently (Poisson, add-remove).

    (ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ), point by point [BBG18, Thm 8]; Gaussian noise gets the moments of the
    sampled Gaussian [MTZ19, Sec. 3.3]. Other promises have no such arrow and are left out: the result may be empty.

    >>> subsampled((ApproximateDP(1.0, 1e-6),), rate=0.01)
    (ApproximateDP(epsilon=0.01703..., delta=1e-08),)
    """
    found: list[Promise] = []
    for promise in promises:
        match promise:
            case PureDP(epsilon):
                found.append(PureDP(amplified(epsilon, 0.0, rate=rate)[0]))
            case ApproximateDP(epsilon, delta):
                found.append(ApproximateDP(*amplified(epsilon, delta, rate=rate)))
            case PrivacyProfile(points):
                found.append(PrivacyProfile(tuple(amplified(*point, rate=rate) for point in points)))
            case GaussianDP(mu):
                found.append(RenyiDP(SampledGaussian(rate, mu)))
    return tuple(found)
