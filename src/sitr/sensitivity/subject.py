"""A statistic together with the public grid on which it is released."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sitr.errors import DescriptionError
from sitr.numbers import Number
from sitr.sensitivity.ranks import TrimmedMean
from sitr.sensitivity.sample import FARTHEST, Quantiser, granule, read
from sitr.sensitivity.statistic import Statistic

Rows = NDArray[Any]
"""One number, or one row of numbers, of each person."""


class Subject(Protocol):
    """What is released of a sample: a whole number of granules."""

    @property
    def granularity(self) -> Fraction:
        """The granule of the answer."""

    def sample(self, values: Any, /) -> Rows:
        """The values in their order, checked."""

    def centre(self, sample: Rows, /) -> int:
        """The statistic of such a sample, rounded to whole granules: ⌊x + ½⌋."""


@dataclass(frozen=True, slots=True)
class OnGrid:
    """A statistic that Sitr knows, of one number of each person, computed exactly.

    A mean of m numbers is counted in m-th parts of their granules: of many people it is known better than each number.
    """

    statistic: Statistic
    grid: Quantiser
    fineness: int = 1

    @property
    def granularity(self) -> Fraction:
        return self.grid.granularity**self.statistic.power / self.fineness

    def sample(self, values: Any, /) -> Rows:
        return self.grid.in_order(values)

    def centre(self, sample: Rows, /) -> int:
        return math.floor(self.statistic.value(np.sort(sample)) * self.fineness + Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Computed:
    """A function of an array, with one row for each person, that somebody else has written."""

    statistic: Callable[[Any], Any]
    granularity: Fraction

    def sample(self, values: Any, /) -> Rows:
        if isinstance(values, np.ma.MaskedArray):
            raise _unusable("An array with masked places was given.")
        rows = np.asarray(values)
        if rows.ndim < 1 or rows.dtype.kind not in "fiubO" or rows.size == 0:
            raise _unusable("Something else was given.")
        if (rows.dtype.kind == "f" and np.isnan(rows).any()) or (rows.dtype.kind == "O" and bool(np.any(rows != rows))):
            raise _unusable("NaN is among them.")
        return rows

    def centre(self, sample: Rows, /) -> int:
        found = self.statistic(sample)
        number = found.item() if isinstance(found, np.generic | np.ndarray) and np.ndim(found) == 0 else found
        if isinstance(number, bool) or not isinstance(number, Rational | Real) or not math.isfinite(number):
            raise DescriptionError(
                wanted="A statistic that is a finite number for every sample was wanted.",
                given="It was something else.",
                do="Let it give a number also where there is nothing to compute, for example 0.",
            )
        exact_number = number if isinstance(number, Rational) else float(number)
        return math.floor(read(exact_number, granularity=self.granularity) / self.granularity + Fraction(1, 2))


def subject(
    statistic: Statistic | Callable[[Any], Any],
    *,
    size: int,
    bounds: tuple[Number, Number] | None,
    granularity: Number | None,
) -> OnGrid | Computed:
    """A statistic of Sitr's wants bounds, or none and a granularity; any other function wants a granularity."""
    if isinstance(statistic, Statistic):
        fineness = 1
        if isinstance(statistic, TrimmedMean):
            left, right = statistic.ranks(size)
            fineness = right - left + 1
        if bounds is not None:
            return OnGrid(statistic, Quantiser.of(bounds, granularity=granularity), fineness)
        if granularity is not None:
            return OnGrid(statistic, Quantiser(-FARTHEST, FARTHEST, granule(granularity)), fineness)
    elif callable(statistic) and bounds is None and granularity is not None:
        return Computed(statistic, granule(granularity))
    raise DescriptionError(
        wanted="A statistic of Sitr's with bounds or a granularity, or a function with a granularity, was wanted.",
        given=f"{statistic!r}, bounds={bounds!r}, granularity={granularity!r} were given.",
        do="Choose as granularity the smallest difference that matters, for example 0.01. Functions take no bounds.",
    )


def whole(number: object, *, what: str) -> int:
    """A public number of people or the like, at least 1."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise DescriptionError(
            wanted=f"A public number of {what}, at least 1, was wanted.",
            given=f"{number!r} was given.",
            do="Count them with an integer.",
        )
    return number


def _unusable(given: str) -> DescriptionError:
    """Not which of the values, or how many."""
    return DescriptionError(
        wanted="A number, or a row of numbers, of each person was wanted.",
        given=given,
        do="Decide beforehand what stands for values that are missing.",
    )
