"""From errors to prices: the errors at other prices, and the least price for the errors that are wanted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from sitr import arguments
from sitr.accounting.filter import Filter
from sitr.errors import FileError, QuestionError, unknown_name
from sitr.flavors.arrows import Additive
from sitr.flavors.notation import write
from sitr.flavors.price import buys_noise
from sitr.flavors.promise import Promise
from sitr.namespace import Later
from sitr.numbers import Number, exact, finite
from sitr.plans.plan import Plan
from sitr.plans.prices import CEILING, flavored, least_price, nearby, readable, with_amount
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.targeted import refuse_uncertain
from sitr.questions.batch.plan import BatchPlan
from sitr.questions.question import Question
from sitr.session.desk import Desk

if TYPE_CHECKING:
    import statistics

    from sitr.session import shelf
else:  # only the sizes of kept answers need them
    statistics, shelf = Later("statistics"), Later("sitr.session.shelf")

Errors = Mapping[str, Number | str]
"""The largest error of each column: a number, or a share such as "1%" of its size."""

Sizes = Mapping[str, Number]
"""Public sizes of columns, of which errors are shares."""


def expected(question: Question, plan: Plan, *, confidence: Number = 0.95, rows: int | None = None) -> dict[str, float]:
    """The largest error of every column; of cells whose noisy count is at least `rows`, if this is given."""
    if rows is None:
        return question.errors(plan, confidence=confidence)
    if not isinstance(question, AggregateQuestion) or type(rows) is not int or rows < 1:
        raise QuestionError(
            wanted="a whole number of rows, for a question with aggregates",
            given=f"rows={rows!r}",
            do="Leave rows out, or write rows=1000.",
        )
    return question.errors(cast("AggregatePlan", plan), confidence=confidence, rows=rows)


def around(question: Question, price: Promise, plan: Plan, standing: Filter) -> tuple[Plan, ...]:
    """The `plan` at this price and those at a few others, cheapest first; none if the price is not spent on noise."""
    if not buys_noise(price):
        return ()
    found = []
    for each in nearby(price, standing):
        try:
            found.append(plan if each == price else question.plan(each))
        except QuestionError:  # too little for this question
            continue
    return tuple({each.price: each for each in found}.values())  # a mechanism may have one price only


def price_for(
    question: Question,
    error: Errors,
    *,
    at: Desk,
    size: Sizes | None = None,
    rows: int | None = None,
    delta: float | None = None,
) -> Additive:
    """The least price for which every named column has at most this error with 95% probability, rounded up."""
    like = flavored(at.ledger.standing(at.account).promise, delta=delta)
    wanted = _targets(question, error, like, at=at, size=size or {}, rows=rows)

    def ratio(price: Additive) -> float:
        try:
            errors = expected(question, question.plan(price), rows=rows)
        except QuestionError:  # too little for this question
            return math.inf
        return max(errors[name] / target for name, target in wanted.items())

    found = least_price(like, ratio)
    if found is None:
        raise _never(question, like, wanted, rows)
    return readable(found, ratio)


def _targets(
    question: Question, error: Errors, like: Additive, *, at: Desk, size: Sizes, rows: int | None
) -> dict[str, float]:
    """The errors that are wanted, in the units of their columns."""
    arguments.mapping(error, name="error", example='{"n": 100}')
    arguments.mapping(size, name="size", example='{"n": 20000}')
    plan = question.plan(like)
    for part in plan.parts if isinstance(plan, BatchPlan) else (plan,):
        if isinstance(part, AggregatePlan):
            refuse_uncertain(part)
    columns = list(expected(question, plan, rows=rows))
    for name in (*error, *size):
        if name not in columns:
            raise unknown_name(name, columns, lacks="The answer has no column")
    if not error:
        raise QuestionError(
            wanted="the error of at least one column",
            given="none",
            do=f"Name a column with its error, such as --error {columns[0]}=100.",
        )
    earlier: list[Mapping[str, float]] = []

    def size_of(name: str) -> Fraction:
        if name in size:
            return _positive(size[name], f"the size of {name}")
        if not earlier:
            earlier.append(released_sizes(plan.text, at))
        if name not in earlier[0]:
            raise QuestionError(
                given=f"The error of {name} is a share of its size, which is not known.",
                do=f"Give its public size, such as --size {name}=20000 (in Python, size), or ask the question once: "
                "after that, the sizes in its kept answer are used.",
            )
        return exact(earlier[0][name])

    return {name: float(_target(name, wanted, size_of)) for name, wanted in error.items()}


def _target(name: str, wanted: Number | str, size_of: Callable[[str], Fraction]) -> Fraction:
    """An error in the unit of its column."""
    if isinstance(wanted, str) and wanted.strip().endswith("%"):
        share = _positive(_number(wanted.strip().removesuffix("%")), f"the error of {name}")
        return share / 100 * size_of(name)
    return _positive(_number(wanted) if isinstance(wanted, str) else wanted, f"the error of {name}")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _positive(given: object, what: str) -> Fraction:
    found = finite(given)
    if found is None or found <= 0:
        raise QuestionError(
            wanted=f"a number above 0 for {what}", given=repr(given), do='Write for example 500, or "1%".'
        )
    return found


def released_sizes(text: str, at: Desk) -> dict[str, float]:
    """The sizes of the columns in the newest kept answer to the same question: medians over its rows.

    These numbers were released, so choosing a price by them costs nothing.
    """
    for entry in at.ledger.asked(at.account, question=text):
        try:
            released, receipt = shelf.taken(at.ledger, entry.number)
        except FileError:  # not kept, or changed since
            continue
        if isinstance(released, Release) and receipt.private and (found := _sizes(released)):
            return found
    return {}


def _sizes(release: Release) -> dict[str, float]:
    found = {}
    for column in release.plan.columns:
        values = [abs(float(value)) for value in release.values(column) if value is not None]
        if values and statistics.median(values) > 0:
            found[column.name] = statistics.median(values)
    return found


def _never(question: Question, like: Additive, wanted: Mapping[str, float], rows: int | None) -> QuestionError:
    """Why no price is enough."""
    most = with_amount(like, CEILING)
    plan: Any = question.plan(most)
    errors = expected(question, plan, rows=rows)
    name = max(wanted, key=lambda each: errors[each] / wanted[each])
    by_rows = isinstance(plan, AggregatePlan) and any(
        column.name == name and column.depends_on_rows for column in plan.columns
    )
    if by_rows and rows is None:
        return QuestionError(
            given=f"The error of {name} depends on the number of rows: no price alone brings it to {wanted[name]:g}.",
            do="Say for how many rows in a group it is wanted, such as rows=1000 (--rows 1000).",
        )
    return QuestionError(
        given=f"No price brings the error of {name} to {wanted[name]:g}: even at {write(most)}, which protects nobody, "
        f"it is {errors[name]:.3g}.",
        do="Allow a larger error, or use narrower bounds or smaller caps.",
    )
