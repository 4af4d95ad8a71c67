"""Statements that ledgers run, noticed before SQLite runs them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch


@contextmanager
def noticed(note: Callable[[str], object]) -> Iterator[None]:
    """Call `note` with each statement of every connection that is opened meanwhile."""
    connect = sqlite3.connect

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_trace_callback(note)
        return connection

    with patch("sqlite3.connect", connected):
        yield
