"""What was measured in symbols, the same in every language."""

from __future__ import annotations

from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.composed import Composed, concentrated
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.questions.aggregate.expressions.typed import TEMPORAL, calendar
from sitr.questions.aggregate.plan import KEYS, AggregatePlan
from sitr.questions.aggregate.quantity import Quantity
from sitr.report.figures import about, at_most, number


def ends(term: Quantity) -> tuple[str, str]:
    """Both bounds of what is measured; dates as dates."""
    assert term.quantised is not None
    assert term.of is not None
    low, high = term.quantised.ends
    if term.of.kind in TEMPORAL:
        return calendar(low, term.of.kind).isoformat(), calendar(high, term.of.kind).isoformat()
    return about(low), about(high)


def cost_of_choices(choice: GroupedQuantile, *, squares: bool) -> str:
    """The arithmetic from the ranges of the losses in all groups of one unit to ε, or to ρ.

    >>> from sitr.mechanisms import GroupedQuantile
    >>> cost_of_choices(GroupedQuantile(rate=0.5, level=0.5, low=0, high=9, groups=3), squares=True)
    'Σ η²/8 = (3 × 0.5²) / 8 ≤ 0.09375 = ρ'
    >>> cost_of_choices(GroupedQuantile(rate=0.5, level=0.5, low=0, high=9, groups=3, flip=True), squares=True)
    'Σ η²/2 = (3 × 0.5²) / 2 ≤ 0.375 = ρ'
    """
    power, cost = (2, choice.zero_concentrated().rho) if squares else (1, choice.promise().epsilon)
    worst = max(choice.changes(), key=lambda parts: sum(width**power * many for width, many in parts))
    terms = " + ".join(f"{number(many)} × {about(width)}{'²' if squares else ''}" for width, many in worst if many)
    total = at_most(cost, digits=6)
    part = 2 if choice.flip else 8
    return f"Σ η²/{part} = ({terms}) / {part} ≤ {total} = ρ" if squares else f"Σ η = {terms} ≤ {total} = ε"


def keys_only(plan: AggregatePlan) -> bool:
    """Whether the threshold of the keys is the only measurement."""
    return all(each.name == KEYS for each in plan.measurements)


def without_keys(plan: AggregatePlan) -> Promise | None:
    """The promise of all measurements but the keys', in a flavor in which they add up; None if only losses do.

    There must be others: see `keys_only`.
    """
    measured = Composed(tuple(each.mechanism for each in plan.measurements if each.name != KEYS))
    if all(each.choice is None for each in plan.noisy):
        return measured.promise()
    if isinstance(plan.price, ZeroConcentratedDP):
        return concentrated(measured)
    flavors = {type(part.promise()) for part in measured.parts}
    return measured.promise() if flavors == {PureDP} else None
