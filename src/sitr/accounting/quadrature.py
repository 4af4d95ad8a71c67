"""Moments of the sampled Gaussian at any real order, by a sum over an even grid with a proved error.

With r(x) = 1 − q + q·e^{μx − μ²/2} and x normal, E[r] = 1 and D_α = ln(1 + S)/(α − 1), where S = E[G(r)] and
G(r) = r^α − 1 − α(r − 1), which is nowhere negative. Let T be the sum of h·φ(x)·G(r(x)) over x = μ/2 + hn, for all
whole n.

By Poisson's summation, T − S is a sum of Fourier coefficients at the frequencies 2πk/h, k ≠ 0. Everything is analytic
where |Im x| < π/μ. At x + ib with |b| ≤ a < π/μ, φ is larger in size by at most e^{a²/2} and |r| is no larger than at
x; so |G| ≤ |r|^α + 1 + α(|r| + 1), and a coefficient is at most e^{−2πa|k|/h}·e^{a²/2}·(S + 2 + 2α). Added up,

    |T − S| ≤ κ·(S + 2 + 2α)   with   κ = 2e^{a²/2}/(e^{2πa/h} − 1).

The grid ends d = 39 before 0 and d beyond αμ + μ. Before it, r ≤ 1 and G ≤ αq. Beyond it, ln(φr^α) falls at least as
fast as −(x − αμ)²/2 does, because ln r rises by at most μ for each unit of x. So the terms left out add up to at most
(h + 1/d) times φ(−d)·α, and (h + 1/d) times φr^α at the last place.
"""

from __future__ import annotations

import math

import numpy as np

from sitr.loss.law import FUNCTIONS, Vector
from sitr.loss.moments import log1p_exp, log_g, log_sum
from sitr.numbers import exact, upward

REACH = 39.0
"""The normal density falls below all floats soon after this."""

COARSEST, MOST = 0.25, 1 << 17
"""The widest step of the grid, and how many places it may have."""

NEGLIGIBLE = -40.0
"""ln of the relative error that is not worth a finer grid."""

_LOG_ROOT = math.log(2 * math.pi) / 2


def sampled_moment(rate: float, mu: float, order: float, *, log_rest: float, log_rate: float) -> float:
    """D_α rounded up, for 0 < q < 1 and μ > 0; infinite where the grid would have too many places.

    `log_rest` and `log_rate` are ln(1 − q) and ln q, each right to within a factor 1 ± `FUNCTIONS`.

    >>> sampled_moment(0.01, 1.0, 2.0, log_rest=math.log1p(-0.01), log_rate=math.log(0.01))  # ln(1 + q²(e − 1))
    0.000171...
    """
    tilt = upward(exact(order) - 1)  # D_α grows with α
    step = COARSEST if log_rate > -300.0 else 0.0  # beyond, ln r loses too many digits of y + ln q
    while 2 * REACH + (tilt + 2) * mu <= MOST * step:
        log_kappa = _log_kappa(mu, step)
        log_found = _log_sum_on_grid(rate, mu, tilt, step, log_rest, log_rate)
        log_missed = log_kappa + math.log(4 + 2 * tilt)
        if log_missed <= log_found + NEGLIGIBLE and log_kappa <= NEGLIGIBLE:
            whole = float(np.logaddexp(log_found, log_missed)) + 2 * math.exp(log_kappa)
            whole += 8 * FUNCTIONS * (1 + abs(whole))
            # Near 0 a float may be off by the least of all, which a small divisor makes large.
            return (log1p_exp(whole) + 2 * math.ulp(0.0)) / tilt * (1 + 8 * FUNCTIONS) + 16 * math.ulp(0.0)
        step /= 2
    return math.inf


def _log_kappa(mu: float, step: float) -> float:
    """ln κ with the best a, rounded up: −ln(1 − e^{−x}) is below 1 for x ≥ 1."""
    a = min(2 * math.pi / step, 3.1 / mu)
    turns = 2 * math.pi * a / step
    return math.log(2) + a * a / 2 - turns + 1 + 1e-9 * turns if turns > 1 else math.inf


def _log_sum_on_grid(rate: float, mu: float, tilt: float, step: float, log_rest: float, log_rate: float) -> float:
    """ln of T, rounded up, with what lies outside of the grid.

    A step is a power of two, so that y = μx − μ²/2 = μhn is rounded once, and μ before it. Then ln r is off by a
    factor of 16F, and by the error of q·e^y; ln G is off by 128F, and by at most 2 + (α + 1)|ln r| times the error of
    ln r.
    """
    first, last = -math.ceil((REACH + mu / 2) / step), math.ceil((REACH + (tilt + 2) * mu) / step)
    places = np.arange(first, last + 1, dtype=np.float64) * step
    squares, inner = (places + mu / 2) ** 2 / 2, mu * places
    losses = _losses(rate, inner, log_rest, log_rate)
    logs = losses + log_g(losses, tilt) - squares
    off = (16 + np.maximum(inner, 0.0) / np.maximum(1.0, losses)) * (2 + (tilt + 3) * np.abs(losses))
    off += 128 + 4 * (squares + mu * mu) + np.abs(np.where(np.isneginf(logs), 0.0, logs))
    logs = logs + FUNCTIONS * off
    end = float((tilt + 1) * losses[-1] - squares[-1]) + FUNCTIONS * float(off[-1])
    outside = math.log(step + 1 / REACH) + float(np.logaddexp(end, math.log(tilt + 1) - REACH * REACH / 2))
    whole = float(np.logaddexp(log_sum(logs) + math.log(step), outside + 1e-9 * abs(outside)))
    return whole - _LOG_ROOT + FUNCTIONS * (len(logs) + 64 + 4 * abs(whole))


def _losses(rate: float, inner: Vector, log_rest: float, log_rate: float) -> Vector:
    """ln(1 − q + q·e^y), from logarithms far above 0, and far below 0 if q > ½."""
    near = np.log1p(rate * np.expm1(np.clip(inner, -1.0 if rate > 0.5 else -np.inf, 700.0)))
    far = np.logaddexp(log_rest, inner + log_rate)
    return np.where((inner > 700.0) | ((inner < -1.0) & (rate > 0.5)), far, near)
