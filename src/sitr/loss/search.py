"""One question to a sum of losses, answered by ever finer lattices until the proved interval is narrow enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np

from sitr.loss.bounds import Bounds
from sitr.loss.convolve import Parts, Tail, tail, tilt_for, tilt_to, window
from sitr.loss.lattice import combed, lattices
from sitr.loss.law import ROUNDING, Law, Vector

Laws = Sequence[tuple[Law, int]]

CELLS = 300
"""About so many cells of a mesh share the error that the narrowest ones do not make."""

LARGEST = 1 << 21
"""No longer transforms are made: the interval is then wider than asked for, and proved all the same."""

ROUNDS = 8
NEGLIGIBLE = 16.0
"""What is cut off at the ends of a law is less than e^{−16} of what is asked for."""


class Question(Protocol):
    """What is asked, and how an answer is read off."""

    def tilt(self, parts: Parts, start: float, known: Bounds) -> float:
        """The tilt at which to look, given what is known of the answer."""

    def log_tail(self, parts: Parts, tilt: float) -> float:
        """About ln of the hockey-stick that matters."""

    def read(self, found: Tail, side: int) -> float:
        """A bound on the answer from above (1) or from below (−1), or what it were without numerical errors (0)."""

    def error(self, bounds: Bounds, tilt: float) -> float:
        """How far apart the bounds are, as losses."""

    def allowed(self, answer: float, tilt: float, spread: float, relative: float) -> float:
        """How far apart they may be, as losses."""


@dataclass(frozen=True, slots=True)
class EpsilonAt:
    """The least ε ≥ 0 at this δ."""

    delta: float

    def tilt(self, parts: Parts, start: float, known: Bounds) -> float:
        if math.isfinite(known.upper):
            return tilt_to(parts, (known.lower + known.upper) / 2, start=start)
        return tilt_for(parts, math.log(self.delta), start=start)

    def log_tail(self, parts: Parts, tilt: float) -> float:  # noqa: ARG002
        return math.log(self.delta)

    def read(self, found: Tail, side: int) -> float:
        # A δ that was no float is rounded: the answer holds for all that read as it.
        return found.epsilon(self.delta * (1 - side * 4 * ROUNDING), side=side)

    def error(self, bounds: Bounds, tilt: float) -> float:  # noqa: ARG002
        return bounds.width

    def allowed(self, answer: float, tilt: float, spread: float, relative: float) -> float:  # noqa: ARG002
        return relative * max(answer, spread / 100)


@dataclass(frozen=True, slots=True)
class DeltaAt:
    """The least δ at this ε."""

    epsilon: float

    def tilt(self, parts: Parts, start: float, known: Bounds) -> float:  # noqa: ARG002
        return tilt_to(parts, self.epsilon, start=start)

    def log_tail(self, parts: Parts, tilt: float) -> float:
        return parts.cumulants(tilt)[0] - tilt * self.epsilon

    def read(self, found: Tail, side: int) -> float:
        return found.delta(self.epsilon, side=side)

    def error(self, bounds: Bounds, tilt: float) -> float:
        if bounds.upper <= 0.0:
            return 0.0
        return math.log(bounds.upper / bounds.lower) / (1 + tilt) if bounds.lower > 0.0 else math.inf

    def allowed(self, answer: float, tilt: float, spread: float, relative: float) -> float:  # noqa: ARG002
        return relative / (1 + tilt)


@dataclass(frozen=True, slots=True)
class Hint:
    """Where an answer was found: the other direction is much like it, and no matter once it is known to be smaller."""

    step: float
    tilt: float
    log_tail: float
    log_outside: float
    lower: float = -math.inf


def answer(laws: Laws, question: Question, *, relative: float, hint: Hint | None = None) -> tuple[Bounds, Hint]:
    """The answer for one direction: an interval that holds, as narrow as asked for where that can be reached."""
    releases = sum(times for _, times in laws)
    outlines = [outline(law) for law, _ in laws]
    pitch = _pitch(laws)
    here = hint or Hint(max(shape.size for shape in outlines) / 4, 1.0, -60.0, math.log(relative) - 8.0)
    bounds = Bounds(0.0, math.inf)
    for number in range(0 if hint is None else 1, ROUNDS):
        cut = here.log_tail - math.log(releases) - NEGLIGIBLE
        ends = [(shape.low, shape.high(cut)) for shape in outlines]
        step = max(here.step, max(high - low for low, high in ends) * 2.0**-40)
        exact = number > 0 and step < 2 * pitch  # then the lattice of the losses themselves is the best
        step = pitch if exact else step
        sides = [
            combed(law, low=low, high=high)
            if exact
            else lattices(law, step=step, low=low, high=high, tilt=here.tilt, tolerance=step * step / CELLS)
            for (law, _), (low, high) in zip(laws, ends, strict=True)
        ]
        over, under = (Parts((side[at], times) for side, (_, times) in zip(sides, laws, strict=True)) for at in (0, 1))
        tilt = question.tilt(over, here.tilt, bounds)
        _, mean, variance = over.cumulants(tilt)
        log_tail = min(0.0, question.log_tail(over, tilt))
        here = replace(here, step=step, tilt=tilt, log_tail=log_tail)
        if number == 0:  # a coarse lattice tells where to look
            allowed = question.allowed(mean, tilt, math.sqrt(variance), relative)
            fine = math.sqrt(2 * allowed / (releases * (tilt + 1)))
            here = replace(here, step=min(fine, max(math.sqrt(variance), fine) / 8))
            continue
        spans = [_span(parts, tilt, here.log_outside) for parts in (over, under)]
        if spans[0] > LARGEST * step:
            if bounds.upper < math.inf:
                break
            here = replace(here, step=1.1 * spans[0] / LARGEST)
            continue
        upper = tail(over, tilt=tilt, log_outside=here.log_outside)
        # From below, so little may be left that it has no centre where one was looked for: then it says nothing.
        some = under if spans[1] <= 2 * LARGEST * step else Parts([(nodes.nothing(), times) for nodes, times in under])
        lower = tail(some, tilt=tilt, log_outside=here.log_outside)
        # Each lattice proves an interval of its own: the truth is in all of them.
        before = question.error(bounds, tilt)
        bounds = Bounds(max(bounds.lower, question.read(lower, -1)), min(bounds.upper, question.read(upper, 1)))
        allowed = question.allowed(bounds.upper, tilt, math.sqrt(variance), relative)
        error = question.error(bounds, tilt)
        if error <= allowed or bounds.upper <= here.lower:
            break
        # Is it the lattice that is too coarse, or the rest? Its error goes as the step squared, or as the step.
        lattice = question.error(Bounds(question.read(lower, 0), question.read(upper, 0)), tilt)
        if exact or lattice < 0.7 * allowed:
            if 0.95 * before < error < math.inf:
                break
            here = replace(here, log_outside=here.log_outside - 8.0)
        else:
            missing = allowed / lattice if math.isfinite(lattice) else 1 / 16
            here = replace(here, step=step * max(1 / 32, 0.7 * (missing if missing < 1 / 4 else math.sqrt(missing))))
    return bounds, replace(here, lower=bounds.lower)


def _span(parts: Parts, tilt: float, log_outside: float) -> float:
    """How many losses the window holds; none, if there is no mass."""
    if any(len(nodes.places) == 0 for nodes, _ in parts):
        return 0.0
    left, right = window(parts, tilt, log_outside)
    lowest, highest = (sum(times * float(end(nodes.losses)) for nodes, times in parts) for end in (np.min, np.max))
    return min(right, highest) - max(left, lowest)


def _pitch(laws: Laws) -> float:
    """The pitch that all laws have in common, or 0."""
    combs = {law.comb for law, _ in laws}
    pitches = {comb[1] for comb in combs if comb is not None}
    return pitches.pop() if None not in combs and len(pitches) == 1 else 0.0


GRID = np.concatenate(
    ((-math.inf,), -np.ldexp(1.0, np.arange(20, -51, -1)), (0.0,), np.ldexp(1.0, np.arange(-50, 21)), (math.inf,))
)


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A law seen from afar: how large its losses are, and where its ends are."""

    size: float
    low: float
    greatest: float
    log_above: Vector

    def high(self, log_tail: float) -> float:
        """A loss above which the mass is at most e^{log_tail}."""
        small = np.flatnonzero(self.log_above <= log_tail)
        return max(self.low, min(self.greatest, float(GRID[-2]), float(GRID[1:][small[0]]) if len(small) else math.inf))


@lru_cache(maxsize=1024)
def outline(law: Law) -> Outline:
    log_p = law.cells(GRID).log_p
    log_above = np.append(np.logaddexp.accumulate(log_p[::-1])[::-1][1:], -math.inf)  # above GRID[1:]
    low = float(GRID[1:][max(0, int(np.argmax(np.logaddexp.accumulate(log_p) > -50.0)) - 1)])
    sizes = np.minimum(1.0, np.minimum(np.abs(GRID[:-1]), np.abs(GRID[1:])))
    return Outline(
        math.sqrt(float(np.exp(log_p) @ sizes**2)) + 2.0**-50,
        min(max(low, law.least), float(GRID[-2])),
        law.greatest,
        log_above,
    )
