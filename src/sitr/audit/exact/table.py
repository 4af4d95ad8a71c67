"""A finite mechanism as a matrix: the probability of every outcome for every input."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.errors import InvalidParameter, quoted
from sitr.namespace import Later
from sitr.numbers import Number, exact, within

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Rows = NDArray[np.intp]
    Flags = NDArray[np.bool_]
else:
    np = Later("numpy")
    Matrix = Rows = Flags = object

Name = str | tuple[str, ...]
"""The name of an input. A tuple names a data set by its records."""

ROUNDING = 1e-12
"""How much floats that do not add up to 1 may be wrong, relative to themselves, unless somebody says otherwise."""

WORST = Fraction(1, 1000)
"""The most that anybody may say that floats are wrong, relative to themselves."""

SMALLEST = 1e-290
"""Smaller probabilities are refused: floats are relatively accurate only above the smallest normal one."""

_DECIMALS = Context(prec=1500, traps=[Inexact, InvalidOperation])
"""All floats in decimals, and sums of a billion of them, have fewer digits."""

_UP = Context(prec=1, rounding=ROUND_CEILING)
"""One digit that is large enough."""


@dataclass(frozen=True, slots=True)
class Row:
    """Probabilities of one input as whole numbers over one denominator, exactly."""

    numerators: tuple[int, ...]
    denominator: int

    @classmethod
    def of(cls, values: Iterable[Fraction]) -> Row:
        """The least common denominator."""
        values = tuple(values)
        denominator = math.lcm(*(value.denominator for value in values))
        return cls(tuple(value.numerator * (denominator // value.denominator) for value in values), denominator)

    def fractions(self) -> tuple[Fraction, ...]:
        """The probabilities."""
        return tuple(Fraction(one, self.denominator) for one in self.numerators)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """P(outcome | input): one row for each input.

    `values` are floats within a relative error of `rounding` of the true probabilities; a zero is exactly zero. `rows`
    are the exact probabilities, if they are known.
    """

    inputs: tuple[Name, ...]
    outcomes: tuple[str, ...]
    values: Matrix
    rounding: float
    rows: tuple[Row, ...] | None = None

    @classmethod
    def of(
        cls,
        values: object,
        /,
        *,
        inputs: Iterable[Name] | None = None,
        outcomes: Iterable[object] | None = None,
        rounding: Number = ROUNDING,
    ) -> Table:
        """A table from rows of numbers: nested sequences, or an array.

        A float stands for the decimal that it prints as. If the decimals of every row add up to exactly 1, the table is
        exact. Otherwise each number may be wrong by `rounding`, relative to itself, and rows must add up to 1 within
        that. Fractions must add up to exactly 1.

        >>> table = Table.of([[0.75, 0.25], [0.25, 0.75]], inputs=["yes", "no"])
        >>> table.inputs, table.outcomes, table.rows[0].fractions()
        (('yes', 'no'), ('1', '2'), (Fraction(3, 4), Fraction(1, 4)))
        >>> Table.of([[0.5, 0.6], [0.5, 0.5]])
        Traceback (most recent call last):
        sitr.errors.InvalidParameter: Expected probabilities that add up to 1 for the input 1, got a sum of 1.1. ...
        """
        array = _array(values)
        numbers = _numbers(values) if array is None else array
        named = _names(inputs, len(numbers), what="input")
        called = tuple(map(str, _names(outcomes, len(numbers[0]), what="outcome")))
        wrong = float(within(rounding, name="rounding", of="a table", most=WORST))
        rows = _exactly(numbers)
        if rows is not None:
            floats = np.array([[one / row.denominator for one in row.numerators] for row in rows])
            zeros = np.array([[one == 0 for one in row.numerators] for row in rows])
            return cls(named, called, usable(floats, zeros), 2.0**-53, rows)
        floats = np.array(numbers, dtype=np.float64)
        for name, given, row in zip(named, numbers, floats.tolist(), strict=True):
            _check_sum(name, row, 0.0 if all(isinstance(one, Fraction | int) for one in given) else wrong)
        return cls(named, called, usable(floats, floats == 0.0), max(wrong, 2.0**-52))

    def place(self, name: object, /) -> int:
        """The row of an input by its name.

        >>> Table.of([[1], [1]], inputs=["a", "b"]).place("b")
        1
        """
        wanted = tuple(map(str, name)) if isinstance(name, tuple | list) else name
        if wanted in self.inputs:
            return self.inputs.index(wanted)
        raise InvalidParameter(
            wanted="the name of an input of the table", given=quoted(name), do="Name one of its rows as the table does."
        )

    def exact_row(self, place: int, /) -> tuple[Fraction, ...]:
        """The probabilities of one input as fractions; the floats as they are if the table is not exact."""
        if self.rows is not None:
            return self.rows[place].fractions()
        return tuple(map(Fraction, self.values[place].tolist()))


def _array(values: object) -> Matrix | None:
    """An array of floats that are probabilities; None for anything else, which is looked at number by number."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.ndim != 2 or not values.size:
        return None
    return values if bool(np.all((values >= 0.0) & (values <= 1.0))) else None


def _numbers(values: object) -> list[list[Number]]:
    """Rows of equal length, at least one of each."""
    whole: Any = values.tolist() if hasattr(values, "tolist") else values
    try:
        rows = [[_number(one) for one in row] for row in whole]
    except TypeError:
        rows = []
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise InvalidParameter(
            wanted="rows of numbers of equal length, one row for each input",
            given=quoted(values if not rows else f"rows of {sorted({len(row) for row in rows})} numbers"),
            do="Write for example [[0.75, 0.25], [0.25, 0.75]].",
        )
    return rows


def _number(one: object) -> Number:
    if isinstance(one, float | Fraction) or (isinstance(one, int) and not isinstance(one, bool)):
        number: Number = one
    elif isinstance(one, str):
        number = _written(one)
    elif isinstance(one, Decimal):
        number = Fraction(one) if one.is_finite() else math.nan
    else:
        raise TypeError
    if not 0 <= number <= 1:
        raise InvalidParameter(
            wanted="probabilities from 0 to 1 in a table", given=_plain(one), do="Correct that number."
        )
    return number


def _plain(one: object) -> str:
    """A number as somebody writes it: 3/2 for a fraction."""
    if not isinstance(one, Fraction):
        return quoted(one)
    return quoted(one.numerator) if one.denominator == 1 else f"{quoted(one.numerator)}/{quoted(one.denominator)}"


def _written(text: str) -> Number:
    """A decimal or a fraction such as 1/3, as it is written."""
    try:
        top, slash, bottom = text.strip().partition("/")
        return Fraction(top) / Fraction(bottom) if slash else Fraction(top)
    except (ValueError, ZeroDivisionError):
        raise InvalidParameter(
            wanted="probabilities such as 0.25 or 1/3 in a table", given=quoted(text), do="Correct that number."
        ) from None


def _names(given: Iterable[object] | None, count: int, *, what: str) -> tuple[Name, ...]:
    if given is None:
        return tuple(str(place) for place in range(1, count + 1))
    names = tuple(tuple(map(str, one)) if isinstance(one, tuple | list) else str(one) for one in given)
    if len(names) != count or len(set(names)) != count:
        raise InvalidParameter(
            wanted=f"{count} different names, one for each {what}",
            given=f"{len(names)} names, {len(set(names))} of them different",
            do=f"Name each {what} once.",
        )
    return names


def _exactly(numbers: Sequence[Sequence[Number]] | Matrix) -> tuple[Row, ...] | None:
    """The rows as fractions, if the decimals of each of them add up to exactly 1."""
    for given in numbers:
        row = given.tolist() if isinstance(given, np.ndarray) else given
        if all(isinstance(one, float) for one in row):
            total = Decimal(0)
            for one in row:
                total = _DECIMALS.add(total, Decimal(repr(one)))
            if total != 1:
                return None
        elif sum(map(exact, row)) != 1:
            return None
    return tuple(Row.of(map(exact, row)) for row in numbers)


def _check_sum(name: Name, row: Sequence[float], wrong: float) -> None:
    total = math.fsum(row)
    off = abs(total - 1)
    if off > wrong * total:
        least = f"{_UP.create_decimal_from_float(off / total * 1.001):g}"
        raise InvalidParameter(
            wanted=f"probabilities that add up to 1 for the input {shown(name)}",
            given=f"a sum of {total:.15g}",
            do=f"Correct them, or state how much each may be wrong: --rounding {least} (in Python: rounding={least})."
            if wrong and Fraction(least) <= WORST
            else "Correct them.",
        )


def usable(values: Matrix, zeros: object) -> Matrix:
    """The same floats, if those that should be above 0 are not too small to be accurate."""
    if np.any((values < SMALLEST) & ~np.asarray(zeros)):
        raise InvalidParameter(
            wanted=f"probabilities of 0 or at least {SMALLEST:g}",
            given="smaller ones",
            do="Merge those outcomes with others, or compute the table without them.",
        )
    values.setflags(write=False)
    return values


def shown(name: Name) -> str:
    """The name of an input in a text.

    >>> shown("yes"), shown(("0", "1"))
    ('yes', '(0, 1)')
    """
    return f"({', '.join(name)})" if isinstance(name, tuple) else name
