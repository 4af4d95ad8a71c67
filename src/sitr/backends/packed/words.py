"""The values of rows as bits of integers: clamped and counted in granules as the statement does it, then packed.

`DuckDBDialect.granules` is the rule: clamp as a double, divide by the granularity, round halves away from zero, clamp
the integer. Each step is one correctly rounded operation in both, so they agree on every double; a test compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sitr.backends.duckdb_dialect import stays_inside
from sitr.backends.packed.arrays import doubles, integers
from sitr.backends.packed.hashes import Words
from sitr.backends.packed.layout import Component, Layout
from sitr.dataset.schema import Quantised
from sitr.namespace import Later

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview reads no rows
    pa = Later("pyarrow")


def words(layout: Layout, batch: pa.RecordBatch) -> tuple[Words, ...]:
    """The words of the rows that `scan` reads, with the number of the public group above the first if it fits there."""
    found: list[Words | None] = [None] * len(layout.bits)
    for place, component in enumerate(layout.components):
        bits = _bits(component, batch.column(f"t{place}"))
        if component.shift:
            bits <<= np.uint64(component.shift)
        before = found[component.word]
        found[component.word] = bits if before is None else np.bitwise_or(before, bits, out=before)
    if layout.code_packed:
        low = found[0]
        code = integers(batch.column("c")).view(np.uint64) if layout.listed else np.zeros(batch.num_rows, np.uint64)
        if low is None:
            return (code,)
        low |= code << np.uint64(layout.bits[0])
    return tuple(word for word in found if word is not None)


def packed(layout: Layout, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The person u, the keys k, the number c of the public group unless it is packed, and the words w of the rows."""
    names = ["u", *(f"k{place}" for place in layout.found)]
    names += ["c"] if layout.listed and not layout.code_packed else []
    columns = [batch.column(name) for name in names]
    own = words(layout, batch)
    # Words are below 2^62 (`layout.WORD`), so that a signed integer holds them.
    columns += [pa.Array.from_buffers(pa.int64(), len(word), [None, pa.py_buffer(word)]) for word in own]
    return pa.record_batch(columns, names=[*names, *(f"w{place}" for place in range(len(own)))])


def _bits(component: Component, column: pa.Array) -> Words:
    """The number of a component, in an array of its own, never beyond its bits."""
    if component.to is None:
        return integers(column).astype(np.uint64)
    return granules(doubles(column), component.to)


def granules(numbers: NDArray[np.float64], to: Quantised) -> Words:
    """Clamped and counted in granules above the lowest, plus 1; 0 for NaN.

    >>> from fractions import Fraction
    >>> granules(np.array([-9, -0.5, 0.4, 0.5, 1.5, 2.5, 99, np.nan]), Quantised(-1, 3, Fraction(1))).tolist()
    [1, 1, 2, 3, 4, 5, 5, 0]
    """
    unit = float(to.granularity)
    low, high = (float(end) for end in to.ends)
    found = np.maximum(numbers, low)
    np.minimum(found, high, out=found)
    missing = np.isnan(numbers)
    some = bool(missing.any())
    if some:
        found[missing] = low
    if unit != 1:
        found /= unit
    whole = np.trunc(found)
    found -= whole  # exact, and of the same sign
    np.add(whole, found >= 0.5, out=whole)
    if low < 0:
        np.subtract(whole, found <= -0.5, out=whole)
    counted = whole.astype(np.int64)
    if not stays_inside(to):
        np.clip(counted, to.lower, to.upper, out=counted)
    counted -= to.lower - 1
    if some:
        counted[missing] = 0
    return counted.view(np.uint64)
