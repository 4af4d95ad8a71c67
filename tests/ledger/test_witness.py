"""Ways to get budget back, each of which must be noticed before the next charge."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from sitr.errors import LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger import chain
from sitr.ledger.book import act_row, insert, ledger_id
from sitr.ledger.examine import Fault
from sitr.ledger.key import genuine, installation_key, key_of
from sitr.ledger.roles import Duty, Member
from sitr.ledger.rules import Rules
from sitr.ledger.spent import Spent
from sitr.ledger.sql import SqlLedger
from sitr.ledger.witness import Head, Witness, witnesses
from tests.ledger.places import Place, without_triggers

NEIGHBORS = "row, add-remove"


def charge(ledger: SqlLedger, price: float = 0.1) -> None:
    ledger.charge("clinic", price=PureDP(price), question="COUNT(*)")


@pytest.fixture
def ledger(path: Path) -> SqlLedger:
    made = SqlLedger(path)
    made.open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
    made.open("other", promise=PureDP(1.0), neighbors=NEIGHBORS)
    for _ in range(3):
        charge(made)
    return made


def edit(path: Place, *statements: str) -> None:
    """Change the file as somebody can who has the file but not the key, and who puts the triggers back."""
    with without_triggers(path) as connection:
        for statement in statements:
            connection.execute(statement)


def faults(ledger: SqlLedger) -> set[Fault]:
    return {found.fault for found in ledger.examine().findings}


def test_nothing_is_found_in_a_ledger_that_nobody_touched(ledger: SqlLedger) -> None:
    assert faults(ledger) == set()


def test_an_old_copy_is_refused(ledger: SqlLedger, path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        source.backup(copy)
    charge(ledger)
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerError, match="is behind its witness"):
        charge(SqlLedger(path))
    assert faults(SqlLedger(path)) == {Fault.BEHIND}


def test_a_copy_that_goes_on_elsewhere_stops_the_other(ledger: SqlLedger, path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        source.backup(copy)
    charge(SqlLedger(tmp_path / "copy.db"))
    with pytest.raises(LedgerError, match="is behind its witness"):
        charge(ledger)


def test_a_write_ahead_log_that_is_cut_off_is_refused(path: Path, tmp_path: Path) -> None:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
    with closing(sqlite3.connect(path)) as reader:  # keeps the log: the last reader to close folds it into the file
        reader.execute("SELECT * FROM entries").fetchall()
        charge(ledger)
        charge(ledger)
        assert Path(f"{path}-wal").stat().st_size > 0
        shutil.copy(path, cut := tmp_path / "cut.db")
    with pytest.raises(LedgerError, match="is behind its witness"):
        charge(SqlLedger(cut))


STOPPED: list[tuple[list[str], Fault]] = [
    (["UPDATE accounts SET promise = 'pure(epsilon=9.0)' WHERE dataset = 'clinic'"], Fault.CHANGED_ROW),
    (["UPDATE accounts SET neighbors = 'person' WHERE dataset = 'clinic'"], Fault.CHANGED_ROW),
    (["DELETE FROM entries WHERE number = 3"], Fault.MISSING_ROW),
    (["DELETE FROM entries WHERE number = 3", "DELETE FROM records WHERE number = 6"], Fault.BEHIND),
    (["DELETE FROM entries", "DELETE FROM records WHERE number > 3"], Fault.BEHIND),
    (["DELETE FROM records", "DELETE FROM acts"], Fault.NO_BEGINNING),
    (["UPDATE entries SET paid = '1/10', charges = 1 WHERE number = 3"], Fault.CHANGED_ROW),
    (["UPDATE entries SET price = 'pure(epsilon=0.0)', paid = '2/10' WHERE number = 3"], Fault.CHANGED_ROW),
    (["UPDATE entries SET dataset = 'other' WHERE number = 3"], Fault.CHANGED_ROW),
    (
        [
            "INSERT INTO entries (number, dataset, price, question, at, by, version, charges, paid) VALUES "
            "(4, 'clinic', 'pure(epsilon=0.0)', 'x', '2024-01-01T00:00:00+00:00', 'a', '0', 4, '0')"
        ],
        Fault.EXTRA_ROW,
    ),
    (
        [
            "UPDATE accounts SET promise = 'pure(epsilon=9.0)' WHERE dataset = 'clinic'",
            "UPDATE records SET hash = '00', signer = '00' WHERE number = 2",
        ],
        Fault.BROKEN_LINK,
    ),
]
"""Changes that stop the next charge."""


@pytest.mark.parametrize(("statements", "fault"), STOPPED)
@pytest.mark.usefixtures("ledger")
def test_a_change_by_hand_stops_the_next_charge(path: Path, statements: list[str], fault: Fault) -> None:
    edit(path, *statements)
    with pytest.raises(LedgerError, match=r"changed by hand|behind its witness"):
        charge(SqlLedger(path))
    assert fault in faults(SqlLedger(path))


FOUND = [
    ("UPDATE entries SET question = 'x' WHERE number = 1", Fault.CHANGED_ROW),
    ("UPDATE entries SET by = 'somebody' WHERE number = 2", Fault.CHANGED_ROW),
    ("UPDATE records SET before = hash WHERE number = 3", Fault.BROKEN_LINK),
    ("DELETE FROM records WHERE number = 5", Fault.MISSING_RECORD),
    ("UPDATE records SET number = 100 + number WHERE number IN (4, 5)", Fault.MISSING_RECORD),
    ("UPDATE records SET signature = '00' WHERE number = 6", Fault.BAD_SIGNATURE),
    ("INSERT INTO seals VALUES (9, 1, 'answer', 'hash', 'now')", Fault.EXTRA_ROW),
    ('UPDATE acts SET body = \'{"ledger": "0", "public": "0"}\'', Fault.NO_BEGINNING),
    ("UPDATE acts SET body = '?'", Fault.NO_BEGINNING),
]
"""Changes that do not matter to a charge."""


@pytest.mark.parametrize(("statement", "fault"), FOUND)
@pytest.mark.usefixtures("ledger")
def test_a_whole_examination_finds_what_does_not_matter_to_a_charge(path: Path, statement: str, fault: Fault) -> None:
    edit(path, statement)
    assert fault in faults(SqlLedger(path))


@pytest.mark.usefixtures("ledger")
def test_history_written_again_with_another_key_is_refused(path: Path) -> None:
    """Somebody raises the promise, and signs every record again, with a key of his own."""
    thief = key_of(bytes(32))
    edit(path, "UPDATE accounts SET promise = 'pure(epsilon=9.0)' WHERE dataset = 'clinic'")
    with without_triggers(path) as connection:
        rows = [(found.table, found.row) for found in chain.records(connection)]
        connection.execute("DELETE FROM records")
        for table, row in rows:
            chain.append(connection, table, row, thief)
    with pytest.raises(LedgerError, match="is behind its witness"):
        charge(SqlLedger(path))
    assert {Fault.OTHER_END, Fault.UNKNOWN_SIGNER} <= faults(SqlLedger(path))


@pytest.mark.usefixtures("ledger")
def test_another_ledger_in_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    """Somebody makes a whole ledger with a key of his own, where nothing is spent."""

    def forge() -> None:
        forged = SqlLedger(tmp_path / "forged.db")
        forged.open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
        charge(forged, 0.01)

    elsewhere(tmp_path / "second", forge)
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "forged.db", path)
    with pytest.raises(LedgerError, match="is not the ledger that was there before"):
        charge(SqlLedger(path))


def test_a_trigger_cannot_make_charges_free(ledger: SqlLedger, path: Path) -> None:
    """What is written is signed as it was meant, and triggers that Sitr did not make are refused."""
    free = "UPDATE entries SET price = 'pure(epsilon=0.0)', paid = '3/10' WHERE number = NEW.number"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute(f"CREATE TRIGGER z AFTER INSERT ON entries BEGIN {free}; END")
    with pytest.raises(LedgerError, match="its triggers are not those that Sitr made"):
        charge(ledger)
    with patch("sitr.ledger.book.as_made", return_value=True), pytest.raises(LedgerError, match="while it was written"):
        charge(ledger)
    assert Fault.CHANGED_TRIGGERS in faults(ledger)


def append(path: Path, table: str, row: dict[str, object], *, joined: bool = True) -> None:
    """Append a row as somebody with a key of his own."""
    thief = key_of(bytes(32))
    with without_triggers(path) as connection:
        if joined:
            insert(connection, "acts", act_row("joined", {"public": thief.public}), thief)
        columns, values = ", ".join(row), ", ".join(f":{name}" for name in row)
        connection.execute(f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({values})", row)
        number = connection.execute("SELECT max(number) FROM entries").fetchone()[0]
        connection.execute(f"DELETE FROM records WHERE \"table\" = '{table}' AND row = ?", (str(row.get("dataset")),))
        chain.append(connection, table, row["dataset"] if table == "accounts" else number, thief)


ENTRY = {"dataset": "clinic", "price": "pure(epsilon=0.0)", "question": "x", "at": "", "by": "", "version": ""}


@pytest.mark.parametrize("joined", [True, False])
@pytest.mark.parametrize(("charges", "paid"), [(4, "0"), (1, "3/10"), (4, "1/10")])
def test_whoever_makes_a_key_can_append_no_wrong_sum(
    ledger: SqlLedger, path: Path, charges: int, paid: str, joined: bool
) -> None:
    append(path, "entries", ENTRY | {"charges": charges, "paid": paid}, joined=joined)
    with pytest.raises(LedgerError, match=r"does not add up|is not the one that was signed"):
        charge(ledger)


@pytest.mark.parametrize("price", ["pure(epsilon=5.0)", "zcdp(rho=0.1)", "free", ""])
def test_whoever_makes_a_key_can_append_no_price_that_does_not_fit(ledger: SqlLedger, path: Path, price: str) -> None:
    append(path, "entries", ENTRY | {"price": price, "charges": 4, "paid": "3/10"})
    with pytest.raises(LedgerError, match="does not add up"):
        charge(ledger)


def test_whoever_makes_a_key_can_only_spend(ledger: SqlLedger, path: Path) -> None:
    append(path, "entries", ENTRY | {"price": "pure(epsilon=0.2)", "charges": 4, "paid": "1/2"})
    charge(ledger)
    assert ledger.standing("clinic").spent() == PureDP(0.6)


def test_whoever_makes_a_key_cannot_open_an_account_again(ledger: SqlLedger, path: Path) -> None:
    row: dict[str, object] = {"dataset": "other", "promise": "pure(epsilon=9.0)", "neighbors": NEIGHBORS, "opened": ""}
    append(path, "accounts", row)
    with pytest.raises(LedgerError, match=r"changed by hand|behind its witness"):
        ledger.charge("other", price=PureDP(5.0), question="COUNT(*)")


@pytest.mark.usefixtures("ledger")
def test_a_link_in_the_place_of_a_ledger_is_refused(path: Path, tmp_path: Path) -> None:
    def forge() -> None:
        SqlLedger(tmp_path / "forged.db").open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)

    elsewhere(tmp_path / "second", forge)
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    path.symlink_to(tmp_path / "forged.db")
    with pytest.raises(LedgerError, match="is not the ledger that was there before"):
        charge(SqlLedger(path))
    assert Fault.REPLACED in faults(SqlLedger(path))


def test_another_ledger_of_the_same_installation_is_not_taken_for_this_one(ledger: SqlLedger, tmp_path: Path) -> None:
    other = SqlLedger(tmp_path / "other.db")
    other.open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
    for end in ("", "-wal", "-shm"):
        Path(f"{ledger.path}{end}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "other.db", ledger.path)
    with pytest.raises(LedgerError, match="is not the ledger that was there before"):
        charge(SqlLedger(ledger.path))


def test_a_witness_that_another_key_signed_is_not_believed(ledger: SqlLedger, path: Path) -> None:
    witness = witnesses(installation_key())
    with ledger._file.transaction(write=False) as connection:
        file, name = witness._path(str(ledger_id(connection))), str(ledger_id(connection))
    head = witness.read(name)
    assert head is not None
    file.write_bytes(head.written(key_of(bytes(32))))
    with pytest.raises(LedgerError, match="was changed by hand"):
        charge(SqlLedger(path))


def test_a_second_installation_that_stops_before_its_first_charge_goes_on(
    ledger: SqlLedger, path: Path, tmp_path: Path
) -> None:
    """Its witness is durable before its key is in the ledger, so that it is never missed."""
    real, calls = Witness.advance, list[int]()

    def dies(self: Witness, *arguments: Any, **options: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(self, *arguments, **options)

    def stopped() -> None:
        with patch.object(Witness, "advance", dies), pytest.raises(KeyboardInterrupt):
            charge(SqlLedger(path))

    elsewhere(tmp_path / "second", stopped)
    elsewhere(tmp_path / "second", lambda: charge(SqlLedger(path)))
    charge(ledger)
    assert ledger.standing("clinic").charges == 6
    assert faults(ledger) == set()


def test_who_signed_a_record_cannot_be_changed(ledger: SqlLedger, path: Path, tmp_path: Path) -> None:
    elsewhere(tmp_path / "second", lambda: charge(SqlLedger(path)))
    charge(ledger)
    edit(path, f"UPDATE records SET signer = '{installation_key().public}' WHERE number = 8")
    assert Fault.CHANGED_ROW in faults(ledger)


def test_odd_values_are_found_and_fail_nothing(ledger: SqlLedger, path: Path) -> None:
    edit(path, "UPDATE entries SET question = x'00ff' WHERE number = 1")
    assert Fault.CHANGED_ROW in faults(ledger)
    edit(path, "UPDATE entries SET question = CAST(x'ff' AS TEXT) WHERE number = 2")
    assert Fault.CHANGED_ROW in faults(ledger)


def test_an_auditor_without_a_witness_finds_a_sound_ledger(ledger: SqlLedger, tmp_path: Path) -> None:
    def look() -> None:
        found = ledger.examine()
        assert (found.sound, found.witnessed) == (True, False)

    elsewhere(tmp_path / "auditor", look)


def test_a_ledger_ahead_of_its_witness_repairs_it(ledger: SqlLedger, path: Path) -> None:
    """The machine stopped after the charge was durable and before its witness was."""
    with patch.object(Witness, "advance", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        charge(ledger)
    assert len(ledger.entries()) == 4
    charge(SqlLedger(path))
    assert ledger.standing("clinic").spent() == PureDP(0.5)
    assert faults(ledger) == set()


def test_records_that_nobody_signed_do_not_repair_a_witness(ledger: SqlLedger, path: Path) -> None:
    with patch.object(Witness, "advance"):
        charge(ledger)
    edit(path, "UPDATE entries SET paid = '0' WHERE number = 4")
    with pytest.raises(LedgerError, match="record 7 is not the one that was signed"):
        charge(SqlLedger(path))


def test_a_witness_that_is_gone_or_changed_is_missed(ledger: SqlLedger) -> None:
    with ledger._file.transaction(write=False) as connection:
        file = witnesses(installation_key())._path(str(ledger_id(connection)))
    whole = file.read_text()
    file.write_text(whole.replace('"charges":3', '"charges":2'))
    with pytest.raises(LedgerError, match="was changed by hand"):
        charge(ledger)
    file.unlink()
    with pytest.raises(LedgerError, match="is missing from"):
        charge(ledger)
    file.write_text(whole)
    charge(ledger)


@pytest.mark.parametrize("unknown", [False, True])
def test_the_file_of_a_witness_is_what_its_hash_covers(tmp_path: Path, unknown: bool) -> None:
    """It is put together from remembered texts of accounts, which must be what JSON would write."""
    key = key_of(bytes(32))
    odd = {'q"uo\\te': Spent("a", "pure(1)", "row"), "عيادة \udcff": Spent("b", paid="1/3 0"), "a": Spent("c")}
    odd["ruled"] = Spent("d", rules=Rules(questions=1, seconds=2), members={"noor": Member(Duty.STEWARD)}, charges=3)
    head = Head("1" * 32, 7, "f" * 64, odd, unknown=unknown)
    whole = json.loads(head.written(key))
    content = {"ledger": head.ledger, "number": 7, "hash": head.hash} | ({"unknown": True} if unknown else {})
    assert whole["witness"] == content | {"accounts": {name: spent.plain() for name, spent in odd.items()}}
    assert {name: Spent.of(each) for name, each in whole["witness"]["accounts"].items()} == odd
    hash = chain.hash_of(0, "witness", head.ledger, whole["witness"], chain.START, key.public)
    assert genuine(key.public, hash, whole["signature"])
    witness = Witness(tmp_path, key.public)
    witness._path(head.ledger).write_bytes(head.written(key))
    assert witness.read(head.ledger) == head


def test_a_witness_of_an_older_version_has_empty_fields() -> None:
    """They were written, and are not any more."""
    plain = {"opened": "a", "entry": 0, "charges": 0, "paid": "", "shares": {}, "members": {}, "rules": asdict(Rules())}
    assert Spent.of(plain) == Spent("a")
    assert Spent("a").plain() == {"opened": "a"}


def elsewhere(state: Path, act: Callable[[], object]) -> None:
    """Do something as another installation."""
    with patch.dict(os.environ, {"SITR_STATE": str(state)}):
        act()


def test_two_installations_write_to_one_ledger(ledger: SqlLedger, path: Path, tmp_path: Path) -> None:
    elsewhere(tmp_path / "second", lambda: charge(SqlLedger(path)))
    charge(ledger)
    elsewhere(tmp_path / "second", lambda: charge(SqlLedger(path)))
    assert ledger.standing("clinic").charges == 6
    assert faults(ledger) == set()
    with ledger._file.transaction(write=False) as connection:
        wrote = {found.signer for found in chain.records(connection)}
    assert len(wrote) == 2
    assert installation_key().public in wrote


@pytest.mark.usefixtures("ledger")
def test_a_second_installation_also_finds_a_ledger_that_was_rolled_back(path: Path, tmp_path: Path) -> None:
    elsewhere(tmp_path / "second", lambda: charge(SqlLedger(path)))
    edit(path, "DELETE FROM entries WHERE number = 4", "DELETE FROM records WHERE number > 6")
    with pytest.raises(LedgerError, match="behind its witness"):
        elsewhere(tmp_path / "second", lambda: charge(SqlLedger(path)))


def test_a_witness_that_cannot_be_written_is_an_error_after_the_charge(ledger: SqlLedger) -> None:
    full = patch("sitr.ledger.witness.write_durably", side_effect=OSError(28, "No space left on device"))
    with full, pytest.raises(LedgerError, match=r"No space left on device.*stays spent, and nothing was answered"):
        charge(ledger)
    assert ledger.standing("clinic").charges == 4
    charge(ledger)
    assert ledger.standing("clinic").charges == 5
