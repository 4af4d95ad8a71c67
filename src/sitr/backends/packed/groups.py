"""Numbers for people and groups that are found in the rows, and the 64 bits that identify each of them.

A number depends on the other rows; it only says which rows belong together. Whatever is chosen by a hash is chosen by
the identity, which is a function of the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sitr.backends.packed.arrays import integers
from sitr.backends.packed.hashes import Words, joined
from sitr.namespace import Later

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview reads no rows
    pa = Later("pyarrow")

NUMBER_BITS = 31
"""The bits of a number from a dictionary, at most: Arrow's numbers are 32-bit integers with a sign, whatever the rows.

It is public, and so it may decide how a question is read. How many groups there are must not.
"""

Identify = Callable[["pa.Array"], Words]
"""A hash of 64 bits of each value of an array, NULL included; equal values have equal hashes."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """The different values of a column with the number of each row's value, in the order of the rows."""

    numbers: list[NDArray[Any]]
    values: pa.Array

    @property
    def bits(self) -> int:
        return max(len(self.values) - 1, 0).bit_length()


def numbered(chunks: Sequence[pa.Array]) -> Numbered:
    """Exactly: values have the same number only if they are equal, and NULL is a value.

    >>> found = numbered([pa.array(["b", None]), pa.array(["b", "a"])])
    >>> [each.tolist() for each in found.numbers], found.values.to_pylist()
    ([[0, 1], [0, 2]], ['b', None, 'a'])
    """
    encoded = pa.chunked_array(chunks).dictionary_encode("encode")
    values = encoded.chunk(encoded.num_chunks - 1).dictionary
    assert encoded.type.index_type == pa.int32(), "numbers of more bits than NUMBER_BITS would not fit where they stand"
    return Numbered([integers(chunk.indices) for chunk in encoded.chunks], values)


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups that are found in the rows, from one or several columns: their numbers, identities and values."""

    numbers: list[NDArray[Any]]
    identities: Words
    columns: tuple[list[Any], ...]
    """For each column, the value of each group."""

    @property
    def count(self) -> int:
        return len(self.identities)


def groups(columns: Sequence[Sequence[pa.Array]], identify: Identify) -> Groups:
    """The groups of the columns together, each column in the same chunks of rows."""
    first, *others = (numbered(chunks) for chunks in columns)
    numbers, identities = first.numbers, identify(first.values)
    values: tuple[list[Any], ...] = (first.values.to_pylist(),)
    for other in others:
        size = len(other.values)  # at most 2^31, as are the groups so far: no pair reaches 2^62
        both = numbered(
            [pa.array(one.astype(np.int64) * size + more) for one, more in zip(numbers, other.numbers, strict=True)]
        )
        pairs = integers(both.values)
        left, right = pairs // size, pairs % size
        own = other.values.to_pylist()
        numbers = both.numbers
        identities = joined(identities[left], identify(other.values)[right])
        values = (
            *([column[place] for place in left.tolist()] for column in values),
            [own[at] for at in right.tolist()],
        )
    return Groups(numbers, identities, values)
