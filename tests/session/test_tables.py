"""A publication as an answer, and from a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import sitr
from sitr.audit.checker import sitr_check
from sitr.cli.main import app
from sitr.errors import SitrError
from sitr.session import publication_file

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

TEXT = """
description: visits.sitr.yaml
price: zcdp(0.1)
tables:
  - [ward, sex]
  - region
measures: [count, mean(cost)]
hierarchies: {ward: {region: {north: [a, b], south: [c]}}}
outputs: [tables.csv, tables.json]
certificate: tables.html
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(7)
    table = pa.table(
        {
            "ward": [["a", "b", "c"][place] for place in random.integers(0, 3, 500)],
            "sex": [["m", "f"][place] for place in random.integers(0, 2, 500)],
            "cost": random.uniform(0, 100, 500),
        }
    )
    parquet.write_table(table, tmp_path / "visits.parquet")
    data = sitr.protect(
        tmp_path / "visits.parquet",
        unit=sitr.Row(),
        bounds={"cost": (0, 100)},
        keys={"ward": ["a", "b", "c"], "sex": ["m", "f"]},
    )
    data.save(tmp_path / "visits.sitr.yaml", promise="zcdp(1)", ledger=tmp_path / "sitr.db")
    (tmp_path / "publication.yaml").write_text(TEXT)
    return tmp_path


def test_an_answer_has_every_table_by_name(folder: Path) -> None:
    found = publication_file.read(folder / "publication.yaml")
    answer = found.request().release(found.price)
    assert list(answer.tables) == ["ward × sex", "region"]
    assert answer.tables["region"]["region"].to_pylist() == ["north", "south"]
    one = answer.of("ward × sex")
    assert {"count", "count_low", "count_high", "mean of cost"} <= set(one.column_names)
    with pytest.raises(SitrError):
        answer.of("sex × ward")
    assert answer.table.num_rows == 6 + 2
    assert set(answer.quality()["count_mark"].to_pylist()) <= {"A", "B", "C", "X"}
    assert answer.save(folder / "t.csv").exists()


def test_whole_numbers_from_a_file_and_from_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, ["publish", "publication.yaml", "--whole", "--json"])
    assert done.exit_code == 0, done.output
    content = json.loads(done.output)
    assert all(number == int(number) >= 0 for table in content["tables"] for number in table["values"]["count"])
    assert content["tables"][0]["shifts"]["count"].keys() == {"mean", "size"}
    (folder / "publication.yaml").write_text(TEXT + "whole: true\n")
    again = CliRunner().invoke(app, ["publish", "publication.yaml"])
    assert again.exit_code == 0, again.output
    assert "rounding" in again.output
    assert "What rounding changed" in (folder / "tables.html").read_text(encoding="utf-8")
    seen = CliRunner().invoke(app, ["--lang", "ar", "preview", "publication.yaml"])
    assert seen.exit_code == 0, seen.output
    assert len(sitr.open(folder / "visits.sitr.yaml").budget().entries()) == 1


@pytest.mark.parametrize("first", [False, True], ids=["then whole", "whole first"])
def test_rounding_is_free_after_the_same_publication_and_before_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, first: bool
) -> None:
    """Rounding is a function of the noisy numbers that were paid for: one charge, and the same numbers below."""
    monkeypatch.chdir(folder)
    found = publication_file.read(folder / "publication.yaml")
    plain, whole = found.request(), found.rounding().request()
    before, after = (whole, plain) if first else (plain, whole)
    paid, free = before.release(found.price), after.release(found.price)
    assert (paid.receipt.again, free.receipt.again) == (False, True)
    assert free.receipt.entry == paid.receipt.entry
    assert len(sitr.open(folder / "visits.sitr.yaml").budget().entries()) == 1
    for one, other in zip(paid.released.numbers, free.released.numbers, strict=True):
        assert np.array_equal(one, other)
    rounded = paid if first else free
    assert all(number == int(number) >= 0 for number in rounded.of("ward × sex")["count"].to_pylist())
    assert free.released.possible()
    assert (free.released.rounded == ()) is first
    # The certificate of what was free can be verified, and another price or another table is paid for.
    free.certificate(folder / "free.html")
    done = CliRunner().invoke(app, ["verify", "free.html", "--ledger", "sitr.db"])
    assert done.exit_code == 0, done.output
    # The numbers that it shows are not those that were kept, and the independent checker compares only those.
    assert (paid.receipt.alike, free.receipt.alike) == (False, True)
    for each in (paid, free):
        page = each.certificate(folder / "checked.html").read_text(encoding="utf-8")
        rows = sitr_check.check(page).rows
        assert {row[3] for row in rows} == {"agrees"}
        assert ("shown: released" in {row[0] for row in rows}) is (each is paid)
    other = "zcdp(0.05)"
    assert not after.release(other).receipt.again
    fresh = after.release(found.price, fresh=True)
    assert not fresh.receipt.again
    assert not np.array_equal(fresh.released.numbers[0], paid.released.numbers[0])
    assert len(sitr.open(folder / "visits.sitr.yaml").budget().entries()) == 3


def test_more_formats_are_written_beside_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong = CliRunner().invoke(app, ["publish", "publication.yaml", "--format", "sdmxx"])
    assert wrong.exit_code != 0
    assert sitr.open(folder / "visits.sitr.yaml").budget().entries() == []
    done = CliRunner().invoke(app, ["publish", "publication.yaml", "--format", "sdmx", "--format", "html"])
    assert done.exit_code == 0, done.output
    assert (folder / "publication.sdmx.csv").read_text(encoding="utf-8").startswith("STRUCTURE,STRUCTURE_ID,ACTION,")
    page = (folder / "publication.html").read_text(encoding="utf-8")
    assert 'href="tables.html"' in page
    answer = publication_file.read(folder / "publication.yaml").request().release("zcdp(0.1)")
    arabic = answer.save(folder / "ar.html", lang="ar").read_text(encoding="utf-8")
    assert 'dir="rtl"' in arabic
    monkeypatch.setattr("sitr.session.table_files.MOST_ON_A_PAGE", 7)
    with pytest.raises(SitrError, match="cells on a page"):
        answer.save(folder / "t.html")


def test_publish_writes_all_files_for_one_charge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    seen = CliRunner().invoke(app, ["preview", "publication.yaml"])
    assert seen.exit_code == 0, seen.output
    assert "95% error of count" in seen.output
    least = CliRunner().invoke(app, ["preview", "publication.yaml", "--error", "count by region=30"])
    assert least.exit_code == 0, least.output
    assert not (folder / "tables.csv").exists()
    done = CliRunner().invoke(app, ["publish", "publication.yaml"])
    assert done.exit_code == 0, done.output
    assert all((folder / name).exists() for name in ("tables.csv", "tables.json", "tables.html"))
    again = CliRunner().invoke(app, ["publish", "publication.yaml", "--json"])
    assert '"again": true' in again.output
    budget = sitr.open(folder / "visits.sitr.yaml").budget()
    assert len(budget.entries()) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tables:", "tabels:"),
        ("description: visits.sitr.yaml", ""),
        ("price: zcdp(0.1)", ""),
        ("outputs: [tables.csv, tables.json]", "outputs: [tables.docx]"),
        ("price: zcdp(0.1)", "price: 0.1"),
        ("[ward, sex]", "[ward, nobody]"),
        (TEXT, "- just a list"),
        (TEXT, "tables: [ward"),
        ("- region", "- region\ntables: [sex]"),
        ("outputs: [tables.csv, tables.json]", "outputs: [nowhere/tables.csv]"),
        ("certificate: tables.html", "certificate: nowhere/tables.html"),
        ("certificate: tables.html", "certificate: tables.pdf"),
        ("certificate: tables.html", "every: month"),
    ],
)
def test_mistakes_are_refused_before_anything_is_spent(
    folder: Path, old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "publication.yaml").write_text(TEXT.replace(old, new))
    failed = CliRunner().invoke(app, ["publish", "publication.yaml"])
    assert failed.exit_code != 0
    assert "Traceback" not in failed.output
    assert sitr.open(folder / "visits.sitr.yaml").budget().entries() == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tables:", "tabels:", "Did you mean 'tables'"),
        ("description: visits.sitr.yaml", "", "field 'description'"),
        ("- region", "- [region", "line 7 is not YAML"),
        ("- region", "- region\ntables: [sex]", "'tables' twice"),
        ("- region", "- region\nbounds: {day: [2024-01-01, 2024-02-30]}", "a date or time does not exist"),
    ],
)
def test_a_preview_says_what_is_wrong_in_a_publication(
    folder: Path, old: str, new: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "publication.yaml").write_text(TEXT.replace(old, new))
    failed = CliRunner().invoke(app, ["preview", "publication.yaml"])
    assert failed.exit_code != 0
    assert said in " ".join(failed.output.split())
