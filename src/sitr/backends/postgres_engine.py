"""One read-only transaction in a PostgreSQL server, and the one way to read data in it.

Every question has a connection of its own, so that nothing of one question is left for the next. The settings hold for
the transaction only:

- REPEATABLE READ and READ ONLY: one state of all tables, and no way to change them, whatever the role may do;
- names are looked up in `pg_catalog` alone, so that no function of a user can take the place of PostgreSQL's;
- no index and no partition is chosen by the values in a condition: how long a question takes then depends less on
  whether somebody is in the table;
- the server sends no notices, and writes no parameters into its log if a statement fails.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from sitr.backends.failure import CHARGED, failed
from sitr.dataset.database import DatabaseTable
from sitr.errors import SourceError
from sitr.namespace import Later, needs

if TYPE_CHECKING:
    import psycopg
    from psycopg.types import string
else:  # an extra
    psycopg, string = Later("psycopg"), Later("psycopg.types.string")

Found = TypeVar("Found")

VARIABLE = "SITR_POSTGRES_TIMEOUT"
DEFAULT = 600
"""The most seconds that a statement may take."""

PATIENCE = 10
"""The most seconds to wait for a connection, unless the address says otherwise."""

_SETTINGS = {
    "search_path": "pg_catalog",
    "client_min_messages": "error",
    "log_parameter_max_length_on_error": "0",
    "standard_conforming_strings": "on",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "jit": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
    "enable_partition_pruning": "off",
    "constraint_exclusion": "off",
    "plan_cache_mode": "force_custom_plan",
}


def timeout() -> int:
    """The most seconds of a statement, from the environment. Raises `SourceError` if it is set wrongly.

    >>> timeout()
    600
    """
    given = os.environ.get(VARIABLE, str(DEFAULT))
    if not re.fullmatch(r"[0-9]{1,6}", given.strip(), re.ASCII) or int(given) == 0:
        raise SourceError(
            wanted=f"a number of seconds such as {DEFAULT} in {VARIABLE}",
            given=repr(given),
            do="Correct the variable or unset it.",
        )
    return int(given)


@contextmanager
def transaction(at: DatabaseTable) -> Iterator[psycopg.Connection[Any]]:
    """A connection in a transaction that can only read; it ends with the block."""
    needs("psycopg", extra="postgres")
    more: dict[str, Any] = {} if at.password is None else {"password": at.password}
    if "connect_timeout" not in at.url:
        more["connect_timeout"] = str(PATIENCE)
    with psycopg.connect(at.url, application_name="sitr", **more) as made:
        made.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        made.read_only = True
        made.prepare_threshold = None
        milliseconds = str(1000 * timeout())
        settings = {**_SETTINGS, "statement_timeout": milliseconds, "lock_timeout": milliseconds}
        calls = ", ".join("set_config(%s, %s, true)" for _ in settings)
        made.execute(f"SELECT {calls}", [text for pair in settings.items() for text in pair])
        try:
            yield made
        finally:
            if not made.closed:
                made.rollback()


def raw(made: psycopg.Connection[Any]) -> psycopg.RawCursor[Any]:
    """A cursor for statements with $1, $2, …; each text is of type text, whether or not the statement says so."""
    cursor = psycopg.RawCursor(made)
    cursor.adapters.register_dumper(str, string.StrDumper)
    return cursor


def rows(made: psycopg.Connection[Any], sql: str, bound: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The rows of a statement; sums, which PostgreSQL computes as decimal numbers, are integers."""
    return [tuple(map(_plain, row)) for row in raw(made).execute(sql, list(bound)).fetchall()]


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) else value


def read(at: DatabaseTable, fetch: Callable[[psycopg.Connection[Any]], Found], *, charge: str = CHARGED) -> Found:
    """What `fetch` takes from a transaction. If anything fails, the text of the error is always the same.

    As in `engine.read`, our error is raised when the server's own error, which can quote the data, is gone.
    """
    try:
        with transaction(at) as made:
            return fetch(made)
    except (psycopg.Error, OSError, SourceError, UnicodeError):
        pass
    raise failed(charge)


def asked(at: DatabaseTable, fetch: Callable[[psycopg.Connection[Any]], Found]) -> Found:
    """What `fetch` takes from the catalog, before any question is charged. A failure is a `SourceError`.

    What the server says about a connection that it refuses has no row in it, and is shown: without the password.
    """
    needs("psycopg", extra="postgres")
    timeout()
    why = "the connection was lost"
    try:
        with transaction(at) as made:
            return fetch(made)
    except psycopg.OperationalError as error:
        why = " ".join(str(error).split())
    except (psycopg.Error, OSError, UnicodeError):
        pass
    if at.password:
        why = why.replace(at.password, "…")
    raise SourceError(
        given=f"The database {at.url} cannot be read: {why.rstrip('.')}.",
        do="Check the address and the role; put the password into PGPASSWORD or ~/.pgpass.",
    )
