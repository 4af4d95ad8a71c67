"""Sums of few finite losses: every value of the sum with its mass, and bounds on their rounding errors.

Laplace noise on integers has finite losses too: one for every step between the two values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

from flint import arb

from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.law import FUNCTIONS, ROUNDING, Law, Laws, Vector
from sitr.namespace import Later
from sitr.numbers import Interval, ball
from sitr.precision import nearest, precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

MOST_ATOMS = 1 << 18
"""Sums with more values are bounded on cells instead."""

VANISHING = 1e-290
"""Smaller masses count as lost: floats are relatively accurate only above the smallest normal one."""


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """The finite losses of a sum under P, by growing loss, with bounds on their errors.

    Every mass is right to within a factor 1 ± `slip`, every loss to within ± `shift`, and a P-mass of at most `lost`
    is missing. Q's mass at a loss l is e^{−l} times P's.
    """

    losses: Vector
    masses: Vector
    slip: float
    shift: float
    lost: float

    def delta(self, epsilon: float) -> Interval:
        """The hockey-stick of the finite losses: H(ε + shift) and H(ε − shift) of these atoms, up to `slip`."""
        factor = self.slip + _summed(len(self.losses))
        low = hockey_stick(self, epsilon + self.shift) * (1 - factor)
        return Interval(max(0.0, low), hockey_stick(self, epsilon - self.shift) * (1 + factor) + self.lost)

    def epsilon(self, tail: arb) -> Interval:
        """The least ε ≥ 0 whose hockey-stick is at most `tail`, which is above 0."""
        return Interval(_least(self, tail), _greatest(self, tail))


def enumerated(laws: Laws, *, most: int | None = None) -> Atoms | None:
    """The atoms of a sum, if all laws are finite and it has at most `most` (`MOST_ATOMS`) values; otherwise None.

    >>> from sitr.loss.forms.finite import response
    >>> found = enumerated([(response(1.0), 2)])
    >>> None if found is None else found.losses.tolist()
    [-2.0, 0.0, 2.0]
    """
    return _enumerated(tuple(laws), MOST_ATOMS if most is None else most)


@lru_cache(maxsize=8)  # a loss is asked for its hockey-stick at many ε
def _enumerated(laws: tuple[tuple[Law, int], ...], most: int) -> Atoms | None:
    if not laws or (sum(times for _, times in laws) == 1 and not isinstance(laws[0][0], FiniteLaw)):
        return None  # one law of another kind has closed forms of its own
    size = 1
    for law, times in laws:
        values = _values(law)
        size *= times + 1 if values == 2 else values ** min(times, 64)
        if not 0 < size <= most:
            return None
    return reduce(product, (part for law, times in laws for part in _powers(_listed(law), times)))


def _values(law: Law) -> int:
    """How many finite losses a law has; 0 if they cannot be listed."""
    match law:
        case FiniteLaw():
            return len(law.losses)
        case DiscreteLaplaceLaw() if law.few:
            return law.shift + 1
    return 0


def _listed(law: Law) -> FiniteLaw:
    if isinstance(law, DiscreteLaplaceLaw):
        return law.listed()
    assert isinstance(law, FiniteLaw)
    return law


def infinite_mass(laws: Laws) -> arb:
    """P(L = +∞) = 1 − Π(1 − mass), for the decimals that the masses print as."""
    with precision(224):
        kept = arb(0)
        for law, times in laws:
            if law.infinite >= 1.0:
                return arb(1)
            kept += (-ball(law.infinite)).log1p() * times
        return -kept.expm1()


def _powers(law: FiniteLaw, times: int) -> list[Atoms]:
    """Parts whose product is the law of the sum of `times` losses."""
    losses, logs = np.array(law.losses), np.array(law.log_masses)
    largest = float(np.abs(losses).max() + np.abs(logs[logs > -np.inf]).max(initial=0.0))
    slip = FUNCTIONS * (4 + len(losses)) * (1 + largest)
    shift = 4 * ROUNDING * float(np.abs(losses).max())
    if len(losses) == 2 and times > 1 and np.all(np.isfinite(logs)):
        return [binomial(law.losses, law.log_masses, times, slip=slip, shift=shift)]
    return [_without_vanishing(losses, np.exp(logs), slip + 2 * FUNCTIONS, shift, 0.0)] * times


def binomial(
    losses: Sequence[float], log_masses: Sequence[float], times: int, *, slip: float = 0.0, shift: float = 0.0
) -> Atoms:
    """The sum of `times` losses with two values each. Masses follow from one of them by their exact ratios.

    `slip` and `shift` are the errors of one loss.
    """
    (low, high), (log_low, log_high) = losses, log_masses
    centre = min(times, max(0, round(times / (1 + math.exp(min(700.0, log_high - log_low))))))
    with precision(128):
        choices = arb(times + 1).lgamma() - arb(centre + 1).lgamma() - arb(times - centre + 1).lgamma()
        middle = nearest((choices + arb(log_low) * centre + arb(log_high) * (times - centre)).exp())
        odds = nearest((arb(log_low) - arb(log_high)).exp())
    up = np.arange(centre, times, dtype=np.float64)
    down = np.arange(centre, 0, -1, dtype=np.float64)
    rising = np.cumprod((times - up) / (up + 1) * odds)
    falling = np.cumprod(down / (times - down + 1) / odds)
    masses = middle * np.concatenate((falling[::-1], np.ones(1), rising))
    lows = np.arange(times + 1, dtype=np.float64)
    sums = low * lows + high * (times - lows)
    rounding = 8 * (times + 2) * ROUNDING  # at most five roundings a place, all of positive numbers
    far = times * max(abs(low), abs(high))
    return _without_vanishing(
        sums[::-1], masses[::-1], math.expm1(times * slip) + rounding, times * shift + 4 * ROUNDING * far, 0.0
    )


def product(first: Atoms, second: Atoms) -> Atoms:
    """The law of the sum of two independent losses, value by value, sorted."""
    losses = np.add.outer(first.losses, second.losses).ravel()
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    order = np.argsort(losses, kind="stable")
    return _without_vanishing(
        losses[order],
        masses[order],
        first.slip + second.slip + first.slip * second.slip + 4 * ROUNDING,
        first.shift + second.shift + 2 * ROUNDING * float(np.abs(losses).max()),
        first.lost + second.lost,
    )


def _without_vanishing(losses: Vector, masses: Vector, slip: float, shift: float, lost: float) -> Atoms:
    """The atoms, except those whose products may be too small for floats; at least one is kept."""
    kept = masses > VANISHING
    kept[np.argmax(masses)] = True
    return Atoms(losses[kept], masses[kept], slip, shift, lost + VANISHING * (len(masses) + 1))


def hockey_stick(atoms: Atoms, epsilon: float) -> float:
    """Σ_{l > ε} p(l)(1 − e^{ε−l}), from the stored masses."""
    start = int(np.searchsorted(atoms.losses, epsilon, side="right"))
    return float(np.dot(atoms.masses[start:], -np.expm1(epsilon - atoms.losses[start:])))


def _summed(count: int) -> float:
    """The relative error of a hockey-stick of this many atoms: all its terms are positive."""
    return 4 * (count + 16) * ROUNDING


def _greatest(atoms: Atoms, tail: arb) -> float:
    """An ε at which the hockey-stick of the true law is certainly at most `tail`; infinite if none is found."""
    factor = 1 + atoms.slip + _summed(len(atoms.losses))
    with precision():
        goal = float(tail.lower()) * (1 - 4 * ROUNDING)
    top = float(atoms.losses[-1])
    if goal <= atoms.lost:
        return math.inf
    guess = root(atoms, (goal - atoms.lost) / factor)
    gap = 1e-15 * max(abs(top), top - guess)
    while guess < top and hockey_stick(atoms, guess) * factor + atoms.lost > goal:
        guess, gap = min(top, guess + gap), 2 * gap
    return max(0.0, guess + atoms.shift)


def _least(atoms: Atoms, tail: arb) -> float:
    """An ε at which the hockey-stick of the true law is certainly at least `tail`, or 0."""
    factor = 1 - atoms.slip - _summed(len(atoms.losses))
    with precision():
        goal = float(tail.upper()) * (1 + 4 * ROUNDING)
    if factor <= 0.0:
        return 0.0
    guess = root(atoms, goal / factor)
    gap = 1e-15 * guess
    while guess > 0.0 and hockey_stick(atoms, guess) * factor < goal:
        guess, gap = guess - gap, 2 * gap
    return max(0.0, guess - atoms.shift)


def root(atoms: Atoms, goal: float) -> float:
    """The ε at which the hockey-stick is about `goal`: between two losses it is linear in e^ε."""
    low, high = 0, len(atoms.losses) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if hockey_stick(atoms, float(atoms.losses[middle])) <= goal else (middle + 1, high)
    losses, masses = atoms.losses[low:], atoms.masses[low:]
    minus, excess = float(np.dot(masses, np.exp(losses[0] - losses))), hockey_stick(atoms, float(losses[0]))
    return float(losses[0]) + math.log1p((excess - goal) / minus) if excess - goal > -minus else 0.0
