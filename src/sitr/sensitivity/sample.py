"""One number for each person, as whole numbers of granules between public bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.errors import DescriptionError
from sitr.numbers import Number, exact, finite, granule, power_of_two

Granules = NDArray[np.int64]
"""Numbers of granules."""

FARTHEST = 2**52
"""No bound is more granules than this from zero: floats hold these numbers, and their halves, exactly."""

FINE = 2**20
"""Between the bounds lie this many granules, or up to twice as many, if no granularity is chosen."""


@dataclass(frozen=True, slots=True)
class Quantiser:
    """Clamps values to public bounds and rounds them to multiples of a public granularity, called granules.

    `low` and `high` are the bounds, counted in granules.

    >>> Quantiser.of((0, 200))
    Quantiser(low=0, high=1638400, granularity=Fraction(1, 8192))
    >>> Quantiser.of((-1, 0.5), granularity=0.1).granules([0.26, -7, float("inf"), 0.25]).tolist()
    [-10, 3, 3, 5]
    """

    low: int
    high: int
    granularity: Fraction

    def __post_init__(self) -> None:
        # Granules well within the range of floats: the quotients of `_rounded` neither overflow nor vanish.
        usual = Fraction(1, 2**900) <= self.granularity <= 2**900
        if not (-FARTHEST <= self.low < self.high <= FARTHEST and usual):
            raise DescriptionError(
                wanted="bounds of at most 2^52 granules, the lower one below the upper one",
                given=f"low={self.low}, high={self.high} in granules of {self.granularity}",
                do="Choose other bounds, or a larger granularity.",
            )

    @classmethod
    def of(cls, bounds: tuple[Number, Number], *, granularity: Number | None = None) -> Quantiser:
        """Between these bounds, which are multiples of the granularity.

        Unless it is chosen, it is the largest power of two that is at most (high − low)/2^20.

        >>> Quantiser.of((0, 1.5), granularity=1)
        Traceback (most recent call last):
        sitr.errors.DescriptionError: Expected bounds that are multiples of the granularity 1, got (0, 1.5). Choose...
        """
        low, high = _two(bounds)
        fine = power_of_two((exact(high) - exact(low)) / FINE)
        grain = fine if granularity is None else granule(granularity, of="a grid")
        ends = [read(end, granularity=grain) / grain for end in (low, high)]
        if any(end.denominator != 1 for end in ends):
            raise DescriptionError(
                wanted=f"bounds that are multiples of the granularity {grain}",
                given=repr(bounds),
                do="Choose other bounds, or a granularity that divides them, for example 0.01.",
            )
        return cls(ends[0].numerator, ends[1].numerator, grain)

    @property
    def width(self) -> int:
        """How many granules the bounds are apart."""
        return self.high - self.low

    def granules(self, values: Any) -> Granules:
        """The values as numbers of granules, clamped to the bounds, in growing order."""
        return np.sort(self.in_order(values))

    def in_order(self, values: Any) -> Granules:
        """The same in the order of the values.

        x becomes ⌊x/g + ½⌋: the rounding of one value never depends on another. A float stands for its binary value
        if g is a binary fraction, and otherwise for the decimal that it prints as.

        >>> Quantiser(low=0, high=10, granularity=Fraction(1, 2)).in_order([4, 0.75, 0.7, 9]).tolist()
        [8, 2, 1, 10]
        """
        array = _numbers(values)
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise _not_numbers("NaN among the values")
        if array.dtype.kind == "i":
            array = self._small(array)
        if array.dtype.kind == "O":
            return np.array([self._one(number) for number in array.tolist()], dtype=np.int64)
        return self._rounded(array)

    def _one(self, number: Any) -> int:
        if isinstance(number, float) and math.isinf(number):
            return self.high if number > 0 else self.low
        if not isinstance(number, Rational | float) or math.isnan(number):
            raise _not_numbers("something else among the values")
        granules = math.floor(read(number, granularity=self.granularity) / self.granularity + Fraction(1, 2))
        return min(max(granules, self.low), self.high)

    def _small(self, array: NDArray[Any]) -> NDArray[Any]:
        """Integers as floats if all of them have one after clamping, otherwise as Python integers."""
        low, high = math.floor(self.low * self.granularity), math.ceil(self.high * self.granularity)
        if low < -(2**53) or high > 2**53:
            return array.astype(np.object_)
        return array.clip(low, high).astype(np.float64)

    def _rounded(self, array: NDArray[np.float64]) -> Granules:
        """In floats where they are proved to be right, and in fractions elsewhere.

        Multiplying by a power of two is exact; so is y − ⌊y⌋, or it is above ½ and stays there. Otherwise y = x/g is
        off by at most 2^−50·|y|: the reading of x, g and the quotient are each rounded once. Values nearer than that to
        a half are computed again in fractions. Clamping may come first, because the bounds are multiples of g.
        """
        grain = self.granularity
        with np.errstate(over="ignore", under="ignore"):
            if is_power := power_of_two(grain) == grain:
                counts = np.ldexp(array, grain.denominator.bit_length() - grain.numerator.bit_length())
            else:
                counts = array / float(grain)
        counts = counts.clip(self.low, self.high)
        whole = np.floor(counts)
        rest = counts - whole
        found: Granules = (whole + (rest >= 0.5)).astype(np.int64)
        if not is_power:
            close = np.flatnonzero(np.abs(rest - 0.5) <= 2.0**-49 * (np.abs(counts) + 1))
            again, where = np.unique(array[close], return_inverse=True)
            found[close] = np.array([self._one(number) for number in again.tolist()], dtype=np.int64)[where]
        return found


def read(number: Number | Rational, *, granularity: Fraction) -> Fraction:
    """The exact number. If the granule is a decimal, a float stands for a decimal too.

    >>> read(0.5, granularity=Fraction(1)), read(0.1, granularity=Fraction(1, 100))
    (Fraction(1, 2), Fraction(1, 10))
    """
    if isinstance(number, float) and granularity.denominator.bit_count() == 1:
        return Fraction(number)
    return exact(number)


def _numbers(values: Any) -> NDArray[Any]:
    """A row of 64-bit floats, 64-bit integers or Python numbers, at least one, all with their values unchanged."""
    if isinstance(values, np.ma.MaskedArray):
        raise _not_numbers("an array with masked places")
    if hasattr(values, "__array__"):
        array = np.asarray(values)
    elif isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise _not_numbers("something else")
    else:
        array = _listed(list(values))
    if array.ndim != 1 or array.dtype.kind not in "fiubO":
        raise _not_numbers("something else")
    if array.size == 0:
        raise DescriptionError(wanted="at least one value", given="none", do="Use data that are not empty.")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:
        return array.astype(np.object_)
    return array.astype({"f": np.float64, "O": np.object_}.get(array.dtype.kind, np.int64), copy=False)


def _listed(values: list[Any]) -> NDArray[Any]:
    """An array that changes no value: numpy's common type would change large integers beside a float."""
    kinds = set(map(type, values))
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    if kinds == {int} and max(map(abs, values)) < 2**63:
        return np.array(values, dtype=np.int64)
    array = np.empty(len(values), dtype=np.object_)
    array[:] = [value.item() if isinstance(value, np.generic) else value for value in values]
    return array


def _two(bounds: tuple[Number, Number]) -> tuple[Number, Number]:
    ends = bounds if isinstance(bounds, Sequence) and len(bounds) == 2 else (math.nan, math.nan)
    low, high = ends
    if finite(low) is None or finite(high) is None or low >= high:
        raise DescriptionError(
            wanted="two finite bounds, the lower one first",
            given=repr(bounds),
            do="Choose bounds without looking at the data, for example (0, 200).",
        )
    return low, high


def _not_numbers(given: str) -> DescriptionError:
    """The message does not say which value is wrong, or how many are."""
    return DescriptionError(
        wanted="one number for each person",
        given=given,
        do="Decide beforehand what replaces missing values; infinite values become the bounds.",
    )
