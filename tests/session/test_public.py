"""A public table is declared by name, has another source than the protected rows, and is never compared with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.errors import DescriptionError, QuestionError, SourceError
from sitr.session.dataset import Dataset
from sitr.session.synthetic import Synthetic

PRICE = sitr.ZeroConcentratedDP(0.1)


def people() -> pa.Table:
    return pa.table({"age": pa.array(np.arange(600) % 90), "old": pa.array(np.arange(600) % 90 > 60)})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), "people.parquet")
    pq.write_table(people().slice(0, 90), "census.parquet")
    return tmp_path


def protected(source: Any, **public: Any) -> Dataset:
    return sitr.protect(source, unit=sitr.Row(), bounds={"age": (0, 89)}, name="people", public=public)


def made(data: Dataset, **terms: Any) -> Synthetic:
    return data.budget(**terms).synthesize(bins=9).release(PRICE)


@pytest.mark.usefixtures("folder")
def test_a_declared_file_goes_through_the_description() -> None:
    path = protected("people.parquet", census="census.parquet").save("d.sitr.yaml", promise=PRICE, ledger="l.db")
    assert yaml.safe_load(path.read_text())["public"] == {"census": {"source": "census.parquet"}}
    found = made(sitr.open(path)).compare("census")
    assert len(found.quality.single) == 2


def test_the_declaration_moves_with_its_folder(folder: Path) -> None:
    protected("people.parquet", census="census.parquet").save("d.sitr.yaml", promise=PRICE, ledger="l.db")
    moved = folder.rename(folder.parent / f"{folder.name}-moved")
    assert made(sitr.open(moved / "d.sitr.yaml")).compare("census").promise is None


@pytest.mark.usefixtures("folder")
def test_a_csv_file_can_be_public() -> None:
    pd.DataFrame({"old": [True, False] * 45, "age": range(90)}).to_csv("census.csv", index=False)
    found = made(protected("people.parquet", census="census.csv"), promise=PRICE, ledger="l.db").compare("census")
    assert found.quality.single[0].columns == ("age",)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("link", ["people.parquet", "./people.parquet", "symbolic.parquet", "hard.parquet"])
def test_the_protected_file_is_not_public(link: str) -> None:
    Path("symbolic.parquet").symlink_to("people.parquet")
    Path("hard.parquet").hardlink_to("people.parquet")
    with pytest.raises(DescriptionError, match="is a protected file"):
        protected("people.parquet", census=link)
    with pytest.raises(DescriptionError, match="is a protected file"):
        protected(link, census="people.parquet")


@pytest.mark.usefixtures("folder")
def test_a_description_edited_by_hand_is_checked_too() -> None:
    path = protected("people.parquet", census="census.parquet").save("d.sitr.yaml")
    path.write_text(path.read_text().replace("census.parquet", "people.parquet"))
    with pytest.raises(DescriptionError, match="is a protected file"):
        sitr.open(path)


@pytest.mark.usefixtures("folder")
def test_it_is_checked_again_when_it_is_used() -> None:
    budget = protected("people.parquet", census="census.parquet").budget(PRICE, ledger="l.db")
    drawn = budget.synthesize(bins=9).release(PRICE)
    Path("census.parquet").unlink()
    with pytest.raises(SourceError, match="There is no file"):
        drawn.compare("census")
    Path("census.parquet").symlink_to("people.parquet")
    with pytest.raises(DescriptionError, match="is a protected file"):
        drawn.compare("census")


PANDAS, POLARS, ARROW = people().to_pandas(), pl.DataFrame({"age": range(90)}), people()


@pytest.mark.parametrize(
    ("source", "public"),
    [
        (ARROW, ARROW),
        (ARROW, ARROW.slice(5, 10)),
        (ARROW.slice(5, 10), ARROW),
        (ARROW, ARROW.drop_columns(["old"])),
        (ARROW, ARROW.rename_columns(["years", "old"])),
        (ARROW.drop_columns(["old"]), pa.table({"other": pa.array([1]), "age": ARROW["age"].chunk(0)[:1]})),
        (PANDAS, PANDAS),
        (POLARS, POLARS),
        (POLARS, POLARS.slice(3)),
        (pd.DataFrame({"age": [1, 2]}, dtype="object"), None),
    ],
)
def test_memory_of_the_protected_rows_is_not_public(source: Any, public: Any) -> None:
    with pytest.raises(DescriptionError, match="shares memory"):
        sitr.protect(source, unit=sitr.Row(), name="people", public={"census": source if public is None else public})


@pytest.mark.usefixtures("folder")
def test_whether_a_public_row_is_protected_is_never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with the same rows from another source is taken like any other: a refusal would be a membership test."""
    copy = pa.Table.from_pylist(people().to_pylist())
    data = protected(people(), census=copy)
    drawn = made(data, promise=PRICE, ledger="l.db")
    monkeypatch.setattr(DuckDB, "size", lambda *_, **__: pytest.fail("protected rows were read"))
    monkeypatch.setattr(DuckDB, "read", _only_public(DuckDB.read, data._backend))
    assert drawn.compare("census", rows=copy).quality.mean_pairs == 0.0


def _only_public(codes: Any, protected: Any) -> Any:
    def watched(backend: Any, *more: Any, **named: Any) -> Any:
        assert backend is not protected, "protected rows were read"
        return codes(backend, *more, **named)

    return watched


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "source", "told"),
    [
        ("census", "nowhere.parquet", "which is not a file"),
        ("census", 5, "type int"),
        ("a=b", "census.parquet", "letters"),
        ("census.parquet", "census.parquet", "letters"),
    ],
)
def test_wrong_declarations_are_explained(name: str, source: Any, told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        sitr.protect("people.parquet", unit=sitr.Row(), public={name: source})


@pytest.mark.usefixtures("folder")
def test_tables_in_memory_cannot_be_described_on_disk() -> None:
    with pytest.raises(DescriptionError, match="census is in memory"):
        protected("people.parquet", census=people()).save("d.sitr.yaml")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("public", [["census"], {"census": "census.parquet"}, {"census": {"file": "x"}}, {"a b": {}}])
def test_a_broken_section_is_explained(public: Any) -> None:
    path = protected("people.parquet").save("d.sitr.yaml")
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"public": public}))
    with pytest.raises(DescriptionError, match="public"):
        sitr.open(path)


@pytest.mark.usefixtures("folder")
def test_other_columns_are_explained() -> None:
    pq.write_table(pa.table({"years": [1]}), "other.parquet")
    drawn = made(protected("people.parquet", census="other.parquet"), promise=PRICE, ledger="l.db")
    with pytest.raises(QuestionError, match="age, old"):
        drawn.compare("census")
