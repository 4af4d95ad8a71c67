"""`sitr draw` needs the file of a model and nothing else, writes as it draws, and marks every file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from sitr.session import synthetic

Sitr = Callable[..., Any]
WORDS = ("--price", "zcdp(0.05)", "--columns", "ward,insurance", "--domain", "domain.yaml", "--rows", "40")


@pytest.fixture
def model(sitr: Sitr, description: Path) -> Path:
    """A saved model; the data, the description and the ledger are gone."""
    Path("domain.yaml").write_text("insurance: {keys: [public, private, self-paid]}\n")
    made = sitr("synthesize", description, *WORDS, "-o", "first.parquet", "--model", "model.sitr")
    assert (made.code, made.err) == (0, "")
    assert "Written: first.parquet, model.sitr" in made.out
    for path in Path().glob("*"):
        if path.is_file() and path.name not in ("first.parquet", "model.sitr"):
            path.unlink()
    return Path("model.sitr")


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("rows.parquet", pyarrow.parquet.read_table),
        ("rows.arrow", pyarrow.feather.read_table),
        ("rows.csv", pyarrow.csv.read_csv),
    ],
)
def test_rows_in_several_parts(
    sitr: Sitr, model: Path, monkeypatch: pytest.MonkeyPatch, name: str, read: Callable[[str], pa.Table]
) -> None:
    monkeypatch.setattr(synthetic.Synthetic.batches, "__kwdefaults__", {"coins": None, "most": 64})
    done = sitr("draw", model, "--rows", 1000, "-o", name)
    assert (done.code, done.err) == (0, "")
    written = f"{name}, {name}.about.json" if name.endswith("csv") else name
    assert done.out == f"1,000 rows drawn. Written: {written}\n"
    rows, first = read(name), pyarrow.parquet.read_table("first.parquet")
    assert (rows.num_rows, rows.column_names) == (1000, ["ward", "insurance"])
    assert set(rows["insurance"].to_pylist()) <= {"public", "private", "self-paid"}  # noise may rule a rare one out
    if name.endswith("csv"):
        assert json.loads(Path("rows.csv.about.json").read_text())["rows"] == 1000
    else:
        assert rows.schema.equals(first.schema)
        assert json.loads(rows.schema.metadata[b"sitr"]) == {"synthetic": True, "private": True}


def test_as_many_rows_as_the_data_set_by_default(sitr: Sitr, model: Path) -> None:
    told = sitr("draw", model, "-o", "rows.parquet", "--json").told()
    assert told["drawn"] == round(told["rows"])
    assert (told["written"], told["kind"]) == (["rows.parquet"], "synthetic rows")


def test_a_seed_draws_the_same_rows(sitr: Sitr, model: Path) -> None:
    for name, words in (("a", ("--seed", 3)), ("b", ("--seed", 3)), ("c", ("--seed", 4)), ("d", ()), ("e", ())):
        assert sitr("draw", model, "--rows", 500, "-o", f"{name}.csv", *words).code == 0
    a, b, c, d, e = (Path(f"{name}.csv").read_text() for name in "abcde")
    assert a == b
    assert len({a, c, d, e}) == 4


def test_no_rows(sitr: Sitr, model: Path) -> None:
    assert sitr("draw", model, "--rows", 0, "-o", "rows.parquet").code == 0
    assert pyarrow.parquet.read_table("rows.parquet").num_rows == 0


def test_what_is_refused(sitr: Sitr, model: Path) -> None:
    missing = sitr("draw", "nothing.sitr", "-o", "rows.csv", "--json").error()
    assert (missing["error"], missing["given"]) == ("FileError", "Could not read nothing.sitr.")
    Path("text.sitr").write_text("no model")
    assert "is damaged" in sitr("draw", "text.sitr", "-o", "rows.csv", "--json").error()["given"]
    assert "already exists" in sitr("draw", model, "-o", "first.parquet", "--json").error()["given"]
    assert sitr("draw", model, "-o", "rows.txt", "--json").error()["error"] == "BadUsage"
    assert sitr("draw", model, "-o", "rows.csv", "--rows", -1).code == 2
    assert not Path("rows.csv").exists()


def test_a_full_disk_leaves_no_partial_file(sitr: Sitr, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        Path(path).write_text("ward,insura")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.csv.CSVWriter", full)
    assert sitr("draw", model, "-o", "rows.csv", "--json").code == 1
    assert not list(Path().glob("rows.csv*"))
