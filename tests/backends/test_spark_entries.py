"""Entries are the rows that they were made of, whatever form they have on the way."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from sitr.backends import spark_entries
from sitr.backends.spark_entries import PIECE, Packet, gathered, merged, pieces, ranked, split

Rows = Sequence[tuple[int, int]]
"""People and words."""
FAR = [-(2**63), -(2**62), -1, 0, 5, 2**61, 2**63 - 1]


def sent(tasks: Sequence[Rows], bits: int) -> dict[int, list[pa.Buffer]]:
    found = defaultdict[int, list[pa.Buffer]](list)
    for rows in tasks:
        people, words = zip(*rows, strict=True)
        for bucket, piece in pieces(np.array(people, np.int64), np.array(words, np.int32), bits):
            found[bucket].append(pa.py_buffer(piece))
    return found


def arrived(tasks: Sequence[Rows], bits: int) -> Counter[tuple[int, int]]:
    """The rows that entries stand for, each bucket with people of its own."""
    found, seen = Counter[tuple[int, int]](), set[int]()
    for bucket, buffers in sent(tasks, bits).items():
        entries = gathered(bucket, buffers, bits)
        assert (entries.key[1:] > entries.key[:-1]).all()
        people = entries.people(entries.key >> entries.key.dtype.type(bits)).tolist()
        words = (entries.key & entries.key.dtype.type((1 << bits) - 1)).tolist()
        number = [1] * len(words) if entries.number is None else entries.number.tolist()
        assert not seen & set(people)
        seen |= set(people)
        for person, word, rows in zip(people, words, number, strict=True):
            found[person, word] += rows
    return found


def forms(tasks: Sequence[Rows], bits: int) -> set[tuple[str, int | None]]:
    """The type of the keys, and the bytes of the number of rows."""
    found = [Packet.of(each) for buffers in sent(tasks, bits).values() for each in buffers]
    return {(str(each.key.dtype), None if each.number is None else each.number.itemsize) for each in found}


NEAR = [(person, word) for person in range(-300, 300) for word in (0, 9, 200)]
EQUAL = [(7, 3)] * 300 + [(8, 1)]
WIDE = [(person, word) for person in FAR for word in (0, 2**16 - 1)]
MIDDLE = [(person, 5) for person in (0, 2**40)]


@pytest.mark.parametrize(
    ("tasks", "bits", "expected"),
    [
        ([NEAR], 8, {("uint32", None)}),
        ([NEAR, NEAR[:90] * 2], 8, {("uint32", None), ("uint32", 1)}),
        ([EQUAL], 2, {("uint32", 4)}),
        ([MIDDLE], 8, {("uint64", None)}),
        ([[(person, 0) for person in FAR]], 0, {("uint64", None)}),
        ([WIDE], 16, {("int64", None)}),
        ([WIDE, NEAR, EQUAL], 16, {("int64", None), ("uint32", None), ("uint32", 4)}),
        ([[(2**63 - 1, 1)], [(-(2**63), 1)], MIDDLE], 16, {("uint32", None), ("uint64", None)}),
        ([NEAR, [(2**40, 3)]], 8, {("uint32", None)}),
    ],
)
def test_entries_are_the_rows_they_were_made_of(
    tasks: list[Rows], bits: int, expected: set[tuple[str, int | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = Counter(row for rows in tasks for row in rows)
    assert forms(tasks, bits) == expected
    assert arrived(tasks, bits) == every
    monkeypatch.setattr(spark_entries, "PIECE", 64)
    monkeypatch.setattr(spark_entries, "BLOCK", 7)
    assert arrived(tasks, bits) == every


def test_random_rows_arrive() -> None:
    chance = np.random.default_rng(2)
    for spread in (3, 30, 40, 62):
        people = chance.integers(-(2**spread), 2**spread, 400)
        drawn = chance.choice(people, 3000).tolist(), chance.integers(0, 2**15, 3000).tolist()
        rows = list(zip(*drawn, strict=True))
        assert arrived([rows[:1000], rows[1000:1500], rows[1500:]], 15) == Counter(rows)


def test_pieces_are_short() -> None:
    """So that a batch of them is short, which Spark counts by rows."""
    people = np.repeat(np.arange(20), 30_000)
    found = list(pieces(people, np.tile(np.arange(30_000, dtype=np.int32), 20), 15))
    assert len(found) > 20
    assert max(len(piece) for _, piece in found) <= PIECE + 32


def test_people_whose_numbers_have_a_pattern_are_spread_over_the_buckets() -> None:
    for step in (1, 2, 10, 256, 1000, 2**16, 2**32, 2**40, 12345678901):
        number = np.bincount(split(np.arange(100_000) * step)[1].view(np.int64), minlength=256)
        assert number.max() < 2 * 100_000 / 256, step


def test_numbers_of_rows_that_do_not_fit_beside_their_keys_are_added() -> None:
    keys, number = np.array([2**63, 5, 2**63], np.uint64), np.array([2**40, 1, 2**41])
    key, added = merged(keys, number, 64)
    assert added is not None
    assert (key.tolist(), added.tolist()) == ([5, 2**63], [1, 2**40 + 2**41])


def test_ranks_are_places_among_different_numbers() -> None:
    table, ranks = ranked(np.array([5, -1, 5, 2**55]))
    assert (table.tolist(), ranks.tolist()) == ([-1, 5, 2**55], [1, 0, 1, 2])
