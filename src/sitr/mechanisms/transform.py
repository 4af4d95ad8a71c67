"""Transforms of discrete noise: E[e^{zY}] for complex z, the tool for sums of independent noises.

The slack of a `Transform` has three parts. Let s² ≥ E_t[Y²] under the tilted law P_t(y) ∝ P(y)·e^{ty}. First, some
tens of operations each err by 2^{−53} of numbers that are at most 1. Second, reducing ω to one period moves it by
2^{−52}·|ω|, and the ratio by s times that. Third, a scale is rounded to a double, by 2^{−53} of itself, which moves
ln P(y) by |y|/scale (Laplace) or y²/σ² (Gaussian) times that. `UNIT` is eight times 2^{−53}.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from sitr.dataclass import dataclass
from sitr.namespace import Later
from sitr.numbers import Number, exact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Complex = NDArray[np.complex128]
else:
    np = Later("numpy")
    Reals = Complex = object

special = Later("scipy.special")


UNIT = 2.0**-50

_LEAST_SCALE = 1 / 600
_LEAST_SIGMA = 1 / 25
_LEAST_ROUNDED = 1 / 50
"""Noise of a smaller scale is replaced by noise of this one: neither differs from 0 with probability e^{−300}."""

_ERFCX = 2.0**-43
"""How far scipy's `erfcx` may be off, relative to its value: its authors state 10^{−13}."""

_FEW = 1.0
"""The largest σ for which the terms of a bell are added one by one."""


class Transform(Protocol):
    """The transform of a symmetric law on the integers, as functions of a tilt t, the real part of z.

    The ratio must decrease from ω = 0 to π, because sums leave out all frequencies above one at which it is small.
    """

    @property
    def most(self) -> float:
        """The limit of the tilt, exclusive."""

    @property
    def variance(self) -> float:
        """The variance of Y, nearly."""

    @property
    def spread(self) -> float:
        """The variance, or the variance of a normal law whose moments bound those of Y."""

    @property
    def log_moved(self) -> float:
        """A bound on ln P(Y ≠ 0)."""

    def log_moment(self, tilt: float) -> float:
        """ln E[e^{tY}]."""

    def log_ratio(self, tilt: float, omega: Reals) -> Complex:
        """ln (E[e^{(t+iω)Y}]/E[e^{tY}]), on any branch; its real part is at most 0."""

    def slack(self, tilt: float, omega: Reals) -> Reals:
        """A bound on the error of e^{log_ratio}, and at ω = 0 on the error of log_moment(t)."""


@dataclass(frozen=True, slots=True)
class LaplaceTransform:
    """E[e^{zY}] = sinh²(b/2)/(sinh((b + z)/2)·sinh((b − z)/2)), b = 1/scale, |Re z| < b.

    >>> law = LaplaceTransform.of(10)
    >>> round(law.log_moment(0.05), 4), law.most
    (0.2875, 0.1)
    """

    rate: float

    @classmethod
    def of(cls, scale: Number) -> LaplaceTransform:
        return cls(1 / max(_LEAST_SCALE, float(exact(scale))))

    @property
    def most(self) -> float:
        return self.rate

    @property
    def variance(self) -> float:
        return 0.5 / math.sinh(self.rate / 2) ** 2

    @property
    def spread(self) -> float:
        return self.variance

    @property
    def log_moved(self) -> float:
        """P(Y ≠ 0) = 2q/(1 + q) ≤ 2q, q = e^{−b}."""
        return math.log(2) - self.rate

    def log_moment(self, tilt: float) -> float:
        low, high = math.sinh((self.rate - tilt) / 2), math.sinh((self.rate + tilt) / 2)
        middle = math.sinh(self.rate / 2)  # as a quotient: the logarithms of a large scale would lose digits
        return math.log(middle / low * (middle / high))

    def log_ratio(self, tilt: float, omega: Reals) -> Complex:
        """−ln(1 + (2·cosh t·sin²(ω/2) − i·sinh t·sin ω)/d), d = cosh b − cosh t."""
        half = _reduced(omega) / 2
        sine = np.sin(half)
        more = np.empty(len(half), np.complex128)
        more.real = 1 + 2 * math.cosh(tilt) / self._gap(tilt) * sine * sine
        more.imag = -2 * math.sinh(tilt) / self._gap(tilt) * sine * np.cos(half)
        found: Complex = -np.log(more)
        return found

    def _gap(self, tilt: float) -> float:
        """cosh b − cosh t."""
        return 2 * math.sinh((self.rate + tilt) / 2) * math.sinh((self.rate - tilt) / 2)

    def slack(self, tilt: float, omega: Reals) -> Reals:
        """s² = E_t[Y²] = cosh t/d + 2·sinh² t/d²."""
        gap = self._gap(tilt)
        size = math.sqrt(math.cosh(tilt) / gap + 2 * (math.sinh(tilt) / gap) ** 2)
        return UNIT * (4 + size * (omega + self.rate))


@dataclass(frozen=True, slots=True)
class GaussianTransform:
    """E[e^{zY}] ∝ Σ_y e^{−y²/2σ² + zy} = σ√(2π)·e^{σ²z²/2}·Σ_k e^{σ²(2πikz − 2π²k²)} (Poisson).      [DLMF, §20.7]

    For σ > 1 and |Im z| ≤ π the terms k = −1, 0, 1 are enough: the others are smaller than e^{−4π²σ²} < 2^{−56}.
    For σ ≤ 1 the terms within 9σ + 2 of the peak are: the others are smaller than e^{−40}.

    >>> law = GaussianTransform.of(10)
    >>> round(law.log_moment(0.05), 4), law.most
    (0.125, inf)
    """

    sigma: float

    @classmethod
    def of(cls, sigma: Number) -> GaussianTransform:
        return cls(max(_LEAST_SIGMA, float(exact(sigma))))

    @property
    def most(self) -> float:
        return math.inf

    @property
    def variance(self) -> float:
        return self.sigma**2 if self.sigma > 1 else 2 * math.exp(-1 / (2 * self.sigma**2))

    @property
    def spread(self) -> float:
        """For σ ≤ 1 the far tail is like a normal law of variance σ², although the variance is much smaller."""
        return self.sigma**2

    @property
    def log_moved(self) -> float:
        """P(Y ≠ 0) ≤ 2·Σ_{y≥1} e^{−y²/2σ²}, with y² ≥ 1 + 3(y − 1)."""
        fall = 1 / (2 * self.sigma**2)
        return min(0.0, math.log(2) - fall - math.log(-math.expm1(-3 * fall)))

    def log_moment(self, tilt: float) -> float:
        if self.sigma <= _FEW:
            return self._log_sum(tilt) - self._log_sum(0.0)
        small = 2 * math.exp(-2 * (math.pi * self.sigma) ** 2)
        turned = math.cos(2 * math.pi * (self.sigma**2 * tilt % 1.0))
        return (self.sigma * tilt) ** 2 / 2 + math.log1p(small * turned) - math.log1p(small)

    def log_ratio(self, tilt: float, omega: Reals) -> Complex:
        turn = _reduced(omega)
        with np.errstate(divide="ignore"):  # the ratio may be 0
            if self.sigma <= _FEW:
                places, weights = self._terms(tilt)
                return _log_mean(places, weights, turn)
            variance, pi = self.sigma**2, math.pi
            turned = np.exp(2j * pi * (variance * tilt % 1.0))
            above = np.exp(-2 * pi * variance * (pi + turn)) * turned
            below = np.exp(-2 * pi * variance * (pi - turn)) / turned
            whole = 1 + 2 * math.exp(-2 * variance * pi**2) * turned.real
            bell = -variance * turn * turn / 2 + 1j * (variance * tilt) * turn
            return np.asarray(bell + np.log((1 + above + below) / whole))

    def slack(self, tilt: float, omega: Reals) -> Reals:
        """The tilted law is a bell around σ²t on the integers: its mean is at most 1 and its size at most σ + 1 off."""
        size = self.sigma + 2 + self.sigma**2 * abs(tilt)
        return UNIT * (4 + size * omega + (size / self.sigma) ** 2)

    def _terms(self, tilt: float) -> tuple[NDArray[np.int64], Reals]:
        peak = round(self.sigma**2 * tilt)
        reach = math.ceil(9 * self.sigma) + 2
        places = np.arange(peak - reach, peak + reach + 1)
        away = places - self.sigma**2 * tilt
        return places, np.exp((away[reach] ** 2 - away**2) / (2 * self.sigma**2))

    def _log_sum(self, tilt: float) -> float:
        """ln Σ_y e^{−y²/2σ² + ty}, from the largest term."""
        places, weights = self._terms(tilt)
        peak = float(places[len(places) // 2])
        return math.log(weights.sum()) + tilt * peak - peak**2 / (2 * self.sigma**2)


@dataclass(frozen=True, slots=True)
class RoundedTransform:
    """Y = ⌊σZ + ½⌋: E[e^{zY}] = Σ_k e^{σ²z_k²/2}·sinh(z_k/2)/(z_k/2) with z_k = z + 2πik (Poisson).

    P(Y = y) is the density at y of σZ plus a uniform number on [−½, ½]. With sinh(z_k/2) = (−1)^k·sinh(z/2) this is

        e^{σ²z²/2}·sinh(z/2)/(z/2)·Σ_k (−1)^k·z/z_k·e^{σ²(2πikz − 2π²k²)}.

    For σ > 1 and |Im z| ≤ π the terms k = −1, 0, 1 are enough, as for the bell. For σ ≤ 1 the masses are added.

    Bounds on the tilted law: P(y + 1)/P(y) lies between e^{−(y+1)/σ²} and e^{−y/σ²}, because φ(x + 1)/φ(x) does for x
    in [y − ½, y + ½]. These are the ratios of bells on the integers centred at −½ and ½. So the law tilted by t lies
    between bells centred at σ²t − ½ and σ²t + ½, in the order of likelihood ratios and so in distribution.

    The ratio falls from ω = 0 to π. The kernel φ(x − u) is totally positive, and so is 1{|u − y| ≤ ½} for integers y:
    each u has one y, which does not fall as u grows, so that every minor is 0 or 1. So is their composition,
    P(Y = x − y) [Kar68, Ch. 1, Sec. 2], and E[q^Y] is a product of q^n, e^{aq}, e^{b/q}, 1 + cq, 1 + d/q, 1/(1 − fq)
    and 1/(1 − g/q) with coefficients of at least 0 [Edr53]. At q = e^{t+iω} the size of each of them falls.

    >>> law = RoundedTransform.of(10)
    >>> round(law.log_moment(0.05), 4), law.most
    (0.1251, inf)
    """

    sigma: float

    @classmethod
    def of(cls, sigma: Number) -> RoundedTransform:
        return cls(max(_LEAST_ROUNDED, float(exact(sigma))))

    @property
    def most(self) -> float:
        return math.inf

    @property
    def variance(self) -> float:
        return self.sigma**2 + 1 / 12 if self.sigma > 1 else math.erfc(1 / (self.sigma * math.sqrt(8)))

    @property
    def spread(self) -> float:
        """As for `GaussianTransform`."""
        return self.sigma**2

    @property
    def log_moved(self) -> float:
        """P(Y ≠ 0) = erfc(x) ≤ e^{−x²}, x = 1/(2σ√2)."""
        return -1 / (8 * self.sigma**2) * (1 - UNIT)

    def log_moment(self, tilt: float) -> float:
        if self.sigma <= _FEW:
            return self._terms(tilt)[2]
        half = abs(tilt) / 2
        # ln(sinh(h)/h) = h + ln((1 − e^{−2h})/2h)
        uniform = half + math.log(-math.expm1(-2 * half) / (2 * half)) if half > 0 else 0.0
        return (self.sigma * tilt) ** 2 / 2 + uniform + math.log(self._folds(tilt, np.zeros(1))[0].real)

    def log_ratio(self, tilt: float, omega: Reals) -> Complex:
        turn = _reduced(omega)
        with np.errstate(divide="ignore"):  # the ratio may be 0
            if self.sigma <= _FEW:
                places, weights, _ = self._terms(tilt)
                return _log_mean(places, weights, turn)
            variance = self.sigma**2
            bell = -variance * turn * turn / 2 + 1j * (variance * tilt) * turn
            zero = np.zeros(1)
            uniform = _sinhc(tilt, turn) / _sinhc(tilt, zero)
            return np.asarray(bell + np.log(uniform * self._folds(tilt, turn) / self._folds(tilt, zero)))

    def slack(self, tilt: float, omega: Reals) -> Reals:
        """The tilted law is within √2·(σ + 2½) of σ²t in the mean square.

        A change of ln σ moves ln P(y) by at most ((|y| + ½)/σ)² + 1 times that.
        """
        size = 1.5 * self.sigma + 4.5 + self.sigma**2 * abs(tilt)
        few = 4 * _ERFCX if self.sigma <= _FEW else 0.0
        return few + UNIT * (8 + size * omega + (size / self.sigma) ** 2)

    def _folds(self, tilt: float, turn: Reals) -> Complex:
        """The terms k = −1, 0, 1, divided by the middle one."""
        variance, pi = self.sigma**2, math.pi
        z = tilt + 1j * turn
        turned = np.exp(2j * pi * (variance * tilt % 1.0))
        above = np.exp(-2 * pi * variance * (pi + turn)) * turned * z / (z + 2j * pi)
        below = np.exp(-2 * pi * variance * (pi - turn)) / turned * z / (z - 2j * pi)
        found: Complex = 1 - above - below
        return found

    def _terms(self, tilt: float) -> tuple[NDArray[np.int64], Reals, float]:
        """Places, P(y)·e^{ty} relative to the middle place, and ln Σ_y P(y)·e^{ty}, for σ ≤ 1.

        With a, b = (|y| ∓ ½)/(σ√2), P(y) = e^{−a²}·(erfcx(a) − e^{−|y|/σ²}·erfcx(b))/2 for y ≠ 0: nothing cancels.
        """
        peak = round(self.sigma**2 * tilt)
        reach = math.ceil(9 * self.sigma) + 3
        places = np.arange(peak - reach, peak + reach + 1)
        away, root = np.abs(places).astype(np.float64), self.sigma * math.sqrt(2)
        near = np.maximum(away - 0.5, 0.5)
        shares = (special.erfcx(near / root) - np.exp(-away / self.sigma**2) * special.erfcx((away + 0.5) / root)) / 2
        logs = np.log(np.where(away > 0, shares, 1.0)) - (near / root) ** 2
        logs[away == 0] = math.log(math.erf(0.5 / root))
        logs += tilt * places
        weights: Reals = np.exp(logs - logs[reach])
        return places, weights, float(logs[reach]) + math.log(weights.sum())


def _log_mean(places: NDArray[np.int64], weights: Reals, turn: Reals) -> Complex:
    """ln of the weighted mean of e^{iωy} over neighbouring places y, by Horner's rule."""
    round_ = np.exp(1j * turn)
    total = np.zeros_like(round_)
    for weight in weights[::-1]:
        total = total * round_ + weight
    return np.asarray(np.log(total / weights.sum()) + 1j * places[0] * turn)


def _sinhc(tilt: float, turn: Reals) -> Complex:
    """sinh(z/2)/(z/2) with z = t + iω, times e^{−|t|/2}."""
    z = abs(tilt) + 1j * np.sign(tilt or 1.0) * turn
    found: Complex = np.where(z == 0, 1.0, -np.expm1(-z) / np.where(z == 0, 1.0, z)) * np.exp(0.5j * z.imag)
    return found


def _reduced(omega: Reals) -> Reals:
    """The same angle between −π and π: noise is an integer, so its transform is periodic."""
    found: Reals = omega - 2 * math.pi * np.round(omega / (2 * math.pi))
    return found
