from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sitr.flavors.pure import PureDP
from sitr.ledger.sql import SqlLedger
from tests.cli.conftest import Sitr


@pytest.fixture
def path(tmp_path: Path) -> Path:
    ledger = SqlLedger(tmp_path / "sitr.db")
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    ledger.charge("clinic", price=PureDP(0.25), question="COUNT(*)")
    return ledger.path


def test_a_whole_ledger_is_sound(sitr: Sitr, path: Path) -> None:
    assert "the chain is whole" in sitr("ledger", "verify", path).out
    told = sitr("ledger", "verify", path, "--json").told()
    assert (told["sound"], told["records"], told["findings"]) == (True, 3, [])
    assert [each["records"] for each in told["signers"]] == [3]


@pytest.mark.parametrize(("lang", "words"), [("en", "changed row"), ("ar", "صف مغيَّر")])
def test_a_changed_ledger_is_not(sitr: Sitr, path: Path, lang: str, words: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute("UPDATE entries SET question = 'another'")
    done = sitr("--lang", lang, "ledger", "verify", path)
    assert done.code == 1
    assert words in done.out
    missing, found = sitr("ledger", "verify", path, "--json").told()["findings"]
    assert missing["fault"] == "changed triggers"
    assert found == {"fault": "changed row", "record": 3, "table": "entries", "row": "1"}


def test_a_backup_is_restored_with_what_was_charged_since(sitr: Sitr, path: Path, tmp_path: Path) -> None:
    assert "with its records: 3." in sitr("ledger", "backup", path, tmp_path / "copy.db").out
    SqlLedger(path).charge("clinic", price=PureDP(0.5), question="SUM(x)")
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    assert "clinic: ε = 0.5 is counted as spent." in sitr("ledger", "restore", tmp_path / "copy.db", path).out
    assert SqlLedger(path).standing("clinic").remaining() == PureDP(0.25)
    assert sitr("ledger", "verify", path).code == 0
    assert "Nothing of" in sitr("ledger", "resume", path).err


def test_the_same_file_gets_no_second_budget_unasked(sitr: Sitr, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("id,ward\n1,A\n2,B\n")
    words: list[object] = [
        tmp_path / "v.csv",
        "--unit",
        "id",
        "--max-groups",
        1,
        "--max-rows-per-group",
        1,
        "--accept-types",
    ]
    words += ["--budget", "pure(1)"]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = sitr("protect", *words, "--ledger", tmp_path / "one.db", "-o", tmp_path / "one" / "v.yaml")
    assert first.code == 0, first.err
    more = [*words, "--ledger", tmp_path / "two.db", "-o", tmp_path / "two" / "v.yaml"]
    refused = sitr("protect", *more).err
    assert "These rows already have a budget: v in" in refused
    assert sitr("protect", *more, "--second-budget").code == 0
    made = tmp_path / "page.html"
    question = "SELECT COUNT(*) AS n FROM v"
    asked = sitr("ask", tmp_path / "two" / "v.yaml", question, "--price", "pure(0.1)", "--certificate", made)
    assert asked.code == 0, asked.err
    assert "the same rows have another, and each person is promised the sum" in made.read_text()
    with closing(sqlite3.connect(tmp_path / "two.db")) as connection:
        assert connection.execute("SELECT kind, dataset FROM acts ORDER BY number").fetchall()[1:] == [
            ("second budget", "v")
        ]


def test_one_key_is_one_key(sitr: Sitr, path: Path) -> None:
    hash = sitr("ledger", "verify", path, "--json").told()["hash"]
    assert f"3 records, signed by 1 key; the last hash is {hash}.\n" in sitr("ledger", "verify", path).out
    arabic = re.sub("[\u2066\u2069]", "", sitr("--lang", "ar", "ledger", "verify", path).out)
    assert f"3 تسجيلات، موقَّعة بمفتاح واحد؛ والبصمة الأخيرة {hash}.\n" in arabic
