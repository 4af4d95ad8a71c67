"""The benchmark of bounding measures what it claims to measure."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchmarks.bounding import CAPS, GROUPS, QUESTIONS, TABLES, measured, written
from sitr.backends.duckdb import Reader

ROWS = 20_000


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_its_people_and_its_kind_of_ids(name: str, tmp_path: Path) -> None:
    table = pq.read_table(written(name, ROWS, tmp_path))
    assert table.num_rows == ROWS
    assert table.schema.field("id").type == (pa.string() if name.endswith("text") else pa.int64())
    assert pc.count_distinct(table["city"]).as_py() == GROUPS
    largest = pc.max(pc.value_counts(table["id"]).field("counts")).as_py()
    assert (largest > 500) is name.startswith("zipf")
    if not name.endswith("text"):
        assert (pc.max(table["id"]).as_py() > 2**60) is name.endswith("wide")


def test_every_question_is_measured_with_all_caps(tmp_path: Path) -> None:
    found = list(measured("zipf wide", written("zipf wide", ROWS, tmp_path), repeat=1, reader=Reader(), only=()))
    assert [(figure.caps, figure.question) for figure in found] == [(caps, kind) for caps in CAPS for kind in QUESTIONS]
    assert all(figure.ratio > 0 for figure in found)
    assert {figure.target for figure in found} == {2.3, 2.5}
