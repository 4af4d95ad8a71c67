"""Bounds on a law of losses by laws with finitely many losses, from above and from below.

Under P, let u = e^{−L}. The hockey-stick is E_P[(1 − e^ε·u)₊], and for a sum it has the same form in each term:
one law dominates another if E[φ(u)] is larger for every decreasing convex φ ≥ 0. Cut the losses into cells.
Splitting the mass of a cell between its first and its last loss, so that the masses under P and Q are kept, gives a
dominating law [DGKM22, Sec. 4]: on the cell, a convex function is below its chord. Merging it at its common loss gives
a dominated law: a convex function of a mean is below the mean of the function. More mass and larger losses dominate,
less mass and smaller losses are dominated. The error of both is Σ (mass)·(width of the cell)²; a cell with a single
loss, or with nearly all of its mass at one end, has no error.

Edges are rounded. If they are off by s, there are losses L″ within s of the true ones that lie between the rounded
edges, and their cells have a common loss within s of the true one. All of the above is done for L″, with s added to or
subtracted from the common loss, and L″ differs from the truth by at most `off` ≥ s in each term of a sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.loss.forms.sampled import is_sampled_gaussian, sampled_gaussians
from sitr.loss.law import FUNCTIONS, ROUNDING, Law, LossCells, Vector, distinct
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

ROW = 1 << 13
"""Edges of different laws are handled together up to about this number, which fits into the processor's cache."""


@lru_cache(maxsize=1)
def grid() -> Vector:
    """The first edges of every law."""
    sizes = np.ldexp(1.0, np.concatenate((np.arange(-50, 12), np.arange(12, 61, 4))))
    found: Vector = np.concatenate(((-math.inf,), -sizes[::-1], (0.0,), sizes, (math.inf,)))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Cells from `low` to `high`, by increasing loss: the `first` and the `last` loss of each, and its masses."""

    low: float
    high: float
    first: Vector
    last: Vector
    masses: LossCells
    log_before: float
    log_beyond: float
    """ln of upper bounds on the P-masses before and beyond all cells."""

    def shares(self, tilt: float) -> Vector:
        """The cube root of (share of the mass tilted by λ)·(variance that splitting adds), for each cell."""
        exponents = np.maximum(self.masses.log_p, -1e300) + tilt * self.common
        weights = np.exp(exponents - exponents.max())
        added = (self.common - self.first) * (self.last - self.common)
        measure = np.maximum(added, np.square(self.last - self.first) / 64)
        found: Vector = np.cbrt(weights / weights.sum() * measure)
        return found

    def doubts(self, tilt: float) -> Vector:
        """How many pieces a cell needs before its tilted mass is known, if that may be significant."""
        log_p = np.maximum(self.masses.log_p, -1e300)
        sure, widths = float((log_p + tilt * self.common).max()), tilt * (self.last - self.first)
        return np.where((log_p + tilt * self.last > sure - 20.0) & (widths > 0.5), np.minimum(widths, 64.0), 0.0)

    @property
    def common(self) -> Vector:
        """The common loss of each cell, approximately."""
        with np.errstate(invalid="ignore"):
            found: Vector = np.clip(self.masses.log_p - self.masses.log_q, self.first, self.last)
        return np.where(np.isnan(found), self.first, found)


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Losses, ln of their P-masses, and a mass at +∞; each loss has an error of at most `off`."""

    losses: Vector
    log_masses: Vector
    infinite: float
    off: float


def off_at(law: Law, losses: Vector) -> Vector:
    """A bound on the error of edges, and of differences of logarithms beside them."""
    return np.asarray((law.blur + 16 * ROUNDING) * (1.0 + np.abs(losses)), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A coarse view of a law: its masses between the losses of a grid, and where it ends."""

    masses: LossCells
    low: float
    greatest: float
    log_above: Vector

    def high(self, log_tail: float) -> float:
        """A loss above which the mass is at most e^{log_tail}."""
        small = np.flatnonzero(self.log_above <= log_tail)
        return max(
            self.low, min(self.greatest, float(grid()[-2]), float(grid()[1:][small[0]]) if len(small) else math.inf)
        )


@lru_cache(maxsize=1024)
def outline(law: Law) -> Outline:
    """The outline of one law, cached because it is needed several times."""
    return _outlined(law, law.cells(grid()))


def outlines(laws: Sequence[Law]) -> list[Outline]:
    """The outlines of many laws, too many to cache."""
    return [_outlined(law, found) for law, found in zip(laws, cells_of(laws, [grid()] * len(laws)), strict=True)]


def _outlined(law: Law, found: LossCells) -> Outline:
    log_above = np.append(np.logaddexp.accumulate(found.log_p[::-1])[::-1][1:], -math.inf)  # above grid()[1:]
    low = float(grid()[1:][max(0, int(np.argmax(np.logaddexp.accumulate(found.log_p) > -50.0)) - 1)])
    return Outline(found, min(max(low, law.least), float(grid()[-2])), law.greatest, log_above)


def highest(laws: Sequence[Law], shapes: Sequence[Outline], log_tail: float) -> list[float]:
    """Like `Outline.high`, but closer: an end that is too far away would give a wide last cell too much weight."""
    ends = [shape.high(log_tail) for shape in shapes]
    near = [place for place, (law, high) in enumerate(zip(laws, ends, strict=True)) if 0.0 < high < law.greatest]
    looks = {place: np.linspace(ends[place] / 2, ends[place], 17) for place in near}
    found = cells_of([laws[place] for place in near], [np.append(looks[place], np.inf) for place in near])
    for place, cells in zip(near, found, strict=True):
        log_above = np.logaddexp.accumulate(cells.log_p_most[::-1])[::-1]
        ends[place] = float(looks[place][np.argmax(np.append(log_above[:-1] <= log_tail, True))])
    return ends


def coarse(shape: Outline, *, high: float, low: float = math.inf) -> Mesh:
    """The cells of the outline from `low` (if given) to `high`, as the start of a refinement."""
    low = min(low, shape.low)
    first, last = np.clip(grid()[:-1], low, high), np.clip(grid()[1:], low, high)
    inside = last > first
    return Mesh(low, high, first[inside], last[inside], LossCells(*(part[inside] for part in shape.masses)), 0.0, 0.0)


def refined(law: Law, mesh: Mesh, *, tilt: float, count: int) -> Mesh:
    """About `count` cells, each with the same share of Σ mass·width²; or one for each loss, if there are few losses."""
    (found,) = refinements([law], [mesh], tilt=tilt, counts=[count])
    return found


def refinements(laws: Sequence[Law], meshes: Sequence[Mesh], *, tilt: float, counts: Sequence[int]) -> list[Mesh]:
    """`refined` for many laws, each with its own number of cells."""
    cuts = [_cut(law, mesh, tilt, count) for law, mesh, count in zip(laws, meshes, counts, strict=True)]
    edges = [np.concatenate(((-np.inf,), edges, (np.inf,))) for edges, _, _ in cuts]
    return [_found(cut, found) for cut, found in zip(cuts, cells_of(laws, edges), strict=True)]


def _cut(law: Law, mesh: Mesh, tilt: float, count: int) -> tuple[Vector, Vector, Vector]:
    """Edges, and the first and the last loss between neighbours.

    Some cells are for tilted mass that is proved to be there, others for mass that may be there while cells are wide.
    A law that is smooth except for atoms has them at an end or at 0, where edges are placed.
    """
    low, high = mesh.low, mesh.high
    if (losses := law.atoms(low - 1e-9 * (1 + abs(low)), high + 1e-9 * (1 + abs(high)))) is not None:
        return _around(law, losses)
    inner = np.zeros(0)
    if len(mesh.first):
        inner = _even(mesh, tilt, count)
    spare = 2 * off_at(law, np.array((low, high)))
    if len(inner) > 2 and low < 0.0 < high:
        inner[1 + int(np.argmin(np.abs(inner[1:-1])))] = 0.0
    edges = distinct(np.concatenate(((low - spare[0], low), inner, (high, high + spare[1]))))
    return edges, edges[:-1], edges[1:]


def cells_of(laws: Sequence[Law], edges: Sequence[Vector]) -> list[LossCells]:
    """`law.cells(edges)` for each law; many sampled Gaussians are computed together."""
    found: dict[int, LossCells] = {}
    row: list[int] = []
    length = 0
    for place, law in enumerate(laws):
        if not is_sampled_gaussian(law):
            found[place] = law.cells(edges[place])
            continue
        row.append(place)
        length += len(edges[place])
        if length > ROW:
            found |= _in_a_row(laws, edges, row)
            row, length = [], 0
    found |= _in_a_row(laws, edges, row)
    return [found[place] for place in range(len(laws))]


def _in_a_row(laws: Sequence[Law], edges: Sequence[Vector], places: list[int]) -> dict[int, LossCells]:
    chosen = [law for place in places if is_sampled_gaussian(law := laws[place])]
    if len(chosen) < 2:
        return {place: laws[place].cells(edges[place]) for place in places}
    return dict(zip(places, sampled_gaussians(chosen, [edges[place] for place in places]), strict=True))


def _even(mesh: Mesh, tilt: float, count: int) -> Vector:
    """Edges that give all cells equal shares."""
    shares, doubts = mesh.shares(tilt), mesh.doubts(tilt)
    shares = shares / (shares.sum() + 1e-300) + doubts / max(3 * doubts.sum(), 16.0) + 1 / (8 * len(shares))
    grown = np.concatenate(((0.0,), np.cumsum(shares)))
    places = np.linspace(0.0, grown[-1], count + 1)
    found: Vector = np.interp(places, grown, np.append(mesh.first, mesh.last[-1]))
    return found


def _around(law: Law, losses: Vector) -> tuple[Vector, Vector, Vector]:
    """Each loss in a cell of its own, unless two are too close to separate."""
    off = off_at(law, losses)
    apart = np.flatnonzero(np.diff(losses) > 8 * off[1:] + 8 * off[:-1])
    first, last = losses[np.concatenate(((0,), apart + 1))], losses[np.append(apart, len(losses) - 1)]
    between = (last[:-1] + first[1:]) / 2
    return np.concatenate(((first[0] - 4 * off[0],), between, (last[-1] + 4 * off[-1],))), first, last


def _found(cut: tuple[Vector, Vector, Vector], found: LossCells) -> Mesh:
    edges, first, last = cut
    before, beyond = (float(end) for end in found.log_p_most[[0, -1]])
    return Mesh(
        float(edges[0]), float(edges[-1]), first, last, LossCells(*(part[1:-1] for part in found)), before, beyond
    )


def above(mesh: Mesh, law: Law) -> Nodes:
    """A dominating law: every cell's mass at its first and its last loss. Mass beyond the mesh counts as infinite.

    With r the common loss of the cell above its first, the share of the last is (1 − e^{−r})/(1 − e^{−w}).
    """
    width, off = mesh.last - mesh.first, np.maximum(off_at(law, mesh.first), off_at(law, mesh.last))
    log_p, log_q, slack = mesh.masses
    some = log_p > -np.inf
    common = np.where(some, log_p, 0.0) - np.where(some, log_q, 0.0) - mesh.first + 2 * slack + off
    wide = np.where(width > 0.0, width, 1.0)
    share = np.clip(np.expm1(-np.clip(common, 0.0, width)) / np.expm1(-wide) * (1 + 4 * FUNCTIONS), 0.0, 1.0)
    most = mesh.masses.log_p_most
    with np.errstate(divide="ignore"):
        ends = np.column_stack((most + np.log1p(-share), most + np.log(share))).ravel()
    # Mass before the mesh moves up to its first loss. Masses of two cells at a common end are added.
    ends[0] = np.logaddexp(ends[0], mesh.log_before)
    losses = np.column_stack((mesh.first, mesh.last)).ravel()
    same = np.flatnonzero(losses[1:-1:2] == losses[2::2])
    ends[2 * same + 2] = np.logaddexp(ends[2 * same + 1], ends[2 * same + 2])
    ends[2 * same + 1] = -np.inf
    heavy = ends > -np.inf
    # Negative logarithms are accurate to within a few F of themselves, and of 1.
    masses = ends[heavy] * (1 - 4 * FUNCTIONS) + 4 * FUNCTIONS
    beyond = (law.infinite + math.exp(min(0.0, mesh.log_beyond))) * (1 + 4 * FUNCTIONS)
    return Nodes(losses[heavy], masses, beyond, float(off.max()))


def below(mesh: Mesh, law: Law) -> Nodes:
    """A dominated law: every cell's mass at its common loss. Mass outside the mesh is left out."""
    off = np.maximum(off_at(law, mesh.first), off_at(law, mesh.last))
    log_p, log_q, slack = mesh.masses
    some = (log_p > -np.inf) & np.isfinite(slack)
    first, width = mesh.first[some], (mesh.last - mesh.first)[some]
    log_p, log_q, slack = log_p[some], log_q[some], slack[some]
    losses = first + np.clip(log_p - log_q - first - 2 * slack - off[some], 0.0, width)
    masses = log_p - slack - FUNCTIONS * (1 + np.abs(log_p))
    return Nodes(losses, masses, law.infinite * (1 - FUNCTIONS), float(off.max()))
