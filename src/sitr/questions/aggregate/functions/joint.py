"""The noises of several measured numbers together: how far a weighted sum of them can be from 0.

An interval for each number, all at once, wastes most of its probability: a ratio or a variance depends on one sum
Σ a_j·Y_j of independent noises, and noises cancel. `Joint.up_to` bounds its quantile *for all weights up to* given
ones, because the weights depend on what is unknown, such as the mean.

**Claim.** Let Y_j be independent, symmetric and unimodal on the multiples of g_j, and let X_j have a symmetric unimodal
density with P(|Y_j + U_j| > x) ≤ P(|X_j| > x) for all x, where U_j is uniform on [−g_j/2, g_j/2]. Then for
|a_j| ≤ b_j, if P(|Σ b_j·X_j| > w) ≤ α, then P(|Σ a_j·Y_j| > w + Σ b_j·g_j/2) ≤ α.

*Proof.* |Σ a_j·Y_j| ≤ |Σ a_j·(Y_j + U_j)| + Σ b_j·g_j/2. Y_j + U_j has the step density of Y_j, which is symmetric and
unimodal, and sums of such variables are symmetric and unimodal again (Wintner). If A has such a density, P(|A + c| > w)
grows with |c|, so that P(|A + aY| > w) grows if |Y| grows in distribution, and if |a| grows. So each Y_j + U_j can be
replaced by X_j, and each a_j by b_j, one after the other: the rest of the sum is such an A.       [Bir48, Theorem 1]

*Discrete Laplace, P(Y = y) ∝ e^{−2h|y|} with scale t = 1/(2h):* X is Laplace with scale t' = 1/(2·tanh h), whose
density at 0, tanh h, is that of Y + U. Let D(x) = P(|X| > x) − P(|Y + U| > x). On [0, ½], D' = 2(f_Y − f_X) ≥ 0. On
[k − ½, k + ½], f_Y is constant and f_X falls, so D has its least value at the ends or where both are equal, at
x = k·h/tanh h. There D = e^{−2hk}·2k·(h − tanh h) ≥ 0. At the end, P(|Y + U| > k + ½) = e^{−2hk}·(1 − tanh h), and
P(|X| > k + ½) = e^{−(2k+1)·tanh h} is larger, for tanh h ≤ h and e^{−y} ≥ 1 − y.

*Discrete Gaussian:* for x ≥ ½ the density of Y + U at x is e^{−k²/2σ²}/Σ_y e^{−y²/2σ²} with k ≥ x − ½, and the sum is
at least σ√(2π) by Poisson's formula. So |Y + U| is smaller in distribution than |σZ| + ½, and in the last step above
the replacement adds b_j·g_j/2 to w.

*Rounded Gaussian:* |Y − σZ| ≤ ½ itself, so half a granule is enough for everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from sitr.dataclass import dataclass
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.summed import Summand, least_width
from sitr.namespace import Later
from sitr.numbers import exact

special = Later("scipy.special")

_STEPS = {2: 64, 3: 32}
_FEWEST = 16
"""Relative sizes of Laplace noises are rounded up to one in this many steps between powers of two, so that quantiles
are found once for many weights: many for a sum of two, fewer for three, and these for more."""

_SMALLEST = 2.0**-24
"""Noise that is smaller than this part of the largest one counts as this large."""

_DIGITS = 60
_SLACK = Decimal(10) ** -40

_FEW = 4096
"""Weights on a common lattice, at most this many units of it wide, have exact quantiles that are found at once."""


class Chosen(Protocol):
    """A number that was chosen by its rank, without noise. It is used by itself, and is in no sum of noises."""

    def ends(self, value: Fraction, /, *, confidence: Fraction) -> tuple[Fraction, Fraction]:
        """An interval that holds with this probability."""

    def error(self, *, confidence: Fraction) -> Fraction:
        """The largest distance to an end, in granules."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Independent noises with their granules, and the probability `missed` with which an interval may fail.

    Each noise is a sum of as many independent `draws`.
    """

    noises: tuple[tuple[Noise | Chosen, Fraction], ...]
    missed: Fraction
    draws: int = 1

    def share(self, part: Fraction) -> Joint:
        """The same noises, with a part of the probability of a miss."""
        return replace(self, missed=self.missed * part)

    def only(self, places: Sequence[int]) -> Joint:
        """Some of the noises."""
        return replace(self, noises=tuple(self.noises[place] for place in places))

    def each(self) -> list[Fraction]:
        """The half-widths of intervals around all numbers that hold together: each misses with an equal share."""
        if self.draws > 1:
            part = self.share(Fraction(1, len(self.noises)))
            return [part.only([place]).width((Fraction(1),)) for place in range(len(self.noises))]
        confidence = 1 - self.missed / len(self.noises)
        return [exact(noise.error(confidence=confidence)) * unit for noise, unit in self.noises]

    def ends(self, numbers: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """Intervals around all numbers that hold together: each misses with an equal share."""
        confidence = 1 - self.missed / len(self.noises)
        found = []
        for number, width, (noise, _) in zip(numbers, self.each(), self.noises, strict=True):
            if isinstance(noise, Noise):
                found.append((number - width, number + width))
            else:
                found.append(noise.ends(number, confidence=confidence))
        return found

    def width(self, weights: Sequence[Fraction]) -> Fraction:
        """A w with P(|Σ a_j·Y_j| ≤ w) ≥ 1 − `missed`: the least where the weights have a coarse common unit."""
        terms = [
            (noise, abs(weight) * unit * exact(noise.granularity))
            for weight, (noise, unit) in zip(weights, self.noises, strict=True)
            if weight and isinstance(noise, Noise)
        ]
        if len(terms) * self.draws > 1 and terms and all(noise.transform() is not None for noise, _ in terms):
            common = math.lcm(*(size.denominator for _, size in terms))
            unit = math.gcd(*(int(size * common) for _, size in terms))
            widest = sum(
                noise.deviation / float(exact(noise.granularity)) * float(size * common / unit) for noise, size in terms
            )
            if max(size * common for _, size in terms) <= _FEW * unit and widest <= _FEW:
                found = tuple(Summand(noise, self.draws, size / exact(noise.granularity)) for noise, size in terms)
                return exact(least_width(found, confidence=1 - self.missed))
        return self.up_to(weights)

    def up_to(self, weights: Sequence[Fraction]) -> Fraction:
        """A w with P(|Σ a_j·Y_j| ≤ w) ≥ 1 − `missed` for all weights of at most these sizes."""
        parts = [
            (noise, abs(weight) * unit * exact(noise.granularity))
            for weight, (noise, unit) in zip(weights, self.noises, strict=True)
            if weight and isinstance(noise, Noise)
            for _ in range(self.draws)
        ]
        if len(parts) < 2:
            return sum((_alone(noise, size, self.missed) for noise, size in parts), Fraction(0))
        if all(noise.granules < 1 and not _quantile(noise, self.missed / len(parts)) for noise, _ in parts):
            return Fraction(0)
        laws = {type(noise) for noise, _ in parts}
        if len(laws) == 1 and (law := laws.pop()) in _SUMS:
            return _SUMS[law](parts, self.missed)
        return sum((_alone(noise, size, self.missed / len(parts)) for noise, size in parts), Fraction(0))


_Part = tuple[Noise, Fraction]
"""A noise, and the size of its granule times its weight."""


def _alone(noise: Noise, size: Fraction, missed: Fraction) -> Fraction:
    """The quantile of a single noise, exactly."""
    return _quantile(noise, missed) * size


@lru_cache(1024)
def _quantile(noise: Noise, missed: Fraction) -> int:
    return noise.width(confidence=1 - missed)


def _upward(number: float) -> Fraction:
    """The next double, as a fraction whose denominator is a power of two: these stay short in sums."""
    return Fraction(math.nextafter(number, math.inf))


def _laplace(parts: Sequence[_Part], missed: Fraction) -> Fraction:
    sizes = [_exponent(noise.granules) * size for noise, size in parts]
    largest = max(sizes)
    steps = _STEPS.get(len(sizes), _FEWEST)
    relative = sorted((_rounded(float(size / largest), steps) for size in sizes), reverse=True)
    apart = [relative.pop()]
    while relative:  # from the smallest to the largest, all different
        place = relative.pop()
        apart.append(place if place > apart[-1] else _rounded(apart[-1] * (1 + 0.5 / steps), steps))
    return largest * _laplace_quantile(tuple(apart), missed) + sum((size for _, size in parts), Fraction(0)) / 2


@lru_cache(1024)
def _exponent(scale: Fraction) -> Fraction:
    """t' = 1/(2·tanh(1/(2t))), rounded up."""
    half = 0.5 / float(scale)
    return _upward(1 / (2 * math.tanh(min(half, 20.0))) * (1 + 1e-14))


def _rounded(size: float, steps: int) -> float:
    """Up to one of a few sizes."""
    mantissa, power = math.frexp(max(size * (1 + 1e-12), _SMALLEST))
    return math.ldexp(math.ceil(mantissa * 2 * steps) / (2 * steps), power)


@lru_cache(4096)
def _laplace_quantile(scales: tuple[float, ...], missed: Fraction) -> Fraction:
    """The quantile of |Σ b_j·L_j| for different scales: P(|Σ| > x) = Σ_j e^{−x/b_j}·Π_{i≠j} b_j²/(b_j² − b_i²).

    This is the expansion of Π 1/(1 + b_j²s²) into partial fractions. Decimals of 60 digits leave enough of them.
    """
    with localcontext(Context(prec=_DIGITS)):
        sizes = [Decimal(scale) for scale in scales]
        shares = [
            math.prod((one * one / (one * one - other * other) for other in sizes if other != one), start=Decimal(1))
            for one in sizes
        ]
        rest = Decimal(missed.numerator) / Decimal(missed.denominator)
        off = _SLACK * max(map(abs, shares))
        low, high = Decimal(0), sum(sizes) * (Decimal(len(sizes)) / rest).ln()
        for _ in range(36):
            middle = (low + high) / 2
            tail = sum(share * (-middle / size).exp() for share, size in zip(shares, sizes, strict=True))
            low, high = (low, middle) if tail + off <= rest else (middle, high)
        return _upward(float(high))


def _gaussian(parts: Sequence[_Part], missed: Fraction) -> Fraction:
    return _bell(parts, missed) + sum((size for _, size in parts), Fraction(0))


def _rounded_gaussian(parts: Sequence[_Part], missed: Fraction) -> Fraction:
    return _bell(parts, missed) + sum((size for _, size in parts), Fraction(0)) / 2


def _bell(parts: Sequence[_Part], missed: Fraction) -> Fraction:
    """z·√(Σ σ_j²), rounded up."""
    sizes = [noise.granules * size for noise, size in parts]
    largest = max(sizes)
    root = math.sqrt(math.fsum(float(size / largest) ** 2 for size in sizes))
    return largest * _upward(root * _normal(missed) * (1 + 1e-12))


@lru_cache(1024)
def _normal(missed: Fraction) -> float:
    """The quantile of |Z|."""
    log = math.log(missed.numerator) - math.log(missed.denominator) - math.log(2)
    return -float(special.ndtri_exp(log))


_SUMS = {Laplace: _laplace, Gaussian: _gaussian, RoundedGaussian: _rounded_gaussian}
