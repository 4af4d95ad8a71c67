"""All composition theorems side by side, for one schedule."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.advanced import ADVANCED
from sitr.accounting.theorems.basic import BASIC
from sitr.accounting.theorems.concentrated import CONCENTRATED
from sitr.accounting.theorems.gaussian import GAUSSIAN
from sitr.accounting.theorems.halved import HALVED
from sitr.accounting.theorems.loss import LOSS
from sitr.accounting.theorems.optimal_equal import OPTIMAL_EQUAL
from sitr.accounting.theorems.optimal_mixed import ERROR, OPTIMAL_MIXED, optimal_mixed
from sitr.accounting.theorems.profile import PROFILE
from sitr.accounting.theorems.random_union import RANDOM_UNION
from sitr.accounting.theorems.renyi import RENYI, RENYI_AS_PUBLISHED
from sitr.accounting.theorems.theorem import NO, Adaptive, Theorem, Total
from sitr.accounting.theorems.zero_concentrated import ZERO_CONCENTRATED
from sitr.accounting.views import Inapplicable
from sitr.errors import InvalidPromise
from sitr.flavors.profile import exposed

THEOREMS: tuple[Theorem, ...] = (
    BASIC,
    ADVANCED,
    HALVED,
    OPTIMAL_EQUAL,
    OPTIMAL_MIXED,
    CONCENTRATED,
    ZERO_CONCENTRATED,
    RENYI,
    RENYI_AS_PUBLISHED,
    GAUSSIAN,
    PROFILE,
    LOSS,
    RANDOM_UNION,
)


@dataclass(frozen=True, slots=True)
class TheoremResult:
    """One theorem and its result: bounds on the total ε, or the reason why it does not apply.

    `adaptive` says whether this bound may decide when to stop; with a γ, or without a bound, it may not.
    """

    theorem: Theorem
    outcome: Total | str
    adaptive: Adaptive = NO


@dataclass(frozen=True, slots=True)
class Comparison:
    """What each theorem proves for a schedule at one δ. With `gamma`, all ε hold except for that fraction of data."""

    schedule: Schedule
    delta: float
    rows: tuple[TheoremResult, ...]
    gamma: float | None

    @property
    def tightest(self) -> TheoremResult | None:
        """The row with the least upper bound; the first of several."""
        proved = [(row.outcome.upper, place) for place, row in enumerate(self.rows) if isinstance(row.outcome, Total)]
        return self.rows[min(proved)[1]] if proved else None


def compare(schedule: Schedule, *, delta: float, error: float = ERROR) -> Comparison:
    """Every theorem at this δ, for a schedule fixed in advance.

    `error` is the largest width of the interval of `optimal_mixed`, where that is not exact.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.pure import PureDP
    >>> comparison = compare(Schedule((Part((PureDP(0.1),), times=100),)), delta=1e-6)
    >>> comparison.tightest.theorem.name, comparison.tightest.outcome.upper
    ('optimal_equal', 4.7745...)
    """
    delta = _checked(delta)
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0.0 < error < math.inf:
        raise InvalidPromise(
            wanted="an additive error above 0",
            given=repr(error),
            do=f"Choose how wide an interval for ε may be, such as error={ERROR}; less takes longer.",
        )
    rows = tuple(_row(theorem, schedule, delta, float(error)) for theorem in THEOREMS)
    return Comparison(schedule, delta, rows, _gamma(schedule))


def curve(schedule: Schedule, *, theorem: Theorem, deltas: Iterable[float]) -> tuple[Comparison, ...]:
    """One theorem at many δ, for pictures: comparisons of one row each, so that γ is never left behind."""
    checked = [_checked(delta) for delta in deltas]
    return tuple(
        Comparison(schedule, delta, (_row(theorem, schedule, delta, ERROR),), _gamma(schedule)) for delta in checked
    )


def named(name: str) -> Theorem:
    """A theorem by its name.

    >>> named("halved").source
    '[DR16, Thm 1.1; WRRW23, Thm 1]'
    """
    for theorem in THEOREMS:
        if theorem.name == name:
            return theorem
    raise InvalidPromise(
        wanted=f"the name of a composition theorem ({', '.join(theorem.name for theorem in THEOREMS)})",
        given=repr(name),
        do="Choose one of these.",
    )


def infinite_mass(schedule: Schedule) -> float:
    """An upper bound on P(L = +∞): 1 − Π(1 − δᵢ), over releases that may expose somebody outright.

    A release may do so with the least δ of its points, unless another of its promises bounds the loss or a moment.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.approximate import ApproximateDP
    >>> infinite_mass(Schedule((Part((ApproximateDP(1.0, 1e-6),), times=3),)))
    2.99999...e-06
    """
    parts = schedule.inner.parts
    return exposed((min(promise.infinite_mass() for promise in part.promises), part.times) for part in parts)


def _row(theorem: Theorem, schedule: Schedule, delta: float, error: float) -> TheoremResult:
    try:
        bounds = _total(theorem, schedule, delta, error)
    except Inapplicable as none:
        return TheoremResult(theorem, none.reason)
    except ValueError as beyond:  # a promise or a bound for which there is no float
        return TheoremResult(theorem, str(beyond))
    return TheoremResult(theorem, bounds, NO if schedule.random else theorem.adaptive(schedule, delta))


def _total(theorem: Theorem, schedule: Schedule, delta: float, error: float) -> Total:
    if theorem is RANDOM_UNION:
        return theorem.total(schedule, delta)
    if theorem is OPTIMAL_MIXED:
        return optimal_mixed(schedule.inner, delta, error=error)
    return theorem.total(schedule.inner, delta)


def _gamma(schedule: Schedule) -> float | None:
    return schedule.gamma if schedule.random else None


def _checked(delta: float) -> float:
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0.0 <= delta < 1.0:
        raise InvalidPromise(
            wanted="0 ≤ delta < 1",
            given=repr(delta),
            do="Choose how rarely the total may fail, such as delta=1e-6: well below one in the number of people.",
        )
    return float(delta)
