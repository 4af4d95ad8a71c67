"""One Spark for the tests of a process: a driver and two executors, each a process of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sitr.backends.packed.scan import Decoded
from sitr.backends.spark import Spark, SparkFrame, sent
from sitr.backends.spark_dialect import SparkDialect, _text_of
from sitr.backends.spark_engine import asked, by_value, started
from sitr.backends.spark_packed import Packing
from sitr.backends.values import Granules

MASTER = os.environ.get("SITR_TEST_SPARK", "local-cluster[2,1,1024]")


@cache
def session() -> Any:
    """The session; the tests that need it are skipped where PySpark or Java is missing."""
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'sitr[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed (on Debian: default-jre-headless)")
    folder = Path(tempfile.mkdtemp(prefix="sitr-spark-"))
    brief = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # to optimise for long runs takes longer than all tests
    brief += " -Duser.timezone=Asia/Kolkata"  # the zone of a machine, which must not matter
    options = {
        "spark.driver.extraJavaOptions": brief,
        "spark.executor.extraJavaOptions": brief,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        # Else the optimiser computes small tables itself, in another way than the executors.
        "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
    }
    written = folder / "spark-defaults.conf"
    written.write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    os.environ["SPARK_CONF_DIR"] = str(folder)
    made = started(MASTER)
    assert made.sparkContext.master == MASTER  # and not a session that something else has started before
    return made


def held(rows: pa.Table) -> Spark:
    """A backend with these rows."""
    return Spark(SparkFrame(sent(session(), rows)))


def run(dialect: SparkDialect, rows: pa.Table, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a statement over `t`."""
    sent(session(), rows).createOrReplaceTempView("t")
    found = asked(session(), sql, dialect).toArrow()
    columns = [
        [int(each) if pa.types.is_decimal(column.type) and each is not None else each for each in column.to_pylist()]
        for column in found.columns
    ]
    return list(zip(*columns, strict=True))


@dataclass(frozen=True)
class PortableOrder:
    """The order of packed groups and rows that all engines can compute: see `PortableSparkDialect`."""

    salt: int
    keys: tuple[tuple[str | None, ...], ...]
    """The texts of the keys of each group."""
    values: tuple[tuple[int, int, int | None], ...]
    """The bits below each value, its own bits, and what a packed 0 would be; None for a flag."""

    def cells(self, people: Any, sizes: Any, codes: Any) -> Any:
        people = np.repeat(people, sizes)
        return np.array([self._hash([str(u), *self.keys[code]]) for u, code in zip(people, codes, strict=True)])

    def rows(self, people: Any, codes: Any, words: Any, twins: Any) -> Any:
        return np.array(
            [
                self._hash([str(u), *self.keys[code], *self._values(int(word)), str(twin + 1)])
                for u, code, word, twin in zip(people, codes, words, twins, strict=True)
            ],
            np.uint64,
        )

    def _values(self, word: int) -> list[str]:
        found = [(word >> below & ((1 << bits) - 1), lowest) for below, bits, lowest in self.values]
        return [str(int(own > 0) if lowest is None else own + lowest if own else 0) for own, lowest in found]

    def _hash(self, texts: list[str | None]) -> np.uint64:
        parts = "".join("n;" if text is None else f"{len(text)}:{text};" for text in texts)
        return np.uint64(int(hashlib.md5(f"{self.salt};{parts}".encode()).hexdigest()[:16], 16))


def portable_order(packing: Packing, salt: int) -> PortableOrder:
    """The portable order of packed rows."""
    by_value([sys.modules[__name__]])
    decoded = Decoded(packing.sizes, packing.tree.rows.keys)
    keys = tuple(tuple(None if key is None else _text_of(key) for key in decoded[at]) for at in range(len(decoded)))
    values = []
    for value, place in zip(packing.tree.rows.values, packing.places, strict=True):
        if place is not None:
            each = packing.components[place]
            lowest = each.lowest - value.centre if isinstance(value, Granules) else None
            values.append((each.shift, each.bits, lowest))
    return PortableOrder(salt, keys, tuple(values))
