"""A public grid: numbers are whole numbers of granules before and after the noise, and never floats in between.

The sum of a float and noise leaves gaps between possible answers, which reveal the float [Mir12]. On a grid there are
none: the answer is an integer times a public granule, and every such number can be the answer to every value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from numbers import Integral, Rational
from typing import TYPE_CHECKING, Any, TypeVar

from sitr.errors import InvalidParameter
from sitr.namespace import Later
from sitr.noise.draws import Draws
from sitr.numbers import Number, exact, granule, natural, positive, square_root_upward

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.integer[Any]] | NDArray[np.object_]
else:
    np = Later("numpy")
    Whole = object

Exact = TypeVar("Exact", int, Fraction)
"""The answers to integers are integers, the answers to fractions are fractions."""


_LARGEST = 2**63 - 1

_ROUNDINGS = 2**12
"""A float may be the sum of this many numbers, each of which was rounded."""


def movement(
    sensitivity: Number, granularity: Fraction | None = Fraction(1), *, mechanism: str, euclidean: bool = False
) -> Fraction:
    """How far one unit moves the exact answer. Integers and fractions are exact, a float is rounded up.

    A float may have been rounded when it was computed, so it is replaced by the next float, read as a decimal. It is
    kept if it is a whole number of granules, read in binary or as a decimal, and no other distance on the grid has the
    same float: a sum of sizes is a whole number of granules, the square of a `euclidean` length is a whole number of
    squared granules. A float just below a whole number of granules becomes that number, because several roundings must
    not make it a granule less, see `whole_shift`. Without a grid, granularity=None, every float is rounded up.

    >>> movement(0.3, mechanism="Laplace") > Fraction(3, 10), movement(0.3, Fraction(1, 10), mechanism="Laplace")
    (True, Fraction(3, 10))
    >>> movement(3 * 2.0**-40, Fraction(1, 2**40), mechanism="Laplace")
    Fraction(3, 1099511627776)
    >>> movement(3.0, None, mechanism="Exponential") > 3
    True
    """
    moved = positive(sensitivity, name="sensitivity", of=mechanism)
    if isinstance(sensitivity, Rational):
        return moved
    given: Any = sensitivity
    near = float(given)
    # Numpy's narrower floats are rounded more coarsely.
    step = max(math.ulp(near), float(np.spacing(given)) if isinstance(given, np.floating) else 0.0)
    if granularity is not None:
        whole = [number for number in (Fraction(near), moved) if (number / granularity).denominator == 1]
        # After n granules the next length is √(n² + 1) of them, 1/(√(n² + 1) + n) more.
        gap = granularity**2 / (2 * (Fraction(near) + Fraction(step))) if euclidean else granularity
        if whole and step <= gap:
            return max(whole)
    up = positive(near + step, name="sensitivity", of=mechanism)
    reached = up if granularity is None else math.ceil(up / granularity) * granularity
    return reached if reached - up <= _ROUNDINGS * Fraction(step) else up


def checked_fields(mechanism: Any, parameter: str, *, euclidean: bool) -> None:
    """Make the parameter, sensitivity and granularity of a frozen mechanism exact, or refuse them."""
    name = type(mechanism).__name__
    grain = granule(mechanism.granularity, of=name)
    size = positive(getattr(mechanism, parameter), name=parameter, of=name)
    moved = movement(mechanism.sensitivity, grain, mechanism=name, euclidean=euclidean)
    for field, value in ((parameter, size), ("sensitivity", moved), ("granularity", grain)):
        object.__setattr__(mechanism, field, value)


def rounded(number: Number, *, granularity: Number) -> Fraction:
    """The nearest multiple of the granularity, ⌊x/g + ½⌋·g. A float stands for its binary value if the granularity is
    a binary fraction, and otherwise for the decimal that it prints as.

    Round what each unit adds, to be summed exactly, rather than the sum. Numbers that differ by a multiple of g are
    rounded alike, which is not so if halves are rounded to even: 0.5 and 1.5 would become 0 and 2.

    >>> rounded(2.71828, granularity=Fraction(1, 4)), rounded(-0.0, granularity=1), rounded(5e-324, granularity=1)
    (Fraction(11, 4), Fraction(0, 1), Fraction(0, 1))
    """
    grain = granule(granularity, of="Rounding")
    if not isinstance(number, Rational | float | np.floating) or not math.isfinite(number):
        raise InvalidParameter(
            wanted="a finite number to round",
            given="something else",
            do="Decide beforehand what replaces numbers that are missing or infinite.",
        )
    # Where the granule is a decimal, so are the numbers: else 0.15 and 0.65 would be farther apart than 0.5.
    if not isinstance(number, Rational) and grain.denominator.bit_count() == 1:
        value = Fraction(*number.as_integer_ratio())
    else:  # numpy's wider floats do not fit into a Python float, and its narrower ones print as a shorter decimal
        value = exact(number) if isinstance(number, Rational | float) else Fraction(str(number))
    return math.floor(value / grain + Fraction(1, 2)) * grain


def rounded_sensitivity(
    sensitivity: Number, *, granularity: Number, numbers: int = 1, euclidean: bool = False
) -> Fraction:
    """How far this many numbers move once they are `rounded`, if before they move by at most Δ together.

    Numbers that are already on the grid move by whole granules: if they move by at most one and a half granules, they
    move by at most one. This is not so for numbers that are yet to be rounded.

    A number that moves by s granules is rounded to one that moves by at most ⌈s⌉ of them. With S = Δ/g that is

        ⌈S⌉ for one number;   ⌈S⌉ + d − 1 for d in the sum of sizes (ℓ1);   less than S + √d in Euclidean length (ℓ2),

    because the sum of all ⌈s_i⌉ < s_i + 1 is a whole number below S + d, and ‖⌈s⌉‖ ≤ ‖s‖ + ‖⌈s⌉ − s‖. The first two are
    attained. Only numbers that one unit can move at all count for d. A float is rounded up even if it is whole: numbers
    that are not on the grid yet may move by slightly more, and once rounded by a granule more.

    >>> rounded_sensitivity(1, granularity=0.25), rounded_sensitivity(1, granularity=0.25, numbers=3)
    (Fraction(1, 1), Fraction(3, 2))
    >>> rounded_sensitivity(1, granularity=0.25, numbers=9, euclidean=True)
    Fraction(7, 4)
    """
    numbers = natural(numbers, name="numbers", of="Rounding")
    grain = granule(granularity, of="Rounding")
    moved = movement(sensitivity, None, mechanism="Rounding") / grain
    if numbers > 1 and euclidean:
        return grain * (moved + square_root_upward(Fraction(numbers)))
    return grain * (math.ceil(moved) + numbers - 1)


def add_noise(
    values: Any, draw: Callable[[Any], Any], *, granularity: Fraction, mechanism: str, single: bool = False
) -> Any:
    """One number, a row or an array, with noise: `draw(size)` draws it in granules, one number if size is None."""
    grid = _Grid(granularity, mechanism)
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidParameter(
            wanted=f"a plain array for {mechanism}",
            given="an array with masked places, to which no noise would be added",
            do="Decide beforehand what replaces numbers that are missing.",
        )
    if isinstance(values, np.ndarray):
        _check_single(values.size, single, mechanism=mechanism)
        return grid.array(np.asarray(values), draw)  # a subclass may add in another way
    if isinstance(values, Rational):
        return grid.answer(values, grid.count(values), draw(None))
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise grid.refused()
    row = list(values)
    _check_single(len(row), single, mechanism=mechanism)
    counts = [grid.count(value) for value in row]
    noise = draw(len(row))
    return [grid.answer(*three) for three in zip(row, counts, noise, strict=True)]


class _Grid:
    """Values on a grid. No message quotes a value, or says which of many was wrong."""

    __slots__ = ("granularity", "mechanism")

    def __init__(self, granularity: Fraction, mechanism: str) -> None:
        self.granularity, self.mechanism = granularity, mechanism

    def count(self, value: object) -> int:
        """How many granules this is, exactly."""
        if not isinstance(value, Rational) or (isinstance(value, Integral) and self.granularity.denominator != 1):
            raise self.refused()
        granules = exact(value) / self.granularity
        if granules.denominator != 1:
            raise self.refused()
        return granules.numerator

    def answer(self, value: object, count: int, noise: int) -> int | Fraction:
        noisy = (count + int(noise)) * self.granularity
        return noisy.numerator if isinstance(value, Integral) else noisy

    def array(self, values: Whole, draw: Callable[[Any], Draws]) -> Draws:
        if values.dtype.kind in "iu" and self.granularity == 1:
            return _added(values, draw(values.shape))
        flat = values.ravel().tolist()  # Python's numbers
        noisy = np.empty(values.size, dtype=np.object_)
        counts = [self.count(value) for value in flat]
        noise = draw(values.size)
        noisy[:] = [self.answer(*three) for three in zip(flat, counts, noise, strict=True)]
        return noisy.reshape(values.shape)

    def refused(self) -> InvalidParameter:
        if self.granularity.denominator == 1:
            wanted = "integers" if self.granularity == 1 else f"integers that are multiples of {self.granularity}"
            do = "Round what each unit adds, and sum in integers: floats round, and one unit moves them farther."
        else:
            wanted = f"fractions that are multiples of {self.granularity}"
            do = "Write Fraction(5) for 5, which could also mean granules, and round others with `rounded`."
        return InvalidParameter(wanted=f"{wanted} for {self.mechanism}", given="something else", do=do)


def _check_single(count: int, single: bool, *, mechanism: str) -> None:
    if single and count > 1:
        raise InvalidParameter(
            wanted=f"one number for {mechanism} with single=True",
            given=f"{count} numbers",
            do="Leave out single=True: promise() holds for vectors, but the loss of one number does not.",
        )


def _added(values: Whole, noise: Draws) -> Draws:
    """The sums in 64 bits, or in Python's integers if any needs more: only the released sums decide."""
    if noise.dtype == np.int64 and (values.dtype.kind == "i" or values.dtype.itemsize < 8):
        small = values.astype(np.int64, copy=False)
        total = np.add(small, noise)
        if not np.any(((small ^ total) & (noise ^ total)) < 0):  # an overflow has the sign of neither term
            return np.asarray(total)
    wide = np.asarray(values.astype(np.object_) + noise.astype(np.object_), dtype=np.object_)
    fits = noise.dtype == np.int64 and all(-_LARGEST - 1 <= answer <= _LARGEST for answer in wide.ravel())
    return wide.astype(np.int64) if fits else wide
