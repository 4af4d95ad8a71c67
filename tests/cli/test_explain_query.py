"""`sitr explain-query`: a question as a tree, for free."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.dataset.description import load
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

WARD = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward ORDER BY total"


def test_a_tree_is_drawn_and_nothing_is_spent(sitr: Sitr, description: Path) -> None:
    done = sitr("explain-query", description, WARD, "--price", "zcdp(0.05)", "--max-rows", "4")
    assert (done.code, done.err) == (0, "")
    for part in ("├── read", "├── bounded", "├── measured", "├── shown", "└── price", "in all", "of the price"):
        assert part in done.out, part
    assert SqlLedger("sitr.db", create=False).entries() == []


def test_arabic(sitr: Sitr, description: Path) -> None:
    told = sitr("explain-query", description, WARD, environment={"LANG": "ar_SA.UTF-8"}).out
    assert "المقروء" in told
    assert "المعروض" in told


def test_without_a_price_there_is_no_noise(sitr: Sitr, description: Path) -> None:
    told = sitr("explain-query", description, WARD, "--json").told()
    assert told["price"] is None
    assert all(each["noise"] is None and each["share"] is None for each in told["measured"])
    assert told["shown"]["after"] == "ORDER BY total"


def test_no_budget_is_needed(sitr: Sitr, description: Path) -> None:
    made = load(description)
    Path("sitr.db").unlink()
    assert made.ledger is not None
    assert sitr("explain-query", description, WARD).code == 0
    assert not Path("sitr.db").exists()


@pytest.mark.parametrize("sql", ["SELECT", "SELECT SUM(wardx) AS s FROM visits"])
def test_mistakes_are_shown_in_place(sitr: Sitr, description: Path, sql: str) -> None:
    done = sitr("explain-query", description, sql)
    assert done.code != 0
    assert done.out == ""
