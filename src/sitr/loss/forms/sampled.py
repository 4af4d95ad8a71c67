"""Sampling before a mechanism: each person is in the sample only with some probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from sitr.dataclass import dataclass
from sitr.loss.forms.gaussian import GaussianLaw, gaussian_cells
from sitr.loss.law import FUNCTIONS, Law, LossCells, Masses, Vector, bounded_moment, check, distinct, joined
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


@dataclass(frozen=True, slots=True)
class PoissonLaw:
    """Everybody is in the sample with probability q, independently; one person is removed (or, `added`, added).

    If (A, B) is the pair of the mechanism on the sample, removing compares P = (1 − q)B + qA with Q = B, so that
    L = ln(1 − q + q·e^z) for the loss z of the mechanism; adding exchanges P and Q.      [ZDW22, Thm 11]
    """

    inner: Law
    rate: float
    added: bool = False

    def __post_init__(self) -> None:
        check(self.rate, "rate", above=0.0, below=1.0, ends="below")

    @property
    def least(self) -> float:
        return -self._loss(self.inner.greatest) if self.added else self._lowest

    @property
    def greatest(self) -> float:
        return -self._lowest if self.added else self._loss(self.inner.greatest)

    @property
    def _lowest(self) -> float:
        """The loss of removing at the least z, which is −∞ where B is and A is not."""
        return self._loss(-math.inf if self.rate < 1.0 and self.inner.reversed().infinite > 0.0 else self.inner.least)

    @property
    def infinite(self) -> float:
        if not self.added:
            return self.rate * self.inner.infinite
        # Without sampling, Q = A may have no mass where P = B has some.
        return self.inner.reversed().infinite if self.rate == 1.0 else 0.0

    @property
    def blur(self) -> float:
        """The error of z is F·|z| plus the error of the mechanism's edges; e^l has an error of a factor 1 ± 2F.

        dL/dz is 1 − (1 − q)e^{−L} = y, at most 1. Above 0, |z| ≤ 1 + |L| + ln(1/q); below 0, |z|·y ≤ |L| + y·ln(1/y).
        """
        return (FUNCTIONS + self.inner.blur) * (4 - math.log(self.rate))

    def atoms(self, low: float, high: float, /) -> Vector | None:
        if self.added:
            found = PoissonLaw(self.inner, self.rate).atoms(-high, -low)
            return None if found is None else -found[::-1]
        if self.rate == 1.0:
            return self.inner.atoms(low, high)
        inside = self.inner.atoms(*map(float, _inner_edges(np.array((low, high)), self.rate)))
        if inside is None:
            return None
        losses = self._losses(inside)
        if self.inner.reversed().infinite > 0.0:
            losses = np.append(math.log1p(-self.rate), losses)
        return distinct(losses)

    def cells(self, edges: Vector) -> LossCells:
        if self.added:
            found = PoissonLaw(self.inner, self.rate).cells(-edges[::-1])
            return LossCells(found.log_q[::-1], found.log_p[::-1], found.slack[::-1])
        if self.rate == 1.0:
            return self.inner.cells(edges)
        inside = _inner_edges(edges, self.rate)
        inner = self.inner.cells(inside)
        # Where only B has mass, z = −∞ and L is the least loss.
        only = self.inner.reversed().infinite
        place = int(np.isneginf(inside).sum()) - 1
        log_q, slack = inner.log_q, inner.slack
        if only > 0.0 and 0 <= place < len(log_q):
            log_q, slack = log_q.copy(), slack.copy()
            log_q[place] = np.logaddexp(log_q[place], math.log(only))
            slack[place] += 4 * FUNCTIONS
        return _mixed(LossCells(inner.log_p, log_q, slack), self.rate)

    def log_moment_above(self, tilt: float, edge: float) -> float:
        """E_B[(1 − q + q·e^z)^{λ+1}; z above], which for z ≥ 0 is at most the moment without sampling."""
        if math.isfinite(self.greatest):
            return bounded_moment(self, tilt, edge)
        if self.added:  # only without sampling, where the loss is the mechanism's own
            return self.inner.reversed().log_moment_above(tilt, edge)
        inner = float(_inner_edges(np.array((edge,)), self.rate)[0])
        return self.inner.log_moment_above(tilt, max(0.0, inner - self.blur * (1 + inner)))

    def reversed(self) -> PoissonLaw:
        return PoissonLaw(self.inner, self.rate, not self.added)

    def _loss(self, inner: float) -> float:
        """ln(1 − q + q·e^z)."""
        return inner if self.rate == 1.0 or inner == math.inf else float(self._losses(np.array((inner,)))[0])

    def _losses(self, inner: Vector) -> Vector:
        near = np.log1p(self.rate * np.expm1(np.clip(inner, -1.0 if self.rate > 0.5 else -np.inf, 700.0)))
        # Far below 0, q·(e^z − 1) may be close to −1, but then 1 − q is exact.
        below = np.logaddexp(math.log1p(-self.rate), np.minimum(inner, 0.0) + math.log(self.rate))
        far = [inner > 700.0, (inner < -1.0) & (self.rate > 0.5)]
        return np.select(far, [inner + math.log(self.rate), below], near)


def _inner_edges(edges: Vector, rate: float | Vector) -> Vector:
    """z = ln((e^l − 1 + q)/q), −∞ below the least loss: near 0 by e^l − 1, far from it by e^l."""
    rest, near = 1 - rate, np.clip(edges, -0.5, 1.0)
    with np.errstate(divide="ignore"):
        below = np.log(np.maximum(np.exp(np.minimum(edges, -0.5)) - rest, 0.0) / rate)
        middle = np.log1p(np.maximum(np.expm1(near) / rate, -1.0))
    above = edges + np.log1p(-rest * np.exp(-np.maximum(edges, 1.0))) - np.log(rate)
    return np.where(edges > 1.0, above, np.where(edges < -0.5, below, middle))


def _mixed(inner: LossCells, rate: float | Vector) -> LossCells:
    """The masses of P = (1 − q)B + qA and of Q = B."""
    log_p = np.logaddexp(np.log1p(-rate) + inner.log_q, np.log(rate) + inner.log_p)
    rounding = FUNCTIONS * (4 - np.maximum(log_p, -1e300))
    off = inner.slack + np.where(np.isneginf(log_p), 0.0, rounding)
    return joined(Masses(log_p, off), Masses(inner.log_q, inner.slack))


def is_sampled_gaussian(law: Law) -> TypeGuard[PoissonLaw]:
    """Whether `sampled_gaussians` can compute its cells."""
    return isinstance(law, PoissonLaw) and isinstance(law.inner, GaussianLaw) and law.rate < 1.0


def sampled_gaussians(laws: Sequence[PoissonLaw], edges: Sequence[Vector]) -> list[LossCells]:
    """`law.cells(edges)` for many sampled Gaussian laws in one array, because calls cost more time than arithmetic.

    Every edge has its own q and μ. The cell between the last edge of a law and the first of the next is left out.
    """
    row = np.concatenate([-own[::-1] if law.added else own for law, own in zip(laws, edges, strict=True)])
    lengths = [len(own) for own in edges]
    rates = np.repeat([law.rate for law in laws], lengths)
    mus = np.repeat([law.inner.mu for law in laws if isinstance(law.inner, GaussianLaw)], lengths)
    found = _mixed(gaussian_cells(_inner_edges(row, rates), mus), rates[:-1])
    cells, start = [], 0
    for law, length in zip(laws, lengths, strict=True):
        log_p, log_q, slack = (part[start : start + length - 1] for part in found)
        cells.append(LossCells(log_q[::-1], log_p[::-1], slack[::-1]) if law.added else LossCells(log_p, log_q, slack))
        start += length
    return cells


@dataclass(frozen=True, slots=True)
class SubsetLaw:
    """A sample of fixed size, a fraction q of everybody, without replacement; one person is replaced.

    Let (A, B) be the pair of the mechanism for replacing one person. Above 0 the profile is the profile of
    ((1 − q)B + qA, B), below 0 the profile of (A, (1 − q)A + qB); the rest of the mass is at 0.  [ZDW22, Prop. 30]
    """

    inner: Law
    rate: float

    def __post_init__(self) -> None:
        check(self.rate, "rate", above=0.0, below=1.0, ends="below")

    @property
    def least(self) -> float:
        return min(0.0, self._below().least)

    @property
    def greatest(self) -> float:
        return max(0.0, self._above().greatest)

    @property
    def infinite(self) -> float:
        return self._above().infinite

    @property
    def blur(self) -> float:
        return max(self._above().blur, self._below().blur)

    def atoms(self, low: float, high: float, /) -> Vector | None:
        below, above = (
            self._below().atoms(min(low, 0.0), min(high, 0.0)),
            self._above().atoms(max(low, 0.0), max(high, 0.0)),
        )
        if below is None or above is None:
            return None
        return distinct(np.concatenate((below[below < 0.0], (0.0,), above[above > 0.0])))

    def cells(self, edges: Vector) -> LossCells:
        zero = int(np.searchsorted(edges, 0.0))
        there = zero < len(edges) and edges[zero] == 0.0
        sides = edges if there else np.insert(edges, zero, 0.0)
        below, above = (self._below().cells(sides[: zero + 1]), self._above().cells(sides[zero:]))
        log_p, log_q, slack = (np.concatenate(both) for both in zip(below, above, strict=True))
        if zero > 0:  # the atom at 0 is counted to its left
            _put(log_p, log_q, slack, zero - 1, *self._atom())
        if there:
            return LossCells(log_p, log_q, slack)
        if zero in (0, len(edges)):  # all edges are on one side: the cell next to 0 is not needed
            kept = slice(1, None) if zero == 0 else slice(None, -1)
            return LossCells(log_p[kept], log_q[kept], slack[kept])
        _put(log_p, log_q, slack, zero - 1, log_p[zero], log_q[zero], slack[zero])
        return LossCells(*(np.delete(part, zero) for part in (log_p, log_q, slack)))

    def _above(self) -> PoissonLaw:
        return PoissonLaw(self.inner, self.rate)

    def _below(self) -> PoissonLaw:
        return PoissonLaw(self.inner.reversed(), self.rate, added=True)

    def _atom(self) -> tuple[float, float, float]:
        """ln of the P- and of the Q-mass at 0, which are equal, and their slack."""
        half = np.array((-math.inf, 0.0, math.inf))
        below, above = self._below().cells(half), self._above().cells(half)
        outside = math.exp(below.log_p[0]) + math.exp(above.log_p[1]) + self.infinite
        error = 8 * FUNCTIONS + 2 * float(max(below.slack[0], above.slack[1]))
        atom = 1.0 - outside
        if atom > 4 * error:  # −ln(1 − x) ≤ 2x for x ≤ ½
            return math.log(atom), math.log(atom), 2 * error / atom
        most = math.log(min(1.0, max(atom, 0.0) + error))
        return most, most, math.inf

    def log_moment_above(self, tilt: float, edge: float) -> float:
        return self._above().log_moment_above(tilt, edge)

    def reversed(self) -> SubsetLaw:
        """Exchanging A and B exchanges the two halves."""
        return SubsetLaw(self.inner.reversed(), self.rate)


def _put(
    log_p: Vector, log_q: Vector, slack: Vector, cell: int, more_p: float, more_q: float, more_slack: float
) -> None:
    """Add masses to a cell. A mass that is only bounded from above may be anything from 0 to its bound."""
    shares = [_share(more, here[cell]) for more, here in ((more_p, log_p), (more_q, log_q))]
    off = []
    for share in shares:  # of the old mass and of the new one
        parts = ((1 - share, float(slack[cell])), (share, more_slack))
        off.append(sum(part * (2.0 if math.isinf(own) else own) for part, own in parts if part > 0.0))
    known = [own if math.isfinite(own) else 0.0 for own in (float(slack[cell]), more_slack)]
    log_p[cell], log_q[cell] = np.logaddexp(log_p[cell], more_p), np.logaddexp(log_q[cell], more_q)
    rounding = FUNCTIONS * (4 + max(abs(float(log)) for log in (0.0, log_p[cell], log_q[cell]) if log > -math.inf))
    if max(off) < 0.5:  # −ln(1 − x) ≤ 2x for x ≤ ½
        slack[cell] = 2 * max(off) + rounding
    else:  # only an upper bound is left
        log_p[cell] += max(known) + rounding
        log_q[cell] += max(known) + rounding
        slack[cell] = math.inf


def _share(more: float, here: float) -> float:
    """e^more as a share of e^more + e^here."""
    return 1 / (1 + math.exp(min(700.0, here - more))) if more > -math.inf else 0.0
