"""The best tests between P and Q for many pairs at once, and the least μ of Gaussian privacy.

Outcomes are sorted by falling ratio P/Q. The best tests say "P" for the first k of them: with a false-positive rate
B_k, the sum of their Q, they reach the true-positive rate A_k, the sum of their P. Between those corners the curve is
a polygon, and the curve Φ(Φ⁻¹(x) + μ) of two Gaussians is concave, so it lies above the polygon if it lies above its
corners: μ is the largest Φ⁻¹(A_k) − Φ⁻¹(B_k).      [DRS22, Def. 2.6, Prop. 2.12] Exchanging P and Q turns the curve by
half a turn, which keeps these differences: one direction suffices.

If every probability is within a factor 1 ± r of a float, a test of true-positive rate a and false-positive rate b by
the floats has at most a(1 + r) and at least b(1 − r); the same holds for 1 minus these rates. So the true curve lies
below the polygon of the floats with its rates moved by r, each relative to itself or to its rest: this is a bound for
every choice, and at each corner the smaller number is moved. Floats may also exchange outcomes whose ratios differ by
a few roundings, which moves the curve by no more, relative to either side. Where one choice takes over from another,
near ½, a corner between them may be missed by η/2, and 8η more of μ pay for it: the curve of two Gaussians rises by
at least 0.79·min(y, 1 − y) times that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitr.audit.exact.events import Found
from sitr.audit.exact.neighbors import Places
from sitr.audit.exact.pairs import Pairs
from sitr.audit.exact.table import Matrix
from sitr.loss.law import FUNCTIONS, Vector
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

special = Later("scipy.special")

CLOSE = 1e-6
"""Corners this far below the largest difference are left out: scipy's Φ⁻¹ is right to within 10⁻⁹."""


@dataclass(frozen=True, slots=True, eq=False)
class Corners:
    """The corners of the curves of some pairs: sums of P and Q from the first outcome on, and from the last."""

    p: Matrix
    q: Matrix
    p_rest: Matrix
    q_rest: Matrix
    order: Places

    @classmethod
    def of(cls, p: Matrix, q: Matrix) -> Corners:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(p > 0.0, p / q, 0.0)
        order = np.argsort(-ratios, axis=1)
        sorted_p, sorted_q = (np.take_along_axis(one, order, axis=1) for one in (p, q))
        rest = [_before(np.cumsum(one[:, ::-1], axis=1)[:, ::-1]) for one in (sorted_p, sorted_q)]
        return cls(np.cumsum(sorted_p, axis=1), np.cumsum(sorted_q, axis=1), rest[0], rest[1], order)


def _before(sums: Matrix) -> Matrix:
    """The mass after each outcome, from the mass with it."""
    return np.concatenate((sums[:, 1:], np.zeros((len(sums), 1))), axis=1)


def largest_mu(pairs: Pairs) -> Found:
    """μ of pairs that have no infinite loss in either direction."""
    eta = _eta(pairs)
    lower, upper = [], []
    for p, q in pairs.blocks():
        found = Corners.of(p, q)
        some = (found.q > 0.0) & (found.q_rest > 0.0) & (found.p > 0.0) & (found.p_rest > 0.0)
        least, most = _differences(found, some, eta)
        lower.append(least)
        upper.append(most)
    low, high = np.concatenate(lower), np.concatenate(upper)
    row = int(np.argmax(low))
    top = float(high.max())
    return Found(Interval(max(0.0, float(low[row])), max(0.0, top + 8 * eta) if top > 0.0 else 0.0), row)


def _differences(found: Corners, some: Any, eta: float) -> tuple[Vector, Vector]:
    """The largest difference of each pair, from below and from above. Only corners near the largest are proved."""
    guess = np.where(some, _guess(found.p, found.p_rest) - _guess(found.q, found.q_rest), -np.inf)
    top = guess.max(axis=1)
    rows, columns = np.nonzero(guess >= np.maximum(top, top.max() - CLOSE)[:, None] - CLOSE)
    p, p_rest, q, q_rest = (one[rows, columns] for one in (found.p, found.p_rest, found.q, found.q_rest))
    least = np.full(len(top), 0.0)
    most = np.where(np.isfinite(top), top + CLOSE, 0.0)
    low = _z(p, p_rest, eta, -1) - _z(q, q_rest, eta, 1)
    high = _z(p, p_rest, eta, 1) - _z(q, q_rest, eta, -1)
    np.maximum.at(least, rows, low)
    proved = np.full(len(top), -np.inf)
    np.maximum.at(proved, rows, high)
    return least, np.where(np.isfinite(proved), proved, np.minimum(most, top.max()))


def _guess(mass: Matrix, rest: Matrix) -> Matrix:
    """Φ⁻¹ of a mass, right to within far less than `CLOSE`."""
    small = mass <= rest
    found = special.ndtri(np.minimum(np.maximum(np.where(small, mass, rest), 1e-300), 0.75))
    z: Matrix = np.where(small, found, -found)
    return z


def corner(pairs: Pairs, row: int) -> Places:
    """The outcomes of the test that needs the largest μ."""
    ((p, q),) = pairs.some([row]).blocks()
    found = Corners.of(p, q)
    with np.errstate(invalid="ignore"):
        mu = special.ndtri(found.p[0]) - special.ndtri(found.q[0])
    place = int(np.nanargmax(np.where(np.isfinite(mu), mu, -np.inf)))
    return np.sort(found.order[0, : place + 1])


def _eta(pairs: Pairs) -> float:
    """The relative error of sums of probabilities, η."""
    return 4 * (pairs.wrong + pairs.summed) + 8 * FUNCTIONS


def _z(mass: Matrix, rest: Matrix, eta: float, side: int) -> Matrix:
    """Φ⁻¹ of a mass, below or above it, computed from the smaller of the mass and the rest.

    The inverse function is only a guess: Φ of the result is compared with the mass, with the error of `log_ndtr`.
    """
    small = mass <= rest
    way = np.where(small, side, -side)
    tail = np.minimum(np.maximum(np.where(small, mass, rest), 1e-300) * (1 + way * eta), 0.75)
    goal = np.log(tail)
    guess = special.ndtri(tail)
    slack = 4 * FUNCTIONS
    for _ in range(8):
        at = guess + way * slack * (1 + np.abs(guess))
        found = special.log_ndtr(at)
        error = FUNCTIONS * (2 + at * at) + FUNCTIONS * np.abs(goal)
        if bool(np.all(way * (found - goal) >= error)):
            break
        slack *= 8
    else:
        at = np.where(way > 0, np.inf, -np.inf)
    z: Matrix = np.where(small, at, -at)
    return z


def rates(pairs: Pairs, fprs: Vector) -> tuple[Vector, Vector]:
    """The best true-positive rate of any pair at each false-positive rate, from below and from above."""
    best = np.zeros(len(fprs))
    for p, q in pairs.blocks():
        found = Corners.of(p, q)
        for row in range(len(p)):
            across = np.concatenate(([0.0], found.q[row]))
            up = np.concatenate(([0.0], found.p[row]))
            free = float(up[across == 0.0].max())  # without any false positive
            best = np.maximum(best, np.maximum(free, np.interp(fprs, across, up)))
    error = 2 * _eta(pairs)  # the curve is concave: at x(1 + η) it is at most 1 + η times as high as at x
    return best * (1 - error), np.where(fprs >= 1.0, 1.0, np.minimum(1.0, best * (1 + error)))


def normal_curve(mu: float, fprs: Vector) -> Vector:
    """The curve of two Gaussians."""
    found: Vector = special.ndtr(special.ndtri(fprs) + mu) if math.isfinite(mu) else np.ones(len(fprs))
    return found
