"""The keyed hashes by which groups and rows are chosen.

All of them are functions of the salt and of the person's own values: an id, a key, packed values and the number of a
twin. Nothing that depends on other people enters a hash: no position, no number from a dictionary, no least id. So
every arrangement of the same rows makes the same choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_STEP = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, odd: multiples of it by small numbers are far apart."""
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(x: Words) -> Words:
    """The finaliser of SplitMix64, in place: a bijection of 64 bits in which every bit depends on every other.

    >>> mix(np.array([1, 2], np.uint64))
    array([ 6238072747940578789, 15839785061582574730], dtype=uint64)
    """
    x ^= x >> np.uint64(30)
    x *= np.uint64(_FIRST)
    x ^= x >> np.uint64(27)
    x *= np.uint64(_SECOND)
    x ^= x >> np.uint64(31)
    return x


@dataclass(frozen=True, slots=True)
class Keyed:
    """The hashes of one salt, as integers of Python: numpy 1 cannot read a number that numpy 2 sends to an executor."""

    people: int
    groups: int

    @classmethod
    def by(cls, salt: int) -> Keyed:
        people, groups = mix(np.array([salt, salt ^ _STEP], np.uint64)).tolist()
        return cls(people, groups)

    def of_people(self, identities: Words) -> Words:
        """Of people, by the 64 bits that identify them: an id that is a number, or the hash of one that is a text."""
        return mix(identities ^ np.uint64(self.people))

    def of_cells(self, people: Words, groups: Words) -> Words:
        """Of pairs of a person and a group, from the person's hash and the 64 bits that identify the group."""
        found = groups * np.uint64(_STEP)
        found += people
        found ^= np.uint64(self.groups)
        return mix(found)


def of_rows(cells: Words, values: tuple[Words, ...], twins: Words | None) -> Words:
    """Of rows, from the hash of their cell, their packed values and their number among equal rows of the cell."""
    found = cells.copy()
    for word in values:
        found += word
        mix(found)
    if twins is not None:
        found += twins * np.uint64(_STEP)
    return mix(found)


def joined(one: Words, other: Words) -> Words:
    """The identity of a pair, from the identities of its parts.

    >>> bool((joined(np.array([1], np.uint64), np.array([2], np.uint64)) == joined(np.array([2], np.uint64),
    ...     np.array([1], np.uint64))).any())
    False
    """
    found = mix(one.copy())
    found += other
    return mix(found)
