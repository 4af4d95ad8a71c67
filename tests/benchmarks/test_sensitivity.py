"""The benchmark of sensitivities measures what it claims to measure. No times are compared."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from benchmarks.sensitivity import (
    DILATIONS,
    MEDIAN,
    SHAPES,
    STATISTICS,
    Row,
    cpu,
    measured,
    newcomers,
    report,
    rows_table,
    targets,
)

NEWCOMERS = {"disjoint": 0.1, "every": 1.0, "drawn": 0.2}
ROWS = [Row(name, shape, 0.5, 1e-6, 0.1, 0.01) for name in STATISTICS for shape in SHAPES]


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_case_is_measured(name: str, shape: str) -> None:
    row = measured(name, shape, count=1000, repeat=1)
    assert (row.statistic, row.shape) == (name, shape)
    assert row.slowest in DILATIONS
    assert min(row.smooth, row.distance) > 0


@pytest.mark.parametrize("name", STATISTICS)
def test_numpy_computes_the_same_statistic(name: str) -> None:
    statistic, plain = STATISTICS[name]
    values = np.arange(1000.0) ** 1.5
    assert float(plain(values)) == pytest.approx(float(statistic.value(values.astype(np.int64))), rel=0.01)  # type: ignore[arg-type]


def test_the_smallest_time_counts() -> None:
    spans = iter([0.02, 0.005, 0.03])

    def spin() -> None:
        end = time.process_time() + next(spans)
        while time.process_time() < end:
            pass

    assert 0.005 <= cpu(spin, repeat=3) < 0.02


def test_targets_pass_and_fail() -> None:
    assert [one.verdict for one in targets(ROWS, NEWCOMERS)] == ["pass"] * 4
    slow = [replace(row, smooth=1.5, distance=1.5) if row.statistic == MEDIAN else row for row in ROWS]
    assert [one.verdict for one in targets(slow, NEWCOMERS | {"every": 2.1})] == ["FAIL"] * 4
    other = [row if row.statistic == MEDIAN else replace(row, smooth=1.5) for row in ROWS]
    assert [one.verdict for one in targets(other, NEWCOMERS)] == ["pass", "FAIL", "pass", "pass"]


def test_every_kind_of_pairs_is_measured() -> None:
    found = newcomers(count=1000, repeat=1)
    assert list(found) == list(NEWCOMERS)
    assert min(found.values()) > 0


def test_the_table_and_the_report_hold_every_row() -> None:
    out = StringIO()
    Console(file=out, width=150).print(rows_table(ROWS))
    assert out.getvalue().count("0.500") == len(ROWS)
    kept = json.loads(json.dumps(report(ROWS, NEWCOMERS, list(targets(ROWS, NEWCOMERS))), allow_nan=False))
    assert len(kept["rows"]) == len(ROWS)
    assert len(kept["targets"]) == 4
    assert kept["newcomers"] == NEWCOMERS
