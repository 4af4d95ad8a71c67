"""The Gaussian residue filter: pure answers cost a Gaussian budget less than the μ of each of them.

A budget of μ-Gaussian privacy pays for an answer P with what must be taken away from μ, so that P *and then anything
that is m-private* is still μ-private together. The largest such m is what P leaves over, its residue [RHLMTL26]:

    the loss of P, and of Gaussian noise with m beside it, is at most the loss of Gaussian noise with μ.            (*)

**It is valid for every choice of answers.** By induction over the number of answers that are still to come: with none,
there is nothing to prove. Let P be the first of n. Whatever it answers, what comes afterwards has n − 1 answers and a
filter that begins at m, so it is m-private by induction: *with the same m for every answer of P*, because m depends on
the promise of P alone. Two releases, the second of which may depend on the first, are bounded by the sum of
bounds on both of their losses [DRS22, Thm 3.2], which is (*). Answers without end: every event is a limit of events
about finitely many.

For Gaussian noise (*) says m² = μ² − g², and nothing is gained over adding up squares. For ε-private answers, the worst
of which is randomized response, it is a gain: alone, randomized response needs μ(ε)² = 1.57·ε² for small ε, because a
Gaussian has to lie below the corner of its curve. Beside other noise that corner is washed out, and little more than
ε² is left to pay. At least 2ε·tanh(ε/2) must be paid, because mean losses add up.

**Each residue is proved.** Let H be the hockey-stick of randomized response with Gaussian noise m beside it, and H_μ
that of Gaussian noise with μ. Both are functions of t = e^e ≥ 1, and one direction is enough, because randomized
response is symmetric.

- Up to E, H is convex in t, so it lies below its chords. A chord c − s·t lies below H_μ everywhere if and only if
  c ≤ Φ(Φ⁻¹(s) + μ) [DRS22, Prop. 2.12]. Intervals are halved until that is proved, with balls.
- From E = mμ/2 + εμ/(μ − m) on, H(e) ≤ H_m(e − ε), because no loss of randomized response is above ε, and
  −dH_m(e − ε)/de = e^{e−ε}·Φ(−m/2 − (e − ε)/m) ≤ e^e·Φ(−μ/2 − e/μ) = −dH_μ(e)/de. Both tend to 0.

Where a proof would take too long, at prices below μ/25, squares are subtracted: m² = μ² − μ(ε)² is always valid.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import BudgetExceeded, IncompatiblePromises
from sitr.flavors.gaussian import GaussianDP, normal
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.loss.normal_tail import normal_tail
from sitr.numbers import ball, downward, exact
from sitr.precision import precision

INTERVALS = 4000
"""The most intervals of one proof."""

SMALLEST = 25
"""A proof needs about 10·(μ/ε)² intervals, so none is tried for a price below this part of μ."""

SLACK = (Fraction(1, 256), Fraction(1, 16), Fraction(1, 4))
"""By how much the cost may exceed the estimate, as a share of it: the first that is proved is taken."""

BITS = 256


@dataclass(frozen=True, slots=True)
class GaussianResidue:
    """A budget of Gaussian privacy that charges what an answer leaves over, however answers are chosen.

    It pays for `GaussianDP` prices, which Gaussian noise on real numbers keeps, rounded afterwards or not, and for
    `PureDP` prices. Others are refused: a zero-concentrated promise, such as that of Gaussian noise on the integers,
    bounds moments and not tests, and an approximate one may expose somebody outright.

    >>> budget = GaussianResidue(GaussianDP(1.0)).consent(PureDP(0.5))
    >>> budget.remaining()
    GaussianDP(mu=0.85...)
    >>> from sitr.accounting.filter import Filter
    >>> Filter(GaussianDP(1.0)).consent(PureDP(0.5)).remaining()  # 1 − μ(0.5)² is less
    GaussianDP(mu=0.78...)
    """

    promise: GaussianDP
    charges: int = 0
    left: Fraction | None = None
    """The μ of everything that may still come; all of it if it is left out."""

    def __post_init__(self) -> None:
        if self.left is None:
            object.__setattr__(self, "left", exact(self.promise.mu))

    def consent(self, price: Promise) -> GaussianResidue:
        """The budget after this charge; `BudgetExceeded`, or `IncompatiblePromises` if such a price cannot be paid."""
        left = residue(self._left, price)
        if left is None:
            raise BudgetExceeded(
                wanted=f"a price within the {write(self.remaining())} of {write(self.promise)} that is left",
                given=write(price),
                do="Pay less, or stop if nothing is left; nothing was spent and no data were read.",
            )
        return GaussianResidue(self.promise, self.charges + 1, left)

    def remaining(self) -> GaussianDP:
        """The largest Gaussian price that can still be paid, rounded down."""
        return GaussianDP(downward(self._left))

    @property
    def _left(self) -> Fraction:
        assert self.left is not None
        return self.left


def residue(mu: Fraction, price: Promise) -> Fraction | None:
    """An m for which (*) is proved; None if the price cannot be paid from μ.

    >>> float(residue(Fraction(5), GaussianDP(3.0)))
    4.0
    """
    if not isinstance(price, GaussianDP | PureDP):
        raise IncompatiblePromises(
            wanted="a price that Gaussian noise on real numbers keeps, such as gaussian(0.1), or a pure one",
            given=write(price),
            do="Moments and (ε, δ) do not bound every test between two neighbours: use a budget in another flavor.",
        )
    alone = price if isinstance(price, GaussianDP) else price.to_gaussian()
    square = mu**2 - exact(alone.mu) ** 2
    if square < 0:
        return None
    least = exact(GaussianDP.at_coordinates([square], up=False).mu)
    if isinstance(price, GaussianDP) or price.epsilon == 0.0:
        return least if alone.mu else mu
    return _better(mu, price.epsilon, least)


def _better(mu: Fraction, epsilon: float, least: Fraction) -> Fraction:
    """A larger m than this one, if one is proved."""
    if SMALLEST * exact(epsilon) < mu:
        return least
    cost = _estimate(float(mu), epsilon, float(least))
    for slack in SLACK:
        square = mu**2 - Fraction(cost) * (1 + slack)
        if square <= least**2:
            break
        left = exact(GaussianDP.at_coordinates([square], up=False).mu)
        if left > least and proved(mu, left, exact(epsilon)):
            return left
    return least


def _estimate(mu: float, epsilon: float, least: float) -> float:
    """μ² − m² for the largest m, in floats: where both losses are above 0 equally often. It is proved afterwards."""
    likely, goal = 1 / (1 + math.exp(-epsilon)), math.erf(mu / math.sqrt(8))

    def advantage(m: float) -> float:
        ends = (math.erf((m / 2 + side * epsilon / m) / math.sqrt(2)) for side in (1, -1))
        return sum(share * end for share, end in zip((likely, 1 - likely), ends, strict=True))

    low, high = least, mu
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if middle > 0 and advantage(middle) <= goal else (low, middle)
    return (mu - low) * (mu + low)


@precision(BITS)
def proved(mu: Fraction, m: Fraction, epsilon: Fraction) -> bool:
    """Whether (*) is proved for randomized response of this ε. No may mean that the proof would take too long.

    >>> proved(Fraction(1), Fraction(85, 100), Fraction(1, 2)), proved(Fraction(1), Fraction(87, 100), Fraction(1, 2))
    (True, False)
    """
    if not 0 < m < mu:
        return False
    both = _Both(mu, m, epsilon)
    end = m * mu / 2 + epsilon * mu / (mu - m)
    step = end / 8
    starts = [place * step for place in range(9)]
    heights = [both.height(start) for start in starts]
    stack = list(zip(starts, heights, starts[1:], heights[1:], strict=False))
    for _ in range(INTERVALS):
        if not stack:
            return True
        left, high, right, low = stack.pop()
        if both.below(left, high, right, low):
            continue
        middle = (left + right) / 2
        between = both.height(middle)
        if not both.possible(middle):
            return False
        stack += [(middle, between, right, low), (left, high, middle, between)]
    return False


class _Both:
    """Randomized response beside Gaussian noise m, compared with Gaussian noise μ."""

    def __init__(self, mu: Fraction, m: Fraction, epsilon: Fraction) -> None:
        self.mu, self.m, self.epsilon = ball(mu), ball(m), ball(epsilon)
        self.likely = 1 / (1 + (-self.epsilon).exp())

    def tails(self, at: Fraction) -> tuple[arb, arb]:
        """P(L > e) and Q(L > e)."""
        near, far = (ball(at) - self.epsilon) / self.m, (ball(at) + self.epsilon) / self.m
        half, rest = self.m / 2, 1 - self.likely
        here = self.likely * normal(half - near) + rest * normal(half - far)
        return here, rest * normal(-half - near) + self.likely * normal(-half - far)

    def height(self, at: Fraction) -> arb:
        """H(e) = P(L > e) − e^e·Q(L > e)."""
        here, there = self.tails(at)
        return here - ball(at).exp() * there

    def below(self, left: Fraction, high: arb, right: Fraction, low: arb) -> bool:
        """Whether this chord is proved to be below the hockey-stick of Gaussian noise μ."""
        t, u = ball(left).exp(), ball(right).exp()
        slope = (high - low) / (u - t)
        return bool(slope > 0) and self._within(slope, high + slope * t)

    def possible(self, at: Fraction) -> bool:
        """False if this place proves that (*) does not hold: the tangent there is not below."""
        here, there = self.tails(at)
        z = arb(_deviations(there) * (1 - 1e-9))
        return not (normal(-z) >= there and normal(self.mu - z) < here)

    def _within(self, slope: arb, at_zero: arb) -> bool:
        """c ≤ Φ(Φ⁻¹(s) + μ), from z with Φ(−z) ≤ s."""
        z = arb(_deviations(slope))
        return bool(normal(-z) <= slope) and bool(normal(self.mu - z) >= at_zero)


def _deviations(share: arb) -> float:
    """z with Φ(−z) a little below this share, by Newton's method for ln Φ(−z), which is concave."""
    goal = float(share.log().mid())
    if goal > -0.6931:
        return 0.0
    z = math.sqrt(-2 * goal)
    for _ in range(60):
        log_tail, hazard = normal_tail(z)
        step = (log_tail - goal) / hazard
        z = max(0.0, z + step)
        if abs(step) <= 1e-15 * (1 + z):
            break
    return z + 1e-13 * (1 + z)
