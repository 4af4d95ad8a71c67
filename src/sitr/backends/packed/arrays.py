"""Arrow's numbers as numpy arrays, without a copy. Arrow's own conversion loads pandas wherever it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # a preview reads no rows
    import pyarrow as pa


def integers(array: pa.Array) -> NDArray[Any]:
    """The integers of an array in which none is missing.

    >>> import pyarrow
    >>> integers(pyarrow.array([1, 2, 3, 4], pyarrow.uint16()).slice(1, 2))
    array([2, 3], dtype=uint16)
    """
    assert array.null_count == 0, "nothing is missing here"
    kind = np.dtype(str(array.type))  # both call them int64, uint8, …
    if not len(array):
        return np.empty(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def doubles(array: pa.Array) -> NDArray[np.float64]:
    """The doubles of an array, NaN where one is missing.

    >>> import pyarrow
    >>> doubles(pyarrow.array([1.0, None, 2.5]).slice(1))
    array([nan, 2.5])
    """
    if not len(array):
        return np.empty(0)
    valid, values = array.buffers()
    found = np.frombuffer(values, np.float64, len(array), array.offset * 8)
    if array.null_count:  # a bit for each value, from the lowest of each octet
        bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
        found = np.where(bits[array.offset : array.offset + len(array)] == 1, found, np.nan)
    return found
