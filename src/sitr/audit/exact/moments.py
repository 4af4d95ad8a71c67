"""Moments of the losses of many pairs at once: K(λ) = ln E[e^{λL}], the mean κ, and ψ(λ) = K(λ) − λκ.

With β = Q's mass outside of P, E[e^{λL}] = 1 + λβ + E[g] with g = e^{λl} − 1 + λ(e^{−l} − 1) ≥ 0, because both P and
Q add up to 1; and κ = β + E[l − 1 + e^{−l}]. With x = l − m for a float m near κ and d = κ − m, E[e^{λx}] = 1 + λd +
E[h] with h = e^{λx} − 1 − λx ≥ 0, so ψ(λ) = ln(1 + λd + E[h]) − λd.

If a loss is wrong by e, then g is wrong by at most λe·|e^{λl} − e^{−l}|·e^{(λ+1)e}, which is at most that times
|e^{λl} − 1| + |e^{−l} − 1|, and h by |λ|e·|e^{λx} − 1|·e^{|λ|e} and a term of second order, which e^{|λ|e} covers in
the same way. E|e^{λl} − 1| is at most E[e^{λl} − 1] + 2·min(1, λE|l|).

At λ, λ + s, λ + 2s, … the rises r = e^{λl} − 1 follow from e = e^{sl} − 1: the next is r(1 + e) + e. Both terms have
the same sign and |r| grows, so each step adds at most 2·`FUNCTIONS` to the relative error of r. At 2λ the rise is
r(2 + r), with at most twice the relative error and two roundings more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sitr.audit.exact.pairs import Ends, Pairs
from sitr.audit.exact.table import Flags, Matrix, Rows
from sitr.loss.law import FUNCTIONS, ROUNDING, Vector
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


class Value(NamedTuple):
    """A convex function f of λ at one λ, for each pair: bounds on f, f′, f″ and f‴/f″."""

    lower: Vector
    upper: Vector
    slope_lower: Vector
    slope_upper: Vector
    curve_lower: Vector
    curve_upper: Vector
    skew_lower: Vector
    skew_upper: Vector


@dataclass(frozen=True, slots=True)
class Steps:
    """Values of λ above 0: equally spaced, or each twice the one before."""

    first: float
    step: float = 0.0
    count: int = 1
    doubled: bool = False

    def __iter__(self) -> Iterator[float]:
        for place in range(self.count):
            yield self.first * 2**place if self.doubled else self.first + place * self.step

    def error(self, place: int) -> float:
        """The relative error of a rise after this number of steps, in units of 2·`FUNCTIONS`."""
        return float(2**place if self.doubled else 1 + place)


KEPT = 1 << 23
"""Losses of so few outcomes in all are computed once and kept."""

SAME = 1e-14
"""Losses that differ by less are merged, if that saves much; the difference counts as an error."""

CACHED = 1 << 13
"""Moments of this many losses are computed at once: few enough for a processor's cache."""

FAR = 700.0
"""Beyond this λl, moments are computed from their largest term."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some pairs, all of whose losses are finite. Outcomes that P does not have count with a mass and a loss of 0."""

    p: Matrix
    losses: Matrix
    balance: Vector
    """E[e^{−l} − 1] and Q's mass outside of P, which is 0 but for rounding."""
    outside: Vector
    """Q's mass outside of P."""
    size: Vector
    """E|l|."""
    wrong: Vector
    """The error of every loss."""
    fallen: Vector
    """E|e^{−l} − 1|."""
    mean: Ends
    """κ = E[L]."""
    least: Vector
    greatest: Vector
    """Bounds on all losses."""
    rows: Rows | None = None
    """The rows of `p` and `losses` that these pairs have; None for all."""

    @classmethod
    def of(cls, p: Matrix, q: Matrix, pairs: Pairs) -> Block:
        both = p > 0.0
        losses = np.log(np.where(both, p, 1.0) / np.where(both, q, 1.0))
        outside = np.where(both, 0.0, q).sum(axis=1)
        p, losses, width = merged(p, losses)
        falls = np.expm1(-losses)
        least, greatest = losses.min(axis=1), losses.max(axis=1)
        most = np.maximum(np.abs(least), np.abs(greatest))
        wrong = pairs.loss_error(most) + FUNCTIONS * most + width  # with room for the rounding of λl
        fallen, size = _dot(p, np.abs(falls)), _dot(p, np.abs(losses))
        middle = _dot(p, np.maximum(losses + falls, 0.0)) + outside
        error = relative_error(pairs) * middle + FUNCTIONS * (size + fallen) + 1.01 * wrong * fallen
        mean = Ends(np.maximum(0.0, middle - error), middle + error)
        balance = _dot(p, falls) + outside
        return cls(p, losses, balance, outside, size, wrong, fallen, mean, least - wrong, greatest + wrong)

    @classmethod
    def joined(cls, blocks: list[Block]) -> Block:
        """All pairs of several blocks. Where outcomes were merged, others get outcomes without mass."""
        width = max(block.p.shape[1] for block in blocks)
        columns = [[*block._columns()] for block in blocks]
        for part in (one for one in columns if one[0].shape[1] < width):
            part[:2] = (np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in part[:2])
        p, losses, balance, outside, size, wrong, fallen, low, high, least, greatest = (
            np.concatenate(one) for one in zip(*columns, strict=True)
        )
        return cls(p, losses, balance, outside, size, wrong, fallen, Ends(low, high), least, greatest)

    def _columns(self) -> Iterator[Any]:
        yield from (self.p, self.losses, self.balance, self.outside, self.size, self.wrong, self.fallen)
        yield from (*self.mean, self.least, self.greatest)

    def some(self, kept: Rows) -> Block:
        """Only some of the pairs. Their probabilities and losses are not copied."""
        return Block(
            self.p,
            self.losses,
            self.balance[kept],
            self.outside[kept],
            self.size[kept],
            self.wrong[kept],
            self.fallen[kept],
            Ends(self.mean.lower[kept], self.mean.upper[kept]),
            self.least[kept],
            self.greatest[kept],
            kept if self.rows is None else self.rows[kept],
        )

    def parts(self, size: int) -> Iterator[tuple[slice, Matrix, Matrix]]:
        """The probabilities and losses of a few pairs at a time."""
        for start in range(0, len(self.wrong), size):
            part = slice(start, start + size)
            rows = part if self.rows is None else self.rows[part]
            yield part, self.p[rows], self.losses[rows]


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


class Sizes(NamedTuple):
    """What is known of each pair without a λ."""

    mean_lower: Vector
    mean_upper: Vector
    variance_lower: Vector
    variance_upper: Vector
    least: Vector
    greatest: Vector


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of pairs without infinite losses in their direction."""

    pairs: Pairs
    kept: Block | None = None

    @classmethod
    def of(cls, pairs: Pairs) -> Moments:
        """With the losses of a few outcomes kept."""
        few = len(pairs) * len(pairs.table.outcomes) <= KEPT
        return cls(pairs, Block.joined([Block.of(p, q, pairs) for p, q in pairs.blocks()]) if few else None)

    def some(self, kept: Rows) -> Moments:
        """Only some of the pairs, which are numbered in order."""
        if len(kept) == len(self.pairs):
            return self
        if self.kept is None:
            return Moments.of(self.pairs.some(kept))
        return Moments(self.pairs.some(kept), self.kept.some(kept))

    def _each(self) -> Iterator[Block]:
        return iter((self.kept,)) if self.kept else (Block.of(p, q, self.pairs) for p, q in self.pairs.blocks())

    @property
    def cells(self) -> int:
        """How many losses one look takes."""
        return len(self.pairs) * self.kept.p.shape[1] if self.kept else len(self.pairs) * len(self.pairs.table.outcomes)

    def least_and_greatest(self) -> tuple[Vector, Vector]:
        """Bounds on all losses of each pair."""
        found = [(block.least, block.greatest) for block in self._each()]
        return np.concatenate([low for low, _ in found]), np.concatenate([high for _, high in found])

    def mean(self) -> Ends:
        """κ = E[L]."""
        return _joined(block.mean for block in self._each())

    @cached_property
    def sizes(self) -> Sizes:
        """Means, variances, and the ends of all losses."""
        return Sizes(*self.mean(), *self.variance(), *self.least_and_greatest())

    def log_moment(self, tilt: float) -> Ends:
        """K(λ) for λ > 0."""
        (found,) = self.log_moments(Steps(tilt))
        return Ends(found.lower, found.upper)

    def log_moments(self, steps: Steps) -> list[Value]:
        """K at several λ > 0."""
        return _valued(self._log_moments(block, steps) for block in self._each())

    def _log_moments(self, block: Block, steps: Steps) -> Iterator[Value]:
        most = np.maximum(-block.least, block.greatest)
        for tilt, tilted in zip(steps, Tilted.each(block, View(block.greatest), steps), strict=True):
            terms = np.maximum(0.0, tilted.rise + tilt * block.balance)
            risen = np.abs(tilted.rise) + 2 * np.minimum(1.0, tilt * block.size)
            spread = np.expm1(np.minimum(FAR, (tilt + 1) * block.wrong)) + 1
            error = self.pairs.wrong * terms + self._rounding(tilted) * (risen + tilt * (block.fallen + block.outside))
            error = error + tilt * block.wrong * spread * (risen + block.fallen)
            low, high = (np.log1p(np.maximum(0.0, terms + side * error)) for side in (-1, 1))
            value = Ends(low * (1 - FUNCTIONS), high * (1 + FUNCTIONS))
            if tilted.is_far:
                value = self._far(block, View(block.greatest), tilt, tilted.far, value)
            yield Value(*value, *self._derivatives(tilted, tilt, most, block.wrong))

    def _rounding(self, tilted: Tilted) -> float:
        """The relative error of a sum of products with rises."""
        return 2 * FUNCTIONS * tilted.error + 2 * self.pairs.summed

    def _derivatives(self, tilted: Tilted, tilt: float, most: Vector, wrong: Vector) -> tuple[Vector, ...]:
        """Bounds on the mean, the variance and the skew of the loss l with weights P·e^{λl}, where |l| ≤ m.

        If weights have a relative error w and losses an error e, the k-th moment is wrong by at most m^k·d with
        d = 2.5w + 3e/m; so a variance by 4m²d, and a third central moment by 16m³d.
        """
        first, second, third = tilted.moments
        weights = 3 * self._rounding(tilted) + self.pairs.wrong + 1.1 * tilt * wrong
        unsure = tilted.far | (tilt * wrong > 0.1) | (weights > 0.1)
        share = 2.5 * weights + 3 * wrong / np.maximum(most, 1e-300)
        variance, central = second - first * first, third - 3 * first * second + 2 * first**3
        low = np.where(unsure, 0.0, np.maximum(0.0, variance - 4 * most**2 * share))
        high = np.where(unsure, most**2, variance + 4 * most**2 * share)
        under, over = central - 16 * most**3 * share, central + 16 * most**3 * share
        with np.errstate(divide="ignore", invalid="ignore"):
            left = under / np.where(under > 0.0, high, low) * (1 - 2 * FUNCTIONS * np.sign(under))
            right = over / np.where(over > 0.0, low, high) * (1 + 2 * FUNCTIONS * np.sign(over))
        known = low > 0.0
        slopes = (np.where(unsure, -most, first - most * share), np.where(unsure, most, first + most * share))
        return *slopes, low, high, np.where(known, left, -2 * most), np.where(known, right, 2 * most)

    def _far(self, block: Block, view: View, tilt: float, far: Flags, near: Ends) -> Ends:
        """ln Σ P·e^{λx} of pairs that are far from its largest term: smaller ones count relative to it."""
        lower, upper = near.lower.copy(), near.upper.copy()
        places = np.flatnonzero(far)
        for part, p, losses in block.some(places).parts(max(1, CACHED // block.p.shape[1])):
            powers = tilt * view.of(losses, places[part])
            with np.errstate(divide="ignore"):
                logs = np.where(p > 0.0, powers + np.log(p), -np.inf)
            top = logs.max(axis=1)
            found = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
            size = np.abs(powers).max(axis=1) + 1000
            error = tilt * block.wrong[places[part]] * 1.01 + relative_error(self.pairs) + 4 * FUNCTIONS * size
            lower[places[part]], upper[places[part]] = np.maximum(0.0, found - error), found + error
        return Ends(lower, upper)

    def centered(self, sign: int, steps: Steps) -> list[Value]:
        """ψ(λ) or ψ(−λ) at several λ > 0. Every pair must have finite losses in both directions."""
        return _valued(self._centered(block, sign, steps) for block in self._each())

    def _centered(self, block: Block, sign: int, steps: Steps) -> Iterator[Value]:
        view, wrong, most = _around_mean(block, sign)
        mean, middle = block.mean, view.middle
        assert middle is not None
        for tilt, tilted in zip(steps, Tilted.each(block, view, steps), strict=True):
            linear, size = tilted.linear, np.sqrt(tilted.square) * (1 + 1e-9)  # E|x| ≤ √E[x²]
            off = tilt * ((mean.upper - mean.lower) / 2 + 4 * ROUNDING * middle)
            terms = np.maximum(0.0, tilted.rise - tilt * linear)
            risen = np.abs(tilted.rise) + 2 * np.minimum(1.0, tilt * size)
            spread = np.expm1(np.minimum(FAR, tilt * wrong)) + 1
            error = self.pairs.wrong * terms + self._rounding(tilted) * (risen + tilt * size)
            error = error + tilt * wrong * spread * (risen + tilt * wrong)
            low, high = np.maximum(0.0, terms - error), terms + error
            # ln(1 + y + d) − d moves by at most 4/3·(y + |d|) or by 4/3 for each d, as long as |d| ≤ ¼.
            lower = np.log1p(low) * (1 - FUNCTIONS) - 2 * off * np.minimum(1.0, low + off)
            upper = np.log1p(high) * (1 + FUNCTIONS) + 2 * off * np.minimum(1.0, high + off)
            if tilted.is_far:
                lower, upper = self._far(block, view, tilt, tilted.far, Ends(lower + off, upper - off))
                lower, upper = lower - off, upper + off
            unsure = off > 0.25
            ends = Ends(np.where(unsure, 0.0, np.maximum(0.0, lower)), np.where(unsure, np.inf, upper))
            slope_low, slope_high, *rest = self._derivatives(tilted, tilt, most, wrong)
            yield Value(*ends, slope_low - off / tilt, slope_high + off / tilt, *rest)

    def variance(self) -> Ends:
        """Var L."""
        found = []
        for block in self._each():
            view, wrong, most = _around_mean(block, 1)
            _, _, low, high, _, _ = self._derivatives(next(Tilted.each(block, view, Steps(0.0))), 0.0, most, wrong)
            found.append(Ends(low, high))
        return _joined(found)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Losses as they are, or x = ±(l − m)."""

    most: Vector
    """At least the largest of each pair."""
    middle: Vector | None = None
    sign: int = 1

    def of(self, losses: Matrix, part: Any) -> Matrix:
        """The values of some pairs."""
        return losses if self.middle is None else self.sign * (losses - self.middle[part][:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Tilted:
    """Sums over outcomes with weights P·e^{λl}."""

    rise: Vector
    """E[e^{λl} − 1]; too small for pairs that are far."""
    moments: tuple[Vector, Vector, Vector]
    """The first three moments of l with those weights."""
    linear: Vector
    square: Vector
    """E[l] and E[l²]."""
    far: Flags
    """Pairs whose largest λl is beyond `FAR`."""
    error: float
    """The relative error of a rise, in units of 2·`FUNCTIONS`."""

    @property
    def is_far(self) -> bool:
        return bool(self.far.any())

    @classmethod
    def each(cls, block: Block, view: View, steps: Steps) -> Iterator[Tilted]:
        """At each λ in turn."""
        tilts, count = [*steps], len(block.wrong)
        sums, total = np.empty((len(tilts), count, 4)), np.empty((count, 4))
        for part, p, losses in block.parts(max(1, CACHED // block.p.shape[1])):
            values = view.of(losses, part)
            total[part] = _sums(p, values, steps, float(view.most[part].max()), sums[:, part])
        for place, (tilt, found) in enumerate(zip(tilts, sums, strict=True)):
            weights = total + found
            first, second, third = (weights[:, power] / weights[:, 0] for power in (1, 2, 3))
            far = tilt * view.most > FAR
            yield cls(found[:, 0], (first, second, third), total[:, 1], total[:, 2], far, steps.error(place))


def _sums(p: Matrix, values: Matrix, steps: Steps, top: float, sums: Any) -> Matrix:
    """E[l^k·(e^{λl} − 1)] for k from 0 to 3 and all λ, into the array given; E[l^k] is returned."""
    products = np.empty((len(p), 4, p.shape[1]))
    products[:, 0] = p
    for power in range(3):
        np.multiply(products[:, power], values, out=products[:, power + 1])
    grown = np.expm1(np.minimum(steps.step * values, FAR)) if steps.step else values
    growth = 1 + grown
    rises = values
    for place, tilt in enumerate(steps):
        if place == 0 or tilt * top > FAR:
            rises = np.expm1(np.minimum(tilt * values, FAR))
        elif steps.doubled:
            rises *= rises + 2
        else:
            rises *= growth
            rises += grown
        np.matmul(products, rises[:, :, None], out=sums[place][:, :, None])
    base: Matrix = products.sum(axis=2)
    return base


def _around_mean(block: Block, sign: int) -> tuple[View, Vector, Vector]:
    """x = ±(l − m) for a float m near κ, the error of x, and a bound on |x|."""
    middle = (block.mean.lower + block.mean.upper) / 2
    wrong = block.wrong + 4 * ROUNDING * (np.maximum(-block.least, block.greatest) + middle)
    above, below = block.greatest - middle + wrong, middle - block.least + wrong
    return View(above if sign > 0 else below, middle, sign), wrong, np.maximum(above, below)


def _dot(weights: Matrix, values: Matrix) -> Vector:
    """Σ over outcomes, for each pair."""
    found: Vector = np.einsum("ij,ij->i", weights, values)
    return found


def _valued(found: Iterable[Iterator[Value]]) -> list[Value]:
    """One value for each λ, of all blocks."""
    return [
        Value(*(np.concatenate(column) for column in zip(*parts, strict=True))) for parts in zip(*found, strict=True)
    ]


def relative_error(pairs: Pairs) -> float:
    """The relative error of a weighted sum of numbers of one sign, apart from the error of losses."""
    return 2 * FUNCTIONS + 2 * pairs.summed + pairs.wrong


def _joined(found: Iterable[Ends]) -> Ends:
    parts = list(found)
    return Ends(np.concatenate([one.lower for one in parts]), np.concatenate([one.upper for one in parts]))


def smallest_start(largest: float) -> float:
    """Where to start looking for a supremum over λ > 0: a λ at which moments are neither flat nor steep."""
    return 1.0 / max(1.0, largest) if math.isfinite(largest) else 1.0
