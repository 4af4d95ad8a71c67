"""The benchmark of Spark measures what it claims to measure. Neither Spark nor a peer is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchmarks.spark import Timed, ask, growth, write


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    write(path := tmp_path / "rows.parquet", 50_000)
    return path


def test_the_table_has_all_groups_and_people_beyond_the_bound(rows: Path) -> None:
    table = pq.read_table(rows)
    assert table.num_rows == 50_000
    assert pc.count_distinct(table["grp"]).as_py() == 200
    assert 4_500 < pc.count_distinct(table["person"]).as_py() <= 5_000
    assert pc.max(table["x"]).as_py() == 120


def test_a_time_is_measured_in_another_process_and_a_missing_library_is_said(rows: Path, tmp_path: Path) -> None:
    found = ask("duckdb", sys.executable, rows, "both", repeat=1, limit=120)
    assert found.seconds is not None, found.trouble
    assert 0 < found.seconds < 120
    assert 0 < found.cpu < 120
    (broken := tmp_path / "python").write_text("#!/bin/sh\necho ModuleNotFoundError: tmlt >&2\nexit 1\n")
    broken.chmod(0o755)
    assert ask("tumult", str(broken), rows, "count", repeat=1, limit=60) == Timed(None, "ModuleNotFoundError: tmlt")


def test_growth_is_for_each_row() -> None:
    assert growth((1, Timed(9.0, cpu=1.0)), (10, Timed(9.0, cpu=30.0))) == 3.0
    assert growth((1, Timed(1.0)), (10, Timed(None, "stopped"))) is None
