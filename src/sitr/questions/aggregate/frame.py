"""Questions in Python calls: the arguments of `group_by(…).agg(…)` and `where(…)`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np

from sitr.dataset.literals import shown
from sitr.errors import InvalidUse, QuestionError
from sitr.questions.aggregate.nodes import And, Compare, Comparison, IsNull, Like, Not, OneOf, Or, Predicate
from sitr.questions.aggregate.spelling import Value


def column(name: str) -> ColumnName:
    """A column to compare: `column("days") > 3`.

    >>> ((column("days") > 3) & ~column("ward").is_null()).predicate
    And(parts=(Compare(column='days', comparison=<Comparison.GREATER: '>'>, value=3), Not(part=IsNull(column='ward'))))
    """
    return ColumnName(name)


@dataclass(frozen=True, slots=True)
class Condition:
    """A predicate that can be joined with & and |, and negated with ~."""

    predicate: Predicate

    def __and__(self, other: Condition) -> Condition:
        return Condition(And((self.predicate, other.predicate)))

    def __or__(self, other: Condition) -> Condition:
        return Condition(Or((self.predicate, other.predicate)))

    def __invert__(self) -> Condition:
        return Condition(Not(self.predicate))

    def __bool__(self) -> bool:
        raise InvalidUse(
            given="Conditions are joined with &, | and ~, not with `and`, `or`, `not` or a chain of comparisons.",
            do="Write (a > 1) & (b < 2).",
        )


@dataclass(frozen=True, slots=True, eq=False)
class ColumnName:
    """The name of a column; its comparisons make conditions."""

    name: str

    __hash__ = None  # type: ignore[assignment]  # == makes a condition, so it cannot compare the keys of a dict

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compare(Comparison.EQUAL, value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compare(Comparison.UNEQUAL, value)

    def __lt__(self, value: Value) -> Condition:
        return self._compare(Comparison.LESS, value)

    def __le__(self, value: Value) -> Condition:
        return self._compare(Comparison.AT_MOST, value)

    def __gt__(self, value: Value) -> Condition:
        return self._compare(Comparison.GREATER, value)

    def __ge__(self, value: Value) -> Condition:
        return self._compare(Comparison.AT_LEAST, value)

    def between(self, low: Value, high: Value) -> Condition:
        """`low ≤ column ≤ high`."""
        return (self >= low) & (self <= high)

    def is_in(self, values: Iterable[Value]) -> Condition:
        """The column is one of these."""
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise QuestionError(
                wanted="a list of values",  # not a text, whose letters would be the values
                given=shown(values),
                do="Write is_in([…]), even for one value.",
            )
        return Condition(OneOf(self.name, tuple(map(_plain, values))))

    def like(self, pattern: str) -> Condition:
        """The text matches a pattern with % and _."""
        return Condition(Like(self.name, pattern))

    def is_null(self) -> Condition:
        """The column has no value."""
        return Condition(IsNull(self.name))

    def _compare(self, comparison: Comparison, value: object) -> Condition:
        return Condition(Compare(self.name, comparison, _plain(value)))


def _plain(value: object) -> Value:
    """A NumPy scalar as a plain Python value. Its type is checked later, where the column is known."""
    return cast("Value", value.item() if isinstance(value, np.generic) else value)
