"""A server for an invented hospital, with an account of each role, and clients for each of them."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import httpx2 as httpx
import pytest
import uvicorn
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.server.app import create
from sitr.server.guard import Guard
from sitr.server.role import Scope, UserRole
from sitr.server.settings import Settings
from sitr.server.users import User, Users
from sitr.session.dataset import open as open_description
from sitr.session.sample import sample

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Hashes passwords in no time; only for tests."""

NAMES = {"noor": UserRole.STEWARD, "ana": UserRole.ANALYST, "omar": UserRole.AUDITOR, "admin": UserRole.ADMINISTRATOR}
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PRICE = "zcdp(0.01)"


def password(name: str) -> str:
    return f"a long {len(name)} phrase"


def settings_in(folder: Path, **changed: object) -> Settings:
    """Settings without limits and deadlines, so that tests are quick."""
    made = Settings(
        state=folder / "state",
        secret="0123456789abcdef0123456789abcdef",
        datasets={"visits": folder / "visits.sitr.yaml"},
        hosts=("testserver", "127.0.0.1"),
        answer_rows=0,
        previews_per_minute=0,
        answers_per_minute=0,
        logins_per_minute=0,
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def people_in(settings: Settings, **changed: object) -> Users:
    made = Users.open(
        settings.state / "server.db",
        idle=timedelta(minutes=settings.idle_minutes),
        longest=timedelta(hours=settings.session_hours),
        hasher=QUICK,
    )
    return replace(made, **changed)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Team:
    """A server, and everybody who uses it."""

    app: Guard
    people: Users
    settings: Settings
    folder: Path

    def user(self, name: str) -> User:
        found = self.people.user(name)
        assert found is not None
        return found

    def program(self, name: str, scope: Scope = Scope.DECIDE) -> httpx.Client:
        """A client with an API token of somebody."""
        token = self.people.new_token(self.user(name), "test", scope, days=1)
        return TestClient(
            self.app,
            headers={"authorization": f"Bearer {token}"},
            follow_redirects=False,
            raise_server_exceptions=False,
        )

    def visitor(self) -> httpx.Client:
        """A browser in which nobody is logged in."""
        return TestClient(
            self.app, base_url="https://testserver", follow_redirects=False, raise_server_exceptions=False
        )

    def browser(self, name: str) -> httpx.Client:
        """A browser in which somebody is logged in."""
        client = self.visitor()
        form = {"name": name, "password": password(name), "mark": mark(client.get("/login"))}
        assert client.post("/login", data=form).status_code == 303
        return client


def mark(response: httpx.Response) -> str:
    """The mark of the forms on a page."""
    found = re.search(r'name="mark" value="([0-9a-f]+)"', response.text)
    assert found is not None, response.text[:500]
    return found[1]


def team_in(folder: Path, **changed: object) -> Team:
    """A server in a folder. Ana has half of the budget."""
    sample(folder, rows=2_000)
    settings = settings_in(folder, **changed)
    people = people_in(settings)
    for name, role in NAMES.items():
        people.add(name, role, password(name))
    budget = open_description(settings.datasets["visits"]).budget()
    with acting("noor"):
        budget.assign("noor", Duty.STEWARD)
        budget.allot("ana", "zcdp(0.25)")
        budget.assign("ana", Duty.ANALYST, account="ana")
        budget.assign("omar", Duty.AUDITOR)
    return Team(create(settings, people), people, settings, folder)


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return team_in(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Team:
    """A server for tests that change nothing that other tests see."""
    return team_in(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, str]]:
    """A server that listens on this machine."""
    team = team_in(tmp_path_factory.mktemp("served"))
    with listening(team) as address:
        yield team, address


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def listening(team: Team, port: int = 0) -> Iterator[str]:
    """The address of a server that listens on this machine, at this port if one is given."""
    port = port or free_port()
    server = uvicorn.Server(uvicorn.Config(team.app, host="127.0.0.1", port=port, log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()
