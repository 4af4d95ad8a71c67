"""One question about a Parquet file, by one library on Spark or beside it: how long it takes. See `benchmarks.spark`.

Each library runs with an interpreter of its own, so that only what that library needs is imported. All have one driver
with two threads, and the session is started before the clock.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

GROUPS, EACH, KEYS, HIGH = 5, 10, 200, 100
"""The caps, the public keys 0 to 199 and the upper bound of the values."""
RHO, EPSILON, DELTA = 0.1, 1.0, 1e-6

Release = Callable[[], int]
"""Draws one answer, and returns its number of groups."""


def session(memory: str = "4g") -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.default.parallelism": "8",
        "spark.driver.memory": memory,
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    made.range(1000).selectExpr("id % 10 AS k").groupBy("k").count().collect()  # the first job loads classes
    return made


def sitr_on_spark(path: Path, what: str) -> Release:
    return _sitr(session().read.parquet(str(path)), what)


def sitr_on_duckdb(path: Path, what: str) -> Release:
    return _sitr(path, what)


def _sitr(source: Any, what: str) -> Release:
    from sitr.neighbors.relation import Relation
    from sitr.neighbors.unit import Person
    from sitr.session.dataset import look

    folder = TemporaryDirectory(prefix="sitr-benchmark-")
    found = look(source)
    object.__setattr__(found.backend, "verify", lambda: None)  # other libraries do not read the file twice either
    budget = found.protect(
        unit=Person("person"),
        max_groups=GROUPS,
        max_rows_per_group=EACH,
        bounds={"x": (0, HIGH)},
        granularity={},
        keys={"grp": list(range(KEYS))},
        relation=Relation.ADD_REMOVE,
        name="t",
        public={},
    ).budget(rho=1000, ledger=Path(folder.name) / "ledger.db", keep=False)
    terms = {"count": "COUNT(*) AS n", "sum": "SUM(x) AS s", "both": "COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a"}[what]
    asked = budget.sql(f"SELECT grp, {terms} FROM t GROUP BY grp", bias="off")

    def release() -> int:
        assert folder
        return len(asked.release(rho=RHO))

    return release


def tumult(path: Path, what: str) -> Release:
    from tmlt.analytics import (
        AddRowsWithID,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        QueryBuilder,
        RhoZCDPBudget,
        Session,
    )

    made = Session.from_dataframe(
        RhoZCDPBudget(1000), "t", session().read.parquet(str(path)), protected_change=AddRowsWithID("person")
    )
    query: Any = QueryBuilder("t").enforce(MaxGroupsPerID("grp", GROUPS)).enforce(MaxRowsPerGroupPerID("grp", EACH))
    query = query.groupby(KeySet.from_dict({"grp": list(range(KEYS))}))
    query = query.count() if what == "count" else query.sum("x", 0, HIGH)
    return lambda: len(made.evaluate(query, RhoZCDPBudget(RHO)).collect())


def pipeline_dp(path: Path, what: str) -> Release:
    import pipeline_dp as library

    spark = session()

    def release() -> int:
        accountant = library.NaiveBudgetAccountant(EPSILON, DELTA)
        engine = library.DPEngine(accountant, library.SparkRDDBackend(spark.sparkContext))
        metric = library.Metrics.COUNT if what == "count" else library.Metrics.SUM
        found = engine.aggregate(
            spark.read.parquet(str(path)).rdd,
            library.AggregateParams(
                metrics=[metric],
                noise_kind=library.NoiseKind.LAPLACE,
                max_partitions_contributed=GROUPS,
                max_contributions_per_partition=EACH,
                min_value=0,
                max_value=HIGH,
            ),
            library.DataExtractors(
                privacy_id_extractor=lambda row: row.person,
                partition_extractor=lambda row: row.grp,
                value_extractor=lambda row: row.x,
            ),
            public_partitions=list(range(KEYS)),
        )
        accountant.compute_budgets()
        return len(found.collect())

    return release


SUBJECTS = {"sitr": sitr_on_spark, "duckdb": sitr_on_duckdb, "tumult": tumult, "pipeline_dp": pipeline_dp}


def processor_seconds() -> float:
    """The CPU time of this process and of all that it started, Java and Python workers included."""
    parents, spent = {}, {}
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, NotADirectoryError):
            continue
        if folder.name.isdigit():
            parents[int(folder.name)] = int(words[1])
            spent[int(folder.name)] = sum(map(int, words[11:15]))  # with children that have ended
    own, more = {os.getpid()}, {0}
    while more:
        more = {each for each, parent in parents.items() if parent in own} - own
        own |= more
    return sum(spent[each] for each in own) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    name, path, what, repeat = sys.argv[1:]
    release = SUBJECTS[name](Path(path), what)
    seconds, cpu = [], []
    for _ in range(int(repeat)):
        start, before = time.perf_counter(), processor_seconds()
        groups = release()
        seconds.append(time.perf_counter() - start)
        cpu.append(processor_seconds() - before)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "groups": groups}), flush=True)  # noqa: T201
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
