"""How hypothesis searches: at random for developers, the same way every time in a build, which must be repeatable.

And what the garbage collector looks at: the modules and tests that were collected stay, so it need not visit them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from functools import cache

import pytest
import typer.main
import typer.testing
from hypothesis import settings

# Neither profile has a deadline: on a busy machine, time says nothing about the code.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "desk")

gc.disable()  # until all tests are collected


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # libraries complain about what is left when Python ends


@pytest.fixture(scope="session", autouse=True)
def commands_are_built_once() -> Iterator[None]:
    """Typer's runner builds all commands at every call, and that takes longer than most calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield
