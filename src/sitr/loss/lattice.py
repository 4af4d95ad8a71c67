"""The whole profile of a sum of losses at once, on a lattice and from above: every rounding only raises δ.

`Loss` answers for one ε or δ, with a proved interval; this module computes a profile as a list of points.

A loss is described by a measure with δ(ε) ≤ Σ m(l)·(1 − e^{ε−l})₊ for the loss meant. More mass, or mass at a larger
loss, raises the right side, and the product of two such measures describes the sum of the two losses.  [ZDW22, Thm 10]
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sitr.numbers import ball, probability
from sitr.precision import precision

CELLS = 8192
"""The most points a law has; more would cost time, and move the results by less than a thousandth."""

CUT = 1e-80
"""The mass that may be moved from the upper end to +∞, and that may be moved up from the lower end, to save points."""

UNDERFLOW = 1e-300
"""More than all products of one sum that are too small for a float."""

Masses = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Mass masses[i] at the loss (lowest + i)·step, and the mass `beyond` at +∞.

    A sum has at most `cells` points; to save some, it may move the mass `cut` up at either end.
    """

    step: Fraction
    lowest: int
    masses: Masses
    beyond: float = 0.0
    cells: int = CELLS
    cut: float = CUT

    @classmethod
    def of(
        cls, atoms: list[tuple[Fraction, float]], *, unit: Fraction, cells: int = CELLS, cut: float = CUT
    ) -> Lattice:
        """The law of a loss with these (loss, mass), on a lattice that halves the unit as often as there is room.

        Each mass is split between the points around it so that P and Q keep theirs.      [DGKM22, Sec. 4]
        """
        reach, step = max(abs(loss) for loss, _ in atoms) or unit, unit
        while 4 * reach < cells * step:
            step /= 2
        places, before, after = zip(*(_place(loss, step) for loss, _ in atoms), strict=True)
        left, right = _shares(np.array(before), np.array(after), step)
        weights, at = np.array([mass for _, mass in atoms]), np.array(places) - min(places)
        masses = np.zeros(max(at) + 2)
        np.add.at(masses, at, weights * left)
        np.add.at(masses, at + 1, weights * right)
        return cls(step, min(places), _raised(masses, 2 * len(atoms)), UNDERFLOW, cells, cut)

    def __add__(self, other: Lattice) -> Lattice:
        """The law of the sum, with at most `cells` points."""
        step = max(self.step, other.step)
        first, second = self._coarsened(step), other._coarsened(step)
        beyond = first.beyond * (second.masses.sum() + second.beyond) + second.beyond * first.masses.sum()
        masses, lowest = _product(first.masses, second.masses), first.lowest + second.lowest
        return replace(self, step=step, lowest=lowest, masses=masses, beyond=_above(beyond) + UNDERFLOW)._trimmed()

    def __mul__(self, times: int) -> Lattice:
        """The law of the sum of `times` such losses, by halves."""
        if times == 1:
            return self
        half = self * (times // 2)
        return half + half + self if times % 2 else half + half

    def profile(self) -> Iterator[tuple[Fraction, float]]:
        """(ε, δ) at each point ε ≥ 0 of the lattice, from above.

        Without cancellation, from the top: δ(ε) = e^{−h}·δ(ε + h) + (1 − e^{−h})·Σ_{l > ε} m(l).
        """
        with precision():
            kept, gained = probability((-ball(self.step)).exp()), probability(-(-ball(self.step)).expm1())
        delta = tail = 0.0
        for i in range(len(self.masses) - 1, -1, -1):
            if self.lowest + i < 0:
                return
            yield (self.lowest + i) * self.step, _above(delta) + self.beyond
            tail += float(self.masses[i])
            delta = kept * delta + gained * tail

    def _trimmed(self) -> Lattice:
        """Fewer points, where there are too many: first those at the ends, then every other one."""
        if len(self.masses) <= self.cells:
            return self
        last = len(self.masses) - 1
        below, above = np.cumsum(self.masses), np.cumsum(self.masses[::-1])
        high = min(int(np.searchsorted(above, self.cut)), last)  # one point stays, even where all mass is at +∞
        low = min(int(np.searchsorted(below, self.cut)), last - high)
        masses = self.masses[low : last + 1 - high].copy()
        if low:
            masses[0] = _above(masses[0] + below[low - 1])
        beyond = _above(self.beyond + above[high - 1]) if high else self.beyond
        law = replace(self, lowest=self.lowest + low, masses=masses, beyond=beyond)
        while len(law.masses) > law.cells:
            law = law._coarsened(2 * law.step)
        return law

    def _coarsened(self, step: Fraction) -> Lattice:
        """The same on every 2nd, 4th, 8th … point: the masses between are split as at first."""
        law, half = self, np.array([0.5])
        while law.step < step:
            left, right = _shares(half, half, 2 * law.step)
            # One point more at the ends, so that both ends are even.
            start = law.lowest - law.lowest % 2
            padded = np.zeros(2 * ((law.lowest + len(law.masses) - start) // 2) + 1)
            padded[law.lowest - start : law.lowest - start + len(law.masses)] = law.masses
            masses = padded[::2].copy()
            masses[:-1] += padded[1::2] * left
            masses[1:] += padded[1::2] * right
            beyond = law.beyond + UNDERFLOW
            law = replace(law, step=2 * law.step, lowest=start // 2, masses=_raised(masses, 4), beyond=beyond)
        return law


def total(laws: Iterable[Lattice]) -> Lattice:
    """The law of a sum of losses: the two with the finest lattices first, so that coarse steps are few."""
    heap = [(law.step, number, law) for number, law in enumerate(laws)]
    heapq.heapify(heap)
    for number in range(len(heap), 2 * len(heap) - 1):
        (_, _, first), (_, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        law = first + second
        heapq.heappush(heap, (law.step, number, law))
    return heap[0][2]


def _place(loss: Fraction, step: Fraction) -> tuple[int, float, float]:
    """The last point before a loss, and the parts of the step that are before and after it, each rounded once."""
    whole = loss.denominator * step.numerator
    place, rest = divmod(loss.numerator * step.denominator, whole)
    return place, rest / whole, (whole - rest) / whole


def _shares(before: Masses, after: Masses, step: Fraction) -> tuple[Masses, Masses]:
    """How masses between two points are split: (e^{−r} − e^{−h})/(1 − e^{−h}) to the left, the rest to the right.

    Rounded up: with u = 2⁻⁵³, h is a float within u, and r and h − r, its parts before and after the mass, are within
    3u; 1 − e^{−x} moves by no more than x does. So with exp and expm1 within 4 ulp, which is 8u, the right share is
    within (8 + 3 + 8 + 1 + 1)u, and the left one within (8 + 3r + 1)u more. Where h is less than 2⁻⁶⁰, 1 − e^{−x} is x
    up to less than u, so that 2⁻⁶⁰ has the same shares. Shares that are too small for a float are not missed:
    callers add `UNDERFLOW`.
    """
    width = max(float(step), 2.0**-60)
    r, whole = before * width, np.expm1(-width)
    left = np.exp(-r) * np.expm1(-after * width) / whole * (1 + (48 + 4 * np.minimum(r, 800.0)) * 2.0**-53)
    right = np.expm1(-r) / whole * (1 + 2.0**-48)
    return np.where(before == 0.0, 1.0, left), right


def _product(first: Masses, second: Masses) -> Masses:
    """The masses of the sum. All terms are positive, so that no rounding exceeds its share of the result."""
    few, many = sorted((first, second), key=np.count_nonzero)
    places = np.flatnonzero(few)
    if 4 * len(places) > len(few):
        return _raised(np.convolve(first, second), min(len(first), len(second)))
    masses = np.zeros(len(first) + len(second) - 1)
    for place in places:
        masses[place : place + len(many)] += few[place] * many
    return _raised(masses, len(places))


def _raised(masses: Masses, operations: int) -> Masses:
    """Upper bounds on the exact masses, after this many rounded additions and products in each."""
    return masses * (1 + (operations + 4) * 2.0**-52)


def _above(number: float) -> float:
    """An upper bound on a sum of up to 2¹⁶ positive terms that was computed as this number."""
    return float(number) * (1 + 2.0**-35)
