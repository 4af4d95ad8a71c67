"""Whether executors compute with packed rows what the driver computes: asked before they read any rows.

The same functions run there as for a question (`spark_tasks`), on a few fixed rows, and all their bytes are compared.
An executor with another version of numpy or pyarrow, or other integers, is found so, and the statement reads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa

from sitr.backends.packed.hashes import Keyed
from sitr.backends.spark_tasks import TRAVELS, Order, Salted, Shape, parts, totals

PROBED = (*TRAVELS, sys.modules[__name__])
"""The modules whose functions are sent."""
FOUND = "found BINARY"

_SHAPE = Shape(5, ((0, 3), (3, 4)), 2, 3)
_SALT = 11
_SHIFTS = (0, 24, 56)
"""Of 64-bit numbers of people. Entries have 10, 8 and 4 bytes then (`spark_entries`)."""
_HELD, _EQUAL = 1000, 300
"""The rows of a part, and the equal rows of one person, who are too many for a number of 8 bits."""


def probe(batches: Iterator[pa.RecordBatch], *, shape: Shape, order: Order) -> Iterator[pa.RecordBatch]:
    """The bytes of the totals of all fixed rows, for a task that has any rows."""
    if sum(batch.num_rows for batch in batches):
        found = b"".join(computed(shift, shape, order) for shift in _SHIFTS)
        yield pa.RecordBatch.from_arrays([pa.array([found], pa.binary())], names=["found"])


def computed(shift: int, shape: Shape, order: Order) -> bytes:
    """The bytes of the totals of fixed rows of 60 people, whose numbers are shifted to the right."""
    people, words = list[int](), list[int]()
    for person in range(60):
        number = ((person * 0x9E3779B97F4A7C15) % 2**64 - 2**63) >> shift
        own = [(13 * person + 37 * place * place) % (shape.cells << shape.bits) for place in range(2 * person)]
        people += [number] * len(own)
        words += own
    people += people[-1:] * _EQUAL
    words += words[-1:] * _EQUAL
    rows = [
        pa.RecordBatch.from_arrays(
            [pa.array(people[first : first + 500], pa.int64()), pa.array(words[first : first + 500], pa.int32())],
            names=["u", "w"],
        )
        for first in range(0, len(people), 500)
    ]
    found = totals(parts(iter(rows), shape=shape, held=_HELD), shape=shape, order=order)
    return b"".join(column[0].as_py() for batch in found for column in batch.columns)


def sent() -> Any:
    """What runs on the executors, with the shape and the order sent as those of a question are."""
    return partial(probe, shape=_SHAPE, order=Salted(Keyed.by(_SALT)))


@lru_cache(maxsize=1)
def expected() -> bytes:
    """What the driver computes."""
    return b"".join(computed(shift, _SHAPE, Salted(Keyed.by(_SALT))) for shift in _SHIFTS)
