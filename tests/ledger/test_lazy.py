"""A lazy ledger is an ordinary one that its first charge creates."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitr.errors import BudgetExceeded, LedgerError, LedgerMismatch
from sitr.flavors.pure import PureDP
from sitr.ledger.entry import Sealed
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.sql import SqlLedger

ONE, TWO = PureDP(1.0), PureDP(2.0)


def exists(ledger: LazyLedger) -> bool:
    assert isinstance(ledger.path, Path)
    return ledger.path.exists()


@pytest.fixture
def ledger(tmp_path: Path) -> LazyLedger:
    return LazyLedger(tmp_path / "sitr.db", "visits", ONE, "row")


def test_nothing_is_written_before_the_first_charge(ledger: LazyLedger) -> None:
    assert (ledger.accounts(), ledger.entries(), ledger.entries("visits")) == ([], [], [])
    assert ledger.standing("visits") == ledger.check("visits")
    assert ledger.standing("visits").remaining() == ONE
    with pytest.raises(LedgerError, match="nothing was charged"):
        ledger.account("visits")
    with pytest.raises(BudgetExceeded):
        ledger.charge("visits", price=TWO, question="q")
    assert not exists(ledger)


def test_a_charge_is_recorded_in_the_file(ledger: LazyLedger) -> None:
    entry, budget = ledger.charge("visits", price=PureDP(0.75), question="q")
    kept = SqlLedger(ledger.path, create=False)
    assert ledger.entries() == ledger.entries("visits") == kept.entries("visits") == [entry]
    assert ledger.standing("visits") == ledger.check("visits") == kept.standing("visits") == budget
    assert ledger.accounts() == [ledger.account("visits")] == kept.accounts()
    with pytest.raises(BudgetExceeded):
        ledger.charge("visits", price=PureDP(0.75), question="q")


def test_it_shares_its_file_with_other_data_sets(ledger: LazyLedger) -> None:
    SqlLedger(ledger.path).open("wards", promise=TWO, neighbors="row")
    assert ledger.standing("visits").promise == ONE
    ledger.charge("visits", price=ONE, question="q")
    assert [account.dataset for account in ledger.accounts()] == ["visits", "wards"]


@pytest.mark.parametrize(("promise", "neighbors"), [(TWO, "row"), (ONE, "person")])
def test_an_account_on_other_terms_is_refused(ledger: LazyLedger, promise: PureDP, neighbors: str) -> None:
    ledger.open("visits", promise=promise, neighbors=neighbors)
    with pytest.raises(LedgerMismatch):
        ledger.standing("visits")
    with pytest.raises(LedgerMismatch):
        ledger.charge("visits", price=PureDP(0.1), question="q")


def test_nothing_is_found_before_the_first_charge_and_everything_after_it(ledger: LazyLedger) -> None:
    assert (ledger.paid("visits", price=ONE, question="q"), ledger.seals()) == ([], [])
    assert not exists(ledger)
    entry, budget = ledger.charge("visits", price=ONE, question="q")
    ledger.seal(entry.number, Sealed.ANSWER, "hash")
    assert ledger.paid("visits", price=ONE, question="q") == [entry]
    assert ledger.charged(entry.number) == (entry, budget)
    assert ledger.seals(entry.number) == SqlLedger(ledger.path).seals(sha256="hash")
