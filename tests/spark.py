"""One Spark for the tests of a process: a driver and two executors, each a process of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.spark import Spark, SparkFrame, sent
from sitr.backends.spark_dialect import SparkDialect
from sitr.backends.spark_engine import _asked, started

MASTER = os.environ.get("SITR_TEST_SPARK", "local-cluster[2,1,1024]")


@cache
def session() -> Any:
    """The session; the tests that need it are skipped where PySpark or Java is missing."""
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'sitr[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed (on Debian: default-jre-headless)")
    folder = Path(tempfile.mkdtemp(prefix="sitr-spark-"))
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        # Else the optimiser computes small tables itself, in another way than the executors.
        "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
    }
    written = folder / "spark-defaults.conf"
    written.write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    os.environ["SPARK_CONF_DIR"] = str(folder)
    return started(MASTER)


def held(rows: pa.Table) -> Spark:
    """A backend with these rows."""
    return Spark(SparkFrame(sent(session(), rows)))


def run(dialect: SparkDialect, rows: pa.Table, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a statement over `t`."""
    sent(session(), rows).createOrReplaceTempView("t")
    found = _asked(session(), sql, dialect).toArrow()
    columns = [
        [int(each) if pa.types.is_decimal(column.type) and each is not None else each for each in column.to_pylist()]
        for column in found.columns
    ]
    return list(zip(*columns, strict=True))
