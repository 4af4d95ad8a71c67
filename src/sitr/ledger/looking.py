"""Several looks at ledgers over one connection each, because to connect takes longer than to look.

Each look is still a transaction of its own: what others write in between is seen, as it is without this.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from sitr.ledger.state import alone


@dataclass(frozen=True, slots=True)
class Looks:
    """The connections that are open now."""

    _closing: ExitStack
    _open: dict[Path, sqlite3.Connection] = field(default_factory=dict)

    def at(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
        """The connection to a file, opened now if there is none."""
        if path not in self._open:
            self._open[path] = connect()
            self._closing.callback(self._open[path].close)
        return self._open[path]


_looks: ContextVar[Looks | None] = ContextVar("looks", default=None)


@contextmanager
def looking() -> Iterator[None]:
    """Keep connections to SQLite files open until this ends. Nothing may be charged meanwhile.

    The process does not fork and no other thread of it uses a ledger meanwhile, so keep it short.
    """
    if _looks.get() is not None:
        yield
        return
    with alone, ExitStack() as closing:
        token = _looks.set(Looks(closing))
        try:
            yield
        finally:
            _looks.reset(token)


def looks() -> Looks | None:
    """The open connections; None if none are kept."""
    return _looks.get()
