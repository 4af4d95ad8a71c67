"""Moments in the zone of their column: the same integers on every engine, whatever its session's time zone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitr.backends import zones
from sitr.backends.backend import Backend, changed, outermost
from sitr.backends.duckdb import DuckDB, Reader, open_source
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.opening import in_zones
from sitr.backends.postgres import open_table
from sitr.backends.sources import ArrowRows
from sitr.backends.spark_dialect import SparkDialect
from sitr.dataset.csv_format import DeclaredFormat
from sitr.dataset.database import located
from sitr.dataset.schema import Kind, Table, describe
from sitr.dataset.zone import zone
from sitr.errors import DescriptionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.sql import parse
from tests import postgres, spark
from tests.laws.test_dialects import ZONES, turning_points

MONTHS = "SELECT EXTRACT(year FROM at) AS y, EXTRACT(month FROM at) AS m, COUNT(*) AS n FROM v GROUP BY y, m"
HOURS = "SELECT EXTRACT(hour FROM at) AS h, COUNT(at) AS n FROM v WHERE at >= '1900-01-01' GROUP BY h"
FAR = [2**63 - 1, -(2**63) + 1, 253_402_300_800 * 10**6, -62_135_596_801 * 10**6, None]


def rows(name: str) -> pa.Table:
    """Moments at turning points of a zone, and some beyond the calendar."""
    naive = pa.array(turning_points(name), pa.timestamp("us")).cast(pa.int64())
    every = pa.concat_arrays([naive, pa.array(FAR, pa.int64())])
    return pa.table({"at": every.cast(pa.timestamp("us", "Asia/Tokyo"))})


def table(name: str) -> Table:
    return describe(
        "v",
        kinds={"at": Kind.ZONED},
        unit=Row(),
        relation=Relation.ADD_REMOVE,
        max_groups=None,
        max_rows_per_group=None,
        bounds={},
        granularity={},
        keys={},
        zones={"at": name},
    )


def in_memory(found: pa.Table) -> DuckDB:
    return DuckDB(ArrowRows(found))


def by_statement(found: pa.Table) -> DuckDB:
    return DuckDB(ArrowRows(found), reader=Reader(packs=False))


def on_postgres(found: pa.Table) -> Backend:
    postgres.load(found, "zoned_rows")
    return open_table(located(postgres.server().url(), "zoned_rows"))


ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "duckdb": in_memory,
    "statement": by_statement,
    "postgres": on_postgres,
}


def cells(backend: Any, name: str, sql: str) -> dict[tuple[Any, ...], int]:
    described = table(name)
    found = in_zones(backend, described).read(bound(parse(sql), described), salt=1)
    return {key: values[0] for key, values in found.items() if values[0]}


def expected(name: str) -> Counter[tuple[Any, ...]]:
    local = [zone(name).local(each) for each in turning_points(name)]
    return Counter([*((each.year, each.month) for each in local), *[(None, None)] * len(FAR)])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ZONES)
def test_months_of_a_zone_are_those_of_python(engine: str, name: str) -> None:
    assert cells(ENGINES[engine](rows(name)), name, MONTHS) == expected(name)


@pytest.mark.parametrize("name", ZONES)
def test_hours_are_the_same_on_every_engine(name: str) -> None:
    local = [zone(name).local(each) for each in turning_points(name)]
    hours = Counter((each.hour,) for each in local if each >= datetime(1900, 1, 1))  # noqa: DTZ001
    assert len(hours) > 10
    assert all(cells(make(rows(name)), name, HOURS) == hours for make in ENGINES.values())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ZONES)
def test_months_and_hours_on_spark(name: str) -> None:
    held = spark.held(rows(name))
    assert cells(held, name, MONTHS) == expected(name)
    assert cells(held, name, HOURS) == cells(in_memory(rows(name)), name, HOURS)


IN_HEBRON = """
SELECT EXTRACT(month FROM at AT TIME ZONE 'Asia/Hebron') AS m, EXTRACT(hour FROM at AT TIME ZONE 'Asia/Hebron') AS h,
COUNT(*) AS n FROM v WHERE at AT TIME ZONE 'Asia/Hebron' >= '1900-01-01' GROUP BY m, h
"""


@pytest.mark.sampled(1)
def test_the_longest_zone_can_be_asked_for_on_spark() -> None:
    """It was refused, because its tree of CASE has more letters than Spark's driver can plan."""
    held = spark.held(rows("Asia/Hebron"))
    held.refuse_long(outermost(bound(parse(IN_HEBRON), table("UTC"))))
    found = cells(held, "UTC", IN_HEBRON)
    assert len(found) > 20
    assert found == cells(in_memory(rows("Asia/Hebron")), "UTC", IN_HEBRON)


@pytest.mark.parametrize("name", ["Asia/Gaza", "Asia/Hebron", "America/New_York"])
def test_no_zone_takes_many_letters_on_spark(name: str) -> None:
    assert len(zones.local(SparkDialect(), "`at`", name)) < 1_000
    assert len(zones.local(DUCKDB, '"at"', name)) > 7_000


def test_the_zone_of_the_type_does_not_matter() -> None:
    found = rows("Europe/Paris")
    other = found.set_column(0, "at", found["at"].cast(pa.timestamp("us", "America/New_York")))
    assert cells(in_memory(other), "Europe/Paris", MONTHS) == expected("Europe/Paris")


def test_a_wrong_offset_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zones, "local", lambda _, x, __: f"({x}) + INTERVAL 1 HOUR")
    assert cells(in_memory(rows("Europe/Paris")), "Europe/Paris", MONTHS) != expected("Europe/Paris")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parquet_files_with_times_of_every_unit(tmp_path: Any, unit: str) -> None:
    moments = [datetime(2024, 6, 30, 22, 30), datetime(2024, 12, 31, 23, 30)]  # noqa: DTZ001
    made = pa.table({"at": pa.array(moments, pa.timestamp(unit)).cast(pa.int64()).cast(pa.timestamp(unit, "UTC"))})
    pq.write_table(made, tmp_path / "v.parquet")
    backend = open_source(tmp_path / "v.parquet", types={})
    assert backend.kinds() == {"at": Kind.ZONED}
    assert backend.schema().field("at").type == pa.timestamp("us")
    assert cells(backend, "Europe/Paris", MONTHS) == {(2024, 7): 1, (2025, 1): 1}


def test_a_database_of_duckdb(tmp_path: Any) -> None:
    with duckdb.connect(tmp_path / "v.duckdb") as made:
        made.execute("CREATE TABLE v AS SELECT TIMESTAMPTZ '2024-06-30 22:30:00+00' AS at")
        made.execute("INSERT INTO v VALUES ('infinity'), ('-infinity'), (NULL)")
    from sitr.backends.opening import open_source as opened

    backend = opened(tmp_path / "v.duckdb", types={}, table="v")
    backend.verify()
    assert cells(backend, "Europe/Paris", MONTHS) == {(2024, 7): 1, (None, None): 3}


def test_infinite_moments_of_postgres_are_missing() -> None:
    postgres.connection().execute("DROP TABLE IF EXISTS endless")
    postgres.connection().execute("CREATE TABLE endless (at timestamptz)")
    postgres.connection().execute("INSERT INTO endless VALUES ('infinity'), ('-infinity'), ('2024-06-30 22:30+00')")
    backend = open_table(located(postgres.server().url(), "endless"))
    backend.verify()
    assert cells(backend, "Europe/Paris", MONTHS) == {(2024, 7): 1, (None, None): 2}


def test_csv_files_with_offsets(tmp_path: Any) -> None:
    texts = ["2024-07-01T00:30:00+02:00", "2024-06-30 22:30:00Z", "2024-06-30 16:30-0600", "2024-06-30 23:00", "x"]
    (tmp_path / "v.csv").write_text("at\n" + "\n".join(texts) + "\n")
    backend = open_source(tmp_path / "v.csv", types={"at": Kind.ZONED})
    assert cells(backend, "Europe/Paris", MONTHS) == {(2024, 7): 3, (None, None): 2}
    assert cells(backend, "UTC", MONTHS) == {(2024, 6): 3, (None, None): 2}


@pytest.mark.parametrize(
    "wrong", ["+99:99", "+16:00", "+15:60", " Europe/Paris +02:00", "+01:00+02:00", "+01 -02", "ZZ"]
)
def test_times_in_csv_files_have_one_offset_of_some_zone(tmp_path: Path, wrong: str) -> None:
    """The name or the first of two offsets was ignored, and a row could be days away from its time."""
    texts = ["2024-06-30 22:30:00" + end for end in (wrong, "+15:59", "-15:59", "Z", " +02")]
    (tmp_path / "v.csv").write_text(
        "at\n" + "\n".join(texts) + "\n2024-06-30T22:30:00.25+0200\n2024/6/30+02\n2024-06-05\n"
    )
    days = "SELECT EXTRACT(day FROM at) AS d, EXTRACT(hour FROM at) AS h, COUNT(*) AS n FROM v GROUP BY d, h"
    found = cells(open_source(tmp_path / "v.csv", types={"at": Kind.ZONED}), "UTC", days)
    assert found == {(30, 6): 1, (1, 14): 1, (30, 22): 1, (30, 20): 2, (29, 22): 1, (None, None): 2}


OTHER_FORMAT = "id,at\n1,01.07.2024 00:30 +0200\n2,30.06.2024 22:30 +0000\n3,30.06.2024 22:30\n4,2024-06-30 22:30+00\n"


def test_csv_files_with_offsets_in_another_format(tmp_path: Path) -> None:
    """The declared format was left out silently, so that every time was missing."""
    (tmp_path / "v.csv").write_text(OTHER_FORMAT)
    backend = open_source(
        tmp_path / "v.csv", types={"at": Kind.ZONED}, written={"timestamp_format": "%d.%m.%Y %H:%M %z"}
    )
    assert cells(backend, "Europe/Paris", MONTHS) == {(2024, 7): 2, (None, None): 2}
    with pytest.raises(DescriptionError, match=r"no offset from UTC.*Write it with %z"):
        open_source(tmp_path / "v.csv", types={"at": Kind.ZONED}, written={"timestamp_format": "%d.%m.%Y %H:%M"})


def test_no_format_reads_an_offset_that_no_zone_has(tmp_path: Path) -> None:
    """DuckDB reads +99:99, four days away."""
    ends = ["+99:99", "-99", "+1600", "+00:60", "+25", "+1559", "-02:00", "+02"]
    (tmp_path / "v.csv").write_text("at\n" + "".join(f"2024-06-15 12:00 {end}\n" for end in ends))
    written: DeclaredFormat = {"timestamp_format": "%Y-%m-%d %H:%M %z"}
    backend = open_source(tmp_path / "v.csv", types={"at": Kind.ZONED}, written=written)
    days = "SELECT EXTRACT(day FROM at) AS d, EXTRACT(hour FROM at) AS h, COUNT(*) AS n FROM v GROUP BY d, h"
    assert cells(backend, "UTC", days) == {(14, 20): 1, (15, 14): 1, (15, 10): 1, (None, None): 5}


ELSEWHERE = """
import duckdb, sys
from pathlib import Path
from sitr.backends.duckdb import open_source
from sitr.backends.engine import connection
from sitr.dataset.schema import Kind
print(duckdb.connect().execute("SELECT TIMESTAMPTZ '2024-06-30 22:30+00' :: TIMESTAMP").fetchall())
written = {"timestamp_format": "%d.%m.%Y %H:%M %z"}
source = open_source(Path(sys.argv[1]), types={"at": Kind.TIMESTAMP}, written=written).source
with connection(source.tables()) as engine:
    print(engine.execute(f"SELECT DISTINCT v.at FROM {source.relation} AS v WHERE id < 3").fetchall())
"""


def test_the_time_zone_of_the_machine_does_not_matter(tmp_path: Path) -> None:
    """It decided in which month a row of such a file was, and each month has a budget of its own. DuckDB itself reads
    the time in the zone of the machine."""
    (tmp_path / "v.csv").write_text(OTHER_FORMAT)
    command, found = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "v.csv")], []
    for name in ("UTC", "Asia/Tokyo"):
        done = subprocess.run(command, env=os.environ | {"TZ": name}, capture_output=True, text=True, check=True)
        found.append(done.stdout.splitlines())
    (plain, ours), (plain_there, ours_there) = found
    assert plain != plain_there
    assert ours == ours_there == "[(datetime.datetime(2024, 6, 30, 22, 30),)]"


def test_descriptions_of_older_versions_still_fit() -> None:
    found = {"at": Kind.ZONED, "n": Kind.INTEGER}
    assert changed(found, {"at": Kind.OTHER, "n": Kind.INTEGER}) == []
    assert changed(found, {"at": Kind.TIMESTAMP, "n": Kind.INTEGER}) == ["at"]
    assert changed(found, {"at": Kind.TEXT, "n": Kind.REAL}) == ["at", "n"]
    assert changed({"at": Kind.TIMESTAMP}, {"at": Kind.ZONED}) == ["at"]


def test_the_settings_of_a_server_do_not_matter() -> None:
    found = rows("Europe/Paris")
    postgres.load(found, "zoned_rows")
    with psycopg.connect(postgres.server().url(), autocommit=True) as made:
        made.execute("ALTER ROLE postgres SET TimeZone = 'Asia/Tokyo'")
    try:
        backend = open_table(located(postgres.server().url(), "zoned_rows"))
        assert cells(backend, "Europe/Paris", MONTHS) == expected("Europe/Paris")
    finally:
        postgres.connection().execute("ALTER ROLE postgres RESET TimeZone")


def test_another_protected_table_keeps_its_zone() -> None:
    own = in_zones(in_memory(rows("UTC")), table("Europe/Paris"))
    assert isinstance(own, DuckDB)
    assert replace(own, beside={"w": own}).beside["w"].zones == {"at": "Europe/Paris"}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_of_every_precision_are_read_in_memory(unit: str) -> None:
    """DuckDB has a type of its own for nanoseconds with a zone, and casts it to no time."""
    at = pa.array(["2024-06-30 22:30:00", "2024-06-30 21:30:00", None]).cast(pa.timestamp(unit))
    backend = in_memory(pa.table({"at": at.cast(pa.timestamp(unit, "UTC"))}))
    assert backend.kinds()["at"] is Kind.ZONED
    assert cells(backend, "Europe/Paris", MONTHS) == {(2024, 7): 1, (2024, 6): 1, (None, None): 1}
    assert cells(backend, "UTC", MONTHS) == {(2024, 6): 2, (None, None): 1}
