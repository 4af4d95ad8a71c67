"""Transforms of discrete noise: E[e^{zY}] for complex z, the tool for sums of independent noises.

A law is a frozen value with three functions of a tilt t, the real part of z:

    log_moment(t)        ln E[e^{tY}]
    log_ratio(t, ω)      ln (E[e^{(t+iω)Y}]/E[e^{tY}]), any branch; its real part is at most 0
    slack(t, ω)          how far e^{log_ratio} may be off, and log_moment(t) at ω = 0

The slack has three parts. Let s² ≥ E_t[Y²] under the tilted law P_t(y) ∝ P(y)·e^{ty}. First, some tens of operations
each err by 2^{−53} of numbers that are at most 1. Second, reducing ω to one period moves it by 2^{−52}·|ω|, and the
ratio by s times that. Third, a scale is rounded to a double, by 2^{−53} of itself, which moves ln P(y) by |y|/scale
(Laplace) or y²/σ² (Gaussian) times that. `UNIT` is eight times 2^{−53}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitr.numbers import Number, exact

Reals = NDArray[np.float64]
Complex = NDArray[np.complex128]

UNIT = 2.0**-50

_LEAST_SCALE = 1 / 600
_LEAST_SIGMA = 1 / 25
"""Noise of a smaller scale is replaced by noise of this one: neither differs from 0 with probability e^{−300}."""

_FEW = 1.0
"""The largest σ for which the terms of a bell are added one by one."""


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
        """Every tilt is smaller than this."""
        return self.rate

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
                round_ = np.exp(1j * turn)
                total = np.zeros_like(round_)
                for weight in weights[::-1]:
                    total = total * round_ + weight
                return np.asarray(np.log(total / weights.sum()) + 1j * places[0] * turn)
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


Transform = LaplaceTransform | GaussianTransform


def _reduced(omega: Reals) -> Reals:
    """The same turn between −π and π: noise is whole, so its transform repeats itself."""
    found: Reals = omega - 2 * math.pi * np.round(omega / (2 * math.pi))
    return found
