"""Variances, covariances and correlations from sums of centred values, of their squares and of their products.

Written with the exact means, each of them is a quotient of *linear* functions of what is measured: with m = S/N,

    Q − 2m·S + m²·N = N·V,      V the variance, Q = Σ x², S = Σ x, N the number of rows,

so that Q − 2m·S + (m² − V)·N, taken of the noisy numbers, is a sum of three noises with the weights 1, −2m, m² − V. Its
quantile bounds V as in `Quotient`. The mean is not known, but the left side is least at the noisy mean and differs from
its least value by N·(m − S/N)²: of second order. So a wide interval for the mean, which takes a small share of the
probability of a miss, costs little, and the interval for V is nearly as narrow as if the mean were known. For
covariances, P − m_y·S_x − m_x·S_y + m_x·m_y·N = N·C likewise.

For a correlation r = C/(s_x·s_y), let λ = s_x/s_y. Then N·C = r·(λ·N·V_y + N·V_x/λ)/2, and the right side is least at
the true λ (arithmetic and geometric means), so that errors of λ are of second order, too. All weights are linear in r.

"Exact" means: computed from the exact integers that the noise is added to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from sitr.dataclass import dataclass
from sitr.questions.aggregate.functions.function import End, Estimate
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.linear import Linear, Quotient, Solved, around, shrunk

_SMALL = Fraction(1, 16)
"""The share of the probability of a miss that the interval of each mean and each deviation takes."""

Pair = tuple[Fraction, Fraction]


def centred_mean(low: Fraction, high: Fraction) -> Quotient:
    """S/N of centred values, from the two measured numbers S and N."""
    one, zero = Fraction(1), Fraction(0)
    return Quotient(Linear((one, zero)), Linear((zero, one)), low, high, count=1)


@dataclass(frozen=True, slots=True)
class VarianceFormula:
    """The variance from Q, S and N of centred values between `low` and `high`; its root if it is a `deviation`.

    It lies between 0 and (high − low)²/4, and for samples, with N − 1 in place of N, below twice that.
    """

    low: Fraction
    high: Fraction
    sample: bool = False
    deviation: bool = False

    @property
    def least_rows(self) -> int:
        """With fewer rows, which are the last of its numbers, it is NULL."""
        return 2 if self.sample else 1

    @property
    def most(self) -> Fraction:
        return (self.high - self.low) ** 2 / (2 if self.sample else 4)

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        means = _ends(centred_mean(self.low, self.high).show_jointly(numbers[1:], noise.only((1, 2)).share(_SMALL)))
        found = self.variance(numbers, means, noise.share(1 - _SMALL))
        return Estimate(*map(_root, _numbers(found), (0, -1, 1))) if self.deviation else found

    def variance(self, numbers: Sequence[Fraction], means: Pair, noise: Joint) -> Estimate:
        """The variance, where the mean is in a range."""
        squares, total, rows = numbers
        first, less = (Fraction(0), self.most), 1 if self.sample else 0
        bends = _parabola(squares, total, rows, means)

        def narrower(range_: Pair) -> Solved:
            if rows <= less:
                return None
            width = noise.up_to([Fraction(1), 2 * max(map(abs, means)), _largest_gap(_squared(means), range_)])
            return (bends[0] - width) / (rows - less), (bends[1] + width) / (rows - less), width / (rows - less)

        return around(self._value(numbers, less), *shrunk(first, narrower), first)

    def _value(self, numbers: Sequence[Fraction], less: int) -> Fraction:
        squares, total, rows = numbers[0], numbers[1], max(numbers[2], Fraction(1))
        return max(Fraction(0), min(self.most, (squares - total * total / rows) / max(rows - less, Fraction(1))))

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:
        most = self.most
        if rows is not None and rows > 1:
            size = max(-self.low, self.high)
            width = noise.share(1 - _SMALL).up_to([Fraction(1), 2 * size, max(most, size * size)])
            mean = centred_mean(self.low, self.high).largest_error(noise.only((1, 2)).share(_SMALL), rows=rows)
            assert isinstance(mean, Fraction)
            most = min(most, (width + rows * (2 * mean) ** 2) / (rows - 1))
        return _root(most, 1) if self.deviation else most


@dataclass(frozen=True, slots=True)
class CovarianceFormula:
    """The covariance from P, S_x, S_y and N of values centred within `x` and `y`; within (x₂ − x₁)(y₂ − y₁)/4 of 0."""

    x: Pair
    y: Pair
    sample: bool = False

    @property
    def least_rows(self) -> int:
        """With fewer rows, which are the last of its numbers, it is NULL."""
        return 2 if self.sample else 1

    @property
    def most(self) -> Fraction:
        return (self.x[1] - self.x[0]) * (self.y[1] - self.y[0]) / (2 if self.sample else 4)

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        means = [
            _ends(centred_mean(*bounds).show_jointly([numbers[at], numbers[3]], noise.only((at, 3)).share(_SMALL)))
            for at, bounds in ((1, self.x), (2, self.y))
        ]
        return self.covariance(numbers, means[0], means[1], noise.share(1 - 2 * _SMALL))

    def covariance(self, numbers: Sequence[Fraction], x: Pair, y: Pair, noise: Joint) -> Estimate:
        """The covariance, where both means are in a range."""
        rows, less, first = numbers[3], 1 if self.sample else 0, (-self.most, self.most)
        bends = _bilinear(numbers, x, y)

        def narrower(range_: Pair) -> Solved:
            if rows <= less:
                return None
            weights = [Fraction(1), max(map(abs, y)), max(map(abs, x)), _largest_gap(_multiplied(x, y), range_)]
            width = noise.up_to(weights)
            return (bends[0] - width) / (rows - less), (bends[1] + width) / (rows - less), width / (rows - less)

        return around(self._value(numbers, less), *shrunk(first, narrower), first)

    def _value(self, numbers: Sequence[Fraction], less: int) -> Fraction:
        products, x, y, rows = *numbers[:3], max(numbers[3], Fraction(1))
        return max(-self.most, min(self.most, (products - x * y / rows) / max(rows - less, Fraction(1))))

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:
        most = 2 * self.most
        if rows is None or rows < 2:
            return most
        sizes = [max(-bounds[0], bounds[1]) for bounds in (self.x, self.y)]
        weights = [Fraction(1), sizes[1], sizes[0], self.most + sizes[0] * sizes[1]]
        width = noise.share(1 - 2 * _SMALL).up_to(weights)
        means = [
            centred_mean(*bounds).largest_error(noise.only((at, 3)).share(_SMALL), rows=rows)
            for at, bounds in ((1, self.x), (2, self.y))
        ]
        assert isinstance(means[0], Fraction)
        assert isinstance(means[1], Fraction)
        return min(most, (width + rows * 4 * means[0] * means[1]) / (rows - 1))


@dataclass(frozen=True, slots=True)
class CorrelationFormula:
    """The correlation, between −1 and 1, from P, S_x, S_y, Q_x, Q_y and N of centred values."""

    x: Pair
    y: Pair

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        products, x, y, squares_x, squares_y, rows = numbers
        value, small = self._value(numbers), noise.share(_SMALL)
        unknown = Estimate(value, Fraction(-1), Fraction(1))
        means, spreads = [], []
        for bounds, total, squares, at in ((self.x, x, squares_x, (3, 1, 5)), (self.y, y, squares_y, (4, 2, 5))):
            mean = _ends(centred_mean(*bounds).show_jointly([total, rows], small.only(at[1:])))
            spread = VarianceFormula(*bounds).variance([squares, total, rows], mean, small.only(at))
            means.append(mean)
            spreads.append(_ends(spread))
        if rows <= 0 or spreads[0][0] <= 0 or spreads[1][0] <= 0:
            return unknown
        ratio = (_root(spreads[0][0] / spreads[1][1], -1), _root(spreads[0][1] / spreads[1][0], 1))
        around_x = _parabola(squares_x, x, rows, means[0])
        around_y = _parabola(squares_y, y, rows, means[1])
        if ratio[0] <= 0 or around_x[0] <= 0 or around_y[0] <= 0:
            return unknown
        together = _bilinear([products, x, y, rows], means[0], means[1])
        scale = _balanced(around_x, around_y, ratio)
        main, first = noise.share(1 - 4 * _SMALL), (Fraction(-1), Fraction(1))

        def narrower(range_: Pair) -> Solved:
            width = main.up_to(_weights(range_, means[0], means[1], ratio))
            low = (together[0] - width) / scale[1 if together[0] >= width else 0]
            high = (together[1] + width) / scale[0 if together[1] + width >= 0 else 1]
            return low, high, width / scale[0]

        return around(value, *shrunk(first, narrower), first)

    def _value(self, numbers: Sequence[Fraction]) -> Fraction:
        products, x, y, squares_x, squares_y, noisy = numbers
        rows = max(noisy, Fraction(1))
        spread = (squares_x - x * x / rows) * (squares_y - y * y / rows)
        if squares_x * rows <= x * x or squares_y * rows <= y * y:
            return Fraction(0)
        root = _root(spread, 0)
        return max(Fraction(-1), min(Fraction(1), (products - x * y / rows) / root)) if root else Fraction(0)

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:  # noqa: ARG002 - small deviations say nothing
        return Fraction(2)


def _weights(r: Pair, x: Pair, y: Pair, ratio: Pair) -> list[Fraction]:
    """The largest weights of P, S_x, S_y, Q_x, Q_y and N: 1, r·m_x/λ − m_y, r·λ·m_y − m_x, r/2λ, r·λ/2 and
    m_x·m_y − r·(λ·m_y² + m_x²/λ)/2. Each is linear in r and monotone in 1/λ or λ, so that it is largest at an end."""
    size = max(map(abs, r))
    inverse = (1 / ratio[1], 1 / ratio[0])
    of_x = max(abs(a * m * b - c) for a, m, b, c in product(r, x, inverse, y))
    of_y = max(abs(a * m * b - c) for a, m, b, c in product(r, y, ratio, x))
    bent = size * (ratio[1] * max(map(abs, y)) ** 2 + inverse[1] * max(map(abs, x)) ** 2) / 2
    of_rows = max(map(abs, _multiplied(x, y))) + bent
    return [Fraction(1), of_x, of_y, size * inverse[1] / 2, size * ratio[1] / 2, of_rows]


def _balanced(x: Pair, y: Pair, ratio: Pair) -> Pair:
    """The range of (λ·y + x/λ)/2, which is at least √(x·y)."""
    most = max(each * y[1] + x[1] / each for each in ratio) / 2
    least = min(each * y[0] + x[0] / each for each in ratio) / 2
    turn = x[0] / y[0]
    inside = ratio[0] ** 2 <= turn <= ratio[1] ** 2
    return (_root(x[0] * y[0], -1) if inside else least), most


def _parabola(squares: Fraction, total: Fraction, rows: Fraction, means: Pair) -> Pair:
    """The range of Q − 2m·S + m²·N for m in a range."""
    ends = [squares - 2 * mean * total + mean * mean * rows for mean in means]
    if rows > 0 and means[0] * rows <= total <= means[1] * rows:
        ends.append(squares - total * total / rows)
    return min(ends), max(ends)


def _bilinear(numbers: Sequence[Fraction], x: Pair, y: Pair) -> Pair:
    """The range of P − m_y·S_x − m_x·S_y + m_x·m_y·N for means in ranges: it is bilinear, so the corners decide."""
    products, of_x, of_y, rows = numbers
    ends = [products - v * of_x - u * of_y + u * v * rows for u, v in product(x, y)]
    return min(ends), max(ends)


def _squared(means: Pair) -> Pair:
    ends = [mean * mean for mean in means]
    return (Fraction(0) if means[0] <= 0 <= means[1] else min(ends)), max(ends)


def _multiplied(x: Pair, y: Pair) -> Pair:
    ends = [u * v for u, v in product(x, y)]
    return min(ends), max(ends)


def _largest_gap(one: Pair, other: Pair) -> Fraction:
    return max(abs(one[1] - other[0]), abs(other[1] - one[0]))


def _ends(found: Estimate) -> Pair:
    assert isinstance(found.low, Fraction)
    assert isinstance(found.high, Fraction)
    return found.low, found.high


def _numbers(found: Estimate) -> tuple[Fraction, Fraction, Fraction]:
    assert found.value is not None
    return found.value, *_ends(found)


def _root(number: Fraction, towards: int) -> Fraction:
    """√number to about 60 bits: rounded down, to a nearest one or up, for −1, 0 and 1.

    >>> _root(Fraction(9, 4), 1), _root(Fraction(2), -1) < _root(Fraction(2), 1)
    (Fraction(3, 2), True)
    """
    shift = max(0, 120 - number.numerator.bit_length() + number.denominator.bit_length())
    shift += shift % 2
    scaled = (number.numerator << shift) // number.denominator
    root = math.isqrt(scaled)
    exact = root * root == scaled and not (number.numerator << shift) % number.denominator
    return Fraction(root + (1 if towards > 0 and not exact else 0), 1 << (shift // 2))
