"""The discrete Gaussian law: an integer weighed by the bell curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import overload

from flint import arb, ctx, fmpq

from sitr.loss.bounds import Number, ball
from sitr.noise.bernoulli import exponential_trial
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import NEVER, Draws, collect, inside, positive
from sitr.noise.laplace import laplace_trial

_MOST_BITS = 2**14
"""A confidence that needs more than this to be told from a probability gets a width that is proved to be enough."""


@overload
def discrete_gaussian(*, sigma: Number, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def discrete_gaussian(*, sigma: Number, size: int, coins: Coins | None = None) -> Draws: ...
def discrete_gaussian(*, sigma: Number, size: int | None = None, coins: Coins | None = None) -> int | Draws:
    """P(y) ∝ e^{−y²/2σ²} on the integers, exactly, for any rational σ > 0.      [CKS20, Alg. 3]

    Many draws are 64-bit integers if P(|Y| > 2^62) ≤ 2e^{−2^124/2σ²} < 2^{−1000}, otherwise Python integers.
    (Chernoff's bound: E[e^{λY}] ≤ e^{λ²σ²/2}, as a bell summed over the integers is largest when centred on one.)

    >>> discrete_gaussian(sigma=0.5, size=3).dtype, discrete_gaussian(sigma=2**60, size=3).dtype
    (dtype('int64'), dtype('O'))
    """
    s = positive(sigma, name="sigma")
    tossed = system_coins() if coins is None else coins
    # A Laplace draw y of scale t is kept with probability exp(−(|y| − σ²/t)²/2σ²), here over integers:
    # with σ = a/b the exponent is (|y|·t·b² − a²)²/(2a²b²t²).
    t = math.floor(s) + 1
    square, step = s.numerator**2, t * s.denominator**2
    denominator = 2 * (s.numerator * s.denominator * t) ** 2

    def draw() -> int:
        while True:
            drawn = laplace_trial(t, 1, coins=tossed)
            if exponential_trial((abs(drawn) * step - square) ** 2, denominator, coins=tossed):
                return drawn

    return draw() if size is None else collect(draw, size=size, fits=2 * NEVER * s**2 <= 2**124)


def discrete_gaussian_width(*, sigma: Number, confidence: Number) -> int:
    """The least w with P(|Y| ≤ w) ≥ c, decided with Arb.

    2·T(w) ≤ (1 − c)·θ, where T(w) = Σ_{y>w} e^{−y²/2σ²} and θ = Σ_y e^{−y²/2σ²} are summed directly for small σ, and
    by the formulas of Euler–Maclaurin and Poisson with proved remainders for large σ. The precision grows until w
    is decided. Only for a confidence written with thousands of digits may it not be: w is then proved to be
    enough, but perhaps not the least.

    >>> discrete_gaussian_width(sigma=10, confidence=0.95)
    20
    """
    s, rest = positive(sigma, name="sigma"), 1 - inside(confidence)
    # One step of w changes 2T/θ by about (1 − c)/σ: so many bits tell two steps apart, and 64 more.
    bits = 64 + _log2(1 / rest) + max(0, _log2(s))
    while True:
        with ctx.workprec(bits + 64):
            whole, tail = _sums(s, bits=bits)
            allowed = ball(rest) * whole / 2
            width = _first(tail, allowed, near=_guess(s, rest))
            if width == 0 or tail(width - 1) > allowed or bits > _MOST_BITS:
                return width
        bits *= 2


def _log2(number: Fraction) -> int:
    """⌈log₂⌉, give or take one, of numbers beyond any float."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def _guess(sigma: Fraction, rest: Fraction) -> int:
    """Where the continuous law would end; nothing rests on it but speed."""
    end = (ball(sigma) * arb(2).sqrt() * ball(rest).erfcinv()).mid().floor().unique_fmpz()
    return 0 if end is None else max(0, int(end))


def _first(tail: Callable[[int], arb], allowed: arb, *, near: int) -> int:
    """The first w ≥ 0 whose tail is proved to be at most the one allowed."""
    width = near
    while not tail(width) <= allowed:
        width += 1
    while width > 0 and tail(width - 1) <= allowed:
        width -= 1
    return width


def _sums(sigma: Fraction, *, bits: int) -> tuple[arb, Callable[[int], arb]]:
    """θ and w ↦ T(w), to about 2^{−bits} of the largest: the closed forms can reach 2^{−28σ²}."""
    if 16 * sigma**2 < bits:
        return _direct_sums(sigma, bits=bits)
    return _smooth_sums(sigma, bits=bits)


def _direct_sums(sigma: Fraction, *, bits: int) -> tuple[arb, Callable[[int], arb]]:
    """Term by term as far as N; from there on the terms fall at least as fast as a geometric series.

    Σ_{y>N} e^{−y²/2σ²} ≤ f(N+1)/(1 − f(N+2)/f(N+1)), because f(y+1)/f(y) = e^{−(2y+1)/2σ²} decreases.
    """
    last = math.isqrt(math.floor(Fraction(7, 5) * bits * sigma**2)) + 1  # 7/5 > 2 ln 2, so f(N) < 2^{−bits}

    def term(y: int) -> arb:
        return (-ball(y**2 / (2 * sigma**2))).exp()

    bound = term(last + 1) / (1 - (-ball((2 * last + 3) / (2 * sigma**2))).exp())
    tails = [arb(0).union(bound)]
    for y in range(last, 0, -1):
        tails.append(tails[-1] + term(y))
    tails.reverse()
    return 1 + 2 * tails[0], lambda w: tails[min(w, last)]


def _smooth_sums(sigma: Fraction, *, bits: int) -> tuple[arb, Callable[[int], arb]]:
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
