"""The description of an aggregate function: how it is written, what it measures and how it is shown.

A new function is one file beside this one and one line in `registry`. What it measures is mostly a sum of bounded
integers (`Term`) or another `Quantity`, so that sensitivities, noise and prices follow without further code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, Self

from sitr.dataset.schema import Kind
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.view import View


class Aggregate(Protocol):
    """A call of an aggregate function, as a frozen value: the same whether it was written in SQL or in Python."""

    function: ClassVar[str]
    """Its name in SQL."""

    forms: ClassVar[tuple[str, ...]]
    """How it can be written, for messages."""

    @classmethod
    def read(cls, arguments: Arguments, /) -> Self | None:
        """The call with these arguments; None if it cannot have them."""

    def sql(self) -> str:
        """The call in one spelling, which `read` reads back."""

    def name(self) -> str:
        """The name of the column if the question gives none."""

    def bound(self, view: View, /) -> BoundAggregate:
        """The call checked against what can be named; an error if that cannot answer it."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call in SQL."""

    expressions: tuple[Expression, ...] = ()
    star: bool = False
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and an interval around it."""

    value: Fraction
    low: Fraction
    high: Fraction

    @property
    def error(self) -> Fraction:
        """The largest distance from the number to an end."""
        return max(self.value - self.low, self.high - self.value)


class Formula(Protocol):
    """How a column follows from what is measured. It sees noisy numbers only, so it costs nothing.

    Its functions are called after the charge and must not fail for any noisy numbers.
    """

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        """The number to show. Its interval contains the exact number whenever all of these intervals contain theirs."""

    def error(self, errors: Sequence[Fraction], /) -> Fraction:
        """The error to expect before any row is read: `show` never has a larger one at these errors."""


@dataclass(frozen=True, slots=True)
class Same:
    """The measured number itself."""

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        (number,) = measured
        return number

    def error(self, errors: Sequence[Fraction], /) -> Fraction:
        (error,) = errors
        return error


@dataclass(frozen=True, slots=True)
class BoundAggregate:
    """An aggregate of a described table.

    `aggregate` has the names of the description; `whole` says that the column holds whole numbers; `step` is the
    distance between the numbers that it can show, if there is one. `kind` is the type of a column of dates or times,
    whose numbers are days or seconds since 1970. `ranked` says that it shows a
    quantile, whose error is in ranks. An aggregate with several columns has them as `parts`, with what is
    added to its name for each; it is shown as these columns, in this order.
    """

    aggregate: Aggregate
    terms: tuple[Quantity, ...]
    formula: Formula = Same()
    whole: bool = False
    step: Fraction | None = None
    kind: Kind | None = None
    ranked: bool = False
    parts: tuple[tuple[str, BoundAggregate], ...] = ()
