"""Tumult Analytics, on one local Spark worker. A query takes seconds, so that few answers are drawn."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)

from benchmarks.peers.serve import CannotAsk, Release, serve
from benchmarks.query_cases import (
    APPROXIMATE,
    DELTA,
    EDGES,
    EPSILON,
    GROUPS,
    HIGH,
    LOW,
    RHO,
    ROWS,
    SCALAR,
    UNKNOWN,
    ZERO_CONCENTRATED,
    Case,
    Data,
)


def _spark() -> Any:
    settings = {"spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1", "spark.ui.enabled": "false"}
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _asked(query: Any, case: Case) -> Any:
    if case.level is not None:
        return query.quantile("x", case.level, LOW, HIGH)
    match case.aggregate:
        case "COUNT" | "HISTOGRAM":
            return query.count()
        case "PEOPLE":
            return query.count_distinct(["person"])
        case "SUM":
            return query.sum("x", LOW, HIGH)
        case "AVG":
            return query.average("x", LOW, HIGH)
        case "VARIANCE":
            return query.variance("x", LOW, HIGH)
        case "STDDEV":
            return query.stdev("x", LOW, HIGH)
        case "DISTINCT":
            return query.count_distinct(["x"])
    raise CannotAsk("no such aggregate")


def prepare(path: Path, data: Data, case: Case) -> Release:
    if case.by == UNKNOWN:
        raise CannotAsk("keys that are not public are a question of their own")
    spark = _spark()
    rows = spark.read.csv(str(path), header=True, inferSchema=True)
    rows = rows.selectExpr("*", f"least({len(EDGES) - 2}, floor(x / {EDGES[1] - EDGES[0]})) AS cell")
    budget: Any = PureDPBudget(EPSILON)
    if case.price == APPROXIMATE:
        budget = ApproxDPBudget(EPSILON, DELTA)
    if case.price == ZERO_CONCENTRATED:
        budget = RhoZCDPBudget(RHO)
    without_end: Any = RhoZCDPBudget(math.inf) if case.price == ZERO_CONCENTRATED else ApproxDPBudget(math.inf, 1)
    session = Session.from_dataframe(
        without_end if case.price != "pure" else PureDPBudget(math.inf),
        "t",
        rows,
        protected_change=AddRowsWithID("person"),
    )
    query: Any = QueryBuilder("t")
    histogram = case.aggregate == "HISTOGRAM"
    by, keys = ("cell", list(range(len(EDGES) - 1))) if histogram else ("grp", data.keys)
    if case.by == SCALAR:
        query = query.enforce(MaxRowsPerID(ROWS))
    else:
        query = query.enforce(MaxGroupsPerID("grp", GROUPS)).enforce(MaxRowsPerGroupPerID("grp", ROWS // GROUPS))
    grouped = case.by != SCALAR or histogram
    if grouped:
        query = query.groupby(KeySet.from_dict({by: keys}))
    query = _asked(query, case)

    def release() -> Sequence[float]:
        found = session.evaluate(query, budget).collect()
        if not grouped:
            return [found[0][0]]
        named = {row[by]: row[1] for row in found}
        return [float(named[key]) for key in keys]

    return release


if __name__ == "__main__":
    serve(prepare)
