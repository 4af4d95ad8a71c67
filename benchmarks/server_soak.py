"""How the memory of a server grows: part of `python -m benchmarks.server --soak 60`.

500 sessions are open. For some minutes, clients read pages with the cookies of these sessions and send previews, half
of them new, and a few small answers. The memory of the worker processes is read from the system every few seconds.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.server import PLACE, Line, Load, Started, family, loaded, new_preview, paid, repeated_preview, served
from sitr.server.access import SESSION

SESSIONS = 500
WARM = 0.3
"""The share of the time after which everything that is kept once is kept."""


@dataclass(slots=True)
class Memory:
    """What the worker processes used over time, in MiB."""

    samples: list[tuple[float, float]] = field(default_factory=list)

    def at(self, share: float) -> float:
        """The most that was used within a tenth of the time from this share of it on."""
        last = self.samples[-1][0]
        within = [used for when, used in self.samples if share * last <= when <= (share + 0.1) * last]
        return max(within, default=self.samples[-1][1])


@dataclass(frozen=True, slots=True)
class Soaked:
    """What a long run showed."""

    loads: list[Load]
    pages: int
    refused: int
    memory: Memory
    exact: bool

    @property
    def growth(self) -> float:
        """How much more memory was used at the end than after the warm-up: 0.1 is a tenth."""
        return self.memory.at(0.9) / self.memory.at(WARM) - 1


def soaked(folder: Path, *, minutes: float, workers: int, clients: int, rate: float = math.inf) -> Soaked:
    """Load a server for some minutes and watch its memory; at most `rate` previews, pages or answers in a second."""
    seconds, memory, read = 60 * minutes, Memory(), [0, 0]
    with served(folder, workers=workers) as started:
        sessions = [started.people.begin(started.user) for _ in range(SESSIONS)]
        threads = [
            threading.Thread(target=_pages, args=(started.port, sessions, seconds, read, min(rate, 10.0))),
            threading.Thread(target=_watch, args=(started, seconds, memory)),
        ]
        for thread in threads:
            thread.start()
        found = [Load("previews", 0, 0, 0.0, 0.0, 0.0), Load("small answers", 0, 0, 0.0, 0.0, 0.0)]
        rounds, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            part = min(10.0, left)
            body = new_preview if rounds % 2 else repeated_preview
            more = [
                loaded("previews", started, f"{PLACE}/preview", body, seconds=0.8 * part, clients=clients, rate=rate),
                loaded(
                    "small answers", started, f"{PLACE}/ask", paid(rounds), seconds=0.2 * part, clients=1, rate=rate
                ),
            ]
            found = [one.and_then(other) for one, other in zip(found, more, strict=True)]
            rounds += 1
        for thread in threads:
            thread.join()
    return Soaked(found, read[0], read[1], memory, started.exact(found[1].answered))


def _pages(port: int, sessions: list[str], seconds: float, read: list[int], rate: float) -> None:
    """Read a page with each of the sessions in turn, about `rate` in a second."""
    line, number, end = Line(port), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        cookie = f"{SESSION}={sessions[number % len(sessions)]}"
        read[line.status("GET", "/account", headers={"cookie": cookie}) != 200] += 1
        time.sleep(1 / rate)
    line.close()


def _watch(started: Started, seconds: float, memory: Memory) -> None:
    began = time.monotonic()
    while (now := time.monotonic() - began) < seconds:
        memory.samples.append((now, sum(map(resident, family(started.process.pid)))))
        time.sleep(min(2.0, seconds / 20))


def resident(process: int) -> float:
    """The memory of a process, in MiB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)
