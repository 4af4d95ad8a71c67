"""A mechanism on the numbers of one column, as a question. Its price is what the mechanism promises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.dataset.schema import NUMERIC, Table
from sitr.errors import QuestionError
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.random_noise import RandomNoise
from sitr.mechanisms.sample_and_aggregate import SampleAndAggregate
from sitr.mechanisms.smooth import SmoothNoise
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import Coins
from sitr.numbers import Number, exact, upward
from sitr.plans.plan import Measurement, Plan
from sitr.questions.statistic.numbers import Numbers
from sitr.sensitivity.proposed import Proposed
from sitr.sensitivity.smoothed import Smooth


@runtime_checkable
class Releasing(Protocol):
    """A mechanism that turns the values of all people into an answer, with noise that a rule fits to them."""

    @property
    def sensitivity(self) -> object:
        """The rule: how far one person moves the answer, learned from the values or from a population."""

    @property
    def relation(self) -> Relation:
        """The neighbours that it protects."""

    def promise(self) -> Promise:
        """The promise to one row."""

    def release(self, values: Any, /, *, coins: Coins | None = None) -> Any:
        """The answer with its noise."""


@dataclass(frozen=True, slots=True)
class StatisticPlan(Plan):
    """One measurement for each mechanism, which itself finds out how far one person moves its answer."""

    reading: Numbers

    @property
    def made_by(self) -> str:
        """The mechanism as it is written in code."""
        one = len(self.measurements) == 1
        return repr(self.measurements[0].mechanism if one else self.mechanism)

    def loss(self) -> None:
        """None: the law of the noise depends on the data, and only the promise holds for all of them."""

    def infinite_mass(self) -> float:
        """All of δ, unless the mechanism is known to spend it on losses that are finite but larger than ε."""
        parts = (each.mechanism for each in self.measurements)
        masses = (
            _delta(part.promise())
            for part in parts
            if not isinstance(part, SmoothNoise | RandomNoise | SampleAndAggregate)
        )
        return upward(min(Fraction(1), sum(masses, Fraction(0))))


def _delta(promise: Promise) -> Fraction:
    return exact(getattr(promise.inner if isinstance(promise, RandomDP) else promise, "delta", 0))


@dataclass(frozen=True, slots=True)
class StatisticRelease:
    """What each mechanism released: a number, or None where it refused an answer."""

    plan: StatisticPlan
    values: tuple[Any, ...]

    @property
    def value(self) -> Any:
        """The value; the values of all parts if there are several."""
        return self.values[0] if len(self.values) == 1 else self.values

    def possible(self) -> bool:
        """Whether this plan could have released these numbers. A release read from a file is checked with it."""
        numbers = all(value is None or (_number(value) and math.isfinite(value)) for value in self.values)
        return numbers and len(self.values) == len(self.plan.measurements)

    def table(self) -> pa.Table:
        """One row for each mechanism; no answer is null."""
        return pa.table(
            {
                "part": pa.array(range(1, len(self.values) + 1), pa.int64()),
                "mechanism": pa.array([type(each.mechanism).__name__ for each in self.plan.measurements], pa.string()),
                "value": pa.array(self._floats(), pa.float64()),
            }
        )

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `value_low` and `value_high`; refused where the error depends on the data."""
        errors, table = errors_of(self.plan, confidence=confidence).values(), self.table()
        for end, sign in (("low", -1), ("high", 1)):
            pairs = zip(self._floats(), errors, strict=True)
            ends = [None if value is None else value + sign * error for value, error in pairs]
            table = table.append_column(f"value_{end}", pa.array(ends, pa.float64()))
        return table

    def _floats(self) -> list[float | None]:
        if not all(value is None or _number(value) for value in self.values):
            raise QuestionError(
                given="The mechanism released something other than a number, which is not shown in a table.",
                do="Use .value.",
            )
        return [None if value is None else float(value) for value in self.values]


def _number(value: object) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


def errors_of(plan: StatisticPlan, *, confidence: Number = 0.95) -> dict[str, float]:
    """The error of each mechanism; refused if the error of one depends on the data."""
    found = {}
    for measured in plan.measurements:
        try:
            found[measured.name] = measured.error(confidence=confidence)
        except TypeError:  # it needs the values
            raise QuestionError(
                given=f"The error of {type(measured.mechanism).__name__} depends on the data, and is as secret as they "
                "are.",
                do="Compare the ways to release this statistic on made-up data with `sitr sensitivity`.",
            ) from None
    return found


@dataclass(frozen=True, slots=True)
class StatisticQuestion:
    """Mechanisms, fixed in advance, and the column that they see."""

    mechanisms: tuple[Releasing, ...]
    reads: Numbers

    def text(self) -> str:
        """The column, and the mechanism as it is written in code."""
        return self._planned(self.promise()).text

    def promise(self) -> Kept:
        """The sum of the promises: what the answer costs."""
        return cast("Kept", Composed(cast("tuple[Mechanism, ...]", self.mechanisms)).promise())

    def plan(self, price: Promise, /) -> StatisticPlan:
        """The mechanisms, unchanged, if the price covers their promise; only this promise is charged."""
        cost = self.promise()
        if not cost.covers(price):
            raise QuestionError(
                wanted=f"a price that pays for what the mechanism promises, {cost!r}",
                given=f"{price!r}",
                do="Pay what it promises, or fit the mechanism to a smaller price.",
            )
        return self._planned(cost)

    def _planned(self, price: Kept) -> StatisticPlan:
        many = len(self.mechanisms) > 1
        names = [f"value {place}" if many else "value" for place in range(1, len(self.mechanisms) + 1)]
        parts = zip(names, cast("tuple[Mechanism, ...]", self.mechanisms), strict=True)
        measured = tuple(Measurement(name, part) for name, part in parts)
        made_by = StatisticPlan(measured, price, "", self.reads).made_by
        return StatisticPlan(measured, price, f"{self.reads.column}: {made_by}", self.reads)

    def reading(self) -> Numbers:
        return self.reads

    def answer(self, plan: StatisticPlan, exact: NDArray[np.float64], /, *, coins: Coins) -> StatisticRelease:
        return StatisticRelease(plan, tuple(part.release(exact, coins=coins) for part in self.mechanisms))

    def errors(self, plan: StatisticPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        return errors_of(plan, confidence=confidence)


def statistic_question(table: Table, mechanism: object, *, column: str, missing: Number = 0) -> StatisticQuestion:
    """The question, after everything that is public about it has been checked, except the number of rows."""
    mechanisms = _parts(mechanism)
    if not isinstance(table.unit, Row) or table.relation is not Relation.REPLACE_ONE:
        raise QuestionError(
            wanted="a data set in which each row is a person and neighbours replace one row",
            given=f"{table.name}, which protects each {table.neighbors()}",
            do="Protect it with unit=sitr.Row() and relation=sitr.Relation.REPLACE_ONE if each row is a different "
            "person.",
        )
    return StatisticQuestion(mechanisms, Numbers(_numeric(table, column), _finite(missing)))


def check_size(question: StatisticQuestion, size: int) -> None:
    """Refuse mechanisms for another number of rows. The number is public here, so a message may contain it."""
    for part in question.mechanisms:
        fitted = getattr(part.sensitivity, "size", size)
        if fitted != size:
            raise QuestionError(
                wanted=f"a mechanism that is fitted to {size} rows, the public number of rows here",
                given=f"{part!r}, which is fitted to {fitted}",
                do=f"Make its rule with size={size}.",
            )
        if isinstance(part, SampleAndAggregate):
            part.check(size)
        elif isinstance(rule := part.sensitivity, Smooth | Proposed):
            rule.check(size)


def _parts(mechanism: object) -> tuple[Releasing, ...]:
    """The mechanisms that see the values: one, or those of a composition.

    Noise for sums and counts is refused: it would be added to each person's value by itself.
    """
    given = mechanism.parts if isinstance(mechanism, Composed) else (mechanism,)
    parts = tuple(part for part in given if isinstance(part, Releasing) and part.relation is Relation.REPLACE_ONE)
    if len(parts) < len(given):
        raise QuestionError(
            wanted="a mechanism that fits its noise to the values of all people, one of whom is replaced, or a "
            "Composed of such mechanisms",
            given=f"{mechanism!r}",
            do="Use for example RandomNoise or SmoothNoise; sums and counts are asked for in SQL.",
        )
    return parts


def _numeric(table: Table, column: str) -> str:
    found = table.column(column)
    if found.kind not in NUMERIC:
        raise QuestionError(
            given=f"The mechanism needs a column of numbers, but {found.name!r} has type {found.kind.value}.",
            do="Choose a column of type integer or real.",
        )
    return found.name


def _finite(missing: Number) -> float:
    if not _number(missing) or not math.isfinite(missing):
        raise QuestionError(
            wanted="as missing, the number that rows without one count as",
            given=f"{missing!r}",
            do="Write a number within the bounds of the mechanism, chosen without looking at the data.",
        )
    return float(missing)
