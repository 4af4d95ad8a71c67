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
from sitr.numbers import Number, granule
from sitr.sensitivity.ranks import TrimmedMean
from sitr.sensitivity.sample import FARTHEST, Quantiser, read
from sitr.sensitivity.statistic import Statistic

Rows = NDArray[Any]
"""One number, or one row of numbers, for each person."""


class Subject(Protocol):
    """A statistic of a sample, as a whole number of granules."""

    @property
    def granularity(self) -> Fraction:
        """The granule of the answer."""

    def sample(self, values: Any, /) -> Rows:
        """The values in their order, checked."""

    def centre(self, sample: Rows, /) -> int:
        """The statistic of such a sample, rounded to whole granules: ⌊x + ½⌋."""


@dataclass(frozen=True, slots=True)
class OnGrid:
    """A statistic of Sitr, of one number for each person, computed exactly.

    A mean of m numbers is counted in m-th parts of a granule, because it is more exact than each number.
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
    """A user's function of an array with one row for each person."""

    statistic: Callable[[Any], Any]
    granularity: Fraction

    def sample(self, values: Any, /) -> Rows:
        if isinstance(values, np.ma.MaskedArray):
            raise _unusable("an array with masked places")
        rows = np.asarray(values)
        if rows.ndim < 1 or rows.dtype.kind not in "fiubO" or rows.size == 0:
            raise _unusable("something else")
        if (rows.dtype.kind == "f" and np.isnan(rows).any()) or (rows.dtype.kind == "O" and bool(np.any(rows != rows))):
            raise _unusable("NaN among the values")
        return rows

    def centre(self, sample: Rows, /) -> int:
        found = self.statistic(sample)
        number = found.item() if isinstance(found, np.generic | np.ndarray) and np.ndim(found) == 0 else found
        if isinstance(number, bool) or not isinstance(number, Rational | Real) or not math.isfinite(number):
            raise DescriptionError(
                wanted="a statistic that is a finite number for every sample",
                given="something else",
                do="Return a number even where there is nothing to compute, for example 0.",
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
    """A statistic of Sitr needs bounds or a granularity; any other function needs a granularity and takes no bounds."""
    if isinstance(statistic, Statistic):
        fineness = 1
        if isinstance(statistic, TrimmedMean):
            left, right = statistic.ranks(size)
            fineness = right - left + 1
        if bounds is not None:
            return OnGrid(statistic, Quantiser.of(bounds, granularity=granularity), fineness)
        if granularity is not None:
            return OnGrid(statistic, Quantiser(-FARTHEST, FARTHEST, granule(granularity, of="a statistic")), fineness)
    elif callable(statistic) and bounds is None and granularity is not None:
        return Computed(statistic, granule(granularity, of="a statistic"))
    raise DescriptionError(
        wanted="a statistic of Sitr with bounds or a granularity, or a function with a granularity and no bounds",
        given=f"{statistic!r}, bounds={bounds!r}, granularity={granularity!r}",
        do="Choose as granularity the smallest difference that matters, for example 0.01.",
    )


def sized(sample: Rows, size: int) -> Rows:
    """A sample of the public number of people that a rule is for."""
    if len(sample) != size:
        raise DescriptionError(
            wanted=f"the values of {size} people, a public number",
            given="another number of values",
            do="Make a rule for this number of people.",
        )
    return sample


def _unusable(given: str) -> DescriptionError:
    """The message does not say which value is wrong, or how many are."""
    return DescriptionError(
        wanted="a number, or a row of numbers, for each person",
        given=given,
        do="Decide beforehand what replaces missing values.",
    )
