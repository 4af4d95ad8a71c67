"""Measure a server under load, on this machine: `python -m benchmarks.server [--seconds 20] [--json figures.json]`.

A server with an invented hospital is started, and clients send previews, then small answers, each over a connection of
its own, as quickly as they are answered. Every answer is another question at its own price, without a deadline. The
figures are answers in a second, and the time within which 99 of 100 came. Afterwards the ledger must hold exactly what
was answered. Clients and server share the cores.
"""

from __future__ import annotations

import argparse
import json
import math
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.server.demonstration import accounts, demonstration
from sitr.server.role import Scope
from sitr.server.run import _written, people_of
from sitr.session.dataset import open as open_description

PREVIEWS, ANSWERS, SLOWEST = 200.0, 30.0, 1.0
START = "from sitr.server.run import serve, _read; import sys; serve(_read(sys.stdin.read()))"


@dataclass(frozen=True, slots=True)
class Load:
    """What clients saw."""

    name: str
    answered: int
    refused: int
    per_second: float
    slowest: float
    """The time within which 99 of 100 were answered, in seconds."""


def loaded(name: str, port: int, path: str, token: str, *, seconds: float, clients: int, priced: bool) -> Load:
    """Send questions from several clients for some seconds."""
    times: list[float] = []
    refused: list[int] = []
    end = time.monotonic() + seconds

    def ask(client: int) -> None:
        connection, number = HTTPConnection("127.0.0.1", port, timeout=60), 0
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        while time.monotonic() < end:
            number += 1
            sql = f"SELECT COUNT(*) AS n FROM visits WHERE days > {number % 30} AND cost > {client * 100_000 + number}"
            body = json.dumps({"sql": sql, "price": "zcdp(0.00001)", "fresh": True} if priced else SMALL)
            began = time.monotonic()
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            response.read()
            (times.append(time.monotonic() - began) if response.status == 200 else refused.append(response.status))
        connection.close()

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    late = sorted(times)[math.ceil(0.99 * len(times)) - 1] if times else math.inf
    return Load(name, len(times), len(refused), len(times) / seconds, late)


SMALL = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "price": "zcdp(0.001)"}


def measured(folder: Path, *, seconds: float, workers: int, clients: int) -> tuple[list[Load], bool]:
    """Start a server, load it, and compare its ledger with what was answered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    limits = {"previews_per_minute": 0, "answers_per_minute": 0, "answers_at_once": 0, "answer_rows": 0}
    settings = demonstration(folder, rows=20_000, port=port, workers=workers, **limits)
    people = people_of(settings)
    accounts(settings, people)
    ana = people.user("ana")
    assert ana is not None
    token = people.new_token(ana, "load", Scope.ASK, days=1)
    process = subprocess.Popen([sys.executable, "-c", START], stdin=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(_written(settings))
    process.stdin.close()
    try:
        _wait(port)
        place = "/api/v1/datasets/visits"
        found = [
            loaded("previews", port, f"{place}/preview", token, seconds=seconds, clients=clients, priced=False),
            loaded("small answers", port, f"{place}/ask", token, seconds=seconds, clients=clients, priced=True),
        ]
    finally:
        process.terminate()
        process.wait()
    budget = open_description(settings.datasets["visits"]).budget()
    exact = len(budget.ledger.entries("visits")) == found[1].answered
    return found, exact and budget.ledger.check("visits") == budget.standing()


def _wait(port: int) -> None:
    for _ in range(600):
        try:
            HTTPConnection("127.0.0.1", port, timeout=1).connect()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server does not answer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        found, exact = measured(Path(folder), seconds=given.seconds, workers=given.workers, clients=given.clients)
    previews, answers = found
    targets = [
        Target("previews in a second", previews.per_second, PREVIEWS, at_most=False),
        Target("previews, 99 of 100 within (s)", previews.slowest, SLOWEST),
        Target("small answers in a second", answers.per_second, ANSWERS, at_most=False),
        Target("small answers, 99 of 100 within (s)", answers.slowest, SLOWEST),
        Target("the ledger holds exactly what was answered", float(exact), 1.0, at_most=False),
    ]
    Console().print(targets_table(targets))
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(load) for load in found], indent=1))


if __name__ == "__main__":
    main()
