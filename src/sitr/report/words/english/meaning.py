"""The meaning of (ε, δ) and of the odds in English: sentences that answers and explanations share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sitr.report.figures import at_most, chance
from sitr.report.words.notation import odds


def likelihood(points: Sequence[tuple[float, float]], *, sides: tuple[str, str], evidence: str) -> str:
    """What (ε, δ) means, at one or several points. `evidence` names what was released.

    >>> likelihood(((1.0, 1e-6),), sides=("with your data", "without them"), evidence="the answer")
    'Anything that anyone could do or conclude because of the answer is at most 2.72 times as likely with your data as
    without them, plus at most 10⁻⁶ (1 in 1,000,000), and vice versa.'
    """
    here, there = sides
    (epsilon, delta), *others = points
    if epsilon == math.inf:
        return f"At δ = {at_most(delta)}, ε is too large to be written: next to nothing is promised."
    further = "".join(f", and at most {odds(size)} times as likely{_plus(rest)}" for size, rest in others)
    return (
        f"Anything that anyone could do or conclude because of {evidence} is at most {odds(epsilon)} times as likely "
        f"{here} as {there}{',' if delta else ''}{_plus(delta)}{further}, and vice versa."
    )


def moved(epsilon: float, delta: float, evidence: str) -> str:
    """How far the odds move: always where δ = 0, or else towards the truth except with probability δ."""
    if delta == 0.0:
        return f"{evidence} changes the odds by at most a factor of {odds(epsilon)}."
    if epsilon == math.inf:
        return f"{evidence} may move the odds by any factor."
    return (
        f"{evidence} moves the odds towards the truth by more than a factor of {odds(epsilon)} with probability at "
        f"most {at_most(delta)}{_chance(delta)}."
    )


def _plus(delta: float) -> str:
    return f" plus at most {at_most(delta)}{_chance(delta)}" if delta else ""


def _chance(delta: float) -> str:
    return f" ({chance(delta)})" if delta < 0.5 else ""
