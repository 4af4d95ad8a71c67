"""The made-up hospital looks like one, and is the same every time."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sitr.dataset.hospital import AGES, INSURANCES, WARDS, hospital

ROWS = 50_000


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    return hospital(ROWS)


def test_same_seed_same_table() -> None:
    assert hospital(500, seed=1).equals(hospital(500, seed=1))
    assert not hospital(500, seed=1).equals(hospital(500, seed=2))


@pytest.mark.parametrize("rows", [1, 4, 777])
def test_any_number_of_rows(rows: int) -> None:
    assert hospital(rows).num_rows == rows


def test_about_five_visits_for_each_patient(visits: pa.Table) -> None:
    patients = pc.count_distinct(visits["patient_id"]).as_py()
    assert 0.8 * ROWS / 5 < patients <= ROWS / 5


def test_columns_have_their_types(visits: pa.Table) -> None:
    assert {field.name: str(field.type) for field in visits.schema} == {
        "visit_id": "int64",
        "patient_id": "int64",
        "ward": "string",
        "admitted": "date32[day]",
        "days": "int64",
        "cost": "double",
        "age_band": "string",
        "insurance": "string",
    }


def test_values_are_missing_here_and_there(visits: pa.Table) -> None:
    shares = {name: visits[name].null_count / ROWS for name in visits.schema.names}
    assert {name for name, share in shares.items() if share > 0} == {"patient_id", "ward", "days", "cost"}
    assert all(share < 0.02 for share in shares.values())


def test_some_patients_come_often(visits: pa.Table) -> None:
    counts = np.sort(pc.value_counts(visits["patient_id"].drop_null()).field("counts").to_numpy())[::-1]
    top = counts[: len(counts) // 100].sum() / ROWS
    assert top > 0.04  # four times what it would be if all came equally often
    assert 20 < counts[0] < 200


def test_wards_differ_in_frequency_and_cost(visits: pa.Table) -> None:
    by_ward = visits.group_by("ward").aggregate([("visit_id", "count"), ("cost", "mean")]).to_pylist()
    found = {row["ward"]: row for row in by_ward}
    assert set(found) == {*WARDS, None}
    assert found["Emergency"]["visit_id_count"] > 2 * found["Maternity"]["visit_id_count"]
    assert found["Oncology"]["cost_mean"] > 4 * found["Emergency"]["cost_mean"]


def test_costs_are_skewed_and_a_few_are_beyond_the_bound(visits: pa.Table) -> None:
    cost = visits["cost"].drop_null().to_numpy()
    assert cost.min() > 0
    assert cost.mean() > 1.2 * np.median(cost)
    assert 0.001 < (cost > 5_000).mean() < 0.03
    assert np.array_equal(cost, np.round(cost, 2))


def test_the_rest_is_plausible(visits: pa.Table) -> None:
    assert set(visits["age_band"].to_pylist()) == set(AGES)
    assert set(visits["insurance"].to_pylist()) == set(INSURANCES)
    assert pc.min(visits["days"]).as_py() == 0
    admitted = visits["admitted"].to_pylist()
    assert admitted == sorted(admitted)
    assert date(2023, 1, 1) <= admitted[0] < admitted[-1] <= date(2024, 12, 31)
    weekend = sum(day.weekday() >= 5 for day in admitted) / ROWS
    assert 0.15 < weekend < 0.25  # 2/7 = 0.29 if the days were alike


def test_age_and_insurance_belong_to_the_patient(visits: pa.Table) -> None:
    seen = (
        visits.drop_null()
        .group_by("patient_id")
        .aggregate([("age_band", "count_distinct"), ("insurance", "count_distinct")])
    )
    assert pc.max(seen["age_band_count_distinct"]).as_py() == 1
    assert pc.max(seen["insurance_count_distinct"]).as_py() == 1
