"""Gaussian composition: many Gaussians are one, exactly."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.theorem import Theorem, Total, above_zero, always
from sitr.accounting.views import as_gaussian, each
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP, normal
from sitr.flavors.promise import Promise
from sitr.numbers import ball, downward, exact


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
    variance = sum((exact(promise.mu) ** 2 * times for promise, times in seen), Fraction(0))
    return Total(_below(epsilon, variance, delta), epsilon, two_sided=True)


def _attained(part: Part) -> bool:
    """Does Gaussian noise itself keep all promises of the step? Then its profile is the true one."""
    noise = as_gaussian(part)
    return noise in part.promises and all(_keeps(noise, promise) for promise in part.promises)


def _keeps(noise: GaussianDP, promise: Promise) -> bool:
    if isinstance(promise, ConcentratedDP):  # true of this noise, though not of all that keeps GaussianDP
        return exact(noise.mu) ** 2 / 2 <= exact(promise.mu) and noise.mu <= promise.tau
    return noise.covers(promise)


def _below(epsilon: float, variance: Fraction, delta: float) -> float:
    """A lower bound: a little below ε the profile is certainly above δ."""
    if variance == 0:
        return 0.0
    gap = Fraction(1, 2**50)
    while gap < 1:
        lower = downward(exact(epsilon) * (1 - gap))
        if _profile(variance, lower) > ball(delta):
            return lower
        gap *= 2
    return 0.0


def _profile(variance: Fraction, epsilon: float) -> arb:
    bits = 64
    while True:
        with ctx.workprec(bits):
            mu, e = ball(variance).sqrt(), ball(epsilon)
            delta = normal(mu / 2 - e / mu) - e.exp() * normal(-mu / 2 - e / mu)
            # The two terms nearly cancel far out in the tail: raise the precision until they do not.
            if delta.rad() < abs(delta.mid()) * 1e-17 or bits > 1 << 16:
                return delta
        bits *= 2


# Σμ² is a valid filter [ST22], and the profile grows with it.
GAUSSIAN = Theorem(name="gaussian", source="[DRS22, Cor. 3.3; ST22]", total=gaussian, adaptive=always)
