"""Moments of the losses of many pairs at once: K(λ) = ln E[e^{λL}], the mean κ, and ψ(λ) = K(λ) − λκ.

With β = Q's mass outside of P, E[e^{λL}] = 1 + λβ + E[g] with g = e^{λl} − 1 + λ(e^{−l} − 1) ≥ 0, because both P and
Q add up to 1; and κ = β + E[l − 1 + e^{−l}]. With x = l − m for a float m near κ and d = κ − m, E[e^{λx}] = 1 + λd +
E[h] with h = e^{λx} − 1 − λx ≥ 0, so ψ(λ) = ln(1 + λd + E[h]) − λd.

If a loss is wrong by e, then g is wrong by at most λe·|e^{λl} − e^{−l}|·e^{(λ+1)e}, which is at most that times
|e^{λl} − 1| + |e^{−l} − 1|, and h by |λ|e·|e^{λx} − 1|·e^{|λ|e} and a term of second order, which e^{|λ|e} covers in
the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sitr.audit.exact.pairs import Ends, Pairs
from sitr.audit.exact.table import Matrix
from sitr.loss.law import FUNCTIONS, ROUNDING, Vector
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


class Value(NamedTuple):
    """A convex function of λ at one λ, as an interval for each pair, and its second derivative there from below."""

    lower: Vector
    upper: Vector
    curve: Vector


KEPT = 1 << 23
"""Losses of so few outcomes in all are computed once and kept."""

SAME = 1e-14
"""Losses that differ by less are merged, if that saves much; the difference counts as an error."""

FAR = 500.0
"""Beyond this λl, moments are computed from their largest term."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some pairs, all of whose losses are finite. Outcomes that P does not have count with a mass and a loss of 0."""

    p: Matrix
    losses: Matrix
    falls: Matrix
    """e^{−l} − 1."""
    outside: Vector
    """Q's mass outside of P."""
    wrong: Vector
    """The error of every loss."""
    fallen: Vector
    """E|e^{−l} − 1|."""
    mean: Ends
    """κ = E[L]."""
    least: Vector
    greatest: Vector
    """Bounds on all losses."""

    @classmethod
    def of(cls, p: Matrix, q: Matrix, pairs: Pairs) -> Block:
        both = p > 0.0
        losses = np.log(np.where(both, p, 1.0) / np.where(both, q, 1.0))
        outside = np.where(both, 0.0, q).sum(axis=1)
        p, losses, width = merged(p, losses)
        falls = np.expm1(-losses)
        least, greatest = losses.min(axis=1), losses.max(axis=1)
        wrong = pairs.loss_error(np.maximum(np.abs(least), np.abs(greatest))) + width
        fallen = _dot(p, np.abs(falls))
        middle = _dot(p, np.maximum(losses + falls, 0.0)) + outside
        rounding = FUNCTIONS * (_dot(p, np.abs(losses)) + fallen)
        error = relative_error(pairs) * middle + rounding + 1.01 * wrong * fallen
        mean = Ends(np.maximum(0.0, middle - error), middle + error)
        return cls(p, losses, falls, outside, wrong, fallen, mean, least - wrong, greatest + wrong)

    def some(self, kept: Vector) -> Block:
        """Only some of the pairs."""
        return Block(
            self.p[kept],
            self.losses[kept],
            self.falls[kept],
            self.outside[kept],
            self.wrong[kept],
            self.fallen[kept],
            Ends(self.mean.lower[kept], self.mean.upper[kept]),
            self.least[kept],
            self.greatest[kept],
        )


def merged(p: Matrix, losses: Matrix) -> tuple[Matrix, Matrix, float]:
    """Outcomes of equal loss as one, and the largest difference of losses that were merged; if that saves much.

    Losses are sorted, and neighbours that differ by a few roundings belong together. Missing outcomes have no mass and
    a loss of 0.
    """
    one = np.sort(losses[0])
    if np.count_nonzero(np.diff(one) > SAME) + 1 > len(one) // 4:
        return p, losses, 0.0
    order = np.argsort(losses, axis=1)
    ordered = np.take_along_axis(losses, order, axis=1)
    new = np.diff(ordered, axis=1, prepend=ordered[:, :1]) > SAME
    groups = np.cumsum(new, axis=1)
    count = int(groups.max()) + 1
    if count > losses.shape[1] // 2:
        return p, losses, 0.0
    flat = groups + count * np.arange(len(p))[:, None]
    masses = np.bincount(flat.ravel(), np.take_along_axis(p, order, axis=1).ravel(), minlength=len(p) * count)
    first = np.zeros(len(p) * count)
    new[:, 0] = True
    first[flat[new]] = ordered[new]
    width = float((ordered - first[flat]).max())
    return masses.astype(np.float64, copy=False).reshape(len(p), count), first.reshape(len(p), count), width


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The moments of pairs without infinite losses in their direction."""

    pairs: Pairs
    blocks: tuple[Block, ...] = ()

    @classmethod
    def of(cls, pairs: Pairs) -> Moments:
        """With the losses of a few outcomes kept."""
        few = len(pairs) * len(pairs.table.outcomes) <= KEPT
        return cls(pairs, tuple(Block.of(p, q, pairs) for p, q in pairs.blocks()) if few else ())

    def some(self, kept: Vector) -> Moments:
        """Only some of the pairs."""
        if bool(np.all(kept)):
            return self
        if not self.blocks:
            return Moments.of(self.pairs.some(kept))
        ends = np.cumsum([len(block.p) for block in self.blocks])[:-1]
        parts = zip(self.blocks, np.split(kept, ends), strict=True)
        return Moments(self.pairs.some(kept), tuple(block.some(part) for block, part in parts if part.any()))

    def _each(self) -> Iterator[Block]:
        return iter(self.blocks) if self.blocks else (Block.of(p, q, self.pairs) for p, q in self.pairs.blocks())

    @property
    def cells(self) -> int:
        """How many losses one look takes."""
        return sum(block.p.size for block in self.blocks) or len(self.pairs) * len(self.pairs.table.outcomes)

    @property
    def _factor(self) -> float:
        return relative_error(self.pairs)

    def least_and_greatest(self) -> tuple[Vector, Vector]:
        """Bounds on all losses of each pair."""
        found = [(block.least, block.greatest) for block in self._each()]
        return np.concatenate([low for low, _ in found]), np.concatenate([high for _, high in found])

    def mean(self) -> Ends:
        """κ = E[L]."""
        return _joined(block.mean for block in self._each())

    def log_moment(self, tilt: float) -> Value:
        """K(λ) for λ > 0."""
        return _valued(self._log_moment(block, tilt) for block in self._each())

    def _log_moment(self, block: Block, tilt: float) -> Value:
        powers = tilt * block.losses
        top = powers.max(axis=1)
        rises = np.expm1(np.minimum(powers, FAR, out=powers) if np.any(top > FAR) else powers)
        risen = _dot(block.p, np.abs(rises))
        terms = _dot(block.p, rises + tilt * block.falls) + tilt * block.outside
        spread = np.expm1(np.minimum(FAR, (tilt + 1) * block.wrong)) + 1
        error = self._factor * (risen + tilt * (block.fallen + block.outside))
        error = error + tilt * block.wrong * spread * (risen + block.fallen)
        low, high = (np.log1p(np.maximum(0.0, terms + side * error)) for side in (-1, 1))
        curve = self._curve(block, rises, tilt, top)
        near = Value(low * (1 - FUNCTIONS), high * (1 + FUNCTIONS), curve)
        if not bool(np.any(top > FAR)):
            return near
        far = self._far(block, tilt * block.losses, tilt)
        return Value(np.where(top > FAR, far.lower, near.lower), np.where(top > FAR, far.upper, near.upper), curve)

    def _curve(self, block: Block, rises: Matrix, tilt: float, top: Vector) -> Vector:
        """K″ from below: the variance of the loss with weights P·e^{λl}, less all that errors can change it by.

        With |l| ≤ m, a relative error w of weights changes a variance by at most 8wm², and an error e of losses by 8me.
        """
        weights = block.p * rises
        weights += block.p
        total = weights.sum(axis=1)
        first = _dot(weights, block.losses) / total
        second = np.einsum("ij,ij,ij->i", weights, block.losses, block.losses) / total
        most = np.maximum(-block.least, block.greatest)
        wrong = 2 * self._factor + 1.1 * abs(tilt) * block.wrong
        error = 16 * (most * most * wrong + most * block.wrong)
        return np.where(top > FAR, 0.0, np.maximum(0.0, second - first * first - error))

    def _far(self, block: Block, powers: Matrix, tilt: float) -> Ends:
        """ln Σ P·e^{λx} from its largest term: smaller ones count relative to it."""
        with np.errstate(divide="ignore"):
            logs = np.where(block.p > 0.0, powers + np.log(block.p), -np.inf)
        top = logs.max(axis=1)
        found = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        size = np.abs(powers).max(axis=1) + 1000
        error = abs(tilt) * block.wrong * 1.01 + self._factor + 4 * FUNCTIONS * size
        return Ends(np.maximum(0.0, found - error), found + error)

    def centered(self, tilt: float) -> Value:
        """ψ(λ) for a λ other than 0. Every pair must have finite losses in both directions."""
        return _valued(self._centered(block, tilt) for block in self._each())

    def _centered(self, block: Block, tilt: float) -> Value:
        mean = block.mean
        middle = (mean.lower + mean.upper) / 2
        off = np.abs(tilt) * ((mean.upper - mean.lower) / 2 + 4 * ROUNDING * middle)
        powers = block.losses - middle[:, None]
        powers *= tilt
        if bool(np.any(block.p == 0.0)):
            powers[block.p == 0.0] = 0.0
        top = powers.max(axis=1)
        rises = np.expm1(np.minimum(powers, FAR) if np.any(top > FAR) else powers)
        risen = _dot(block.p, np.abs(rises))
        terms = _dot(block.p, np.maximum(rises - powers, 0.0))
        wrong = block.wrong + 4 * ROUNDING * (np.maximum(-block.least, block.greatest) + middle)
        size = _dot(block.p, np.abs(powers))
        spread = np.expm1(np.minimum(FAR, abs(tilt) * wrong)) + 1
        error = self._factor * terms + 4 * FUNCTIONS * (risen + size)
        error = error + abs(tilt) * wrong * spread * (risen + abs(tilt) * wrong)
        low, high = np.maximum(0.0, terms - error), terms + error
        # ln(1 + y + d) − d moves by at most 4/3·(y + |d|) or by 4/3 for each d, as long as |d| ≤ ¼.
        lower = np.log1p(low) * (1 - FUNCTIONS) - 2 * off * np.minimum(1.0, low + off)
        upper = np.log1p(high) * (1 + FUNCTIONS) + 2 * off * np.minimum(1.0, high + off)
        if bool(np.any(top > FAR)):
            far = self._far(block, powers, tilt)
            lower = np.where(top > FAR, far.lower - off, lower)
            upper = np.where(top > FAR, far.upper + off, upper)
        unsure = off > 0.25
        curve = self._curve(block, rises, tilt, top)
        return Value(np.where(unsure, 0.0, np.maximum(0.0, lower)), np.where(unsure, np.inf, upper), curve)

    def near(self, reach: float, sign: int) -> tuple[Vector, Vector]:
        """Var L from below, and a bound on 2ψ(λ)/λ² for all λ of this sign up to `reach`.

        2h/λ² = x²·k(λx) with k(y) = 2(e^y − 1 − y)/y², which is at most 1 below 0 and at most 1 + (y/3)·e^y above it.
        E[h] with x = l − m bounds ψ whatever m is, because ln(1 + λd + y) − λd ≤ y.
        """
        found = []
        for block in self._each():
            mean = block.mean
            middle = (mean.lower + mean.upper) / 2
            moved = np.where(block.p > 0.0, np.abs(block.losses - middle[:, None]), 0.0)
            wrong = (
                block.wrong
                + (mean.upper - mean.lower)
                + 4 * ROUNDING * (np.maximum(-block.least, block.greatest) + middle)
            )
            away, toward = moved + wrong[:, None], np.maximum(0.0, moved - wrong[:, None])
            same = (block.losses > middle[:, None]) == (sign > 0)
            rise = np.minimum(reach * away, FAR)
            growth = np.where(same | (moved <= wrong[:, None]), 1 + rise / 3 * np.exp(rise), 1.0)
            most = (block.p * away * away * growth).sum(axis=1) * (1 + 2 * self._factor)
            least = (block.p * toward * toward).sum(axis=1) * (1 - 2 * self._factor)
            found.append((least, most))
        return np.concatenate([low for low, _ in found]), np.concatenate([high for _, high in found])


def _dot(weights: Matrix, values: Matrix) -> Vector:
    """Σ over outcomes, for each pair."""
    found: Vector = np.einsum("ij,ij->i", weights, values)
    return found


def _valued(found: Iterable[Value]) -> Value:
    parts = list(found)
    return Value(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def relative_error(pairs: Pairs) -> float:
    """The relative error of a weighted sum of numbers of one sign, apart from the error of losses."""
    return 2 * FUNCTIONS + 2 * pairs.summed + pairs.wrong


def _joined(found: Iterable[Ends]) -> Ends:
    parts = list(found)
    return Ends(np.concatenate([one.lower for one in parts]), np.concatenate([one.upper for one in parts]))


def smallest_start(largest: float) -> float:
    """Where to start looking for a supremum over λ > 0: a λ at which moments are neither flat nor steep."""
    return 1.0 / max(1.0, largest) if math.isfinite(largest) else 1.0
