"""The (ε, δ) by which every report names a promise, and the ε′ that bounds the odds.

They are two readings of one loss L at the same δ:

- **(ε, δ)**: E[(1 − e^{ε−L})₊] ≤ δ, the hockey-stick. Whatever follows from an answer becomes at most e^ε times as
  likely, plus δ. This is what "ε at δ" means in the field, and what conversions give.
- **odds**: P(L > ε′) ≤ δ, also called probabilistic differential privacy. Only this bounds by how much the odds move
  except with probability δ, and ε′ is larger than ε.

If the law of the loss of a plan is known, its exact ε comes first, next to the ε that the promise implies.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, WiderThanAsked
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import express
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.loss.loss import Loss
from sitr.numbers import exact, upward
from sitr.plans.plan import Plan
from sitr.report.figures import at_most

READING_DELTA = 1e-6
"""The δ at which promises without a δ are read."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A promise as (ε, δ). Every ε is an upper bound, and infinite if no float can hold it.

    >>> from sitr.flavors import ZeroConcentratedDP
    >>> Headline.of(ZeroConcentratedDP(0.05))
    Headline(promise=ZeroConcentratedDP(rho=0.05), delta=1e-06, implied=1.471..., odds=1.712..., exact=None, tight=True)
    """

    promise: Promise
    delta: float
    implied: float
    """The ε that the promise implies at this δ."""
    odds: float | None
    """ε′ with P(L > ε′) ≤ δ; None if the promise does not bound this."""
    exact: float | None = None
    """The ε of the loss itself at this δ, if a law is known that dominates it."""
    tight: bool = True
    """Whether that law is the law of the loss, or else a bound."""

    @classmethod
    def of(cls, promise: Promise, *, loss: Callable[[], Loss | None] | None = None) -> Headline:
        """The headline of a promise, and of the loss that keeps it, which is asked for only if there is a δ.

        A random promise is read inside its γ.
        """
        inner = promise.inner if isinstance(promise, RandomDP) else promise
        epsilon, delta = _implied(inner)
        odds = _odds(inner, delta)
        known = loss() if loss is not None and delta > 0.0 else None
        law = None if known is None else known.simplified()
        found = _exact(law, delta) if law is not None else math.inf
        return cls(promise, delta, epsilon, odds, found if found < epsilon else None, law is None or not law.bound)

    @property
    def epsilon(self) -> float:
        """The least ε that is proved."""
        return self.implied if self.exact is None else self.exact

    @property
    def gamma(self) -> float | None:
        """The fraction γ of a random promise; None for other promises."""
        return self.promise.gamma if isinstance(self.promise, RandomDP) else None

    def symbols(self) -> str:
        """ε and δ in few digits, rounded up, with the γ of a random promise.

        >>> from sitr.flavors import ZeroConcentratedDP
        >>> Headline.of(ZeroConcentratedDP(0.05)).symbols()
        'ε = 1.472, δ = 10⁻⁶'
        """
        gamma = "" if self.gamma is None else f", γ = {at_most(self.gamma)}"
        return f"ε = {rounded(self.epsilon)}, δ = {at_most(self.delta)}{gamma}"

    def to_dict(self) -> dict[str, Any]:
        """For machines; an ε that no float can hold is null, and so are unknown values.

        ==========  ================================================================================================
        epsilon     the least ε that is proved at `delta`
        delta       0 if the loss never exceeds ε
        exact       whether `epsilon` comes from the law of the loss itself; if not, a bound or the promise implies it
        implied     the ε that the promise implies
        odds        ε′: the loss exceeds it with probability at most `delta`
        gamma       of a random promise
        ==========  ================================================================================================
        """
        return {
            "epsilon": _finite(self.epsilon),
            "delta": self.delta,
            "exact": self.exact is not None and self.tight,
            "implied": _finite(self.implied),
            "odds": None if self.odds is None else _finite(self.odds),
            "gamma": self.gamma,
        }


def headline(plan: Plan) -> Headline:
    """The headline of a plan, from its promise, and from its loss if that is known.

    The ε of an approximate promise already comes from the loss, at the same δ, so it is not computed again.
    """
    promise = plan.promise()
    return Headline.of(promise, loss=None if isinstance(promise, ApproximateDP) else plan.loss)


def rounded(epsilon: float) -> str:
    """An ε in few digits, rounded up.

    >>> rounded(1.4715), rounded(math.inf)
    ('1.472', '∞')
    """
    return at_most(epsilon) if math.isfinite(epsilon) else "∞"


def _implied(promise: Promise) -> tuple[float, float]:
    """ε and δ: as stated, at δ = 0 if the promise bounds the largest loss, or else at `READING_DELTA`.

    Where the loss may be infinite with some probability, `READING_DELTA` is what δ leaves to the finite tail.
    """
    if (largest := promise.largest_loss()) is not None:
        return largest, 0.0
    if promise.stated:
        enough = [point for point in promise.stated if point[1] <= READING_DELTA]
        return enough[0] if enough else promise.stated[-1]
    mass = promise.infinite_mass()
    delta = upward(min(Fraction(1), exact(READING_DELTA) + exact(mass))) if mass < 1.0 else READING_DELTA
    try:
        return express(promise, ApproximateDP, delta=delta).epsilon, delta
    except (ValueError, IncompatiblePromises):  # no float can hold it, or it implies none
        return math.inf, delta


def _odds(promise: Promise, delta: float) -> float | None:
    """ε′ with P(L > ε′) ≤ δ. An (ε, δ) promise implies none at the same δ."""
    if (largest := promise.largest_loss()) is not None:
        return largest
    try:
        return promise.loss_quantile(delta=delta)
    except ValueError:  # no float can hold it
        return math.inf


def _exact(loss: Loss, delta: float) -> float:
    """The upper end of the proved interval, valid however wide the interval is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WiderThanAsked)
        try:
            return loss.epsilon(delta=delta).upper
        except OverflowError:  # nothing is proved about losses that are too large for the squares of floats
            return math.inf


def _finite(epsilon: float) -> float | None:
    return epsilon if math.isfinite(epsilon) else None
