"""Months, quarters and years of dates, against a database."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sitr
from sitr.dataset.cells import Dates, Step
from sitr.dataset.schema import Column, Kind
from sitr.errors import SitrError
from sitr.questions.tables.calendar import expanded
from sitr.session import publication_file

FIRST, LAST = date(2022, 11, 5), date(2024, 3, 9)
DAY = Column("day", Kind.DATE)
UNITS = ["month", "quarter", "year"]


@pytest.mark.parametrize("step", [Step.DAY, Step.MONTH])
def test_every_cell_is_in_the_group_of_the_database(step: Step) -> None:
    axis = Dates(DAY, FIRST, LAST, step)
    groups = expanded(axis, UNITS)
    month, quarter, year = (groups[unit] for unit in UNITS)
    days = [FIRST + timedelta(place) for place in range((LAST - FIRST).days + 1)]
    dates = pa.table({"day": days})
    assert dates.num_rows == len(days)
    found = duckdb.execute("SELECT day, year(day), quarter(day), month(day) FROM dates").fetchall()
    cells = [*axis.cells()]
    for day, y, q, m in found:
        label = cells[axis.number(day)].label
        assert label in month[f"{y}-{m:02}"]
        assert f"{y}-{m:02}" in quarter[f"{y}-Q{q}"]
        assert f"{y}-Q{q}" in year[f"{y}"]
    assert sum(map(len, month.values())) == axis.ordinary
    assert list(year) == ["2022", "2023", "2024"]


@pytest.mark.parametrize(
    ("axis", "levels"),
    [
        (Dates(DAY, FIRST, LAST, Step.WEEK), ["month"]),
        (Dates(DAY, FIRST, LAST, Step.YEAR), ["quarter"]),
        (Dates(DAY, FIRST, LAST, Step.DAY), ["quarter", "month"]),
        (Dates(DAY, FIRST, LAST, Step.DAY), ["century"]),
        (Dates(DAY, FIRST, LAST, Step.DAY), {"half": {"a": ["2022-11"]}, "year": "year"}),
    ],
)
def test_units_that_do_not_fit_are_refused(axis: Dates, levels: Any) -> None:
    with pytest.raises(SitrError):
        expanded(axis, levels)


def test_tables_by_months_and_quarters_add_up(tmp_path: Path) -> None:
    days = [FIRST + timedelta(place * 7 % 400) for place in range(900)]
    table = pa.table({"day": days, "sex": ["f", "m", "m"] * 300})
    data = sitr.protect(table, unit=sitr.Row(), name="visits", keys={"sex": ["f", "m"]})
    budget = data.budget("zcdp(1)", ledger=tmp_path / "sitr.db")
    asked = budget.tables(
        [("quarter", "sex"), "month", "year", ()], hierarchies={"day": UNITS}, bounds={"day": (FIRST, LAST)}
    )
    found = asked.release(rho=0.1).tables
    assert found["month"]["month"].to_pylist()[:3] == ["2022-11", "2022-12", "2023-01"]

    def numbers(name: str, label: str) -> dict[str, Fraction]:
        rows = found[name].to_pylist()
        return {
            key: sum((Fraction(repr(row["count"])) for row in rows if row[label] == key), Fraction(0))
            for key in found[name][label].to_pylist()
        }

    months, quarters, years = (
        numbers(*pair) for pair in (("month", "month"), ("quarter × sex", "quarter"), ("year", "year"))
    )
    assert quarters["2023-Q1"] == sum(months[f"2023-{month:02}"] for month in (1, 2, 3))
    assert years["2023"] == sum(quarters[f"2023-Q{quarter}"] for quarter in (1, 2, 3, 4))


def test_a_file_says_how_dates_are_cut(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "description: x.yaml\ntables: [[day]]\nevery: {day: fortnight}\nbounds: {day: [2022-11-05, 2024-03-09]}\n"
    )
    with pytest.raises(SitrError, match="day, week, month or year"):
        publication_file.read(tmp_path / "p.yaml").request()
