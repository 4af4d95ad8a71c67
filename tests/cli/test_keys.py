"""Keys of one question, and the row for other keys, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Sitr = Callable[..., Any]

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PRICE = ("--price", "zcdp(0.5, 1e-6)")


@pytest.fixture
def described(sitr: Sitr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Visits, and a public table of wards."""
    monkeypatch.chdir(tmp_path)
    wards = ["A" if row % 2 else f"rare {row}" if row < 40 else "B" for row in range(600)]
    pq.write_table(pa.table({"id": [row % 200 for row in range(600)], "ward": wards}), "visits.parquet")
    pq.write_table(pa.table({"ward": ["B", "A", "C"]}), "wards.parquet")
    done = sitr(
        *("protect", "visits.parquet", "--unit", "id", "--max-groups", "2", "--max-rows-per-group", "3"),
        *("--public", "wards=wards.parquet", "--budget", "zcdp(9, 1e-3)", "--ledger", "sitr.db"),
    )
    assert done.code == 0, done.err
    return tmp_path / "visits.sitr.yaml"


def test_keys_are_listed_or_come_from_a_public_table(sitr: Sitr, described: Path) -> None:
    for given, keys in (("ward=A,X,NULL", [["A"], ["X"], [None]]), ("ward=@wards.ward", [["A"], ["B"], ["C"]])):
        told = sitr("ask", described, SQL, "--price", "zcdp(0.5)", "--keys", given, "--json").told()
        assert [row["key"] for row in told["rows"]] == keys
    assert "public table" in sitr("ask", described, SQL, *PRICE, "--keys", "ward=@places.ward").err


def test_other_keys_have_one_row(sitr: Sitr, described: Path) -> None:
    done = sitr("ask", described, SQL, *PRICE, "--other")
    assert "(other)" in done.out
    assert "(other)" in sitr("preview", described, SQL, *PRICE, "--other").out
    assert "(غير ذلك)" in sitr("ask", described, SQL, *PRICE, "--other", "--lang", "ar").out
    assert "--other" in sitr("ask", described, SQL, *PRICE, "--other", "--keys", "ward=A").err


@pytest.mark.usefixtures("described")
def test_protect_writes_the_keys_of_a_public_table(sitr: Sitr) -> None:
    done = sitr(
        *(
            "protect",
            "visits.parquet",
            "--unit",
            "id",
            "--max-groups",
            "2",
            "--max-rows-per-group",
            "3",
            "-o",
            "x.yaml",
        ),
        *("--name", "again", "--public", "wards=wards.parquet", "--keys", "ward=@wards.ward", "--json"),
    )
    assert [column["keys"] for column in done.told()["columns"]] == [None, ["A", "B", "C"]]


def test_a_public_column_without_its_mark_is_no_key(sitr: Sitr, described: Path) -> None:
    """Answers about the one ward `wards.ward` would be paid for, and be empty."""
    words = (
        "protect",
        "visits.parquet",
        "--unit",
        "id",
        "--max-groups",
        "2",
        "--max-rows-per-group",
        "3",
        "-o",
        "y.yaml",
    )
    public = ("--name", "more", "--public", "wards=wards.parquet", "--keys")
    refused = sitr(*words, *public, "ward=wards.ward")
    assert "--keys ward=@wards.ward" in refused.err
    assert not (described.parent / "y.yaml").exists()
    assert sitr(*words, *public, "ward=places.ward").code == 0


def test_the_most_frequent_keys(sitr: Sitr, described: Path) -> None:
    sql = "SELECT APPROX_TOP_COUNT(ward, 1) FROM visits"
    told = sitr("ask", described, sql, *PRICE, "--json").told()
    assert [row["key"] for row in told["rows"]] == [["A"]]
