from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest

from sitr.errors import BudgetExceeded, LedgerBusy, LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger.sql import SqlLedger
from tests.ledger.statements import noticed

Start = Callable[..., "Popen[str]"]
PRICE = PureDP(0.01)


@pytest.fixture
def ledger(path: Path) -> SqlLedger:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    return ledger


def charge(ledger: SqlLedger) -> None:
    ledger.charge("clinic", price=PRICE, question="COUNT(*)")


def sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])


def heard(process: Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: Popen[str], word: str = "go") -> None:
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


# Where the file is.


def test_paths_addresses_and_links_lead_to_one_ledger(
    ledger: SqlLedger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    monkeypatch.chdir(path.parent)
    for where in (str(path), path.name, f"./{path.name}", link, f"sqlite:///{path}", f"sqlite:///{path.name}"):
        charge(SqlLedger(where, create=False))
    assert len(ledger.entries()) == 6


def test_a_change_of_directory_does_not_change_the_ledger(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    ledger = SqlLedger(path.name)
    monkeypatch.chdir("/")
    assert ledger.accounts() == []


def test_a_path_may_hold_what_an_address_would_not(tmp_path: Path) -> None:
    path = tmp_path / "we?ird&mode=ro #1%20 دفتر.db"
    SqlLedger(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("where", "word"),
    [
        ("mysql+pymysql://noor:geheim@host/ledger", "of the kind mysql+pymysql://"),
        ("no such://geheim", "of the kind no such://"),
        ("sqlite:///ledger.db?mode=memory", "with options"),
        ("sqlite://", "forget what was spent"),
        ("sqlite:///:memory:", "forget what was spent"),
        (":memory:", "forget what was spent"),
        ("", "forget what was spent"),
    ],
)
def test_other_addresses_are_no_ledgers(where: str, word: str) -> None:
    with pytest.raises(LedgerError) as caught:
        SqlLedger(where)
    assert word in caught.value.given
    assert "geheim" not in str(caught.value)
    assert "or the address of a PostgreSQL database" in caught.value.do


# What can go wrong with it.


def test_a_missing_ledger_is_not_made_for_reading(path: Path) -> None:
    with pytest.raises(LedgerError, match=r"There is no ledger at"):
        SqlLedger(path, create=False)
    assert not path.exists()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"There is no folder .*/nowhere for the ledger"):
        SqlLedger(tmp_path / "nowhere" / "ledger.db")


def test_a_folder_is_not_a_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"got the folder"):
        SqlLedger(tmp_path)


@pytest.mark.parametrize("create", [True, False])
def test_a_file_of_another_kind_is_not_touched(path: Path, create: bool) -> None:
    path.write_text("patient_id,age\n1,42\n" * 1000)
    with pytest.raises(LedgerError, match=r"is not a SQLite database\."):
        SqlLedger(path, create=create)
    assert path.read_text() == "patient_id,age\n1,42\n" * 1000


def test_a_ledger_that_went_missing_is_not_replaced_by_an_empty_one(ledger: SqlLedger, path: Path) -> None:
    path.unlink()
    for ask in (lambda: charge(ledger), ledger.entries):
        with pytest.raises(LedgerError, match=r"cannot be opened\. Check that the file exists"):
            ask()
    assert not path.exists()


def test_a_damaged_ledger_is_said_to_be_damaged(ledger: SqlLedger, path: Path) -> None:
    charge(ledger)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)  # all pages but the first
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"is damaged"):
        charge(ledger)


def test_an_unforeseen_failure_is_a_ledger_error(ledger: SqlLedger, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("DELETE FROM sqlite_master WHERE tbl_name = 'entries'")
    with pytest.raises(LedgerError, match="changed by hand"):
        charge(ledger)


READ_ONLY = """
ledger = SqlLedger(path)
ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
ledger.charge("clinic", price=PureDP(0.01), question="COUNT(*)")
os.chmod(path, 0o444)
os.chmod(os.path.dirname(path), {folder})
os.environ["SITR_STATE"] = state = os.path.dirname(os.path.dirname(path)) + "/state"
os.mkdir(state)
if os.getuid() == 0:
    os.chown(state, 65534, 65534)
    os.setuid(65534)  # the system lets root write to everything
try:
    SqlLedger(path, create=False).charge("clinic", price=PureDP(0.01), question="COUNT(*)")
except LedgerError as error:
    say(error)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("folder", "word"), [(0o777, "is read-only"), (0o555, "is read-only"), (0o000, "no permission to use")]
)
def test_a_ledger_without_the_right_to_write_is_an_error(start: Start, folder: int, word: str) -> None:
    with TemporaryDirectory(dir="/tmp") as home:
        Path(home).chmod(0o755)
        (inner := Path(home) / "inner").mkdir()
        said = heard(start(READ_ONLY.format(folder=folder), where=inner / "ledger.db"))
        inner.chmod(0o755)
        assert word in said
        assert "Ask for permission to write to the file and to its folder" in said
        assert len(SqlLedger(inner / "ledger.db").entries()) == 1


FULL = """
import resource
ledger = SqlLedger(path)
ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
ledger.charge("clinic", price=PureDP(0.01), question="COUNT(*)")
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # no file may grow beyond: as on a full disk
try:
    ledger.charge("clinic", price=PureDP(0.01), question="x" * 1_000_000)
except LedgerError as error:
    say(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
ledger.charge("clinic", price=PureDP(0.01), question="COUNT(*)")
say([entry.question for entry in ledger.entries()])
"""


def test_a_full_disk_is_an_error_and_no_entry(start: Start, path: Path) -> None:
    process = start(FULL)
    assert "full" in heard(process)
    assert heard(process) == "['COUNT(*)', 'COUNT(*)']"
    assert sound(path)


# Who may write, and when.


def test_another_writer_is_waited_for_and_then_reported(ledger: SqlLedger, path: Path) -> None:
    hasty = SqlLedger(path, patience=0.3)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(
            LedgerBusy,
            match=r"Another program is writing to the ledger .*\. Try again in a moment; nothing was spent\.",
        ):
            charge(hasty)
        assert 0.2 < time.monotonic() - began < 5
        assert hasty.entries() == []  # readers need not wait
        other.execute("ROLLBACK")
    charge(hasty)
    assert len(ledger.entries()) == 1


def test_a_writer_that_ends_in_time_is_no_trouble(ledger: SqlLedger, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        ending = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
        ending.start()
        charge(ledger)
        ending.join()
    assert len(ledger.entries()) == 1


@pytest.fixture
def paused() -> Iterator[tuple[threading.Event, threading.Event]]:
    """The next commit says that it is there, and waits."""
    arrived, go_on = threading.Event(), threading.Event()

    def pause(statement: str) -> None:
        if statement == "COMMIT":
            arrived.set()
            assert go_on.wait(60)

    with noticed(pause):
        yield arrived, go_on


def test_a_thread_waits_no_longer_than_its_patience(
    ledger: SqlLedger, path: Path, paused: tuple[threading.Event, threading.Event]
) -> None:
    arrived, go_on = paused
    slow = threading.Thread(target=charge, args=(ledger,))
    slow.start()
    try:
        assert arrived.wait(60)
        with pytest.raises(LedgerBusy, match="nothing was spent"):
            SqlLedger(path, patience=0.1)
    finally:
        go_on.set()
        slow.join()
    assert len(ledger.entries()) == 1


def test_threads_share_a_ledger_and_never_overspend(ledger: SqlLedger) -> None:
    answers: list[int] = []

    def spend() -> None:
        try:
            while True:
                charge(ledger)
                answers.append(1)
        except BudgetExceeded:
            return

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == len(ledger.entries()) == 100
    assert ledger.standing("clinic").spent() == PureDP(1.0)


RACE = """
ledger = SqlLedger(path)
say("ready")
sys.stdin.readline()
answers = 0
for price in (PureDP(0.03), PureDP(0.01)):
    try:
        while True:
            ledger.charge("clinic", price=price, question="COUNT(*)")
            answers += 1
    except BudgetExceeded:
        pass
say(answers)
"""


@pytest.mark.parametrize("processes", [2, 4])
def test_racing_processes_spend_all_that_fits_and_no_more(ledger: SqlLedger, start: Start, processes: int) -> None:
    racers = [start(RACE) for _ in range(processes)]
    assert [heard(racer) for racer in racers] == ["ready"] * processes
    for racer in racers:
        tell(racer)
    answers = [int(heard(racer)) for racer in racers]
    assert sum(answers) == len(ledger.entries())
    assert ledger.standing("clinic").spent() == PureDP(1.0)


CREATE = """
say("ready")
for line in sys.stdin:
    try:
        SqlLedger(line.strip()).open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
        say("made")
    except LedgerError as error:
        say(error)
"""


def test_racing_processes_make_one_ledger(start: Start, tmp_path: Path) -> None:
    racers = [start(CREATE) for _ in range(2)]
    assert [heard(racer) for racer in racers] == ["ready"] * 2
    for number in range(30):
        for racer in racers:
            tell(racer, str(tmp_path / f"{number}.db"))
        assert [heard(racer) for racer in racers] == ["made"] * 2
        assert len(SqlLedger(tmp_path / f"{number}.db").accounts()) == 1


FORK = """
import threading
ledger = SqlLedger(path)
charges, done = 0, False
def spend():
    global charges
    while not done:
        ledger.charge("clinic", price=PureDP(0.001), question="COUNT(*)")
        charges += 1
        time.sleep(0.001)  # much less than a charge takes: most forks fall into one
thread = threading.Thread(target=spend)
thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        try:
            ledger.charge("clinic", price=PureDP(0.001), question="COUNT(*)")
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
done = True
thread.join()
say(charges + 10)
"""


def test_a_fork_in_the_middle_of_a_charge_harms_nobody(ledger: SqlLedger, path: Path, start: Start) -> None:
    charged = int(heard(start(FORK)))
    assert len(ledger.entries()) == charged > 10
    assert sound(path)


# What a sudden death leaves behind.

BEFORE_COMMIT = """
from tests.ledger.statements import noticed
{before}
with noticed(lambda sql: sql == "COMMIT" and (say("committing"), time.sleep(600))):
    {during}
"""


def test_killed_before_the_commit_there_is_no_entry(ledger: SqlLedger, path: Path, start: Start) -> None:
    charging = 'ledger.charge("clinic", price=PureDP(0.01), question="COUNT(*)")'
    process = start(BEFORE_COMMIT.format(before="ledger = SqlLedger(path)", during=charging))
    assert heard(process) == "committing"
    with pytest.raises(LedgerBusy):
        charge(SqlLedger(path, patience=0.1))
    process.kill()
    process.wait()
    assert ledger.entries() == []
    charge(SqlLedger(path, patience=0.1))
    assert len(ledger.entries()) == 1
    assert sound(path)


def test_killed_while_making_the_ledger_the_next_one_makes_it(path: Path, start: Start) -> None:
    process = start(BEFORE_COMMIT.format(before="", during="SqlLedger(path)"))
    assert heard(process) == "committing"
    process.kill()
    process.wait()
    with pytest.raises(LedgerError, match=r"There is no ledger at"):
        SqlLedger(path, create=False)
    assert SqlLedger(path).accounts() == []
    assert sound(path)


AFTER_CHARGE = """
ledger = SqlLedger(path)
ledger.charge("clinic", price=PureDP(0.01), question="COUNT(*)")
say("answer")
time.sleep(600)
"""


def test_killed_after_the_charge_there_is_one_entry(ledger: SqlLedger, path: Path, start: Start) -> None:
    process = start(AFTER_CHARGE)
    assert heard(process) == "answer"
    process.kill()
    process.wait()
    assert len(ledger.entries()) == 1
    charge(SqlLedger(path, patience=0.1))
    assert len(ledger.entries()) == 2
    assert sound(path)


KILLED_AT_RANDOM = """
import random, signal
delays = random.Random(20250102)
ledger = SqlLedger(path)
for _ in range(30):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        while True:
            ledger.charge("clinic", price=PureDP(0.0001), question="COUNT(*)")
            os.write(writing, b".")
    os.close(writing)
    answers = os.read(reading, 1)  # at least one, then some moment within the next few charges
    time.sleep(delays.uniform(0.0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(reading, "rb") as pipe:
        answers += pipe.read()
    say(len(answers))
"""


def test_killed_at_any_moment_no_answer_is_without_its_entry(ledger: SqlLedger, path: Path, start: Start) -> None:
    process = start(KILLED_AT_RANDOM)
    answers = 0
    for _ in range(30):
        answers += int(heard(process))
        # The next child may be charging already, so more entries are no fault before the last kill.
        assert answers <= len(SqlLedger(path, create=False).entries())
    process.wait()
    # A kill may fall between the commit and the answer: that loses one charge, and never privacy.
    assert 30 <= answers <= len(ledger.entries()) <= answers + 30
    assert sound(path)
    charge(SqlLedger(path, patience=0.1))


def test_nothing_is_left_beside_the_ledger(ledger: SqlLedger, path: Path) -> None:
    charge(ledger)
    assert list(path.parent.iterdir()) == [path]


def test_a_clock_that_goes_back_changes_times_and_nothing_else(ledger: SqlLedger, path: Path) -> None:
    class Wrong(datetime):
        """It goes back by a year at each look."""

        looks = 0

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Wrong:
            cls.looks += 1
            return cls(2026 - cls.looks, 1, 1, tzinfo=tz)

    with patch("sitr.ledger.sql.datetime", Wrong):
        for _ in range(3):
            charge(SqlLedger(path))
    charge(ledger)
    entries = ledger.entries()
    assert [entry.number for entry in entries] == [1, 2, 3, 4]
    assert [entry.at.year for entry in entries[:3]] == [2025, 2024, 2023]
    assert ledger.standing("clinic").charges == 4
    assert ledger.examine().sound
