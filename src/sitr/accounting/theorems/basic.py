"""Basic composition: parameters add."""

from __future__ import annotations

from fractions import Fraction

from sitr.accounting.schedule import Schedule
from sitr.accounting.shares import fixed, shared
from sitr.accounting.theorems.theorem import FIXED_SHARES, YES, Adaptive, Theorem, Total
from sitr.accounting.views import Inapplicable
from sitr.numbers import downward, exact, upward


def basic(schedule: Schedule, delta: float) -> Total:
    """(Σε, Σδ).      [DR14, Thm 3.16]

    Releases with a tail share all that the others leave of δ. At δ = 0 the sum is exact.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.pure import PureDP
    >>> basic(Schedule((Part((PureDP(0.1),), times=10),)), 0.0)
    Total(lower=1.0, upper=1.0, two_sided=True)
    """
    shares = shared(schedule, delta=delta, part=Fraction(1))
    if shares.slack < 0:
        raise Inapplicable(f"the steps' δ add up to {upward(exact(delta) - shares.slack)}, which is more than δ")
    total = sum((exact(point.epsilon) * point.times for point in shares.points), Fraction(0))
    exactly = delta == 0.0 and shares.whole
    return Total(downward(total) if exactly else 0.0, upward(total), exactly)


def adaptive(schedule: Schedule, _delta: float) -> Adaptive:
    """Sums of stated points are a stopping rule [RRUV16, Thm 3.6]; shares that depend on later releases are not."""
    return YES if fixed(schedule) else FIXED_SHARES


BASIC = Theorem(name="basic", source="[DR14, Thm 3.16; RRUV16, Thm 3.6]", total=basic, adaptive=adaptive)
