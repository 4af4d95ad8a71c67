"""Packed rows on Spark, with tables that were made to break them: a loop over people has the same integers.

Ids at both ends of 64 bits, caps of one and of 2^62, words of 0 to 15 bits, and hashes that are all or nearly all
equal. Each person is counted alone, within the caps, so that a person more or less moves nothing further than that.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sitr.backends import spark_entries, spark_tasks
from sitr.backends.packed.hashes import Keyed
from sitr.backends.packed.layout import LARGEST
from sitr.backends.spark_entries import Entries
from sitr.backends.spark_packed import WORDS
from sitr.backends.spark_tasks import Order, Salted, Shape
from tests.backends.test_spark_tasks import Row, by_tasks, few, of_cell, one

ENDS = [
    each
    for end in (-(2**63), -(2**56), -(2**48), -300, -1, 250, 2**32, 2**47, 2**55, 2**63 - 3)
    for each in (end, end + 2)
]


class FewHashes(Salted):
    """Most groups and rows of a person are equal in their order."""

    def cells(self, people: Any, sizes: Any, codes: Any) -> Any:
        return Salted.cells(self, people, sizes, codes) & np.uint64(3 << 62)

    def rows(self, people: Any, codes: Any, words: Any, twins: Any) -> Any:
        return Salted.rows(self, people, codes, words, twins) & np.uint64(7 << 61)


class OneHash(Salted):
    """All are equal, at the end of their range."""

    def cells(self, people: Any, sizes: Any, codes: Any) -> Any:  # noqa: ARG002
        return np.full(len(codes), 2**64 - 1, np.uint64)

    def rows(self, people: Any, codes: Any, words: Any, twins: Any) -> Any:  # noqa: ARG002
        return np.full(len(people), 2**64 - 1, np.uint64)


def shape_of(chance: random.Random) -> Shape:
    sizes: list[int] = []
    for bits in chance.choices([1, 1, 2, 3, 5, 15], k=chance.choice([0, 0, 1, 1, 2, 3])):
        sizes += [bits] if sum(sizes) + bits <= 15 else []
    below, most = [sum(sizes[:place]) for place in range(len(sizes))], WORDS >> sum(sizes)
    return Shape(
        min(chance.choice([1, 2, 3, 7, most]), most, 2_000),
        tuple(zip(below, sizes, strict=True)),
        chance.choice([None, 1, 1, 2, 3, 10**6, 2**62, 2**64]),
        chance.choice([1, 1, 2, 3, 7, 2**20, (LARGEST - 1) >> sum(sizes)]),
    )


def rows_of(chance: random.Random, words: int) -> list[Row]:
    near = chance.choice([0, -(2**63) + 5, 2**63 - 6, 2**47])
    ids = {
        "near each other": [near + chance.randrange(-5, 5) for _ in range(6)],
        "at the ends": chance.sample(ENDS, 6),
        "anywhere": [chance.randrange(-(2**63), 2**63) for _ in range(8)],
    }[chance.choice(["near each other", "at the ends", "anywhere"])]
    found = []
    for person in set(ids):
        own = [chance.choice([0, words - 1, chance.randrange(words)]) for _ in range(chance.choice([1, 2, 5, 30]))]
        found += [(person, chance.choice(own)) for _ in range(chance.choice([1, 2, 9, 60]))]
    chance.shuffle(found)
    return found


def alone(own: Sequence[int], person: int, shape: Shape, order: Order) -> tuple[int, dict[tuple[str, int], int]]:
    """Whether somebody has too many groups, and what this person adds, never more than the caps allow."""
    groups, found = defaultdict[int, list[int]](list), Counter[tuple[str, int]]()
    for word in own:
        groups[word >> shape.bits].append(word & ((1 << shape.bits) - 1))
    kept = few({code: of_cell(order, person, code) for code in groups}, shape.groups)
    assert shape.groups is None or len(kept) <= shape.groups
    for code in kept:
        values = groups[code]
        found["people", code] += 1
        found["cut", code] += len(values) > shape.rows
        if len(values) > shape.rows and shape.components:
            pairs = [(value, twin) for value, times in Counter(values).items() for twin in range(times)]
            values = [
                value for value, _ in few({each: one(order.rows, person, code, *each) for each in pairs}, shape.rows)
            ]
        found["rows", code] += min(len(values), shape.rows)
        assert found["rows", code] <= shape.rows
        for place, (below, bits) in enumerate(shape.components):
            parts = [value >> below & ((1 << bits) - 1) for value in values]
            found[f"present {place}", code] += sum(part > 0 for part in parts)
            found[f"sum {place}", code] += sum(parts)
    return shape.groups is not None and len(groups) > shape.groups, found


def by_hand(rows: Sequence[Row], shape: Shape, order: Order) -> tuple[int, dict[tuple[str, int], int]]:
    people = defaultdict[int, list[int]](list)
    for person, word in rows:
        people[person].append(word)
    beyond, added = 0, Counter[tuple[str, int]]()
    for person, own in people.items():
        more, found = alone(own, person, shape, order)
        beyond += more
        added.update(found)
    return beyond, {name: number for name, number in added.items() if number}


def by_arrays(rows: Sequence[Row], shape: Shape, order: Order, chance: random.Random) -> Any:
    tasks, held = chance.choice([1, 2, 5]), chance.choice([1, 10, 1 << 20])
    beyond, *found = by_tasks(rows, shape, order, tasks=tasks, held=held)
    columns = np.array(found, object).reshape(-1, shape.cells)
    named = {"people": columns[0], "cut": columns[1], "rows": columns[2] + columns[3] * 2**32}
    for place in range(len(shape.components)):
        present, lower, upper = columns[4 + 3 * place : 7 + 3 * place]
        named |= {f"present {place}": present, f"sum {place}": lower + upper * 2**32}
    return beyond, {(name, code): own for name, all in named.items() for code, own in enumerate(all) if own}


def differs(seed: int, patch: pytest.MonkeyPatch, kinds: Sequence[type[Salted]] = (Salted, FewHashes, OneHash)) -> bool:
    chance = random.Random(seed)
    shape = shape_of(chance)
    rows, order = rows_of(chance, shape.cells << shape.bits), chance.choice(kinds)(Keyed.by(chance.getrandbits(63)))
    patch.setattr(spark_tasks, "PAIRS", chance.choice([1, 3, 7, 1 << 20]))
    patch.setattr(spark_entries, "BLOCK", chance.choice([1, 3, 1 << 16]))
    patch.setattr(spark_entries, "PIECE", chance.choice([64, 1 << 14]))
    patch.setattr(spark_tasks.blocks, "__defaults__", (chance.choice([1, 2, 10, 1 << 17]),))
    return bool(by_arrays(rows, shape, order, chance) != by_hand(rows, shape, order))


@pytest.mark.parametrize("first", [0, pytest.param(1_000, marks=pytest.mark.slow)])
def test_hostile_tables_are_a_loop_over_people(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-m slow`: ten times as many."""
    assert not [seed for seed in range(first, first + (100 if first == 0 else 1_000)) if differs(seed, monkeypatch)]


def test_a_twin_that_keeps_equal_hashes_at_the_border_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rows as the cap allows, whichever: then the order of rows decides among equal ones."""

    def whichever(hashed: Any, sizes: Any, most: int) -> Any:
        place = np.arange(len(hashed)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return place < most

    monkeypatch.setattr(spark_tasks, "lowest", whichever)
    assert any(differs(seed, monkeypatch) for seed in range(30))


@pytest.mark.parametrize("number", [2**31, 2**32 - 1, 2**40])
def test_equal_rows_in_any_number_are_added_up_exactly(number: int) -> None:
    """Two people with as many equal rows as 32 bits hold, and more, in two groups."""
    shape = Shape(2, ((0, 7),), None, 2**54)
    words = [127, 128 + 5]
    key = np.array([(person << shape.word_bits) | word for person in (0, 1) for word in words], np.uint64)
    found = spark_tasks.Added(shape)
    found.add(*spark_tasks.added(Entries(key, np.full(4, number), 0, 0), shape, Salted(Keyed.by(1))))
    columns = found.of_groups.astype(object)
    assert list(columns[2] + columns[3] * 2**32) == [2 * number] * 2
    assert list(columns[4]) == [2 * number] * 2
    assert list(columns[5] + columns[6] * 2**32) == [2 * number * 127, 2 * number * 5]
