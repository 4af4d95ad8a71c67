"""Gaussian noise on the residuals of tables: what each table adds to the tables that are coarser than it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter, quoted
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.contrasts import Siblings, rounded_contrasts
from sitr.noise.draws import Draws
from sitr.numbers import Number, ball, exact, inside, positive, upper, upward
from sitr.precision import undisturbed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

_BITS = 256
"""The precision of sums of μ²."""

_FINE = 16
"""Noise is rounded to a grid of at most 2^{−16} of σ: so fine that rounding hardly adds to the error."""

_MANTISSA = 64
"""The bits of a fitted σ."""


@dataclass(frozen=True, slots=True)
class Base:
    """The residuals of one table: on each of its axes, the first cell of every family minus each of the others.

    Their noise is σ times the same contrasts of standard normal numbers. Without axes it is the total.
    """

    axes: tuple[Siblings, ...]
    sigma: Number
    columns: tuple[int, ...] = ()
    """Numbers of the columns, for readers; columns of the same number in different bases are the same."""

    @property
    def weight(self) -> Fraction:
        """p = Π (1 − 1/m), with the size m of the largest family of each axis: one row costs at most p/σ²."""
        return math.prod((1 - Fraction(1, max(families)) for families in self.axes), start=Fraction(1))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many residuals there are on each axis."""
        return tuple(sum(families) - len(families) for families in self.axes)

    @property
    def places(self) -> int:
        """The binary places j to which noise is rounded: the least j ≥ 0 with σ·2^j ≥ 2^16."""
        least = Fraction(2**_FINE) / exact(self.sigma)
        return max(0, (math.ceil(least) - 1).bit_length())


@dataclass(frozen=True, slots=True)
class ResidualGaussian:
    """Add σ_T·(⊗Sub)Z, rounded to a fine grid, to the residuals of several tables T of whole numbers.

    Sub = [1 | −I] maps a family of m cells to m − 1 differences, so that SubᵀΣ⁻¹Sub = (I − 11ᵀ/m)/σ² for noise with the
    covariance Σ = σ²·Sub·Subᵀ. One row adds 1 to one cell: its squared length in the metric of the noise is
    μ² = Σ_T p_T/σ_T², p_T = Π (1 − 1/m), and the real mechanism is μ-Gaussian private.      [XHZK23, Sec. 4]

    Residuals are multiples of 2^{−j}, so that r + round(w) = round(r + w): a function of the real answer, which keeps
    its promise. `sensitivity` says how many rows' worth one unit moves the tables, in the metric of the noise: N if it
    adds at most N rows, by the triangle inequality, wherever they are.

    >>> plain = ResidualGaussian((Base((), 4), Base(((2,),), 4)))
    >>> plain.promise()
    GaussianDP(mu=0.306...)
    """

    bases: tuple[Base, ...]
    sensitivity: Number = 1

    def __post_init__(self) -> None:
        positive(self.sensitivity, name="sensitivity", of="ResidualGaussian")
        if not self.bases or any(min((1, *families)) < 1 for base in self.bases for families in base.axes):
            raise InvalidParameter(
                wanted="at least one base, with families of at least one cell",
                given=quoted(self.bases),
                do="Give one base for the total and one for each set of columns.",
            )
        for base in self.bases:
            positive(base.sigma, name="sigma", of="ResidualGaussian")

    @classmethod
    def fitting(
        cls, price: ApproximateDP | GaussianDP, *, bases: Sequence[Base], sensitivity: Number
    ) -> ResidualGaussian:
        """The least multiple of this noise that keeps a promise: all σ are multiplied by the same number.

        >>> ResidualGaussian.fitting(GaussianDP(0.5), bases=[Base((), 1)], sensitivity=2).promise()
        GaussianDP(mu=0.5)
        """
        promise = GaussianDP.fitting(price) if isinstance(price, ApproximateDP) else price
        goal = positive(promise.mu, name="mu", of="ResidualGaussian")
        one = cls(tuple(bases), sensitivity)
        times = undisturbed(_BITS, lambda: _above(one._length() / ball(goal)))
        return replace(one, bases=tuple(replace(each, sigma=_above(times * exact(each.sigma))) for each in bases))

    def promise(self) -> GaussianDP:
        """μ = sensitivity·√(Σ p/σ²), rounded up."""
        return GaussianDP(undisturbed(_BITS, lambda: upper(self._length())))

    def _length(self) -> arb:
        squared = sum((ball(each.weight / exact(each.sigma) ** 2) for each in self.bases), arb(0))
        return squared.sqrt() * ball(self.sensitivity)

    def loss(self) -> Loss:
        """A bound: the loss of the real Gaussian mechanism, which rounding can only lower."""
        return replace(gaussian(sigma=1, sensitivity=self.promise().mu), bound=True)

    def error(self, *, confidence: Number = 0.95) -> Fraction:
        """The largest half-width of an interval around a residual that contains the exact one.

        Over k axes, a residual has the variance 2^k·σ², and rounding moves it by at most half of the grid.
        """
        far = exact(normal_width(confidence))
        return max(
            far * exact(upward(float(exact(each.sigma)))) * exact(upward(math.sqrt(2.0 ** len(each.axes))))
            + Fraction(1, 2 ** (each.places + 1))
            for each in self.bases
        )

    def release(self, values: Sequence[Draws], *, coins: Coins | None = None) -> list[Draws]:
        """The residuals of every base with noise, as whole numbers of 2^{−j} each, j = `base.places`."""
        wanted = [(each.axes, exact(each.sigma) * 2**each.places) for each in self.bases]
        noise = rounded_contrasts(wanted, coins=coins)
        return [_shifted(each.places, r, w) for each, r, w in zip(self.bases, values, noise, strict=True)]

    def alone(self) -> Self:
        """The same noise, for one row."""
        return replace(self, sensitivity=1)


@lru_cache(64)
def normal_width(confidence: Number) -> float:
    """z with P(|Z| ≤ z) ≥ confidence for a standard normal Z, rounded up.

    >>> normal_width(0.95)
    1.95996...
    """
    rest = 1 - inside(confidence)

    def enough(z: float) -> bool:
        return bool(undisturbed(_BITS, lambda: (ball(z) / arb(2).sqrt()).erfc() <= ball(rest)))

    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-15 * high:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _shifted(places: int, residuals: NDArray[Any], noise: Draws) -> Draws:
    """r·2^j + noise, in Python's integers where 64 bits could overflow."""
    values = np.asarray(residuals)
    largest = max((abs(int(values.max(initial=0))), abs(int(values.min(initial=0)))))
    if values.dtype == np.object_ or noise.dtype == np.object_ or largest << places >= 2**62:
        return np.asarray(values.astype(np.object_) * 2**places + noise, dtype=np.object_)
    return np.asarray(values.astype(np.int64) * 2**places + noise, dtype=np.int64)


def _above(number: arb | Fraction) -> Fraction:
    """A fraction of few bits that is at least this, and hardly more."""
    if isinstance(number, arb):
        mantissa, exponent = (int(part) for part in number.upper().man_exp())
        number = Fraction(mantissa) * Fraction(2) ** exponent
    shift = _MANTISSA - (math.floor(number).bit_length() if number >= 1 else -(math.floor(1 / number).bit_length()))
    return Fraction(math.ceil(number * Fraction(2) ** shift)) / Fraction(2) ** shift
