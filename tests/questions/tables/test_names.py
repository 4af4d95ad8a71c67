"""Names in tables: nothing hides anything else, and tables are found by their columns in any order."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import SitrError
from sitr.questions.tables.question import TablesQuestion
from sitr.session.budget import Budget

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

YEAR = (date(2023, 1, 1), date(2023, 12, 31))


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    rows = range(400)
    table = pa.table(
        {
            "count": ["xy"[n % 2] for n in rows],
            "measure": ["pqr"[n % 3] for n in rows],
            "sum of age_low": ["tu"[n % 2] for n in rows],
            "age": [n % 5 for n in rows],
            "begun": [date(2023, 1 + n % 12, 1) for n in rows],
            "ended": [date(2023, 1 + n % 6, 2) for n in rows],
        }
    )
    data = sitr.protect(
        table,
        name="visits",
        unit=sitr.Row(),
        bounds={"age": (0, 4), "begun": YEAR, "ended": YEAR},
        keys={"count": ["x", "y"], "measure": ["p", "q", "r"], "sum of age_low": ["t", "u"]},
    )
    return data.budget("zcdp(1e9)", ledger=tmp_path / "sitr.db")


def measure_of(budget: Budget, table: str) -> str:
    asked = budget.tables([table]).question
    assert isinstance(asked, TablesQuestion)
    return asked.measures[0].name


def test_a_column_that_is_called_count_keeps_its_labels(budget: Budget, tmp_path: Path) -> None:
    answer = budget.tables([("count", "measure"), "count"]).release("zcdp(1000000)")
    assert answer.tables["count"]["count"].to_pylist() == ["x", "y"]
    assert answer.tables["count"]["number of rows"].to_pylist() == pytest.approx([200, 200], abs=0.1)
    assert answer.of("count × measure").num_columns == 2 + 3
    assert answer.total({"count": "x"}, measure="number of rows").value == pytest.approx(200, abs=0.1)
    first = json.loads(answer.save(tmp_path / "t.json").read_text(encoding="utf-8"))["link"]["item"][0]
    assert first["id"] == ["count", "measure", "measure_"]
    assert len(first["dimension"]) == 3
    assert measure_of(budget, "measure") == "count"


def test_a_column_that_is_called_like_an_end_of_an_interval_is_refused(budget: Budget) -> None:
    assert measure_of(budget, "sum of age_low") == "count"
    with pytest.raises(SitrError, match="'sum of age_low' is called like the numbers"):
        budget.tables(["sum of age_low"], measures=["sum(age)"])


def test_two_columns_have_levels_of_different_names(budget: Budget) -> None:
    with pytest.raises(SitrError, match="Both 'begun' and 'ended' have a level with the name 'quarter'"):
        budget.tables(["quarter"], hierarchies={"begun": ["quarter"], "ended": ["quarter"]})
    apart: dict[str, Any] = {"begun": ["quarter"], "ended": {"quarter of ended": "quarter"}}
    found = budget.tables([("quarter", "quarter of ended"), "quarter of ended"], hierarchies=apart)
    answer = found.release("zcdp(1000000)")
    assert answer.tables["quarter of ended"]["count"].to_pylist()[:4] == pytest.approx([201, 199, 0, 0], abs=0.2)
    assert answer.tables["quarter × quarter of ended"].num_rows == 25
    with pytest.raises(SitrError, match=r"no column or level 'quartre'\. Did you mean 'quarter'"):
        budget.tables(["quartre"], hierarchies={"begun": ["quarter"]})


def test_weights_name_the_columns_of_a_table_in_any_order(budget: Budget) -> None:
    wanted = [("count", "measure"), "measure"]
    for name in ("count × measure", "measure × count"):
        asked = budget.tables(wanted, weights={name: 4}).question
        assert isinstance(asked, TablesQuestion)
        assert asked.weights == (4.0, 1.0)
    with pytest.raises(SitrError, match="twice"):
        budget.tables(wanted, weights={"measure × count": 4, "count × measure": 2})
    with pytest.raises(SitrError, match="names no table"):
        budget.tables(wanted, weights={"age": 4})


def test_every_value_between_the_bounds_of_a_description_is_a_cell(budget: Budget) -> None:
    answer = budget.tables(["age", "begun"]).release("zcdp(1000000)")
    assert answer.tables["age"].to_pydict()["age"] == ["0", "1", "2", "3", "4", "(no value)"]
    assert answer.tables["age"]["count"].to_pylist() == pytest.approx([80] * 5 + [0], abs=0.2)
    assert answer.tables["begun"].num_rows == 365 + 1
    cut = budget.tables(["age"], bins={"age": 2}).release("zcdp(1000000)")
    assert cut.tables["age"].num_rows == 3


def test_dates_are_cut_between_the_bounds_of_the_description(budget: Budget) -> None:
    answer = budget.tables(["month"], hierarchies={"begun": ["month"]}).release("zcdp(1000000)")
    assert answer.tables["month"].num_rows == 12 + 1
    assert answer.tables["month"]["count"].to_pylist()[0] == pytest.approx(34, abs=0.2)


def test_people_are_not_counted_where_rows_are_protected(budget: Budget) -> None:
    with pytest.raises(SitrError, match="does not say whose they are"):
        budget.tables(["measure"], measures=["people"])


def test_a_key_that_is_shown_like_the_cell_without_a_value_is_refused(budget: Budget) -> None:
    keys = {"measure": ["p", "(no value)", None]}
    with pytest.raises(SitrError, match=r"'measure' has the key '\(no value\)'"):
        budget.tables(["measure"], keys=keys)
    found = budget.tables(["measure"], keys={"measure": ["p", "(no value)"]}).question
    assert isinstance(found, TablesQuestion)
