"""What Spark's executors do with packed rows: arithmetic on whole arrays in place of Spark's sorts and windows.

A row is the number of its person and a word, the number of its public group above the bits of its values. `parts`
runs where rows are read: it adds up equal rows and sends each bucket of people as one array of bytes, so that Spark
exchanges a few large rows. `totals` runs where a bucket arrives whole: it applies the caps as `sitr.backends.reading`
proves them, and adds up.

Sitr need not be installed on the executors. These functions travel there as they are, with what they use of Sitr, and
need numpy and pyarrow there. So nothing here may use a module of Sitr that is not in `TRAVELS`; a test runs them in an
interpreter without Sitr.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.backends import spark_entries
from sitr.backends.packed import arrays, choose, hashes
from sitr.backends.packed import totals as packed_totals
from sitr.backends.packed.arrays import integers
from sitr.backends.packed.choose import HASH_BITS, Flags, Places, lengths, lowest
from sitr.backends.packed.hashes import Keyed, Words, of_rows
from sitr.backends.packed.totals import Counts, counted
from sitr.backends.spark_entries import Entries, firsts, gathered, pieces

TRAVELS = (sys.modules[__name__], spark_entries, arrays, choose, hashes, packed_totals)
"""The modules whose functions are sent to the executors as they are, because Sitr is not installed there."""

HELD = 1 << 21
"""The rows that a task adds up at once, about 60 MB of them."""
BLOCK = 1 << 17
"""The entries whose totals are computed at once: arrays of about this size stay in the cache of a processor."""
PAIRS = 1 << 20
"""The rows of over-full groups that are hashed at once."""

_SENT = pa.schema([("bucket", pa.int32()), ("bytes", pa.binary())])
SENT = "bucket INT, bytes BINARY"
_ADDED = pa.schema([("buckets", pa.binary()), ("totals", pa.binary())])
ADDED = "buckets BINARY, totals BINARY"


class Order(Protocol):
    """The hashes by which groups and rows are chosen: functions of the salt and of the person's own rows alone."""

    def cells(self, people: Places, sizes: Places, codes: Words) -> Words:
        """Of each person's groups: `sizes` of each, one person after the other."""

    def rows(self, people: Places, codes: Words, words: Words, twins: Words) -> Words:
        """Of rows with these values, and their numbers, from 0, among the equal rows of the cell."""


@dataclass(frozen=True)
class Salted:
    """The order in production."""

    keyed: Keyed

    def cells(self, people: Places, sizes: Places, codes: Words) -> Words:
        return self.keyed.of_cells(np.repeat(self.keyed.of_people(people.view(np.uint64)), sizes), codes)

    def rows(self, people: Places, codes: Words, words: Words, twins: Words) -> Words:
        return of_rows(self.keyed.of_cells(self.keyed.of_people(people.view(np.uint64)), codes), (words,), twins)


@dataclass(frozen=True)
class Shape:
    """The public facts that the arithmetic needs."""

    cells: int
    """The number of public groups."""
    components: tuple[tuple[int, int], ...]
    """Where each value stands in a word: the bits below it, and its own."""
    groups: int | None
    """The most groups of a person; None for no cap."""
    rows: int
    """The most rows of a person in a group."""

    @property
    def bits(self) -> int:
        """The bits of all values of a word, below the number of the group."""
        return sum(bits for _, bits in self.components)

    @property
    def code_bits(self) -> int:
        """The bits of the number of a group."""
        return (self.cells - 1).bit_length()

    @property
    def word_bits(self) -> int:
        """The bits of a word, at most 16."""
        return self.code_bits + self.bits


# Where rows are read


def parts(batches: Iterator[pa.RecordBatch], *, shape: Shape, held: int = HELD) -> Iterator[pa.RecordBatch]:
    """The rows of a task by buckets. Of a person, no more than one entry for each word is sent for `held` rows."""
    waiting, number = list[pa.RecordBatch](), 0
    for batch in batches:
        waiting.append(batch)
        number += batch.num_rows
        if number >= held:
            yield _parted(waiting, shape)
            waiting, number = [], 0
    if number:
        yield _parted(waiting, shape)


def _parted(batches: Sequence[pa.RecordBatch], shape: Shape) -> pa.RecordBatch:
    people, words = (np.concatenate([integers(batch.column(place)) for batch in batches]) for place in range(2))
    buckets, sent = zip(*pieces(people, words, shape.word_bits), strict=True)
    return pa.RecordBatch.from_arrays([pa.array(buckets, pa.int32()), pa.array(sent, pa.binary())], schema=_SENT)


# Where a bucket arrives


def totals(batches: Iterator[pa.RecordBatch], *, shape: Shape, order: Order) -> Iterator[pa.RecordBatch]:
    """The buckets of a task and their totals, in one row."""
    held = dict[int, list[Any]]()
    for batch in batches:
        for bucket, entries in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            held.setdefault(bucket, []).append(entries.as_buffer())
    if not held:
        return
    found, buckets = Added(shape), list(held)
    for bucket in buckets:
        entries = gathered(bucket, held.pop(bucket), shape.word_bits)
        for block in blocks(entries, shape):
            found.add(*added(block, shape, order))
    columns = [np.array(buckets, np.int64), np.concatenate([[found.beyond], found.of_groups.ravel()])]
    yield pa.RecordBatch.from_arrays([pa.array([each.tobytes()], pa.binary()) for each in columns], schema=_ADDED)


def blocks(entries: Entries, shape: Shape, size: int = BLOCK) -> Iterator[Entries]:
    """The entries in blocks of about this size, each of whole people, who have at most 2^15 of them."""
    key, number = entries.key, entries.number
    first, every = 0, len(key)
    while first < every:
        last = min(first + size, every)
        if last < every:
            border = ((int(key[last - 1]) >> shape.word_bits) + 1) << shape.word_bits
            last = every if border >= 1 << (8 * key.itemsize) else int(np.searchsorted(key, key.dtype.type(border)))
        part = slice(first, last)
        yield replace(entries, key=key[part], number=None if number is None else number[part])
        first = last


class Added:
    """Totals that are added up: of each group the people, those whose rows are cut, and the rows, and of each value the
    rows in which it is not 0, and the sum. Rows and sums are in halves: the lower 32 bits, and what is above them."""

    def __init__(self, shape: Shape) -> None:
        self.beyond = 0
        """How many people are beyond the cap on groups."""
        self.of_groups: Counts = np.zeros((4 + 3 * len(shape.components), shape.cells), np.int64)
        self._lower = [2, *range(5, len(self.of_groups), 3)]

    def add(self, beyond: int, of_groups: Counts) -> None:
        """Add the totals of a block, whose lower halves are below 2^62."""
        self.beyond += beyond
        self.of_groups += of_groups
        for row in self._lower:  # so that the lower halves, which were below 2^32, are so again
            self.of_groups[row + 1] += self.of_groups[row] >> 32
            self.of_groups[row] &= 2**32 - 1


def added(entries: Entries, shape: Shape, order: Order) -> tuple[int, Counts]:
    """The totals of whole people, as `Added` has them."""
    key, number = entries.key, entries.number
    first = _cells_begin(key, shape)
    start = None if first is None else np.flatnonzero(first)
    cell = (key if first is None else key[first]) >> key.dtype.type(shape.bits)
    owner = cell >> key.dtype.type(shape.code_bits)
    code = (cell & key.dtype.type((1 << shape.code_bits) - 1)).astype(np.int64)
    kept, beyond = _few_groups(entries, owner, code, shape, order)
    size, found = shape.cells, Added(shape).of_groups
    rows = None if number is None and not shape.bits else _by_cell(number, start, len(key))
    full = None if rows is None else kept & (rows > shape.rows)
    if full is None or not full.any():
        full, few = None, kept
    else:
        few = kept & ~full
        found[1] = counted(code[full], size)
    found[0] = counted(code[kept], size)
    at = code[few]
    _add_halves(found[2:4], at, None if rows is None else rows[few])
    chosen, values = np.empty(0, np.int64), np.empty(0, np.uint64)
    if rows is not None and full is not None:
        if shape.components:
            chosen, values = _few_rows(_Full.of(entries, (start, rows, full, code), shape), shape, order)
            _add_halves(found[2:4], chosen, None)
        else:
            _add_halves(found[2:4], code[full], np.full(np.count_nonzero(full), shape.rows))
    for place, (below, bits) in enumerate(shape.components):
        of_all, of_chosen = (
            ((each >> each.dtype.type(below)) & each.dtype.type((1 << bits) - 1)).astype(np.int64)
            for each in (key, values)
        )
        there = (of_all > 0).astype(np.int64)
        if number is not None:
            there *= number
            of_all *= number  # a sum that overflows is of a full cell, and not among the few
        mine = found[4 + 3 * place : 7 + 3 * place]
        mine[0] = counted(at, size, _by_cell(there, start, len(key))[few]) + counted(chosen[of_chosen > 0], size)
        _add_halves(mine[1:], at, _by_cell(of_all, start, len(key))[few])
        _add_halves(mine[1:], chosen, of_chosen)
    return beyond, found


def _cells_begin(key: NDArray[Any], shape: Shape) -> Flags | None:
    """Whether each entry is the first of a cell; None, if each is a cell of its own."""
    if not shape.bits:
        return None
    found = firsts(key >> key.dtype.type(shape.bits))
    return None if found.all() else found


def _by_cell(values: Counts | None, start: Places | None, every: int) -> Counts:
    """The sum of each cell's values; None stands for ones, and for cells of one entry."""
    if start is None:
        return np.ones(every, np.int64) if values is None else values
    return lengths(start, every) if values is None else np.add.reduceat(values, start)


def _few_groups(entries: Entries, owner: Words, code: Places, shape: Shape, order: Order) -> tuple[Flags, int]:
    """Which cells the cap on groups keeps, and how many people lose some."""
    kept = np.ones(len(owner), np.bool_)
    if shape.groups is None:
        return kept, 0
    first = np.flatnonzero(firsts(owner))
    size = lengths(first, len(owner))
    over = size > shape.groups
    number = int(np.count_nonzero(over))
    if number:
        many, people = np.repeat(over, size), entries.people(owner[first[over]])
        codes = code[many].view(np.uint64)
        kept[many] = lowest(order.cells(people, size[over], codes), size[over], shape.groups)
    return kept, number


@dataclass(frozen=True, slots=True)
class _Full:
    """The entries of the full cells: of each the person, the group, the values, the rows, and the place of the cell."""

    people: Places
    code: Places
    value: Words
    number: Counts
    owner: Places
    size: Counts
    """The rows of each cell."""

    @classmethod
    def of(cls, entries: Entries, cells: tuple[Places | None, Counts, Flags, Places], shape: Shape) -> _Full:
        start, rows, full, code = cells
        every = len(entries.key)
        number = _by_cell(None, start, every)
        inside, each = np.repeat(full, number), number[full]
        key = entries.key[inside].astype(np.uint64)
        return cls(
            entries.people(key >> np.uint64(shape.word_bits)),
            np.repeat(code[full], each),
            key & np.uint64((1 << shape.bits) - 1),
            np.ones(len(key), np.int64) if entries.number is None else entries.number[inside],
            np.repeat(np.arange(len(each)), each),
            rows[full],
        )


def _few_rows(full: _Full, shape: Shape, order: Order) -> tuple[Places, Words]:
    """The groups and values of the rows that are kept in full cells, where it matters which.

    A person may have any number of rows in a cell. They are hashed some at a time, and only those are held that are
    below a border with about four times as many rows as are kept. If a cell has too few of these, all are held.
    """
    size = full.size
    for border in (np.minimum((4 * shape.rows + 32) / size, 1.0), np.ones(len(size))):
        at, hashed = _below(full, border[full.owner], order)
        held = np.bincount(full.owner[at], minlength=len(size))
        if (held > shape.rows).all():
            break
    at = at[lowest(hashed, held, shape.rows)]
    return full.code[at], full.value[at]


def _below(full: _Full, border: NDArray[np.float64], order: Order) -> tuple[Places, Words]:
    """The entry and the hash of each row whose hash is below the entry's border, a part of the range of hashes."""
    ends = np.cumsum(full.number)
    most = (border * 2.0**HASH_BITS).astype(np.uint64)
    found = []
    for first in range(0, int(ends[-1]), PAIRS):
        places = np.arange(first, min(first + PAIRS, int(ends[-1])))
        at = np.searchsorted(ends, places, side="right")
        twins = (places - (ends - full.number)[at]).view(np.uint64)
        hashed = order.rows(full.people[at], full.code[at].view(np.uint64), full.value[at], twins)
        near = (hashed >> np.uint64(64 - HASH_BITS)) < most[at]
        found.append((at[near], hashed[near]))
    return np.concatenate([at for at, _ in found]), np.concatenate([hashed for _, hashed in found])


def _add_halves(halves: Counts, code: Places, numbers: Counts | None) -> None:
    """Add numbers from 0 to 2^62 by group to their lower 32 bits, and to the others; None stands for ones.

    A block has fewer than 2^18 cells, and values of rows that are kept of full cells are below 2^16, so that neither
    sum overflows.
    """
    size = halves.shape[1]
    if numbers is None:
        halves[0] += counted(code, size)
        return
    upper = numbers >> 32
    if upper.any():
        halves[0] += counted(code, size, numbers & (2**32 - 1))
        halves[1] += counted(code, size, upper)
    else:
        halves[0] += counted(code, size, numbers)
