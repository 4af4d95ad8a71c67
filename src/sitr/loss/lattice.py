"""A law of losses on a lattice, from above and from below.

Under P, let u = e^{−L}. The hockey-stick is E_P[(1 − e^ε·u)₊], and so is that of a sum of losses in each of its
terms: one law dominates another if E[φ(u)] is larger for every φ ≥ 0 that is convex and falls. Cut the losses
into cells. Splitting the mass of a cell between its two ends, so that P and Q keep theirs, gives a law above
[DGKM22, Sec. 4]: on the cell, a convex function is below its chord. Fusing a cell with parts of others until
their common loss is that of an end gives a law below: a convex function of a mean is below the mean of the
function. More mass is above, less is below, and so are larger and smaller losses. Both miss the truth by the
square of the cell's width, so that only cells with much mass need be narrow.

Edges are rounded. If they are off by s, there are losses L″ within s of the true ones that lie between the
edges as they are written, and their cells have a common loss within s of the true one: all of the above is done
for L″, with s added to or subtracted from the common loss; and L″ is the truth but for `off` ≥ s in each term
of a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sitr.loss.law import FUNCTIONS, ROUNDING, Cells, Indices, Law, Vector

SCALE = 600.0
"""Masses from below are kept as multiples of e^{−600}, so that those of e^{−1200} still are floats."""

FAR = 100.0
"""Losses that are farther apart than this are not fused: their ratio may be no float."""

UP, DOWN = 1 + 4 * ROUNDING, 1 - 4 * ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Cells [start, start + width) in units of `step`, sorted, without gaps, and the masses in them."""

    step: float
    starts: Indices
    widths: Indices
    masses: Cells
    log_before: float
    log_beyond: float
    """ln of what the P-masses before and beyond all cells are at most."""

    @property
    def ends(self) -> Indices:
        return self.starts + self.widths


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """ln of P-masses at `origin` and so many steps from it, and a mass at +∞; each loss is `off` by at most this."""

    step: float
    places: Indices
    log_masses: Vector
    infinite: float
    off: float
    origin: float = 0.0

    @property
    def losses(self) -> Vector:
        return self.origin + _scaled(self.places, self.step)

    def nothing(self) -> Nodes:
        """None of the finite losses."""
        return replace(self, places=self.places[:0], log_masses=self.log_masses[:0])


def off_at(law: Law, losses: Vector) -> Vector:
    """How far edges, and differences of logarithms beside them, may be off."""
    return np.asarray((law.blur + 16 * ROUNDING) * (1.0 + np.abs(losses)), np.float64)


def _scaled(places: Indices, step: float) -> Vector:
    return places.astype(np.float64) * step


def mesh(law: Law, *, step: float, low: float, high: float, tilt: float, tolerance: float) -> Mesh:
    """Cells between two losses, halved while (mass tilted by λ)·width² is above the tolerance, down to one step."""
    first, last = (math.ceil(low / step) - 1, math.floor(high / step) + 1)  # atoms at the ends are inside
    widest = 1 << max(0, ((last - first) // 128).bit_length())
    starts = np.arange(first // widest * widest, -(-last // widest) * widest, widest, dtype=np.int64)
    widths = np.full(len(starts), widest, dtype=np.int64)
    found = law.cells(np.concatenate(((-np.inf,), np.append(starts, starts[-1] + widest) * step, (np.inf,))))
    before, beyond = (float(end) for end in found.log_p_most[[0, -1]])
    masses = Cells(*(part[1:-1] for part in found))
    while True:
        exponents = np.maximum(masses.log_p, -1e300) + tilt * step * (starts + widths)
        weights = np.exp(exponents - exponents.max())
        weights /= weights.sum()
        halve = (weights * (widths * step) ** 2 > tolerance) & (widths > 1)
        if not halve.any():
            break
        left, half = starts[halve], widths[halve] // 2
        # One call for all: the edges of every halved cell, in order; what lies between two of them is not wanted.
        edges = np.column_stack((left, left + half, left + 2 * half)).ravel()
        wanted = np.ones(len(edges) - 1, dtype=np.bool_)
        wanted[2::3] = False
        found = law.cells(edges * step)
        starts = np.concatenate((starts[~halve], np.column_stack((left, left + half)).ravel()))
        order = np.argsort(starts, kind="stable")
        starts, widths = (starts[order], np.concatenate((widths[~halve], np.repeat(half, 2)))[order])
        pairs = zip(masses, found, strict=True)
        masses = Cells(*(np.concatenate((old[~halve], new[wanted]))[order] for old, new in pairs))
    return Mesh(step, starts, widths, masses, before, beyond)


@lru_cache(maxsize=512)
def lattices(law: Law, *, step: float, low: float, high: float, tilt: float, tolerance: float) -> tuple[Nodes, Nodes]:
    """From above and from below. Kept, because most laws are the same with the two data sets exchanged."""
    cells = mesh(law, step=step, low=low, high=high, tilt=tilt, tolerance=tolerance)
    return above(cells, law), below(cells, law, tilt=tilt)


def above(mesh: Mesh, law: Law) -> Nodes:
    """Every cell's mass at its two ends: a law that dominates. What lies above the mesh counts as infinite.

    With r the common loss of the cell above its left end, the share of the right end is (1 − e^{−r})/(1 − e^{−w}).
    """
    places = np.append(mesh.starts, mesh.ends[-1])
    edges = places * mesh.step
    width, off = mesh.widths * mesh.step, off_at(law, edges)
    log_p, log_q, slack = mesh.masses
    some = log_p > -np.inf
    ratio = (
        np.where(some, log_p, 0.0) - np.where(some, log_q, 0.0) - edges[:-1] + 2 * slack + np.maximum(off[:-1], off[1:])
    )
    share = np.clip(np.expm1(-np.clip(ratio, 0.0, width)) / np.expm1(-width) * (1 + 4 * FUNCTIONS), 0.0, 1.0)
    most = mesh.masses.log_p_most
    with np.errstate(divide="ignore"):
        left, right = most + np.log1p(-share), most + np.log(share)
    # What lies below the mesh is moved up to its first place.
    masses = np.logaddexp(np.append(left, -np.inf), np.concatenate(((mesh.log_before,), right)))
    heavy = masses > -np.inf
    # Logarithms below 0 are right to within a few F of themselves, and of 1.
    masses = masses[heavy] * (1 - 4 * FUNCTIONS) + 4 * FUNCTIONS
    return Nodes(mesh.step, places[heavy], masses, _infinite(law, mesh.log_beyond), float(off.max()))


def _infinite(law: Law, log_beyond: float) -> float:
    """What counts as infinite from above."""
    return (law.infinite + math.exp(min(0.0, log_beyond))) * (1 + 4 * FUNCTIONS)


def below(mesh: Mesh, law: Law, *, tilt: float) -> Nodes:
    """Cells fused until their common loss is that of a place: a law that is dominated.

    From the bottom: what a cell sends to its right end has too small a ratio there, so just enough of the cells
    above it is sent to the same place; the rest of the last of them goes to its own right end, and so on. From
    the top, the same with the left ends. The two ways meet where (with this tilt) there is least mass: the two
    places there may keep a ratio that is not theirs, and are counted with a smaller loss. What lies outside the
    mesh is left out.
    """
    some = (mesh.masses.log_p > -2 * SCALE) & np.isfinite(mesh.masses.slack)
    log_p, log_q, slack = (part[some] for part in mesh.masses)
    starts, ends = mesh.starts[some], mesh.ends[some]
    edges, tops = _scaled(starts, mesh.step), _scaled(ends, mesh.step)
    width = tops - edges
    off = np.maximum(off_at(law, edges), off_at(law, tops))
    losses = edges + np.clip(log_p - log_q - edges - 2 * slack - off, 0.0, width)
    slack = slack + FUNCTIONS + 2 * ROUNDING * (SCALE - log_p)
    lightest, heaviest = np.exp(log_p - slack + SCALE), np.exp(log_p + slack + SCALE)
    if not some.any():
        return Nodes(mesh.step, starts, log_p, law.infinite * (1 - FUNCTIONS), 0.0)
    meeting = int(np.argmin(log_p + tilt * edges))
    lists = [values.tolist() for values in (edges, tops, losses, lightest, heaviest)]
    left, right = _fused(*lists, meeting=meeting)
    places, masses = np.concatenate((starts, ends)), np.array(left + right)
    heavy = masses > 0.0
    log_masses = np.log(masses[heavy]) - SCALE
    log_masses -= FUNCTIONS * (2 + SCALE + np.abs(log_masses))
    return Nodes(mesh.step, places[heavy], log_masses, law.infinite * (1 - FUNCTIONS), float(off.max()))


def _fused(
    starts: list[float],
    ends: list[float],
    losses: list[float],
    lightest: list[float],
    heaviest: list[float],
    *,
    meeting: int,
) -> tuple[list[float], list[float]]:
    """P-masses at left and at right ends. Each depends on the one before it, and plain floats are fastest at that.

    Masses a with losses l have a common loss of at least x if Σ a(1 − e^{x−l}) ≥ 0. Where l < x, the term is
    what is wanting, counted with the heaviest a; where l > x, it is a surplus, counted with the lightest:
    whatever the masses are, the sum is not below 0. UP and DOWN are for the roundings of a step, and 2F for
    those of expm1.
    """
    more, less = 1 + 2 * FUNCTIONS, 1 - 2 * FUNCTIONS
    left, right = [0.0] * len(starts), [0.0] * len(starts)
    place, wanting = 0, 0.0
    for cell in range(meeting):
        part = 0.0
        if wanting > 0.0:
            surplus = lightest[cell] * -math.expm1(ends[place] - losses[cell]) * less
            part = min(1.0, wanting / surplus * UP) if surplus > 0.0 else 1.0
            wanting = (wanting - surplus) * UP if part == 1.0 else 0.0
            right[place] = (right[place] + part * lightest[cell]) * DOWN
        if part < 1.0:
            distance = ends[cell] - losses[cell]
            if distance < FAR:
                place, wanting = (cell, (1.0 - part) * heaviest[cell] * math.expm1(distance) * more)
                right[cell] = (1.0 - part) * lightest[cell]
            else:
                left[cell] = (1.0 - part) * lightest[cell]
    if wanting > 0.0:  # all that is there has at least the loss at the left end
        left[place], right[place] = right[place], 0.0
    place, surplus = len(starts) - 1, 0.0
    for cell in range(len(starts) - 1, meeting - 1, -1):
        part, distance = 0.0, starts[place] - losses[cell]
        if surplus > 0.0 and distance < FAR:
            wanting = heaviest[cell] * math.expm1(distance) * more if distance > 0.0 else 0.0
            part = min(1.0, surplus / wanting * DOWN) if wanting > 0.0 else 1.0
            surplus = (surplus - wanting) * DOWN if part == 1.0 else 0.0
            left[place] = (left[place] + part * lightest[cell]) * DOWN
        if part < 1.0:
            place, surplus = (cell, (1.0 - part) * lightest[cell] * -math.expm1(starts[cell] - losses[cell]) * less)
            left[cell] += (1.0 - part) * lightest[cell]
    return left, right


def combed(law: Law, *, low: float, high: float) -> tuple[Nodes, Nodes]:
    """A law whose losses are the places of a lattice: from above and from below, exact but for rounding."""
    assert law.comb is not None
    origin, pitch = law.comb
    places = np.arange(math.ceil((low - origin) / pitch - 0.5), math.floor((high - origin) / pitch + 0.5) + 1)
    edges: Vector = origin + np.append(places - 0.5, places[-1] + 0.5) * pitch
    whole = law.cells(np.concatenate(((-np.inf,), edges, (np.inf,))))
    off = float(off_at(law, edges).max()) + 4 * ROUNDING * abs(origin)
    before, beyond = (float(end) for end in whole.log_p_most[[0, -1]])
    most, found = whole.log_p_most[1:-1] * (1 - FUNCTIONS) + FUNCTIONS, Cells(*(part[1:-1] for part in whole))
    most[0] = np.logaddexp(most[0], before) + 2 * FUNCTIONS
    heavy = most > -np.inf
    sure = np.isfinite(found.slack) & np.isfinite(found.log_p)
    least = found.log_p[sure] - found.slack[sure] - FUNCTIONS * (1 + np.abs(found.log_p[sure]))
    return (
        Nodes(pitch, places[heavy], most[heavy], _infinite(law, beyond), off, origin),
        Nodes(pitch, places[sure], least, law.infinite * (1 - FUNCTIONS), off, origin),
    )
