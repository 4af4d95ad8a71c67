"""A small hospital on disk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.session.dataset import Dataset

WARDS = ["Cardiology", "Surgery", "Maternity"]


@pytest.fixture
def visits_path(tmp_path: Path) -> Path:
    """900 visits of 300 patients."""
    path = tmp_path / "visits.parquet"
    rows = range(900)
    table = pa.table(
        {
            "patient_id": [row % 300 for row in rows],
            "ward": [WARDS[row % 3] if row % 50 else None for row in rows],
            "days": pa.array([row % 7 for row in rows], pa.int32()),
            "cost": [float(row * 7 % 6000) for row in rows],
        }
    )
    pq.write_table(table, path)
    return path


@pytest.fixture
def visits(visits_path: Path) -> Dataset:
    """The hospital, protected as in the documentation."""
    return sitr.protect(
        visits_path,
        unit="patient_id",
        max_groups=3,
        max_rows_per_group=2,
        bounds={"cost": (0, 5_000)},
        granularity={"cost": 0.01},
        keys={"ward": WARDS},
    )
