"""Tables as files: the same numbers in every format, and what is too uncertain is left out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv, parquet

from sitr.errors import MissingExtra, SitrError
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language, speaking
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.quality import QualityRule
from sitr.session import table_files
from tests.report.test_tables import made

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

RULE = QualityRule(good=0.001, fair=0.05, poor=0.1, small=90)


@pytest.fixture
def publication() -> PublishedTables:
    return made(ZeroConcentratedDP(0.02))


def write(publication: PublishedTables, path: Path, *, withhold: bool = True) -> Path:
    return table_files.written(publication, path, rule=RULE, withhold=withhold, private=False)


def test_every_format_has_the_same_numbers(publication: PublishedTables, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    shown = csv.read_csv(write(publication, tmp_path / "t.csv", withhold=False))
    whole = parquet.read_table(write(publication, tmp_path / "t.parquet", withhold=False))
    exact = np.concatenate(
        [publication.cells(publication.plan.measures[0], node).ravel() for node in publication.plan.workload.tables]
    )
    assert shown["count"].to_pylist() == whole["count"].to_pylist() == exact.tolist()
    assert b'"private": false' in whole.schema.metadata[b"sitr"]
    stat = json.loads(write(publication, tmp_path / "t.json", withhold=False).read_text(encoding="utf-8"))
    first = stat["link"]["item"][0]
    assert (stat["version"], stat["class"], first["id"]) == ("2.0", "collection", ["س", "ص", "measure"])
    assert len(first["value"]) == np.prod(first["size"]) == 18
    assert first["value"][::3] == exact[:6].tolist()
    book = openpyxl.load_workbook(write(publication, tmp_path / "t.xlsx", withhold=False))
    assert len(book.worksheets) == 4
    sheet = book.worksheets[1]
    assert [cell.value for cell in sheet["C"]][1:] == pytest.approx(exact[:6].tolist())
    assert sheet.freeze_panes == "A2"


def test_what_is_too_uncertain_is_left_out_everywhere(publication: PublishedTables, tmp_path: Path) -> None:
    shown = csv.read_csv(write(publication, tmp_path / "t.csv"))
    for name in ("count", "sum of ع"):
        pairs = list(zip(shown[name].to_pylist(), shown[f"{name}_mark"].to_pylist(), strict=True))
        assert {mark for _, mark in pairs} >= {"X"}
        assert all((value is None) == (mark == "X") for value, mark in pairs)
    assert any(shown["count_small"].to_pylist())


def test_a_text_is_never_a_formula(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    table_files._append(book.active, ["=1+1", 2])
    book.save(tmp_path / "t.xlsx")
    assert openpyxl.load_workbook(tmp_path / "t.xlsx").active["A1"].data_type == "s"


def test_notes_are_in_the_language_that_is_spoken(publication: PublishedTables, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    with speaking(Language.ARABIC):
        write(publication, tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames[0] == "ملاحظات"
    assert book.worksheets[1].sheet_view.rightToLeft


@pytest.mark.parametrize("name", ["tables.docx", "tables", ""])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(SitrError):
        table_files.checked(name, 3)


def test_too_many_sheets_are_refused() -> None:
    pytest.importorskip("openpyxl")
    with pytest.raises(SitrError, match="at most 200 tables"):
        table_files.checked("t.xlsx", 201)


def test_too_many_cells_for_a_workbook_are_refused() -> None:
    pytest.importorskip("openpyxl")
    with pytest.raises(SitrError, match="at most 100,000 cells in an Excel file"):
        table_files.checked("t.xlsx", 1, cells=100_001)


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitr.namespace.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"sitr\[excel\]"):
        table_files.checked("t.xlsx", 3)


def test_a_folder_that_is_not_there_is_said(publication: PublishedTables, tmp_path: Path) -> None:
    with pytest.raises(SitrError, match="Cannot write"):
        write(publication, tmp_path / "nowhere" / "t.json")
