"""Optimal composition of equal steps: exactly what k releases with the same ε can lose at worst."""

from __future__ import annotations

import math

from flint import arb

from sitr.accounting.schedule import Schedule
from sitr.accounting.shares import SMALLEST, shared, spare
from sitr.accounting.theorems.theorem import Theorem, Total, never
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import LARGEST_LOSS
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss
from sitr.numbers import ball, downward, exact, lower, upper, upward
from sitr.precision import precision

BITS = 224
"""The precision. Up to 40 bits are lost to the size of ln k!, and 100 make the result far narrower than a float."""
NEGLIGIBLE = arb(0.5, 0.5) * arb(2) ** -130


def optimal_equal(schedule: Schedule, delta: float) -> Total:
    """The least ε at δ for k × (ε₀, δ₀), exactly.      [KOV15, Thm 3.3]

    The worst release is a randomized response with loss ±ε₀ (or ∞, with probability δ₀). With i minus signs the sum
    is (k − 2i)ε₀; the profile of the sum is linear in e^ε between such places, and is solved there. The δ₀ need not be
    equal: only the product of all 1 − δ₀ matters. Releases with a tail get half of δ, as in `shared`.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.approximate import ApproximateDP
    >>> optimal_equal(Schedule((Part((ApproximateDP(0.1, 1e-8),), times=100),)), 1e-5).upper
    4.32963...
    """
    shares = shared(schedule, delta=delta)
    sizes = {point.epsilon for point in shares.points if point.epsilon > 0.0}
    if len(sizes) > 1:
        raise Inapplicable(f"the steps are not equal: ε is from {min(sizes):.4g} to {max(sizes):.4g}")
    with precision(BITS):
        tail = spare(shares.points, delta)
        epsilon = sizes.pop() if sizes else 0.0
        times = sum(point.times for point in shares.points if point.epsilon > 0.0)
        if times == 0:
            return Total(0.0, 0.0, shares.whole)
        least, most = downward(exact(epsilon) * times), upward(exact(epsilon) * times)
        if tail.lower() > 0:
            most = min(most, max(0.0, upper(_solve(epsilon, times, tail.lower()))))
        if tail.upper() > 0:
            least = min(least, max(0.0, lower(_solve(epsilon, times, tail.upper()))))
    return Total(least if shares.whole else 0.0, most, shares.whole)


def _solve(epsilon: float, times: int, tail: arb) -> arb:
    """The x with H(x) = tail, where H(x) = Σ_{l<i} C(k,l)(e^{(k−l)ε} − e^{x+lε})/(1 + e^ε)^k on the i-th piece."""
    low, high = 0, (times + 1) // 2  # H is 0 at the place of 0, kε; the place of `high` is 0 or −ε
    if bool(_stick(epsilon, times, high) <= tail):
        return arb(0)
    # The loss finds the piece, or a few of them; they are taken only where their ends prove them right.
    first, last = _near(epsilon, times, float(tail.mid()))
    if low < first < high and bool(_stick(epsilon, times, first) < tail):
        low = first
    if low < last < high and bool(tail <= _stick(epsilon, times, last)):
        high = last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bool(_stick(epsilon, times, middle) < tail) else (low, middle)
    # Where a comparison could not be decided, the place itself is the solution to within far less than this.
    decided = arb(0, "1e-15")
    plus, minus = _masses(epsilon, times, high)
    return ball(epsilon) * (times - 2 * high) + ((plus - tail) / minus).log() + decided


def _near(epsilon: float, times: int, tail: float) -> tuple[int, int]:
    """The places between which the solution probably lies."""
    if tail < SMALLEST or epsilon > LARGEST_LOSS:
        return 0, times
    found = Loss.of(response(epsilon), times).epsilon(delta=tail)
    first, last = ((times - found.upper / epsilon) / 2, (times - found.lower / epsilon) / 2)
    return math.ceil(first - 1e-6) - 1, math.ceil(last + 1e-6)


def _stick(epsilon: float, times: int, place: int) -> arb:
    """H at (k − 2i)ε."""
    plus, minus = _masses(epsilon, times, place)
    return plus - minus


def _masses(epsilon: float, times: int, place: int) -> tuple[arb, arb]:
    """P(fewer than i minus signs), and e^{(k−2i)ε} times its probability under the neighbour.

    The terms are summed from l = i − 1 downward. They fall at least geometrically once their ratio is below 1, so that
    the omitted terms at the lower end are bounded by the last one. More minus signs than w above their mean have a
    total probability of at most e^{−2w²/k} [Hoe63, Thm 2]: such terms are omitted too.
    """
    e, odds = ball(epsilon), ball(epsilon).exp()
    far = math.ceil(times / (1 + math.exp(min(epsilon, 700.0))) + math.sqrt(46 * times))  # e^{−92} < 2^{−130}
    start = min(place - 1, far)
    choices = arb(times + 1).lgamma() - arb(start + 1).lgamma() - arb(times - start + 1).lgamma()
    term = (choices - e * start - (-e).exp().log1p() * times).exp()
    step, factor = (-2 * e).exp(), (-2 * e * (place - start)).exp()
    plus = minus = arb(0) if start == place - 1 else NEGLIGIBLE
    for minuses in range(start, -1, -1):
        plus += term
        minus += term * factor
        factor *= step
        ratio = odds * minuses / (times - minuses + 1)
        term *= ratio
        if minuses % 64 == 0 and ratio < 1 and term < plus * (1 - ratio) * arb(2) ** -130:
            rest = term / (1 - ratio) * arb(0.5, 0.5)
            return plus + rest, minus + rest * factor
    return plus, minus


OPTIMAL_EQUAL = Theorem(name="optimal_equal", source="[KOV15, Thm 3.3]", total=optimal_equal, adaptive=never)
