"""Several looks over one connection see what others write in between, and leave nothing open."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sitr.errors import LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger.looking import looking, looks
from sitr.ledger.sql import SqlLedger
from sitr.ledger.steward import newest


@pytest.fixture
def ledger(tmp_path: Path) -> SqlLedger:
    made = SqlLedger(tmp_path / "ledger.db")
    made.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    return made


def test_a_look_sees_what_was_charged_in_between(ledger: SqlLedger) -> None:
    with looking():
        assert ledger.standing("clinic").charges == 0
        before = newest(ledger)
        SqlLedger(ledger.path).charge("clinic", price=PureDP(0.1), question="q")  # over a connection of its own
        assert ledger.standing("clinic").charges == 1
        assert newest(ledger) != before
    assert newest(ledger) == newest(SqlLedger(ledger.path))


def test_connections_are_kept_while_looking_and_not_after(ledger: SqlLedger) -> None:
    assert looks() is None
    with looking():
        ledger.standing("clinic")
        kept = looks()
        assert kept is not None
        [connection] = kept._open.values()
        ledger.entries("clinic")
        with looking():  # one inside another is the same
            ledger.accounts()
        assert list(kept._open.values()) == [connection]
        assert not connection.in_transaction
    assert looks() is None
    with pytest.raises(Exception, match="closed"):
        connection.execute("SELECT 1")


def test_a_look_that_fails_leaves_no_transaction(ledger: SqlLedger) -> None:
    with looking():
        with pytest.raises(LedgerError, match="no account"):
            ledger.account("other")
        assert ledger.account("clinic").dataset == "clinic"


def test_other_threads_wait_and_do_not_share_the_connection(ledger: SqlLedger) -> None:
    seen: list[object] = []

    def other() -> None:
        seen.append(looks())
        seen.append(ledger.standing("clinic").charges)

    thread = threading.Thread(target=other)
    with looking():
        ledger.standing("clinic")
        thread.start()
        thread.join(0.2)
        assert seen == [None]  # it waits for this one to end
    thread.join()
    assert seen == [None, 0]
