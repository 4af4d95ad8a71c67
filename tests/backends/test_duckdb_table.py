"""Tables in a database of DuckDB: what is read, what is refused, and who has a budget."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pytest

import sitr
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.duckdb_table import DuckDBTable
from sitr.backends.engine import connection
from sitr.backends.reading import tree
from sitr.backends.statement import statement
from sitr.dataset.file_table import FileTable
from sitr.errors import DescriptionError, LedgerMismatch, SourceError
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.sql import parse

PEOPLE, EACH = 6_000, 40
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def filled(path: Path, *, without: int = -1) -> Path:
    """People in order, so that most row groups lack any one id, with an index on it."""
    with duckdb.connect(path) as engine:
        engine.execute(
            f"CREATE TABLE visits AS SELECT i // {EACH} AS id, ['a', 'b'][1 + i % 2] AS ward, i % 50 AS cost "
            f"FROM range({PEOPLE * EACH}) t(i) WHERE i // {EACH} <> {without}"
        )
        engine.execute("CREATE INDEX quick ON visits (id)")
        engine.execute("CREATE TABLE wards AS SELECT * FROM (VALUES ('a', 1), ('b', 2)) t(ward, floor)")
        engine.execute("CREATE TABLE patients AS SELECT i AS id, i % 90 AS age FROM range(100) t(i)")
    return path


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("clinic") / "hospital.duckdb")


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))


def protected(path: Path, **more: Any) -> Any:
    usual: dict[str, Any] = {
        "table": "visits", "unit": "id", "max_groups": 2, "max_rows_per_group": EACH, "bounds": {"cost": (0, 50)},
        "keys": {"ward": ["a", "b"]},
    }  # fmt: skip
    return sitr.protect(path, **{**usual, **more})


def test_a_described_table_is_asked_with_a_public_and_another_protected_one(hospital: Path, tmp_path: Path) -> None:
    data = protected(hospital, keys={"ward": "wards.ward"}, public={"wards": "wards"})
    place = data.save(tmp_path / "visits.sitr.yaml", rho=1e6, ledger=tmp_path / "sitr.db")
    budget = sitr.open(place).budget()
    assert budget.sql(SQL).release(rho=1e4).table["n"].to_pylist() == pytest.approx([PEOPLE * EACH / 2] * 2, abs=5)
    by_floor = budget.sql("SELECT floor, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY floor")
    assert by_floor.release(rho=1e4).table["floor"].to_pylist() == [1, 2]
    other = protected(hospital, table="patients", bounds={"age": (0, 90)}, keys={}, max_groups=1, max_rows_per_group=1)
    both = budget.beside(other.budget(rho=1e6, ledger=tmp_path / "sitr.db"))
    joined = both.sql("SELECT COUNT(*) AS n FROM visits JOIN patients USING (id)", max_rows=EACH).release(rho=1e4)
    assert joined.table["n"].to_pylist() == pytest.approx([100 * EACH], abs=100)


def test_the_budget_belongs_to_the_table_however_it_is_named(hospital: Path, tmp_path: Path) -> None:
    protected(hospital).budget(rho=1, ledger=tmp_path / "sitr.db")
    (link := tmp_path / "link.duckdb").symlink_to(hospital)
    for table in ("VISITS", 'main."Visits"'):
        with pytest.raises(LedgerMismatch, match="already have a budget: visits in"):
            protected(link, table=table, name="others").budget(rho=1, ledger=tmp_path / "other.db")
    patients = protected(hospital, table="patients", bounds={}, keys={})
    assert patients.budget(rho=1, ledger=tmp_path / "other.db").remaining() == sitr.ZeroConcentratedDP(1)


def test_a_description_beside_the_file_fixes_the_budget_of_its_table_alone(tmp_path: Path) -> None:
    path = filled(tmp_path / "hospital.duckdb")
    protected(path).save(tmp_path / "visits.sitr.yaml", rho=1, ledger=tmp_path / "sitr.db")
    with pytest.raises(DescriptionError, match=r"the budget that .*visits\.sitr\.yaml names"):
        protected(path, table="Visits", name="again").budget(rho=2, ledger=tmp_path / "new.db")
    assert protected(path, table="patients", bounds={}, keys={}).budget(rho=2, ledger=tmp_path / "new.db")


def test_the_protected_table_cannot_be_public(hospital: Path) -> None:
    with pytest.raises(DescriptionError, match="is a protected file"):
        protected(hospital, public={"copy": 'main."VISITS"'})


@pytest.mark.parametrize(
    ("made", "table", "message"),
    [
        ("CREATE VIEW v AS SELECT * FROM visits", "v", "v in .* is a view, and a view can compute anything"),
        ("CREATE TABLE g (x INTEGER, y AS (x + 1))", "g", "The column 'y' of g is computed whenever it is read"),
        ("CREATE TABLE k (n VARCHAR COLLATE NOCASE)", "k", "k has a collation"),
        ("CREATE TABLE t (x INTEGER)", "missing", "has no table 'missing'. It has these: patients, t, visits, wards"),
    ],
)
def test_what_is_no_plain_table_is_refused(tmp_path: Path, made: str, table: str, message: str) -> None:
    path = filled(tmp_path / "hospital.duckdb")
    with duckdb.connect(path) as engine:
        engine.execute(made)
    with pytest.raises(SourceError, match=message):
        sitr.protect(path, table=table, unit=sitr.Row())


def test_names_and_values_that_only_look_like_a_collation_are_read(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "odd's.duckdb") as engine:
        engine.execute("""CREATE SCHEMA "My ""own"; CREATE TABLE "My ""own"."collate" ("COLLATE" INT DEFAULT 3)""")
    data = sitr.protect(tmp_path / "odd's.duckdb", table='"My ""own"."collate"', unit=sitr.Row())
    assert [column.name for column in data.table.columns] == ["COLLATE"]
    assert data.table.name == "collate"


def test_a_table_that_became_a_view_is_refused_before_the_charge(tmp_path: Path) -> None:
    path = filled(tmp_path / "hospital.duckdb")
    budget = protected(path).budget(rho=1, ledger=tmp_path / "sitr.db")
    with duckdb.connect(path) as engine:
        engine.execute(
            "CREATE TABLE others AS FROM visits; DROP TABLE visits CASCADE; CREATE VIEW visits AS FROM others"
        )
    with pytest.raises(SourceError, match="is a view"):
        budget.sql(SQL).release(rho=0.5)
    assert budget.remaining() == sitr.ZeroConcentratedDP(1)


def test_a_database_that_another_program_writes_is_refused_before_the_charge(tmp_path: Path) -> None:
    path = filled(tmp_path / "hospital.duckdb")
    budget = protected(path).budget(rho=1, ledger=tmp_path / "sitr.db")
    with duckdb.connect(path), pytest.raises(SourceError, match="another program has it open for writing"):
        budget.sql(SQL).release(rho=0.5)
    assert budget.remaining() == sitr.ZeroConcentratedDP(1)
    assert budget.sql(SQL).release(rho=0.5).table.num_rows == 2


def test_it_is_opened_to_read_only_and_closed_again(hospital: Path) -> None:
    source = DuckDBTable(FileTable(hospital, "visits"))
    with connection(source.tables()) as engine, pytest.raises(duckdb.Error, match="read-only"):
        engine.execute(f"DELETE FROM {source.relation}")
    source.types()
    with duckdb.connect(hospital) as writer:  # nothing of ours holds the file
        assert writer.execute("SELECT count(*) FROM visits").fetchall() == [(PEOPLE * EACH,)]


def test_threads_read_one_file_at_the_same_time(hospital: Path, tmp_path: Path) -> None:
    budget = protected(hospital).budget(rho=100, ledger=tmp_path / "sitr.db", keep=False)
    found: list[int] = []
    threads = [Thread(target=lambda: found.append(len(budget.sql(SQL).release(rho=1)))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [2] * 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"table": None}, "nothing says which one is protected"),
        ({"types": {"cost": "real"}}, "knows the types of its columns"),
        ({"table": "a.b.c"}, "Expected a table such as visits"),
    ],
)
def test_what_is_missing_or_too_much_is_said(hospital: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(sitr.SitrError, match=message):
        protected(hospital, **given)


def test_other_files_are_no_databases(tmp_path: Path) -> None:
    (fake := tmp_path / "fake.duckdb").write_text("patient 4711, HIV")
    with pytest.raises(SourceError, match="cannot be read as a DuckDB database") as failure:
        protected(fake)
    assert "4711" not in str(failure.value)
    with pytest.raises(SourceError, match="There is no file at"):
        protected(tmp_path / "missing.duckdb")


@pytest.mark.parametrize("where", ["id = 777", "id IN (777, 3)", "id BETWEEN 777 AND 777", "cost = 77"])
def test_every_row_is_read_whatever_the_condition(where: str, hospital: Path, tmp_path: Path) -> None:
    """Neither the index nor the least and largest values of a row group decide what is read."""
    gone = filled(tmp_path / "without.duckdb", without=777)
    rows = [scanned(path, where) for path in (hospital, gone)]
    times, rest = divmod(rows[0], PEOPLE * EACH)
    assert (times > 0, rest) == (True, 0)
    assert rows[1] == times * (PEOPLE - 1) * EACH


def test_with_an_index_the_difference_is_seen(hospital: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: DuckDB as it comes."""
    monkeypatch.setattr("sitr.backends.engine.NO_SKIPPING", ())
    assert scanned(hospital, "id = 777") < PEOPLE * EACH


def scanned(path: Path, where: str) -> int:
    source = DuckDBTable(FileTable(path, "visits"))
    query = bound(parse(f"{SQL.partition(' GROUP')[0]} WHERE {where} GROUP BY ward"), protected(path).table)
    sql = statement(tree(query), dialect=DUCKDB, source=source.relation, types=source.types(), salt=1)
    with connection(source.tables()) as engine:
        ((_, plan),) = engine.execute(f"EXPLAIN (ANALYZE, FORMAT json) {sql}").fetchall()
    return int(json.loads(plan)["query"]["total_rows_scanned"])
