"""The least μ of Gaussian privacy for Gaussian noise on the integers. It is a little more than Δ/σ.

Let T(k) = P(Y ≥ k) = Φ(−z_k). The loss of Y + Δ against Y increases with the answer, so the best tests say "Y + Δ"
from some answer on: of a false-positive rate T(k + Δ) they reach T(k). The curve between those points is a polygon, and
the curve of two Gaussians is concave: it lies above the polygon if it lies above its corners. So the least μ is the
supremum of z_{k+Δ} − z_k over all whole k.      [DRS22, Def. 2.6] By symmetry z_{1−k} = −z_k.

A difference over Δ is a sum of Δ differences over 1, so μ(Δ) ≤ Δ·μ(1). If a vector moves by whole s_i, each number by
itself keeps s_i·μ(1), and all of them together √(Σs_i²)·μ(1) [DRS22, Cor. 3.3]: the Euclidean length times μ(1), in
whatever direction the vector moves. So real Gaussian noise of that μ dominates it, without any mass at infinity.

Up to σ = `TABULATED`, the first differences are computed with their errors, and the others bounded. For them, `_beyond`
uses ln T(k) = −k²/(2σ²) + ln S(k) − ln θ, with S(k) ≥ 1 decreasing as in `sitr.loss.forms.discrete_gaussian`, and S(k)
− S(k + 1) decreasing too.

For larger σ let s² = σ² − τ², w(x) = Σ_j e^{−(j−x)²/(2τ²)}, and X a real number of density ∝ e^{−x²/(2s²)}·w(x). A
whole j is drawn with probability e^{−(j−X)²/(2τ²)}/w(X): completing the square, it has exactly the law of Y. The same
with X + 1 gives Y + 1, because w has period 1. So the difference for X is a bound. With 1 − η ≤ w/(τ√(2π)) ≤ 1 + η by
Poisson's formula, η = 2Σ_j e^{−2π²j²τ²}, the tails of X are those of N(0, s²) up to a factor e^{±r}, r = ln((1 + η)/(1
− η)): its z at x is x/s up to 3.5r, as −ln Φ(−z) has a derivative of at least 1/3.5 above −1. Hence μ(1) ≤ 1/s + 7r.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from sitr.loss.forms.discrete_gaussian import tail_sums
from sitr.loss.law import FUNCTIONS
from sitr.loss.normal_tail import LOG_ROOT, normal_tail
from sitr.numbers import Interval

TABULATED = 32.0
"""Up to this σ, differences are computed one by one."""

TINY = 0.05
"""Below this σ, 2/σ bounds all differences. T(k) is at least e^{−k²/2σ²}/1.01, and Φ(−z) ≤ e^{−z²/2}/2, so z_k ≤ k/σ,
and z_1 − (−z_1) ≤ 2/σ. And Φ(−y) ≥ φ(y)/(y + 1/y) [DLMF, 7.8.2] exceeds T(k) at y = k/σ − 1 ≥ 19, so z_k ≥ k/σ − 1, and
z_{k+1} − z_k ≤ 1/σ + 1 < 2/σ."""

FIRST, REACH = 200, 4
"""At least this many of them, and this many times σ²: enough for what `_beyond` proves of the others."""

FARTHEST = 2000
"""For a larger shift, Δ·μ(1) is used."""

SHORT = 1e-8
"""A step of Newton's method after which no other is needed."""

SAFE = 1e-12


@lru_cache(maxsize=256)
def discrete_mu(sigma: float, shift: int = 1) -> Interval:
    """μ for noise of this σ, known to a relative error of 2⁻⁵³, on an integer that moves by `shift`.

    It is at least Δ/σ, because μ-Gaussian privacy implies ρ = μ²/2, and ρ = Δ²/(2σ²) is the least.      [CKS20, Thm 4]

    >>> discrete_mu(1.0)
    Interval(lower=1.0457..., upper=1.0457...)
    >>> discrete_mu(100.0).upper * 100
    1.00005...
    """
    least = shift / sigma * (1 - SAFE)
    if sigma < TINY:
        return Interval(least, shift * 2 / sigma * (1 + SAFE))
    if sigma > TABULATED:
        return Interval(least, shift * _smoothed(sigma) * (1 + SAFE))
    if shift > FARTHEST:
        return Interval(least, shift * discrete_mu(sigma).upper * (1 + SAFE))
    count = math.ceil(max(FIRST, shift, REACH * sigma * sigma))
    outer = list(_places(sigma, count + shift))
    places = [(-z, off) for z, off in reversed(outer)] + outer
    lower = upper = 0.0
    # A pair before these has the same difference as its mirror image, which is among them.
    for (left, off), (right, wrong) in zip(places[len(outer) - shift :], places[len(outer) :], strict=False):
        apart, error = right - left, off + wrong
        if apart + error > upper:
            upper = apart + error
        if apart - error > lower:
            lower = apart - error
    return Interval(max(least, lower * (1 - SAFE)), max(upper, shift * _beyond(sigma, count)) * (1 + SAFE))


def _places(sigma: float, count: int) -> Iterator[tuple[float, float]]:
    """z_k for 1 ≤ k ≤ count, all above 0, and their errors.

    Newton's method finds them, from a parabola through the last three. The derivative h of −ln Φ(−z) is at least 0.79
    and at least z, for z ≥ 0, and its own derivative is between 0 and 1 [Sam53]: a wrong logarithm counts at most 1/h
    times, and after a step of length s the equation is solved up to s²/2.
    """
    sums = tail_sums(sigma, count + 1)
    whole = math.log(2 * sums[0] - 1)
    before, last, z = -1.5 / sigma, -0.5 / sigma, 0.5 / sigma
    for k in range(1, count + 1):
        size = (k / sigma) * (k / sigma) / 2
        log = math.log(sums[k]) - whole - size
        for _ in range(60):
            here, hazard = normal_tail(z)
            step = (here - log) / hazard
            z = max(z + step, 0.0)
            if abs(step) <= SHORT:
                break
        off = FUNCTIONS * (7 + 3 * sigma + 2 * size + z * z) + 2 * abs(step) * (abs(step) + SAFE)
        yield z, off / max(0.79, z - off) + FUNCTIONS * z
        before, last, z = last, z, max(3 * (z - last) + before, 0.0)


def _beyond(sigma: float, last: int) -> float:
    """A bound on D = z_{k+1} − z_k for all k ≥ K = `last`, where K ≥ σ.

    Let u = k/σ, and Δ = ln T(k) − ln T(k + 1) ≤ (2k + 1)/(2σ²) + r with r = S(K) − S(K + 1).

    - z_k ≥ u − c =: y, if cu − c²/2 ≥ ln √(2π) + ln(y + 1/y) + ln S(K) − ln θ, because Φ(−y) ≥ φ(y)/(y + 1/y)
      [DLMF, 7.8.2]. From K on the left side grows at least as fast as the right side, if cy ≥ 1 and y ≥ 1 there.
    - z_k ≤ u, because e^{−x²/(2σ²)} is convex beyond σ: its sum from k on is at least its integral and half its first
      value, which is at least k/(2σ²) times the integral [DLMF, 7.8.2]. The whole sum θ is at most 1 + σ√(2π).
    - The derivative of −ln Φ(−v) is at least v + v/(v² + 2) [DLMF, 7.9.1], so that D with D ≥ 1/σ has

          Δ ≥ z_k·D + D²/2 + ln(((z_k + D)² + 2)/(z_k² + 2))/2 ≥ (u − c)·D + 1/(2σ²) + γ/(k + 1),

      where the logarithm decreases in z_k ≥ √2 and increases in D, and γ = 1/(1 + 2σ²/(K + 1)²).

    With D = (1 + β)/σ this would be more than Δ, if βσ²q + γ/q > a + β(1 + w) for w = cσ, a = w + rσ² and q = (k +
    1)/σ². The left side is at least 2σ√(βγ), whatever q is. So D is less for any β with 4σ²βγ > (a + β(1 + w))².
    """
    sums, square = tail_sums(sigma, last + 2), sigma * sigma
    far = last / sigma
    rest = LOG_ROOT + math.log(sums[last]) - math.log(2 * sums[0] - 1)
    c = max(1.05, rest + math.log(far) + 0.01) / far
    y = far - c
    holds = y >= 1.5 and c * y >= 1.0 and c * far - c * c / 2 >= rest + math.log(y + 1 / y) + 1e-9
    w = c * sigma
    a = w + (sums[last] - sums[last + 1] + SAFE) * square
    gamma = 1 / (1 + 2 * square / (last + 1) ** 2)
    beta = (1 + SAFE) * (a + (1 + w) * a * a / (2 * gamma * square)) ** 2 / (4 * gamma * square)
    holds = holds and 4 * square * beta * gamma > (1 + SAFE / 2) * (a + beta * (1 + w)) ** 2
    return (1 + beta) / sigma if holds else math.inf


def _smoothed(sigma: float) -> float:
    """1/s + 7r."""
    exponent = 3 * math.log(sigma) + 7  # 2π²τ², near the best
    first = math.exp(-exponent)
    ripple = 2 * first / (1 - first)  # the exponents j² are at least j
    r = 2 * ripple / (1 - ripple * ripple)  # at least ln((1 + η)/(1 − η)), without cancellation
    return 1 / sigma / math.sqrt(1 - exponent / (2 * math.pi**2) / sigma / sigma) + 7 * r  # σ² may be too large
