"""A question about several data sets is charged to all of their budgets, or to none."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sitr.errors import BudgetExceeded, IncompatiblePromises, LedgerBusy, LedgerError
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger import together
from sitr.ledger.entry import Link
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger
from sitr.ledger.together import charge_together
from tests.ledger.conftest import Start

PRICE, QUESTION = PureDP(0.25), "SELECT COUNT(*) FROM visits JOIN patients ON visits.id = patients.id"
Accounts = list[tuple[SqlLedger, str]]


def opened(*paths: Path, promises: Sequence[Any] = (PureDP(1.0), PureDP(0.5))) -> Accounts:
    """The accounts of visits and patients, in one file or in two."""
    ledgers = [SqlLedger(path, patience=0.2) for path in (paths[0], paths[-1])]
    names = ("visits", "patients")
    for ledger, name, promise in zip(ledgers, names, promises, strict=True):
        ledger.open(name, promise=promise, neighbors=f"person ({name}_id), add-remove")
    return list(zip(ledgers, names, strict=True))


def spent(accounts: Accounts) -> list[int]:
    return [ledger.check(name).charges for ledger, name in accounts]


@pytest.fixture(params=["one ledger", "two ledgers"])
def accounts(request: pytest.FixtureRequest, tmp_path: Path) -> Accounts:
    return opened(*[tmp_path / "a.db", tmp_path / "b.db"][: 1 if request.param == "one ledger" else 2])


def test_all_are_charged_and_the_entries_name_each_other(accounts: Accounts, tmp_path: Path) -> None:
    one = accounts[0][0].path == accounts[1][0].path
    accounts[0][0].charge("visits", price=PureDP(0.1), question="COUNT(*)")
    (first, left), (second, right) = charge_together(accounts, price=PRICE, question=QUESTION)
    assert (left.remaining(), right.remaining()) == (PureDP(0.65), PureDP(0.25))
    assert [entry for entry, _ in map(SqlLedger.charged, (accounts[0][0], accounts[1][0]), (2, 3 if one else 1))] == [
        first,
        second,
    ]
    assert first.beside == (Link("patients", second.number, "" if one else "b.db"),)
    assert second.beside == (Link("visits", 2, "" if one else "a.db"),)
    assert {first.question, second.question} == {QUESTION}
    assert sorted(path.suffix for path in tmp_path.iterdir() if path.suffix == ".db") == [".db"] * (1 if one else 2)


def test_if_one_budget_cannot_pay_nothing_is_charged(accounts: Accounts) -> None:
    charge_together(accounts, price=PRICE, question=QUESTION)
    for order in (accounts, accounts[::-1]):
        with pytest.raises(BudgetExceeded, match=r"left of the budget of patients, got pure\(epsilon=0.3\)"):
            charge_together(order, price=PureDP(0.3), question=QUESTION)
    assert spent(accounts) == [1, 1]


def test_if_one_budget_has_another_flavor_nothing_is_charged(tmp_path: Path) -> None:
    accounts = opened(tmp_path / "a.db", promises=(PureDP(1.0), ZeroConcentratedDP(1.0)))
    with pytest.raises(IncompatiblePromises):
        charge_together(accounts, price=ZeroConcentratedDP(0.1), question=QUESTION)
    assert spent(accounts) == [0, 0]
    charge_together(accounts, price=PRICE, question=QUESTION)  # pure prices can be paid by both
    assert spent(accounts) == [1, 1]


def interrupted(accounts: Accounts, charge: Callable[..., Any]) -> None:
    """Somebody else empties the second budget after all were asked for the first time."""
    found, each_once = accounts[1][0], together._each_once

    def rival(ledgers: Sequence[SqlLedger]) -> list[SqlLedger]:
        found.charge("patients", price=PureDP(0.5), question="COUNT(*)")
        return each_once(ledgers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(together, "_each_once", rival)
        with pytest.raises(BudgetExceeded):
            charge(accounts, price=PRICE, question=QUESTION)
    assert spent(accounts) == [0, 1]


def test_a_budget_that_is_emptied_in_between_charges_nobody(accounts: Accounts) -> None:
    interrupted(accounts, charge_together)


def test_a_broken_twin_that_charges_one_after_the_other_is_caught(accounts: Accounts) -> None:
    def one_by_one(accounts: Sequence[tuple[Ledger, str]], *, price: Any, question: str) -> None:
        for ledger, name in accounts:
            ledger.standing(name).consent(price)
        together._each_once([])  # where the rival comes in
        for ledger, name in accounts:
            ledger.charge(name, price=price, question=question)

    with pytest.raises(AssertionError):
        interrupted(accounts, one_by_one)


def test_a_ledger_that_is_busy_charges_nobody(accounts: Accounts) -> None:
    with closing(sqlite3.connect(accounts[1][0].path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerBusy):
            charge_together(accounts, price=PRICE, question=QUESTION)
    assert spent(accounts) == [0, 0]


def test_two_paths_to_one_file_are_one_ledger(tmp_path: Path) -> None:
    accounts = opened(tmp_path / "a.db")
    (tmp_path / "link.db").symlink_to("a.db")
    accounts[1] = (SqlLedger(tmp_path / "link.db"), "patients")
    charge_together(accounts, price=PRICE, question=QUESTION)
    assert spent(accounts) == [1, 1]


def test_ledgers_that_do_not_exist_yet_are_made_only_if_all_can_pay(tmp_path: Path) -> None:
    later = [
        (LazyLedger(tmp_path / f"{name}.db", name, promise, f"person ({name}_id), add-remove"), name)
        for name, promise in (("visits", PureDP(1.0)), ("patients", PureDP(0.5)))
    ]
    with pytest.raises(BudgetExceeded):
        charge_together(later, price=PureDP(0.6), question=QUESTION)
    assert list(tmp_path.iterdir()) == []
    charge_together(later, price=PRICE, question=QUESTION)
    assert [ledger.standing(name).charges for ledger, name in later] == [1, 1]


def test_other_ledgers_are_refused(tmp_path: Path) -> None:
    accounts = opened(tmp_path / "a.db")

    class Elsewhere:
        def standing(self, dataset: str) -> Any:
            return accounts[1][0].standing(dataset)

    with pytest.raises(LedgerError, match="type Elsewhere cannot be charged together"):
        charge_together([accounts[0], (Elsewhere(), "patients")], price=PRICE, question=QUESTION)  # type: ignore[list-item]
    assert spent(accounts) == [0, 0]


DIES = """
from contextlib import contextmanager
from pathlib import Path
from sitr.ledger.sqlite import SqliteFile
from sitr.ledger.together import charge_together
commits, whole = int(sys.argv[2]), SqliteFile.transaction
@contextmanager
def dying(self, *, write):
    global commits
    with whole(self, write=write) as connection:
        yield connection
        if write and commits == 0:
            os._exit(9)
    commits -= write
accounts = [(SqlLedger(Path(path) / name), who) for name, who in zip(sys.argv[3:5], ("visits", "patients"))]
SqliteFile.transaction = dying
charge_together(accounts, price=PureDP(0.25), question="COUNT(*)")
say("answered")
"""


@pytest.mark.parametrize(
    ("names", "commits", "after"),
    [
        (("a.db", "a.db"), 0, {(0, 0)}),
        (("a.db", "b.db"), 0, {(0, 0)}),
        (("a.db", "b.db"), 1, {(1, 0), (0, 1)}),  # lost budget, and no answer
        (("a.db", "b.db"), 2, {(1, 1)}),
    ],
)
def test_a_process_that_dies_before_a_commit_has_no_answer(
    tmp_path: Path, start: Start, names: tuple[str, str], commits: int, after: set[tuple[int, int]]
) -> None:
    accounts = opened(*(tmp_path / name for name in names))
    process = start(DIES, str(commits), *names, where=tmp_path)
    out, _ = process.communicate(timeout=60)
    assert (out == "answered\n") is (after == {(1, 1)})
    assert tuple(spent(accounts)) in after


RACES = """
from pathlib import Path
from sitr.ledger.together import charge_together
accounts = [(SqlLedger(Path(path) / name), who) for name, who in zip(sys.argv[3:5], ("visits", "patients"))]
if sys.argv[2] == "backwards": accounts = accounts[::-1]
sys.stdin.readline()
paid = 0
try:
    while True:
        charge_together(accounts, price=PureDP(0.03125), question="COUNT(*)")
        paid += 1
except BudgetExceeded:
    say(paid)
"""


@pytest.mark.parametrize("names", [("a.db", "a.db"), ("a.db", "b.db")])
def test_racing_processes_never_overdraw_and_never_wait_for_ever(
    tmp_path: Path, start: Start, names: tuple[str, str]
) -> None:
    accounts = opened(*(tmp_path / name for name in names))
    racing = [start(RACES, way, *names, where=tmp_path) for way in ("forwards", "backwards")]
    paid = [int(process.communicate("go\n", timeout=120)[0]) for process in racing]
    assert sum(paid) == 16  # 0.5 / 0.03125: the smaller budget decides
    assert spent(accounts) == [16, 16]


def test_a_changed_link_is_found(tmp_path: Path) -> None:
    accounts = opened(tmp_path / "a.db")
    charge_together(accounts, price=PRICE, question=QUESTION)
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute("UPDATE entries SET beside = 'patients' WHERE number = 1")
    with pytest.raises(LedgerError, match="was changed by hand"):
        accounts[0][0].entries("visits")
