"""What an attacker may look at in an answer: its numbers, their last digits, which values occur at all.

A feature turns answers into one column of numbers. Some features learn from draws first, for example which values
occur; they see only the draws that are set aside for learning, so what they find is tested on others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitr.audit.empirical.sample import Sample
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

Column = Callable[[Sample], "NDArray[np.float64]"]

ENOUGH = 200_000
"""Draws from which features learn, at most."""

KNOWN = 1_000
"""Labels with a number of their own; the rest count as one."""

SINGLE = 8
"""Numbers of one answer whose digits and differences are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A column, with the name of what it shows and the place of the number in the answer."""

    name: str
    place: int
    column: Column


def features(first: Sample, second: Sample) -> Iterator[Feature]:
    """All features that these answers have, learned from them."""
    width = first.numbers.shape[1]
    for place in range(width):
        yield Feature("value", place, _value(place))
    for place in range(min(width, SINGLE)):
        if _fine(first, place) or _fine(second, place):
            yield Feature("last bit", place, _last_bit(place))
            yield Feature("last bit and value", place, _bit_and_value(first, second, place))
    if first.labels is not None:
        yield Feature("answer", 0, _known(first, second))
    else:
        yield Feature("values that occur", 0, _occurring(first, second))
    if width > 1:
        yield from _several(first, second, width)


def _several(first: Sample, second: Sample, width: int) -> Iterator[Feature]:
    for place in range(min(width, SINGLE) - 1):
        yield Feature("difference", place, _difference(place))
    yield Feature("sum", 0, _sum)
    yield Feature("largest", 0, lambda sample: np.max(_low(sample), axis=1))
    yield Feature("place of the largest", 0, lambda sample: np.argmax(_low(sample), axis=1).astype(float))
    yield Feature("all numbers", 0, _together(first, second, width))
    for place in range(min(width, SINGLE)):
        for other in range(place + 1, min(width, SINGLE)):
            yield Feature("two numbers", place * SINGLE + other, _crossed(first, second, place, other))


def _difference(place: int) -> Column:
    def difference(sample: Sample) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is a missing number
            return sample.numbers[:, place + 1] - sample.numbers[:, place]

    return difference


def _sum(sample: Sample) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(sample.numbers, axis=1))


def _low(sample: Sample) -> NDArray[np.float64]:
    """Missing numbers are below all others."""
    return np.nan_to_num(sample.numbers, nan=-math.inf, posinf=math.inf, neginf=-math.inf)


def _value(place: int) -> Column:
    return lambda sample: sample.numbers[:, place]


def _fine(sample: Sample, place: int) -> bool:
    """Whether there are fractions, which floats round."""
    part = sample.numbers[:1_000, place]
    part = part[np.isfinite(part)]
    return bool(np.any(part != np.floor(part)))


def last_bits(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exponent of the lowest bit that is set: a number x is an odd multiple of 2 to this power.

    Naive noise in floats is a sum that is rounded to the last place of the larger part, so this tells whether the
    value was 0 or not.      [Mir12]

    >>> last_bits(np.array([1.0, 0.75, 0.0, 12.0])).tolist()
    [0.0, -2.0, 2000.0, 2.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64), where=whole != 0, out=np.full(len(numbers), 2053.0))
    return np.where(whole == 0, 2000.0, exponent - 53 + lowest)


def quantiles(values: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values at these places in their order, without interpolation, because some may be infinite; NaNs are left out.

    >>> quantiles(np.array([3.0, np.inf, 1.0, np.nan]), np.array([0.0, 0.5, 1.0])).tolist()
    [1.0, 3.0, inf]
    """
    ordered = np.sort(values[~np.isnan(values)])
    return ordered[(places * (len(ordered) - 1)).astype(np.int64)] if len(ordered) else ordered


def _last_bit(place: int) -> Column:
    return lambda sample: last_bits(sample.numbers[:, place])


def _bit_and_value(first: Sample, second: Sample, place: int) -> Column:
    """The last bit and the part of the range together, as one number."""
    pooled = np.concatenate([each.numbers[: ENOUGH // 10, place] for each in (first, second)])
    edges = np.unique(quantiles(pooled, np.linspace(0, 1, 17)[1:-1]))

    def column(sample: Sample) -> NDArray[np.float64]:
        found = np.searchsorted(edges, sample.numbers[:, place], side="right")
        found = np.where(np.isnan(sample.numbers[:, place]), 100, found)
        return last_bits(sample.numbers[:, place]) * 128 + found

    return column


def _rows(sample: Sample) -> NDArray[Any]:
    """One value for each whole row of numbers, by its bits."""
    numbers = np.ascontiguousarray(sample.numbers)
    if numbers.shape[1] == 1:
        bits: NDArray[np.uint64] = numbers.view(np.uint64)[:, 0]
        return bits
    mixed = np.zeros(len(numbers), dtype=np.uint64)
    for column in numbers.view(np.uint64).T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _occurring(first: Sample, second: Sample) -> Column:
    """−1, 0 or 1: the value occurred for the second input only, for both or none, for the first only."""
    mine, other = (np.unique(_rows(each)[:ENOUGH]) for each in (first, second))
    first_only, second_only = np.setdiff1d(mine, other, True), np.setdiff1d(other, mine, True)

    def column(sample: Sample) -> NDArray[np.float64]:
        rows = _rows(sample)
        found: NDArray[np.float64] = np.isin(rows, first_only).astype(float) - np.isin(rows, second_only)
        return found

    return column


def _known(first: Sample, second: Sample) -> Column:
    """A number for each label that is frequent, and 0 for the rest."""
    pooled = np.concatenate([each.labels[:ENOUGH] for each in (first, second)]).astype(str)  # type: ignore[index]
    labels, counts = np.unique(pooled, return_counts=True)
    known = {str(label): float(place + 1) for place, label in enumerate(labels[np.argsort(-counts)[:KNOWN]])}

    def column(sample: Sample) -> NDArray[np.float64]:
        assert sample.labels is not None
        return np.array([known.get(label, 0.0) for label in sample.labels], dtype=np.float64)

    return column


def _together(first: Sample, second: Sample, width: int) -> Column:
    """The sum of the logarithms of learned ratios of frequencies, one for each number: best if they are independent."""
    tables: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for place in range(width):
        one, other = (each.numbers[:ENOUGH, place] for each in (first, second))
        pooled = np.concatenate([one, other])
        pooled = pooled[np.isfinite(pooled)]
        edges = np.unique(quantiles(pooled, np.linspace(0, 1, 33)[1:-1]))
        tables.append((edges, log_ratios(_cells(edges, one), _cells(edges, other), cells=len(edges) + 2)))

    def column(sample: Sample) -> NDArray[np.float64]:
        pairs = enumerate(tables)
        parts = [ratios[_cells(edges, sample.numbers[:, place])] for place, (edges, ratios) in pairs]
        found: NDArray[np.float64] = np.round(np.sum(parts, axis=0), 9)
        return found

    return column


def _crossed(first: Sample, second: Sample, place: int, other: int) -> Column:
    """The cells of two numbers together, as one number."""

    def edges(column: int) -> NDArray[np.float64]:
        pooled = np.concatenate([each.numbers[: ENOUGH // 10, column] for each in (first, second)])
        pooled = pooled[np.isfinite(pooled)]
        values = np.unique(pooled)
        return values if len(values) <= 24 else np.unique(quantiles(pooled, np.linspace(0, 1, 25)[1:-1]))

    rows, columns = edges(place), edges(other)

    def column(sample: Sample) -> NDArray[np.float64]:
        one, two = _cells(rows, sample.numbers[:, place]), _cells(columns, sample.numbers[:, other])
        return (one * (len(columns) + 2) + two).astype(np.float64)

    return column


def _cells(edges: NDArray[np.float64], column: NDArray[np.float64]) -> NDArray[np.int64]:
    """The cell of each number; missing ones have a cell of their own."""
    found = np.searchsorted(edges, column, side="right")
    return np.where(np.isnan(column), len(edges) + 1, found)


def log_ratios(first: NDArray[np.int64], second: NDArray[np.int64], *, cells: int) -> NDArray[np.float64]:
    """ln of the ratio of frequencies in each cell; half a draw is added to each count, so that none is 0."""
    one, other = (np.bincount(each, minlength=cells) for each in (first, second))
    ratio: NDArray[np.float64] = np.log((one + 0.5) / (len(first) + cells / 2))
    ratio -= np.log((other + 0.5) / (len(second) + cells / 2))
    return ratio
