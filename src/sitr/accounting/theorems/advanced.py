"""Advanced composition: the loss is close to its mean, which is small."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from sitr.accounting.schedule import Schedule
from sitr.accounting.shares import fixed, shared
from sitr.accounting.theorems.theorem import FIXED_SHARES, YES, Adaptive, Theorem, Total, above_zero, at_most
from sitr.accounting.views import Inapplicable
from sitr.numbers import ball, exact, upward
from sitr.precision import precision


def advanced(schedule: Schedule, delta: float) -> Total:
    """ε = √(2 ln(1/δ')·Σεᵢ²) + Σεᵢ(e^{εᵢ} − 1), with δ' = δ − Σδᵢ.      [DRV10, Thm III.3, with different εᵢ]

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.pure import PureDP
    >>> advanced(Schedule((Part((PureDP(0.1),), times=100),)), 1e-6).upper
    6.308...
    """
    return around_mean(schedule, delta, mean=lambda epsilon: epsilon * epsilon.expm1())


@precision()
def around_mean(schedule: Schedule, delta: float, *, mean: Callable[[arb], arb]) -> Total:
    """The tail of a martingale with steps of at most εᵢ, above this bound on the mean loss of each (Azuma).

    Releases with a tail get half of what the others leave of δ; the slack δ' is the rest.
    """
    shares = shared(schedule, delta=above_zero(delta))
    if shares.slack <= 0:
        spent = upward(exact(delta) - shares.slack)
        raise Inapplicable(f"the steps' δ add up to {spent}, which leaves nothing of δ for the slack δ'")
    squares, means = arb(0), arb(0)
    for point in shares.points:
        epsilon = ball(point.epsilon)
        squares += epsilon * epsilon * point.times
        means += mean(epsilon) * point.times
    return at_most((-2 * ball(shares.slack).log() * squares).sqrt() + means)


def adaptive(schedule: Schedule, delta: float) -> Adaptive:
    """For pure steps it is a stopping rule; otherwise the slack δ' would change from release to release.

    The same sum with the smaller mean ε²/2 is a valid filter [WRRW23, Thm 1], so this one, which stops earlier, is one.
    """
    pure = fixed(schedule) and all(point.delta == 0.0 for point in shared(schedule, delta=delta).points)
    return YES if pure else FIXED_SHARES


ADVANCED = Theorem(name="advanced", source="[DRV10, Thm III.3; WRRW23, Thm 1]", total=advanced, adaptive=adaptive)
