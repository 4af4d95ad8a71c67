"""The server as a process: it starts, answers at a deadline, stops when asked, and survives being killed."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from sitr.server.demonstration import ROWS
from sitr.server.role import Scope
from sitr.server.run import people_of
from sitr.server.settings import Settings, read_settings
from sitr.server.users import Users
from sitr.session.dataset import open as open_description

pytestmark = [pytest.mark.slow, pytest.mark.sample]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(*options: str, port: int, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """`sitr serve` in a folder, from when it answers."""
    command = [sys.executable, "-m", "sitr", "serve", *options, "--port", str(port), "--json"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(600):
            try:
                if httpx.get(f"http://127.0.0.1:{port}/api/v1/health").status_code == 200:
                    break
            except httpx.TransportError:
                assert process.poll() is None, process.stderr.read() if process.stderr else ""
                time.sleep(0.1)
        else:
            pytest.fail("the server does not answer")
        yield process
    finally:
        process.kill()
        process.communicate()


def settings_of(folder: Path) -> Settings:
    place = folder / "sitr-demo-server"
    return Settings(
        state=place / "server",
        secret=(place / "secret").read_text(),
        datasets={"visits": place / "visits.sitr.yaml"},
        answer_rows=ROWS,
    )


def token_of(people: Users, name: str) -> dict[str, str]:
    user = people.user(name)
    assert user is not None
    return {"authorization": f"Bearer {people.new_token(user, 'test', Scope.DECIDE, days=1)}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("process")


def test_the_demonstration_answers_at_a_deadline_and_a_kill_loses_no_charge(folder: Path) -> None:
    port = free_port()
    with running("--demo", port=port, folder=folder) as process:
        settings = settings_of(folder)
        headers = token_of(people_of(settings), "ana")
        place = f"http://127.0.0.1:{port}/api/v1/datasets/visits"
        sent = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "price": "zcdp(0.01)"}
        answer = httpx.post(f"{place}/ask", json=sent, headers=headers, timeout=120)
        assert answer.status_code == 200
        [deadline] = answer.json()["receipt"]["deadlines"]
        assert deadline["seconds"] > 1
        assert deadline["late"] is False
        other = sent | {"sql": "SELECT COUNT(*) AS n FROM visits"}
        with pytest.raises(httpx.TransportError):  # nobody waits for the deadline of this one
            httpx.post(f"{place}/ask", json=other, headers=headers, timeout=0.8)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    budget = open_description(settings.datasets["visits"]).budget()
    charged = [entry.question for entry in budget.ledger.entries("visits")]
    assert charged[0].startswith("SELECT ward")
    assert len(charged) <= 2  # what was charged stays charged
    assert budget.standing() == budget.ledger.check("visits")


def test_it_stops_when_asked_and_finishes_what_runs(folder: Path) -> None:
    """An answer that waits for its deadline still arrives, while new questions are not taken any more."""
    port = free_port()
    with running("--demo", port=port, folder=folder) as process:
        settings = settings_of(folder)
        headers, place = token_of(people_of(settings), "ana"), f"http://127.0.0.1:{port}/api/v1/datasets/visits"
        ledger = open_description(settings.datasets["visits"]).budget().ledger
        before, sent = (
            len(ledger.entries("visits")),
            {"sql": "SELECT SUM(cost) AS t FROM visits", "price": "zcdp(0.01)"},
        )
        with ThreadPoolExecutor(1) as one:
            running_one = one.submit(httpx.post, f"{place}/ask", json=sent, headers=headers, timeout=120)
            while len(ledger.entries("visits")) == before:
                assert not running_one.done(), running_one.result().text
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGTERM)
            assert not running_one.done()
            answer = running_one.result()
        assert process.wait(timeout=60) in (0, -signal.SIGTERM)
        assert answer.status_code == 200, answer.text
        assert answer.json()["receipt"]["entry"] == before + 1
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{place}/answers", headers=headers)
    assert len(ledger.entries("visits")) == before + 1


def test_settings_come_from_a_file_and_the_first_administrator_from_the_console(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("0123456789abcdef0123456789abcdef")
    (tmp_path / "sitr.toml").write_text(
        f'secret_file = "secret"\n[datasets]\nvisits = "{folder}/sitr-demo-server/visits.sitr.yaml"\n'
    )
    command = [sys.executable, "-m", "sitr", "serve", "--config", "sitr.toml", "--administrator", "root", "--json"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    link = json.loads(made.stdout)["invitation"]
    assert re.fullmatch(r"/invitation/[\w-]{40,}", link)
    port = free_port()
    with running("--config", "sitr.toml", port=port, folder=tmp_path):
        assert httpx.get(f"http://127.0.0.1:{port}{link}").status_code == 200
    people = people_of(read_settings(tmp_path / "sitr.toml"))
    assert people.invited(link.rpartition("/")[2]) is not None
