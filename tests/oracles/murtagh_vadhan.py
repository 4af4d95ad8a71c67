"""Sums of different responses on lattices, from both sides: what the loss is compared with.      [MV16, Thm 1.5]"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial, reduce

from flint import arb

from sitr.accounting.schedule import Schedule
from sitr.accounting.shares import shared, spare
from sitr.numbers import Interval
from tests.oracles.lattice import Lattice, above, add, below
from tests.oracles.responses import Atoms, greatest, least, product, responses

ENUMERATED = 2**20
"""Up to so many different sums (20 different steps) all are looked at."""
BLOCKS = 2**22
"""Beyond that, sums of several steps are formed exactly before they go onto the lattice; so many places in all."""
WORK = 2**31
"""No finer lattice is tried once one has cost about so many multiplications: a few seconds."""


def interval(steps: Counter[float], tail: arb, error: float) -> tuple[float, float]:
    negligible = float(tail.lower()) * 1e-13 / len(steps)
    laws = [responses(epsilon, times, negligible=negligible) for epsilon, times in sorted(steps.items())]
    if math.prod(len(law.losses) for law in laws) <= ENUMERATED:
        whole = reduce(partial(product, negligible=negligible), laws)
        return least(whole, tail), greatest(whole, tail)
    blocks = _blocks(laws, negligible)
    deviation = math.sqrt(sum(epsilon**2 * times for epsilon, times in steps.items()))
    step, low, high, work = deviation / 8, 0.0, math.inf, 0
    while high - low > error and work < WORK / 4:  # half the step is four times the work
        upper_law, work = _sum(blocks, above, step, negligible)
        lower_law, _ = _sum(blocks, below, step, negligible)
        # Each lattice proves its own interval: the truth is in all of them.
        low, high = max(low, least(lower_law, tail)), min(high, greatest(upper_law, tail))
        step /= 2
    return low, high


def _blocks(laws: list[Atoms], negligible: float) -> list[Atoms]:
    """Exact sums of several steps, as large as they may be: rounding once for many loses less than for each.

    Steps of different sizes are taken together: the sums of equal ones lie apart, and leave gaps on the lattice.
    """
    most, stride = BLOCKS // len(laws), math.isqrt(len(laws))
    mixed = [law for start in range(stride) for law in laws[start::stride]]
    blocks = mixed[:1]
    for law in mixed[1:]:
        if len(blocks[-1].losses) * len(law.losses) <= most:
            blocks[-1] = product(blocks[-1], law, negligible=negligible)
        else:
            blocks.append(law)
    return blocks


def _sum(blocks: list[Atoms], side: Callable[..., Lattice], step: float, negligible: float) -> tuple[Atoms, int]:
    """All blocks on one lattice, added, and how many multiplications that took."""
    whole, work = side(blocks[0], step=step), 0
    for block in blocks[1:]:
        law = side(block, step=step)
        work += len(whole.masses) * len(law.masses)
        whole = add(whole, law, negligible=negligible)
    return whole.atoms(), work


def on_lattices(schedule: Schedule, delta: float, *, error: float = 0.05) -> Interval:
    """The least ε at δ of any mechanisms that keep the schedule's (ε, δ)."""
    shares = shared(schedule, delta=delta)
    steps: Counter[float] = Counter()
    for point in shares.points:
        steps[point.epsilon] += point.times
    del steps[0.0]
    low, high = interval(steps, spare(shares.points, delta), error)
    assert low <= high, f"the interval from {low} to {high} is empty"
    return Interval(low, high)
