"""Optimal composition of different steps: what releases with any (εᵢ, δᵢ) can lose at worst, as a proved interval."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce

from flint import arb, ctx

from sitr.accounting.lattice import Lattice, above, add, below
from sitr.accounting.responses import SMALLEST, Atoms, greatest, least, product, responses, spare
from sitr.accounting.schedule import Schedule
from sitr.accounting.shares import shared
from sitr.accounting.theorems.theorem import Theorem, Total, never
from sitr.accounting.views import Inapplicable
from sitr.numbers import ball, downward, exact, lower, upward

ERROR = 0.05
"""How wide an interval for ε may be, where nothing else is asked for."""
ENUMERATED = 2**20
"""Up to so many different sums (20 different steps) all are looked at."""
BLOCKS = 2**22
"""Beyond that, sums of several steps are formed exactly before they go onto the lattice; so many places in all."""
WORK = 2**31
"""No finer lattice is tried once one has cost about so many multiplications: a few seconds."""


def optimal_mixed(schedule: Schedule, delta: float, *, error: float = ERROR) -> Total:
    """The least ε with 1 − Π(1 − δᵢ)·(1 − H(ε)) ≤ δ, H being the hockey-stick of independent responses ±εᵢ.

    [MV16, Thm 1.5]. Exact up to rounding for up to 2²⁰ different sums. Beyond, the law of the sum is bounded on both
    sides on ever finer lattices until the interval is no wider than `error`, or the lattice too costly; the interval is
    proved in any case. Releases with a tail get half of δ, as in `shared`.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.pure import PureDP
    >>> optimal_mixed(Schedule((Part((PureDP(0.1),), times=50), Part((PureDP(0.2),), times=50))), 1e-6).upper
    7.9903...
    """
    shares = shared(schedule, delta=delta)
    tail = spare(shares.points, delta)
    steps: Counter[float] = Counter()
    for point in shares.points:
        steps[point.epsilon] += point.times
    del steps[0.0]  # such a step moves no loss
    reach = sum((exact(epsilon) * times for epsilon, times in steps.items()), Fraction(0))
    low, high = downward(reach), upward(reach)
    if steps and tail.lower() > 0:
        low, high = _interval(steps, tail, error)
    elif steps and tail.upper() > 0:
        low = _near(reach, steps, tail)
    assert low <= high, f"the interval from {low} to {high} is empty"
    return Total(low if shares.whole else 0.0, min(high, upward(reach)), shares.whole)


def _near(reach: Fraction, steps: Counter[float], tail: arb) -> float:
    """A lower bound where nothing may be left of δ: H is at least top·(1 − e^{ε−Σεᵢ}), top being P(all signs are +)."""
    with ctx.workprec(224):
        top = -sum(((-ball(epsilon)).exp().log1p() * times for epsilon, times in steps.items()), arb(0))
        part = tail.upper() / top.exp()
        return max(0.0, lower(ball(reach) + (-part).log1p())) if part < 1 else 0.0


def _interval(steps: Counter[float], tail: arb, error: float) -> tuple[float, float]:
    if not tail > arb(SMALLEST):
        raise Inapplicable(f"what is left of δ for finite losses is less than {SMALLEST}: too little for its numbers")
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


OPTIMAL_MIXED = Theorem(name="optimal_mixed", source="[MV16, Thm 1.5]", total=optimal_mixed, adaptive=never)
