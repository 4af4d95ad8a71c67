"""`--caps auto` chooses the caps in the same charge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
ASKED = ("--price", "zcdp(0.2)", "--caps", "auto")


def test_caps_are_chosen_in_one_charge(sitr: Sitr, description: Path) -> None:
    preview = sitr("preview", description, SQL, *ASKED)
    assert "for the caps of the description, at most 3 groups" in " ".join(preview.out.split())
    done = sitr("ask", description, SQL, *ASKED)
    assert (done.code, done.err) == (0, "")
    assert "chosen privately" in " ".join(done.out.split())
    told = sitr("ask", description, SQL, *ASKED, "--json").told()
    assert (told["receipt"]["again"], told["chosen_caps"]["chosen"]) == (True, True)
    assert len(SqlLedger("sitr.db", create=False).entries()) == 1
    assert "chosen privately" in " ".join(sitr("show", "sitr.db", 1).out.split())
    assert "السقوف المختارة" in sitr("--lang", "ar", "show", "sitr.db", 1).out


def test_other_words_and_other_caps_are_refused(sitr: Sitr, description: Path) -> None:
    assert "caps='best'" in sitr("ask", description, SQL, "--price", "zcdp(0.2)", "--caps", "best").err
    assert "max_groups" in sitr("ask", description, SQL, *ASKED, "--max-groups", "2").err
    assert not Path("sitr.db").exists() or SqlLedger("sitr.db", create=False).entries() == []
