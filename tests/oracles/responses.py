"""Sums of randomized responses: no releases that keep (εᵢ, δᵢ) lose more than these do.      [KOV15, Thm 3.3; MV16]"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from sitr.accounting.views import Inapplicable
from sitr.numbers import ball

Vector = NDArray[np.float64]

ROUNDING = 2.0**-53
VANISHING = 1e-290
"""Masses below this count as lost: floats are relatively accurate only above the smallest normal one."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """A law of losses under P at finitely many places, with its errors.

    Every mass is right to within a factor 1 ± `slip`, every loss to within ± `shift`, and P-mass of at most `lost` is
    not in it. Q's mass at a loss l is e^{−l} times P's.
    """

    losses: Vector
    masses: Vector
    slip: float
    shift: float
    lost: float


def responses(epsilon: float, times: int, *, negligible: float) -> Atoms:
    """The sum of `times` losses of ±ε, each + with probability e^ε/(1 + e^ε), but for the far tails.

    P(|minuses − mean| ≥ w) ≤ 2e^{−2w²/k}, so that w = √(k·ln(2/negligible)/2) leaves out no more.      [Hoe63, Thm 2]
    """
    share = 1 / (1 + math.exp(min(epsilon, 700.0)))
    reach = math.sqrt(times * math.log(2 / negligible) / 2) + 2
    first, last = max(0, math.floor(times * share - reach)), min(times, math.ceil(times * share + reach))
    centre = min(last, max(first, round(times * share)))
    with ctx.workprec(128):
        e = ball(epsilon)
        choices = arb(times + 1).lgamma() - arb(centre + 1).lgamma() - arb(times - centre + 1).lgamma()
        middle = float((choices - e * centre - (-e).exp().log1p() * times).exp().mid())
        odds = float((-e).exp().mid())
    up = np.arange(centre, last, dtype=np.float64)
    down = np.arange(centre, first, -1, dtype=np.float64)
    rising = np.cumprod((times - up) / (up + 1) * odds)
    falling = np.cumprod(down / (times - down + 1) / odds)
    masses = middle * np.concatenate((falling[::-1], np.ones(1), rising))
    losses = epsilon * (times - 2 * np.arange(first, last + 1, dtype=np.float64))
    lost = 0.0 if (first, last) == (0, times) else negligible
    slip = 8 * (len(masses) + 1) * ROUNDING  # at most five roundings a place, all of positive numbers
    shift = 2 * ROUNDING * epsilon * times
    return _without_vanishing(Atoms(losses[::-1], masses[::-1], slip, shift, lost), negligible)


def product(first: Atoms, second: Atoms, *, negligible: float) -> Atoms:
    """The law of the sum of two independent losses, place by place, sorted."""
    losses = np.add.outer(first.losses, second.losses).ravel()
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    order = np.argsort(losses, kind="stable")
    slip = first.slip + second.slip + 4 * ROUNDING
    shift = first.shift + second.shift + 2 * ROUNDING * float(np.abs(losses).max())
    whole = Atoms(losses[order], masses[order], slip, shift, first.lost + second.lost)
    return _without_vanishing(whole, negligible)


def _without_vanishing(atoms: Atoms, negligible: float) -> Atoms:
    """Without atoms that together are negligible: they cost time, and their products may be too small for floats."""
    kept = atoms.masses > max(VANISHING, negligible / len(atoms.masses))
    lost = atoms.lost + negligible + VANISHING * len(atoms.masses)
    return Atoms(atoms.losses[kept], atoms.masses[kept], atoms.slip, atoms.shift, lost)


def hockey_stick(atoms: Atoms, epsilon: float) -> float:
    """Σ_{l > ε} p(l)(1 − e^{ε−l}), of the masses as they stand."""
    start = int(np.searchsorted(atoms.losses, epsilon, side="right"))
    return float(np.dot(atoms.masses[start:], -np.expm1(epsilon - atoms.losses[start:])))


def greatest(atoms: Atoms, tail: arb) -> float:
    """An ε at which the hockey-stick of the true law is certainly at most `tail`."""
    factor = 1 + atoms.slip + 4 * (len(atoms.losses) + 4) * ROUNDING
    goal = float(tail.lower()) * (1 - 4 * ROUNDING)
    top = float(atoms.losses[-1])
    if goal <= atoms.lost:
        raise Inapplicable(f"what is left of δ, {goal:.3g}, is too little for these numbers")
    guess = root(atoms, (goal - atoms.lost) / factor)
    gap = 1e-15 * (top - guess)
    while guess < top and hockey_stick(atoms, guess) * factor + atoms.lost > goal:
        guess, gap = min(top, guess + gap), 2 * gap
    return max(0.0, guess + atoms.shift)


def least(atoms: Atoms, tail: arb) -> float:
    """An ε at which the hockey-stick of the true law is certainly at least `tail`, or 0."""
    factor = 1 - atoms.slip - 4 * (len(atoms.losses) + 4) * ROUNDING
    goal = float(tail.upper()) * (1 + 4 * ROUNDING)
    guess = root(atoms, goal / factor)
    gap = 1e-15 * guess
    while guess > 0.0 and hockey_stick(atoms, guess) * factor < goal:
        guess, gap = guess - gap, 2 * gap
    return max(0.0, guess - atoms.shift)


def root(atoms: Atoms, goal: float) -> float:
    """Where the hockey-stick is the goal, nearly: between two losses it is linear in e^ε."""
    low, high = 0, len(atoms.losses) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if hockey_stick(atoms, float(atoms.losses[middle])) <= goal else (middle + 1, high)
    losses, masses = atoms.losses[low:], atoms.masses[low:]
    minus, excess = float(np.dot(masses, np.exp(losses[0] - losses))), hockey_stick(atoms, float(losses[0]))
    return float(losses[0]) + math.log1p((excess - goal) / minus) if excess - goal > -minus else 0.0
