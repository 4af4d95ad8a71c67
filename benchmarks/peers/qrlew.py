"""Qrlew (pyqrlew), whose rewritten SQL runs in DuckDB. It has Gaussian noise and approximate prices only.

It takes the exact number of rows for public and clamps counts to it; here it is told a round number above. And it pays
for each noisy column of a question as if it were alone: two columns at (1, 10⁻⁶) have ε = 1.138 at this δ together, and
three have 1.418. With ε/√k, the noises of k columns together are as private as one column at ε.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pandas as pd
import pyqrlew
import sqlalchemy

from benchmarks.peers.serve import CannotAsk, Release, serve
from benchmarks.query_cases import (
    APPROXIMATE,
    DELTA,
    EDGES,
    EPSILON,
    HIGH,
    LOW,
    ROWS,
    SCALAR,
    UNKNOWN,
    Case,
    Data,
)

SPELLED = {
    "COUNT": "COUNT(*)",
    "HISTOGRAM": "COUNT(*)",
    "SUM": "SUM(x)",
    "AVG": "AVG(x)",
    "VARIANCE": "VARIANCE(x)",
    "STDDEV": "STDDEV(x)",
}
NAMED = {
    "@type": "sarus_data_spec/sarus_data_spec.Dataset",
    "uuid": "0" * 32,
    "name": "d",
    "spec": {"transformed": {"transform": "0" * 32, "arguments": [], "named_arguments": {}}},
    "properties": {},
    "doc": "",
}
SIZE = 20_000
"""A public upper bound on the number of rows."""


def prepare(path: Path, data: Data, case: Case) -> Release:
    if case.price != APPROXIMATE:
        raise CannotAsk("only approximate prices")
    if case.aggregate in ("PEOPLE", "DISTINCT"):
        raise CannotAsk("answers COUNT(DISTINCT …) with the number of rows")
    if case.aggregate not in SPELLED:
        raise CannotAsk("no such aggregate")
    frame = pd.read_csv(path)
    cells = (frame["x"] // (EDGES[1] - EDGES[0])).clip(0, len(EDGES) - 2)
    frame["cell"] = "c" + cells.astype(str)
    histogram = case.aggregate == "HISTOGRAM"
    by, shown = ("cell", [f"c{cell}" for cell in range(len(EDGES) - 1)]) if histogram else ("grp", data.keys)
    grouped = case.by != SCALAR or histogram
    database = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.StaticPool)
    frame.to_sql("t", database, index=False)
    found = pyqrlew.Dataset.from_database(name="d", engine=database, schema_name=None, ranges=False)
    size = found.size.replace(f'"{len(frame)}"', f'"{SIZE}"')
    known = pyqrlew.Dataset.from_str(json.dumps(NAMED), found.schema, size)
    known = known.with_range(None, "t", "x", LOW, HIGH)
    if case.by != UNKNOWN and grouped:
        known = known.with_possible_values(None, "t", by, shown)
    key, group = (f"{by}, ", f" GROUP BY {by}") if grouped else ("", "")
    relation = pyqrlew.Relation.from_query(f"SELECT {key}{SPELLED[case.aggregate]} AS answer FROM t{group}", known)

    def rewritten(epsilon: float) -> tuple[str, int]:
        private = relation.rewrite_with_differential_privacy(
            dataset=known,
            privacy_unit=[("t", [], "person")],
            epsilon_delta={"epsilon": epsilon, "delta": DELTA},
            max_multiplicity=float(ROWS),
            max_multiplicity_share=1.0,
        )
        return private.relation().to_query(), str(private.dp_event()).count("noise_multiplier")

    _, columns = rewritten(EPSILON)
    text, _ = rewritten(EPSILON / math.sqrt(columns))
    engine = duckdb.connect()
    engine.execute("SET threads = 1")
    engine.register("frame", frame)
    engine.execute("CREATE TABLE t AS SELECT * FROM frame")

    def release() -> Sequence[float]:
        rows = engine.execute(text).fetchall()
        if not grouped:
            return [float(rows[0][0])]
        named = {row[0]: float(row[1]) for row in rows if row[1] is not None}
        return [named.get(one, math.nan) for one in shown]

    return release


if __name__ == "__main__":
    serve(prepare)
