"""The rows of Spark's tasks as entries: a person and a word in one integer, with the number of equal rows.

A person's number is split in two. The *bucket* is 8 of its bits, mixed with the other 56, which are *high*. A bucket
and a high give the person back, so that the people of one bucket are known by high alone. Numbers near each other fit
into few bits so: entries of a million people and 200 groups into 32.

It depends on the rows which form entries have, and the totals do not. See `sitr.backends.spark_tasks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.backends.packed.choose import Flags, Places, lengths
from sitr.backends.packed.hashes import Words
from sitr.backends.packed.totals import Counts

BUCKET_BITS = 8
PIECE = 1 << 14
"""About the most bytes of a row that Spark exchanges, so that a batch of rows has few (`spark_engine.BATCHES`)."""

BLOCK = 1 << 16
"""The rows that are packed at once, so that what lies between is in the cache of a processor."""
_SPREAD = 0x9E3779B97F4A7C15
_WIDE = 10
"""A high of 8 bytes and a word of 2, where they do not fit into one integer. The other forms are 4 and 8 bytes."""
_HEADER = 32


def split(people: Places) -> tuple[Places, Words]:
    """The high and the bucket of each person.

    >>> high, bucket = split(np.array([-(2**63), -1, 0, 1, 256, 2**63 - 1]))
    >>> high.tolist(), bucket.tolist()
    ([-36028797018963968, -1, 0, 0, 1, 36028797018963967], [245, 158, 0, 1, 158, 147])
    >>> [int(joined(high[at : at + 1], int(bucket[at]))[0]) for at in range(6)] == [-(2**63), -1, 0, 1, 256, 2**63 - 1]
    True
    """
    high = people >> BUCKET_BITS
    bucket = _spread(high)
    bucket ^= people.view(np.uint64) & np.uint64(2**BUCKET_BITS - 1)
    return high, bucket


def joined(high: Places, bucket: int) -> Places:
    """The people of a bucket by their highs."""
    return (high << BUCKET_BITS) | (_spread(high) ^ np.uint64(bucket)).view(np.int64)


def _spread(high: Places) -> Words:
    return (high.view(np.uint64) * np.uint64(_SPREAD)) >> np.uint64(64 - BUCKET_BITS)


def ranked(high: Places) -> tuple[Places, Words]:
    """The different numbers in order, and the place of each among them."""
    order = np.argsort(high)
    found = high[order]
    first = firsts(found)
    ranks = np.empty(len(high), np.uint64)
    ranks[order] = np.cumsum(first, dtype=np.uint64) - np.uint64(1)
    return found[first], ranks


def firsts(key: NDArray[Any]) -> Flags:
    """Whether each place is the first of a run of equal numbers. To index by flags is quicker than by places."""
    found = np.empty(len(key), np.bool_)
    found[:1] = True
    np.not_equal(key[1:], key[:-1], out=found[1:])
    return found


# Where rows are read


def pieces(people: Places, words: NDArray[Any], bits: int) -> Iterator[tuple[int, bytes]]:
    """The entries of some rows by buckets, each pair of a person and a word once. Words have this number of bits."""
    least = int(people.min()) >> BUCKET_BITS
    size, table = ((int(people.max()) >> BUCKET_BITS) - least).bit_length(), None
    if BUCKET_BITS + size + bits > 64:
        table, ranks = ranked(people >> BUCKET_BITS)
        size = len(table).bit_length()
    low = size + bits
    key = np.empty(len(people), np.uint64)
    for first in range(0, len(key), BLOCK):
        part = slice(first, first + BLOCK)
        high, bucket = split(people[part])
        own = (high - least).view(np.uint64) if table is None else ranks[part]
        own <<= np.uint64(bits)
        own |= words[part].astype(np.uint64)
        bucket <<= np.uint64(low)
        np.bitwise_or(own, bucket, out=key[part])
    key.sort()
    key, number = once(key)
    ends = [*np.searchsorted(key, np.arange(1, 2**BUCKET_BITS, dtype=np.uint64) << np.uint64(low)).tolist(), len(key)]
    key &= np.uint64((1 << low) - 1)
    columns: list[NDArray[Any]] = [key.astype(np.uint32) if low <= 32 else key]
    if table is not None:
        columns = [table[(key >> np.uint64(bits)).view(np.int64)], (key & np.uint64((1 << bits) - 1)).astype(np.uint16)]
    form, numbered = sum(column.itemsize for column in columns), 0
    if number is not None:
        columns.append(number.astype(np.uint8 if number.max() < 256 else np.uint32))
        numbered = columns[-1].itemsize
    most = PIECE // (form + numbered)
    for place, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        for first in range(begin, end, most):
            last = min(first + most, end)
            header = np.array([form, last - first, least, numbered], np.int64)
            yield place, b"".join([header.data, *(column[first:last].data for column in columns)])


def once(key: NDArray[Any]) -> tuple[NDArray[Any], Counts | None]:
    """Each of some keys in order once, with how often it is there; None if each is there once."""
    first = firsts(key)
    if first.all():
        return key, None
    return key[first], lengths(np.flatnonzero(first), len(key))


# Where a bucket arrives


@dataclass(frozen=True, slots=True)
class Packet:
    """What `pieces` sent: keys above `least`; or highs and words. No number means that all rows differ."""

    least: int
    key: NDArray[Any]
    word: NDArray[Any] | None
    number: NDArray[Any] | None

    @classmethod
    def of(cls, buffer: Any) -> Packet:
        form, rows, least, numbered = np.frombuffer(buffer, np.int64, 4).tolist()
        kind, word = {4: np.uint32, 8: np.uint64}.get(form, np.int64), None
        if form == _WIDE:
            word = np.frombuffer(buffer, np.uint16, rows, _HEADER + 8 * rows)
        count = {1: np.uint8, 4: np.uint32}.get(numbered)
        number = None if count is None else np.frombuffer(buffer, count, rows, _HEADER + form * rows)
        return cls(least, np.frombuffer(buffer, kind, rows, _HEADER), word, number)

    def apart(self, bits: int) -> tuple[Places, Words]:
        """The highs and the words."""
        if self.word is not None:
            return self.key, self.word.astype(np.uint64)
        key = self.key.astype(np.uint64)
        return (key >> np.uint64(bits)).view(np.int64) + self.least, key & np.uint64((1 << bits) - 1)


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one bucket in order, each pair of a person and a word once."""

    key: NDArray[Any]
    """The number of the person above the word, in 32 or 64 bits."""
    number: Counts | None
    """The rows of each entry; None if each has one."""
    bucket: int
    least: int
    table: Places | None = None
    """The highs by the numbers of people; None where these are the highs above `least`."""

    def people(self, numbers: NDArray[Any]) -> Places:
        """The people with these numbers."""
        high = numbers.astype(np.int64)
        return joined(high + self.least if self.table is None else self.table[high], self.bucket)


def gathered(bucket: int, buffers: Sequence[Any], bits: int) -> Entries:
    """The entries of all pieces of a bucket."""
    found = [Packet.of(buffer) for buffer in buffers]
    number = None
    if any(each.number is not None for each in found):
        ones = (np.ones(len(each.key), np.uint8) if each.number is None else each.number for each in found)
        number = np.concatenate(list(ones)).astype(np.int64)
    least = min(each.least for each in found)
    # The keys of a piece are in order.
    last = max((each.least + (int(each.key[-1]) >> bits) for each in found if each.word is None), default=least)
    size, table = (last - least).bit_length() + bits, None
    if size > 64 or any(each.word is not None for each in found):
        apart = [each.apart(bits) for each in found]
        table, key = ranked(np.concatenate([high for high, _ in apart]))
        key = (key << np.uint64(bits)) | np.concatenate([word for _, word in apart])
        return Entries(*merged(key, number, len(table).bit_length() + bits), bucket, 0, table)
    kind: Any = np.uint32 if size <= 32 else np.uint64
    key, first = np.empty(sum(len(each.key) for each in found), kind), 0
    for each in found:
        part = slice(first, first + len(each.key))
        key[part] = each.key
        key[part] += kind((each.least - least) << bits)
        first = part.stop
    return Entries(*merged(key, number, size), bucket, least)


def merged(key: NDArray[Any], number: Counts | None, size: int) -> tuple[NDArray[Any], Counts | None]:
    """Each key once, in order, with its rows. Keys have this number of bits."""
    if number is None:
        key.sort()
        return once(key)
    more = int(number.max()).bit_length()
    if size + more <= 64:  # a sort of both as one is several times quicker than a sort of places
        both = key.astype(np.uint64)
        both <<= np.uint64(more)
        both |= number.view(np.uint64)
        both.sort()
        number = (both & np.uint64((1 << more) - 1)).view(np.int64)
        both >>= np.uint64(more)
        key = both.astype(key.dtype)
    else:
        order = np.argsort(key)
        key, number = key[order], number[order]
    first = firsts(key)
    if first.all():
        return key, number
    return key[first], np.add.reduceat(number, np.flatnonzero(first))
