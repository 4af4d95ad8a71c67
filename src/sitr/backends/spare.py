"""DuckDBs that wait for the next questions: starting one takes 30 ms of CPU time, connecting to one takes 2.

A question borrows a spare DuckDB of its process, or starts a new one if other questions have them all. So no two
questions ever share one at the same time. Each uses a connection of its own, whose views end with it, and writes
nothing. If a question fails, its DuckDB is closed and not used again. The threads of DuckDB do not survive a fork, so
the spares are closed before each fork.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from sitr.namespace import Later

if TYPE_CHECKING:
    import duckdb
else:  # a preview reads no rows
    duckdb = Later("duckdb")

Settings = Mapping[str, str | bool | int | float | list[str]]


MOST = 4
"""The most DuckDBs that wait: a server answers about this many questions at once in each of its processes."""


class Spare:
    """The DuckDBs of this process that no question uses, and the settings that they were started with."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._settings: dict[str, object] = {}
        self._kept: list[duckdb.DuckDBPyConnection] = []

    @contextmanager
    def connected(self, settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
        """A new connection to a DuckDB with these settings that nobody else uses."""
        owner = self._taken(dict(settings)) or duckdb.connect(":memory:", config=dict(settings))
        try:
            made = owner.cursor()
            try:
                yield made
            finally:
                made.close()
        except BaseException:
            owner.close()
            raise
        self._keep(dict(settings), owner)

    def close(self) -> None:
        """Close the DuckDBs that wait."""
        with self._guard:
            self._drop()

    def before_fork(self) -> None:
        """Close the spares, and let no other thread put one back until the fork is done."""
        self._guard.acquire()
        self._drop()

    def after_fork(self) -> None:
        self._guard.release()

    def _drop(self) -> None:
        while self._kept:
            self._kept.pop().close()

    def _taken(self, settings: dict[str, object]) -> duckdb.DuckDBPyConnection | None:
        with self._guard:
            if self._settings != settings:
                self._drop()
                self._settings = settings
            return self._kept.pop() if self._kept else None

    def _keep(self, settings: dict[str, object], owner: duckdb.DuckDBPyConnection) -> None:
        with self._guard:
            if self._settings == settings and len(self._kept) < MOST:
                self._kept.append(owner)
                return
        owner.close()


spare = Spare()
"""The spares of this process."""

atexit.register(spare.close)
os.register_at_fork(before=spare.before_fork, after_in_parent=spare.after_fork, after_in_child=spare.after_fork)
