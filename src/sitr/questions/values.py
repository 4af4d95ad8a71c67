"""From cells back to values: which values a cell has, and how one of them is drawn in the type of the column."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.dataset.cells import Categories, Drawable, Granular
from sitr.dataset.schema import Kind
from sitr.errors import DescriptionError
from sitr.noise.coins import Coins
from sitr.noise.uniform import uniform
from sitr.questions.arrow import arrow_type

Codes = NDArray[np.int64]


def draw_values(axis: Drawable, codes: Codes, *, coins: Coins, kind: pa.DataType | None = None) -> pa.Array:
    """A value for each cell number: its key, or one of its granules, each with the same probability; else NULL.

    `kind` is the Arrow type of the values.
    """
    missing = codes >= axis.ordinary
    known = np.where(missing, 0, codes)
    if isinstance(axis, Categories):
        return _keys(axis, kind).take(pa.array(known, mask=missing))
    starts = firsts(axis)
    granules, widths = starts[known], np.diff(starts)[known]
    for width in np.unique(widths):
        if width > 1:
            here = np.flatnonzero(widths == width)
            granules[here] += uniform(bound=int(width), size=len(here), coins=coins).astype(np.int64)
    return from_granules(axis, granules, missing, kind)


def positions(axis: Granular, codes: Codes) -> NDArray[np.float64]:
    """The middle of each cell, NaN for the cell of NULL."""
    starts = firsts(axis).astype(np.float64)
    middles = (starts[:-1] + starts[1:] - 1) / 2 * float(axis.granularity)
    return np.append(middles, np.nan)[np.minimum(codes, axis.bins)]


def drawn_type(kind: pa.DataType) -> pa.DataType:
    """The type of drawn values: the column's own, but Arrow cannot select from the text of polars."""
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def check(axis: Drawable, kind: pa.DataType) -> None:
    """Refuse a type that cannot hold every value of the cells, or that Arrow cannot draw, before anything is spent."""
    try:
        if isinstance(axis, Categories):
            _keys(axis, kind).take(pa.array([], pa.int64()))
        else:
            from_granules(axis, np.array([axis.lower, axis.upper]), np.zeros(2, dtype=np.bool_), kind)
    except (pa.ArrowException, ValueError, OverflowError):
        raise DescriptionError(
            given=f"Some public values of {axis.column.name!r} do not fit its type, {kind}.",
            do="Narrow the bounds, or choose the granularity at which the column is recorded.",
        ) from None


def firsts(axis: Granular) -> Codes:
    """The smallest granule of each bin, and the one after the last."""
    return np.array([axis.first(place) for place in range(axis.bins + 1)], dtype=np.int64)


def _keys(axis: Categories, kind: pa.DataType | None) -> pa.Array:
    plain = arrow_type(axis.column.kind)
    return _cast(pa.array(list(axis.keys) or [None], plain), plain if kind is None else kind)


def from_granules(
    axis: Granular, granules: Codes, missing: NDArray[np.bool_], kind: pa.DataType | None = None
) -> pa.Array:
    """Granules as values of this Arrow type, and NULL where they are missing."""
    wanted = arrow_type(axis.column.kind) if kind is None else kind
    if pa.types.is_decimal(wanted):
        step, scale = axis.granularity, Decimal(1).scaleb(-wanted.scale)
        different, places = np.unique(granules, return_inverse=True)
        exact = [(Decimal(int(k)) * step.numerator / step.denominator).quantize(scale) for k in different]
        return pa.array(exact, wanted).take(pa.array(places, mask=missing))
    return _cast(pa.array(_values(axis, granules), mask=missing), wanted)


def _values(axis: Granular, granules: Codes) -> NDArray[np.generic]:
    """Granules in the unit of the column."""
    kind, step = axis.column.kind, axis.granularity
    if kind is Kind.DATE:
        return granules.astype("datetime64[D]")
    if kind is Kind.TIMESTAMP:
        return granules.astype("datetime64[s]")
    if kind is Kind.INTEGER and step.denominator == 1:
        return granules * step.numerator
    numbers = granules * float(step.numerator) / float(step.denominator)
    return np.rint(numbers).astype(np.int64) if kind is Kind.INTEGER else numbers


def _cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    return values.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else values.cast(kind)
