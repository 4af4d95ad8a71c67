"""OpenDP, with its Polars frames: rows are truncated by person, and counted or summed with noise.

Groups are not truncated: `truncate_num_groups` of version 0.16 keeps one group less than it is told to. Instead, the
caps are stated as facts, which they are in the tables that are asked by group. The noise fitted to them is the same.

A mean is the quotient of a noisy sum and a noisy count of one query, as its documentation makes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import opendp.prelude as dp
import polars as pl

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


def _columns(case: Case) -> list[Any]:
    values: Any = pl.col("x")
    x = values.fill_null(LOW)
    if case.level is not None:
        return [x.cast(pl.Float64).dp.quantile(case.level, candidates=[float(n) for n in range(LOW, HIGH + 1)])]
    match case.aggregate:
        case "COUNT" | "PEOPLE" | "HISTOGRAM":
            return [dp.len(signed=True)]
        case "SUM":
            return [x.dp.sum((LOW, HIGH))]
        case "AVG":
            return [x.dp.sum((LOW, HIGH)).alias("sum"), dp.len(signed=True).alias("len")]
        case "DISTINCT":
            return [values.dp.n_unique(signed=True)]
    raise CannotAsk("no such aggregate")


def prepare(path: Path, data: Data, case: Case) -> Release:
    if case.price == ZERO_CONCENTRATED:
        loss = dp.loss_of(rho=RHO)
    elif case.price == APPROXIMATE:
        loss = dp.loss_of(epsilon=EPSILON, delta=DELTA)
    else:
        loss = dp.loss_of(epsilon=EPSILON)
    frame, histogram = pl.read_csv(path).lazy(), case.aggregate == "HISTOGRAM"
    by = "cell" if histogram else "grp"
    margins = [dp.polars.Margin(max_length=20_000, max_groups=1)]
    if case.by != SCALAR or histogram:
        margins.append(dp.polars.Margin(by=[by], max_length=20_000, max_groups=100))
    if histogram:
        cells = (pl.col("x") // (EDGES[1] - EDGES[0])).clip(0, len(EDGES) - 2)
        frame = frame.with_columns(cells.alias("cell"))
    people = case.aggregate == "PEOPLE"
    columns = _columns(case)
    shown = range(len(EDGES) - 1) if histogram else data.keys
    unit = dp.unit_of(contributions=1, identifier="person")
    if case.by != SCALAR:
        rows = 1 if people else ROWS // GROUPS
        frame = frame.unique(["person", "grp"]) if people else frame
        caps = [dp.polars.Bound(by=["grp"], per_group=rows), dp.polars.Bound(by=["grp"], num_groups=GROUPS)]
        unit = dp.unit_of(contributions=caps)
    context = dp.Context.compositor(
        data=frame, privacy_unit=unit, privacy_loss=loss, split_evenly_over=1, margins=margins
    )
    query: Any = context.query()
    if case.by == SCALAR:
        query = query.truncate_per_group(1 if people else ROWS)
    grouped = case.by != SCALAR or histogram
    query = query.group_by(by).agg(*columns) if grouped else query.select(*columns)
    if grouped and case.by != UNKNOWN:
        query = query.with_keys(pl.LazyFrame({by: list(shown)}))
    measurement = query.resolve()  # calibrated once, which takes seconds

    def release() -> Sequence[float]:
        found = measurement(frame).collect()
        numbers = found.drop(by) if grouped else found
        values = [row[0] if len(row) == 1 else _quotient(*row) for row in numbers.rows()]
        if not grouped:
            return values
        named = dict(zip(found[by].to_list(), values, strict=True))
        return [named.get(key, math.nan) for key in shown]

    return release


def _quotient(total: float, rows: float) -> float:
    return min(HIGH, max(LOW, total / max(1, rows)))


if __name__ == "__main__":
    dp.enable_features("contrib", "honest-but-curious")
    serve(prepare)
