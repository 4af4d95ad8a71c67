"""What is special about a ledger on a PostgreSQL server: its address, its guards, its roles and its connection."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from sitr.cli.main import app
from sitr.errors import BudgetExceeded, LedgerBusy, LedgerError, MissingExtra
from sitr.flavors.pure import PureDP
from sitr.ledger import registry
from sitr.ledger.entry import Link
from sitr.ledger.examine import Fault
from sitr.ledger.postgres import PostgresSchema, postgres_schema
from sitr.ledger.resume import resume
from sitr.ledger.sql import SqlLedger
from sitr.ledger.together import charge_together
from tests import postgres
from tests.ledger.places import connected, raw, schema
from tests.ledger.test_witness import FOUND, STOPPED, edit, faults

PRICE = PureDP(0.1)


@pytest.fixture
def url() -> str:
    return schema()


@pytest.fixture
def ledger(url: str) -> SqlLedger:
    made = SqlLedger(url)
    made.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    return made


def charge(ledger: SqlLedger) -> None:
    ledger.charge("clinic", price=PRICE, question="COUNT(*)")


def with_password(url: str, secret: str = "geheim") -> str:
    return url.replace("postgres@", f"postgres:{secret}@")


# The address


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://noor:geheim@db/hospital", "postgresql://db/hospital"),
        ("postgres://noor@db:5433/hospital?sslmode=require&schema=ward", "postgresql://db:5433/hospital?schema=ward"),
        ("postgresql:///hospital?host=/run/x&user=noor&password=geheim", "postgresql:///hospital?host=/run/x"),
    ],
)
def test_a_place_is_the_same_for_everybody(url: str, place: str) -> None:
    assert postgres_schema(url, patience=1.0).place == place


@pytest.mark.parametrize("name", ["Ward", "ward;drop", "pg_ward", "", "1"])
def test_a_schema_has_a_plain_name(name: str) -> None:
    given = f"postgresql://db/hospital?schema={name}" if name else "postgresql://db/hospital?schema=%20"
    with pytest.raises(LedgerError, match="small letters, digits and _"):
        SqlLedger(given)


def test_a_missing_driver_names_the_extra(url: str) -> None:
    with patch("sitr.namespace.find_spec", return_value=None), pytest.raises(MissingExtra, match=r"sitr\[postgres\]"):
        SqlLedger(url)


@pytest.mark.usefixtures("ledger")
def test_a_password_is_shown_nowhere(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = SqlLedger(with_password(url))
    charge(secret)
    texts = [str(secret.place), repr(secret._file), str(secret.entries()), str(secret.examine()), str(registry.at(url))]
    texts += [path.read_text() for path in Path(os.environ["SITR_STATE"]).rglob("*.json")]
    shown = CliRunner().invoke(app, ["ledger", "show", with_password(url), "--json"])
    assert shown.exit_code == 0, shown.output
    verified = CliRunner().invoke(app, ["ledger", "verify", with_password(url)])
    assert verified.exit_code == 0, verified.output
    texts += [shown.output, verified.output]
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    for broken in ("postgresql://noor:geheim@/nowhere?host=/nowhere", "postgresql://noor:geh#eim@db/x"):
        with pytest.raises(LedgerError) as caught:
            SqlLedger(broken)
        texts.append(str(caught.value))
    assert not [text for text in texts if "geheim" in text or "geh#eim" in text or "eim@" in text]


def test_a_ledger_that_is_not_there_is_not_made_for_reading(url: str) -> None:
    with pytest.raises(LedgerError, match="There is no ledger at"):
        SqlLedger(url, create=False)
    with raw(url) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = current_schema()").fetchall() == []


def test_a_schema_of_something_else_is_not_touched(url: str) -> None:
    name = url.rpartition("=")[2]
    with raw(url) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        connection.execute("CREATE TABLE patients (id int)")
    with pytest.raises(LedgerError, match="a database with the tables patients"):
        SqlLedger(url)


def test_a_file_is_not_backed_up_from_a_server(ledger: SqlLedger) -> None:
    with pytest.raises(LedgerError, match="pg_dump"):
        _ = ledger.path


# Guards


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET price = 'pure(epsilon=0.0)'",
        "DELETE FROM entries",
        "TRUNCATE entries CASCADE",
        "UPDATE accounts SET promise = 'pure(epsilon=99.0)'",
        "INSERT INTO accounts VALUES ('clinic', 'x', '', '') ON CONFLICT (dataset) DO UPDATE SET promise = 'x'",
        "DELETE FROM seals",
        "UPDATE acts SET body = '{}'",
        "DELETE FROM records",
        "TRUNCATE records",
    ],
)
@pytest.mark.parametrize("replica", [False, True])
def test_what_is_written_stays(ledger: SqlLedger, url: str, statement: str, replica: bool) -> None:
    import psycopg

    charge(ledger)
    before = ledger.entries(), ledger.accounts()
    with raw(url) as connection:
        connection.execute(f"SET session_replication_role = {'replica' if replica else 'origin'}")
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="a ledger only grows"):
            connection.execute(statement)
    assert (ledger.entries(), ledger.accounts()) == before


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER entries_guard ON entries",
        "ALTER TABLE entries DISABLE TRIGGER entries_guard",
        "ALTER TABLE entries ENABLE TRIGGER entries_guard",
        "CREATE OR REPLACE FUNCTION sitr_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER z AFTER INSERT ON entries EXECUTE FUNCTION sitr_ledger_refuse()",
        "CREATE RULE z AS ON INSERT TO entries DO ALSO NOTIFY z",
        "ALTER TABLE entries ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE entries ALTER COLUMN paid SET DEFAULT '0'",
        "CREATE VIEW z AS SELECT 1 AS one",
        "CREATE TABLE z () INHERITS (entries)",
    ],
)
def test_whatever_could_change_what_is_written_is_refused(ledger: SqlLedger, url: str, statement: str) -> None:
    with raw(url) as connection:
        connection.execute(statement)
    with pytest.raises(LedgerError, match="its triggers are not those that Sitr made"):
        charge(ledger)
    assert Fault.CHANGED_TRIGGERS in {found.fault for found in ledger.examine().findings}


@pytest.mark.parametrize(("statements", "fault"), [*STOPPED, *(([statement], fault) for statement, fault in FOUND)])
def test_every_change_by_hand_is_found(ledger: SqlLedger, url: str, statements: list[str], fault: Fault) -> None:
    ledger.open("other", promise=PureDP(1.0), neighbors="row, add-remove")
    for _ in range(3):
        charge(ledger)
    edit(url, *statements)
    assert fault in faults(ledger)
    if (statements, fault) in STOPPED:
        with pytest.raises(LedgerError, match=r"changed by hand|behind its witness"):
            charge(ledger)


def test_after_a_loss_the_witness_counts(ledger: SqlLedger, url: str) -> None:
    for _ in range(3):
        charge(ledger)
    edit(url, "DELETE FROM entries WHERE number = 3", "DELETE FROM records WHERE number = 5")
    with pytest.raises(LedgerError, match="behind its witness"):
        charge(ledger)
    (found,) = resume(ledger)
    assert found.price == PRICE
    charge(ledger)
    assert ledger.check("clinic").spent() == PureDP(0.4)
    assert ledger.examine().sound


def test_another_ledger_in_its_place_is_refused(ledger: SqlLedger, url: str, tmp_path: Path) -> None:
    name = url.rpartition("=")[2]
    with raw(url) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")
    with patch.dict(os.environ, {"SITR_STATE": str(tmp_path / "thief")}):
        SqlLedger(url).open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    with pytest.raises(LedgerError, match="is not the ledger that was there before"):
        charge(ledger)


# Several ledgers


def test_a_join_is_charged_on_a_server_and_in_a_file(ledger: SqlLedger, url: str, tmp_path: Path) -> None:
    file = SqlLedger(tmp_path / "sitr.db")
    file.open("wards", promise=PureDP(0.2), neighbors="row, add-remove")
    accounts = [(SqlLedger(with_password(url)), "clinic"), (file, "wards")]
    (first, _), (second, _) = charge_together(accounts, price=PRICE, question="COUNT(*)")
    assert first.beside == (Link("wards", 1, str(tmp_path / "sitr.db")),)
    assert second.beside == (Link("clinic", 1, str(ledger.place)),)
    assert "geheim" not in str(second)
    charge_together(accounts, price=PRICE, question="COUNT(*)")
    with pytest.raises(BudgetExceeded):
        charge_together(accounts, price=PRICE, question="COUNT(*)")
    assert len(ledger.entries()) == len(file.entries()) == 2


def test_two_addresses_of_one_ledger_are_one_ledger(ledger: SqlLedger, url: str) -> None:
    ledger.open("wards", promise=PureDP(1.0), neighbors="row, add-remove")
    other = SqlLedger(url.replace("postgres@/", "postgres@:5432/"))
    assert other.place != ledger.place
    (first, _), (second, _) = charge_together([(ledger, "clinic"), (other, "wards")], price=PRICE, question="COUNT(*)")
    assert (first.number, second.number, first.beside) == (1, 2, (Link("wards", 2),))


# Turns


def test_another_writer_is_waited_for_and_then_reported(ledger: SqlLedger, url: str) -> None:
    hasty = SqlLedger(url, patience=0.3)
    with ledger._file.transaction(write=True), pytest.raises(LedgerBusy, match="nothing was spent"):
        charge(hasty)
    charge(hasty)
    assert len(ledger.entries()) == 1


def test_a_commit_is_durable_whatever_the_role_says(ledger: SqlLedger, url: str) -> None:
    with raw(url) as connection:
        connection.execute("ALTER ROLE postgres SET synchronous_commit = off")
    try:
        for wanted, given in (("on", "off"), ("on", "local"), ("remote_apply", "remote_apply")):
            with raw(url) as connection:
                connection.execute(f"ALTER ROLE postgres SET synchronous_commit = {given}")
            with ledger._file.transaction(write=True) as page:
                assert page.execute("SHOW synchronous_commit").fetchall()[0][0] == wanted
    finally:
        with raw(url) as connection:
            connection.execute("ALTER ROLE postgres RESET synchronous_commit")


# A connection that is lost


def lost(ledger: SqlLedger, moment: str, reply: bool) -> Any:
    """A charge during which the server ends the connection, before the commit or right after it, unheard."""
    real = PostgresSchema._commit

    def cut(self: PostgresSchema, made: Any) -> None:
        if moment == "after":
            real(self, made)
        if moment == "during" and reply:
            made.execute("COMMIT")  # the server has done it, and nobody hears of it
        with closing(postgres.connected("postgres")) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [made.info.backend_pid])
        if moment == "during":
            real(self, made)

    def before(*_: Any, **__: Any) -> None:
        with closing(postgres.connected("postgres")) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'sitr ledger'"
            )

    where, what = ("sitr.ledger.book.check_account", before) if moment == "before" else ("", cut)
    with patch(where, what) if where else patch.object(PostgresSchema, "_commit", what):
        return ledger.charge("clinic", price=PRICE, question="COUNT(*)")


def test_lost_before_the_commit_nothing_is_spent(ledger: SqlLedger) -> None:
    with pytest.raises(LedgerError, match=r"was lost before anything was recorded\. Try again; nothing was spent"):
        lost(ledger, "before", False)
    assert ledger.entries() == []
    charge(ledger)
    assert ledger.examine().sound


@pytest.mark.parametrize("recorded", [True, False])
def test_lost_during_the_commit_nobody_knows_and_nothing_is_answered(ledger: SqlLedger, recorded: bool) -> None:
    with pytest.raises(LedgerError, match=r"not known whether it was recorded\. Count it as spent: nothing was ans"):
        lost(ledger, "during", recorded)
    assert len(ledger.entries()) == recorded  # the ledger says what counts
    charge(ledger)
    assert len(ledger.entries()) == recorded + 1
    assert ledger.examine().sound


def test_lost_after_the_commit_the_charge_counts(ledger: SqlLedger) -> None:
    entry, _ = lost(ledger, "after", True)
    assert ledger.entries() == [entry]
    assert ledger.examine().sound


@contextmanager
def proxy(folder: Path, target: Path, cut: bytes) -> Iterator[None]:
    """A socket in a folder that passes everything on, until a message holds `cut`: its reply never arrives."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / ".s.PGSQL.5432"))
    server.listen()

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            behind = socket.socket(socket.AF_UNIX)
            behind.connect(str(target / ".s.PGSQL.5432"))
            last = [b""]
            threading.Thread(target=back, args=(behind, client, last), daemon=True).start()
            threading.Thread(target=forth, args=(client, behind, last), daemon=True).start()

    def forth(client: socket.socket, behind: socket.socket, last: list[bytes]) -> None:
        while message := client.recv(65536):
            last[0] = message
            behind.sendall(message)
        behind.close()

    def back(behind: socket.socket, client: socket.socket, last: list[bytes]) -> None:
        while message := behind.recv(65536):
            if cut in last[0]:
                client.shutdown(socket.SHUT_RDWR)
                return
            client.sendall(message)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield
    finally:
        server.close()


@pytest.mark.parametrize(
    ("cut", "entries", "said"),
    [
        (b"COMMIT", 1, "not known whether it was recorded"),
        (b"INSERT INTO entries", 0, "nothing was spent"),
        (b"pg_advisory_xact_lock", 0, "nothing was spent"),
    ],
)
def test_a_reply_that_the_network_loses(
    ledger: SqlLedger, url: str, tmp_path_factory: pytest.TempPathFactory, cut: bytes, entries: int, said: str
) -> None:
    folder = tmp_path_factory.mktemp("p")
    through = SqlLedger(url)
    with proxy(folder, postgres.server().folder, cut):
        where = url.replace(str(postgres.server().folder), str(folder))
        file = postgres_schema(where, patience=10.0)
        with patch.object(through, "_file", file), pytest.raises(LedgerError, match=said):
            charge(through)
    assert len(ledger.entries()) == entries
    charge(ledger)
    assert ledger.examine().sound


def test_a_transaction_that_was_rolled_back_is_not_taken_for_durable(ledger: SqlLedger) -> None:
    import psycopg

    def ignored() -> None:
        with ledger._file.transaction(write=True) as connection, pytest.raises(psycopg.Error):
            connection.execute("SELECT 1 / 0")

    with pytest.raises(LedgerError, match=r"rolled the transaction back\. Try again; nothing was spent"):
        ignored()


# Roles

GRANTS = Path("docs/how-to/keep-a-ledger-safe.md")


def grants(name: str) -> list[str]:
    """The statements of the documentation, for the schema of this test."""
    text = GRANTS.read_text().partition("```sql\n")[2].partition("```")[0]
    return [re.sub(r"\bsitr\b", name, part.strip()) for part in text.split(";") if part.strip()]


def as_role(url: str, role: str) -> str:
    return url.replace("postgres@", f"{role}@")


@contextmanager
def roles(url: str, *, without: str = "nothing") -> Iterator[None]:
    """The roles of the documentation, with its grants except those that mention something."""
    with raw(url) as connection:
        for role in ("steward", "analyst", "auditor"):
            connection.execute(f"DROP ROLE IF EXISTS {role}")
        for statement in grants(url.rpartition("=")[2]):
            if without not in statement:
                connection.execute(statement)
    try:
        yield
    finally:
        with raw(url) as connection:
            for role in ("steward", "analyst", "auditor"):
                connection.execute(f"DROP OWNED BY {role}")
                connection.execute(f"DROP ROLE {role}")


MONTHS = "person (patient_id) in each month (admitted), add-remove"


def opened_period(url: str, dataset: str) -> None:
    SqlLedger(url).open_part(dataset, of="visits")
    SqlLedger(url).charge(dataset, price=PRICE, question="COUNT(*)")


def test_an_analyst_opens_the_next_period_and_nothing_else(
    ledger: SqlLedger, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    ledger.open("visits", promise=PureDP(1.0), neighbors=MONTHS)
    analyst = as_role(url, "analyst")
    with roles(url):
        monkeypatch.setenv("SITR_STATE", str(tmp_path / "analyst"))
        opened_period(analyst, "visits@2026-03")
        opened_period(analyst, "visits@2026-q2")
        found = {each.dataset: (each.promise, each.neighbors) for each in ledger.accounts()}
        assert found["visits@2026-03"] == found["visits@2026-q2"] == found["visits"] == (PureDP(1.0), MONTHS)
        assert faults(ledger) == set()
        with closing(connected(analyst)) as made:
            made.execute(f"SET search_path = {url.rpartition('=')[2]}")
            call = "SELECT sitr_ledger_open_period(%s, %s, '2026-01-01T00:00:00+00:00')"
            for period, whole in (("visits@later", "visits"), ("other", "visits"), ("clinic@2026-03", "clinic")):
                made.execute(call, [period, whole])  # which opens nothing
            assert {each.dataset for each in ledger.accounts()} == set(found)
            with pytest.raises(psycopg.errors.UniqueViolation):
                made.execute(call, ["visits@2026-03", "visits"])
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                made.execute("INSERT INTO accounts SELECT 'visits@2026-05', promise, neighbors, opened FROM accounts")
        with closing(connected(as_role(url, "auditor"))) as made:
            made.execute(f"SET search_path = {url.rpartition('=')[2]}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                made.execute(call, ["visits@2026-05", "visits"])
        # Whoever calls it past Sitr opens a period without a record: nothing can be charged to it, and it is found.
        with closing(connected(analyst)) as made:
            made.execute(f"SET search_path = {url.rpartition('=')[2]}")
            made.execute(call, ["visits@2026-06", "visits"])
        with pytest.raises(LedgerError, match="not the one that was opened"):
            SqlLedger(analyst).charge("visits@2026-06", price=PRICE, question="COUNT(*)")
        assert faults(ledger) == {Fault.EXTRA_ROW}


@pytest.mark.parametrize("careless", [False, True])
def test_an_analyst_cannot_lend_the_function_a_table_of_their_own(ledger: SqlLedger, url: str, careless: bool) -> None:
    """A temporary table comes first unless pg_temp is named, and its triggers run with the rights of who inserts."""
    ledger.open("visits", promise=PureDP(1.0), neighbors="person (patient) in each month, add-remove")
    name = url.rpartition("=")[2]
    with raw(url) as connection:
        if careless:  # as it must not be made: then the attack succeeds
            connection.execute(f"ALTER FUNCTION sitr_ledger_open_period SET search_path = {name}")
    with roles(url), closing(connected(as_role(url, "analyst"))) as made:
        made.execute("CREATE TEMP TABLE accounts (dataset text, promise text, neighbors text, opened text)")
        made.execute("INSERT INTO accounts VALUES ('visits', 'pure(epsilon=9.0)', ') in each ', '')")
        made.execute(
            "CREATE FUNCTION pg_temp.stolen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"INSERT INTO {name}.accounts VALUES ('mine', 'pure(epsilon=9.0)', 'row', ''); RETURN NEW; END $$"
        )
        made.execute("CREATE TRIGGER stolen BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION pg_temp.stolen()")
        made.execute("SELECT sitr_ledger_open_period('visits@2026-03', 'visits', '2026-01-01T00:00:00+00:00')")
    with raw(url) as connection:
        rows = connection.execute("SELECT dataset, promise FROM accounts").fetchall()
    found = {row["dataset"]: row["promise"] for row in rows}
    assert ("mine" in found) == careless
    assert careless or found["visits@2026-03"] == "pure(epsilon=1.0)"


def test_without_the_function_no_analyst_opens_a_period(
    ledger: SqlLedger, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.open("visits", promise=PureDP(1.0), neighbors=MONTHS)
    with roles(url, without="FUNCTION"):
        monkeypatch.setenv("SITR_STATE", str(tmp_path / "analyst"))
        with pytest.raises(LedgerError, match="Your role may not do this"):
            opened_period(as_role(url, "analyst"), "visits@2026-03")
    assert {each.dataset for each in ledger.accounts()} == {"clinic", "visits"}


def test_an_upgrade_gives_the_roles_what_they_need(
    ledger: SqlLedger, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the roles had been made before there were plans."""
    ledger.open("visits", promise=PureDP(1.0), neighbors=MONTHS)
    with roles(url):
        with raw(url) as connection:
            connection.execute("DROP FUNCTION sitr_ledger_open_period")
            connection.execute("DROP TABLE plans")
            connection.execute("ALTER TABLE entries DROP COLUMN coins")
            connection.execute("UPDATE sitr_ledger_revision SET version_num = '0006'")
        with pytest.raises(LedgerError, match="Your role may not do this"):
            SqlLedger(as_role(url, "analyst"))
        SqlLedger(url)
        monkeypatch.setenv("SITR_STATE", str(tmp_path / "analyst"))
        opened_period(as_role(url, "analyst"), "visits@2026-03")
        written = "the plan"
        plan = sha256(written.encode()).hexdigest()
        analyst = SqlLedger(as_role(url, "analyst"))
        analyst.charge("visits@2026-03", price=PRICE, question="COUNT(*)", plan=plan, written=written)
        assert analyst.plan(plan) == written
    assert faults(ledger) == set()


def test_the_auditor_verifies_and_writes_nothing(
    ledger: SqlLedger, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    charge(ledger)
    with roles(url):
        monkeypatch.setenv("SITR_STATE", str(tmp_path / "analyst"))
        charge(SqlLedger(as_role(url, "analyst")))
        monkeypatch.setenv("SITR_STATE", str(tmp_path / "auditor"))
        auditor = as_role(url, "auditor")
        found = CliRunner().invoke(app, ["ledger", "verify", auditor])
        assert (found.exit_code, "the chain is whole" in found.output) == (0, True), found.output
        with pytest.raises(LedgerError, match="Your role may not do this"):
            charge(SqlLedger(auditor))
        assert SqlLedger(auditor).identity() == ledger.identity()
        for role, table in (("auditor", "entries"), ("auditor", "answers"), ("analyst", "accounts")):
            with closing(connected(as_role(url, role))) as made:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    made.execute(f"INSERT INTO {table} SELECT * FROM {table}")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    made.execute(f"DELETE FROM {table}")
        with pytest.raises(LedgerError, match="Your role may not do this"):
            SqlLedger(as_role(url, "analyst")).open("new", promise=PureDP(9.0), neighbors="row, add-remove")
        monkeypatch.setenv("SITR_STATE", str(tmp_path / "steward"))
        SqlLedger(as_role(url, "steward")).open("new", promise=PureDP(9.0), neighbors="row, add-remove")
        assert len(ledger.entries()) == 2
