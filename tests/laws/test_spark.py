"""The laws of dialects and backends on a real Spark: one driver and two executors.

A statement on Spark takes a large part of a second, so that most cases are left out of a build: all of them run with
`bash dev/test -m '' tests/laws/test_spark.py`.
"""

from __future__ import annotations

import inspect
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends import spark_packed
from sitr.backends.backend import outermost
from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.duckdb_dialect import PORTABLE
from sitr.backends.reading import tree
from sitr.backends.sources import ArrowRows
from sitr.backends.spark import Spark, SparkFrame, sent, types
from sitr.backends.spark_dialect import PortableSparkDialect, SparkDialect
from sitr.backends.spark_engine import asked as asked_of_spark
from sitr.backends.spark_engine import same
from sitr.backends.statement import statement
from sitr.dataset.schema import Kind
from sitr.errors import QuestionError, SourceError
from sitr.neighbors.relation import Relation
from sitr.questions.aggregate.sql import parse_condition
from tests import spark
from tests.backends import test_grammar_replay as replay
from tests.backends.packed.test_limits import asked
from tests.laws import test_backends as backends
from tests.laws import test_dialects as dialects
from tests.questions.aggregate.expressions.test_rules import VIEW
from tests.questions.aggregate.grammar import Storage

READINGS = backends.READINGS
APART = ("test_a_row_without_a_key_costs_no_more_than_another",)
"""Cases about time, and about regular expressions, which Spark does not have."""


def cases() -> Iterator[Any]:
    """Every case of every test of a dialect's expressions, one after the other."""
    for name, kind in vars(dialects).items():
        if not name.startswith("Test") or name == "TestMatches":
            continue
        for test, function in inspect.getmembers(kind, inspect.isfunction):
            on_any = "on" in inspect.signature(function).parameters  # others are about one engine alone
            if test.startswith("test_") and on_any and test not in APART:
                for place, values in enumerate(parameters(function)):
                    yield pytest.param(kind, test, values, id=f"{name}-{test[5:45]}-{place}")


def parameters(test: Any) -> list[dict[str, Any]]:
    """The values of a test's parameters."""
    sets = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = (
                [each.strip() for each in mark.args[0].split(",")] if isinstance(mark.args[0], str) else mark.args[0]
            )
            sets.append([dict(zip(names, each if len(names) > 1 else (each,), strict=True)) for each in mark.args[1]])
    return [{name: value for part in parts for name, value in part.items()} for parts in product(*sets)]


def on_spark(dialect: SparkDialect) -> dialects.On:
    return dialects.On(dialect, dialects.ENGINES["spark"])


@pytest.mark.sampled(30)
@pytest.mark.parametrize(("kind", "test", "values"), list(cases()))
def test_every_expression_holds_on_spark(kind: Any, test: str, values: dict[str, Any]) -> None:
    getattr(kind(), test)(on_spark(SparkDialect()), **values)


class TakesNullForTheLowerBound(SparkDialect):
    """isnan(NULL) is false on Spark."""

    def granules(self, expression: str, to: Any) -> str:
        return SparkDialect.granules(self, expression, to).replace(f"({self.number(expression)}) IS NOT NULL AND ", "")


class SkipsNull(SparkDialect):
    def order(self, salt: int, names: Any) -> str:
        return f"xxhash64({salt}L, {', '.join(names)})"


class LetsTheOrderOfRowsDecide(SparkDialect):
    def lowest(self, most: int, *, source: str, of: Any, by: str, owned: Any = None) -> str:  # noqa: ARG002
        return f"SELECT * FROM {source} QUALIFY row_number() OVER (PARTITION BY {of[0]} ORDER BY {by}) <= {most}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("twin", "check"),
    [
        pytest.param(
            TakesNullForTheLowerBound,
            lambda on: dialects.TestGranules().test_clamped_and_rounded_as_by_hand(on, dialects.ANY),
            marks=pytest.mark.sample,
        ),
        (SkipsNull, lambda on: dialects.TestOrder().test_null_is_a_value_in_its_place(on)),
        (
            LetsTheOrderOfRowsDecide,
            lambda on: dialects.TestLowest().test_of_equal_ranks_at_the_border_none_is_kept(
                on, 2, {"a": [1], "b": [4, 4], None: [6, 7]}
            ),
        ),
    ],
)
def test_a_broken_dialect_is_caught(twin: type[SparkDialect], check: Callable[[dialects.On], None]) -> None:
    check(on_spark(SparkDialect()))
    with pytest.raises(AssertionError):
        check(on_spark(twin()))


# Texts


def test_like_takes_a_time_that_grows_with_the_text_only() -> None:
    """Spark's own LIKE would try all places of all parts, more than 10^18 for this row, and never end."""
    rows = pa.table({"n": [0, 1], "v": ["a" * 5_000, "a" * 5_000 + "b"]})
    say = SparkDialect()
    found = spark.run(say, rows, f"SELECT {say.like('v', '%a' * 6 + '%b')} AS e, n FROM t ORDER BY n")
    assert [each for each, _ in found] == [False, True]


def seconds(expression: Callable[[SparkDialect], str], length: int) -> float:
    """The least time of two for texts of this many letters, each made to be searched for long."""
    letters, times = "a" * length, []
    rows = pa.table({"v": [letters, letters[:-1] + "b", "b" + letters[1:], "ab" * (length // 2)] * 8})
    sent(spark.session(), rows).createOrReplaceTempView("t")
    for _ in range(2):
        say = SparkDialect()
        found = asked_of_spark(spark.session(), f"SELECT count({expression(say)}) AS n FROM t", say)
        start = time.perf_counter()
        found.toArrow()
        times.append(time.perf_counter() - start)
    return min(times)


ANY = "%".join(["a"] * 12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("pattern", [f"%{ANY}%b", "_%" * 20 + "b", "%" + "a" * 60 + "_b%"])
def test_the_time_of_a_pattern_grows_with_the_text(pattern: str) -> None:
    """Eight times the letters take about eight times as long; quadratic time would take 64 times as long.

    Half a second is what a job takes that does nothing. Spark's own LIKE would take a power of the length (see above).
    """
    short, long = (seconds(lambda say: say.like("v", pattern), length) for length in (20_000, 160_000))
    assert long < 3 * 8 * (short + 0.5)


def test_regular_expressions_are_refused_in_words() -> None:
    with pytest.raises(QuestionError, match="cannot be used on Spark"):
        SparkDialect().matches("v", "a+", whole=True)
    with pytest.raises(QuestionError, match="nothing was spent"):
        Spark(SparkFrame(None)).refuse("REGEXP_MATCHES")
    Spark(SparkFrame(None)).refuse("LIKE")


def test_long_expressions_are_refused_before_the_charge() -> None:
    """Spark's driver would need minutes, or more memory than it has; nothing of it depends on rows."""
    nested = "d"
    for _ in range(7):
        nested = f"({nested}) + EXTRACT(day FROM {nested})"
    long, short = (VIEW.typed(parse_condition(text)) for text in (f"{nested} > d", f"n IN ({', '.join('123' * 3000)})"))
    with pytest.raises(QuestionError, match=r"letters as Spark reads them, more than 20,000.*nothing was spent"):
        Spark(SparkFrame(None)).refuse_long([long])
    Spark(SparkFrame(None)).refuse_long([short])
    assert outermost((long, long.parts[0], [short])) == [long, short]


# Readings


def portable(rows: pa.Table) -> Spark:
    return Spark(SparkFrame(sent(spark.session(), rows)), dialect=PortableSparkDialect, order=spark.portable_order)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("salt", backends.SALTS)
@pytest.mark.parametrize("name", READINGS)
def test_spark_reads_the_same_integers_as_duckdb(name: str, salt: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the portable order, what both keep of each person is the same, to the last unit."""
    reading = READINGS[name](Relation.ADD_REMOVE)
    rows = backends.arrow({None: backends.PEOPLE["one row"], **backends.PEOPLE})
    found = backends.summed(portable(rows).read(reading, salt=salt))
    monkeypatch.setattr("sitr.backends.duckdb.DUCKDB", PORTABLE)
    embedded = DuckDB(ArrowRows(rows), reader=Reader(packs=False))
    assert found == backends.summed(embedded.read(reading, salt=salt))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", backends.BOUNDED)
def test_nobody_exceeds_the_caps_and_nobody_else_is_moved(name: str) -> None:
    """In production: the reading is the sum of what each half reads, and a person alone is within the caps."""
    reading, ids = READINGS[name](Relation.ADD_REMOVE), list(backends.PEOPLE)
    halves = [{person: backends.PEOPLE[person] for person in half} for half in (ids[::2], ids[1::2])]
    parts = [backends.summed(spark.held(backends.arrow(dict(half))).read(reading, salt=9)) for half in halves]
    everybody = backends.arrow({None: backends.PEOPLE["many groups"], **backends.PEOPLE}, backwards=True)
    assert backends.plus([backends.summed(spark.held(everybody).read(reading, salt=9))]) == backends.plus(parts)
    caps = tree(reading).caps
    alone = backends.summed(spark.held(backends.arrow({"x": backends.PEOPLE["many groups"]})).read(reading, salt=9))
    assert caps.groups is not None
    assert len({key for key, _ in alone}) <= caps.groups * (caps.rows or 1)


def on_both(made: DuckDB, dialect: Callable[[], SparkDialect]) -> Spark:
    """The same tables on Spark."""
    session = spark.session()
    assert isinstance(made.source, ArrowRows)
    beside = {name: on_both(each, dialect) for name, each in made.beside.items()}
    rows = SparkFrame(sent(session, made.source.table))
    return Spark(rows, made.public, beside, dialect=dialect, order=spark.portable_order)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "seed", [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 21, 23, 24, 26, 27, 28]
)
def test_neighbors_stay_near_in_questions_of_the_whole_grammar(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables that differ in one person, on both engines, with joins, sub-queries and unusual types."""
    chance = random.Random(seed)
    storage = Storage.drawn(chance)
    query = replay.drawn(chance, storage)
    if query is None:
        return
    salt = chance.randrange(2**63)
    tables = [storage.backend(*each) for each in replay.neighbors(chance, query)]
    first, second = (on_both(each, PortableSparkDialect).read(query, salt=salt) for each in tables)
    replay.check_terms(query, first, second, seed)
    monkeypatch.setattr("sitr.backends.duckdb.DUCKDB", PORTABLE)
    assert first == replace(tables[0], reader=Reader(packs=False)).read(query, salt=salt)


# Packed rows


WARDS = [*"ABC", "B'", None, "Ж"]
PACKED = {
    "counts": "SELECT ward, COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM visits GROUP BY ward",
    "sums": "SELECT ward, SUM(days) AS s, AVG(days) AS m, COUNT(cost) AS c FROM visits WHERE cost <> 5 GROUP BY ward",
    "numbers": "SELECT days, COUNT(*) AS n, COUNT(cost) AS s FROM visits GROUP BY days",
    "two keys": "SELECT ward, days, SUM(days) AS s FROM visits GROUP BY ward, days",
    "no key": "SELECT COUNT(*) AS n, SUM(days) AS s FROM visits",
    "nobody": "SELECT SUM(days) AS s FROM visits WHERE cost > 1000000000",
}
"""Questions that are read by packed rows, if ids are integers."""
KEYS = {"ward": WARDS, "days": [*range(6), None]}


def numbered() -> pa.Table:
    """The people of the laws under numbers, some of them with the largest and the least of 64 bits."""
    numbers = [-(2**63), 2**63 - 1, 0, *range(-5, 0)]
    rows = backends.arrow({None: backends.PEOPLE["one row"], **backends.PEOPLE})
    named = dict(zip(backends.PEOPLE, numbers, strict=True))
    ids = pa.array([named.get(each) if each else None for each in rows["id"].to_pylist()], pa.int64())
    return rows.set_column(0, "id", ids)


def question(name: str, rows: pa.Table, caps: tuple[int, int]) -> Any:
    return asked(rows, PACKED[name], caps=caps, bounds={"days": (-2, 9)}, keys=KEYS)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("caps", [(2, 3), (1, 40)])
@pytest.mark.parametrize("name", PACKED)
def test_packed_rows_keep_the_same_integers_as_the_statement(
    name: str, caps: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the portable order, to the last unit."""
    rows = numbered()
    query, read = question(name, rows, caps), list[str]()
    usual = spark_packed.read

    def noted(*given: Any) -> Any:
        read.append(name)
        return usual(*given)

    monkeypatch.setattr(spark_packed, "read", noted)
    assert not spark_packed.trouble(spark.session(), attempts=20)  # on a busy machine, some jobs may fail in passing
    found = portable(rows).read(query, salt=7)
    assert read == [name], "the statement read the rows"
    monkeypatch.setattr("sitr.backends.duckdb.DUCKDB", PORTABLE)
    assert found == DuckDB(ArrowRows(rows), reader=Reader(packs=False)).read(query, salt=7)


@pytest.mark.slow
def test_where_executors_have_no_numpy_the_statement_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = numbered()
    query = question("counts", rows, (2, 3))
    expected = portable(rows).read(query, salt=7)
    monkeypatch.setattr(spark_packed, "able", lambda _: False)
    monkeypatch.setattr(spark_packed, "read", None)
    assert portable(rows).read(query, salt=7) == expected


# Errors, settings and what the caller sees


def test_a_failure_has_one_text_and_quotes_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    backend = spark.held(backends.arrow(dict(backends.PEOPLE)))
    monkeypatch.setattr("sitr.backends.spark.statement", lambda *_, **__: "SELECT CAST('patient 4711' AS INT)")
    capfd.readouterr()
    backends.check_failure(lambda: backend.read(READINGS["sums"](Relation.ADD_REMOVE), salt=1))
    assert "4711" not in "".join(capfd.readouterr())


def test_sessions_that_are_started_here_write_no_log() -> None:
    """The driver would write failed tasks into the errors of this process, with values of rows."""
    assert spark.session().sparkContext.getConf().get("spark.log.level") == "OFF"


FAILING = """
from sitr.backends.spark_engine import read, started
from sitr.errors import BackendFailure
session = started("local[1]")
session.sql("SELECT concat('patient ', 4710 + id) AS id FROM range(3)").createOrReplaceTempView("t")
{setting}
try:
    read(lambda: session.sql("SELECT sum(CAST(id AS INT)) FROM t").toArrow())
except BackendFailure as failure:
    print(failure)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "says"), [("", False), ("session.sparkContext.setLogLevel('WARN')", True)])
def test_a_task_that_fails_says_nothing_on_this_machine(setting: str, says: bool, tmp_path: Path) -> None:
    """The broken twin is Spark as it comes."""
    spark.session()  # or the test is skipped
    code, known = FAILING.format(setting=setting), os.environ | {"SPARK_CONF_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=known, capture_output=True, text=True, check=True)
    assert "the charge stands" in done.stdout
    assert ("patient 471" in done.stdout + done.stderr) == says


def test_settings_that_change_results_are_refused_and_others_change_nothing() -> None:
    rows = pa.table(
        {
            "id": ["a", "b", "c"],
            "at": pa.array([datetime.fromisoformat("2024-03-31T01:30:00+00:00")] * 3, pa.timestamp("us", "UTC")),
        }
    )
    session, held = spark.session(), spark.held(rows)
    say = SparkDialect()
    where = "SELECT {} AS e FROM {}"

    def read() -> Any:
        from sitr.backends.spark import relation

        view = held.source.frame()
        view.createOrReplaceTempView("settings_rows")
        source, _ = relation("settings_rows", view, say, {})
        return session.sql(where.format(say.truncated("hour", "`at`", Kind.TIMESTAMP), source)).toArrow()

    expected = read()
    assert expected["e"].to_pylist() == [datetime(2024, 3, 31, 1)] * 3  # noqa: DTZ001
    odd = {"spark.sql.session.timeZone": "Asia/Kolkata", "spark.sql.caseSensitive": "true"}
    before = {name: session.conf.get(name) for name in odd}
    try:
        for name, value in odd.items():
            session.conf.set(name, value)
        assert read() == expected
        session.conf.set("spark.sql.ansi.enabled", "false")
        with pytest.raises(SourceError, match="nothing was spent"):
            held.kinds()
    finally:
        session.conf.set("spark.sql.ansi.enabled", "true")
        for name, value in before.items():
            session.conf.set(name, value)


def test_two_objects_of_a_session_are_one_and_a_new_session_is_another() -> None:
    """Their settings are the session's."""
    session = spark.session()
    other = type(session)(session.sparkContext, session._jsparkSession)
    assert other is not session
    assert same(other) == same(session) != same(session.newSession())


def test_public_rows_are_sent_in_a_session_without_a_number_of_rows_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark alone takes none then, and the question that joins them would fail after its charge."""
    session, name = spark.session(), "spark.sql.execution.arrow.maxRecordsPerBatch"
    rows, before = pa.table({"n": [1, 2, 3]}), session.conf.get(name)
    try:
        session.conf.set(name, "-1")
        assert sent(session, rows).toArrow()["n"].to_pylist() == [1, 2, 3]
        assert session.conf.get(name) == "-1"
        monkeypatch.setattr("sitr.backends.spark.bounded_batches", lambda _: nullcontext())
        with pytest.raises(ValueError, match="positive"):
            sent(session, rows)
    finally:
        session.conf.set(name, before)


def test_executors_compute_what_the_driver_computes() -> None:
    assert spark_packed.trouble(spark.session()) == ""


def test_texts_become_times_in_utc_in_a_session_that_is_started_here() -> None:
    """They became times in the zone of the machine, which decided in which month, and in which budget, a row was."""
    session = spark.session()
    texts = session.createDataFrame([("2024-06-30 22:30:00",)], "at STRING")
    texts.createOrReplaceTempView("texts")
    found = session.sql("SELECT CAST(unix_micros(CAST(at AS TIMESTAMP)) AS BIGINT) AS at FROM texts").toArrow()
    assert found["at"].to_pylist() == [1_719_786_600_000_000]
    zone = session.sparkContext._jvm.java.util.TimeZone.getDefault().getID()
    assert zone == "Asia/Kolkata", "the test needs a machine in another zone"


@pytest.mark.slow
@pytest.mark.sample
def test_a_view_over_random_numbers_stays_within_the_caps() -> None:
    """Spark computes such rows anew whenever they are read: groups that are used twice are kept."""
    session = spark.session()
    frame = session.sql(
        "SELECT 'p' AS id, CAST(CAST(rand() * 20 AS INT) AS STRING) AS ward, rand() AS cost, 1L AS days FROM range(200)"
    )
    reading = READINGS["sums"](Relation.ADD_REMOVE)
    for salt in range(2):
        found = Spark(SparkFrame(frame)).read(reading, salt=salt)
        assert len(found) <= 2
        assert all(cells[-2] <= 3 for cells in found.values())


@pytest.mark.slow
@pytest.mark.sample
def test_a_huge_cap_caps_nothing() -> None:
    """Spark reads no integer of 40 digits, and a question with such a cap must not fail after its charge."""
    rows = pa.table({"id": ["a"] * 9 + ["b"], "city": [*"ABCABCABC", "A"], "days": [*range(9), 1]})
    usual, huge = (
        asked(rows, "SELECT city, SUM(days) AS s FROM visits GROUP BY city", caps=caps, bounds={"days": (0, 9)})
        for caps in ((9, 9), (10**40, 10**40))
    )
    backend = spark.held(rows)
    assert backend.read(huge, salt=1) == backend.read(usual, salt=1) == DuckDB(ArrowRows(rows)).read(huge, salt=1)


@pytest.mark.slow
def test_a_person_with_a_million_rows_is_reduced_before_rows_are_exchanged() -> None:
    session = spark.session()
    frame = session.sql(
        "SELECT CASE WHEN id % 2 = 0 THEN 'whale' ELSE CAST(id % 1000 AS STRING) END AS id, "
        "CAST(id % 5 AS STRING) AS ward, CAST(id % 97 AS DOUBLE) AS cost, id % 9 AS days FROM range(2000000)"
    )
    found = Spark(SparkFrame(frame)).read(READINGS["sums"](Relation.ADD_REMOVE), salt=3)
    assert sum(cells[-1] for cells in found.values()) <= 2 * 501
    say = SparkDialect()
    frame.createOrReplaceTempView("skewed")
    few = say.lowest(3, source="skewed", of=["id"], by=say.order(1, ["id", "ward", "cost"]))
    plan = session.sql(f"EXPLAIN {few}").collect()[0][0]
    partial, exchange = plan.index("Partial"), plan.index("Exchange")
    assert "WindowGroupLimit" in plan
    assert partial > exchange  # a plan is printed from its end to its beginning


COUNTED = asked(
    backends.arrow({}),
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    caps=(2, 3),
    keys={"ward": list("01234")},
)


@pytest.mark.slow
@pytest.mark.sample
def test_each_task_adds_up_the_rows_of_a_person_before_rows_are_exchanged() -> None:
    """Half of two million rows are of one person, and each executor has one GB."""
    session = spark.session()
    frame = session.sql(
        "SELECT CASE WHEN id % 2 = 0 THEN 'whale' ELSE CAST(id % 1000 AS STRING) END AS id, "
        "CAST(id % 5 AS STRING) AS ward FROM range(2000000)"
    )
    found = Spark(SparkFrame(frame)).read(COUNTED, salt=3)
    assert sum(cells[-1] for cells in found.values()) == 2 + 500
    assert sum(cells[0] for cells in found.values()) == 3 * (2 + 500)
    say = SparkDialect()
    frame.createOrReplaceTempView("skewed")
    sql = statement(tree(COUNTED), dialect=say, source="skewed", types=types(frame), salt=3)
    plan = asked_of_spark(session, sql, say)._jdf.queryExecution().executedPlan().toString()
    first = plan.rpartition("Exchange")[2]  # a plan is printed from its end to its beginning
    assert "partial_count" in first
    assert "Window" not in first
