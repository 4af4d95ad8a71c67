"""A steward notices that rows were replaced; nobody else learns anything from it."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.errors import DescriptionError
from sitr.ledger.digests import recorded
from sitr.ledger.export import export
from sitr.ledger.sql import SqlLedger
from sitr.ledger.state import state_folder
from sitr.session.dataset import Dataset
from sitr.session.digest import Sameness, compare, record

SQL = "SELECT COUNT(*) AS n FROM visits"


def visits(folder: Path, costs: list[int]) -> Dataset:
    pq.write_table(pa.table({"id": list(range(len(costs))), "cost": costs}), folder / "visits.parquet")
    return sitr.protect(folder / "visits.parquet", unit="id", max_rows=1)


def test_replaced_rows_are_noticed(tmp_path: Path) -> None:
    dataset = visits(tmp_path, [1, 2, 3])
    assert compare(dataset).found is Sameness.UNKNOWN
    at = record(dataset)
    assert (compare(dataset).found, compare(dataset).since) == (Sameness.SAME, at)
    changed = visits(tmp_path, [1, 2, 4])
    assert compare(changed).found is Sameness.OTHER
    record(changed)
    assert compare(changed).found is Sameness.SAME
    with pytest.raises(DescriptionError, match="is in memory"):
        record(sitr.protect(pa.table({"id": [1]}), unit="id", max_rows=1, name="visits"))


def test_no_question_looks_at_a_digest_and_nothing_else_holds_it(tmp_path: Path) -> None:
    dataset = visits(tmp_path, [1, 2, 3])
    record(dataset)
    found = recorded(f"file {(tmp_path / 'visits.parquet').resolve()}")
    assert found is not None
    budget = dataset.budget(epsilon=1, ledger=tmp_path / "sitr.db")
    with patch("sitr.ledger.digests._read", side_effect=AssertionError), patch("sitr.backends.digest._mac") as mac:
        answer = budget.sql(SQL).release(epsilon=1)
        answer.certificate(tmp_path / "page.html")
        books = json.dumps(export(SqlLedger(tmp_path / "sitr.db")))
    mac.assert_not_called()
    texts = [books, (tmp_path / "page.html").read_text(), json.dumps(answer.to_dict())]
    files = [path for folder in (tmp_path, state_folder()) for path in folder.rglob("*") if path.is_file()]
    texts += [path.read_bytes().decode(errors="replace") for path in files if path.name != "digests.json"]
    assert not any(found.digest in text for text in texts)


def test_an_answer_is_the_same_after_rows_were_replaced_as_without_a_digest(tmp_path: Path) -> None:
    budget = visits(tmp_path, [1, 2, 3]).budget(epsilon=9, ledger=tmp_path / "sitr.db")
    record(visits(tmp_path, [1, 2, 3]))
    visits(tmp_path, [7, 8])
    assert budget.sql(SQL).release(epsilon=1).receipt.entry.number == 1
