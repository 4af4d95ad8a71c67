from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

from sitr.errors import BudgetExceeded, LedgerError, LedgerMismatch
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger import chain
from sitr.ledger.book import act_row, insert, ledger_id
from sitr.ledger.gate import LOST
from sitr.ledger.key import installation_key, key_of
from sitr.ledger.resume import back_up, restore, resume
from sitr.ledger.sql import SqlLedger
from sitr.ledger.witness import witnesses

NEIGHBORS = "person (id), replace-one"


def opened(path: Path, promise: Kept, dataset: str = "clinic") -> SqlLedger:
    ledger = SqlLedger(path)
    ledger.open(dataset, promise=promise, neighbors=NEIGHBORS)
    return ledger


def lose(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


PRICES = [
    (PureDP(1.0), PureDP(0.1)),
    (ApproximateDP(1.0, 1e-6), ApproximateDP(0.1, 1e-8)),
    (ZeroConcentratedDP(1.0), ZeroConcentratedDP(1 / 3)),
    (ApproximateZeroConcentratedDP(1.0, 1e-6), ApproximateZeroConcentratedDP(0.3, 1e-7)),
    (GaussianDP(1.0), GaussianDP(0.3)),
]


@pytest.mark.parametrize(("promise", "price"), PRICES)
def test_what_was_charged_after_the_backup_stays_spent(path: Path, promise: Kept, price: Kept) -> None:
    ledger = opened(path, promise)
    ledger.charge("clinic", price=price, question="before")
    back_up(ledger, copy := path.with_name("copy.db"))
    ledger.charge("clinic", price=price, question="after")
    before = ledger.standing("clinic")
    lose(path)
    (found,) = restore(copy, path)
    assert not found.exhausted
    after = SqlLedger(path).standing("clinic")
    assert after.paid >= before.paid
    assert after.remaining() == before.remaining()  # and not less: nothing is charged twice
    assert [entry.question for entry in SqlLedger(path).entries()] == ["before", LOST]
    SqlLedger(path).charge("clinic", price=price, question="on")
    assert SqlLedger(path).examine().sound


def test_an_account_opened_after_the_backup_is_not_new_again(path: Path) -> None:
    ledger = opened(path, PureDP(1.0))
    back_up(ledger, copy := path.with_name("copy.db"))
    opened(path, PureDP(0.5), "other").charge("other", price=PureDP(0.4), question="after")
    lose(path)
    restore(copy, path)
    again = opened(path, PureDP(0.5), "other")
    with pytest.raises(BudgetExceeded):
        again.charge("other", price=PureDP(0.2), question="once more")
    assert again.examine().sound


def test_a_backup_that_misses_nothing_goes_on(path: Path) -> None:
    ledger = opened(path, PureDP(1.0))
    ledger.charge("clinic", price=PureDP(0.1), question="before")
    back_up(ledger, copy := path.with_name("copy.db"))
    lose(path)
    assert restore(copy, path) == []
    SqlLedger(path).charge("clinic", price=PureDP(0.1), question="on")
    assert SqlLedger(path).standing("clinic").remaining() == PureDP(0.8)


@pytest.mark.parametrize("promise", [PureDP(1.0), RandomDP(PureDP(1.0), 0.1), GaussianDP(1.0)])
def test_without_a_witness_every_account_is_exhausted(path: Path, promise: Kept) -> None:
    ledger = opened(path, promise)
    ledger.charge("clinic", price=PureDP(0.1), question="before")
    with ledger._file.transaction(write=False) as connection:
        witnesses(installation_key())._path(str(ledger_id(connection))).unlink()
    (found,) = resume(ledger)
    assert found.exhausted
    with pytest.raises(BudgetExceeded):
        ledger.charge("clinic", price=PureDP(1e-100), question="on")
    assert ledger.examine().sound


def test_nothing_lost_is_nothing_to_resume(path: Path) -> None:
    with pytest.raises(LedgerError, match=r"Nothing of .* is lost"):
        resume(opened(path, PureDP(1.0)))


def test_charges_of_two_branches_both_count(path: Path, tmp_path: Path) -> None:
    """A second installation went on from an old copy, while the first one went on from the ledger."""
    ledger = opened(path, PureDP(1.0))
    ledger.charge("clinic", price=PureDP(0.1), question="common")
    back_up(ledger, copy := tmp_path / "copy.db")
    ledger.charge("clinic", price=PureDP(0.2), question="here")
    with patch.dict(os.environ, {"SITR_STATE": str(tmp_path / "second")}):
        SqlLedger(copy).charge("clinic", price=PureDP(0.3), question="there")
    lose(path)
    restore(copy, path)
    spent = SqlLedger(path).standing("clinic").spent()
    assert isinstance(spent, PureDP)
    assert spent.epsilon >= 0.6


def test_a_changed_ledger_is_not_resumed(path: Path) -> None:
    ledger = opened(path, PureDP(1.0))
    ledger.charge("clinic", price=PureDP(0.1), question="before")
    ledger.charge("clinic", price=PureDP(0.1), question="after")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in ("accounts", "entries", "records"):
            for what in ("update", "delete"):
                connection.execute(f"DROP TRIGGER {table}_no_{what}")
        connection.execute("DELETE FROM entries WHERE number = 2")
        connection.execute("DELETE FROM records WHERE number = 4")
        connection.execute("UPDATE accounts SET promise = 'pure(epsilon=9.0)'")
    with pytest.raises(LedgerError, match="changed by hand"):
        resume(ledger)


def test_another_ledger_in_between_gives_nothing_back(path: Path, tmp_path: Path) -> None:
    """Backup, spend everything, make a new ledger in the same place, then restore the backup."""
    ledger = opened(path, PureDP(1.0))
    back_up(ledger, copy := tmp_path / "copy.db")
    ledger.charge("clinic", price=PureDP(0.9), question="after")
    lose(path)
    with pytest.raises(LedgerMismatch, match="is gone"):
        opened(path, PureDP(1.0))
    lose(path)
    between = SqlLedger(path)
    between.open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS, second=True)
    between.charge("clinic", price=PureDP(0.05), question="in between")
    lose(path)
    restore(copy, path)
    assert SqlLedger(path).standing("clinic").paid[0] >= Fraction("0.95")


def test_a_raised_promise_is_not_resumed(path: Path) -> None:
    ledger = opened(path, PureDP(1.0))
    ledger.charge("clinic", price=PureDP(0.9), question="before")
    thief = key_of(bytes(32))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE accounts SET promise = 'pure(epsilon=9.0)'")
        insert(connection, "acts", act_row("joined", {"public": thief.public}), thief)
        rows = [(found.table, found.row) for found in chain.records(connection)]
        connection.execute("DELETE FROM records")
        for table, row in rows:
            chain.append(connection, table, row, thief)
        for _, sql in triggers:
            connection.execute(sql)
    with pytest.raises(LedgerError, match="the account of clinic is not the one that was opened"):
        resume(ledger)


def test_a_ledger_in_use_is_not_overwritten(path: Path) -> None:
    ledger = opened(path, PureDP(1.0))
    back_up(ledger, copy := path.with_name("copy.db"))
    with pytest.raises(LedgerError, match="is there already"):
        restore(copy, path)
    with pytest.raises(LedgerError, match="is there already"):
        back_up(ledger, copy)
