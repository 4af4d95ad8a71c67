"""Shares of a price with which all errors are equally far from their targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.errors import QuestionError
from sitr.flavors.pure import PureDP
from sitr.mechanisms.additive import NoisePrice
from sitr.numbers import exact
from sitr.questions.aggregate.plan import AggregatePlan, Shown
from sitr.questions.aggregate.shares import main_terms
from sitr.questions.aggregate.split import Targets

CLOSE = Fraction(101, 100)
"""How far apart the quotients of errors and targets may be."""

ROUNDS = 6
"""How often the shares are corrected."""


@dataclass(frozen=True, slots=True)
class Met:
    """A column, the error that it should have, and the one that it has."""

    name: str
    target: Fraction
    error: Fraction

    @property
    def holds(self) -> bool:
        return self.error <= self.target


def met(plan: AggregatePlan) -> list[Met]:
    """How far each column of a plan is from its target; none if the question has no targets."""
    split = plan.query.split
    if not isinstance(split, Targets):
        return []
    wanted = dict(split.by)
    return [Met(column.name, wanted[column.name], _expected(column, plan, split)) for column in plan.columns]


def _expected(column: Shown, plan: AggregatePlan, split: Targets) -> Fraction:
    """The error of a column, which must have a limit."""
    found = plan.expected(column, rows=split.rows)
    if math.isfinite(found):
        return exact(found)
    raise QuestionError(
        given=f"The error of {column.name} has no limit, so it has no target.",
        do="Ask for its parts, each with a target, and compute it from the answer, which costs nothing, or use "
        "weights.",
    )


def refuse_uncertain(plan: AggregatePlan) -> None:
    """Refuse to promise errors that depend on how many keys are released."""
    if plan.uncertain:
        raise QuestionError(
            given="HAVING, ORDER BY or LIMIT uses noisy numbers and the keys are not public, so the errors depend on "
            "how many keys are released.",
            do="List the public keys, leave out HAVING, ORDER BY and LIMIT, or choose a price instead of errors.",
        )


def targeted(
    split: Targets, bought: NoisePrice, plan_of: Callable[[Sequence[Fraction]], AggregatePlan], many: int
) -> AggregatePlan:
    """The plan whose errors are equally far from their targets, as far as columns do not share measurements.

    A measurement gets what the most demanding of its columns needs: noise falls like 1/s for pure prices and like 1/√s
    for others, so a share is multiplied by the quotient of error and target, or by its square, and all are divided by
    their sum, until the quotients agree. Shares always add up to 1.
    """
    power, parts = 1 if isinstance(bought, PureDP) else 2, [Fraction(1, many)] * many
    for _ in range(ROUNDS):
        plan = plan_of(parts)
        off = _off(plan, split)
        needs = [max(off[place]) if off[place] else None for place in range(many)]
        known = [need for need in needs if need is not None]
        if not known or max(known) <= CLOSE * min(known):
            break
        sizes = [
            part * (min(known) if need is None else need) ** power for part, need in zip(parts, needs, strict=True)
        ]
        parts = [_short(size / sum(sizes, Fraction(0))) for size in sizes]
        parts = [part / sum(parts, Fraction(0)) for part in parts]
    return plan


def _off(plan: AggregatePlan, split: Targets) -> list[list[Fraction]]:
    """By measurement, the quotients of error and target of its columns."""
    refuse_uncertain(plan)
    places = {term: place for place, terms in enumerate(main_terms(plan.query)) for term in terms}
    found: list[list[Fraction]] = [[] for _ in main_terms(plan.query)]
    for column in plan.columns:
        if column.depends_on_rows and split.rows is None:
            raise QuestionError(
                given=f"The error of {column.name} depends on the number of rows, so its target needs one.",
                do="Say for how many rows in a group it is wanted, such as rows=1000 (--rows 1000).",
            )
    for column, each in zip(plan.columns, met(plan), strict=True):
        for measured in column.measured:
            found[places[measured.term]].append(each.error / each.target)
    return found


def _short(part: Fraction) -> Fraction:
    """A share with a short denominator, which is never 0."""
    return Fraction(max(1, round(part * 10**12)), 10**12)
