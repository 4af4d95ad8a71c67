"""A description reads back as it was written, whatever the types of its bounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest

from sitr.dataset.description import Description, load, save
from sitr.dataset.schema import Bound
from sitr.errors import DescriptionError
from tests.oracles.visits import visits_table


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("born", (date(2024, 1, 1), date(2024, 12, 31))),
        ("born", (date.min, date.max)),
        ("born", (date(1600, 2, 29), "1969-12-31")),
        ("seen", tuple(map(datetime.fromisoformat, ("2024-01-01", "2024-12-31T23:59:59")))),
        ("seen", ("0001-01-01", "9999-12-31 23:59:59")),
        ("days", (-2, 5)),
        ("cost", (0, 10)),
    ],
)
def test_bounds_read_back_the_same(tmp_path: Path, name: str, bounds: tuple[Bound, Bound]) -> None:
    table = visits_table(bounds={name: bounds}, granularity={"cost": 0.1} if name == "cost" else {})
    path = tmp_path / "visits.yaml"
    save(Description(table, tmp_path / "visits.parquet"), path)
    read = load(path)
    assert read.table == table
    save(replace(read, path=None), tmp_path / "again.yaml")
    assert (tmp_path / "again.yaml").read_text() == path.read_text()


def test_bounds_of_dates_are_written_as_dates_without_a_granularity(tmp_path: Path) -> None:
    table = visits_table(bounds={"born": ("2024-01-01", "2024-12-31")}, granularity={})
    save(Description(table, tmp_path / "visits.parquet"), tmp_path / "visits.yaml")
    written = "  born:\n    type: date\n    bounds: [2024-01-01, 2024-12-31]\n  seen:"
    assert written in (tmp_path / "visits.yaml").read_text()


def test_bounds_of_dates_may_be_written_in_quotes(tmp_path: Path) -> None:
    table = visits_table(bounds={"born": ("2024-01-01", "2024-12-31")}, granularity={})
    path = tmp_path / "visits.yaml"
    save(Description(table, tmp_path / "visits.parquet"), path)
    path.write_text(path.read_text().replace("[2024-01-01, 2024-12-31]", "['2024-01-01', '2024-12-31']"))
    assert load(path).table == table
    path.write_text(path.read_text().replace("'2024-01-01'", "'1.1.2024'"))
    with pytest.raises(DescriptionError, match=r"bounds \(first, last\) for 'born'"):
        load(path)


@pytest.mark.parametrize("name", ["visits.csv", "visits.PARQUET", "visits.tsv.gz"])
def test_rows_in_place_of_a_description_are_told_how_to_be_described(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(DescriptionError, match="There is no description of a data set"):
        load(path)
    path.write_bytes(b"id,ward\n1,A\n")
    with pytest.raises(DescriptionError) as refused:
        load(path)
    assert refused.value.given == f"{path} holds rows, and their description is needed here."
    assert refused.value.do == f"Write one with sitr start {path}, and name the file that it writes."
