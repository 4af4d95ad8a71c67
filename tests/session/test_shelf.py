"""Kept answers are listed and shown again from the ledger alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.errors import FileError, LedgerError
from sitr.ledger.sql import SqlLedger
from sitr.noise.coins import TestCoins
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from sitr.session.reopened import reopened
from sitr.session.shelf import State, listed

PRICE = sitr.ZeroConcentratedDP(0.1)


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=tmp_path / "sitr.db")


KINDS: dict[str, Callable[[Budget], Any]] = {
    "aggregate": lambda budget: budget.group_by("ward").agg(n=sitr.count(), total=sitr.sum("cost")),
    "histogram": lambda budget: budget.histogram("cost", bins=5),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_answer_is_shown_again_without_the_data(
    budget: Budget, visits_path: Path, tmp_path: Path, kind: Callable[[Budget], Any]
) -> None:
    answer = kind(budget).release(PRICE)
    kind(budget).release(PRICE, fresh=True)
    visits_path.unlink()
    again = reopened(SqlLedger(tmp_path / "sitr.db"), 1)
    assert (again.table, again.intervals()) == (answer.table, answer.intervals())
    told, first = again.to_dict(), answer.to_dict()
    assert (told["receipt"].pop("again"), first["receipt"].pop("again")) == (True, False)
    assert told == first
    pages = [one.certificate(tmp_path / name).read_bytes() for one, name in ((answer, "1.html"), (again, "2.html"))]
    assert pages[0] == pages[1]
    assert again.plot(tmp_path / "1.svg").read_text() == answer.plot(tmp_path / "2.svg").read_text()


def test_a_test_stays_marked(budget: Budget, tmp_path: Path) -> None:
    KINDS["aggregate"](budget).release(PRICE, coins=TestCoins(1))
    again = reopened(SqlLedger(tmp_path / "sitr.db"), 1)
    assert not again.private
    assert "NOT PRIVATE" in str(again)


def test_what_is_kept_is_listed(budget: Budget) -> None:
    ask = KINDS["aggregate"](budget)
    for _ in range(3):
        ask.release(PRICE, fresh=True)
    ask.release(PRICE, coins=TestCoins(1))
    budget.ledger.charge("visits", price=PRICE, question="died after the charge")
    kept = [reopened(budget.ledger, number).receipt.kept for number in (1, 2)]
    assert isinstance(kept[0], Path)
    assert isinstance(kept[1], Path)
    kept[0].write_text("damaged")
    kept[1].unlink()
    found = [(each.entry.number, each.state) for each in listed(budget.ledger)]
    assert found == [(1, State.CHANGED), (3, State.PRIVATE), (4, State.TEST)]
    assert listed(budget.ledger, "visits") == listed(budget.ledger)
    with pytest.raises(LedgerError):
        listed(budget.ledger, "nowhere")


def test_what_cannot_be_shown_says_why(budget: Budget) -> None:
    budget.synthesize(columns=["ward"]).release(PRICE)
    budget.ledger.charge("visits", price=PRICE, question="died after the charge")
    with pytest.raises(FileError, match="Repeat the same request for synthetic rows"):
        reopened(budget.ledger, 1)
    with pytest.raises(FileError, match="No answer of entry 2 is kept"):
        reopened(budget.ledger, 2)
    with pytest.raises(LedgerError, match="has no entry 3"):
        reopened(budget.ledger, 3)
    kept = KINDS["aggregate"](budget).release(PRICE).receipt.kept
    assert isinstance(kept, Path)
    kept.write_text("damaged")
    with pytest.raises(FileError, match="was changed or is damaged"):
        reopened(budget.ledger, 3)


def test_a_plan_that_the_entry_did_not_pay_for_is_not_shown(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a recorded hash, a file could otherwise claim a smaller price and have it recorded."""
    seal = SqlLedger.seal
    monkeypatch.setattr(SqlLedger, "seal", lambda *_: None)
    answer = budget.group_by("ward").agg(n=sitr.count()).release("zcdp(0.1)")
    monkeypatch.setattr(SqlLedger, "seal", seal)
    path = answer.receipt.kept
    assert isinstance(path, Path)
    path.write_text(path.read_text().replace('"rho":0.1', '"rho":0.01'))
    with pytest.raises(FileError, match="was changed or is damaged"):
        reopened(budget.ledger, 1)
    assert not budget.ledger.seals(1)
