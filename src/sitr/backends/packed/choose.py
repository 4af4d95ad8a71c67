"""The caps, applied to sorted rows: at most k groups of each person, and at most m rows in each of them.

A group of a person is a run of equal keys, a *cell*. Only people with more than k cells, and cells with more than m
rows, are looked at again: of each the smallest hashes are kept, as `sitr.backends.reading` says.

**The rank and the border.** With s the (k+1)-th smallest hash of a person's cells, a cell is kept if its hash is below
s. A hash below s is among the k smallest, so the number of hashes at or below it is at most k; and if that number is at
most k, the (k+1)-th smallest is above it. So this is the rule of claim 1: rank at most k, equal hashes alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitr.backends.packed.arrange import Arranged
from sitr.backends.packed.hashes import Keyed, Words, of_rows

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

HASH_BITS = 40
"""The bits of a hash that are compared: always as many, or the number of other people would decide which are equal."""
MOST_OWNERS = 1 << (64 - HASH_BITS)
_SPARE = 4
"""How many times as many hashes as are kept are expected among those that are sorted."""
BLOCK = 1 << 17
"""The rows of a block: arrays of about this size stay in the cache of a processor."""


@dataclass(frozen=True, slots=True)
class BlockCells:
    """The cells of whole people in a block of sorted rows: where each begins, its rows, its group, and its key."""

    rows: slice
    start: Places
    number: Places
    key: Words
    """person | group."""
    code: Places
    kept: Flags | None
    """Which cells the cap on groups keeps; None for all of them."""
    beyond: int
    """The people whose cells are not all kept."""


def blocks(rows: Arranged, size: int = BLOCK) -> Iterator[slice]:
    """The sorted rows in blocks of about this size, each of whole people."""
    shift = np.uint64(rows.code_bits + rows.tail_bits)
    first, every = 0, len(rows.key)
    while first < every:
        last = min(first + size, every)
        if last < every:
            # Integers of Python, which do not overflow; a border of 2^64 is behind the last person.
            border = (int(rows.key[last - 1] >> shift) + 1) << int(shift)
            last = every if border >= 2**64 else int(np.searchsorted(rows.key, np.uint64(border)))
        yield slice(first, last)
        first = last


def cells(rows: Arranged, block: slice, *, most: int | None, keyed: Keyed) -> BlockCells:
    """The cells of a block, and which of them are kept: at most `most` of each person; None for no cap."""
    key = rows.key[block]
    start = _runs(key, rows.tail_bits)
    own = key[start]
    own >>= np.uint64(rows.tail_bits)
    number = lengths(start, len(key))
    code = (own & np.uint64((1 << rows.code_bits) - 1)).view(np.int64)
    if most is None:
        return BlockCells(block, start, number, own, code, None, 0)
    first = _runs(own, rows.code_bits)
    size = lengths(first, len(own))
    over = size > most
    if not over.any():
        return BlockCells(block, start, number, own, code, None, 0)
    many = np.repeat(over, size)
    candidates = np.flatnonzero(many)
    below = lowest(hashes(rows, own[candidates], keyed), size[over], most)
    kept = ~many
    kept[candidates[below]] = True
    return BlockCells(block, start, number, own, code, kept, int(np.count_nonzero(over)))


def hashes(rows: Arranged, key: Words, keyed: Keyed) -> Words:
    """The hashes of cells, from the identities of their people and groups."""
    people = keyed.of_people(rows.people.of(key >> np.uint64(rows.code_bits)))
    code = key & np.uint64((1 << rows.code_bits) - 1)
    return keyed.of_cells(people, code if rows.groups is None else rows.groups.identities[code.view(np.int64)])


def chosen(
    rows: Arranged, found: BlockCells, words: tuple[Words, ...], full: Flags, *, most: int, keyed: Keyed
) -> tuple[Places, tuple[Words, ...]]:
    """Of the `full` cells, the rows that are kept, from the words of all rows: their groups and their words."""
    number = found.number[full]
    inside = np.repeat(full, found.number)
    words = tuple(word[inside] for word in words)
    owner = np.repeat(np.arange(len(number)), number)
    if rows.words is not None:  # equal rows must stand together
        order = np.lexsort((*words, owner))
        words = tuple(word[order] for word in words)
    own = np.repeat(hashes(rows, found.key[full], keyed), number)
    below = lowest(of_rows(own, words, twins(owner, words)), number, most)
    code = np.repeat(found.code[full], number)
    return code[below], tuple(word[below] for word in words)


def twins(owner: Places, words: tuple[Words, ...]) -> Words | None:
    """The number of each row among the equal rows of its cell, from 0; None if no two are equal.

    The set of pairs (row, number) is a function of the multiset of the rows.
    """
    same = owner[1:] == owner[:-1]
    for word in words:
        same &= word[1:] == word[:-1]
    if not same.any():
        return None
    places = np.arange(len(owner))
    first = places.copy()
    first[1:][same] = 0
    return (places - np.maximum.accumulate(first)).view(np.uint64)


def lowest(hashed: Words, sizes: Places, most: int) -> Flags:
    """Which hashes are below the (most + 1)-th smallest of their owner; the owners follow each other, `sizes` each.

    Every owner has more than `most`.

    >>> lowest(np.array([5, 1, 3, 3, 2, 1, 1], np.uint64) << np.uint64(30), np.array([3, 4]), 2).tolist()
    [False, True, True, False, False, True, True]
    """
    if len(sizes) > MOST_OWNERS:
        middle = int(sizes[:MOST_OWNERS].sum())
        head = lowest(hashed[:middle], sizes[:MOST_OWNERS], most)
        return np.concatenate([head, lowest(hashed[middle:], sizes[MOST_OWNERS:], most)])
    if most == 1 and (least := _least(hashed, sizes)) is not None:
        return least
    owner = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    pairs = owner << np.uint64(HASH_BITS)  # owners are below MOST_OWNERS, so that 64 bits hold both
    pairs |= hashed >> np.uint64(64 - HASH_BITS)
    return np.asarray(pairs < np.repeat(_borders(pairs, sizes, most), sizes))


def _least(hashed: Words, sizes: Places) -> Flags | None:
    """Which hashes are the least of their owner, without a sort; None if an owner has two of them."""
    compared = hashed >> np.uint64(64 - HASH_BITS)
    least = np.minimum.reduceat(compared, np.cumsum(sizes) - sizes)
    found = np.asarray(compared == np.repeat(least, sizes))
    return found if np.count_nonzero(found) == len(sizes) else None


def _borders(pairs: Words, sizes: Places, most: int) -> Words:
    """The (most + 1)-th smallest pair of each owner.

    Owners with many rows are usual where few people have most of them, and then almost all pairs are far above the
    border. Hashes are spread evenly, so about `enough` of an owner's are below enough/size of their range. If more than
    `most` of each owner are, the border is among these, and only they are sorted; otherwise all are.
    """
    starts, enough = np.cumsum(sizes) - sizes, _SPARE * most + _SPARE * 8
    if len(pairs) > _SPARE * enough * len(sizes):
        top = (np.minimum(enough / sizes, 1.0) * (1 << HASH_BITS)).astype(np.uint64)
        top += np.arange(len(sizes), dtype=np.uint64) << np.uint64(HASH_BITS)
        near = pairs < np.repeat(top, sizes)
        number = np.add.reduceat(near, starts, dtype=np.int64)
        if number.min() > most:
            return np.asarray(np.sort(pairs[near])[np.cumsum(number) - number + most])
    return np.asarray(np.sort(pairs)[starts + most])


def _runs(key: Words, tail: int) -> Places:
    """Where the runs of equal keys begin, without their last bits."""
    # Finding the places of flags is several times quicker than finding those of integers that are not 0.
    found = np.flatnonzero((key[1:] ^ key[:-1]) > np.uint64((1 << tail) - 1) if tail else key[1:] != key[:-1])
    start = np.empty(len(found) + 1, np.int64)
    start[0] = 0
    np.add(found, 1, out=start[1:])
    return start


def lengths(start: Places, end: int) -> Places:
    """The lengths of runs that begin at these places, without the copy that `numpy.diff` makes to append the end.

    >>> lengths(np.array([0, 2, 3]), 7).tolist()
    [2, 1, 4]
    """
    found = np.empty_like(start)
    np.subtract(start[1:], start[:-1], out=found[:-1])
    found[-1] = end - start[-1]
    return found
