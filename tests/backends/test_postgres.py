"""PostgreSQL as a backend: what a server and its columns can do to a question."""

from __future__ import annotations

import logging
import math
import random
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.backend import check_unchanged
from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.duckdb_dialect import DUCKDB, PORTABLE
from sitr.backends.opening import beside, open_source, with_public
from sitr.backends.postgres import Postgres, open_table
from sitr.backends.postgres_dialect import PortablePostgresDialect, PostgresDialect
from sitr.backends.postgres_engine import read, rows
from sitr.backends.sent import MOST_ROWS, sent
from sitr.backends.sources import ArrowRows
from sitr.dataset.database import DatabaseTable, located
from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import BackendFailure, DescriptionError, QuestionError, SourceError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.expressions.patterns import odd
from sitr.questions.aggregate.sql import parse
from sitr.questions.statistic.numbers import Numbers
from tests import postgres
from tests.backends.test_grammar_replay import check_terms, drawn, neighbors
from tests.questions.aggregate import grammar
from tests.questions.aggregate.grammar import Storage

TYPES = """
CREATE SCHEMA IF NOT EXISTS "Odd schema";
DROP TABLE IF EXISTS "Odd schema"."Odd table";
DROP DOMAIN IF EXISTS euros; DROP TYPE IF EXISTS colour; DROP COLLATION IF EXISTS ignores_case;
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE DOMAIN euros AS numeric(10, 2);
CREATE COLLATION ignores_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE "Odd schema"."Odd table" (
  i2 smallint, i4 integer, i8 bigint, whole numeric(38, 0), tens numeric(5, -1), part numeric(20, 4), any_size numeric,
  f4 real, f8 double precision, t text, v varchar(20), c char(5), e colour, folded text COLLATE ignores_case,
  d date, ts timestamp, tz timestamptz, ok boolean, id uuid, bytes bytea, j jsonb, list integer[], money euros,
  "100%; DROP TABLE x" integer
);
INSERT INTO "Odd schema"."Odd table" VALUES
  (1, 2, 3, 'NaN', 10, 1.5, 1e-5000, 'NaN', '-0', 'a', 'b', 'c', 'red', 'A', 'infinity', '-infinity', now(), true,
   gen_random_uuid(), '\\xff', '{}', '{1}', 2.5, 7),
  (1, 2, 3, 9e37, 10, 1.5, 1e4000, 'Infinity', 5e-324, '', '', '', 'green', 'a', '5874897-12-31', '294276-12-31', now(),
   NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (1, 2, 3, 1, 10, 1.5, 'NaN', 1, 1e308, '', '', '', NULL, 'a', '4713-01-01 BC', '4713-01-01 BC', now(), NULL, NULL,
   NULL, NULL, NULL, NULL, NULL);
"""
KINDS = {
    **dict.fromkeys(("i2", "i4", "i8", "whole", "tens"), Kind.INTEGER),
    **dict.fromkeys(("part", "any_size", "f4", "f8"), Kind.REAL),
    **dict.fromkeys(("t", "v", "c", "e"), Kind.TEXT),
    "folded": Kind.OTHER,
    "d": Kind.DATE,
    "ts": Kind.TIMESTAMP,
    "tz": Kind.ZONED,
    "ok": Kind.BOOLEAN,
    **dict.fromkeys(("id", "bytes"), Kind.BYTES),
    **dict.fromkeys(("j", "list"), Kind.OTHER),
    "money": Kind.REAL,
    "100%; DROP TABLE x": Kind.INTEGER,
}


def table(name: str = "visits") -> DatabaseTable:
    return located(postgres.server().url(), name)


@pytest.fixture
def visits() -> Postgres:
    postgres.load(
        pa.table({"id": [1, 1, 2, 3], "ward": ["A", "B", "A", None], "cost": [1.0, 2.5, 4.0, None]}), "visits"
    )
    return open_table(table())


def described() -> Table:
    kinds = {"id": Kind.INTEGER, "ward": Kind.TEXT, "cost": Kind.REAL}
    return describe(
        "visits", kinds=kinds, unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=2, max_rows_per_group=3,
        bounds={"cost": (0, 5)}, granularity={"cost": 0.5}, keys={"ward": ["A", "B"]},
    )  # fmt: skip


def asked(sql: str = "SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward") -> BoundedQuery:
    return bound(parse(sql), described())


# Columns and tables


def test_every_type_has_a_kind_and_no_value_fails() -> None:
    postgres.connection().execute(TYPES)
    backend = open_table(table('"Odd schema"."Odd table"'))
    assert backend.kinds() == KINDS
    assert backend.schema().names == list(KINDS)
    assert [str(backend.schema().field(name).type) for name in ("i2", "f4", "ok", "d", "ts", "t")] == [
        "int64", "double", "bool", "date32[day]", "timestamp[us]", "string"
    ]  # fmt: skip
    backend.verify()
    assert backend.size() == 3
    for name, kind in KINDS.items():
        if kind is Kind.REAL:
            found = backend.read(Numbers(name, 0.0), salt=1)
            assert not any(map(math.isnan, found))
    assert list(backend.read(Numbers("any_size", -1.0), salt=1)) == [0.0, math.inf, -1.0]
    assert list(map(str, backend.read(Numbers("f8", 0.0), salt=1))) == ["0.0", "5e-324", "1e+308"]


def test_names_are_found_as_sql_finds_them(visits: Postgres) -> None:
    assert visits.located() == ("public", "visits")
    assert open_table(table("PUBLIC.Visits")).located() == ("public", "visits")
    for wrong in ("nowhere", "other.visits", '"Visits"'):
        with pytest.raises(SourceError, match="There is no table"):
            open_table(table(wrong))


def test_a_changed_column_fails_before_any_row_is_read(visits: Postgres) -> None:
    check_unchanged(visits, described())
    postgres.connection().execute("ALTER TABLE visits ALTER cost TYPE text USING 'patient 4711'")
    with pytest.raises(SourceError, match="cost"):
        check_unchanged(visits, described())
    with pytest.raises(BackendFailure) as failure:
        visits.read(asked(), salt=1)
    assert failure.value.__context__ is None


def test_a_view_that_fails_on_a_row_is_refused(visits: Postgres) -> None:
    del visits
    postgres.connection().execute(
        "DROP VIEW IF EXISTS failing; CREATE VIEW failing AS SELECT id, 1 / (id - 2) AS x FROM visits"
    )
    with pytest.raises(SourceError, match="'x'") as refused:
        open_table(table("failing")).verify()
    assert refused.value.__context__ is None
    postgres.connection().execute("DROP VIEW failing")


# What the server says and logs


def broken(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr("sitr.backends.postgres.statement", lambda *_, **__: sql)


def test_errors_and_notices_reach_nobody(
    visits: Postgres,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    speaks = "CREATE OR REPLACE FUNCTION speaks() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN {} RETURN 1; END $$"
    for body in ("RAISE WARNING 'patient 4711';", "RAISE EXCEPTION 'patient 4711';"):
        postgres.connection().execute(speaks.format(body))
        broken(monkeypatch, "SELECT 'A', 0, public.speaks()")
        with caplog.at_level(logging.DEBUG), warnings.catch_warnings():
            warnings.simplefilter("error")
            if "EXCEPTION" in body:
                with pytest.raises(BackendFailure) as failure:
                    visits.read(asked(), salt=1)
                assert "4711" not in str(failure.value)
                assert failure.value.__context__ is failure.value.__cause__ is None
            else:
                visits.read(asked(), salt=1)
    assert "4711" not in caplog.text + "".join(capfd.readouterr())


def test_a_lost_connection_is_the_one_error(visits: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "SELECT pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(BackendFailure, match="the charge stands") as failure:
        visits.read(asked(), salt=1)
    assert failure.value.__context__ is None
    gone = replace(visits, at=replace(visits.at, url="postgresql://postgres@/postgres?host=/nowhere"))
    with pytest.raises(BackendFailure, match="the charge stands"):
        gone.read(asked(), salt=1)
    with pytest.raises(SourceError, match="cannot be read"):
        gone.kinds()


def test_a_statement_that_takes_too_long_is_the_one_error(visits: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITR_POSTGRES_TIMEOUT", "1")
    broken(monkeypatch, "SELECT pg_sleep(30)")
    start = time.monotonic()
    with pytest.raises(BackendFailure):
        visits.read(asked(), salt=1)
    assert time.monotonic() - start < 10
    for wrong in ("0", "soon", "-1", "1e9"):
        monkeypatch.setenv("SITR_POSTGRES_TIMEOUT", wrong)
        with pytest.raises(SourceError, match="SITR_POSTGRES_TIMEOUT"):
            visits.kinds()


@pytest.mark.parametrize(
    "sql", ["DELETE FROM public.visits", "CREATE TEMPORARY TABLE t (x integer)", "SELECT nextval('public.s')"]
)
def test_nothing_can_be_written(visits: Postgres, sql: str) -> None:
    """Even by a role that may do anything."""
    postgres.connection().execute("CREATE SEQUENCE IF NOT EXISTS s")
    with pytest.raises(BackendFailure):
        read(visits.at, lambda made: made.execute(sql))
    assert visits.size() == 4


def test_functions_of_users_are_not_called(visits: Postgres) -> None:
    """A function of the same name in a schema of the search path would see the rows."""
    postgres.connection().execute(
        "CREATE OR REPLACE FUNCTION md5(integer) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;"
        "CREATE OR REPLACE FUNCTION abs(text) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$"
    )
    assert read(visits.at, lambda made: rows(made, "SELECT current_schemas(true)::text[]")) == [(["pg_catalog"],)]


def test_values_are_bound_and_never_in_the_text(visits: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def run(made: Any, sql: str, bound: Any = ()) -> Any:
        seen.append(sql)
        return rows(made, sql, bound)

    monkeypatch.setattr("sitr.backends.postgres.rows", run)
    texts = ["o'4711 OR 1=1 --", "\\' 4711", "$1 4711", "%s 4711 %%"]
    listed = ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
    visits.read(asked(f"SELECT COUNT(*) AS n FROM visits WHERE ward IN ({listed}) OR ward LIKE '%4711%'"), salt=1)
    assert seen
    assert "4711" not in " ".join(seen)


PARTS = """
DROP TABLE IF EXISTS parts;
CREATE TABLE parts (id bigint, ward text, cost double precision, day date) PARTITION BY RANGE (day);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
INSERT INTO parts SELECT n, 'AB', 1, DATE '2024-01-01' + n % 60 FROM generate_series(1, 20000) AS n;
CREATE INDEX ON parts (id);
CREATE INDEX ON parts (day);
CREATE INDEX ON parts USING brin (cost);
ANALYZE parts;
"""


def scans(where: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """How the server reads a table that has indexes and two partitions."""
    postgres.connection().execute(PARTS)
    backend, found = open_table(table("parts")), set[str]()
    described = describe(
        "visits", kinds=backend.kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=2,
        max_rows_per_group=3, bounds={"cost": (0, 5)}, granularity={"cost": 0.5}, keys={"ward": ["A", "AB"]},
    )  # fmt: skip

    def explained(made: Any, sql: str, bound: Any = ()) -> Any:
        plan = "\n".join(line for (line,) in rows(made, f"EXPLAIN {sql}", bound))
        found.update(re.findall(r"\w+ Scan .*?on parts_\d(?=[ \n])", plan))
        return rows(made, sql, bound)

    monkeypatch.setattr("sitr.backends.postgres.rows", explained)
    backend.read(bound(parse(f"SELECT ward, COUNT(*) AS n FROM visits WHERE {where} GROUP BY ward"), described), salt=1)
    return found


@pytest.mark.parametrize("where", ["id = 777", "id IN (777, 3)", "day = DATE '2024-01-05'", "cost > 7", "id IS NULL"])
def test_no_index_and_no_partition_is_chosen_by_a_condition(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both partitions are read row by row, whoever is in them."""
    assert scans(where, monkeypatch) == {"Seq Scan on parts_1", "Seq Scan on parts_2"}


def test_with_an_index_the_difference_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: PostgreSQL as it comes."""
    monkeypatch.setattr("sitr.backends.postgres_engine._SETTINGS", {"search_path": "pg_catalog"})
    assert any("Index" in line for line in scans("id = 777", monkeypatch))
    assert not any("parts_2" in line for line in scans("day = DATE '2024-01-05'", monkeypatch))


def test_texts_that_the_server_cannot_hold_match_nothing(visits: Postgres) -> None:
    assert visits.read(asked("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A\0'"), salt=1)[()][0] == 0


def test_the_log_of_the_server_has_no_parameters(visits: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that fails is logged by its text, in which no value of a question stands."""
    before = len(postgres.server().log)

    def failing(*_: object, dialect: PostgresDialect, **__: object) -> str:
        return f"SELECT 1 / (length({dialect.literal('asked 4711')}) - 10) FROM public.visits"

    monkeypatch.setattr("sitr.backends.postgres.statement", failing)
    with pytest.raises(BackendFailure):
        visits.read(asked(), salt=1)
    assert "division by zero" in postgres.server().log[before:]
    assert "4711" not in postgres.server().log[before:]


# Regular expressions


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "(a|aa)*b", "(a?){50}a{50}", "(.*)*x", "(a*)*(a*)*b", "[ab]*a[ab]{90}b"]
)
def test_time_grows_with_the_text_and_not_faster(pattern: str) -> None:
    """A text of 10,000 letters takes at most 30 times as long as one of 1,000: at most three times its share."""
    assert odd(pattern) is None
    postgres.server()

    def seconds(letters: int) -> float:
        dialect = PostgresDialect()
        sql = f"SELECT count(*) FROM t WHERE {dialect.matches('v', pattern, whole=False)}"
        values = pa.table({"v": [("ab" * letters)[: letters - 1] + "c"] * (100_000 // letters)})
        best = math.inf
        for _ in range(3):
            start = time.perf_counter()
            postgres.run(dialect.bound.values, values, sql)
            best = min(best, time.perf_counter() - start)
        return best / (100_000 // letters)

    assert seconds(10_000) < 30 * seconds(1_000) + 0.01


# Public tables and other tables


def test_public_rows_are_sent_if_they_are_few(visits: Postgres) -> None:
    few = ArrowRows(pa.table({"w": ["A", "B\0", None], "n": [1, None, 2**62]}))
    dialect = PostgresDialect()
    found = sent("wards", few).rows(dialect, dialect.bound)
    assert found.types == {"w": "text", "n": "bigint"}
    read_back = read(visits.at, lambda made: rows(made, f"SELECT * FROM {found.source}", dialect.bound.values))
    assert read_back == [("A", 1), ("B\ufdd0", None), (None, 2**62)]
    with pytest.raises(QuestionError, match="10,000 rows"):
        sent("wards", ArrowRows(pa.table({"w": range(MOST_ROWS + 1)})))


def test_tables_of_other_places_are_refused(visits: Postgres) -> None:
    memory = open_source(pa.table({"id": [1]}), types={})
    elsewhere = replace(visits, at=replace(visits.at, url="postgresql://elsewhere/db"))
    for one, other in ((visits, memory), (memory, visits), (visits, elsewhere)):
        with pytest.raises(QuestionError, match="not in the same database"):
            beside(one, {"patients": other})
    assert beside(visits, {"patients": visits}).beside == {"patients": visits}  # type: ignore[attr-defined]


def test_a_database_needs_a_table_and_a_file_has_none(visits: Postgres) -> None:
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        (postgres.server().url(), {}),
        ("visits.parquet", {"table": "visits"}),
        (postgres.server().url(), {"table": "visits", "types": {"id": Kind.INTEGER}}),
    )
    for source, more in cases:
        with pytest.raises(DescriptionError):
            open_source(source, **{"types": {}, **more})
    assert open_source(visits.at, types=visits.columns) == visits


# The grammar


def replay(seed: int) -> bool:
    """Whether two neighbours were read: both engines agree on all integers, which move within the distances."""
    chance = random.Random(seed)
    storage = Storage.drawn(chance)
    query = drawn(chance, storage)
    if query is None or storage.here[0] == pa.binary():  # engines write bytes as different texts
        return False
    salt, found = chance.randrange(2**63), []
    for here, there in neighbors(chance, query):
        visits, stays = (postgres.storable(each) for each in (storage.table(here), storage.stays(there)))
        postgres.load(visits, "replayed")
        postgres.load(stays, "stays")
        public = {"codes": grammar.CODES_ROWS}
        server = beside(open_table(table("replayed")), {"stays": open_table(table("stays"))})
        found.append(with_public(server, public).read(query, salt=salt))
        beside_it = {"stays": DuckDB(ArrowRows(stays, "protected stays"))}
        embedded = DuckDB(ArrowRows(visits), public, beside_it, reader=Reader(packs=False))  # in the portable order
        assert embedded.read(query, salt=salt) == found[-1], seed
    first, second = found
    check_terms(query, first, second, seed)
    return True


@pytest.fixture(scope="module")
def portable() -> Iterator[None]:
    """Both engines with the order that all engines share."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sitr.backends.postgres.PostgresDialect", PortablePostgresDialect)
        patched.setattr("sitr.backends.duckdb.DUCKDB", PORTABLE)
        yield


@pytest.mark.usefixtures("portable")
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_engines_agree_on_questions_and_one_unit_moves_no_answer_too_far(seed: int) -> None:
    replay(seed)


@pytest.mark.usefixtures("portable")
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2_000, 200))
def test_engines_agree_on_thousands_of_questions(first: int) -> None:
    """pytest -m slow tests/backends/test_postgres.py"""
    assert sum(map(replay, range(first, first + 200))) > 90


def test_engines_that_differ_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With DuckDB's own hash, other rows of a person are kept."""
    monkeypatch.setattr("sitr.backends.duckdb.DUCKDB", DUCKDB)
    with pytest.raises(AssertionError):
        assert sum(map(replay, range(40)))


@pytest.mark.parametrize("people", [(10, 11), (12, 13)])
def test_people_with_short_names_have_orders_of_their_own(people: tuple[int, int]) -> None:
    """Under half of all salts they have two groups in the same order, which the end of a short text decides.

    Of 20,000, Binomial(20,000, 1/2) is outside [9540, 10460] with probability below 1e-10.
    """
    order: Any = PostgresDialect().order  # of a column with salts
    firsts = [" < ".join(order("salt", [str(who), f"CAST('{group}' AS text)"]) for group in "ab") for who in people]
    dice = random.Random(9)
    salts = [dice.getrandbits(63) for _ in range(20_000)]
    counted = f"SELECT sum(CAST(({firsts[0]}) = ({firsts[1]}) AS int)) FROM unnest(%s::bigint[]) AS salts (salt)"
    (same,) = postgres.connection().execute(counted, [salts]).fetchone()
    assert 9540 <= same <= 10460
