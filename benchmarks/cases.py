"""The questions. A case is a plain value, because it is sent to the process that measures it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class Training:
    """DP-SGD: Gaussian noise σ on a Poisson sample at rate q, in several steps; the question is ε."""

    rate: float
    sigma: float
    steps: int
    delta: float
    error: float = 0.1
    """The allowed error, for accountants that have such a parameter."""

    @property
    def title(self) -> str:
        return f"q = {self.rate:.4g}, σ = {self.sigma:g}, {self.steps:,} steps, δ = {self.delta:g}"


@dataclass(frozen=True, slots=True)
class Mixture:
    """As many Gaussian as Laplace, sampled Gaussian and response mechanisms, all different; the question is ε."""

    each: int
    delta: float

    @property
    def title(self) -> str:
        return f"{4 * self.each} different mechanisms, δ = {self.delta:g}"

    def sigmas(self) -> list[float]:
        return [20 + number / 10 for number in range(self.each)]

    def scales(self) -> list[float]:
        return [50 + number / 2 for number in range(self.each)]

    def sampled(self) -> list[tuple[float, float]]:
        """(q, σ)"""
        return [(0.01 + number / 100_000, 0.8 + number / 1000) for number in range(self.each)]

    def responses(self) -> list[float]:
        """ε"""
        return [0.01 + number / 10_000 for number in range(self.each)]


@dataclass(frozen=True, slots=True)
class Schedule:
    """DP-SGD whose noise changes at every step, from σ = 0.8 to 2, at one sampling rate; the question is ε."""

    steps: int
    rate: float = 0.01
    delta: float = 1e-5

    @property
    def title(self) -> str:
        return f"{self.steps:,} different σ from 0.8 to 2, q = {self.rate:g}, δ = {self.delta:g}"

    def sigmas(self) -> list[float]:
        return [0.8 + 1.2 * step / self.steps for step in range(self.steps)]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The smallest σ with which DP-SGD keeps (ε, δ)."""

    rate: float
    steps: int
    epsilon: float
    delta: float

    @property
    def title(self) -> str:
        return f"σ for q = {self.rate:g}, {self.steps:,} steps, (ε, δ) = ({self.epsilon:g}, {self.delta:g})"


Case = Training | Mixture | Schedule | Calibration
KINDS: dict[str, type[Case]] = {kind.__name__: kind for kind in (Training, Mixture, Schedule, Calibration)}

STEPS = (1, 10**4, 10**6)
DP_SGD = tuple(Training(*setup, steps, 1e-5) for setup, steps in product(((0.01, 0.8), (256 / 60_000, 1.1)), STEPS))
USUAL = Training(0.01, 0.8, 10**4, 1e-5)
SMALL_DELTA = tuple(Training(0.01, 0.8, 10**4, delta) for delta in (1e-12, 1e-20, 1e-100))
SMOOTH = (Training(0.01, 4.0, 10**4, 1e-5), Training(0.05, 2.0, 5000, 1e-5))
"""With much noise, losses are small, and other accountants are fastest."""
MIXTURE = Mixture(125, 1e-5)
SCHEDULES = (Schedule(1000), Schedule(3000))
CALIBRATION = Calibration(0.01, 10**4, 1.0, 1e-5)

KNOWN = {USUAL: 10.05363477, SMALL_DELTA[0]: 16.7626}
"""Values of ε known from elsewhere, to the digits shown."""
