"""The description of an aggregate function: how it is written, what it measures and how it is shown.

A new function is one file beside this one and one line in `registry`. What it measures is mostly a sum of bounded
integers (`Term`) or another `Quantity`, so that sensitivities, noise and prices follow without further code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Protocol, Self, TypeAlias, runtime_checkable

from sitr.dataclass import dataclass
from sitr.dataset.schema import Kind
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.view import View

End: TypeAlias = Fraction | float
"""The end of an interval; a float is infinite."""


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
    """A number and an interval around it. Without a number there is none to show, as after a division by 0."""

    value: Fraction | None
    low: End
    high: End

    @property
    def error(self) -> End:
        """The largest distance from the number to an end."""
        if self.value is None or not self.bounded:
            return math.inf
        return max(self.value - self.low, self.high - self.value)

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return isinstance(self.low, Fraction) and isinstance(self.high, Fraction)

    @property
    def limited(self) -> bool:
        """Whether there is a number, and its error is finite."""
        return self.value is not None and self.bounded


class Formula(Protocol):
    """How a column follows from what is measured. It sees noisy numbers only, so it costs nothing.

    Its functions are called after the charge and must not fail for any noisy numbers.
    """

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        """The number to show. Its interval contains the exact number whenever all of these intervals contain theirs."""

    def error(self, errors: Sequence[Fraction], /) -> Fraction:
        """The error to expect before any row is read: `show` never has a larger one at these errors."""


@runtime_checkable
class JointFormula(Protocol):
    """A formula that knows the laws of all noises together. Its intervals are narrower than those of a `Formula`,
    which must give each measurement an interval of its own.
    """

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        """The number to show. Its interval contains the exact number with probability 1 − `noise.missed`."""

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:
        """`show_jointly` never has a larger error.

        With `rows`, this holds where the noisy count is at least `rows` and noisy sums are possible for that count.
        The count is the one that the formula divides by; where it has none, `rows` changes nothing.
        """


AnyFormula: TypeAlias = Formula | JointFormula


@dataclass(frozen=True, slots=True)
class Same:
    """The measured number itself."""

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        (number,) = measured
        return number

    def error(self, errors: Sequence[Fraction], /) -> Fraction:
        (error,) = errors
        return error


def show(formula: AnyFormula, numbers: Sequence[Fraction], noise: Joint) -> Estimate:
    """What a formula shows of these noisy numbers.

    A `Formula` gets an interval for each of its m numbers, each with an mth of the probability of a miss, so that all
    of them hold together by the union bound.
    """
    if isinstance(formula, JointFormula):
        return formula.show_jointly(numbers, noise)
    ends = noise.ends(numbers)
    return formula.show([Estimate(n, low, high) for n, (low, high) in zip(numbers, ends, strict=True)])


def largest_error(formula: AnyFormula, noise: Joint, *, rows: int | None = None) -> End:
    """The largest error that a formula can show, wherever its count is at least `rows`."""
    if isinstance(formula, JointFormula):
        return formula.largest_error(noise, rows=rows)
    return formula.error(noise.each())


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
    formula: AnyFormula = Same()
    whole: bool = False
    step: Fraction | None = None
    kind: Kind | None = None
    ranked: bool = False
    end: bool = False
    """Whether it is an end of another column's interval, and has none itself."""
    parts: tuple[tuple[str, BoundAggregate], ...] = ()
