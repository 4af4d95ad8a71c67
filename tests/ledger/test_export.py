"""An export is the whole ledger, and nobody changes it unnoticed; a head pins it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.errors import InvalidParameter, LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger.entry import Sealed
from sitr.ledger.export import export, read_export, read_head, write_json, write_tables
from sitr.ledger.resume import back_up
from sitr.ledger.sql import SqlLedger


@pytest.fixture
def ledger(path: Path) -> SqlLedger:
    made = SqlLedger(path)
    made.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    for _ in range(3):
        made.charge("clinic", price=PureDP(0.1), question="SELECT COUNT(*) AS ن FROM clinic")
    made.seal(2, Sealed.CERTIFICATE, "c" * 64)
    return made


def test_an_export_says_what_the_ledger_says(ledger: SqlLedger, tmp_path: Path) -> None:
    write_json(export(ledger), tmp_path / "books.json")
    found = read_export(tmp_path / "books.json")
    assert found.seals() == ledger.seals()
    assert found.seals(2, sha256="c" * 64) == ledger.seals(2)
    assert [found.charged(number)[0] for number in (1, 2, 3)] == ledger.entries()
    assert [found.hash_at(number) for number in (0, 1, 6, 7)] == [None, ledger.hash_at(1), ledger.hash_at(6), None]
    with pytest.raises(LedgerError, match="has no entry 4"):
        found.charged(4)


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a price": lambda books: books["rows"]["entries"][1].update(price="pure(epsilon=0.01)"),
    "a row is gone": lambda books: books["rows"]["seals"].clear(),
    "a row is new": lambda books: books["rows"]["seals"].append(books["rows"]["seals"][0] | {"number": 2}),
    "a row hides another": lambda books: books["rows"]["seals"].insert(
        0, books["rows"]["seals"][0] | {"sha256": "e" * 64}
    ),
    "a price hides another": lambda books: books["rows"]["entries"].insert(
        0, books["rows"]["entries"][0] | {"price": "pure(epsilon=0.01)"}
    ),
    "a record is gone": lambda books: books["records"].pop(2),
    "the end is cut off, but not its rows": lambda books: books["records"].pop(),
    "two records change places": lambda books: books["records"].__setitem__(slice(2, 4), books["records"][3:1:-1]),
    "a signature": lambda books: books["records"][-1].update(signature="0" * 128),
    "another signer": lambda books: books["records"][-1].update(signer="0" * 64),
    "no records": lambda books: books["records"].clear(),
    "no acts": lambda books: books["rows"]["acts"].clear(),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_changed_export_is_refused(
    ledger: SqlLedger, tmp_path: Path, edit: Callable[[dict[str, Any]], object]
) -> None:
    content = export(ledger)
    edit(content)
    write_json(content, tmp_path / "books.json")
    with pytest.raises(LedgerError, match="was changed by hand"):
        read_export(tmp_path / "books.json")


def test_a_head_pins_a_ledger_and_names_no_question(ledger: SqlLedger, tmp_path: Path) -> None:
    write_json(export(ledger)["head"], tmp_path / "head.json")
    head = read_head(tmp_path / "head.json")
    assert "SELECT" not in (tmp_path / "head.json").read_text()
    assert (head.number, head.hash) == (6, ledger.hash_at(6))
    assert head.entries == {str(entry.number): entry.hash for entry in ledger.entries()}
    assert head.certificates == {"c" * 64: 2}
    ledger.charge("clinic", price=PureDP(0.1), question="later")
    head.refuse_other(ledger.hash_at(head.number), "the ledger")
    with pytest.raises(LedgerError, match="does not contain the head of 6 records"):
        head.refuse_other(ledger.hash_at(5), "the ledger")


@pytest.mark.parametrize("name", ["number", "hash", "certificates", "entries", "ledger", "signature", "signer"])
def test_a_changed_head_is_refused(ledger: SqlLedger, tmp_path: Path, name: str) -> None:
    head = export(ledger)["head"]
    head[name] = {"number": 7, "certificates": {"d" * 64: 1}, "entries": {}}.get(name, "0" * 64)
    write_json(head, tmp_path / "head.json")
    with pytest.raises(LedgerError, match="is not a head as Sitr signed it"):
        read_head(tmp_path / "head.json")


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"format": "another"}'])
def test_another_file_is_not_taken_for_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    for read in (read_export, read_head):
        with pytest.raises(InvalidParameter, match="a file that sitr ledger export wrote"):
            read(tmp_path / "odd.json")


def test_tables_hold_the_same_rows(ledger: SqlLedger, tmp_path: Path) -> None:
    content = export(ledger)
    written = write_tables(content, tmp_path / "books")
    assert {path.name for path in written} == {
        "head.json", "accounts.csv", "acts.csv", "entries.csv", "seals.csv", "records.csv"
    }  # fmt: skip
    with (tmp_path / "books" / "records.csv").open(encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [
            {name: str(value) for name, value in each.items()} for each in content["records"]
        ]
    with (tmp_path / "books" / "entries.csv").open(encoding="utf-8") as file:
        assert [row["question"] for row in csv.DictReader(file)] == ["SELECT COUNT(*) AS ن FROM clinic"] * 3
    assert json.loads((tmp_path / "books" / "head.json").read_text()) == content["head"]


def test_no_head_is_signed_of_an_old_copy(ledger: SqlLedger, path: Path) -> None:
    back_up(ledger, copy := path.with_name("copy.db"))
    ledger.charge("clinic", price=PureDP(0.1), question="later")
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    copy.rename(path)
    with pytest.raises(LedgerError, match="is behind its witness"):
        export(SqlLedger(path))
