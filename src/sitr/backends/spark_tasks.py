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
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.backends.packed import arrays, choose, hashes
from sitr.backends.packed import totals as packed_totals
from sitr.backends.packed.arrays import integers
from sitr.backends.packed.choose import HASH_BITS, Flags, Places, lengths, lowest
from sitr.backends.packed.hashes import Keyed, Words, mix, of_rows
from sitr.backends.packed.totals import Counts, counted

TRAVELS = (sys.modules[__name__], arrays, choose, hashes, packed_totals)
"""The modules whose functions are sent to the executors as they are, because Sitr is not installed there."""

BUCKETS = 256
"""A bucket is the people whose hashed numbers end in the same bits. A task holds its buckets, and works on one of them
at a time."""
HELD = 1 << 21
"""The rows that a task adds up at once, about 60 MB of them."""
PAIRS = 1 << 20
"""The rows of over-full groups that are hashed at once."""
ENTRY = 14
"""The bytes of the number of a person, a word, and the number of equal rows."""

_SCHEMA = pa.schema([("bucket", pa.int32()), ("bytes", pa.binary())])
SENT = "bucket INT, bytes BINARY"


class Order(Protocol):
    """The hashes by which groups and rows are chosen: functions of the salt and of the person's own rows alone."""

    def cells(self, people: Places, codes: Words) -> Words:
        """Of pairs of a person and a group."""

    def rows(self, people: Places, codes: Words, words: Words, twins: Words) -> Words:
        """Of rows with these values, and their numbers, from 0, among the equal rows of the cell."""


@dataclass(frozen=True)
class Salted:
    """The order in production."""

    keyed: Keyed

    def cells(self, people: Places, codes: Words) -> Words:
        return self.keyed.of_cells(self.keyed.of_people(people.view(np.uint64)), codes)

    def rows(self, people: Places, codes: Words, words: Words, twins: Words) -> Words:
        return of_rows(self.cells(people, codes), (words,), twins)


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
        """The bits of all values of a word, below the number of the group. A word has at most 16 bits."""
        return sum(bits for _, bits in self.components)


# Where rows are read


def parts(batches: Iterator[pa.RecordBatch], *, held: int = HELD) -> Iterator[pa.RecordBatch]:
    """The rows of a task by buckets. Of a person, no more than one entry for each word is sent for `held` rows."""
    waiting, number = list[pa.RecordBatch](), 0
    for batch in batches:
        waiting.append(batch)
        number += batch.num_rows
        if number >= held:
            yield _parted(waiting)
            waiting, number = [], 0
    if number:
        yield _parted(waiting)


def _parted(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    people, words = (np.concatenate([integers(batch.column(place)) for batch in batches]) for place in range(2))
    people, words, number = merged(people, words.astype(np.uint64))
    bucket = (mix(people.view(np.uint64).copy()) & np.uint64(BUCKETS - 1)).astype(np.uint8)
    order = np.argsort(bucket, kind="stable")
    columns: list[NDArray[Any]] = [people[order], words[order].astype(np.uint16), number[order].astype(np.uint32)]
    ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS)).tolist()
    sent = {
        place: b"".join(column[first:last].tobytes() for column in columns)
        for place, (first, last) in enumerate(zip([0, *ends], ends, strict=False))
        if last > first
    }
    return _batch(list(sent), list(sent.values()))


def _batch(buckets: list[int], sent: list[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(buckets, pa.int32()), pa.array(sent, pa.binary())], schema=_SCHEMA)


def merged(people: Places, words: Words, number: Counts | None = None) -> tuple[Places, Words, Counts]:
    """Each pair of a person and a word once, in order, with the number of its rows.

    People who are near each other are sorted as one integer with their words. It depends on the rows whether they are,
    and the result does not.
    """
    least = int(people.min())
    if (int(people.max()) - least).bit_length() + 16 <= 64:
        key = ((people.view(np.uint64) - np.uint64(least % 2**64)) << np.uint64(16)) | words
        if number is None:
            key.sort()
        else:
            order = np.argsort(key, kind="stable")
            key, number = key[order], number[order]
        start = _begins(key[1:] != key[:-1])
        key = key[start]
        found = ((key >> np.uint64(16)) + np.uint64(least % 2**64)).view(np.int64), key & np.uint64(2**16 - 1)
    else:
        order = np.lexsort((words, people))
        people, words = people[order], words[order]
        number = None if number is None else number[order]
        start = _begins((people[1:] != people[:-1]) | (words[1:] != words[:-1]))
        found = people[start], words[start]
    return *found, lengths(start, len(words)) if number is None else np.add.reduceat(number, start)


def _begins(changes: Flags) -> Places:
    """Where runs begin, from whether each place but the first differs from the one before."""
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(changes) + 1])


# Where a bucket arrives


def totals(batches: Iterator[pa.RecordBatch], *, shape: Shape, order: Order) -> Iterator[pa.RecordBatch]:
    """The totals of each bucket as bytes."""
    held = dict[int, list[Any]]()
    for batch in batches:
        for bucket, entries in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            held.setdefault(bucket, []).append(entries.as_buffer())
    for bucket in list(held):
        found = _of_bucket(held.pop(bucket), shape, order)
        yield _batch([bucket], [found.tobytes()])


def _of_bucket(buffers: Sequence[Any], shape: Shape, order: Order) -> Counts:
    split = [_entries(buffer) for buffer in buffers]
    people, words, number = (np.concatenate([each[place] for each in split]) for place in range(3))
    return added(*merged(people, words.astype(np.uint64), number.astype(np.int64)), shape, order)


def _entries(buffer: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rows = buffer.size // ENTRY
    return (
        np.frombuffer(buffer, np.int64, rows),
        np.frombuffer(buffer, np.uint16, rows, 8 * rows),
        np.frombuffer(buffer, np.uint32, rows, 10 * rows),
    )


def added(people: Places, words: Words, number: Counts, shape: Shape, order: Order) -> Counts:
    """The totals of whole people: how many of them are beyond the cap on groups, and then, for each group, the people,
    those whose rows are cut, and the rows, and of each value the rows in which it is not 0, and the sum. Rows and sums
    are in halves of 32 bits."""
    codes = words >> np.uint64(shape.bits)
    start = _begins((people[1:] != people[:-1]) | (codes[1:] != codes[:-1]))
    rows, owner, code = np.add.reduceat(number, start), people[start], codes[start]
    kept, beyond = _few_groups(owner, code, shape, order)
    full = kept & (rows > shape.rows)
    few = kept & ~full
    at, size = code.view(np.int64), shape.cells
    found = [counted(at[kept], size), counted(at[full], size)]
    sums = [(at[few], rows[few])]
    if not shape.components:
        sums.append((at[full], np.full(np.count_nonzero(full), shape.rows)))
    chosen, values = _few_rows(people, words, number, (start, rows, full), shape, order)
    sums.append((chosen, np.ones(len(chosen), np.int64)))
    found += _halves(sums, size)
    for below, bits in shape.components:
        of_all, of_chosen = (
            ((each >> np.uint64(below)) & np.uint64((1 << bits) - 1)).view(np.int64) for each in (words, values)
        )
        present: Counts = np.add.reduceat(np.where(of_all > 0, number, 0), start)[few]
        found.append(np.add(counted(at[few], size, present), counted(chosen[of_chosen > 0], size)))
        # A sum that overflows is of a full cell, and not among the few.
        whole = np.add.reduceat(of_all * number, start)[few]
        found += _halves([(at[few], whole), (chosen, of_chosen)], size)
    return np.concatenate([np.array([beyond], np.int64), *found])


def _few_groups(owner: Places, code: Words, shape: Shape, order: Order) -> tuple[Flags, int]:
    """Which cells the cap on groups keeps, and how many people lose some."""
    kept = np.ones(len(owner), np.bool_)
    if shape.groups is None:
        return kept, 0
    first = _begins(owner[1:] != owner[:-1])
    size = lengths(first, len(owner))
    over = size > shape.groups
    if over.any():
        many = np.repeat(over, size)
        kept[many] = lowest(order.cells(owner[many], code[many]), size[over], shape.groups)
    return kept, int(np.count_nonzero(over))


def _few_rows(
    people: Places, words: Words, number: Counts, cells: tuple[Places, Counts, Flags], shape: Shape, order: Order
) -> tuple[Places, Words]:
    """The groups and words of the rows that are kept in full cells, where it matters which.

    A person may have any number of rows in a cell. They are hashed some at a time, and only those are held that are
    below a border with about four times as many rows as are kept. If a cell has too few of these, all are held.
    """
    start, rows, full = cells
    if not shape.components or not full.any():
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    entries = lengths(start, len(people))
    inside, size = np.repeat(full, entries), rows[full]
    people, words, number = people[inside], words[inside], number[inside]
    owner = np.repeat(np.arange(len(size)), entries[full])
    for border in (np.minimum((4 * shape.rows + 32) / size, 1.0), np.ones(len(size))):
        at, hashed = _below(people, words, number, border[owner], shape, order)
        held = np.bincount(owner[at], minlength=len(size))
        if (held > shape.rows).all():
            break
    at = at[lowest(hashed, held, shape.rows)]
    return (words[at] >> np.uint64(shape.bits)).view(np.int64), words[at]


def _below(
    people: Places, words: Words, number: Counts, border: NDArray[np.float64], shape: Shape, order: Order
) -> tuple[Places, Words]:
    """The entry and the hash of each row whose hash is below the entry's border, a part of the range of hashes."""
    ends = np.cumsum(number)
    most = (border * 2.0**HASH_BITS).astype(np.uint64)
    found = []
    for first in range(0, int(ends[-1]), PAIRS):
        places = np.arange(first, min(first + PAIRS, int(ends[-1])))
        at = np.searchsorted(ends, places, side="right")
        twins = (places - (ends - number)[at]).view(np.uint64)
        codes = words[at] >> np.uint64(shape.bits)
        hashed = order.rows(people[at], codes, words[at] & np.uint64((1 << shape.bits) - 1), twins)
        near = (hashed >> np.uint64(64 - HASH_BITS)) < most[at]
        found.append((at[near], hashed[near]))
    return np.concatenate([at for at, _ in found]), np.concatenate([hashed for _, hashed in found])


def _halves(sums: Sequence[tuple[Places, Counts]], size: int) -> list[Counts]:
    """The sums of numbers from 0 to 2^62 by group: of their lower 32 bits, and of the others.

    A bucket has fewer than 2^31 cells and kept rows, of 14 bytes each, so that neither sum overflows.
    """
    lower, upper = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for code, numbers in sums:
        lower += counted(code, size, numbers & (2**32 - 1))
        upper += counted(code, size, numbers >> 32)
    return [lower, upper]


def probe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Nothing but what this file needs: a Python that reads these functions, numpy and pyarrow."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([int(np.sum(integers(batch.column(0))))])], names=["n"])
