"""Gaussian composition: many Gaussians are one, exactly."""

from __future__ import annotations

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.loss import total_loss
from sitr.accounting.theorems.theorem import Theorem, Total, above_zero, always
from sitr.accounting.views import as_gaussian, each
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.numbers import exact


def gaussian(schedule: Schedule, delta: float) -> Total:
    """√Σμ², then the exact profile of that Gaussian.      [DRS22, Cor. 3.3; BW18, Thm 8]

    >>> schedule = Schedule((Part((GaussianDP(0.5),), times=4),))
    >>> gaussian(schedule, 1e-6).upper == GaussianDP(1.0).to_approximate(delta=1e-6).epsilon
    True
    """
    seen = each(schedule, as_gaussian)
    whole = GaussianDP.compose(promise * times for promise, times in seen)
    epsilon = whole.to_approximate(delta=above_zero(delta)).epsilon
    if not all(map(_attained, schedule.parts)):
        return Total(0.0, epsilon, two_sided=False)
    noise = total_loss(Schedule(tuple(Part((promise,), times) for promise, times in seen)))
    return Total(min(epsilon, noise.epsilon(delta=delta).lower), epsilon, two_sided=True)


def _attained(part: Part) -> bool:
    """Whether Gaussian noise itself keeps all promises of the step: then its profile is the true one."""
    noise = as_gaussian(part)
    return noise in part.promises and all(_keeps(noise, promise) for promise in part.promises)


def _keeps(noise: GaussianDP, promise: Promise) -> bool:
    if isinstance(promise, ConcentratedDP):  # true of this noise, but not of every mechanism that keeps GaussianDP
        return exact(noise.mu) ** 2 / 2 <= exact(promise.mu) and noise.mu <= promise.tau
    return noise.covers(promise)


# Σμ² is a valid filter [ST22], and the profile grows with it.
GAUSSIAN = Theorem(name="gaussian", source="[DRS22, Cor. 3.3; ST22]", total=gaussian, adaptive=always)
