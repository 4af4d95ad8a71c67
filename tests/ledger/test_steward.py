from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sitr.errors import BudgetExceeded, InvalidUse, LedgerError
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.ledger import steward
from sitr.ledger.book import act_row, insert
from sitr.ledger.entry import Warrant
from sitr.ledger.examine import Fault
from sitr.ledger.key import key_of
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.migrate import VERSION_TABLE
from sitr.ledger.resume import back_up, restore, resume
from sitr.ledger.rules import Rules
from sitr.ledger.sql import SqlLedger
from sitr.ledger.together import charge_together
from tests.ledger.conftest import Start
from tests.ledger.places import without_triggers
from tests.ledger.statements import noticed
from tests.ledger.test_sqlite import heard, tell
from tests.ledger.test_witness import edit, faults

NEIGHBORS = "row, add-remove"


@pytest.fixture
def ledger(path: Path) -> SqlLedger:
    made = SqlLedger(path)
    made.open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
    steward.allot(made, "clinic", "ana", PureDP(0.6))
    steward.allot(made, "clinic", "ben", PureDP(0.6))
    return made


def charge(ledger: SqlLedger, share: str, price: float) -> None:
    ledger.charge("clinic", price=PureDP(price), question="COUNT(*)", warrant=Warrant(share))


def test_one_entry_names_the_account_and_counts_in_all_above(ledger: SqlLedger) -> None:
    steward.allot(ledger, "clinic", "ana/march", PureDP(0.2))
    charge(ledger, "ana/march", 0.1)
    (entry,) = ledger.entries()
    assert (entry.dataset, entry.share, entry.account) == ("clinic", "ana/march", "clinic/ana/march")
    tree = steward.tree(ledger, "clinic")
    assert tree.paid == tree.shares["ana"].paid == tree.shares["ana/march"].paid == PureDP(0.1).coordinates()
    assert [tree.left(path) for path in ("ana/march", "ana", "ben", "")] == [
        PureDP(0.1),
        PureDP(0.5),
        PureDP(0.6),
        PureDP(0.9),
    ]
    assert ledger.standing("clinic").remaining() == PureDP(0.9)
    with pytest.raises(BudgetExceeded, match="clinic/ana/march has left"):
        charge(ledger, "ana/march", 0.11)
    assert len(ledger.entries()) == 1


def test_shares_are_moved_and_reserved_and_all_of_it_is_recorded(ledger: SqlLedger) -> None:
    charge(ledger, "ana", 0.6)
    with pytest.raises(BudgetExceeded, match="clinic/ana has left"):
        charge(ledger, "ana", 0.1)
    steward.move(ledger, "clinic", "ben", "ana", PureDP(0.1))
    charge(ledger, "ana", 0.1)
    steward.reserve(ledger, "clinic", "ben", PureDP(0.2))
    with pytest.raises(BudgetExceeded, match=r"within the pure\(epsilon=0\.1\) of .* that clinic has left"):
        charge(ledger, "", 0.2)
    charge(ledger, "ben", 0.2)
    assert faults(ledger) == set()
    assert [found.table for found in ledger.examine().findings] == []


def test_what_a_steward_cannot_do_is_not_recorded(ledger: SqlLedger) -> None:
    before = ledger.examine().records
    charge(ledger, "ana", 0.5)
    with pytest.raises(BudgetExceeded, match="would be more than its share"):
        steward.allot(ledger, "clinic", "ana", PureDP(0.4))
    with pytest.raises(LedgerError, match="no account for wards"):
        steward.allot(ledger, "wards", "ana", PureDP(0.4))
    with pytest.raises(LedgerError, match="no sub-budget 'zoe'"):
        charge(ledger, "zoe", 0.1)
    assert ledger.examine().records == before + 1


def test_a_budget_that_is_opened_later_cannot_be_divided(tmp_path: Path) -> None:
    later = LazyLedger(tmp_path / "later.db", "clinic", PureDP(1.0), NEIGHBORS)
    with pytest.raises(LedgerError, match="opened by its first charge"):
        steward.allot(later, "clinic", "ana", PureDP(0.1))


def test_a_name_is_the_longest_data_set_and_the_rest(ledger: SqlLedger) -> None:
    ledger.open("clinic/ana", promise=PureDP(1.0), neighbors=NEIGHBORS)
    assert steward.named(ledger, "clinic") == ("clinic", "")
    assert steward.named(ledger, "clinic/ben") == ("clinic", "ben")
    assert steward.named(ledger, "clinic/ana/x") == ("clinic/ana", "x")
    with pytest.raises(LedgerError, match="no account for other"):
        steward.named(ledger, "other/ana")


RACE = """
from sitr.ledger.entry import Warrant
ledger, share = SqlLedger(path), sys.argv[2]
say("ready")
sys.stdin.readline()
answers = 0
for price in (PureDP(0.03), PureDP(0.01)):
    try:
        while True:
            ledger.charge("clinic", price=price, question="COUNT(*)", warrant=Warrant(share))
            answers += 1
    except BudgetExceeded:
        pass
say(answers)
"""


def test_siblings_that_race_stop_exactly_at_the_root(ledger: SqlLedger, start: Start) -> None:
    """Four processes, two analysts; together they may have more than there is, and the root stops them."""
    racers = [start(RACE, share) for share in ("ana", "ben", "ana", "ben")]
    assert [heard(racer) for racer in racers] == ["ready"] * 4
    for racer in racers:
        tell(racer)
    answers = [int(heard(racer)) for racer in racers]
    tree = steward.tree(ledger, "clinic")
    assert sum(answers) == len(ledger.entries()) == tree.shares["ana"].charges + tree.shares["ben"].charges
    assert tree.paid == PureDP(1.0).coordinates()
    assert tuple(map(sum, zip(tree.shares["ana"].paid, tree.shares["ben"].paid, strict=True))) == tree.paid
    assert all(share.paid <= share.cap for share in tree.shares.values())
    assert faults(ledger) == set()


def test_a_charge_asks_as_much_in_a_long_ledger(ledger: SqlLedger) -> None:
    def statements() -> int:
        asked: list[str] = []
        with noticed(asked.append):
            charge(ledger, "ana", 0.001)
        return len(asked)

    charge(ledger, "ana", 0.001)
    first = statements()
    for _ in range(20):
        charge(ledger, "ben", 0.001)
    assert statements() == first


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE acts SET body = replace(body, '0.6', '0.9') WHERE kind = 'allotted'",
        "UPDATE entries SET share = 'ben' WHERE share = 'ana'",
        "UPDATE entries SET share = NULL",
        "DELETE FROM acts WHERE kind = 'allotted'",
    ],
)
def test_a_share_that_is_raised_by_hand_is_found(ledger: SqlLedger, path: Path, statement: str) -> None:
    charge(ledger, "ana", 0.5)
    edit(path, statement)
    assert faults(ledger) & {Fault.CHANGED_ROW, Fault.MISSING_ROW}


def test_an_act_that_was_not_possible_is_found_even_if_it_is_signed(ledger: SqlLedger, path: Path) -> None:
    """Somebody makes a key and appends an act that takes back what is spent."""
    charge(ledger, "ana", 0.5)
    stranger = key_of(b"\7" * 32)
    with without_triggers(path) as connection:
        insert(connection, "acts", act_row("joined", {"public": stranger.public}), stranger)
        body = {"share": "ana", "amount": "pure(epsilon=0.1)"}
        insert(connection, "acts", act_row("allotted", body, dataset="clinic"), stranger)
    assert faults(ledger) == {Fault.WRONG_SUM}
    with pytest.raises(LedgerError, match="does not add up"):
        charge(ledger, "ben", 0.1)
    with pytest.raises(LedgerError, match="does not add up"):
        steward.tree(ledger, "clinic")


def test_after_a_loss_the_steward_divides_again(ledger: SqlLedger, path: Path) -> None:
    steward.reserve(ledger, "clinic", "ben", PureDP(0.3))
    steward.allot(ledger, "clinic", "ben/x", PureDP(0.2))
    steward.reserve(ledger, "clinic", "ben/x", PureDP(0.2))
    charge(ledger, "ben", 0.1)
    back_up(ledger, copy := path.with_name("copy.db"))
    charge(ledger, "ana", 0.4)
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    (found,) = restore(copy, path)
    assert (found.price, found.exhausted) == (PureDP(0.4), False)
    again = SqlLedger(path)
    assert again.standing("clinic").remaining() == PureDP(0.5)
    tree = steward.tree(again, "clinic")
    assert [tree.left(share) for share in ("ana", "ben", "ben/x", "")] == [PureDP(0.0)] * 3 + [PureDP(0.5)]
    assert faults(again) == set()
    steward.allot(again, "clinic", "ana", PureDP(0.2))
    charge(again, "ana", 0.2)
    with pytest.raises(LedgerError, match=r"Nothing of .* is lost"):
        resume(again)


def test_a_join_charges_a_share_of_each(ledger: SqlLedger) -> None:
    ledger.open("wards", promise=PureDP(1.0), neighbors=NEIGHBORS)
    accounts, warrants = [(ledger, "clinic"), (ledger, "wards")], [Warrant("ana"), Warrant()]
    charge_together(accounts, price=PureDP(0.5), question="JOIN", warrants=warrants)
    with pytest.raises(BudgetExceeded, match="clinic/ana has left"):
        charge_together(accounts, price=PureDP(0.2), question="JOIN", warrants=warrants)
    assert [entry.account for entry in ledger.entries()] == ["clinic/ana", "wards"]


@pytest.mark.parametrize("version", ["0005", "0006"])
def test_a_ledger_of_a_version_before_goes_on(ledger: SqlLedger, path: Path, version: str) -> None:
    ledger.open("old", promise=PureDP(1.0), neighbors=NEIGHBORS)
    ledger.charge("old", price=PureDP(0.3), question="COUNT(*)")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TABLE plans")
        connection.execute("ALTER TABLE entries DROP COLUMN coins")
        if version == "0005":
            for index in ("entries_by_request", "entries_by_key", "acts_by_about"):
                connection.execute(f"DROP INDEX {index}")
            for column in ("share", "request", "key"):
                connection.execute(f"ALTER TABLE entries DROP COLUMN {column}")
            connection.execute("ALTER TABLE acts DROP COLUMN about")
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'")
    again = SqlLedger(path)
    assert faults(again) == set()
    again.charge("old", price=PureDP(0.7), question="COUNT(*)")
    charge(again, "ana", 0.6)
    assert faults(again) == set()


def test_rules_are_recorded_and_refuse_before_the_charge(ledger: SqlLedger) -> None:
    rules = steward.rule(ledger, "clinic", Rules("pure(0.01)", 2, 3600))
    assert rules == steward.state(ledger, "clinic").rules == Rules("pure(epsilon=0.01)", 2, 3600)
    with pytest.raises(LedgerError, match="a price of at least"):
        charge(ledger, "ana", 1e-100)
    charge(ledger, "ana", 0.01)
    charge(ledger, "ben", 0.01)
    with pytest.raises(LedgerError, match="2 questions were answered within 3600 seconds"):
        charge(ledger, "ana", 0.01)
    assert len(ledger.entries()) == 2
    steward.rule(ledger, "clinic", Rules())
    charge(ledger, "ana", 1e-100)
    assert faults(ledger) == set()


def test_rules_in_another_flavor_or_without_a_period_are_refused(ledger: SqlLedger) -> None:
    with pytest.raises(InvalidUse, match="with a period"):
        steward.rule(ledger, "clinic", Rules(questions=3))
    with pytest.raises(InvalidUse, match="whole numbers"):
        steward.rule(ledger, "clinic", Rules(questions=-3, seconds=1))
    with pytest.raises(Exception, match="an amount in the flavor of the budget"):
        steward.rule(ledger, "clinic", Rules("zcdp(0.1)"))


def test_a_budget_with_gamma_is_not_divided(path: Path) -> None:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=RandomDP(PureDP(1.0), 0.05), neighbors="row, replace-one")
    with pytest.raises(Exception, match="cannot be divided"):
        steward.allot(ledger, "clinic", "ana", PureDP(0.1))
