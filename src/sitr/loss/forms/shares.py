"""Noise that several parties add together: the laws of sums of shares, mass by mass, and their losses.

=========  ====================================================  =====================================================
shares     each of them                                          the sum of n
=========  ====================================================  =====================================================
Pólya      A − B with A, B ~ NB(1/h, q), q = e^{−1/t}            the same with NB(n/h, q); discrete Laplace if n = h
Skellam    A − B with A, B ~ Poisson                             Skellam: variances add
Gaussian   P(y) ∝ e^{−y²/(2s²)}                                  its own convolution, which is not discrete Gaussian
=========  ====================================================  =====================================================

All are symmetric. Masses are enclosed by Arb from 0 to a last number K, beyond which less than 2^{−200} is left.

*Bounded losses.* A Pólya sum of shape r ≤ 1 has P(k) ∝ q^k·Σ_j q^{2j}·c_j·c_{j+k} for k ≥ 0, with c_j = (r)_j/j!.
The quotient c_{j+1}/c_j = (j + r)/(j + 1) grows with j and is at most 1. So each c_{j+k} is log-convex and does not
grow with k, and so is their sum: P(0)/P(Δ) is the largest quotient of two masses at a distance Δ, and ln of it is the
largest loss. Far out the loss decreases to Δ/t, so that outputs beyond K can be merged: nearer ones have larger losses
and together about 2^{200} times the mass, and the error is far below that of floats.

*Unbounded losses.* For Skellam and Gaussian shares, what lies beyond K counts as an infinite loss, so the law found
bounds the true one, from which it differs by 2^{−200}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from flint import arb, arb_poly

from sitr.errors import InvalidParameter
from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.law import check
from sitr.namespace import Later
from sitr.numbers import ball, least_whole, upper
from sitr.precision import nearest, precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

LEFT = 200
"""Less than 2^{−LEFT} of the mass lies beyond a table on either side."""

SPARE = 200
"""Bits beyond those that are lost, for masses that are known relative to themselves."""

LONGEST = 1 << 16
"""The largest K of a table."""

MOST_PRODUCT = 1 << 14
"""The largest number in a product of the laws of shares, which is slow to compute."""


@dataclass(frozen=True, slots=True, eq=False)
class MassTable:
    """P(Y = k) for 0 ≤ k ≤ K of a symmetric law, and P(Y > K)."""

    masses: tuple[arb, ...]
    beyond: arb
    bits: int
    """The precision at which the masses are known."""

    @classmethod
    def of(cls, masses: list[arb], *, bits: int) -> MassTable:
        """All masses add up to 1, which gives the rest."""
        left = (1 - masses[0] - 2 * sum(masses[1:], arb(0))) / 2
        return cls(tuple(masses), left, bits)

    def width(self, confidence: Fraction) -> int:
        """The least w with P(|Y| ≤ w) ≥ confidence, proved."""
        with precision(self.bits):
            inside = self.masses[0]
            for w in range(len(self.masses) - 1):
                if inside >= ball(confidence):
                    return w
                inside += 2 * self.masses[w + 1]
        raise InvalidParameter(
            wanted="a confidence that leaves out more than 1e-60",
            given=f"{float(confidence)}",
            do="Choose a smaller confidence, such as 0.999999.",
        )

    def law(self, shift: int, *, merged: bool) -> FiniteLaw:
        """The loss of Y + Δ against Y. Outputs beyond the table are merged, or else count as infinite losses."""
        last = len(self.masses) - 1
        atoms: dict[float, float] = {}

        def add(here: arb, there: arb) -> None:
            loss = nearest((here / there).log(), zero=SPARE // 2)
            atoms[loss] = float(np.logaddexp(atoms.get(loss, -math.inf), nearest(here.log())))

        with precision(self.bits):
            for y in range(shift - last, last + 1):
                add(self.masses[abs(y - shift)], self.masses[abs(y)])
            near = self.beyond + sum(self.masses[last - shift + 1 :], arb(0))  # P(Y > K − Δ)
            if merged:
                add(near, self.beyond)
                add(self.beyond, near)
            rest = 0.0 if merged else upper(near)
        losses, logs = zip(*sorted(atoms.items()), strict=True)
        return FiniteLaw(losses, logs, rest, rest)


def polya_law(scale: Fraction, shape: Fraction, shift: int) -> FiniteLaw:
    """The loss of a Pólya sum of shape r ≤ 1 on an integer that moves by Δ; its largest is ln P(0)/P(Δ).

    >>> polya_law(Fraction(1), Fraction(1, 2), 1).greatest
    1.675138...
    """
    check(shape, "shape", above=0, below=1, ends="below")
    return polya_table(scale, shape, shift).law(shift, merged=True)


def skellam_law(variance: Fraction, shift: int) -> FiniteLaw:
    """The loss of Skellam noise of this variance on an integer that moves by Δ.      [AKL21]

    >>> law = skellam_law(Fraction(4), 1)
    >>> 0.0 < law.infinite < 1e-60, law.losses[len(law.losses) // 2] > 0
    (True, True)
    """
    return skellam_table(variance, shift).law(shift, merged=False)


# Tables


@lru_cache(maxsize=64)
def polya_table(scale: Fraction, shape: Fraction, shift: int = 0) -> MassTable:
    """A − B with A, B ~ NB(r, q), q = e^{−1/t}: P(0) = (1 − q)^{2r}·₂F₁(r, r; 1; q²).

    E[z^Y] = (1 − q)^{2r}·((1 − qz)(1 − q/z))^{−r}. Its logarithmic derivative gives a recurrence, and for the quotients
    u_k = P(k)/P(k − 1)

        u_k = q(k − 1 + r)/((1 + q²)k − q(k + 1 − r)·u_{k+1}).

    As in the sum for P(k) above, u_k is between q and q(k − 1 + r)/k. From there on, each step back shrinks the
    enclosure by about q². Chernoff's bound at 0.9/t says where the table may end.
    """
    t = float(scale)
    exponent = LEFT * math.log(2) + float(shape) * math.log(100) + 1
    last = _fits(math.ceil(t * exponent / 0.9) + shift + 2)
    bits = 2 * SPARE + LEFT
    with precision(bits + 64):
        q, r = (-ball(1 / scale)).exp(), ball(shape)
        start = last + math.ceil(t * bits / 2) + 2
        here = q.union(q * (start - 1 + r) / start)
        quotients = []
        for k in range(start - 1, 0, -1):
            here = q * (k - 1 + r) / ((1 + q * q) * k - q * (k + 1 - r) * here)
            if k <= last:
                quotients.append(here)
        masses = [(1 - q) ** (2 * r) * (q * q).hypgeom_2f1(r, r, 1)]
        for quotient in reversed(quotients):
            masses.append(masses[-1] * quotient)
        return MassTable.of(masses, bits=bits + 64)


@lru_cache(maxsize=64)
def skellam_table(variance: Fraction, shift: int = 0) -> MassTable:
    """A − B with A, B ~ Poisson(x/2): P(k) = e^{−x}·I_k(x), by I_{k−1} = I_{k+1} + (2k/x)·I_k from far out.

    P(Y ≥ k) ≤ exp(x(cosh θ − 1) − θk) for θ = arsinh(k/x).      [DLMF, 10.29.1]
    """
    x = float(variance)

    def log_tail(k: int) -> float:
        return math.hypot(x, k) - x - k * math.asinh(k / x)

    last = _fits(least_whole(lambda k: log_tail(k) < -(LEFT + 2) * math.log(2)) + shift + 2)
    bits = 2 * SPARE + LEFT + math.ceil(-2 * log_tail(last))
    with precision(bits):
        mean = ball(variance)
        later, here = (mean.bessel_i(k, scaled=True) for k in (last + 1, last))
        masses = [here]
        for k in range(last, 0, -1):
            later, here = here, later + 2 * k / mean * here
            masses.append(here)
        return MassTable.of(masses[::-1], bits=bits)


@lru_cache(maxsize=64)
def gaussian_table(sigma: Fraction, number: int, shift: int = 0) -> MassTable:
    """The n-th convolution power of P(y) ∝ e^{−y²/2σ²}, of which each factor leaves out less than 2^{−700}/n.

    What all of them leave out together may belong to any mass, so that each is known to within that.
    """
    last = _fits(_far_gaussian(number * sigma**2) + shift)
    reach = reach_of(sigma, number)
    if reach * number > MOST_PRODUCT:
        raise _too_wide()
    bits = 1200 + 2 * number.bit_length()
    with precision(bits):
        rate = ball(1 / (2 * sigma**2))
        half = [(-rate * y * y).exp() for y in range(reach + 1)]
        whole = half[0] + 2 * sum(half[1:], arb(0))
        # Σ_{y > reach} e^{−y²/2σ²} ≤ e^{−reach²/2σ²}·(1 + σ√(π/2)), and the sum of all is at least 1.
        missing = half[-1] * 2 * (1 + ball(sigma) * 2) * number
        one = arb_poly([weight / whole for weight in (*half[:0:-1], *half)])
        product = one**number
        middle = reach * number
        spread = arb(0, missing.upper())
        masses = [product[middle + k] + spread for k in range(min(last, middle) + 1)]
        return MassTable.of(masses, bits=bits)


def reach_of(sigma: Fraction, number: int) -> int:
    """How far each factor reaches: e^{−reach²/2σ²} < 2^{−700}/n²."""
    return math.ceil(float(sigma) * math.sqrt(2 * (700 + 2 * number.bit_length()) * math.log(2))) + 2


def _far_gaussian(variance: Fraction) -> int:
    """P(Y > k) ≤ e^{−k²/2v}, by Chernoff's bound: E[e^{θY}] ≤ e^{θ²v/2} for each of the discrete Gaussians."""
    return math.ceil(math.sqrt(2 * float(variance) * (LEFT + 2) * math.log(2))) + 2


def _fits(last: int) -> int:
    if last > LONGEST:
        raise _too_wide()
    return last


def _too_wide() -> InvalidParameter:
    return InvalidParameter(
        wanted=f"noise whose law fits into a table of {LONGEST} numbers",
        given="wider noise",
        do="Choose a coarser granularity, so that the noise is a smaller number of granules.",
    )
