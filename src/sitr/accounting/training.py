"""Training by noisy gradients on random batches (DP-SGD), as one value with a privacy loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sitr.accounting.curves import SampledGaussian
from sitr.accounting.schedule import MOST_TIMES, Part
from sitr.errors import InvalidPromise
from sitr.flavors.promise import count
from sitr.flavors.renyi import RenyiDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.loss.sampling import sampled
from sitr.numbers import Number, exact, positive, upward


@dataclass(frozen=True, slots=True)
class Training:
    """Each step draws every example into its batch with probability batch/examples, clips each gradient to length C,
    and adds real Gaussian noise of standard deviation σ·C to their sum; one example is added or removed.  [ACGMMTZ16]

    Batches that are shuffled instead, as many data loaders do it, are another mechanism, which may lose more.

    >>> training = Training(examples=60_000, batch=256, epochs=60, sigma=1.1)
    >>> training.steps, training.loss().epsilon(delta=1e-5)
    (14063, Interval(lower=2.38..., upper=2.38...))
    """

    examples: int
    batch: int
    epochs: Number
    sigma: Number

    def __post_init__(self) -> None:
        count(self.examples, what="The number of examples")
        if count(self.batch, what="The size of a batch") > self.examples:
            raise InvalidPromise(
                wanted=f"a batch of at most all {self.examples} examples",
                given=f"batch={self.batch}",
                do="Choose a smaller batch.",
            )
        object.__setattr__(self, "epochs", _above_0(self.epochs, name="epochs"))
        object.__setattr__(self, "sigma", _above_0(self.sigma, name="sigma"))
        if self.steps > MOST_TIMES:
            raise InvalidPromise(
                wanted=f"at most {MOST_TIMES} steps",
                given=f"{_shown(self.steps)} (epochs × examples / batch)",
                do="Choose fewer epochs or larger batches.",
            )

    @property
    def rate(self) -> Fraction:
        """q, the probability with which an example is in a batch."""
        return Fraction(self.batch, self.examples)

    @property
    def steps(self) -> int:
        """The number of batches in all epochs."""
        return math.ceil(exact(self.epochs) / self.rate)

    @property
    def step(self) -> Part:
        """One step: its moments, and the loss of real Gaussian noise on a Poisson sample."""
        noise = SampledGaussian(upward(self.rate), upward(1 / exact(self.sigma)))
        return Part((RenyiDP(noise),), known=sampled(gaussian(sigma=self.sigma), rate=self.rate))

    def loss(self) -> Loss:
        """The loss of all steps."""
        return cast("Loss", self.step.loss()) * self.steps  # the loss of a step is known

    def epsilon(self, delta: float) -> float:
        """The ε of the whole run at this δ, rounded up; `loss()` has more views.

        >>> Training(examples=60_000, batch=256, epochs=60, sigma=1.1).epsilon(1e-5)
        2.38...
        """
        return self.loss().epsilon(delta=delta).upper


def _shown(count: int) -> str:
    """A number that may have hundreds of digits."""
    return str(count) if count < 10**15 else f"about 10^{len(str(count)) - 1}"


def _above_0(number: Number, *, name: str) -> Fraction:
    try:
        return positive(number, name=name, of="Training")
    except ValueError:
        raise InvalidPromise(
            wanted=f"{name} to be a finite number above 0",
            given=repr(number),
            do="Choose a larger one.",
        ) from None
