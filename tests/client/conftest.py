"""A server on loopback, and budgets of those who use it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import uvicorn

from sitr.server.role import Scope
from sitr.session.budget import Budget
from tests.server.conftest import Team, team  # noqa: F401 - a fixture


@dataclass(frozen=True)
class Served:
    """A server that runs, and its team."""

    team: Team
    address: str

    def token(self, name: str, scope: Scope = Scope.DECIDE) -> str:
        return self.team.people.new_token(self.team.user(name), "test", scope, days=1)

    def budget(self, name: str) -> Budget:
        import sitr

        return sitr.connect(self.address, token=self.token(name))


@pytest.fixture
def served(team: Team) -> Iterator[Served]:  # noqa: F811
    """The server of the team, in a thread."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    server = uvicorn.Server(uvicorn.Config(team.app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(600):
        if server.started:
            break
        time.sleep(0.05)
    yield Served(team, f"http://127.0.0.1:{port}")
    server.should_exit = True
    thread.join()
