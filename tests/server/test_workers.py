"""Two worker processes on one ledger: the same key is charged once, and the budget is exact, whoever comes first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx2 as httpx
import pytest

from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.who import acting
from sitr.server.demonstration import accounts, demonstration
from sitr.server.run import _written, people_of
from sitr.session.budget import Budget
from sitr.session.dataset import open as open_description
from tests.server.test_run import free_port, token_of

pytestmark = [pytest.mark.slow, pytest.mark.sample]

START = "from sitr.server.run import serve, _read; import sys; serve(_read(sys.stdin.read()))"
MANY = 12


class Two:
    """A server of two processes."""

    def __init__(self, folder: Path) -> None:
        limits = {"answers_per_minute": 0, "answers_at_once": 0, "answer_rows": 0}
        self.settings = demonstration(folder, rows=2_000, port=free_port(), workers=2, **limits)
        people = people_of(self.settings)
        accounts(self.settings, people)
        self.headers = token_of(people, "ana")
        self.process = subprocess.Popen([sys.executable, "-c", START], stdin=subprocess.PIPE, text=True)
        assert self.process.stdin is not None
        self.process.stdin.write(_written(self.settings))
        self.process.stdin.close()

    @property
    def budget(self) -> Budget:
        return open_description(self.settings.datasets["visits"]).budget()

    def wait(self) -> None:
        for _ in range(900):
            try:
                if httpx.get(f"http://127.0.0.1:{self.settings.port}/api/v1/health").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        pytest.fail("the server does not answer")

    def at_once(self, bodies: list[dict[str, Any]], keys: list[str]) -> list[httpx.Response]:
        """Send all of them at the same moment, each over a connection of its own, so that both processes get some."""
        together = Barrier(len(bodies))

        def send(body: dict[str, Any], key: str) -> httpx.Response:
            together.wait(timeout=60)
            place = f"http://127.0.0.1:{self.settings.port}/api/v1/datasets/visits/ask"
            more = {"idempotency-key": key} if key else {}
            return httpx.post(place, json=body, headers=self.headers | more, timeout=300)

        with ThreadPoolExecutor(len(bodies)) as pool:
            return list(pool.map(send, bodies, keys))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    made = Two(tmp_path)
    try:
        made.wait()
        yield made
    finally:
        made.process.terminate()
        made.process.wait()


def test_the_same_key_is_charged_once(two: Two) -> None:
    body = {"sql": "SELECT COUNT(*) AS n FROM visits", "price": "zcdp(0.001)", "fresh": True}
    found = two.at_once([body] * MANY, ["monday"] * MANY)
    statuses = Counter(each.status_code for each in found)
    assert statuses.keys() <= {200, 403, 503}, statuses  # 403: it is charged, and still being computed
    answers = {each.json()["receipt"]["sha256"] for each in found if each.status_code == 200}
    assert len(answers) == 1
    assert len(two.budget.ledger.entries("visits")) == 1
    assert two.budget.standing() == two.budget.ledger.check("visits")
    again = two.at_once([body], ["monday"])[0]
    assert again.json()["receipt"]["sha256"] in answers


def test_a_budget_that_pays_for_five_pays_for_five(two: Two) -> None:
    with acting("noor"):
        two.budget.allot("ana", ZeroConcentratedDP(0.0055))
    bodies = [
        {"sql": f"SELECT COUNT(*) AS n FROM visits WHERE days > {each}", "price": "zcdp(0.001)"} for each in range(MANY)
    ]
    found = two.at_once(bodies, [""] * MANY)
    statuses = Counter(each.status_code for each in found)
    assert statuses == {200: 5, 409: MANY - 5}
    assert {each.json()["title"] for each in found if each.status_code == 409} == {"BudgetExceeded"}
    assert len(two.budget.ledger.entries("visits")) == 5
    assert two.budget.standing() == two.budget.ledger.check("visits")
    numbers = sorted(each.json()["receipt"]["entry"] for each in found if each.status_code == 200)
    assert numbers == [entry.number for entry in two.budget.ledger.entries("visits")]


def test_a_worker_that_a_busy_machine_held_up_is_not_killed(two: Two) -> None:
    """Whoever kills it loses the answers that wait in it, after their charge."""
    before = workers(two.process.pid)
    assert len(before) == 2
    for each in before:
        os.kill(each, signal.SIGSTOP)
    time.sleep(8)  # uvicorn by itself waits for five
    for each in before:
        os.kill(each, signal.SIGCONT)
    two.wait()
    time.sleep(1)
    assert workers(two.process.pid) == before


def test_a_worker_that_died_is_replaced(two: Two) -> None:
    before = workers(two.process.pid)
    os.kill(before[0], signal.SIGKILL)
    for _ in range(900):  # longer than it may be held up
        now = workers(two.process.pid)
        if len(now) == 2 and before[0] not in now:
            break
        time.sleep(0.1)
    else:
        pytest.fail("nobody takes its place")
    body = {"sql": "SELECT COUNT(*) AS n FROM visits", "price": "zcdp(0.001)", "fresh": True}
    two.wait()
    assert [each.status_code for each in two.at_once([body] * 4, [""] * 4)] == [200] * 4


def workers(parent: int) -> list[int]:
    """The worker processes of a server; not the process that counts what they share."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and b"spawn_main" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return sorted(found)
