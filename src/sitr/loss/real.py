"""The losses of real-valued noise, which other programs draw, such as training code.

Sitr's own mechanisms draw integer multiples of a granule, and their losses differ from these. Nothing here releases an
answer.
"""

from __future__ import annotations

from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.law import check
from sitr.loss.loss import Loss
from sitr.numbers import Number, exact, float_above


def gaussian(*, sigma: Number, sensitivity: Number = 1) -> Loss:
    """Real Gaussian noise of standard deviation σ on a vector that one unit moves by at most Δ in length (ℓ2).

    `sitr.Gaussian` adds integer noise to integers, and its loss differs, most of all on a sample:

    >>> from sitr import Gaussian, Subsampled
    >>> from sitr.loss import sampled
    >>> sampled(gaussian(sigma=0.8), rate=0.01).epsilon(delta=1e-5)
    Interval(lower=0.48..., upper=0.48...)
    >>> Subsampled(Gaussian(sigma=0.8), rate=0.01).loss().epsilon(delta=1e-5)
    Interval(lower=0.38..., upper=0.38...)
    """
    return Loss.of(GaussianLaw(_ratio(sensitivity, sigma, name="sigma")))


def laplace(*, scale: Number, sensitivity: Number = 1) -> Loss:
    """Real Laplace noise on one number that one unit moves by at most Δ.

    >>> laplace(scale=2, sensitivity=1).max()
    0.5...
    """
    return Loss.of(LaplaceLaw(_ratio(sensitivity, scale, name="scale")))


def _ratio(sensitivity: Number, size: Number, *, name: str) -> float:
    """Δ/σ, or Δ/b, rounded up: more is lost where the noise is smaller."""
    check(size, name, above=0.0)
    check(sensitivity, "sensitivity", above=0.0)
    return float_above(exact(sensitivity) / exact(size))
