"""Measure a server under load, on this machine: `python -m benchmarks.server [--seconds 20] [--json figures.json]`.

A server with an invented hospital is started, and clients send previews, then small answers, each over a connection of
its own, as quickly as they are answered. Previews are measured twice: of a question whose price is moved to and fro
over 20 prices, and of questions that nobody has asked about before. Every answer is another question at its own price,
without a deadline. The figures are answers in a second, and the time within which 99 of 100 came. Afterwards the ledger
must hold exactly what was answered. Clients and server share the cores.

`--soak 60` loads the server for an hour with 500 open sessions and reports how its memory grew. With `--rate 10`, it
sends at most ten previews or pages in a second, so that the machine can do something else meanwhile.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from rich.console import Console

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.server.demonstration import accounts, demonstration
from sitr.server.role import Scope
from sitr.server.run import _written, people_of
from sitr.server.settings import Settings
from sitr.server.users import User, Users
from sitr.session.dataset import open as open_description

PREVIEWS, ANSWERS, SLOWEST, GROWTH = 200.0, 30.0, 1.0, 0.1
PRICES = 20
"""Over how many prices a slider is moved."""

START = "from sitr.server.run import serve, _read; import sys; serve(_read(sys.stdin.read()))"
PLACE = "/api/v1/datasets/visits"

Body = Callable[[int, int], dict[str, Any]]
"""What a client sends, by the number of the client and by how much it has sent."""


@dataclass(frozen=True, slots=True)
class Load:
    """What clients saw."""

    name: str
    answered: int
    refused: int
    per_second: float
    slowest: float
    """The time within which 99 of 100 were answered, in seconds."""
    cost: float
    """The processor time of the server for each, in milliseconds. Other programs on the machine hardly change it."""

    def and_then(self, other: Load) -> Load:
        """Both, one after the other; of the slowest times the larger one."""
        return Load(
            self.name,
            self.answered + other.answered,
            self.refused + other.refused,
            other.per_second,
            max(self.slowest, other.slowest),
            other.cost,
        )


def repeated_preview(client: int, number: int) -> dict[str, Any]:
    """A question of this client, at one of 20 prices."""
    sql = f"SELECT ward, COUNT(*) AS n FROM visits WHERE days > {client} GROUP BY ward"
    return {"sql": sql, "price": f"zcdp({0.001 * (1 + number % PRICES):.3f})"}


def new_preview(client: int, _number: int) -> dict[str, Any]:
    """A question that nobody has asked about before in this run, or hardly ever."""
    bound = (time.time_ns() // 1000 * 100 + client) % 10**9
    return {"sql": f"SELECT ward, COUNT(*) AS n FROM visits WHERE cost < {bound} GROUP BY ward", "price": "zcdp(0.001)"}


def paid(part: int) -> Body:
    """Questions that are asked once, in this part of a run."""

    def body(client: int, number: int) -> dict[str, Any]:
        bound = (part * 100 + client) * 100_000 + number
        sql = f"SELECT COUNT(*) AS n FROM visits WHERE days > {number % 30} AND cost > {bound}"
        return {"sql": sql, "price": "zcdp(0.000001)", "fresh": True}

    return body


@dataclass(frozen=True, slots=True)
class Started:
    """A server that runs, and somebody who may ask."""

    settings: Settings
    people: Users
    user: User
    token: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.settings.port

    def exact(self, answered: int) -> bool:
        """Whether the ledger holds as many charges as there were answers, and adds up."""
        budget = open_description(self.settings.datasets["visits"]).budget()
        whole = len(budget.ledger.entries("visits")) == answered
        return whole and budget.ledger.check("visits") == budget.standing()


class Line:
    """A connection to one process of the server. One that rested is opened anew, because the server closes it then."""

    RESTED = 2.0

    def __init__(self, port: int) -> None:
        self.connection, self.used = HTTPConnection("127.0.0.1", port, timeout=300), time.monotonic()

    def status(self, method: str, path: str, body: str = "", headers: Mapping[str, str] = MappingProxyType({})) -> int:
        """Send something, and read all that comes back; 0 if nothing does."""
        if time.monotonic() - self.used > self.RESTED:
            self.connection.close()
        try:
            self.connection.request(method, path, body or None, dict(headers))
            response = self.connection.getresponse()
            response.read()
            return response.status
        except (OSError, HTTPException):
            self.connection.close()
            return 0
        finally:
            self.used = time.monotonic()

    def close(self) -> None:
        """Close it."""
        self.connection.close()


@contextmanager
def served(folder: Path, *, workers: int) -> Iterator[Started]:
    """A server for the invented hospital, without limits and deadlines."""
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
    process = subprocess.Popen(
        [sys.executable, "-c", START], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    process.stdin.write(_written(settings))
    process.stdin.close()
    try:
        _wait(port)
        yield Started(settings, people, ana, token, process)
    finally:
        process.terminate()
        process.wait()


def loaded(
    name: str,
    at: Started,
    path: str,
    body: Body,
    *,
    seconds: float,
    clients: int,
    warm: int = 0,
    rate: float = math.inf,
) -> Load:
    """Send questions from several clients for some seconds, at most `rate` in a second from all of them together.

    The first `warm` ones of each client are not measured.
    """
    times: list[float] = []
    refused: list[int] = []
    ready = threading.Barrier(clients + 1)

    def ask(client: int) -> None:
        line = Line(at.port)
        headers = {"authorization": f"Bearer {at.token}", "content-type": "application/json"}

        def send(number: int) -> None:
            began = time.monotonic()
            status = line.status("POST", path, json.dumps(body(client, number)), headers)
            (times.append(time.monotonic() - began) if status == 200 else refused.append(status))

        for number in range(warm):
            send(number)
        ready.wait()  # all are warm
        ready.wait()  # nothing is counted yet
        end, number = time.monotonic() + seconds, warm
        while time.monotonic() < end:
            number += 1
            began = time.monotonic()
            send(number)
            time.sleep(max(0.0, began + clients / rate - time.monotonic()))
        line.close()

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    ready.wait()
    times.clear()
    began, used = time.monotonic(), sum(map(worked, family(at.process.pid)))
    ready.wait()
    for thread in threads:
        thread.join()
    cost = 1000 * (sum(map(worked, family(at.process.pid))) - used) / max(1, len(times))
    late = sorted(times)[math.ceil(0.99 * len(times)) - 1] if times else math.inf
    return Load(name, len(times), len(refused), len(times) / (time.monotonic() - began), late, cost)


def family(process: int) -> list[int]:
    """A process and all that it started, as the system lists them now."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = [process]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def worked(process: int) -> float:
    """The processor time of a process, in seconds; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(folder: Path, *, seconds: float, workers: int, clients: int) -> tuple[list[Load], bool]:
    """Start a server, load it, and compare its ledger with what was answered."""
    with served(folder, workers=workers) as started:
        preview, many = f"{PLACE}/preview", 3 * clients  # whoever previews waits for little but the way to and fro
        found = [
            loaded("previews", started, preview, repeated_preview, seconds=seconds, clients=many, warm=PRICES),
            loaded("previews of new questions", started, preview, new_preview, seconds=seconds, clients=many),
            loaded("small answers", started, f"{PLACE}/ask", paid(0), seconds=seconds, clients=clients),
        ]
    return found, started.exact(found[-1].answered)


def _wait(port: int) -> None:
    for _ in range(3000):  # a machine can be busy
        try:
            HTTPConnection("127.0.0.1", port, timeout=1).connect()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server does not answer")


def targets(found: list[Load], *, exact: bool) -> list[Target]:
    """What was measured, beside what is wanted."""
    wanted = {"previews": PREVIEWS, "previews of new questions": PREVIEWS, "small answers": ANSWERS}
    made = []
    for load in found:
        made += [
            Target(f"{load.name} in a second", load.per_second, wanted[load.name], at_most=False),
            Target(f"{load.name}, 99 of 100 within (s)", load.slowest, SLOWEST),
            Target(f"{load.name}, CPU of the server for each (ms)", load.cost, 2000 / wanted[load.name]),
            Target(f"{load.name} refused", float(load.refused), 0.0),
        ]
    return [*made, Target("the ledger holds exactly what was answered", float(exact), 1.0, at_most=False)]


def soak_targets(folder: Path, given: argparse.Namespace) -> list[Target]:
    """Load the server for a long time."""
    from benchmarks.server_soak import soaked

    found = soaked(folder, minutes=given.soak, workers=given.workers, clients=given.clients, rate=given.rate)
    samples = found.memory.samples
    return [
        Target("minutes", samples[-1][0] / 60, given.soak * 0.9, at_most=False),
        Target("previews answered", float(found.loads[0].answered), 1.0, at_most=False),
        Target("small answers", float(found.loads[1].answered), 1.0, at_most=False),
        Target("pages read with 500 sessions", float(found.pages), 1.0, at_most=False),
        Target("refused", float(found.refused + sum(load.refused for load in found.loads)), 0.0),
        Target(f"growth of memory after the warm-up, to {found.memory.at(0.9):.0f} MiB", found.growth, GROWTH),
        Target("the ledger holds exactly what was answered", float(found.exact), 1.0, at_most=False),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--rate", type=float, default=math.inf, help="of a long run: requests in a second")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clients", type=int, default=8, help="who ask; three times as many preview")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        if given.soak:
            Console().print(targets_table(soak_targets(Path(folder), given)))
            return
        found, exact = measured(Path(folder), seconds=given.seconds, workers=given.workers, clients=given.clients)
    Console().print(targets_table(targets(found, exact=exact)))
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(load) for load in found], indent=1))


if __name__ == "__main__":
    main()
