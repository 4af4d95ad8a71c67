"""The rows of a part while they are read, in as little memory as can be had at once.

Most ids are integers that are not negative and small enough to stand above the group and the values in 64 bits. Then
each batch is packed when it arrives, and the id is its own number. At the first id that does not fit, the rows so far
are unpacked, and batches are held as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sitr.backends.packed.arrays import integers
from sitr.backends.packed.hashes import Words
from sitr.backends.packed.layout import Layout
from sitr.backends.packed.words import packed, words
from sitr.namespace import Later

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview reads no rows
    pa = Later("pyarrow")

BATCH = 122_880
"""Rows that DuckDB hands over at a time."""
_ROW = 8
"""The bytes of a packed row."""
MOST_ROWS = 1 << 30
"""No part has more rows, however large memory is: numbers from a dictionary have 31 bits, and a question whose people
do not fit would fail after its charge."""
_ROOM = 1 << 20
"""The packed rows that there is room for where memory is not limited; the room is doubled when it is full."""


@dataclass(slots=True)
class Held:
    """Rows of some people: packed into one array, or in batches."""

    packed: Words | None = None
    batches: list[pa.RecordBatch] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.batches and (self.packed is None or not len(self.packed))


def held(layout: Layout, batches: Iterable[pa.RecordBatch], *, memory: int | None) -> Held | None:
    """All rows of these batches; None if they take more than `memory` bytes, or are more than `MOST_ROWS`."""
    bits = layout.bits[0] + layout.code_bits
    # The system gives memory to pages of the array when they are written, so that its full size costs nothing.
    room = _ROOM if memory is None else min(memory // _ROW, MOST_ROWS) + BATCH
    key = np.empty(room, np.uint64) if layout.code_packed and not layout.text else None
    rows, size, kept, every = 0, 0, [], 0
    for batch in batches:
        if not batch.num_rows:
            continue
        every += batch.num_rows
        if key is not None:
            ids = integers(batch.column("u"))
            if ids.min() >= 0 and int(ids.max()) >> (64 - bits) == 0:
                last = rows + len(ids)
                if last > len(key):
                    key = np.concatenate([key[:rows], np.empty(last, np.uint64)])
                part = key[rows:last]
                wide = ids.view(np.uint64) if ids.itemsize == 8 else ids.astype(np.uint64)
                np.left_shift(wide, np.uint64(bits), out=part)  # ids are below 2^(64 - bits): nothing is shifted out
                (low,) = words(layout, batch)
                assert int(low.max()) >> bits == 0, "a group or value beyond its bits would be another person"
                part |= low
                rows, size = last, size + len(ids) * _ROW
            else:
                kept = [_unpacked(key[:rows], bits, batch.column("u").type)] if rows else []
                key = None
        if key is None:
            kept.append(packed(layout, batch))
            size += kept[-1].nbytes
        if memory is not None and (size > memory or every > MOST_ROWS):
            return None
    if key is None:
        return Held(batches=kept)
    return Held(packed=key[:rows])


def _unpacked(key: Words, bits: int, type: pa.DataType) -> pa.RecordBatch:
    """The rows as they were read, with ids of the type that follows: Arrow joins no chunks of different types."""
    low = (key & np.uint64((1 << bits) - 1)).view(np.int64)  # `bits` is at most 62
    return pa.record_batch([pa.array(key >> np.uint64(bits)).cast(type), pa.array(low)], names=["u", "w0"])
