"""ln Φ(−z) and the hazard φ/Φ, against Arb: near, in the middle, far out, and on both sides of the borders."""

from __future__ import annotations

import math

import pytest
from flint import arb, ctx

from sitr.loss.law import FUNCTIONS
from sitr.loss.normal_tail import FAR, NEAR, normal_tail

PLACES = [
    *(0.0, 1e-300, 1e-9, 2000.0, 1e5),
    *(place / 16 for place in range(16 * 32)),
    *(border + side * step for border in (NEAR, FAR) for side in (-1, 1) for step in (0.0, 1e-12, 1e-3, 0.3)),
    *(20 * 1.05**power for power in range(64)),
]


def wrong(found: tuple[float, float], z: float) -> tuple[float, float]:
    """The errors of the logarithm and of the hazard, as multiples of what is allowed."""
    with ctx.workprec(256):
        tail = (arb(z) / arb(2).sqrt()).erfc() / 2
        hazard = (-(arb(z) ** 2) / 2).exp() / (2 * arb.pi()).sqrt() / tail
        off = abs(arb(found[0]) - tail.log()), abs(arb(found[1]) - hazard) / hazard
        return float(off[0].upper()) / (FUNCTIONS * (1 + z * z)), float(off[1].upper()) / 1e-13


@pytest.mark.parametrize("z", PLACES)
def test_both_are_as_accurate_as_they_say(z: float) -> None:
    assert max(wrong(normal_tail(z), z)) < 0.5  # half is left for other libraries of C


def test_a_fraction_that_ends_too_early_is_found() -> None:
    """Broken: two terms of the continued fraction."""
    z = 6.0
    hazard = z + 1 / (z + 2 / z)
    assert min(wrong((-z * z / 2 - math.log(2 * math.pi) / 2 - math.log(hazard), hazard), z)) > 1
