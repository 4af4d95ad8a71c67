"""How far a weighed sum of noise may stray: a bound that is proved, for sums of which the exact law is out of reach."""

from __future__ import annotations

import math

from scipy.optimize import minimize_scalar

from sitr.loss.bounds import Number, exact
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.noise.draws import inside


def width(noise: Laplace | Gaussian, *, squares: float, largest: float, confidence: Number) -> float:
    """w with P(|Σ_i a_i·Y_i| > w) ≤ 1 − c, for weights with Σa_i² ≤ `squares` and |a_i| ≤ `largest`.

    By Chernoff's bound, w = (ln M(t) + ln(2/(1 − c)))/t for any t > 0, where M(t) bounds E[e^{tΣaY}]. A discrete
    Gaussian has ln E[e^{tY}] ≤ t²σ²/2 [CKS20], so that w = σ·√(2·Σa²·ln(2/(1 − c))). Discrete Laplace noise has

        ln E[e^{tY}] = −ln(1 − (cosh t − 1)/(cosh(1/s) − 1)),   |t| < 1/s,

    convex in t² and 0 at 0: so it is at most (a/A)² of that at tA, for |a| ≤ A, and the sum over i at most Σa²/A².
    One number by itself has its exact quantile.

    >>> width(Laplace(scale=10), squares=1, largest=1, confidence=0.95), Laplace(scale=10).error()
    (30.0, 30)
    >>> 150 < width(Laplace(scale=10), squares=25, largest=1, confidence=0.95) < 200
    True
    """
    if squares == 0.0 or largest == 0.0:
        return 0.0
    if squares == 1.0 and largest == 1.0:
        return float(noise.error(confidence=confidence))
    rest = math.log(2 / float(1 - inside(confidence)))
    slack = 1 + 1e-9  # for the rounding of all that is computed here in doubles
    if not isinstance(noise, Laplace):
        return slack * float(exact(noise.sigma)) * math.sqrt(2 * squares * rest)
    rate = float(1 / exact(noise.scale))
    terms = max(1.0, squares / largest**2)

    def bound(share: float) -> float:
        t = share * rate / largest
        # (cosh a − 1)/(cosh b − 1) = (sinh(a/2)/sinh(b/2))²
        ratio = math.sinh(min(350.0, t * largest / 2)) / math.sinh(min(350.0, rate / 2))
        return (rest - terms * math.log1p(-min(ratio**2, 1 - 1e-12))) / t

    best = float(minimize_scalar(bound, bounds=(1e-6, 1 - 1e-6), method="bounded").x)
    return slack * bound(best)
