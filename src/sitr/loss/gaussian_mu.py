"""The least μ such that distinguishing P from Q is at least as hard as distinguishing N(0, 1) from N(μ, 1).

[DRS22, Def. 2.6] Its hockey-stick H_μ must be at least the hockey-stick of the loss at every t = e^ε ≥ 1, in both
directions: below 1, both are determined by their values above 1. The hockey-stick of the loss is convex in t, so
between two t it lies below its chord. A chord c − s·t is below H_μ everywhere if and only if a test with false-positive
rate s reaches at most the true-positive rate c between the Gaussians, that is c ≤ Φ(Φ⁻¹(s) + μ).  [DRS22, Prop. 2.12]

Losses without an end need another argument. The noise behind each of them, real or on the integers (see
`sitr.loss.discrete_mu`), keeps some μ, samples keep no more, and μ² add. From below, a sum of such losses needs at
least the root of Σ(Δ/σ)²: its Rényi divergences grow like αΣ(Δ/σ)²/2, and those of μ are αμ²/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import arb

from sitr.dataclass import dataclass
from sitr.loss.discrete_mu import discrete_mu
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.gaussian import GaussianLaw, hockey_stick, normal
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import FUNCTIONS, Law, Laws
from sitr.namespace import Later
from sitr.numbers import Interval
from sitr.precision import precision

if TYPE_CHECKING:
    import statistics
else:  # only a μ needs it
    statistics = Later("statistics")

LOOKS = 80
"""The most values of ε that are evaluated."""

FAR = 300.0
"""Beyond this largest loss, √(8ε) is used: Φ(−√(2ε)) ≤ e^{−ε}/2."""

CLOSE = 1e-4
"""A relative excess of μ that costs less than the width of a search, `sitr.loss.loss.RELATIVE`."""

SAFE = 1e-12


@dataclass(frozen=True, slots=True)
class Behind:
    """The Gaussian noise behind a law."""

    ratio: float
    """Δ/σ; 0 if the law has a largest loss."""
    mu: Interval
    """The least μ of the law by itself; infinite if no Gaussian is proved to bound it."""


def behind(law: Law) -> Behind:
    """The Gaussian noise behind a law, which a sample hides no less well."""
    if math.isfinite(max(law.greatest, law.reversed().greatest)):
        return Behind(0.0, Interval(0.0, 0.0))
    match law:
        case GaussianLaw(mu):
            return Behind(mu, Interval(mu, mu))
        case DiscreteGaussianLaw(sigma, shift):
            return Behind(shift / sigma, discrete_mu(sigma, shift))
        case PoissonLaw(inner) | SubsetLaw(inner):
            noise = behind(inner)
            return Behind(noise.ratio, Interval(noise.ratio * (1 - SAFE), noise.mu.upper))
    return Behind(0.0, Interval(0.0, math.inf))


def one_gaussian(laws: Laws) -> float | None:
    """The μ of one Gaussian that bounds all these laws, if they need hardly less; else None.

    >>> one_gaussian([(GaussianLaw(0.3), 1), (DiscreteGaussianLaw(25.0, 1), 1)])  # √(0.3² + 0.04²) is 0.30265...
    0.30265...
    """
    if not laws or not all(isinstance(law, GaussianLaw | DiscreteGaussianLaw) for law, _ in laws):
        return None
    found = with_gaussians(Interval(0.0, 0.0), laws)
    return found.upper if found.upper <= found.lower * (1 + CLOSE) else None


def with_gaussians(rest: Interval, laws: Laws) -> Interval:
    """The μ of all laws, from the μ of the laws that have a largest loss."""
    parts = [(behind(law), times) for law, times in laws]
    least = math.sqrt(math.fsum(times * noise.ratio**2 for noise, times in parts))
    most = math.sqrt(math.fsum((rest.upper**2, *(times * noise.mu.upper**2 for noise, times in parts))))
    lower = max(least, rest.lower, *(noise.mu.lower for noise, _ in parts)) if parts else rest.lower
    return Interval(lower * (1 - SAFE), most * (1 + SAFE))


def bounded_mu(delta: Callable[[float], Interval], largest: float, *, relative: float) -> Interval:
    """The least μ for a loss of at most `largest`, from its hockey-stick."""
    if largest == 0.0:
        return Interval(0.0, 0.0)
    if largest > FAR:
        return Interval(0.0, math.sqrt(8 * largest) * (1 + SAFE))
    known = {largest: Interval(0.0, 0.0)}
    lower = 0.0
    places = [largest * place / 8 for place in range(8)]
    pieces: list[tuple[float, float, float]] = []
    bounds: dict[tuple[float, float, float, float], float] = {}
    while places:
        for place in places:
            known[place] = delta(place)
            lower = max(lower, _inverse(place, known[place].lower, side=-1))
        pieces = []
        for left, right in pairwise(_hull(known)):
            chord = (left, known[left].upper, right, known[right].upper)
            if chord not in bounds:
                bounds[chord] = min(_chord(*chord), _inverse(right, known[left].upper, side=1))
            pieces.append((bounds[chord], left, right))
        worst, left, right = max(pieces)
        middle = (left + right) / 2
        wide = worst > lower * (1 + relative) and len(known) < LOOKS
        places = [middle] if wide and left < middle < right and middle not in known else []
    return Interval(lower * (1 - SAFE), max(worst for worst, _, _ in pieces) * (1 + SAFE))


def _hull(known: dict[float, Interval]) -> list[float]:
    """The corners of the lower convex envelope of the upper bounds, as functions of t. Every chord of it is valid."""
    hull: list[float] = []
    for place in sorted(known):
        while len(hull) > 1 and _slope(known, hull[-2], hull[-1]) >= _slope(known, hull[-2], place):
            hull.pop()
        hull.append(place)
    return hull


def _slope(known: dict[float, Interval], left: float, right: float) -> float:
    return (known[right].upper - known[left].upper) / (math.expm1(right - left) * math.exp(left))


def _chord(left: float, high: float, right: float, low: float) -> float:
    """A μ for which this chord is proved to be below the hockey-stick of the Gaussians; or infinite."""
    with precision(192):
        t, u = arb(left).exp(), arb(right).exp()
        slope = (arb(high) - arb(low)) / (u - t)
        at_zero = arb(high) + slope * t
        rates = float(slope.mid()), float(at_zero.mid())
        if not (0.0 < rates[0] < rates[1] < 1.0):
            return math.inf if high > 0.0 else 0.0
        x, y = (statistics.NormalDist().inv_cdf(rate) for rate in rates)
        x -= SAFE * (1 + abs(x))
        mu = y - x + SAFE * (1 + abs(y))
        proved = normal(arb(x)) <= slope and normal(arb(x) + arb(mu)) >= at_zero
        return mu if proved else math.inf


def _inverse(epsilon: float, delta: float, *, side: int) -> float:
    """A μ with H_μ(ε) ≥ δ (side 1), or one with H_μ(ε) ≤ δ (side −1), near the μ with equality."""
    if delta <= 0.0:
        return 0.0
    goal, low, high = arb(delta), 0.0, 1.0
    at = Fraction(epsilon)
    while high < 1e6 and not hockey_stick(Fraction(high), at) >= goal:
        low, high = high, 2 * high
    if high >= 1e6:
        return math.inf if side > 0 else low
    while high - low > 1e-9 * high and high > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if hockey_stick(Fraction(middle), at) >= goal else (middle, high)
    # At `high` the inequality is proved. At `low` it was not, and the margin is larger than Arb's error.
    return high if side > 0 else low * (1 - 8 * FUNCTIONS)
