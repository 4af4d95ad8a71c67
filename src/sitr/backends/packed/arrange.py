"""Rows sorted by person and group, in as few bytes as they need.

A sorted key has the bits person | group | tail. If everything fits into 64 bits, the tail is the packed values, and
the keys alone are sorted, in place. Otherwise the tail is the number of the row, by which its values are found again,
or nothing, if the numbers of people, groups and rows together are too long: then the order is kept beside the keys.

Which of them is used depends on the rows, and what is chosen does not: see `hashes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sitr.backends.packed.arrays import integers
from sitr.backends.packed.groups import Groups, Identify, groups, numbered
from sitr.backends.packed.hashes import Words
from sitr.backends.packed.hold import Held
from sitr.backends.packed.layout import Layout

if TYPE_CHECKING:
    import pyarrow as pa

_WIDTH = 64


@dataclass(frozen=True, slots=True)
class People:
    """The identity of each person by number: `least` plus the number, or the hash of a text."""

    least: int = 0
    identities: Words | None = None

    def of(self, numbers: Words) -> Words:
        if self.identities is None:
            return numbers + np.uint64(self.least % 2**64)
        return self.identities[numbers.view(np.int64)]


@dataclass(frozen=True, slots=True)
class Arranged:
    """The rows of some people, sorted. Of `words` only the bits of the components count."""

    key: Words
    code_bits: int
    tail_bits: int
    people: People
    groups: Groups | None
    """None where the groups are public: then the number of a group is its identity."""
    words: tuple[Words, ...] | None = None
    """The values in the order in which rows were read; None if they are the tail of the key."""
    order: NDArray[np.int64] | None = field(default=None)

    def values(self, rows: slice) -> tuple[Words, ...]:
        """The words of these rows, given as places in the sorted order."""
        tail = np.uint64((1 << self.tail_bits) - 1)
        if self.words is None:
            return (self.key[rows] & tail,) if self.tail_bits else ()
        at = (self.key[rows] & tail).view(np.int64) if self.order is None else self.order[rows]
        return tuple(word[at] for word in self.words)


def arranged(layout: Layout, held: Held, identify: Identify) -> Arranged:
    """The held rows, sorted; nothing else of them stays in memory."""
    if held.packed is not None:
        bits = layout.bits[0]
        key = held.packed
        key.sort()
        return Arranged(key, layout.code_bits, bits, People(), None)
    batches = held.batches
    rows = sum(batch.num_rows for batch in batches)
    found, code_bits = _found(layout, batches, identify)
    people, numbers, people_bits = _people(layout, batches, identify, dictionary=layout.text)
    bits = layout.bits[0] if len(layout.bits) == 1 else _WIDTH + 1
    row_bits = max(rows - 1, 0).bit_length()
    if not layout.text and people_bits + code_bits + min(bits, row_bits) > _WIDTH:
        people, numbers, people_bits = _people(layout, batches, identify, dictionary=True)
    packed = people_bits + code_bits + bits <= _WIDTH
    tail = bits if packed else row_bits if people_bits + code_bits + row_bits <= _WIDTH else 0
    # Every shift below moves a key by bits that were counted here. With a tail, they are at most 64 in all. Without,
    # both numbers are from dictionaries, or the group's has at most 20 bits: at most 2 · NUMBER_BITS in all.
    assert people_bits + code_bits + tail <= 64, "a person shifted out of the key would be another one"
    key = np.empty(rows, np.uint64)
    words = () if packed else tuple(np.empty(rows, np.uint64) for _ in layout.bits)
    first = 0
    for place in range(len(batches)):
        last = first + batches[place].num_rows
        part = key[first:last]
        part[:] = numbers[place]
        low, own = _low(layout, batches[place], None if found is None else found.numbers[place])
        for whole, word in zip(words, own, strict=False):
            whole[first:last] = word
        _shifted(part, low, code_bits)
        if packed and tail:
            _shifted(part, own[0], tail)
        elif tail:
            _shifted(part, np.arange(first, last).view(np.uint64), tail)
        numbers[place], batches[place] = None, None
        first = last
    batches.clear()
    if packed or tail:
        key.sort()
        return Arranged(key, code_bits, tail, people, found, None if packed else words)
    order = np.argsort(key, kind="stable")
    return Arranged(key[order], code_bits, 0, people, found, words, order)


def _shifted(key: Words, low: Words | None, bits: int) -> None:
    if bits:
        key <<= np.uint64(bits)
        if low is not None:
            key |= low


def _found(layout: Layout, batches: Sequence[pa.RecordBatch], identify: Identify) -> tuple[Groups | None, int]:
    """The groups that are found in the rows, and the bits of a group's number."""
    if layout.dense:
        return None, layout.code_bits
    names = [*(f"k{place}" for place in layout.found), *(["c"] if layout.listed else [])]
    found = groups([[batch.column(name) for batch in batches] for name in names], identify)
    return found, max(found.count - 1, 0).bit_length()


def _people(
    layout: Layout, batches: Sequence[pa.RecordBatch], identify: Identify, *, dictionary: bool
) -> tuple[People, list[Any], int]:
    """Who the people are, their numbers in each batch, and the bits of a number."""
    columns = [batch.column("u") for batch in batches]
    if dictionary:
        encoded = numbered(columns)
        own = identify(encoded.values) if layout.text else _whole(integers(encoded.values))
        return People(identities=own), encoded.numbers, encoded.bits
    ids = [integers(column) for column in columns]
    least, most = min(int(each.min()) for each in ids), max(int(each.max()) for each in ids)
    return People(least), _Offset(ids, least), (most - least).bit_length()


def _whole(ids: NDArray[Any]) -> Words:
    """The 64 bits of an integer, whatever its type."""
    return ids.astype(np.int64).view(np.uint64) if ids.dtype.kind == "i" else ids.astype(np.uint64)


class _Offset(list[Any]):
    """The ids of each batch, as numbers above the least one when they are taken."""

    def __init__(self, ids: list[NDArray[Any]], least: int) -> None:
        super().__init__(ids)
        self._least = np.uint64(least % 2**64)

    def __getitem__(self, place: Any) -> Any:
        return _whole(super().__getitem__(place)) - self._least


def _low(layout: Layout, batch: pa.RecordBatch, numbers: NDArray[Any] | None) -> tuple[Words | None, tuple[Words, ...]]:
    """The number of each row's group, and its words."""
    names = [name for name in batch.schema.names if name.startswith("w")]
    words = tuple(integers(batch.column(name)).view(np.uint64) for name in names)
    if numbers is not None:
        return numbers.astype(np.uint64), words
    if layout.code_packed:
        bits = layout.bits[0]
        code = words[0] >> np.uint64(bits)
        return code, (words[0] & np.uint64((1 << bits) - 1),) if bits else ()
    return (integers(batch.column("c")).view(np.uint64) if layout.listed else None), words
