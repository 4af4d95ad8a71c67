"""An accountant for Opacus (extra `opacus`): importing this module makes `PrivacyEngine(accountant="sitr")` work.

Opacus passes the noise and the sampling rate of each step to its accountant. The promise assumes Poisson samples and
real-valued Gaussian noise, and protects one example that is added or removed.
"""

from __future__ import annotations

import math
from typing import Any

from sitr.flavors.promise import count
from sitr.interop.noise_multiplier import checked_noise, checked_rate, lost, poisson
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.namespace import needs
from sitr.numbers import Interval

try:
    from opacus.accountants import IAccountant, register_accountant
except ModuleNotFoundError:
    needs("opacus", extra="opacus")
    raise

WIDTH = 5e-3
"""Opacus searches σ by bisection until ε is within 0.01, and does not end if the upper bound jumps by more."""

COARSE, FINE = 1e-4, 1e-5
"""Relative widths: the first request, and the narrowest one that is made to stay within `WIDTH`."""


class SitrAccountant(IAccountant):
    """Records the steps of a training run, and proves an interval that contains ε.

    >>> accountant = SitrAccountant()
    >>> accountant.history = [(0.8, 0.01, 10_000)]
    >>> accountant.get_bounds(1e-5)
    Interval(lower=10.053..., upper=10.054...)
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One more step; equal ones in a row are counted, as Opacus' own accountants do."""
        if self.history and tuple(self.history[-1][:2]) == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def loss(self) -> Loss:
        """The privacy loss of all steps so far."""
        return Loss.compose(_step_loss(*step) for step in self.history)

    def get_bounds(self, delta: float, *, relative: float | None = None) -> Interval:
        """A proved interval around ε, as narrow as Opacus needs or as `relative` requests."""
        if any(noise == 0 and rate > 0 and steps for noise, rate, steps in self.history):
            return Interval(math.inf, math.inf)  # Opacus also trains without noise
        loss = self.loss()
        found = loss.epsilon(delta=delta, relative=relative or COARSE)
        if relative is None and WIDTH < found.width < math.inf:
            return loss.epsilon(delta=delta, relative=max(FINE, WIDTH / (2 * found.upper)))
        return found

    def get_epsilon(self, delta: float, *, relative: float | None = None, **_options: Any) -> float:
        """The upper end of the interval: the ε that may be promised. Options of other accountants are ignored."""
        return self.get_bounds(delta, relative=relative).upper

    def __len__(self) -> int:
        return len(self.history)

    @classmethod
    def mechanism(cls) -> str:
        return "sitr"


def _step_loss(noise: float, rate: float, steps: int) -> Loss:
    times = count(steps, what="the number of steps", least=0)
    law = GaussianLaw(lost(checked_noise(noise, "noise_multiplier")))
    return poisson(law, rate=checked_rate(rate, "sample_rate")) * times if times else Loss(())


register_accountant(SitrAccountant.mechanism(), SitrAccountant, force=True)
