"""Budgets without a cap: charges are recorded, and their sum has no limit that anybody could reach.

They are written odometer(pure), odometer(approximate, delta=1e-6), odometer(zcdp) or odometer(zcdp, delta=1e-6).
Such a budget is a promise whose ε or ρ is the largest float: no price of Sitr comes near it. A δ is different. The sum
of all δ has to be bounded before the first answer, so it is part of the budget, and charges beyond it are refused.
"""

from __future__ import annotations

from sitr.errors import InvalidPromise, quoted
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.promise import LARGEST, Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

Uncapped = PureDP | ApproximateDP | ZeroConcentratedDP | ApproximateZeroConcentratedDP

NAME = "odometer"
"""How budgets without a cap are written."""

EXAMPLES: dict[type[Promise], str] = {
    PureDP: "pure(0.1)",
    ApproximateDP: "pure(0.1)",
    ZeroConcentratedDP: "zcdp(0.01)",
    ApproximateZeroConcentratedDP: "zcdp(0.01)",
}
"""A small price for a first question, where no whole says what is small."""

UNREACHABLE = 1e308
"""From here on, a number is no limit: what is left of the largest float after any charges."""


def odometer(flavor: str, delta: float | None = None) -> Uncapped:
    """A budget without a cap: `odometer("pure")`, `odometer("approximate", delta=1e-6)` or `odometer("zcdp", delta=…)`.

    `delta` bounds the sum of the δ of all charges, and is fixed when the budget is opened. Without it, a zcdp budget
    only records: its totals are then no promise at a moment that somebody chooses after seeing answers.

    >>> from sitr.flavors.notation import write
    >>> write(odometer("zcdp", delta=1e-6)), write(odometer("pure"))
    ('odometer(zcdp, delta=1e-06)', 'odometer(pure)')
    >>> odometer("pure").uncapped, PureDP(1.0).uncapped
    (True, False)
    """
    match flavor, delta:
        case "pure", None:
            return PureDP(LARGEST)
        case "zcdp", None:
            return ZeroConcentratedDP(LARGEST)
        case "approximate", float() | int() if 0 < delta < 1:
            return ApproximateDP(LARGEST, delta)
        case "zcdp", float() | int() if 0 < delta < 1:
            return ApproximateZeroConcentratedDP(LARGEST, delta)
    raise InvalidPromise(
        wanted="odometer(pure), odometer(approximate, delta=1e-6), odometer(zcdp) or odometer(zcdp, delta=1e-6)",
        given=f"the flavor {quoted(flavor)} and δ = {quoted(delta)}",
        do="A δ lies between 0 and 1; a pure odometer has none, and an approximate one needs it.",
    )


def written(promise: Promise) -> str:
    """The notation of a budget without a cap."""
    delta = getattr(promise, "delta", None)
    return f"{NAME}({promise.odometer})" if delta is None else f"{NAME}({promise.odometer}, delta={delta!r})"
