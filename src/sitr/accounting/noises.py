"""Laplace against Gaussian noise: what each way to answer k counting questions at one price needs.

One person moves each count by at most 1: all k of them by k in ℓ1, and by √k in ℓ2.      [DR16, Sec. 1; Mir17, Sec. II]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from sitr.accounting.calibrate import calibrate
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.real import gaussian, laplace
from sitr.mechanisms.gaussian import classical_sigma
from sitr.numbers import exact, natural, square_root_upward, upward

_LAPLACE = Fraction(2_995_733, 1_000_000)
"""ln 20, rounded up: 95% of a Laplace law lie within this many scales."""

_NORMAL = Fraction(1_959_964, 1_000_000)
"""95% of a normal law lie within this many standard deviations, rounded up."""


class Calibration(Enum):
    """A way to choose how much noise there is."""

    LAPLACE_PURE = "Laplace, pure"
    LAPLACE = "Laplace, by its loss"
    TEXTBOOK = "Gaussian, textbook formula"
    MOMENTS = "Gaussian, by its moments"
    GAUSSIAN = "Gaussian, by its loss"
    CONCENTRATED = "Gaussian, concentrated"


@dataclass(frozen=True, slots=True)
class NoiseLevel:
    """The noise that each of k counts has, and what all of them together promise."""

    questions: int
    calibration: Calibration
    deviation: float
    """The standard deviation of the noise in each count, rounded up."""
    error: float
    """Half the width of the interval that contains the exact count with 95% probability, rounded up."""
    promise: Promise


def noise_levels(price: ApproximateDP, *, questions: int) -> Iterator[NoiseLevel]:
    """The noise in each of k counts, by every way that is valid at this price.

    The pure way needs no δ. The textbook formula is for ε < 1 only. The last way promises something else: a loss of
    mean ε²/2 and spread ε. That is less than (ε, δ) says about one count, and much cheaper for many.

    >>> levels = {each.calibration.name: each for each in noise_levels(ApproximateDP(0.5, 1e-6), questions=100)}
    >>> [round(levels[name].deviation) for name in ("LAPLACE_PURE", "TEXTBOOK", "GAUSSIAN", "CONCENTRATED")]
    [283, 106, 81, 20]
    """
    k = natural(questions, name="questions", of="A comparison of noise")
    if not price.epsilon > 0 or not 0 < price.delta < 1:
        raise InvalidPromise(
            wanted="an ε above 0 and a δ between 0 and 1 to compare noise",
            given=f"{price!r}",
            do="Write for example ApproximateDP(1.0, 1e-6).",
        )
    epsilon, moved = exact(price.epsilon), square_root_upward(Fraction(k))
    yield _laplace(k, Calibration.LAPLACE_PURE, k / epsilon, PureDP(price.epsilon))
    scale = calibrate(lambda scale: laplace(scale=scale) * k, price, start=float(k / epsilon))
    yield _laplace(k, Calibration.LAPLACE, exact(scale), price)
    if epsilon < 1:
        textbook = classical_sigma(price.epsilon, delta=price.delta, sensitivity=moved)
        yield _gaussian(k, Calibration.TEXTBOOK, exact(textbook), price)
    rho = exact(ZeroConcentratedDP.fitting(price).rho)
    yield _gaussian(k, Calibration.MOMENTS, square_root_upward(k / (2 * rho)), price)
    one = calibrate(lambda sigma: gaussian(sigma=sigma), price, start=float(5 / epsilon))
    yield _gaussian(k, Calibration.GAUSSIAN, exact(one) * moved, price)
    concentrated = ConcentratedDP(upward(epsilon**2 / 2), price.epsilon, scales_to_groups=True)
    yield _gaussian(k, Calibration.CONCENTRATED, moved / epsilon, concentrated)


def _laplace(questions: int, calibration: Calibration, scale: Fraction, promise: Promise) -> NoiseLevel:
    deviation = upward(square_root_upward(2 * scale**2))
    return NoiseLevel(questions, calibration, deviation, upward(_LAPLACE * scale), promise)


def _gaussian(questions: int, calibration: Calibration, sigma: Fraction, promise: Promise) -> NoiseLevel:
    return NoiseLevel(questions, calibration, upward(sigma), upward(_NORMAL * sigma), promise)
