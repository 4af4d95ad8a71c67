"""Exact totals of the kept rows by group: integers of any size from arithmetic on whole arrays.

A sum of a person's kept rows in a group is below 2^62 (`layout.LARGEST`). It is split into halves of 32 and 30 bits.
A million halves add up to less than 2^53, so that doubles add them exactly; the totals of blocks are added as 64-bit
integers, and what exceeds 32 bits in the lower half moves to the upper one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sitr.backends.packed.arrange import Arranged
from sitr.backends.packed.choose import BlockCells, Flags, Places, chosen
from sitr.backends.packed.hashes import Keyed, Words
from sitr.backends.packed.layout import Component, Layout
from sitr.mechanisms.value_counts import ValueCounts

Counts = NDArray[np.int64]

_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
_MOST = 1 << 20
"""At most this many halves are added as doubles at once: 2^20 · 2^32 < 2^53."""
_DENSE = 1 << 22
"""Up to this many pairs of a group and a value, tallies are arrays."""


def counted(code: Places, size: int, weights: Words | Counts | None = None) -> Counts:
    """The number of each code below `size`, or the sum of its weights, each below 2^32."""
    if weights is None:
        return np.bincount(code, minlength=size)
    found = np.zeros(size, np.int64)
    for first in range(0, len(code), _MOST):
        part = slice(first, first + _MOST)
        found += np.bincount(code[part], weights[part], minlength=size).astype(np.int64)
    return found


@dataclass(slots=True)
class Sums:
    """The sum of one component by group, in two halves, and how many of its rows have a value."""

    size: int
    lower: Counts = field(init=False)
    upper: Counts = field(init=False)
    present: Counts = field(init=False)

    def __post_init__(self) -> None:
        self.lower, self.upper, self.present = (np.zeros(self.size, np.int64) for _ in range(3))

    def add(self, code: Places, sums: Words, present: Counts | Words | None = None) -> None:
        """Add numbers below 2^62 to their groups, and how many rows each of them is of."""
        self.lower += counted(code, self.size, sums & _LOWER)
        upper = sums >> _HALF
        if upper.any():
            self.upper += counted(code, self.size, upper)
        self.upper += self.lower >> 32  # less than 2^30 + 1 for each cell: fewer than 2^32 cells cannot overflow
        self.lower &= int(_LOWER)
        if present is not None:
            self.present += counted(code, self.size, present)

    def total(self, group: int) -> int:
        return (int(self.upper[group]) << 32) + int(self.lower[group])


@dataclass(slots=True)
class GroupTally:
    """How often each value of one component occurs in each group: group · 2^bits + value, where 0 is missing.

    Pairs are below 2^62, or some of them would count for another group (`layout.layout`).
    """

    size: int
    bits: int
    dense: Counts | None = field(init=False)
    pairs: list[Words] = field(default_factory=list)

    def __post_init__(self) -> None:
        small = self.size << self.bits <= _DENSE
        self.dense = np.zeros(self.size << self.bits, np.int64) if small else None

    def add(self, code: Places, values: Words) -> None:
        # `layout` sees to it that the bits of any group's number and of a value are at most 62 together.
        pairs = (code.view(np.uint64) << np.uint64(self.bits)) | values
        if self.dense is not None:
            self.dense += np.bincount(pairs.view(np.int64), minlength=len(self.dense))
        else:
            self.pairs.append(pairs[values != 0])

    def by_group(self, lowest: int) -> dict[int, ValueCounts]:
        """For each group that has values, the number of rows of each value."""
        values, counts = self._found()
        code = values >> self.bits
        values = (values & ((1 << self.bits) - 1)) + lowest
        edges = np.flatnonzero(np.diff(code, prepend=-1))
        ends = [*edges[1:].tolist(), len(code)] if len(edges) else []
        return {
            int(code[first]): ValueCounts(values[first:last], counts[first:last])
            for first, last in zip(edges.tolist(), ends, strict=True)
        }

    def _found(self) -> tuple[Counts, Counts]:
        if self.dense is not None:
            table = self.dense.reshape(self.size, -1)
            table[:, 0] = 0
            at = np.flatnonzero(self.dense)
            return at, self.dense[at]
        every = np.concatenate(self.pairs) if self.pairs else np.empty(0, np.uint64)
        every.sort()
        first = np.flatnonzero(np.diff(every, prepend=np.uint64(2**64 - 1)))  # no pair is as large as that
        return every[first].view(np.int64), np.diff(first, append=len(every))


@dataclass(slots=True)
class GroupTotals:
    """What the groups of some people have."""

    layout: Layout
    size: int
    rows: Counts = field(init=False)
    people: Counts = field(init=False)
    cut: Counts = field(init=False)
    sums: list[Sums] = field(init=False)
    tallies: dict[int, GroupTally] = field(init=False)
    beyond: int = 0

    def __post_init__(self) -> None:
        self.rows, self.people, self.cut = (np.zeros(self.size, np.int64) for _ in range(3))
        self.sums = [Sums(self.size) for _ in self.layout.components]
        assert self.size <= 1 << self.layout.number_bits, "the layout has room for fewer groups"
        self.tallies = {
            place: GroupTally(self.size, self.layout.components[place].bits) for place in self.layout.tallied
        }

    def add(self, rows: Arranged, found: BlockCells, keyed: Keyed) -> None:
        """Add a block of whole people."""
        most, kept = self.layout.node.most, found.kept
        code = found.code if kept is None else found.code[kept]
        number = found.number if kept is None else found.number[kept]
        self.people += counted(code, self.size)
        self.rows += counted(code, self.size, np.minimum(number, most))
        self.beyond += found.beyond
        full = found.number > most
        if kept is not None:
            full &= kept
        any_full = bool(full.any())
        if any_full:
            self.cut += counted(found.code[full], self.size)
        if not self.layout.components:
            return
        few = (found.number <= most) if kept is None else kept & (found.number <= most)
        words = rows.values(found.rows)
        self._add_cells(found, words, few)
        if any_full and any(component.sampled for component in self.layout.components):
            own, picked = chosen(rows, found, words, full, most=most, keyed=keyed)
            self._add_rows(own, picked)

    def _add_cells(self, found: BlockCells, words: tuple[Words, ...], few: Flags) -> None:
        """Cells that keep all their rows; of conditions on people, all cells that are kept."""
        code, start = found.code[few], found.start
        for place, component in enumerate(self.layout.components):
            values = self._of(component, words)
            if not component.sampled:
                true = np.add.reduceat(values, start) > 0
                if found.kept is not None:
                    true &= found.kept
                self.sums[place].add(found.code[true], np.ones(np.count_nonzero(true), np.uint64))
                continue
            sums = np.add.reduceat(values, start)[few]  # a sum that overflows is of a full cell, and not among these
            self.sums[place].add(code, sums, _present(component, values, found, few, sums))
            if place in self.tallies:
                self._tally(place, found, values, few)

    def _of(self, component: Component, words: tuple[Words, ...]) -> Words:
        values = words[component.word]
        if component.bits == self.layout.bits[component.word]:
            return values
        values = values >> np.uint64(component.shift)
        values &= np.uint64((1 << component.bits) - 1)
        return values

    def _tally(self, place: int, found: BlockCells, values: Words, few: Flags) -> None:
        inside = np.repeat(few, found.number)
        self.tallies[place].add(np.repeat(found.code[few], found.number[few]), values[inside])

    def _add_rows(self, code: Places, words: tuple[Words, ...]) -> None:
        for place, component in enumerate(self.layout.components):
            if not component.sampled:
                continue
            values = self._of(component, words)
            self.sums[place].add(code, values, (values != 0).view(np.uint8))
            if place in self.tallies:
                self.tallies[place].add(code, values)


def _present(component: Component, values: Words, found: BlockCells, few: Flags, sums: Words) -> Counts | Words:
    """The rows of each cell that have a value; few are missing, so that these are counted."""
    if component.bits == 1:
        return sums
    missing = np.flatnonzero(values == 0)
    if not len(missing):
        return found.number[few]
    if len(missing) > len(values) // 8:
        return np.add.reduceat(values != 0, found.start, dtype=np.int64)[few]
    cell = np.searchsorted(found.start, missing, side="right") - 1
    return (found.number - np.bincount(cell, minlength=len(found.start)))[few]
