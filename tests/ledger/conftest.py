"""A place for a ledger, and other processes that use it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ledger.places import Place, schema

Start = Callable[..., "subprocess.Popen[str]"]

_PREAMBLE = """
import os, sys, time
from sitr.errors import BudgetExceeded, LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger.sql import SqlLedger
path = sys.argv[1]
def say(word): print(word, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place for a ledger, in each database."""
    return tmp_path / "ledger.db" if request.param == "sqlite" else schema()


@pytest.fixture
def start(path: Place) -> Iterator[Start]:
    """Start a Python process with a few lines of its own, talking over its standard input and output."""
    running: list[subprocess.Popen[str]] = []

    def launch(script: str, *words: str, where: Place = path) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _PREAMBLE + script, str(where), *words]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return running[-1]

    yield launch
    for process in running:
        process.kill()
        process.communicate()
