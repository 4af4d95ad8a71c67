from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.errors import DescriptionError, QuestionError, UnknownName
from sitr.questions.aggregate.other import Rest
from sitr.session.budget import Budget

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PRICE = "zcdp(0.5, 1e-6)"
CLEAR = "zcdp(1e6, 1e-6)"


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> Budget:
    """Visits to wards that nobody listed, and a public table of wards."""
    folder = tmp_path_factory.mktemp("keys")
    wards = pa.table({"ward": ["A", "B", "C"], "floor": [1, 2, 2], "size": [1.5, 2.5, 3.5]})
    pq.write_table(wards, folder / "wards.parquet")
    rows = range(600)
    visits = pa.table(
        {
            "id": [row % 200 for row in rows],
            "ward": ["A" if row % 2 else f"rare {row}" if row < 40 else "B" for row in rows],
            "floor": [row % 3 for row in rows],
            "year": pa.array([2020 + row % 2 for row in rows], pa.int32()),
            "cost": [float(row % 50) for row in rows],
        }
    )
    pq.write_table(visits, folder / "visits.parquet")
    protected = sitr.protect(
        folder / "visits.parquet",
        unit="id",
        max_groups=2,
        max_rows_per_group=3,
        bounds={"cost": (0, 50)},
        public={"wards": folder / "wards.parquet"},
    )
    return protected.budget("zcdp(1e8, 0.01)", ledger=folder / "ledger.db")


def keys(answer) -> list[object]:
    return [row["ward"] for row in answer.table.to_pylist()]


@pytest.mark.parametrize("given", [["A", "C", None], ("A", "C", None)])
def test_keys_of_one_question_are_those_that_it_lists(budget, given):
    answer = budget.sql(SQL, keys={"Ward": given}).release("zcdp(0.5)")
    assert keys(answer) == ["A", "C", None]
    called = budget.group_by("ward").caps(keys={"ward": given}).agg(n=sitr.count())
    assert called.question == budget.sql(SQL, keys={"ward": given}).question
    assert "ward" not in {column.name for column in budget.table.columns if column.keys is not None}


@pytest.mark.parametrize("named", ["wards.ward", "WARDS.Ward"])
def test_keys_come_from_a_public_table(budget, named):
    assert keys(budget.sql(SQL, keys={"ward": named}).release("zcdp(0.5)")) == ["A", "B", "C"]


def test_a_data_set_takes_keys_from_a_public_table(tmp_path):
    visits, wards = pa.table({"id": [1], "ward": ["A"]}), pa.table({"ward": ["B", "A", None]})
    pq.write_table(visits, tmp_path / "visits.parquet")
    pq.write_table(wards, tmp_path / "wards.parquet")
    made = sitr.protect(
        tmp_path / "visits.parquet",
        unit="id",
        max_groups=1,
        max_rows_per_group=1,
        keys={"ward": "wards.ward"},
        public={"wards": tmp_path / "wards.parquet"},
    )
    assert made.table.column("ward").keys == ("A", "B", None)
    path = made.save(tmp_path / "visits.sitr.yaml")
    assert sitr.open(path).table.column("ward").keys == ("A", "B", None)


@pytest.mark.parametrize(
    ("given", "problem", "because"),
    [
        ("wards", UnknownName, "declared here: wards"),
        ("ward.ward", UnknownName, "keys as a list"),
        ("wards.wards", UnknownName, "Did you mean 'ward'"),
        ("wards.size", QuestionError, "cannot give keys"),
        ("wards.floor", DescriptionError, "cannot be one of its keys"),
        ([1], DescriptionError, "cannot be one of its keys"),
        ([], DescriptionError, "at least one"),
    ],
)
def test_other_keys_are_refused(budget, given, problem, because):
    with pytest.raises(problem, match=because):
        budget.sql(SQL, keys={"ward": given})
    with pytest.raises(UnknownName):
        budget.sql(SQL, keys={"wrd": ["A"]})


def test_without_public_tables_the_error_says_so(tmp_path):
    data = sitr.protect(pa.table({"id": [1], "w": ["A"]}), name="t", unit="id", max_groups=1, max_rows_per_group=1)
    budget = data.budget("zcdp(1)", ledger=tmp_path / "ledger.db")
    with pytest.raises(UnknownName, match="none is declared here"):
        budget.sql("SELECT w, COUNT(*) AS n FROM t GROUP BY w", keys={"w": "wards.ward"})


# The row for other keys


def test_an_answer_has_a_row_for_other_keys_and_is_kept(budget):
    sql = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
    request = budget.sql(sql, other=True, max_groups=3)
    answer = request.release(CLEAR)
    assert keys(answer) == ["A", "B", None]
    assert [row["other"] for row in answer.table.to_pylist()] == [False, False, True]
    assert answer.table.column("n").to_pylist() == [300, 280, 20]
    again = request.release(CLEAR)
    assert again.table.equals(answer.table)
    assert again.released == answer.released
    assert again.released.keys[-1] == (Rest.OTHER,)
    plain = budget.sql(sql, max_groups=3).release(CLEAR)
    assert keys(plain) == ["A", "B"]
    assert "other" not in plain.table.column_names


def test_what_having_measures_must_add_up_too(budget):
    request = budget.group_by("ward").other().agg(n=sitr.count())
    assert request.having(sitr.sum("cost") > 0).question.query.other
    with pytest.raises(QuestionError, match="quantiles of several groups do not add up"):
        request.having(sitr.median("cost") > 0)
    with pytest.raises(QuestionError, match="quantiles of several groups do not add up"):
        budget.sql(f"{SQL} HAVING MEDIAN(cost) > 0", other=True)


def test_every_view_of_the_answer_has_it(budget, tmp_path):
    answer = budget.group_by("ward").other().agg(n=sitr.count()).release(PRICE)
    assert "(other)" in str(answer)
    content = answer.to_dict()
    assert content["keys"]["other"] is True
    assert [row.get("other", False) for row in content["rows"]] == [False, False, True]
    assert content["rows"][-1]["key"] == [None]
    page = answer.certificate(tmp_path / "page.html")
    text = Path(page or tmp_path / "page.html").read_text()
    assert "(other)" in text
    assert "2 draws of the noise" in text
    lows = answer.intervals().column("n_low").to_pylist()
    highs = answer.intervals().column("n_high").to_pylist()
    widths = [high - low for low, high in zip(lows, highs, strict=True)]
    assert widths[2] > widths[0] == widths[1]
    preview = budget.group_by("ward").other().agg(n=sitr.count()).preview(PRICE)
    assert "(other)" in str(preview)


def test_the_same_rows_cost_the_same_with_and_without_it(budget):
    with_, without = (budget.sql(SQL, other=other).preview(PRICE) for other in (True, False))
    assert with_.plan.measurements == without.plan.measurements
    assert with_.plan.price == without.plan.price
