"""Every answer is also a table: columns by name, rows one after another, and frames with intervals."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.errors import FileError, InvalidParameter, QuestionError, UnknownName
from sitr.session.aggregate import AggregateAnswer
from sitr.session.dataset import Dataset
from sitr.session.quality import QualityAnswer
from tests.session.conftest import KINDS

TABLES = [kind for kind in KINDS if kind != "batch"]
"""The kinds with one table; a batch has several answers."""


@pytest.mark.parametrize("kind", TABLES)
def test_columns_rows_and_frames_are_those_of_the_table(kind: str, everything: dict[str, object]) -> None:
    answer = everything[kind]
    table = answer.table  # type: ignore[attr-defined]
    assert len(answer) == table.num_rows  # type: ignore[arg-type]
    assert list(answer) == table.to_pylist()  # type: ignore[call-overload]
    for name in table.column_names:
        column = answer[name]  # type: ignore[index]
        assert isinstance(column, np.ndarray)
        assert pa.array(column, table[name].type, from_pandas=True).equals(table[name].combine_chunks())
    assert answer.to_pandas().columns.tolist() == table.column_names  # type: ignore[attr-defined]
    assert answer.to_polars().columns == table.column_names  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", TABLES)
def test_a_column_that_is_not_there_is_refused_with_a_suggestion(kind: str, everything: dict[str, object]) -> None:
    answer = everything[kind]
    first = answer.table.column_names[0]  # type: ignore[attr-defined]
    with pytest.raises(UnknownName, match=f"Did you mean '{first}'"):
        answer[first.upper()]  # type: ignore[index]


@pytest.mark.parametrize("kind", ["answer", "histogram", "quality"])
def test_frames_with_intervals_have_both_ends_beside_every_number(kind: str, everything: dict[str, object]) -> None:
    answer = everything[kind]
    for frame in (answer.to_pandas(intervals=True), answer.to_polars(intervals=True)):  # type: ignore[attr-defined]
        ends = [name.removesuffix("_low") for name in frame.columns if name.endswith("_low")]
        assert ends
        assert all(f"{name}_high" in frame.columns and name in frame.columns for name in ends)
        assert list(frame.columns) == answer.intervals().column_names  # type: ignore[attr-defined]
    exact = answer.intervals()  # type: ignore[attr-defined]
    assert answer.to_pandas(intervals=True).equals(exact.to_pandas())  # type: ignore[attr-defined]


def test_no_interval_is_made_up_where_the_error_depends_on_the_data(everything: dict[str, object]) -> None:
    with pytest.raises(QuestionError, match="as secret as they are"):
        everything["statistic"].to_pandas(intervals=True)  # type: ignore[attr-defined]


def test_quality_has_intervals_at_the_confidence_of_its_errors(everything: dict[str, object]) -> None:
    quality = everything["quality"]
    assert isinstance(quality, QualityAnswer)
    low, high = (quality.intervals()[name].to_numpy() for name in ("found_low", "found_high"))
    np.testing.assert_allclose((high - low) / 2, quality["error_95"])
    with pytest.raises(InvalidParameter, match="Leave the confidence out"):
        quality.intervals(confidence=0.9)


def test_keys_keep_their_types_in_numpy(tmp_path: Path) -> None:
    rows = pa.table({"day": [date(2024, 1, 1)] * 9, "ward": ["a"] * 9, "floor": pa.array([1] * 9, pa.int64())})
    keys = {"day": [date(2024, 1, 1)], "ward": ["a", None], "floor": [1, None]}
    data = sitr.protect(rows, name="t", unit=sitr.Row(), keys=keys)  # type: ignore[arg-type]
    answer = data.budget(sitr.PureDP(9.0), ledger=tmp_path / "t.db").sql(
        "SELECT day, ward, floor, COUNT(*) AS n FROM t GROUP BY day, ward, floor"
    ).release(sitr.PureDP(1.0))  # fmt: skip
    assert answer["day"].dtype == np.dtype("datetime64[D]")
    assert answer["ward"].dtype == object
    assert set(answer["ward"].tolist()) == {"a", None}
    assert np.isnan(answer["floor"]).sum() == 2
    assert answer["n"].dtype == np.int64


def test_an_answer_without_rows_is_empty(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(sitr.ApproximateDP(1.0, 1e-5), ledger=tmp_path / "visits.db")
    answer = budget.sql("SELECT ABS(patient_id) AS p, COUNT(*) AS n FROM visits GROUP BY p").release(
        sitr.ApproximateDP(0.5, 1e-6)
    )
    assert (len(answer), list(answer), answer["n"].tolist()) == (0, [], [])
    assert "1 row" not in repr(answer)


@pytest.mark.parametrize("name", ["answer.pdf", "answer.json", "answer"])
def test_a_certificate_that_is_no_page_is_refused(everything: dict[str, object], tmp_path: Path, name: str) -> None:
    answer = everything["answer"]
    assert isinstance(answer, AggregateAnswer)
    for write in (answer.certificate, answer.label):
        with pytest.raises(FileError, match=r"a file whose name ends in \.html"):
            write(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_file_in_a_folder_that_is_not_there_is_refused_in_words(
    everything: dict[str, object], tmp_path: Path
) -> None:
    answer = everything["answer"]
    assert isinstance(answer, AggregateAnswer)
    folder = tmp_path / "no" / "such"
    for write, name in ((answer.certificate, "page.html"), (answer.label, "card.html"), (answer.plot, "chart.svg")):
        with pytest.raises(FileError, match="its folder does not exist"):
            write(folder / name)
