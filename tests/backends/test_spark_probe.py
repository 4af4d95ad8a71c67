"""Executors are asked for what they compute afterwards, in a form that other versions of numpy can read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sitr.backends import spark_entries, spark_probe
from sitr.backends.packed.hashes import Keyed
from sitr.backends.spark_probe import PROBED, computed, expected, probe
from sitr.backends.spark_tasks import Salted, Shape, parts, totals

SHAPE = Shape(5, ((0, 3), (3, 4)), 2, 3)
ORDER = Salted(Keyed.by(11))


def test_a_task_with_rows_gives_all_totals_and_one_without_gives_nothing() -> None:
    rows = pa.record_batch({"id": [1, 2]})
    (found,) = probe(iter([rows, rows]), shape=SHAPE, order=ORDER)
    assert found.column(0).to_pylist() == [expected()]
    assert list(probe(iter([rows.slice(0, 0)]), shape=SHAPE, order=ORDER)) == []


def test_entries_have_all_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of 4, 8 and 10 bytes, without numbers of equal rows, and with numbers of 8 and 32 bits."""
    seen = set()

    def noted(_: Any, buffer: Any) -> spark_entries.Packet:
        seen.add(tuple(np.frombuffer(buffer, np.int64, 4)[[0, 3]].tolist()))
        return of(buffer)

    of = spark_entries.Packet.of
    monkeypatch.setattr(spark_entries.Packet, "of", classmethod(noted))
    for shift in (0, 24, 56):
        computed(shift, SHAPE, ORDER)
    assert {form for form, _ in seen} == {4, 8, 10}
    assert {numbered for _, numbered in seen} >= {1, 4}


@dataclass(frozen=True)
class WithNumbersOfNumpy:
    """As `Keyed` was: numpy 1 cannot read what numpy 2 sends, because it looks for numpy._core."""

    people: np.uint64
    groups: np.uint64


def test_nothing_of_numpy_is_sent_and_a_twin_that_sends_it_is_caught() -> None:
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    from sitr.backends.spark_engine import by_value

    by_value(PROBED)
    functions = (partial(parts, shape=SHAPE), partial(totals, shape=SHAPE, order=ORDER), spark_probe.sent())
    assert not any(b"numpy._core" in each or b"numpy.core" in each for each in map(cloudpickle.dumps, functions))
    broken: Any = WithNumbersOfNumpy(np.uint64(1), np.uint64(2))
    twin = partial(totals, shape=SHAPE, order=broken)
    assert b"numpy._core" in cloudpickle.dumps(twin) or b"numpy.core" in cloudpickle.dumps(twin)
