"""Several processes add up their private numbers, without anybody who is trusted with all of them.

Each party and each aggregator is a process of its own, with coins of its own; they talk over sockets on this computer.
`sitr.mechanisms.secret_shares` says what is assumed. In real use the sockets must be encrypted: here nobody listens.

1. Each party adds its share of the noise to its number, splits the result, and sends one share to each aggregator.
2. Each aggregator reports from whom it received a share. Parties that did not reach all of them are left out, and if
   they are more than were expected, nothing is opened.
3. Each aggregator adds up the shares of the others, once, and publishes the sum. All sums together give the total.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from sitr.errors import InvalidParameter
from sitr.flavors.computational import ComputationalDP
from sitr.mechanisms.distributed import DistributedNoise
from sitr.mechanisms.secret_shares import SecretSharing

HOST = "127.0.0.1"
PATIENCE = 60.0
"""Seconds after which a silent process counts as failed."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What everybody learns, and what each aggregator saw."""

    total: int
    """The total of the parties that delivered, with their noise, unless it wrapped around."""
    delivered: tuple[int, ...]
    """The parties whose shares reached all aggregators."""
    seen: tuple[dict[int, int], ...]
    """The shares that each aggregator received, by party."""
    sums: tuple[int, ...]
    """What each aggregator published."""
    promise: ComputationalDP
    """Computational, because each process has coins from a keyed generator."""


def add_up(
    numbers: Sequence[int], noise: DistributedNoise, sharing: SecretSharing, *, dropped: Sequence[int] = ()
) -> Opened:
    """Start a process for each party and each aggregator, and open the total.

    `dropped` are parties that fail after their first message, to show what happens. They are left out.
    """
    if len(numbers) != noise.parties:
        raise InvalidParameter(
            wanted=f"the numbers of {noise.parties} parties", given=f"{len(numbers)}", do="Give one for each party."
        )
    with ExitStack() as stack:
        # None is forked from this process, so that none shares memory with it, and each key is drawn where it is used.
        clean = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        spawn: Any = multiprocessing.get_context(clean)
        spawn.set_forkserver_preload([__name__])
        listeners = [stack.enter_context(socket.create_server((HOST, 0))) for _ in range(sharing.aggregators)]
        ports = [listener.getsockname()[1] for listener in listeners]
        pipes = [spawn.Pipe() for _ in listeners]
        servers = [
            spawn.Process(target=_aggregate, args=(listener, len(numbers), sharing, theirs), daemon=True)
            for listener, (_, theirs) in zip(listeners, pipes, strict=True)
        ]
        parties = [
            spawn.Process(target=_take_part, args=(party, number, noise, sharing, ports, party in dropped), daemon=True)
            for party, number in enumerate(numbers)
        ]
        for process in (*servers, *parties):
            stack.enter_context(_running(process))
        received = [set(_heard(ours)) for ours, _ in pipes]
        delivered = sorted(set.intersection(*received))
        enough = len(delivered) >= noise.parties - noise.dropouts
        for ours, _ in pipes:
            ours.send(delivered if enough else None)
        if not enough:
            raise InvalidParameter(
                wanted=f"shares of at least {noise.parties - noise.dropouts} parties",
                given=f"those of {len(delivered)}",
                do="Start again with all parties: nothing was opened.",
            )
        published = [_heard(ours) for ours, _ in pipes]
    sums = tuple(found["sum"] for found in published)
    seen = tuple(found["seen"] for found in published)
    return Opened(sharing.opened(sums), tuple(delivered), seen, sums, ComputationalDP(noise.promise()))


@contextmanager
def _running(process: Any) -> Iterator[None]:
    process.start()
    try:
        yield
    finally:
        process.join(PATIENCE / 6)
        if process.is_alive():
            process.terminate()


def _heard(pipe: Any) -> Any:
    """The next message of an aggregator."""
    if not pipe.poll(PATIENCE):
        raise InvalidParameter(
            wanted="an answer of every aggregator",
            given="none",
            do="Start again: without one of them, nothing can be opened.",
        )
    return pipe.recv()


def _take_part(
    party: int, number: int, noise: DistributedNoise, sharing: SecretSharing, ports: Sequence[int], drops: bool
) -> None:
    """What one party does. Only shares leave this process."""
    shares = sharing.split(noise.share(number))
    for place, (port, share) in enumerate(zip(ports, shares, strict=True)):
        with socket.create_connection((HOST, port), timeout=PATIENCE) as link:
            if not drops or place == 0:
                link.sendall(json.dumps([party, share]).encode())


def _aggregate(listener: socket.socket, parties: int, sharing: SecretSharing, pipe: Any) -> None:
    """What one aggregator does: it receives, says from whom, and publishes one sum."""
    seen: dict[int, int] = {}
    listener.settimeout(PATIENCE)
    for _ in range(parties):
        link, _address = listener.accept()
        with link:
            message = _read(link)
        if message:  # else the party is gone
            party, share = json.loads(message)
            seen[party] = share
    pipe.send(list(seen))
    if (counted := pipe.recv()) is not None:
        pipe.send({"sum": sharing.added(seen[party] for party in counted), "seen": seen})


def _read(link: socket.socket) -> bytes:
    """All that is sent until the other end closes."""
    link.settimeout(PATIENCE)
    return b"".join(iter(lambda: link.recv(1 << 16), b""))
