"""Moments of the loss of known mechanisms, as curves for `RenyiDP`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from sitr.accounting.quadrature import sampled_moment
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.curve import Curve, PointCurve
from sitr.flavors.gaussian import GaussianDP
from sitr.mechanisms.subsampled import amplified
from sitr.numbers import ball, downward, exact, upper, upward
from sitr.precision import precision, sharp

LARGEST_ORDER = 1024
"""Up to here the sampled Gaussian's moments are summed; beyond, sampling is ignored, which is sound."""

_TINY, _HUGE = 1e-140, 2.0**60
"""A smaller μ is rounded up, which is sound: its square is no float. Logarithms are not larger."""


@dataclass(frozen=True, slots=True)
class LaplaceMoments:
    """D_α of Laplace noise with loss at most ε = Δ/b, exactly.

    D_α = ln[ α/(2α−1)·e^{(α−1)ε} + (α−1)/(2α−1)·e^{−αε} ]/(α − 1).      [Mir17, Prop. 6]

    >>> LaplaceMoments(1.0)(2.0)
    0.6191...
    """

    epsilon: float

    def __call__(self, order: float, /) -> float:
        if self.epsilon == 0.0:
            return 0.0
        with precision(192):
            alpha, epsilon = ball(order), ball(self.epsilon)
            # e^{(α−1)ε} out of the bracket, so that nothing overflows.
            rest = (alpha + (alpha - 1) * ((1 - 2 * alpha) * epsilon).exp()) / (2 * alpha - 1)
            return min(self.epsilon, upper(epsilon + rest.log() / (alpha - 1)))

    @precision()
    def delta(self, *, epsilon: float) -> float:
        """δ(ε') = 1 − e^{(ε' − ε)/2} up to ε, exactly: the loss is at its largest half of the time.  [BBG18, Thm 3]

        >>> LaplaceMoments(1.0).delta(epsilon=0.5)
        0.2211...
        """
        return upper(-((ball(epsilon) - ball(self.epsilon)) / 2).expm1()) if epsilon < self.epsilon else 0.0

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """ε' = max(0, ε + 2 ln(1 − δ)).  Tight."""
        return ApproximateDP(max(0.0, upper(ball(self.epsilon) + 2 * (-ball(delta)).log1p())), delta)


@dataclass(frozen=True, slots=True)
class SampledGaussian:
    """Gaussian noise on a Poisson sample: each person is in it with probability q; μ = Δ/σ; one is added or removed.

    D_α = ln Σ_k C(α,k)(1−q)^{α−k} q^k e^{(k²−k)μ²/2}/(α − 1) at whole orders α.      [MTZ19, Sec. 3.3]

    Between them the expectation inside D_α is summed on a grid. Where that would take too many places, (α − 1)D_α,
    which is convex in α, is bounded by its chord.      [vEH14, Cor. 2]

    >>> curve = SampledGaussian(rate=0.01, mu=1.0)
    >>> curve(2.0), curve(2.5)
    (0.000171..., 0.000217...)
    """

    rate: float
    mu: float

    def __call__(self, order: float, /) -> float:
        moment = self._moment(order) if order <= LARGEST_ORDER and self.rate < 1.0 else math.inf
        if moment < self.mu * self.mu * order / 2.001:
            return moment
        # D_α is quasi-convex: a sample never reveals more than all data.
        return min(moment, upward(exact(self.mu) ** 2 * exact(order) / 2))

    def _moment(self, order: float) -> float:
        below = math.floor(order)
        if below == order:
            return _sampled_moment(self.rate, self.mu, below)
        if math.isfinite(found := _between_whole_orders(self.rate, self.mu, order)):
            return found
        if order < 2:  # the chord from 0 at order 1 to order 2 says that D_α ≤ D₂
            return _sampled_moment(self.rate, self.mu, 2)
        ends = [(float(n), _sampled_moment(self.rate, self.mu, n)) for n in (below, below + 1)]
        return PointCurve(tuple(ends))(order) if math.isfinite(ends[1][1]) else math.inf

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """ε = ln(1 + q(e^{ε'} − 1)), where (ε', δ/q) is kept without sampling.  Tight.      [BBG18, Thm 8]"""
        if self.rate == 0.0 or exact(delta) >= exact(self.rate):
            return ApproximateDP(0.0, delta)
        whole = GaussianDP(self.mu).to_approximate(delta=downward(exact(delta) / exact(self.rate)))
        return ApproximateDP(amplified(whole.epsilon, 0.0, rate=self.rate)[0], delta)


@dataclass(frozen=True, slots=True)
class Least:
    """The least of several curves: all of them hold at once."""

    curves: tuple[Curve, ...]

    def __call__(self, order: float, /) -> float:
        return min(curve(order) for curve in self.curves)


@lru_cache(maxsize=8192)
def _sampled_moment(rate: float, mu: float, order: int) -> float:
    """The terms k = 0 and 1 are moved into the others, so that ln(1 + x) keeps all digits of a small x.

    The logarithm of each term is a sum of parts that may nearly cancel. So the parts are cut at a common power of two,
    g: the upper parts have at most 52 bits and multiply and add without rounding, and the lower parts are less than gα²
    in all, 2⁻²⁹ of the largest sum of parts. With u = 2⁻⁵³ and exp, log, expm1 and log1p within 4 ulp, that is 8u,
    a logarithm E is then known within u(|E| + 9|F| + 10) and a few times 2⁻²⁹u of that largest sum, where
    F = ln(1 − e^{−x}) is the part that cannot be cut: the float x is within 2u, and 1 − e^{−x} moves by no more than x.
    To the sum, whose n < α terms are positive, the top's subtraction, exp and addition bring at most (2n + 8)u.
    """
    if rate == 0.0 or mu == 0.0:
        return 0.0
    k, pairs, binomials, lack = _binomials(order)
    rest, share, half = _parameters(rate, max(mu, _TINY))
    largest = order * (1 - rest[0] - share[0] + order * half[0])
    if largest > _HUGE:
        return math.inf  # then a sample reveals as much as all data, to all digits
    grid = 2.0 ** (math.frexp(largest)[1] - 50)
    cut = np.rint(binomials / grid) * grid
    (a, more_a), (b, more_b), (c, more_c) = (_cut(number, grid) for number in (rest, share, half))
    above = cut + (order * a + k * (b - a) + pairs * c)
    below = (binomials - cut + lack) + (order * more_a + k * (more_b - more_a) + pairs * more_c)
    uncut = np.log(-np.expm1(-half[0] * pairs))
    logs = above + (below + uncut)
    logs += 2.0**-53 * (1.5 * np.abs(logs) + 10 * np.abs(uncut) + (16 + 2.0**-24 * largest))
    top = float(logs.max())
    whole = float(np.exp(logs - top).sum()) * (1 + (2 * order + 16) * 2.0**-53)
    moment = math.log1p(math.exp(top) * whole) if top < 700 else top + math.log(whole)
    # The last functions bring less than 32u; a float is read as the decimal next to it. The smallest floats have no
    # digits to spare: there each step is off by up to one of them, not by u.
    return moment / (order - 1) * (1 + 2.0**-48) + 16 * math.ulp(0.0)


@lru_cache(maxsize=8192)
def _between_whole_orders(rate: float, mu: float, order: float) -> float:
    if rate == 0.0 or mu == 0.0:
        return 0.0
    mu = max(mu, _TINY)
    (log_rest, _), (log_rate, _), _ = _parameters(rate, mu)
    return sampled_moment(rate, mu, order, log_rest=log_rest, log_rate=log_rate)


def _cut(number: tuple[float, float], grid: float) -> tuple[float, float]:
    high, lack = number
    cut = round(high / grid) * grid
    return cut, high - cut + lack


@lru_cache(maxsize=2048)
def _parameters(rate: float, mu: float) -> tuple[tuple[float, float], ...]:
    """ln(1 − q), ln q and μ²/2, each as a float and the remainder."""
    with precision(128):
        return tuple(_float(number) for number in ((-ball(rate)).log1p(), ball(rate).log(), ball(mu) ** 2 / 2))


@lru_cache(maxsize=LARGEST_ORDER)
def _binomials(order: int) -> tuple[NDArray[np.float64], ...]:
    """For k = 2 … α: k, k(k − 1), and ln C(α, k) as a float and the remainder."""
    k = np.arange(2.0, order + 1)
    with precision(128):
        logs = np.array([_float(arb(fmpz(math.comb(order, n))).log()) for n in range(2, order + 1)])
    return k, k * (k - 1), logs[:, 0], logs[:, 1]


def _float(number: arb) -> tuple[float, float]:
    high = float(sharp(number, bits=70, zero=120).mid())
    return high, float(number - arb(high))
