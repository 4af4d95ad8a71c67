"""The worst that releases can do, worked out from the definition: every pattern of signs, in 300 bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import pytest
from flint import arb, ctx

from sitr.accounting.schedule import Part, Schedule
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.numbers import ball

Releases = Iterable[tuple[float, float]]
Worst = Callable[[Releases, float], arb]

BITS = 300


@pytest.fixture(scope="session")
def worst_delta() -> Worst:
    """δ at ε of independent responses: ±εᵢ with odds e^εᵢ, and an infinite loss with probability δᵢ."""

    def worst(releases: Releases, epsilon: float) -> arb:
        releases = list(releases)
        with ctx.workprec(BITS):
            finite = arb(1)
            for _, delta in releases:
                finite *= 1 - ball(delta)
            stick = arb(0)
            for signs in product((1, -1), repeat=len(releases)):
                p = q = arb(1)
                for sign, (size, _) in zip(signs, releases, strict=True):
                    odds = (sign * ball(size)).exp()
                    p, q = p * odds / (1 + odds), q / (1 + odds)
                excess = p - ball(epsilon).exp() * q
                if excess > 0:
                    stick += excess
            return 1 - finite * (1 - stick)

    return worst


@pytest.fixture(scope="session")
def precise() -> Callable[[float], arb]:
    """A number in as many bits."""

    def number(value: float) -> arb:
        with ctx.workprec(BITS):
            return ball(value)

    return number


@pytest.fixture(scope="session")
def plan_of() -> Callable[[Releases], Schedule]:
    """A schedule with one step for each (ε, δ)."""

    def schedule(releases: Releases) -> Schedule:
        return Schedule(tuple(Part((ApproximateDP(e, d) if d else PureDP(e),)) for e, d in releases))

    return schedule
