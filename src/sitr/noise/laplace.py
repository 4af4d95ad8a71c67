"""The discrete Laplace law: an integer whose probability falls by the same factor with every step from zero."""

from __future__ import annotations

from typing import overload

from flint import arb, ctx

from sitr.loss.bounds import Number, ball
from sitr.noise.bernoulli import exponential_trial
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import NEVER, Draws, collect, inside, positive


@overload
def discrete_laplace(*, scale: Number, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def discrete_laplace(*, scale: Number, size: int, coins: Coins | None = None) -> Draws: ...
def discrete_laplace(*, scale: Number, size: int | None = None, coins: Coins | None = None) -> int | Draws:
    """P(y) ∝ e^{−|y|/t} on the integers, exactly, for any rational t > 0.      [CKS20, Alg. 2]

    Many draws are 64-bit integers if P(|Y| > 2^62) < 2e^{−2^62/t} < 2^{−1000}, otherwise Python integers.

    >>> discrete_laplace(scale=0.5, size=3).dtype, discrete_laplace(scale=2**60, size=3).dtype
    (dtype('int64'), dtype('O'))
    """
    t = positive(scale, name="scale")
    tossed = system_coins() if coins is None else coins

    def draw() -> int:
        return laplace_trial(t.numerator, t.denominator, coins=tossed)

    return draw() if size is None else collect(draw, size=size, fits=NEVER * t <= 2**62)


def laplace_trial(numerator: int, denominator: int, *, coins: Coins) -> int:
    """One draw at t = n/d.

    X = U + nV with P(X = x) ∝ e^{−x/n} (the remainder U by rejection, the quotient V by counting), so ⌊X/d⌋ is
    geometric with ratio e^{−d/n}. A sign makes it two-sided; one of the two zeros is refused.
    """
    while True:
        remainder = coins.below(numerator)
        if not exponential_trial(remainder, numerator, coins=coins):
            continue
        quotient = 0
        while exponential_trial(1, 1, coins=coins):
            quotient += 1
        size = (remainder + numerator * quotient) // denominator
        if coins.bits(1) == 0:
            return size
        if size > 0:
            return -size


def discrete_laplace_tail(k: int, *, scale: Number) -> arb:
    """P(Y ≥ k) = q^k/(1 + q) with q = e^{−1/t}, k ≥ 1: the sum of (1 − q)/(1 + q)·q^y over y ≥ k.

    >>> abs(discrete_laplace_tail(3, scale=10) - 0.388914) < 1e-6
    True
    """
    if k < 1:
        raise ValueError(f"A tail begins at an integer of at least 1. {k} was given. Use symmetry for the other side.")
    t = positive(scale, name="scale")
    return (-ball(k / t)).exp() / (1 + (-ball(1 / t)).exp())


def discrete_laplace_width(*, scale: Number, confidence: Number) -> int:
    """The least w with P(|Y| ≤ w) ≥ c:  w = ⌈t·ln(2/((1 − c)(1 + q)))⌉ − 1, from 2q^{w+1}/(1 + q) ≤ 1 − c.

    >>> discrete_laplace_width(scale=10, confidence=0.95)
    30
    """
    t, rest = positive(scale, name="scale"), 1 - inside(confidence)
    bits = 64
    while True:
        with ctx.workprec(bits):
            q = (-ball(1 / t)).exp()
            least = (ball(t) * (2 / (ball(rest) * (1 + q))).log()).ceil().unique_fmpz()
        if least is not None:
            return int(least) - 1
        # Never for ever: a tie would make q a root of a polynomial with rational coefficients, but e^{−1/t} is
        # transcendental for a rational t (Lindemann).
        bits *= 2
