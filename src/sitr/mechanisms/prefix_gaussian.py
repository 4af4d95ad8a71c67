"""Gaussian noise on prefix sums, from which all sums over ranges of cells follow with small errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter, quoted
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.mechanisms.residual_gaussian import normal_width
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.draws import Draws
from sitr.noise.prefixes import Line, rounded_prefixes
from sitr.numbers import Number, exact, natural, positive, upward

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
else:
    np = Later("numpy")
    Reals = object

_FINE = 16
"""Noise is rounded to a grid of at most 2^{−16} of σ: so fine that rounding hardly adds to the error."""

_BITS = 64
"""The bits of a fitted σ."""

_CLOSE = 1 + 1e-9
"""More than what floats lose in the computation of a width."""

_SHORT = 2048
"""Longer lines are convolved by Fourier transforms."""


@dataclass(frozen=True, slots=True)
class PrefixGaussian:
    """Add σ·Lz, rounded to a fine grid, to the prefix sums Ax of whole numbers x, where L² = A.

    L is lower triangular with the entries c_{t−i}, c_k = C(2k, k)/4^k. The answer follows from Lx + σz, since
    Ax + σLz = L(Lx + σz): the real mechanism is μ-Gaussian private with μ = Δ/σ, where Δ bounds ‖Lv‖ for all v by which
    one unit moves x, see `sitr.sensitivity.prefixes`.      [FHU23; HUU23; DRS22, Thm 2.7]

    `axes` says how many cells of each column are in a line, and how many beside it, which get noise by themselves; over
    several columns, sums are over all lines at once, and L is a Kronecker product. Prefix sums are whole numbers, hence
    multiples of 2^{−j}, so that r + round(w) = round(r + w): a function of the real answer, which keeps its promise.

    >>> PrefixGaussian(((4, 1),), sigma=4, sensitivity=2).promise()
    GaussianDP(mu=0.5)
    """

    axes: tuple[Line, ...]
    sigma: Number
    sensitivity: Number = 1

    def __post_init__(self) -> None:
        positive(self.sigma, name="sigma", of="PrefixGaussian")
        positive(self.sensitivity, name="sensitivity", of="PrefixGaussian")
        if not self.axes or any(len(axis) != 2 or min(axis) < 0 or sum(axis) < 1 for axis in self.axes):
            raise InvalidParameter(
                wanted="of each column, the number of cells in a line and beside it, at least one of them",
                given=quoted(self.axes),
                do="Give for example ((20, 1),) for 20 cells and one for rows without a value.",
            )
        for size in (each for axis in self.axes for each in axis):
            natural(size, name="cells", of="PrefixGaussian", least=0)

    @classmethod
    def fitting(cls, price: ApproximateDP | GaussianDP, *, axes: Sequence[Line], sensitivity: Number) -> PrefixGaussian:
        """The least noise that keeps a promise: σ = Δ/μ.

        >>> PrefixGaussian.fitting(GaussianDP(0.5), axes=[(4, 0)], sensitivity=2).sigma
        Fraction(4, 1)
        """
        promise = GaussianDP.fitting(price) if isinstance(price, ApproximateDP) else price
        goal = positive(promise.mu, name="mu", of="PrefixGaussian")
        return cls(tuple(axes), _above(positive(sensitivity, name="sensitivity", of="noise") / goal), sensitivity)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(map(sum, self.axes))

    @property
    def places(self) -> int:
        """The binary places j to which noise is rounded: the least j ≥ 0 with σ·2^j ≥ 2^16."""
        return max(0, (math.ceil(Fraction(2**_FINE) / exact(self.sigma)) - 1).bit_length())

    def promise(self) -> GaussianDP:
        """μ = Δ/σ, rounded up."""
        return GaussianDP(upward(exact(self.sensitivity) / exact(self.sigma)))

    def loss(self) -> Loss:
        """A bound: the loss of the real Gaussian mechanism, which rounding can only lower."""
        return replace(gaussian(sigma=self.sigma, sensitivity=self.sensitivity), bound=True)

    def error(self, *, confidence: Number = 0.95) -> Fraction:
        """The largest half-width of an interval around a prefix sum that contains the exact one."""
        longest = math.prod(math.sqrt(float((coefficients(line) ** 2).sum())) for line, _ in self.axes if line)
        far = normal_width(confidence) * upward(exact(self.sigma)) * longest * _CLOSE
        return Fraction(far) + Fraction(1, 2 ** (self.places + 1))

    def release(self, values: NDArray[Any], *, coins: Coins | None = None) -> Draws:
        """The noisy prefix sums of these cells, as whole numbers of 2^{−j}, j = `places`."""
        cells = np.asarray(values)
        if cells.shape != self.shape or cells.dtype.kind not in "iuO":
            raise InvalidParameter(
                wanted=f"whole numbers in the shape {self.shape} for PrefixGaussian",
                given=f"{cells.dtype} in the shape {cells.shape}",
                do="Count rows in all cells, including empty ones.",
            )
        noise = rounded_prefixes(self.axes, exact(self.sigma) * 2**self.places, coins=coins)
        sums = cells.astype(np.object_)
        for axis, (line, _) in enumerate(self.axes):
            inside, beside = np.split(sums, [line], axis)
            sums = np.concatenate([np.cumsum(inside, axis), beside], axis)
        found: Draws = sums * 2**self.places + noise
        fits = max(abs(int(found.max())), abs(int(found.min()))) < 2**62
        return found.astype(np.int64) if fits else found

    def cells(self, released: Draws) -> Reals:
        """The noisy counts of all cells: differences of neighbouring prefix sums."""
        found = np.asarray(released).reshape(self.shape)
        for axis, (line, _) in enumerate(self.axes):
            if line:
                inside, beside = np.split(found, [line], axis)
                found = np.concatenate([inside.take([0], axis), np.diff(inside, axis=axis), beside], axis)
        return np.asarray([float(Fraction(int(each), 2**self.places)) for each in found.ravel()], np.float64)

    def width(self, wanted: Reals, *, confidence: Number = 0.95) -> float:
        """Half the width of the interval around Σ wanted·x, for a weight of each cell.

        The noise of the sum is normal: σ times the length of L^{−T}·wanted. Rounding moves it by at most half of the
        grid for each prefix sum that is used, times its weight.
        """
        white = corners = np.asarray(wanted, np.float64).reshape(self.shape)
        for axis, (line, _) in enumerate(self.axes):
            if line:
                white = np.apply_along_axis(_whitened, axis, white, line)
                inside, beside = np.split(corners, [line], axis)
                ends = np.zeros_like(inside.take([0], axis))
                corners = np.concatenate([np.diff(inside, axis=axis, append=ends), beside], axis)
        deviation = upward(exact(self.sigma)) * math.sqrt(float((white**2).sum()))
        return self._far(deviation, float(np.abs(corners).sum()), confidence)

    def cell_widths(self, *, confidence: Number = 0.95) -> Reals:
        """The same for each cell by itself."""
        z, unit = normal_width(confidence) * _CLOSE, 2.0 ** -(self.places + 1) * _CLOSE
        return self.cell_deviations() * z + unit * _outer([_corners(*axis) for axis in self.axes])

    def cell_deviations(self) -> Reals:
        """The standard deviation of the noise of each cell: cell t of a line has Σ_{k<t} h_k², h = 1/c as series."""
        scales = [np.sqrt(_squares(*axis)) for axis in self.axes]
        return upward(exact(self.sigma)) * _outer(scales)

    def alone(self) -> Self:
        """The same noise, for the sensitivity 1."""
        return replace(self, sensitivity=1)

    def _far(self, deviation: float, corners: float, confidence: Number) -> float:
        return (normal_width(confidence) * deviation + corners * 2.0 ** -(self.places + 1)) * _CLOSE


def coefficients(cells: int) -> Reals:
    """c_k = C(2k, k)/4^k for k < n, in floats: the series of (1 − x)^{−1/2}.

    >>> coefficients(4).tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    k = np.arange(1, cells)
    return np.concatenate([np.ones(min(1, cells)), np.cumprod((2 * k - 1) / (2 * k))])


def inverse_coefficients(cells: int) -> Reals:
    """h_k with Σ h_k x^k = (1 − x)^{1/2}: the entries of the inverse of L.

    >>> inverse_coefficients(4).tolist()
    [1.0, -0.5, -0.125, -0.0625]
    """
    k = np.arange(1, cells)
    return np.concatenate([np.ones(min(1, cells)), np.cumprod((2 * k - 3) / (2 * k))])


def _whitened(weights: Reals, line: int) -> Reals:
    """L^{−T}·w along a line, and w beside it."""
    backward, h = weights[:line][::-1], inverse_coefficients(line)
    if line <= _SHORT:
        found = np.convolve(backward, h)[:line]
    else:
        size = 2 * line
        found = np.fft.irfft(np.fft.rfft(backward, size) * np.fft.rfft(h, size), size)[:line]
    return np.concatenate([found[::-1], weights[line:]])


def _squares(line: int, beside: int) -> Reals:
    return np.concatenate([np.cumsum(inverse_coefficients(line) ** 2), np.ones(beside)])


def _corners(line: int, beside: int) -> Reals:
    """How many prefix sums a cell uses."""
    return np.concatenate([np.minimum(np.arange(line) + 1.0, 2.0), np.ones(beside)])


def _outer(factors: Sequence[Reals]) -> Reals:
    """All products, the last factor varying fastest."""
    found = np.ones(1)
    for each in factors:
        found = np.outer(found, each).ravel()
    return found


def _above(number: Fraction) -> Fraction:
    """A fraction of few bits that is at least this, and hardly more."""
    shift = _BITS - number.numerator.bit_length() + number.denominator.bit_length()
    return Fraction(math.ceil(number * Fraction(2) ** shift)) / Fraction(2) ** shift
