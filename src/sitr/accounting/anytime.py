"""What an odometer promises at a moment that somebody chooses after seeing answers.

Let L_t be the loss of the first t answers, and S_t the sum of their ρ, each chosen after the answers before it. For
every order α = 1 + x, exp(x·L_t − x(1 + x)·S_t) is a supermartingale that starts at 1, because each step has
E[e^{xL} | earlier answers] ≤ e^{x(1+x)ρ}. By Ville's inequality, with probability 1 − δ_j and *for all t at once*,

    L_t ≤ (1 + x)·S_t + ln(1/δ_j)/x.      [WRRW23, Sec. 3; BS16, Def. 1.1]

An order that is fixed in advance is best near one sum only. So there is one for each ρ_j = 2^j/4, j = 0, ±1, ±2, …,
with a share of δ: δ_j = δ·(2/3)/((|j| + 1)(|j| + 2)), and Σδ_j = δ. By the union bound all lines hold together, and
the least of them is the total. This is valid at every moment, whoever chooses it and why.

The same total converted at a δ for one moment, ρ + 2√(ρ ln(1/δ)), is not: whoever asks often enough and stops when the
loss is above that line will reach it with a probability far above δ.

The grid and the shares are constants: they must be fixed before the first answer of every ledger, so they never change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from sitr.accounting.filter import Filter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.numbers import ball, exact, upper, upward
from sitr.precision import precision

NEAR = 3
"""Lines up to this far from the sum are looked at: the minimum of any of them is valid."""

_BITS = 40


@dataclass(frozen=True, slots=True)
class Reading:
    """What an odometer shows: the recorded charges, and what they promise at any moment."""

    recorded: Promise
    """The sum of all charges, rounded up: recorded charges, which are no promise by themselves."""
    epsilon: float | None
    """P(S) ≤ e^ε·Q(S) + `probability` for the laws of all answers on two neighbours, and every event S that happens
    only while at most this ε is shown; None if nothing is proved for a moment chosen after answers."""
    probability: float = 0.0
    """Fixed when the budget was opened. It does not bound how often the loss of the answers exceeds ε: the rare events
    of approximate charges need not be visible in their answers."""


def reading(budget: Filter[Promise]) -> Reading | None:
    """What the odometer shows; None if the budget has a cap.

    Pure: Σε bounds every loss. With a δ, the law of each answer given the earlier ones is at least 1 − δ_i times one
    that keeps ε or ρ without a δ, on both neighbours [KOV15, Thm 3.3; BS16, Def. 8.1]. Let P₁ ≤ P and Q₁ ≤ Q be the
    products of these parts along every sequence of answers. As Σδ_i ≤ δ, P₁ lacks at most δ of the mass of P, and its
    factors 1 − δ_i cancel in P₁/Q₁. So for an event S that happens only while at most ε is shown,

        P(S) ≤ P₁(S) + δ ≤ e^ε·Q₁(S) + δ + P₁(P₁/Q₁ exceeds what is shown, at some moment) ≤ e^ε·Q(S) + δ + δ′,

    with δ′ = 0 for approximate charges, whose Σε bounds the ratio always [RRUV16, Thm 3.6], and δ′ = δ for the line
    of this module.

    >>> from sitr.flavors.uncapped import odometer
    >>> reading(Filter(odometer("pure")).consent(PureDP(0.25)).consent(PureDP(0.5)))
    Reading(recorded=PureDP(epsilon=0.75), epsilon=0.75, probability=0.0)
    """
    promise, spent = budget.promise, budget.spent()
    if not promise.uncapped:
        return None
    match promise:
        case PureDP():
            return Reading(spent, upward(budget.paid[0]))
        case ApproximateDP(delta=delta):
            return Reading(spent, upward(budget.paid[0]), delta)
        case ApproximateZeroConcentratedDP(delta=delta):
            both = min(1.0, upward(2 * exact(delta)))
            return Reading(spent, loss_at_any_time(budget.paid[0], delta=delta), both)
    return Reading(spent, None)


@precision()
def loss_at_any_time(rho: Fraction, *, delta: float) -> float:
    """ε with P(L_t > ε(S_t) for some t) ≤ δ, where S_t = Σρ, rounded up.

    >>> loss_at_any_time(Fraction(1, 2), delta=1e-6)
    6.16...
    >>> from sitr.flavors.zero_concentrated import ZeroConcentratedDP
    >>> ZeroConcentratedDP(0.5).loss_quantile(delta=1e-6)  # at a moment fixed in advance
    5.7...
    """
    if rho == 0:
        return 0.0
    whole, middle = exact(delta), (4 * rho.numerator // rho.denominator or 1).bit_length() - 1
    if 4 * rho < 1:
        middle = 1 - (rho.denominator // (4 * rho.numerator)).bit_length()
    return min(upper(_line(j, whole).at(rho)) for j in range(middle - NEAR, middle + NEAR + 1))


@dataclass(frozen=True, slots=True)
class _Line:
    """(1 + x)·S + ln(1/δ_j)/x."""

    x: Fraction
    share: Fraction
    """δ_j."""

    def at(self, rho: Fraction) -> arb:
        return ball((1 + self.x) * rho) - ball(self.share).log() / ball(self.x)


def _line(j: int, delta: Fraction) -> _Line:
    """The line of 2^j/4. Its order, near the best one, is found with whole numbers: the same on every machine."""
    share = delta * Fraction(2, 3) / ((abs(j) + 1) * (abs(j) + 2))
    logarithm = Fraction(693, 1000) * (share.denominator // share.numerator).bit_length()  # about ln(1/δ_j)
    square = logarithm / (Fraction(2) ** j / 4)
    return _Line(Fraction(max(1, math.isqrt(int(square * 2 ** (2 * _BITS)))), 2**_BITS), share)
