"""A PostgreSQL server for the tests, from Debian's package, in a temporary folder."""

from __future__ import annotations

import atexit
import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

MISSING = "PostgreSQL is not installed (Debian's package postgresql), so this is not tested on it."
FIRST, LAST = -2_440_588, 2_145_042_905
"""The first and the last day that PostgreSQL knows, counted from 1970."""


@dataclass(frozen=True)
class Server:
    """A server that listens in a folder only; fsync is off."""

    folder: Path
    programs: Path
    user: str

    def url(self, user: str = "postgres", database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def run(self, program: str, *options: str) -> None:
        command = [str(self.programs / program), "-D", str(self.folder / "data"), *options]
        if os.getuid() == 0:  # the server refuses to run as root
            command = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *command]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        subprocess.run(command, check=True, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL)


@cache
def server() -> Server:
    """The server of this process, started when a test first needs it; the test is skipped where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if not found:
        pytest.skip(MISSING)
    pytest.importorskip("psycopg")
    user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    folder = Path(tempfile.mkdtemp(prefix="sitr-postgres-"))
    if os.getuid() == 0:
        shutil.chown(folder, user, user)
    made = Server(folder, found[-1].parent, user)
    made.run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
    settings = {
        "listen_addresses": "''",
        "unix_socket_directories": str(folder),
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
        "shared_buffers": "16MB",
        "max_connections": "40",
    }
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    made.run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")

    def stop() -> None:
        made.run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return made


@cache
def connection() -> Any:
    """One connection of a user who may do anything, for all tests of this process."""
    made = connected("postgres")
    atexit.register(made.close)
    return made


def connected(database: str) -> Any:
    """A new connection of such a user."""
    made = server()  # or the test is skipped
    import psycopg

    return psycopg.connect(made.url(database=database), autocommit=True)


def load(table: pa.Table, name: str = "t", *, temporary: bool = False) -> None:
    """Make a table of these rows, in the types that come nearest."""
    columns = ", ".join(f"{quoted(field.name)} {type_of(field.type)}" for field in table.schema)
    engine = connection()
    engine.execute(f"DROP TABLE IF EXISTS {name}")
    engine.execute(f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {name} ({columns})")
    with engine.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
        for row in _rows(table):
            copy.write_row(row)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def type_of(type: pa.DataType) -> str:
    """PostgreSQL's type for a type of Arrow."""
    if pa.types.is_dictionary(type):
        return type_of(type.value_type)
    if pa.types.is_decimal(type):
        return f"numeric({type.precision},{type.scale})"
    named = {
        "bool": "boolean", "int8": "smallint", "uint8": "smallint", "int16": "smallint", "uint16": "integer",
        "int32": "integer", "uint32": "bigint", "int64": "bigint", "uint64": "numeric(20,0)", "float": "real",
        "double": "double precision", "string": "text", "large_string": "text", "date32[day]": "date", "null": "text",
        "string_view": "text", "binary": "bytea",
    }  # fmt: skip
    if pa.types.is_timestamp(type):
        return "timestamp" if type.tz is None else "timestamptz"
    return "jsonb" if pa.types.is_nested(type) else named[str(type)]


def _rows(table: pa.Table) -> Iterator[Sequence[Any]]:
    columns = [_values(column) for column in table.columns]
    return zip(*columns, strict=True)


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_date(column.type):
        return [None if day is None else _day(day) for day in column.cast(pa.int32()).to_pylist()]
    if pa.types.is_timestamp(column.type):
        scale = {"s": 10**6, "ms": 10**3, "us": 1, "ns": 0}[column.type.unit]
        whole = column.cast(pa.int64()).to_pylist()
        return [None if each is None else _moment(each * scale if scale else each // 1000) for each in whole]
    if pa.types.is_nested(column.type):
        return [json.dumps(each) for each in column.to_pylist()]
    return list(column.to_pylist())


def storable(table: pa.Table) -> pa.Table:
    """The same rows without the character 0, which no text of PostgreSQL has."""
    for place, field in enumerate(table.schema):
        type = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type):
            texts = [None if each is None else each.replace("\0", "\1") for each in table.column(place).to_pylist()]
            table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table


def _day(day: int) -> str:
    if not FIRST <= day <= LAST:
        return "infinity" if day > 0 else "-infinity"
    if -719_162 <= day <= 2_932_896:
        return date.fromordinal(day + 719_163).isoformat()
    return f"J{day + 2_440_588}"


def _moment(microseconds: int) -> str:
    day, rest = divmod(microseconds, 86_400 * 10**6)
    if not FIRST <= day <= 106_741_034:  # the year 294247
        return "infinity" if day > 0 else "-infinity"
    seconds, fraction = divmod(rest, 10**6)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    return f"{_day(day)} {clock}"


def run(bound: Sequence[Any], rows: pa.Table, sql: str) -> list[tuple[Any, ...]]:
    """The result of a statement over the table `t` of these rows, with its bound values."""
    from sitr.backends.postgres_engine import raw

    load(rows, temporary=True)
    return list(raw(connection()).execute(sql, bound).fetchall())
