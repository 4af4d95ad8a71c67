"""Sums of a bell over the integers: θ = Σ_y e^{−y²/2σ²} and T(w) = Σ_{y>w} e^{−y²/2σ²}, enclosed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

from flint import arb, fmpq

from sitr.noise.sums import bell, between, ends
from sitr.numbers import ball
from sitr.precision import undisturbed


def bell_sums(sigma: Fraction, *, bits: int) -> tuple[arb, Callable[[int], arb]]:
    """θ and w ↦ T(w), to about 2^{−bits} of the largest: the closed forms can reach 2^{−28σ²}."""
    if 16 * sigma**2 < bits:
        return direct_sums(sigma, bits=bits)
    return smooth_sums(sigma, bits=bits)


def direct_sums(sigma: Fraction, *, bits: int) -> tuple[arb, Callable[[int], arb]]:
    """Term by term as far as N; from there on the terms fall at least as fast as a geometric series.

    Σ_{y>N} e^{−y²/2σ²} ≤ f(N+1)/(1 − f(N+2)/f(N+1)), because f(y+1)/f(y) = e^{−(2y+1)/2σ²} decreases.
    """
    last = math.isqrt(math.floor(Fraction(7, 5) * bits * sigma**2)) + 1  # 7/5 > 2 ln 2, so f(N) < 2^{−bits}

    rate, places = 1 / (2 * sigma**2), bits + 32 + 3 * last.bit_length()

    def beyond() -> tuple[int, int]:
        return 0, ends((-ball(rate * (last + 1) ** 2)).exp() / -(-ball(rate * (2 * last + 3))).expm1(), places)[1]

    terms = reversed(bell(rate, last=last, bits=places))
    start = undisturbed(2 * bits, beyond)
    tails = list(accumulate(terms, lambda one, other: (one[0] + other[0], one[1] + other[1]), initial=start))[::-1]
    whole = (1 << places) + 2 * tails[0][0], (1 << places) + 2 * tails[0][1]
    balls = [between(low, high, places) for low, high in tails]
    return between(*whole, places), lambda w: balls[min(w, last)]


def smooth_sums(sigma: Fraction, *, bits: int) -> tuple[arb, Callable[[int], arb]]:
    """Integrals over the cells [y − ½, y + ½], corrected at their end a = w + ½ = zσ.

    θ = σ√(2π)·(1 + r), r = 2Σ_{k≥1} e^{−2π²σ²k²}, so 0 < r < 3e^{−2π²σ²} for σ ≥ ½.      [DLMF, §20.7]

    T(w) = σ√(π/2)·erfc(z/√2) + e^{−z²/2}·Σ_{j=1}^m σ^{1−2j}·B_{2j}(½)/(2j)!·He_{2j−1}(z) + R: Euler–Maclaurin, with
    the derivatives of the bell, f⁽ⁿ⁾(zσ) = (−1/σ)ⁿ·He_n(z)·e^{−z²/2}.      [DLMF, §2.10]

    |R| ≤ |B_{2m}|/(2m)!·∫_a^∞ |f⁽²ᵐ⁾| ≤ 4√π·σ·√((2m)!)/(2πσ)^{2m}·erfc(z/2), because |B_{2m}|/(2m)! < 4/(2π)^{2m} and
    |He_n(z)| ≤ √(n!)·e^{z²/4}.      [DLMF, §24.8 and §18.14]
    """
    s, pi = ball(sigma), arb.pi()
    whole = s * (2 * pi).sqrt() * (1 + arb(0).union(3 * (-2 * (pi * s) ** 2).exp()))

    weights: list[arb] = []
    error = 4 * pi.sqrt() * s
    while not error < 4 * pi.sqrt() * s * arb(2) ** -bits:
        n = 2 * len(weights) + 2
        error *= arb(n * (n - 1)).sqrt() / (2 * pi * s) ** 2
        # B_n(½) = −(1 − 2^{1−n})·B_n      [DLMF, §24.4]
        weights.append((fmpq(2) / 2**n - 1) * fmpq.bernoulli(n) / arb.fac_ui(n) / s ** (n - 1))

    def tail(w: int) -> arb:
        z = ball(w + Fraction(1, 2)) / s
        corrections, even, odd = arb(0), arb(1), z  # He_0, He_1
        for n, weight in enumerate(weights):
            corrections += weight * odd
            even = z * odd - (2 * n + 1) * even  # He_{k+1} = z·He_k − k·He_{k−1}
            odd = z * even - (2 * n + 2) * odd
        integral = s * (pi / 2).sqrt() * (z / arb(2).sqrt()).erfc()
        return integral + (-z * z / 2).exp() * corrections + error * (z / 2).erfc() * arb(0, 1)

    return whole, tail
