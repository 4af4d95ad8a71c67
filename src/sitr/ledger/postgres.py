"""A ledger in a schema of a PostgreSQL server: its address, its transactions, and what the server's errors mean.

Each transaction has a connection of its own and is durable when the commit returns (`synchronous_commit` is on,
whatever the role or the server says). Writers wait in the server's queue for one advisory lock, which is granted in the
order in which it was asked for. A connection that is lost before the commit has spent nothing: the server rolls back.
If it is lost while the commit is under way, nobody here knows what the server did. Then nothing is answered, so a
charge that was recorded is budget lost, never privacy.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from sitr.dataclass import dataclass
from sitr.dataset.database import Address, address
from sitr.errors import LedgerBusy, LedgerError, LedgerUncertain, SourceError
from sitr.ledger.database import Connection
from sitr.ledger.state import alone
from sitr.namespace import Later, needs

if TYPE_CHECKING:
    import psycopg
    import sqlalchemy as sa
    from psycopg import errors
else:  # an extra, and for the tables only
    psycopg, errors, sa = Later("psycopg"), Later("psycopg.errors"), Later("sqlalchemy")

SCHEMA = "sitr"
"""The schema of a ledger whose address names none with `?schema=`."""

CONNECTING = 10
"""The most seconds to wait for a connection, unless the address says otherwise."""

_WHERE = ("dbname", "host", "hostaddr", "port", "service")
"""The options of an address that say where the database is."""

_NETWORK = {
    "connect_timeout": str(CONNECTING),
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""A server that is gone is noticed within half a minute, unless the address says otherwise."""


@dataclass(frozen=True, slots=True)
class PostgresRow:
    """A row: its values in order, or by name."""

    names: tuple[str, ...]
    values: tuple[Any, ...]

    def __getitem__(self, column: int | str) -> Any:
        return self.values[self.names.index(column) if isinstance(column, str) else column]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def keys(self) -> list[str]:
        return list(self.names)


@dataclass(frozen=True, slots=True)
class PostgresConnection:
    """A connection that takes the statements of a ledger."""

    made: psycopg.Connection[Any]

    def execute(self, sql: str, values: Mapping[str, object] | Sequence[object] = (), /) -> psycopg.RawCursor[Any]:
        """Run a statement with `:name` or `?` for values."""
        text, names = _numbered(sql) if values else (sql, ())
        bound = [values[name] for name in names] if isinstance(values, Mapping) else list(values)
        return psycopg.RawCursor(self.made, row_factory=_rows).execute(text, bound)


def _rows(cursor: psycopg.Cursor[Any]) -> Any:
    names = tuple(column.name for column in cursor.description or ())
    return lambda values: PostgresRow(names, tuple(values))


@cache
def _numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """A statement with $1, $2, … for its values, and their names.

    >>> _numbered("SELECT a FROM t WHERE b = :b AND c = :c AND d = :b")
    ('SELECT a FROM t WHERE b = $1 AND c = $2 AND d = $1', ('b', 'c'))
    >>> _numbered("SELECT a FROM t WHERE b = ? AND c = ?")[0]
    'SELECT a FROM t WHERE b = $1 AND c = $2'
    """
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        name = found[1] or f"?{len(names)}"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return re.sub(r"(?<![:\w]):([a-z_0-9]+)|\?", number, sql), tuple(names)


@dataclass(frozen=True, slots=True)
class PostgresSchema:
    """The schema of a ledger, and how many seconds to wait while another program is writing to it."""

    at: Address
    schema: str
    patience: float

    @property
    def place(self) -> str:
        """Where the ledger is, whoever uses it: without user and password.

        >>> postgres_schema("postgresql://ann:secret@db:5432/hospital?sslmode=require", patience=1).place
        'postgresql://db:5432/hospital'
        """
        parts = urlsplit(self.at.url)
        options = [(name, value) for name, value in sorted(parse_qsl(parts.query)) if name in _WHERE]
        options += [("schema", self.schema)] if self.schema != SCHEMA else []
        query = urlencode(options, safe="/", quote_via=quote)
        return f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}{'?' if query else ''}{query}"

    def exists(self) -> bool:
        return True  # or it is not known before somebody looks

    def create(self) -> None:
        """Nothing: the schema is made together with its tables."""

    def identity(self) -> tuple[str, ...]:
        with self.transaction(write=False) as connection:
            cluster = "SELECT system_identifier FROM pg_control_system()"
            database = "SELECT oid FROM pg_database WHERE datname = current_database()"
            (found,) = connection.execute(f"SELECT ({cluster}) AS server, ({database}) AS database").fetchall()
        return "postgresql", str(found["server"]), str(found["database"]), self.schema

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[PostgresConnection]:
        """One transaction on its own connection. No lock outlives it, and it is durable when this returns."""
        with self._connected() as made:
            self._begin(made, write=write)
            yield PostgresConnection(made)
            self._commit(made)

    @contextmanager
    def migration(self) -> Iterator[tuple[PostgresConnection, sa.Connection]]:
        """A transaction for writing in which SQLAlchemy can change the tables; the schema is there."""
        with self._connected() as made:
            options = {"use_native_hstore": False, "poolclass": sa.StaticPool}
            engine = sa.create_engine("postgresql+psycopg://", creator=lambda: made, **options)
            with engine.connect() as adopted:  # which asks the server a few things first
                self._begin(made, write=True)
                if made.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [self.schema]).fetchone() is None:
                    made.execute(f"CREATE SCHEMA {self.schema}")  # its name needs no quotes, see `postgres_schema`
                try:
                    yield PostgresConnection(made), adopted
                except sa.exc.DBAPIError as failure:
                    raise failure.orig or failure from failure
                self._commit(made)

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection without a transaction. It is not kept: it could keep a lock, or survive a fork."""
        needs("psycopg", extra="postgres")
        if not alone.acquire(timeout=self.patience):
            raise self._busy()
        try:
            made = self._connect()
            try:
                with self._explained(made):
                    yield made
            finally:
                made.close()  # the server rolls back what is not committed
        finally:
            alone.release()

    def _connect(self) -> psycopg.Connection[Any]:
        url, given = _without_schema(self.at.url), dict(parse_qsl(urlsplit(self.at.url).query))
        more = {name: value for name, value in _NETWORK.items() if name not in given}
        if self.at.password is not None:
            more["password"] = self.at.password
        try:
            made = psycopg.connect(url, autocommit=True, application_name="sitr ledger", **more)  # type: ignore[arg-type]
        except (psycopg.Error, UnicodeError) as failure:
            why = " ".join(str(failure).split()).rstrip(".")
            raise LedgerError(
                given=f"The database of the ledger {self.place} cannot be opened: {self._hidden(why)}.",
                do="Check the address and the role; put the password into PGPASSWORD or ~/.pgpass. Nothing was spent.",
            ) from None
        made.prepare_threshold = None
        return made

    def _begin(self, made: psycopg.Connection[Any], *, write: bool) -> None:
        """Begin a transaction, and wait for the turn to write."""
        deadline = time.monotonic() + self.patience
        # A writer sees what was committed while it waited. A reader sees one state.
        made.execute("BEGIN READ WRITE" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        settings = {
            "search_path": f"{self.schema}, pg_temp",  # named last, or temporary tables would come first
            "client_min_messages": "error",
            "statement_timeout": "0",
            "lock_timeout": str(max(1, int(1000 * (deadline - time.monotonic())))),
        }
        calls = ", ".join("set_config(%s, %s, true)" for _ in settings)
        made.execute(f"SELECT {calls}", [text for pair in settings.items() for text in pair])
        if write:
            made.execute(
                "SELECT set_config('synchronous_commit', 'on', true) "
                "WHERE current_setting('synchronous_commit') <> 'remote_apply'"  # which waits for even more
            )
            made.execute("SELECT pg_advisory_xact_lock(%s)", [_lock(self.schema)])

    def _commit(self, made: psycopg.Connection[Any]) -> None:
        try:
            done = made.execute("COMMIT").statusmessage
        except psycopg.Error as failure:
            if made.closed:
                raise self._unknown() from failure
            raise
        if done != "COMMIT":  # a statement had failed, and somebody did not notice
            raise LedgerError(given=f"{self.place} rolled the transaction back.", do="Try again; nothing was spent.")

    @contextmanager
    def _explained(self, made: psycopg.Connection[Any]) -> Iterator[None]:
        """Turn the errors of the server into errors that say what to do."""
        try:
            yield
        except (errors.LockNotAvailable, errors.DeadlockDetected, errors.TooManyConnections) as failure:
            raise self._busy() from failure
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as failure:
            raise LedgerError(
                given=f"Your role may not do this in {self.place}: {self._why(failure)}.",
                do="Ask the steward of the ledger for the rights of your role; nothing was spent.",
            ) from failure
        except (errors.DiskFull, errors.OutOfMemory) as failure:
            raise LedgerError(
                given=f"The server of {self.place} has no space left: {self._why(failure)}.",
                do="Free some space and try again; nothing was spent.",
            ) from failure
        except psycopg.Error as failure:
            if made.closed:
                raise LedgerError(
                    given=f"The connection to {self.place} was lost before anything was recorded.",
                    do="Try again; nothing was spent and no data were read.",
                ) from failure
            raise LedgerError(
                given=f"{self.place} failed: {self._why(failure)}.",
                do="Run sitr ledger verify to see whether it was changed by hand; no data were read.",
            ) from failure

    def _unknown(self) -> LedgerUncertain:
        return LedgerUncertain(
            given=f"The connection to {self.place} was lost while a change was being recorded, so it is not known "
            "whether it was recorded.",
            do="Count it as spent: nothing was answered. Run sitr ledger show to see the entries, then ask again.",
        )

    def _busy(self) -> LedgerBusy:
        return LedgerBusy(
            given=f"Another program is writing to the ledger {self.place}.",
            do="Try again in a moment; nothing was spent.",
        )

    def _why(self, failure: psycopg.Error) -> str:
        return self._hidden((failure.diag.message_primary or str(failure)).rstrip("."))

    def _hidden(self, text: str) -> str:
        return text.replace(self.at.password, "…") if self.at.password else text


def postgres_schema(where: str | Address, *, patience: float) -> PostgresSchema:
    """The schema at an address such as `postgresql://host/database?schema=sitr`."""
    try:
        at = where if isinstance(where, Address) else address(where)
    except SourceError as odd:
        raise LedgerError(wanted=odd.wanted, given=odd.given, do=odd.do) from None
    schema = dict(parse_qsl(urlsplit(at.url).query)).get("schema", SCHEMA)
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema, re.ASCII) or schema.startswith("pg_"):
        raise LedgerError(
            wanted="a schema of small letters, digits and _",
            given=repr(schema),
            do="Correct ?schema= in the address of the ledger.",
        )
    return PostgresSchema(at, schema, patience)


def _without_schema(url: str) -> str:
    """The address as libpq knows it."""
    parts = urlsplit(url)
    options = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "schema"]
    query = urlencode(options, safe="/", quote_via=quote)
    return f"postgresql://{parts.netloc}{parts.path}{'?' if query else ''}{query}"


def _lock(schema: str) -> int:
    """The number of the lock of a ledger, among the advisory locks of its database."""
    return int.from_bytes(sha256(f"sitr ledger {schema}".encode()).digest()[:8], signed=True)


# The guards

REFUSE = "sitr_ledger_refuse"
_BODY = "BEGIN RAISE integrity_constraint_violation USING MESSAGE = 'a ledger only grows: what is written stays'; END"
_TYPE = 2 | 8 | 16 | 32
"""Of a trigger in the catalog: BEFORE DELETE OR UPDATE OR TRUNCATE, for each statement."""


def guards(table: str) -> list[str]:
    """Statements that make a table refuse every change of what is written; also to whoever replicates."""
    return [
        f"CREATE OR REPLACE FUNCTION {REFUSE}() RETURNS trigger LANGUAGE plpgsql AS $${_BODY}$$",
        f"CREATE TRIGGER {table}_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {REFUSE}()",
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_guard",
    ]


# Periods

OPEN_PERIOD = "sitr_ledger_open_period"
_PERIOD = "[0-9]{4}(-(0[1-9]|1[0-2]|q[1-4]))?"


def period_opener() -> list[str]:
    """Statements that make the function by which the account of a period is opened, on the terms of all periods.

    It runs with the rights of the owner of the tables, so that who calls it needs none to open budgets; it can open
    nothing but a period of a data set that has periods. Whoever may charge may call it.
    """
    terms = f"dataset = whole AND neighbors LIKE '%) in each %' AND account ~ ('^{_PERIOD}$')"
    rest = "substr(period, length(whole) + 2)"
    chosen = f"SELECT period, promise, neighbors, at FROM accounts WHERE {terms.replace('account', rest)}"
    named = "AND starts_with(period, whole || '@')"
    grants = f"""
        DO $$ DECLARE had record; BEGIN
            FOR had IN SELECT DISTINCT grantee::regrole AS who, privilege_type AS what
                FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = 'entries'::regclass AND grantee <> 0
                AND grantee <> relowner AND privilege_type IN ('INSERT', 'SELECT')
            LOOP
                EXECUTE format('GRANT %s ON plans TO %s', had.what, had.who);
                IF had.what = 'INSERT' THEN
                    EXECUTE format('GRANT EXECUTE ON FUNCTION {OPEN_PERIOD} TO %s', had.who);
                END IF;
            END LOOP;
        END $$"""
    return [
        f"CREATE FUNCTION {OPEN_PERIOD}(period text, whole text, at text) RETURNS void LANGUAGE sql SECURITY DEFINER "
        f"SET search_path FROM CURRENT AS $$ INSERT INTO accounts {chosen} {named} $$",
        f"REVOKE ALL ON FUNCTION {OPEN_PERIOD} FROM PUBLIC",
        grants,
    ]


_OWN = "relnamespace = current_schema()::regnamespace"

_TRIGGERS = f"""
    SELECT relname, tgname, tgtype::int, tgenabled::text, proname, prosrc, lanname, tgqual IS NULL, tgnargs::int,
           pronamespace = current_schema()::regnamespace
    FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid JOIN pg_proc p ON p.oid = tgfoid
    JOIN pg_language l ON l.oid = prolang
    WHERE NOT tgisinternal AND {_OWN}"""

_OTHERS = f"""
    SELECT relname FROM pg_class WHERE {_OWN} AND (relkind NOT IN ('r', 'i') OR relrowsecurity OR relispartition)
    UNION ALL SELECT rulename FROM pg_rewrite JOIN pg_class c ON c.oid = ev_class WHERE {_OWN}
    UNION ALL SELECT relname FROM pg_inherits JOIN pg_class c ON c.oid = inhparent WHERE {_OWN} AND relkind = 'r'
    UNION ALL SELECT attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        WHERE {_OWN} AND relkind = 'r' AND (atthasdef OR attgenerated <> '')"""


def as_made(connection: Connection, tables: Sequence[str]) -> bool:
    """Whether the schema has exactly the guards of these tables, and nothing else that could change what is written.

    Views, rules, row security, inheritance and computed columns could.
    """
    wanted = {(table, f"{table}_guard", _TYPE, "A", REFUSE, _BODY, "plpgsql", True, 0, True) for table in tables}
    found = {tuple(row) for row in connection.execute(_TRIGGERS).fetchall()}
    return found == wanted and connection.execute(_OTHERS).fetchone() is None


def tables(connection: Connection) -> list[str]:
    """The tables and views in the schema; none if there is no schema."""
    listed = f"SELECT relname FROM pg_class WHERE {_OWN} AND relkind NOT IN ('i', 'I', 'S', 'c', 't')"
    return [row["relname"] for row in connection.execute(listed).fetchall()]
