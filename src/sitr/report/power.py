"""The power of the best test of whether a person took part, where (ε, δ) is promised."""

from __future__ import annotations

from sitr.numbers import Number, ball, upper
from sitr.precision import precision


@precision()
def detected_at(epsilon: float, delta: float, *, alarms: Number) -> float:
    """The largest power of a test with this rate of false alarms, if (ε, δ) is promised, rounded up.

    min(δ + e^ε·a, 1 − e^{−ε}(1 − a − δ)) for a rate a.      [KOV15, Sec. 2]

    >>> detected_at(1.0, 1e-6, alarms=0.01)
    0.0271...
    """
    if epsilon > 700:
        return 1.0  # rounded up, and e^ε has no float
    rate, factor, beside = ball(alarms), ball(epsilon).exp(), ball(delta)
    return min(1.0, upper(beside + factor * rate), upper(1 - (1 - rate - beside) / factor))
