"""Quantiles of sums of independent noises, Σ_i a_i·Y_i: proved upper bounds that are exact or nearly so.

Every interval for a sum of noisy numbers comes from here: ranges of cells, nodes of a tree, running counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.transform import UNIT, Complex, Reals, Transform
from sitr.namespace import Later
from sitr.numbers import Number, exact, inside, upward

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

optimize, special = Later("scipy.optimize"), Later("scipy.special")

MOST = 2**17
"""At most this many frequencies are evaluated."""

_SMOOTH = 4e-4
"""The part of the width that smoothing may add where the sum has no lattice, or too fine a one."""

_FOLDS = 8
"""The number of uniform variables that smooth such a sum."""

_FINE, _COARSE = 28.0, 10.0
"""On a lattice, products of ratios below e^{−28} are left out and added to the bound, and sums that are a period away
count for about e^{−28} of the tail; where smoothing adds more error, e^{−10} is enough."""

_GRID = 2.0**-17
"""Weights are rounded to multiples of about this part of their root mean square."""

_APART = Fraction(1, 10**6)
"""The part of the probability that pays for the rounding of weights."""


@dataclass(frozen=True, slots=True)
class Summand:
    """`count` independent draws of this noise, each times `weight` > 0."""

    noise: Noise
    count: int
    weight: Fraction = Fraction(1)


def sum_error(noise: Noise, weights: NDArray[np.float64], *, confidence: Number = 0.95) -> float:
    """A w with P(|Σ_i a_i·Y_i| ≤ w) ≥ c: the least for equal weights a_i, otherwise at most 0.1% above it (c ≥ 0.9).

    Weights are rounded to multiples of a small step h, so that few different ones remain. The change is a sum of
    noises with weights of at most h/2; Chernoff's bound on it uses a millionth of 1 − c.

    >>> from sitr import Laplace
    >>> sum_error(Laplace(scale=10), np.ones(25)), sum_error(Laplace(scale=10), np.array([1.0, 0.0, 0.0]))
    (139.0, 30.0)
    """
    sizes = np.abs(weights[weights != 0.0])
    if sizes.size == 0:
        return 0.0
    values, counts = np.unique(sizes, return_counts=True)
    if len(values) == 1 or noise.transform() is None:
        given = zip(values.tolist(), counts.tolist(), strict=True)
        return least_width(
            tuple(Summand(noise, count, Fraction(value)) for value, count in given), confidence=confidence
        )
    step = 2.0 ** math.floor(math.log2(_GRID * math.sqrt(float(sizes @ sizes) / sizes.size)))
    places, index = np.unique(np.rint(values / step), return_inverse=True)
    summed = np.bincount(index, counts).astype(np.int64)
    terms = tuple(
        Summand(noise, int(count), Fraction(place) * Fraction(step))
        for place, count in zip(places.tolist(), summed.tolist(), strict=True)
        if place
    )
    if (places[index] * step == values).all():
        return least_width(terms, confidence=confidence)
    rest = 1 - inside(confidence)
    blurred = Summand(noise, sizes.size, Fraction(step) / 2)
    near = least_width(terms, confidence=1 - rest * (1 - _APART))
    return near + _Sum.of((blurred,)).chernoff(_log(rest * _APART))[0]


@lru_cache(1024)
def least_width(terms: tuple[Summand, ...], *, confidence: Number = 0.95) -> float:
    """The same for independent noises of any scales and kinds, each with a weight and a count.

    With M(z) = E[e^{zS}] and a tilt t > 0, Poisson's formula for a sum S on the integers and any period N gives

        (1/N)·Σ_k M(z_k)·e^{−n·z_k}/(1 − e^{−z_k}) = Σ_l e^{tNl}·P(S ≥ n + lN) ≥ P(S ≥ n),   z_k = t + 2πik/N:

    the terms l ≠ 0 only make the bound larger, and with N large enough hardly. With t near the saddle point, every term
    is of the order of the tail, so doubles suffice however small it is; their rounding errors are added.      [AW92]

    A sum without a lattice, or with too fine a one, is smoothed: P(S > w) ≤ P(S + Z > w − η) for any |Z| ≤ η, and
    with Z a sum of eight uniform variables the terms fall as |z|^{−9}. There 1/(1 − e^{−z}) becomes M_Z(z)/z.

    Where the transform of a noise is not known, each of all n draws gets an nth of 1 − c.

    >>> from sitr import Gaussian, Laplace
    >>> least_width((Summand(Laplace(scale=10), 9), Summand(Gaussian(sigma=40), 4)))
    178.0
    """
    rest = 1 - inside(confidence)
    if len(terms) == 1 and terms[0].count == 1:
        return upward(terms[0].weight * exact(terms[0].noise.error(confidence=confidence)))
    if any(term.noise.transform() is None for term in terms):
        each = 1 - rest / sum(term.count for term in terms)
        widths = (term.count * term.weight * exact(term.noise.error(confidence=each)) for term in terms)
        return upward(sum(widths, Fraction(0)))
    return _Sum.of(terms).width(_log(rest))


@dataclass(frozen=True, slots=True)
class _Part:
    """Several draws of one noise, with a weight."""

    law: Transform
    count: int
    weight: float

    @property
    def variance(self) -> float:
        """The variance of the sum of its draws, nearly."""
        return self.count * self.weight**2 * self.law.variance


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of noises in units of `unit`, the largest number of which all its values are multiples."""

    parts: tuple[_Part, ...]
    unit: Fraction

    @classmethod
    def of(cls, terms: Iterable[Summand]) -> _Sum:
        """Terms of the largest spread come first: they decide which frequencies matter."""
        found = [(term, term.weight * exact(term.noise.granularity)) for term in terms]
        unit = _common(weight for _, weight in found)
        parts = [_Part(_transform(term.noise), term.count, float(weight / unit)) for term, weight in found]
        return cls(tuple(sorted(parts, key=lambda part: part.variance, reverse=True)), unit)

    def width(self, log_rest: float) -> float:
        """The w for a probability of e^{log_rest} outside."""
        enough, tilt = self.chernoff(log_rest)
        if enough == 0.0:
            return 0.0
        enough /= float(self.unit)
        target = log_rest - math.log(2)
        bound = self._on_lattice(tilt, self._period(tilt, enough, target, _FINE)) if enough < 2**40 else None
        if bound is not None:
            return upward(self.unit * (_first(bound, target, enough) - 1))
        about = min(enough, math.sqrt(sum(part.variance for part in self.parts)) * -float(special.ndtri_exp(target)))
        bound, blur = self._smoothed(tilt, enough, about, target)
        return float(self.unit) * math.nextafter(_solved(bound, target, enough) + blur, math.inf)

    def chernoff(self, log_rest: float) -> tuple[float, float]:
        """w = (ln M(t) + ln(2/(1 − c)))/t, which is enough for every t, for the best t; and this t per unit.

        Both are 0 if all noise is 0 except with this probability.
        """
        if math.log(sum(part.count for part in self.parts)) + max(part.law.log_moved for part in self.parts) < log_rest:
            return 0.0, 0.0
        rest = math.log(2) - log_rest
        most = min(part.law.most / part.weight for part in self.parts)
        # The best t for normal noise of this spread. For Laplace noise it may be near `most`, but is never there.
        spread = sum(part.count * part.weight**2 * part.law.spread for part in self.parts)
        start = min(math.sqrt(2 * rest / spread), most * math.exp(4.0))

        def tilt(log_tilt: float) -> float:
            t = start * math.exp(log_tilt)
            return t / (1 + t / most) if most < math.inf else t

        best = tilt(
            optimize.minimize_scalar(lambda u: self._far(tilt(u), rest), bounds=(-8.0, 5.0), method="bounded").x
        )
        return float(self.unit) * self._far(best, rest), best

    def _far(self, tilt: float, rest: float) -> float:
        return (self._log_moment(tilt) + rest + self._slack(tilt)) / tilt

    def _log_moment(self, tilt: float) -> float:
        return sum(part.count * part.law.log_moment(part.weight * tilt) for part in self.parts)

    def _slack(self, tilt: float) -> float:
        """A bound on the error of the logarithm of the moment."""
        zero = np.zeros(1)
        return sum(2 * part.count * float(part.law.slack(part.weight * tilt, zero)[0]) for part in self.parts)

    def _period(self, tilt: float, enough: float, target: float, apart: float) -> float:
        """A period for which the aliases below, e^{−tP}, and above, e^{tP}·P(S ≥ n + P), hardly count."""
        below = (apart - target) / tilt
        most = min(part.law.most / part.weight for part in self.parts)
        steeper = [tilt * factor for factor in (1.5, 2.0, 3.0, 5.0) if tilt * factor < most]
        if most < math.inf:
            steeper += [tilt + share * (most - tilt) for share in (0.2, 0.5, 0.8)]
        near = enough - 3 / tilt
        above = min((self._log_moment(t) - t * near - target + apart) / (t - tilt) for t in steeper)
        return max(below, above)

    def _products(
        self, tilt: float, omega: Reals, *, start: Complex, gone: float
    ) -> tuple[NDArray[np.intp], Complex, Reals]:
        """The frequencies that matter, ln of `start` and the product of all ratios there, and bounds on their errors.

        No ratio is larger than 1: a small product stays small, and errors add up.
        """
        kept = np.arange(len(omega))
        slack = np.full(len(omega), math.exp(-gone))
        logs = np.log(start)
        for part in self.parts:
            slack += part.count * part.law.slack(part.weight * tilt, part.weight * omega)
            logs += part.count * part.law.log_ratio(part.weight * tilt, part.weight * omega[kept])
            alive = logs.real > -gone
            kept, logs = kept[alive], logs[alive]
        return kept, logs, slack

    def _on_lattice(self, tilt: float, period: float) -> Callable[[float], float] | None:
        """n ↦ a bound on ln P(S ≥ n); None if too many frequencies would be needed.

        For noise of one kind and weight the ratio falls from ω = 0 to π: for Laplace noise by its formula, for a bell
        as a product of factors |1 + r·e^{iω}| (Jacobi), for rounded noise by total positivity, see `RoundedTransform`.
        The omitted terms are at most the ratio at the last frequency K times
        Σ_{k>K} 2/(N·|1 − e^{−z}|) ≤ e^{t/2}·ln(N/2K)/2, for |1 − e^{−z}| ≥ e^{−t/2}·2ω/π.
        """
        length = 2 * math.ceil(period / 2) + 1
        last = min(length // 2, MOST)
        rest = 0.0
        if len(self.parts) == 1:
            last = self._last(tilt, length)
        if last < length // 2:
            if len(self.parts) > 1 or last == MOST:
                return None
            rest = math.exp(tilt / 2 - _FINE) * (1 + math.log(length / (2 * last)))
        places = np.arange(last + 1)
        omega: Reals = 2 * math.pi / length * places.astype(np.float64)
        kept, logs, slack = self._products(tilt, omega, start=np.ones_like(omega, np.complex128), gone=_FINE)
        rest *= 1 + math.exp(_FINE) * slack[-1]
        one = np.where(places == 0, 1.0, 2.0) / (length * -np.expm1(-(tilt + 1j * omega)))
        weights, chosen = np.abs(one), places[kept]
        values = one[kept] * np.exp(logs)
        off = float(weights @ (slack + 16 * UNIT)) + rest
        moment, extra = self._log_moment(tilt), self._slack(tilt)

        def bound(n: float) -> float:
            turned = np.exp(-2j * math.pi / length * (chosen * int(n) % length))
            height = float((values * turned).real.sum()) + off
            return moment - tilt * n + math.log(height) + extra + 16 * UNIT * (abs(moment) + tilt * n)

        return bound

    def _last(self, tilt: float, length: int) -> int:
        """The first frequency at which a product of equal ratios is gone, or the last of all, or MOST."""
        low, high = 0, min(length // 2, MOST)
        if self._log_at(tilt, 2 * math.pi / length * high) > -_FINE:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            gone = self._log_at(tilt, 2 * math.pi / length * middle) <= -_FINE
            low, high = (low, middle) if gone else (middle, high)
        return high

    def _log_at(self, tilt: float, omega: float) -> float:
        (part,) = self.parts
        return part.count * float(part.law.log_ratio(part.weight * tilt, np.array([part.weight * omega])).real[0])

    def _smoothed(
        self, best: float, enough: float, about: float, target: float
    ) -> tuple[Callable[[float], float], float]:
        """x ↦ a bound on ln P(S + Z > x), and η.

        |M_Z(z)| ≤ (cosh(tη/8)·8/(ηω))^8, so that the frequencies beyond Ω add at most (cosh(tη/8)·8/(ηΩ))^8/(8π). A
        tilt beside the best one may need fewer frequencies because its period is shorter.
        """
        near = max(about, enough - 3 / best)
        most = min(part.law.most / part.weight for part in self.parts)

        def lost(tilt: float) -> float:
            return max(0.0, self._log_moment(tilt) - tilt * near - target)

        def work(tilt: float) -> float:
            return self._period(tilt, enough, target, _COARSE) * math.exp(lost(tilt) / _FOLDS)

        beside = (best * factor for factor in (0.4, 0.5, 0.6, 0.8, 1.5, 2.0, 3.0))
        tilt = min([best, *(t for t in beside if t < 0.9 * most)], key=work)
        period, reach = self._period(tilt, enough, target, _COARSE), 24 * math.exp(lost(tilt) / _FOLDS)
        blur = max(_SMOOTH * about, reach * period / (2 * math.pi * MOST))
        last = math.ceil(reach * period / (2 * math.pi * blur))
        omega: Reals = 2 * math.pi / period * np.arange(last + 1, dtype=np.float64)
        z = tilt + 1j * omega
        fold = z * (blur / _FOLDS)
        kept, logs, slack = self._products(
            tilt, omega, start=(np.sinh(fold) / fold) ** _FOLDS, gone=_COARSE + lost(tilt)
        )
        one = np.where(omega == 0, 1.0, 2.0) / (period * z)
        beyond = (math.cosh(tilt * blur / _FOLDS) * _FOLDS / (blur * omega[-1])) ** _FOLDS / (_FOLDS * math.pi)
        weights, values, turns = np.abs(one), one[kept] * np.exp(logs), omega[kept]
        steady = float(weights @ (slack + 64 * UNIT)) + beyond
        moment, extra, turned = self._log_moment(tilt), self._slack(tilt), UNIT * float(weights @ omega)

        def bound(x: float) -> float:
            height = float((values * np.exp(-1j * (turns * x))).real.sum()) + steady + turned * x
            return moment - tilt * x + math.log(height) + extra + 16 * UNIT * (abs(moment) + tilt * x)

        return bound, blur


def _first(bound: Callable[[float], float], target: float, enough: float) -> int:
    """The least n ≥ 1 whose bound is proved to be low enough, as the bound of `enough` is."""
    low, high = 0, math.floor(enough) + 1
    if high > 64:
        near = round(_solved(lambda n: bound(round(n)), target, enough))
        reach = 2
        low, high = near - reach, near + reach
        while low > 0 and bound(low) <= target:
            low -= (reach := 2 * reach)
        while bound(high) > target and high <= enough:
            high += (reach := 2 * reach)
        low = max(0, low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= target else (middle, high)
    return high


def _solved(bound: Callable[[float], float], target: float, enough: float) -> float:
    """A number, at most `enough`, whose bound is proved to be low enough, and about the least."""
    least = enough / 16
    while bound(least) <= target and least > enough * 1e-9:
        least /= 16
    if bound(least) <= target:
        return least
    if bound(enough) >= target:
        return enough
    found = float(optimize.brentq(lambda x: bound(x) - target, least, enough, xtol=1e-7 * enough, rtol=1e-7))
    while bound(found) > target and found < enough:
        found += 2e-7 * enough
    return min(found, enough)


def _transform(noise: Noise) -> Transform:
    law = noise.transform()
    assert law is not None, "see least_width"
    return law


def _common(weights: Iterable[Fraction]) -> Fraction:
    """The largest number of which all weights are multiples."""
    unit = Fraction(0)
    for weight in weights:
        below = math.lcm(unit.denominator, weight.denominator)
        unit = Fraction(math.gcd(int(unit * below), int(weight * below)), below)
    return unit


def _log(number: Fraction) -> float:
    """ln, also of numbers that are closer to 0 than every double, rounded down."""
    above, below = math.log(number.numerator), math.log(number.denominator)
    return above - below - UNIT * (1 + above + below)
