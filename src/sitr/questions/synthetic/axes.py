"""A column cut into public cells: every value has a number, and every number has values to draw from."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.dataset.literals import shown
from sitr.dataset.schema import GROUPABLE, NUMERIC, Column, Key, Kind, Table, public_keys, quantise
from sitr.errors import DescriptionError
from sitr.neighbors.unit import Person
from sitr.noise.coins import Coins
from sitr.noise.uniform import uniform
from sitr.numbers import Number

BINS = 64
"""Into so many cells a column of numbers, dates or moments is cut, unless it has fewer values."""

MOST_CELLS = 1_000_000
"""No table is larger: it would hold more noise than data."""

Codes = NDArray[np.int64]
End = Number | date | datetime
"""Where a column begins or ends."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Granules from `lower` to `upper` in cells of almost equal width; dates are days, moments are seconds.

    Cell b holds the granules g with ⌊(g − lower)·bins/width⌋ = b, where width = upper − lower + 1.

    >>> [Steps(0, 9, Fraction(1), 4).first(cell) for cell in range(5)]
    [0, 3, 5, 8, 10]
    """

    lower: int
    upper: int
    granularity: Fraction
    bins: int

    def first(self, cell: int) -> int:
        """The least granule of a cell."""
        return self.lower - (-cell * (self.upper - self.lower + 1) // self.bins)


@dataclass(frozen=True, slots=True)
class Axis:
    """One column: the values of `keys`, or `steps`, and after them a cell for NULL if there is one.

    A value without a cell (NULL, NaN, a key that is not listed) counts as NULL; where NULL has no cell, its row is left
    out. Numbers and moments beyond the ends count as the ends.
    """

    name: str
    kind: Kind
    keys: tuple[Key, ...] = ()
    steps: Steps | None = None
    nulls: bool = False

    @property
    def cells(self) -> int:
        """How many there are."""
        return (len(self.keys) if self.steps is None else self.steps.bins) + self.nulls

    @property
    def ordered(self) -> bool:
        """Do neighbouring cells hold neighbouring values? NULL, the last one, is nobody's neighbour."""
        return self.steps is not None

    def label(self, cell: int) -> str:
        """A cell in words.

        >>> Axis("age", Kind.INTEGER, steps=Steps(0, 99, Fraction(1), 10), nulls=True).label(2)
        '20 to 29'
        """
        if self.nulls and cell == self.cells - 1:
            return "NULL"
        if self.steps is None:
            return str(self.keys[cell])
        low, high = self.steps.first(cell), self.steps.first(cell + 1) - 1
        values = self._values(np.array([low, high]))
        ends = [f"{value:.6g}" if self.kind is Kind.REAL else str(value) for value in values]
        return ends[0] if low == high else f"{ends[0]} to {ends[1]}"

    def column(self, codes: Codes, *, coins: Coins, kind: pa.DataType | None = None) -> pa.Array:
        """Values for these cells: of a key itself, of a cell of granules any of them, each as likely as the others."""
        missing = codes == self.cells - 1 if self.nulls else np.zeros(len(codes), dtype=np.bool_)
        known = np.where(missing, 0, codes)
        if self.steps is None:
            wanted = ARROW[self.kind] if kind is None else kind
            dictionary = _cast(pa.array(list(self.keys) or [None], ARROW[self.kind]), wanted)
            return dictionary.take(pa.array(known, mask=missing))
        firsts = np.array([self.steps.first(cell) for cell in range(self.steps.bins + 1)], dtype=np.int64)
        granules = firsts[known]
        widths = np.diff(firsts)[known]
        for width in np.unique(widths):
            if width > 1:
                here = np.flatnonzero(widths == width)
                granules[here] += uniform(bound=int(width), size=len(here), coins=coins).astype(np.int64)
        return self._arrow(granules, missing, kind)

    def positions(self, codes: Codes) -> NDArray[np.float64]:
        """The middle of each cell of an ordered column, NaN for NULL."""
        assert self.steps is not None
        firsts = np.array([self.steps.first(cell) for cell in range(self.steps.bins + 1)], dtype=np.float64)
        middles = (firsts[:-1] + firsts[1:] - 1) / 2 * float(self.steps.granularity)
        return np.append(middles, np.nan)[np.minimum(codes, self.steps.bins)]

    def check(self, kind: pa.DataType) -> None:
        """Refuse a type that cannot hold every value of the cells, or that rows cannot be drawn in: known before
        anything is spent."""
        try:
            if self.steps is None:
                _cast(pa.array(list(self.keys), ARROW[self.kind]), kind).take(pa.array([], pa.int64()))
            else:
                self._arrow(np.array([self.steps.lower, self.steps.upper]), np.zeros(2, dtype=np.bool_), kind)
        except (pa.ArrowException, ValueError, OverflowError):
            raise DescriptionError(
                wanted=f"The public values of {self.name!r} must fit its type, {kind}.",
                given="Some of them do not.",
                do="Narrow the bounds, or choose a granularity like that of the column.",
            ) from None

    def _arrow(self, granules: Codes, missing: NDArray[np.bool_], kind: pa.DataType | None) -> pa.Array:
        wanted = ARROW[self.kind] if kind is None else kind
        if pa.types.is_decimal(wanted):
            step = self.steps.granularity if self.steps is not None else Fraction(1)
            scale = Decimal(1).scaleb(-wanted.scale)
            different, places = np.unique(granules, return_inverse=True)
            exact = [(Decimal(int(g)) * step.numerator / step.denominator).quantize(scale) for g in different]
            return pa.array(exact, wanted).take(pa.array(places, mask=missing))
        return _cast(pa.array(self._values(granules), mask=missing), wanted)

    def _values(self, granules: Codes) -> NDArray[np.generic]:
        """Granules in the column's unit."""
        assert self.steps is not None
        if self.kind is Kind.DATE:
            return granules.astype("datetime64[D]")
        if self.kind is Kind.TIMESTAMP:
            return granules.astype("datetime64[s]")
        step = self.steps.granularity
        if self.kind is Kind.INTEGER and step.denominator == 1:
            return granules * step.numerator
        numbers = granules * float(step.numerator) / float(step.denominator)
        return np.rint(numbers).astype(np.int64) if self.kind is Kind.INTEGER else numbers


ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
"""How values are held unless a file says otherwise."""


def axes(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    bins: int | Mapping[str, int] = BINS,
    bounds: Mapping[str, tuple[End, End]] | None = None,
    keys: Mapping[str, Sequence[Key]] | None = None,
    required: Collection[str] = (),
) -> tuple[Axis, ...]:
    """The chosen columns of a described data set, each with its public cells; all but the person's id if none is named.

    `bounds` and `keys` are those of columns for which the description has none, or others: public, or released earlier
    and paid for. Dates and moments have their bounds here only. `required` columns have no cell for NULL. What the rows
    hold is never looked at.
    """
    person = table.unit.column if isinstance(table.unit, Person) else None
    names = [column.name for column in table.columns if column.name != person] if columns is None else list(columns)
    for name in [*names, *(bounds or {}), *(keys or {}), *required, *(bins if isinstance(bins, Mapping) else ())]:
        if all(column.name != name for column in table.columns):
            raise table.no_column(name)
    if not names or len(set(names)) < len(names) or person in names:
        raise DescriptionError(
            wanted="Synthetic rows want at least one column, each once, and none that identifies a person.",
            given=f"columns={names!r} was given.",
            do="Name the columns to imitate: synthetic rows are nobody's, so that they have no id.",
        )
    found = {column.name: column for column in table.columns}
    return tuple(
        _axis(
            found[name],
            bins=bins.get(name, BINS) if isinstance(bins, Mapping) else bins,
            ends=(bounds or {}).get(name),
            keys=(keys or {}).get(name),
            nulls=name not in required,
        )
        for name in names
    )


def _axis(column: Column, *, bins: int, ends: tuple[End, End] | None, keys: Sequence[Key] | None, nulls: bool) -> Axis:
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= MOST_CELLS:
        raise DescriptionError(
            wanted=f"The number of bins is a whole number between 1 and {MOST_CELLS:,}.",
            given=f"{bins!r} was given for {column.name!r}.",
            do="Choose some dozens.",
        )
    listed = public_keys(column.name, column.kind, keys) if keys is not None else column.keys
    if listed is None and column.kind is Kind.BOOLEAN:
        listed = (False, True, None)
    if listed is not None and (ends is None or keys is not None):
        # A list says what there is: NULL has a cell if it is on it, and nothing says that it need be.
        values = tuple(key for key in listed if key is not None)
        return Axis(column.name, column.kind, keys=values, nulls=(None in listed and nulls) or not values)
    if column.kind in (Kind.DATE, Kind.TIMESTAMP) and ends is not None:
        return Axis(column.name, column.kind, steps=_moments(column, ends, bins), nulls=nulls)
    cut = column.quantised if ends is None else quantise(column.name, column.kind, ends, None)  # type: ignore[arg-type]
    if cut is not None:
        return Axis(column.name, column.kind, steps=_steps(cut.lower, cut.upper, cut.granularity, bins), nulls=nulls)
    raise DescriptionError(
        wanted=f"The public cells of {column.name!r} were wanted: what a column can hold must not be learned from the "
        "rows.",
        given=f"It holds {column.kind.value}, and nothing is said about its values.",
        do=_remedy(column),
    )


def _remedy(column: Column) -> str:
    if column.kind in NUMERIC:
        return f"Give bounds={{{column.name!r}: (low, high)}} from public knowledge, or keys, or leave the column out."
    if column.kind in (Kind.DATE, Kind.TIMESTAMP):
        return f"Give bounds={{{column.name!r}: (first, last)}} from public knowledge, or leave the column out."
    if column.kind in GROUPABLE:
        return (
            f"Give keys={{{column.name!r}: […]}}: public ones, or those that a question grouped by it has released "
            "above a threshold, paid for; or leave the column out."
        )
    return "Leave the column out: only numbers, text, truth values, dates and moments can be imitated."


def _steps(lower: int, upper: int, step: Fraction, bins: int) -> Steps:
    return Steps(lower, upper, step, min(bins, upper - lower + 1))


def _moments(column: Column, ends: tuple[End, End], bins: int) -> Steps:
    """Days or seconds since 1970."""
    wanted = date if column.kind is Kind.DATE else datetime
    if len(ends) != 2 or any(type(end) is not wanted for end in ends) or ends[0] > ends[1]:  # type: ignore[operator]
        raise DescriptionError(
            wanted=f"The bounds of {column.name!r} are a first and a last {wanted.__name__}, without a zone.",
            given=f"{shown(ends)} was given.",
            do="Use what is publicly known about the column, never its observed extremes.",
        )
    if column.kind is Kind.DATE:
        lower, upper = ((end - date(1970, 1, 1)).days for end in ends)  # type: ignore[operator,union-attr]
    else:
        lower, upper = ((end - datetime(1970, 1, 1)) // timedelta(seconds=1) for end in ends)  # type: ignore[operator]  # noqa: DTZ001
    return _steps(lower, upper, Fraction(1), bins)


def _cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    return values.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else values.cast(kind)


def joint_cells(of: Sequence[Axis]) -> int:
    """The cells of all columns together."""
    return math.prod(axis.cells for axis in of)
