"""Public structure of rows: what is true of every row of everybody. It is built in and never learned.

- A *derived* column is computed from others: by an expression (month from date), or by a public table (the region of a
  district). It is neither measured nor modelled, so that it costs nothing.
- An *ordered* pair never decreases: the first is at most the second, wherever both have values.
- Columns that are NULL *together* are all NULL or all not.

Ordered pairs and NULLs decide which cells can come together (`Possible`). Drawn rows are arranged so that they do, and
in ordered cells that overlap, values are drawn given their order: see `sitr.questions.synthetic.arrange`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sitr.dataclass import dataclass
from sitr.dataset.cells import Drawable, Granular, nowhere
from sitr.dataset.schema import Column, Key
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.synthetic.axes import Codes
from sitr.questions.values import firsts

Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The value of a public table for the key in another column; NULL for NULL, unless the table lists it."""

    source: str
    keys: tuple[Key, ...]
    values: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """A column that is computed from others in the same row."""

    column: Column
    of: Typed | Lookup


@dataclass(frozen=True, slots=True)
class Ordered:
    """Two columns of which the first is at most the second, wherever both have values."""

    lower: str
    upper: str


@dataclass(frozen=True, slots=True)
class Structure:
    """All rules that are built in: derived columns after those that they need, and pairs so that none closes a circle.

    Use `sitr.questions.synthetic.declared.structure`, which checks them.
    """

    derived: tuple[Derived, ...] = ()
    ordered: tuple[Ordered, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()

    def possible(self, axes: tuple[Drawable, ...]) -> Possible | None:
        """Which cells can come together; None if all can."""
        if not self.ordered and not self.together:
            return None
        places = {axis.column.name: place for place, axis in enumerate(axes)}
        return Possible(
            axes,
            tuple((places[pair.lower], places[pair.upper]) for pair in self.ordered),
            tuple(tuple(places[name] for name in names) for names in self.together),
        )


NO_RULES = Structure()
"""Every row is possible, and nothing is derived."""


@dataclass(frozen=True, slots=True)
class Possible:
    """Which cells of the columns can come together in one row.

    `ordered` are pairs of positions, each after all pairs that end where it begins. A row is possible if values can be
    chosen from its cells that keep all orders. With the smallest value of each cell raised to those before it, that is
    so if no raised value leaves its cell: the raised values themselves keep all orders.
    """

    axes: tuple[Drawable, ...]
    ordered: tuple[tuple[int, int], ...]
    together: tuple[tuple[int, ...], ...]
    ends: dict[int, tuple[Codes, Codes]] = field(init=False, repr=False, compare=False)
    """The smallest and the largest granule of each cell of the ordered columns; of NULL, all are."""

    def __post_init__(self) -> None:
        found = {place: _ends(self.axes[place]) for pair in self.ordered for place in pair}
        object.__setattr__(self, "ends", found)

    @property
    def columns(self) -> tuple[int, ...]:
        """The positions of the columns that take part in a rule."""
        used = {place for pair in self.ordered for place in pair} | {place for each in self.together for place in each}
        return tuple(sorted(used))

    def present(self, place: int, codes: Codes) -> Truths:
        """In which rows a column has a value."""
        return np.asarray(codes[:, place] < self.axes[place].ordinary)

    def holds(self, codes: Codes) -> Truths:
        """Which rows of cell numbers are possible."""
        return np.asarray(self.faults(codes) == 0)

    def faults(self, codes: Codes) -> NDArray[np.float64]:
        """How far each row is from being possible: 0 if it is, and more the farther its cells are out of order."""
        found = np.zeros(len(codes))
        for group in self.together:
            known = [self.present(place, codes) for place in group]
            found += reduce(np.logical_or, known) & ~reduce(np.logical_and, known)
        low, high = self.ranges(codes)
        for upper in dict.fromkeys(upper for _, upper in self.ordered):
            axis = self.axes[upper]
            assert isinstance(axis, Granular)
            beyond = np.where(self.present(upper, codes), low[upper] - high[upper], 0)
            found += np.maximum(beyond, 0) / (axis.upper - axis.lower + 1)
        return found

    def ranges(self, codes: Codes) -> tuple[dict[int, Codes], dict[int, Codes]]:
        """The granules that each ordered column can have in each row, given the cells of the others."""
        low = {place: ends[0][codes[:, place]] for place, ends in self.ends.items()}
        high = {place: ends[1][codes[:, place]] for place, ends in self.ends.items()}
        for first, second, both in self._met(codes):
            low[second] = np.where(both, np.maximum(low[second], low[first]), low[second])
        for first, second, both in reversed(list(self._met(codes))):
            high[first] = np.where(both, np.minimum(high[first], high[second]), high[first])
        return low, high

    def kept(self, granules: dict[int, Codes], codes: Codes) -> Truths:
        """In which rows these granules keep all orders."""
        fine = np.ones(len(codes), dtype=np.bool_)
        for first, second, both in self._met(codes):
            fine &= ~both | (granules[first] <= granules[second])
        return fine

    def _met(self, codes: Codes) -> Iterator[tuple[int, int, Truths]]:
        """Each pair, and the rows in which both columns have values."""
        for first, second in self.ordered:
            yield first, second, self.present(first, codes) & self.present(second, codes)

    def example(self) -> Codes:
        """One possible row of cells, in which every column has a value if it can."""
        row = np.array([[0 if axis.ordinary else nowhere(axis) or 0 for axis in self.axes]], dtype=np.int64)
        low, _ = self.ranges(row)
        for place, granule in low.items():
            ends = self.ends[place][1][: self.axes[place].ordinary]
            row[:, place] = np.searchsorted(ends, granule)
        return row


def _ends(axis: Drawable) -> tuple[Codes, Codes]:
    assert isinstance(axis, Granular)
    starts = firsts(axis)
    return np.append(starts[:-1], starts[0]), np.append(starts[1:] - 1, starts[-1] - 1)
