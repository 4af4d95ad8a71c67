"""Laws of losses on a lattice, above and below the true one, and their sums.

Seen from Q, the ratio t = e^l of a law of losses has a mean of at most 1, and the hockey-stick is E_Q[(t − e^ε)₊]: one
law dominates another exactly if it is larger in convex order. So splitting an atom between its two neighbours on the
lattice, keeping its P- and Q-mass, gives a law above [DGKM22, Sec. 4]; fusing atoms on both sides of a place of the
lattice until their common ratio is the place's gives one below. Both miss the truth by the square of the step, as long
as the atoms lie more closely than the lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tests.oracles.responses import ROUNDING, VANISHING, Atoms, Vector

FAR = 600.0
"""Losses that are farther apart than this are not fused: their ratio may be no float."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Masses at the losses step·first, step·(first + 1), …, with the errors that `Atoms` has."""

    masses: Vector
    first: int
    step: float
    slip: float
    shift: float
    lost: float

    def atoms(self) -> Atoms:
        losses = self.step * np.arange(self.first, self.first + len(self.masses), dtype=np.float64)
        return Atoms(losses, self.masses, self.slip, self.shift + ROUNDING * float(np.abs(losses).max()), self.lost)


def above(atoms: Atoms, *, step: float) -> Lattice:
    """Every atom split between the places around it: P and Q keep their mass."""
    places = np.floor(atoms.losses / step).astype(np.int64)
    share = np.clip(np.expm1(places * step - atoms.losses) / math.expm1(-step), 0.0, 1.0)
    first = int(places[0])
    size = int(places[-1]) - first + 2
    masses = np.zeros(size)
    masses += np.bincount(places - first + 1, weights=atoms.masses * share, minlength=size)
    masses += np.bincount(places - first, weights=atoms.masses * (1 - share), minlength=size)
    return _rounded(masses, first, step, atoms)


def below(atoms: Atoms, *, step: float) -> Lattice:
    """Atoms fused until their ratio is that of a place; P-mass that finds no partner is dropped, which is sound.

    From the top: what a cell sends to its left end has too large a ratio there, so just enough of the cells below it is
    sent to the same place; the rest of the last of them goes to its own left end, and so on.
    """
    places = np.floor(atoms.losses / step).astype(np.int64)
    first = int(places[0])
    beyond = np.maximum(0.0, atoms.losses - places * step)
    # Of each cell: its Q-mass in units in which P has as much at the cell's left end, and what P has more than that. It
    # is summed from differences: a difference of sums would have lost its digits where losses are small.
    q = np.bincount(places - first, weights=atoms.masses * np.exp(-beyond))
    excess = np.bincount(places - first, weights=atoms.masses * -np.expm1(-beyond))
    fused = np.zeros(len(q))
    place, surplus = 0, 0.0
    for cell in map(int, np.flatnonzero(q)[::-1]):
        part, between = 0.0, (place - cell) * step
        if surplus > 0.0 and between < FAR:
            wanting = float(q[cell]) * math.expm1(between) - float(excess[cell])
            part = 1.0 if wanting <= surplus else surplus / wanting
            fused[place] += part * float(q[cell]) * math.exp(between)
            surplus -= part * wanting
        if part < 1.0:
            place, surplus = cell, (1.0 - part) * float(excess[cell])
            fused[cell] = (1.0 - part) * float(q[cell])
    return _fused(_rounded(fused, first, step, atoms), atoms)


def _fused(lattice: Lattice, atoms: Atoms) -> Lattice:
    """With the roundings of surplus and wanting, by which a place may have got more of Q than its ratio allows.

    Let u be the rounding, n the number of atoms, r the distance of the farthest losses, and f the mass of a place. A
    sum of at most n positive terms, each right to 4 units in the last place, is right to a factor 1 ± (n + 10)u. So
    `wanting` = q(e^b − 1) − excess is off by at most (2n + 31)u·q(e^b − 1) + ub·qe^b (the excess is no more than
    q(e^b − 1), as b is at least the step), that is (2n + 31)u·min(1, b) + ub of the qe^b that f grows by, and b ≤ r.
    The first surplus is at most f·min(1, e^step − 1), off by (n + 12)u of itself, and each of the at most r/step cells
    that use it up costs another u of it. In all, Q has at most η = (4n + 67)u·r of f too much, and ln(1 − η) ≥ −2η:
    the true losses and masses are less than those of the lattice by no more than that.
    """
    reach = float(atoms.losses[-1] - atoms.losses[0]) + lattice.step
    fusing = 8 * (len(atoms.losses) + 17) * ROUNDING * reach
    return replace(lattice, slip=lattice.slip + fusing, shift=lattice.shift + fusing)


def add(first: Lattice, second: Lattice, *, negligible: float) -> Lattice:
    """The law of the sum. Direct sums of positive products keep every mass relatively accurate, as no FFT does."""
    masses = np.convolve(first.masses, second.masses)
    masses[masses < VANISHING] = 0.0
    # One place stays, even where nearly all mass was left out on a lattice that is too coarse.
    start = min(len(masses) - 1, int(np.searchsorted(np.cumsum(masses), negligible / 4)))
    stop = max(start + 1, len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), negligible / 4)))
    products = min(len(first.masses), len(second.masses))
    return Lattice(
        masses[start:stop],
        first.first + second.first + start,
        first.step,
        first.slip + second.slip + 2 * (products + 4) * ROUNDING,
        first.shift + second.shift,
        first.lost + second.lost + negligible + VANISHING * len(masses),
    )


def _rounded(masses: Vector, first: int, step: float, atoms: Atoms) -> Lattice:
    """Sums of at most as many terms as there are atoms; a place in a cell is off by a few roundings of the loss."""
    reach = float(np.abs(atoms.losses).max()) + step
    slip = atoms.slip + (2 * len(atoms.losses) + 32) * ROUNDING
    return Lattice(masses, first, step, slip, atoms.shift + 16 * ROUNDING * reach, atoms.lost)
