"""The second checker of ledgers finds what the first one finds, and imports nothing of Sitr."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.audit.checker import sitr_chain, sitr_check
from sitr.cli.ledger_export import _shown
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.ledger.entry import Sealed
from sitr.ledger.export import export
from sitr.ledger.sql import SqlLedger


@pytest.fixture
def books(tmp_path: Path) -> dict[str, Any]:
    ledger = SqlLedger(tmp_path / "ledger.db")
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    ledger.open("random", promise=RandomDP(PureDP(1.0), 0.05), neighbors="row, add-remove")
    for _ in range(3):
        ledger.charge("clinic", price=PureDP(0.1), question="عدد")
    ledger.charge("random", price=RandomDP(PureDP(0.25), 0.05), question="COUNT(*)")
    ledger.seal(2, Sealed.CERTIFICATE, "c" * 64)
    whole: dict[str, Any] = json.loads(json.dumps(_shown(ledger) | export(ledger)))
    return whole


def test_it_needs_nothing_of_sitr() -> None:
    source = Path(sitr_chain.__file__).read_text()
    assert "import sitr" not in source
    assert "from sitr" not in source


def test_a_whole_ledger_agrees(books: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sitr_chain.check(books, books["head"]) == []
    assert not [row for row in sitr_check.check(json.dumps(books)).rows if row[3] == "DIFFERS"]
    (tmp_path / "books.json").write_text(json.dumps(books))
    assert sitr_chain.main([str(tmp_path / "books.json")]) == 0
    assert "8 records, signed by 1 key; 0 differ." in capsys.readouterr().out
    assert sitr_chain.main([str(tmp_path / "missing.json")]) == 2


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a row": lambda books: books["rows"]["entries"][1].update(price="pure(epsilon=0.01)"),
    "a price that is added up": lambda books: books["entries"][1]["price"].update(epsilon=0.01),
    "a promise that is raised": lambda books: books["accounts"][0]["promise"].update(epsilon=9.0),
    "an entry that is left out": lambda books: books["entries"].pop(),
    "an entry of another account": lambda books: books["entries"][0].update(dataset="random"),
    "a record that is gone": lambda books: books["records"].pop(3),
    "a row without a record": lambda books: books["rows"]["seals"].append(books["rows"]["seals"][0] | {"number": 9}),
    "a row that hides another": lambda books: books["rows"]["seals"].insert(
        0, books["rows"]["seals"][0] | {"sha256": "e" * 64}
    ),
    "a signature": lambda books: books["records"][-1].update(signature="0" * 128),
    "a head": lambda books: books["head"].update(certificates={}),
    "a signer": lambda books: books["rows"]["acts"][0].update(body="{}"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_every_change_is_found(books: dict[str, Any], tmp_path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    edit(books)
    assert sitr_chain.check(books)
    (tmp_path / "books.json").write_text(json.dumps(books))
    assert sitr_chain.main([str(tmp_path / "books.json")]) == 1


def test_a_head_of_another_ledger_is_found(books: dict[str, Any]) -> None:
    later = books["head"] | {"number": 99}
    assert "the head of 99 records is not in this ledger" in sitr_chain.check(books, later)
