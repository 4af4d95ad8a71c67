"""A composition theorem: a name, a source, and a total for a schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal

from flint import arb

from sitr.accounting.schedule import Schedule
from sitr.accounting.views import Inapplicable
from sitr.numbers import upper
from sitr.precision import precision


@dataclass(frozen=True, slots=True)
class Total:
    """The total ε lies between these; both are proved.

    Two-sided bounds enclose the least ε that holds for *every* choice of mechanisms that keep all promises. A
    theorem that proves an upper bound alone has `lower` 0 and is not two-sided.
    """

    lower: float
    upper: float
    two_sided: bool

    @property
    def width(self) -> float:
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Whether a guarantee holds if releases go on until their total reaches a budget fixed in advance, and the
    parameters of each release are chosen after earlier answers.

    A total that is the best of several (orders, shares of δ) is not `valid` by itself, because the choice
    may depend on earlier answers. It is valid for a choice fixed in advance: that is the `condition`.

    >>> Adaptive.at_order(12.3456789)
    Adaptive(valid=False, condition='if order 12.3456 is fixed in advance')
    """

    valid: bool
    condition: str = ""

    @classmethod
    def at_order(cls, order: float) -> Adaptive:
        """Sums at one order are a stopping rule [FZ21, Thm 4.3]. Six digits of α − 1 are enough.

        They are cut off, not rounded: at a larger order there may be no bound at all.
        """
        exact = Decimal(repr(order)) - 1
        beyond = exact.normalize(Context(prec=6, rounding=ROUND_DOWN))
        return cls(False, f"if order {1 + beyond:f} is fixed in advance")


YES = Adaptive(True)
NO = Adaptive(False)
"""Not valid unless the whole schedule is fixed in advance."""
FIXED_SHARES = Adaptive(False, "if the shares of δ are fixed in advance")


def always(_schedule: Schedule, _delta: float) -> Adaptive:
    return YES


def never(_schedule: Schedule, _delta: float) -> Adaptive:
    return NO


@dataclass(frozen=True, slots=True)
class Theorem:
    """One way to add up losses. `adaptive` is called only for schedules that have a total."""

    name: str
    source: str
    total: Callable[[Schedule, float], Total]
    adaptive: Callable[[Schedule, float], Adaptive]


@precision()
def at_most(epsilon: arb | float) -> Total:
    """An upper bound alone.

    >>> at_most(2.5)
    Total(lower=0.0, upper=2.5, two_sided=False)
    """
    if isinstance(epsilon, float):
        return Total(0.0, epsilon, two_sided=False)
    if not epsilon < arb("1e300"):
        raise Inapplicable("its bound is larger than any number that could be shown")
    return Total(0.0, max(0.0, upper(epsilon)), two_sided=False)


def above_zero(delta: float) -> float:
    """For theorems that need a δ above 0."""
    if delta <= 0.0:
        raise Inapplicable("it needs a δ above 0")
    return delta
