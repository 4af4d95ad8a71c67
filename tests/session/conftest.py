"""A small hospital on disk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.mechanisms.smooth import SmoothNoise
from sitr.questions.synthetic.plan import Method
from sitr.sensitivity import median, smooth
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


PRICE = sitr.ZeroConcentratedDP(0.1)
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"

KINDS = ("answer", "batch", "suggestion", "histogram", "statistic", "synthetic", "quality")
"""The kinds of answers."""


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """One of each kind that shows itself."""
    folder = tmp_path_factory.mktemp("everything")
    rows = range(900)
    table = pa.table(
        {
            "patient_id": [row % 300 for row in rows],
            "ward": [WARDS[row % 3] for row in rows],
            "cost": [float(row * 7 % 6000) for row in rows],
        }
    )
    visits = sitr.protect(
        table,
        name="visits",
        unit="patient_id",
        max_groups=3,
        max_rows_per_group=2,
        bounds={"cost": (0, 5_000)},
        keys={"ward": WARDS},
    )
    budget = visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=folder / "visits.db")
    ages = pa.table({"age": [float(row) for row in range(40)]})
    people = sitr.protect(ages, unit=sitr.Row(), relation=sitr.Relation.REPLACE_ONE, name="people")
    median_age = SmoothNoise.fitting(sitr.PureDP(0.5), sensitivity=smooth(median, bounds=(0, 100)))
    of_people = people.budget(sitr.PureDP(5.0), ledger=folder / "people.db")
    wards = budget.synthesize(columns=["ward"], method=Method.JOINT)
    made = wards.release(PRICE, rows=50)
    return {
        "data set": visits,
        "budget": budget,
        "selection": budget.where(sitr.column("cost") > 3).group_by("ward"),
        "question": budget.sql(SQL),
        "preview": budget.sql(SQL).preview(PRICE),
        "answer": budget.sql(SQL).release(PRICE),
        "batch question": budget.batch([budget.sql(SQL)]),
        "batch preview": budget.batch([budget.sql(SQL)]).preview(PRICE),
        "batch": budget.batch([budget.sql(SQL), budget.agg(n=sitr.count())]).release(PRICE),
        "suggestion question": budget.suggest(SQL),
        "suggestion preview": budget.suggest(SQL).preview(PRICE),
        "suggestion": budget.suggest("cost").release(PRICE),
        "histogram question": budget.histogram("cost", bins=5),
        "histogram preview": budget.histogram("cost", bins=5).preview(PRICE),
        "histogram": budget.histogram("cost", bins=5).release(PRICE),
        "statistic question": of_people.statistic(median_age, column="age", missing=50),
        "statistic preview": of_people.statistic(median_age, column="age", missing=50).preview(sitr.PureDP(0.5)),
        "statistic": of_people.release(median_age, column="age", missing=50),
        "synthetic question": wards,
        "synthetic preview": wards.preview(PRICE),
        "synthetic": made,
        "quality": made.measure(PRICE),
    }
