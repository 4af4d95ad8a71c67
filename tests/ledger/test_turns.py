"""Turns are fair, and nobody who dies keeps the others waiting."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from sitr.errors import LedgerBusy
from sitr.flavors.pure import PureDP
from sitr.ledger.sql import SqlLedger
from sitr.ledger.turns import turn
from tests.ledger.places import Place

Start = Callable[..., "Popen[str]"]


FAIR = 4
"""By how many charges one of the racers may be ahead of another: it may have started a few turns earlier."""


def late() -> LedgerBusy:
    return LedgerBusy(given="Somebody else is at it.", do="Try again.")


def soon(seconds: float = 60.0) -> float:
    return time.monotonic() + seconds


def heard(process: Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


HOLD = """
import time
from pathlib import Path
from sitr.ledger.turns import turn
say("queueing")
with turn(Path(path), time.monotonic() + 60, RuntimeError, like=Path(sys.argv[2]) if len(sys.argv) > 2 else None):
    say("mine")
    sys.stdin.readline()
"""


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    return tmp_path / "tickets"


def test_whoever_comes_first_goes_first(tickets: Path) -> None:
    """Six threads queue one after the other while the first has its turn. Each opening of the file is a stranger."""
    order: list[int] = []

    def go(number: int) -> None:
        with turn(tickets, soon(), late):
            order.append(number)

    with turn(tickets, soon(), late):
        threads = []
        for number in range(6):
            threads.append(threading.Thread(target=go, args=(number,)))
            threads[-1].start()
            while int.from_bytes(tickets.read_bytes(), "little") < number + 2:  # until it has its ticket
                time.sleep(0.001)
        assert order == []
    for thread in threads:
        thread.join()
    assert order == list(range(6))


def test_patience_ends(tickets: Path) -> None:
    with turn(tickets, soon(), late), pytest.raises(LedgerBusy), turn(tickets, soon(0.05), late):
        pass
    with turn(tickets, soon(0.05), late):  # whoever gave up is not waited for
        pass


@pytest.mark.parametrize("dies", ["the holder", "a waiter"])
def test_whoever_is_killed_keeps_nobody_waiting(tickets: Path, start: Start, dies: str) -> None:
    first = start(HOLD, where=tickets)
    assert [heard(first), heard(first)] == ["queueing", "mine"]
    second = start(HOLD, where=tickets)
    assert heard(second) == "queueing"
    while int.from_bytes(tickets.read_bytes(), "little") < 2:
        time.sleep(0.01)
    if dies == "the holder":
        os.kill(first.pid, signal.SIGKILL)
        assert heard(second) == "mine"
        os.kill(second.pid, signal.SIGKILL)
    else:
        os.kill(second.pid, signal.SIGKILL)
        first.communicate("\n")
    with turn(tickets, soon(), late):
        pass


def test_the_last_one_removes_the_tickets_of_another_file(tmp_path: Path, tickets: Path) -> None:
    (like := tmp_path / "ledger.db").touch(mode=0o640)
    with turn(tickets, soon(), late, like=like):
        assert tickets.stat().st_mode & 0o777 == 0o640
        waiting = threading.Thread(target=_go, args=(tickets, like))
        waiting.start()
        while int.from_bytes(tickets.read_bytes(), "little") < 2:
            time.sleep(0.001)
    waiting.join()
    assert not tickets.exists()


def test_no_tickets_are_left_for_a_file_that_is_not_there(tmp_path: Path, tickets: Path) -> None:
    with pytest.raises(FileNotFoundError), turn(tickets, soon(), late, like=tmp_path / "ledger.db"):
        pass
    assert not tickets.exists()


def _go(tickets: Path, like: Path) -> None:
    with turn(tickets, soon(), late, like=like):
        assert tickets.exists()


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 8, b"\x00" * 8, b"\xff" * 7 + b"\x7f"])
def test_whatever_the_file_holds_turns_are_taken(tickets: Path, content: bytes) -> None:
    tickets.write_bytes(content)
    inside, together = [0], [0]

    def go() -> None:
        with turn(tickets, soon(), late):
            inside[0] += 1
            together[0] = max(together[0], inside[0])
            time.sleep(0.002)
            inside[0] -= 1

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [1]


CHARGE = """
ledger, children = SqlLedger(path), []
starting, go = os.pipe()
for _ in range(16):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(go)
        os.read(starting, 1)  # until all are there
        answers = 0
        try:
            while True:
                ledger.charge("clinic", price=PureDP(0.01), question="COUNT(*)")
                answers += 1
        except BudgetExceeded:
            os.write(writing, str(answers).encode())
        except BaseException as error:
            os.write(writing, f"gave up: {error}".encode())
        os._exit(0)
    os.close(writing)
    children.append(reading)
os.close(go)
for reading in children:
    with open(reading) as pipe:
        say(pipe.read())
"""


def race(place: Place, start: Start, charges: int) -> None:
    """Sixteen processes charge without pause: nobody gives up, and together they stop exactly at the budget."""
    ledger = SqlLedger(place)
    ledger.open("clinic", promise=PureDP(charges / 100), neighbors="row, add-remove")
    racers = start(CHARGE, where=place)
    answers = [heard(racers) for _ in range(16)]
    assert sum(map(int, answers)) == charges == len(ledger.entries()), answers
    assert ledger.check("clinic").spent() == PureDP(charges / 100)
    assert max(map(int, answers)) - min(map(int, answers)) <= FAIR, answers


def test_sixteen_processes_stop_exactly_at_the_budget(place: Place, start: Start) -> None:
    race(place, start, 64)


@pytest.mark.slow
def test_sixteen_processes_for_a_while(place: Place, start: Start) -> None:
    race(place, start, 3000)


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_link_in_place_of_the_tickets_changes_no_other_file(
    path: Path, tmp_path: Path, link: Callable[[Path, Path], None]
) -> None:
    """Whoever may write to the folder of a ledger could have any file of the next writer changed, or given away."""
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    path.chmod(0o666)
    other = tmp_path / "secret"
    other.write_text("my own business")
    other.chmod(0o600)
    link(tmp_path / "ledger.db-turns", other)
    assert ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")[0].number == 1  # SQLite's own lock is enough
    assert (other.read_text(), other.stat().st_mode & 0o777) == ("my own business", 0o600)
