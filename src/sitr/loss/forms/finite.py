"""Pairs of laws on finitely many outputs: randomized response, and the worst pair of a pure or approximate promise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.errors import InvalidPromise
from sitr.loss.law import FUNCTIONS, ROUNDING, Indices, LossCells, Vector, bounded_moment, check, distinct
from sitr.namespace import Later
from sitr.numbers import Number, ball, upper, upward
from sitr.precision import nearest, precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


@dataclass(frozen=True, slots=True)
class FiniteLaw:
    """Atoms (loss, ln of its P-mass) in increasing order, and a P-mass at +∞. Q's mass at a loss l is e^{−l} times P's.

    All of these are rounded to nearest: they stand for numbers that add up to 1 on both sides. The masses at +∞ and −∞
    stand for the decimals that they print as, or for less.
    """

    losses: tuple[float, ...]
    log_masses: tuple[float, ...]
    infinite: float = 0.0
    beyond: float = 0.0
    """Q's mass where P has none: the mass at +∞ of the reversed law."""

    def __post_init__(self) -> None:
        check(self.infinite, "the mass at +∞", above=0.0, below=1.0, ends="above and below")
        check(self.beyond, "the mass at −∞", above=0.0, below=1.0, ends="above and below")
        pairs = list(zip(self.losses, self.log_masses, strict=True))
        totals = [math.fsum(map(math.exp, logs)) for logs in ([m for _, m in pairs], [m - loss for loss, m in pairs])]
        whole = (totals[0] + self.infinite, totals[1] + self.beyond)
        if not pairs or list(self.losses) != sorted(self.losses) or not all(abs(total - 1) < 1e-9 for total in whole):
            raise InvalidPromise(
                wanted="losses in increasing order, with masses that add up to 1 on both sides",
                given=f"{self.losses} with masses that add up to {whole[0]:.12g} and {whole[1]:.12g}",
                do="Give ln of P's mass at each loss; Q's mass there is e^{−loss} times P's.",
            )

    @property
    def least(self) -> float:
        return self.losses[0]

    @property
    def greatest(self) -> float:
        return self.losses[-1]

    @property
    def blur(self) -> float:
        return 4 * ROUNDING

    def atoms(self, low: float, high: float, /) -> Vector:
        losses = distinct(np.array(self.losses))
        found: Vector = losses[(losses >= low) & (losses <= high)]
        return found

    def cells(self, edges: Vector) -> LossCells:
        losses, log_p = np.array(self.losses), np.array(self.log_masses)
        place = np.searchsorted(edges, losses, side="left") - 1
        size = len(edges) - 1
        inside = (place >= 0) & (place < size)
        sums = [_gathered(place[inside], masses[inside], size) for masses in (log_p, log_p - losses)]
        largest = float(np.abs(losses).max() + np.abs(log_p[log_p > -np.inf]).max(initial=0.0))
        return LossCells(sums[0], sums[1], np.full(size, FUNCTIONS * (4 + len(losses)) * (1 + largest)))

    def log_moment_above(self, tilt: float, edge: float) -> float:
        return bounded_moment(self, tilt, edge)

    def reversed(self) -> FiniteLaw:
        pairs = sorted((-loss, mass - loss) for loss, mass in zip(self.losses, self.log_masses, strict=True))
        losses, masses = zip(*pairs, strict=True)
        even = all(
            abs(one - other) <= 4 * ROUNDING * (1 + abs(one))
            for one, other in zip(masses, self.log_masses, strict=True)
        )
        if losses == self.losses and even and self.infinite == self.beyond:
            return self
        return FiniteLaw(losses, masses, self.beyond, self.infinite)


@precision(128)
def response(epsilon: Number, *, answers: int = 2, infinite: Number = 0) -> FiniteLaw:
    """Randomized response: the truth with probability e^ε/(e^ε + k − 1), each other answer with 1/(e^ε + k − 1).

    With probability δ = `infinite` a person is exposed instead. With two answers this is the worst pair of all (ε, δ)
    promises.      [KOV15, Thm 3.3]

    >>> response(1.0).losses
    (-1.0, 1.0)
    """
    check(epsilon, "epsilon", above=0.0, ends="above")
    check(infinite, "the mass at +∞", above=0.0, below=1.0, ends="above and below")
    check(answers, "answers", above=2, ends="above")
    if infinite == 1:
        return FiniteLaw((0.0,), (-math.inf,), 1.0, 1.0)
    e, rest = ball(epsilon), (-ball(infinite)).log1p()
    log_total = ((answers - 1) * (-e).exp()).log1p()
    atoms = [(-float(epsilon), rest - e - log_total)]
    if answers > 2:
        atoms.append((0.0, rest + ball(answers - 2).log() - e - log_total))
    atoms.append((float(epsilon), rest - log_total))
    delta = upward(infinite)
    merged = {loss: nearest(mass) for loss, mass in atoms} if epsilon else {0.0: nearest(rest)}
    return FiniteLaw(tuple(merged), tuple(merged.values()), delta, delta)


@precision()
def pair(p: Iterable[Number], q: Iterable[Number]) -> FiniteLaw:
    """The law of the loss between two vectors of probabilities.

    >>> pair((0.75, 0.25), (0.25, 0.75)).losses
    (-1.098..., 1.098...)
    """
    atoms: dict[float, float] = {}
    infinite = beyond = ball(0)
    with precision(256):  # so that a loss near 0 is rounded relative to itself
        for here, there in zip(map(ball, p), map(ball, q), strict=True):
            if there == 0:
                infinite += here
            elif here == 0:
                beyond += there
            else:
                loss = nearest((here / there).log(), zero=200)
                atoms[loss] = float(np.logaddexp(atoms.get(loss, -math.inf), nearest(here.log(), zero=200)))
    ordered = sorted(atoms.items())
    losses, masses = zip(*ordered, strict=True) if ordered else ((0.0,), (-math.inf,))
    return FiniteLaw(losses, masses, max(0.0, upper(infinite)), max(0.0, upper(beyond)))


def _gathered(place: Indices, log_masses: Vector, size: int) -> Vector:
    gathered = np.full(size, -np.inf)
    np.logaddexp.at(gathered, place, log_masses)
    return gathered
