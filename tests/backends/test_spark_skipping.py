"""Spark leaves out no part of a file because of the values in it, as in `test_skipping`.

Spark says which conditions a scan takes to the files, and how many rows it read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sitr.backends import spark as on_spark
from sitr.backends import spark_packed
from sitr.backends.reading import tree
from sitr.backends.spark_dialect import SparkDialect
from sitr.backends.spark_engine import asked as asked_of_spark
from sitr.backends.statement import statement, writer
from tests import spark
from tests.backends.test_skipping import EACH, PEOPLE, WHERE, asked, written

VIEW = "skipping_rows"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One Parquet file, and the same rows in folders by day."""
    folder = tmp_path_factory.mktemp("skipping")
    (folder / "one").mkdir()
    rows = pq.read_table(written(folder / "one" / "visits.parquet"))
    pq.write_to_dataset(rows, folder / "days", partition_cols=["day"])
    return folder / "one", folder / "days"


def frames(folder: Path, where: str, one: Path) -> dict[str, Any]:
    """What the statement reads, and what is given to packed rows."""
    session = spark.session()
    read = session.read.parquet(str(folder))
    read.createOrReplaceTempView(VIEW)
    what, say, other = tree(asked(one / "visits.parquet", where)), SparkDialect(), SparkDialect()
    source, types = on_spark.relation(VIEW, read, say, {})
    found = {
        "statement": asked_of_spark(session, statement(what, dialect=say, source=source, types=types, salt=1), say)
    }
    own = writer(what, dialect=other, source=source, types=types, salt=1)
    packing = spark_packed.packing(what, own.types)
    assert packing is not None
    return found | {"packed": asked_of_spark(session, spark_packed.scan(packing, own), other)}


def taken(frame: Any) -> set[str]:
    """The conditions that scans take to the files or to their folders."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "FileScan" in plan
    return set(re.findall(r"(?:PushedFilters|PartitionFilters): \[[^\]]+\]", plan))


def scanned(frame: Any) -> int:
    """The rows that the scans of a plan gave."""
    frame.toArrow()

    def under(node: Any) -> int:
        children, name = node.children(), node.nodeName()
        if name.startswith("AdaptiveSparkPlan"):
            return under(node.executedPlan())
        if "QueryStage" in name:
            return under(node.plan())
        own = int(node.metrics().get("numOutputRows").get().value()) if name.startswith("Scan parquet") else 0
        return own + sum(under(children.apply(place)) for place in range(children.size()))

    return under(frame._jdf.queryExecution().executedPlan())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("partitioned", [False, True])
def test_no_condition_is_taken_to_the_files(folders: tuple[Path, Path], where: str, partitioned: bool) -> None:
    for frame in frames(folders[partitioned], where, folders[0]).values():
        assert taken(frame) == set()


SELECTIVE = "id > 19990 AND id < 7"


def test_every_row_is_read_and_with_statistics_the_difference_is_seen(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody satisfies the condition. The broken twin is Spark as it comes."""
    made = frames(folders[0], SELECTIVE, folders[0])
    assert scanned(made["packed"]) == PEOPLE * EACH
    monkeypatch.setattr(on_spark, "EVERY_ROW", "")
    twin = frames(folders[0], SELECTIVE, folders[0])
    assert scanned(twin["packed"]) < PEOPLE * EACH
    assert all(map(taken, twin.values()))


def test_a_sample_of_all_rows_has_all_rows() -> None:
    """Spark keeps a row if a number in [0, 1) is below 1: none of a million rows is missing."""
    session = spark.session()
    for rows in (0, 1_000_000):
        session.range(rows).createOrReplaceTempView(VIEW)
        sql = f"SELECT count(*) AS n, coalesce(sum(id), 0) AS s FROM {VIEW} {on_spark.EVERY_ROW}"
        assert session.sql(sql).toArrow().to_pylist() == [{"n": rows, "s": rows * (rows - 1) // 2}]
