"""PipelineDP on its local backend, with Laplace noise: with caps as small as these, its Gaussian noise is larger."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pipeline_dp

from benchmarks.peers.serve import CannotAsk, Release, serve
from benchmarks.query_cases import (
    APPROXIMATE,
    DELTA,
    EDGES,
    EPSILON,
    GROUPS,
    HIGH,
    LOW,
    ROWS,
    SCALAR,
    UNKNOWN,
    ZERO_CONCENTRATED,
    Case,
    Data,
)

METRICS = {
    "COUNT": (pipeline_dp.Metrics.COUNT, "count"),
    "HISTOGRAM": (pipeline_dp.Metrics.COUNT, "count"),
    "PEOPLE": (pipeline_dp.Metrics.PRIVACY_ID_COUNT, "privacy_id_count"),
    "SUM": (pipeline_dp.Metrics.SUM, "sum"),
    "AVG": (pipeline_dp.Metrics.MEAN, "mean"),
    "VARIANCE": (pipeline_dp.Metrics.VARIANCE, "variance"),
    "STDDEV": (pipeline_dp.Metrics.VARIANCE, "variance"),
}


def prepare(path: Path, data: Data, case: Case) -> Release:
    if case.price == ZERO_CONCENTRATED:
        raise CannotAsk("no zero-concentrated price")
    if case.aggregate == "DISTINCT":
        raise CannotAsk("no such aggregate")
    name = ""
    if case.level is None:
        metric, name = METRICS[case.aggregate]
    else:
        metric = pipeline_dp.Metrics.PERCENTILE(round(100 * case.level))
    with path.open(newline="") as file:
        rows = [(int(row["person"]), row["grp"], int(row["x"])) for row in csv.DictReader(file)]
    scalar, histogram = case.by == SCALAR, case.aggregate == "HISTOGRAM"
    width, last = EDGES[1] - EDGES[0], len(EDGES) - 2
    shown: list[Any] = list(range(last + 1)) if histogram else [0] if scalar else data.keys
    if histogram:
        caps: dict[str, int] = {"max_contributions": ROWS}
    elif scalar:
        caps = {"max_partitions_contributed": 1, "max_contributions_per_partition": ROWS}
    else:
        caps = {"max_partitions_contributed": GROUPS, "max_contributions_per_partition": ROWS // GROUPS}
    params = pipeline_dp.AggregateParams(
        metrics=[metric], noise_kind=pipeline_dp.NoiseKind.LAPLACE, min_value=LOW, max_value=HIGH, **caps
    )
    extract = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: min(row[2] // width, last) if histogram else 0 if scalar else row[1],
        value_extractor=lambda row: row[2],
    )
    public = None if case.by == UNKNOWN else shown

    def release() -> Sequence[float]:
        delta = DELTA if case.price == APPROXIMATE else 0
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=delta)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        result = engine.aggregate(rows, params, extract, public_partitions=public)
        accountant.compute_budgets()
        found = {key: getattr(numbers, name) if name else numbers[0] for key, numbers in result}
        values = [float(found.get(key, math.nan)) for key in shown]
        return [max(0.0, value) ** 0.5 for value in values] if case.aggregate == "STDDEV" else values

    return release


if __name__ == "__main__":
    serve(prepare)
