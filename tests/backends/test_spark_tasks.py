"""What executors do with packed rows is a loop over people, however the rows are spread over tasks."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sitr.backends import spark_entries, spark_tasks
from sitr.backends.packed.hashes import Keyed
from sitr.backends.spark_entries import Entries
from sitr.backends.spark_tasks import Order, Salted, Shape, parts, totals

COUNTED = Shape(7, (), 2, 3)
SUMMED = Shape(5, ((0, 3), (3, 4)), 2, 3)
ALL_GROUPS = Shape(5, ((0, 7),), None, 4)
MOST_COPIES = Shape(3, ((0, 1),), 1, 40)
SHAPES = {"counts": COUNTED, "two sums": SUMMED, "no cap on groups": ALL_GROUPS, "copies": MOST_COPIES}
SALTED = Salted(Keyed.by(11))
Row = tuple[int, int]
"""A person and a word."""


def drawn(shape: Shape, seed: int, *, wide: bool) -> list[Row]:
    """People of all sizes, some with many equal rows; ids over all 64 bits or near each other."""
    chance = random.Random(seed)
    ids = [chance.randrange(-(2**63), 2**63) if wide else chance.randrange(-50, 50) for _ in range(30)]
    ids += [-(2**63), 2**63 - 1] if wide else []
    words = shape.cells << shape.bits
    return [
        (person, chance.choice(own))
        for person in ids
        for own in [[chance.randrange(words) for _ in range(chance.choice((1, 3, 40)))]]
        for _ in range(chance.choice((1, 5, 90)))
    ]


def batch(rows: Sequence[Row]) -> pa.RecordBatch:
    people, words = zip(*rows, strict=True) if rows else ((), ())
    return pa.record_batch([pa.array(people, pa.int64()), pa.array(words, pa.int32())], names=["u", "w"])


def by_tasks(rows: Sequence[Row], shape: Shape, order: Order, *, tasks: int, held: int = 1 << 20) -> list[int]:
    """The totals of rows that are spread over some tasks, each of which reads them in batches."""
    sent = []
    for task in range(tasks):
        own = rows[task::tasks]
        sent += list(parts(iter([batch(own[at : at + 17]) for at in range(0, len(own), 17)]), shape=shape, held=held))
    found = list(totals(iter(sent), shape=shape, order=order))
    buckets = np.concatenate([np.frombuffer(each.column(0)[0].as_buffer(), np.int64) for each in found]).tolist()
    assert len(buckets) == len(set(buckets))
    width = 1 + (4 + 3 * len(shape.components)) * shape.cells
    added = np.zeros(width, np.int64)
    for each in found:
        added += np.frombuffer(each.column(1)[0].as_buffer(), np.int64)
    return [int(number) for number in added]


def one(function: Callable[..., Any], *numbers: int) -> int:
    kinds = (np.int64, np.uint64, np.uint64, np.uint64)
    return int(function(*(np.array([number], kind) for number, kind in zip(numbers, kinds, strict=False)))[0])


def of_cell(order: Order, person: int, code: int) -> int:
    return int(order.cells(np.array([person]), np.array([1]), np.array([code], np.uint64))[0])


def few(ranked: dict[Any, int], most: int | None) -> list[Any]:
    """Those of rank at most `most`: the number of hashes at or below their own."""
    return [each for each, own in ranked.items() if most is None or sum(h <= own for h in ranked.values()) <= most]


def by_hand(rows: Sequence[Row], shape: Shape, order: Order) -> list[int]:
    """The claims of `sitr.backends.reading`, one person after the other."""
    beyond, found = 0, np.zeros((4 + 3 * len(shape.components), shape.cells), np.int64)
    people = defaultdict[int, dict[int, list[int]]](lambda: defaultdict(list))
    for person, word in rows:
        people[person][word >> shape.bits].append(word & ((1 << shape.bits) - 1))
    for person, groups in people.items():
        beyond += shape.groups is not None and len(groups) > shape.groups
        for code in few({code: of_cell(order, person, code) for code in groups}, shape.groups):
            own = groups[code]
            found[0, code] += 1
            found[1, code] += len(own) > shape.rows
            pairs = [(value, twin) for value, times in Counter(own).items() for twin in range(times)]
            kept = few({pair: one(order.rows, person, code, *pair) for pair in pairs}, shape.rows)
            found[2, code] += min(len(own), shape.rows)
            for place, (below, bits) in enumerate(shape.components):
                summed = [value >> below & ((1 << bits) - 1) for value, _ in kept]
                found[4 + 3 * place, code] += sum(each > 0 for each in summed)
                found[5 + 3 * place, code] += sum(summed)
    return [beyond, *found.ravel().tolist()]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_totals_are_a_loop_over_people(name: str, wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the rows are spread over tasks and parts, and however many are hashed at once."""
    shape = SHAPES[name]
    rows = drawn(shape, 5, wide=wide)
    expected = by_hand(rows, shape, SALTED)
    assert by_tasks(rows, shape, SALTED, tasks=1) == expected
    monkeypatch.setattr(spark_tasks, "PAIRS", 7)
    assert by_tasks(rows, shape, SALTED, tasks=4, held=40) == expected
    random.Random(1).shuffle(rows)
    assert by_tasks(rows, shape, SALTED, tasks=9, held=1) == expected


class Near(Salted):
    """All hashes of rows are near the end of their range, so that few are below any border."""

    def rows(self, people: Any, codes: Any, words: Any, twins: Any) -> Any:
        return ~(Salted.rows(self, people, codes, words, twins) >> np.uint64(12))


def test_a_border_that_leaves_too_few_rows_changes_nothing() -> None:
    rows = [(1, word % 8) for word in range(900)] + [(2, 3)]
    near = Near(SALTED.keyed)
    assert by_tasks(rows, SUMMED, near, tasks=3) == by_hand(rows, SUMMED, near)


def exceeded(order: Order) -> bool:
    """Whether somebody more changes the totals by anything but this person's own."""
    rows = drawn(SUMMED, 8, wide=False)
    newcomer = [(person - 10**6, word) for person, word in rows[:90]]
    both, before, alone = (by_tasks(each, SUMMED, order, tasks=3) for each in (newcomer + rows, rows, newcomer))
    return [one - other for one, other in zip(both, before, strict=True)] != alone


class ByPlace(Salted):
    """Hashes that depend on the rows of others."""

    def cells(self, people: Any, sizes: Any, codes: Any) -> Any:
        return Salted.cells(self, np.arange(len(people)), sizes, codes)


def test_a_newcomer_adds_what_the_newcomer_has_and_an_order_by_place_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark_entries, "BUCKET_BITS", 0)
    assert not exceeded(SALTED)
    assert exceeded(ByPlace(SALTED.keyed))


def test_the_caps_hold_and_sums_near_the_limit_are_exact() -> None:
    """2^46 rows of the largest value, 2^15 - 1, are below 2^62; halves of 32 bits are added up."""
    shape = Shape(1, ((0, 15),), None, 2**46)
    keys = np.array([(person << 15) + 2**15 - 1 for person in (7, 8)], np.uint64)
    beyond, found = spark_tasks.added(Entries(keys, np.array([2**46] * 2), 0, 0), shape, SALTED)
    people, cut, lower, upper, present, *halves = found.ravel().tolist()
    assert (beyond, people, cut, lower + upper * 2**32, present) == (0, 2, 0, 2**47, 2**47)
    assert halves[0] + halves[1] * 2**32 == 2**47 * (2**15 - 1)


def test_a_person_with_a_million_rows_sends_few_bytes() -> None:
    """As many entries as there are different words, and not as many as rows."""
    words = np.random.default_rng(3).integers(0, 100, 1_000_000).astype(np.int32)
    rows = pa.record_batch([pa.array(np.full(len(words), 5)), pa.array(words)], names=["u", "w"])
    (sent,) = parts(iter([rows]), shape=Shape(100, (), 2, 3))
    assert [len(each) for each in sent.column(1).to_pylist()] == [32 + 100 * 8]


WITHOUT_SITR = """
import pickle, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sitr", "tests"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
parts, totals, batch = pickle.load(sys.stdin.buffer)
found = list(totals(parts(iter([batch]))))
sys.stdout.buffer.write(pickle.dumps([each.to_pydict() for each in found]))
"""


def test_the_functions_need_no_sitr_where_they_run() -> None:
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    from sitr.backends.spark_engine import by_value

    by_value(spark_tasks.TRAVELS)
    rows = batch(drawn(SUMMED, 4, wide=True))
    summed = partial(totals, shape=SUMMED, order=SALTED)
    own = partial(parts, shape=SUMMED)
    sent = cloudpickle.dumps((own, summed, rows))
    done = subprocess.run([sys.executable, "-c", WITHOUT_SITR], input=sent, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert pickle.loads(done.stdout) == [each.to_pydict() for each in summed(own(iter([rows])))]
