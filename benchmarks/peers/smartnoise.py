"""SmartNoise SQL. Each noisy column costs ε, which is chosen so that the stated total is the price.

Its cap is on the rows of a person in all groups together. Keys that are not censored are those of the rows, which has
no influence on the errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from snsql import Privacy, from_df

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
    ZERO_CONCENTRATED,
    Case,
    Data,
)

SPELLED = {
    "COUNT": "COUNT(*)",
    "HISTOGRAM": "COUNT(*)",
    "PEOPLE": "COUNT(DISTINCT person)",
    "SUM": "SUM(x)",
    "AVG": "AVG(x)",
    "VARIANCE": "VARIANCE(x)",
    "STDDEV": "STDDEV(x)",
}


def prepare(path: Path, data: Data, case: Case) -> Release:
    if case.price == ZERO_CONCENTRATED:
        raise CannotAsk("no zero-concentrated price")
    if case.aggregate not in SPELLED:
        raise CannotAsk("no such aggregate with noise")
    frame = pd.read_csv(path)
    frame["cell"] = (frame["x"] // (EDGES[1] - EDGES[0])).clip(0, len(EDGES) - 2)
    table = {
        "row_privacy": False,
        "rows": len(frame),
        "max_ids": ROWS,
        "sample_max_ids": True,
        "censor_dims": case.by == UNKNOWN,
        "clamp_counts": False,
        "person": {"type": "int", "private_id": True},
        "grp": {"type": "string"},
        "cell": {"type": "int"},
        "x": {"type": "int", "lower": LOW, "upper": HIGH},
    }
    histogram = case.aggregate == "HISTOGRAM"
    grouped, by = case.by != SCALAR or histogram, "cell" if histogram else "grp"
    key, group = (f"{by}, ", f" GROUP BY {by}") if grouped else ("", "")
    text = f"SELECT {key}{SPELLED[case.aggregate]} AS answer FROM my.t{group}"
    delta = DELTA if case.price == APPROXIMATE else 1e-15

    def reader(epsilon: float) -> object:
        return from_df(frame, privacy=Privacy(epsilon=epsilon, delta=delta), metadata={"": {"my": {"t": table}}})

    cost = reader(EPSILON).get_privacy_cost(text)[0]  # type: ignore[attr-defined]
    chosen = reader(EPSILON * EPSILON / cost)
    if chosen.get_privacy_cost(text)[0] > EPSILON * (1 + 1e-9):  # type: ignore[attr-defined]
        raise CannotAsk("its stated cost exceeds the price")
    shown = list(range(len(EDGES) - 1)) if histogram else data.keys

    def release() -> Sequence[float]:
        _, *rows = chosen.execute(text)  # type: ignore[attr-defined]
        if not grouped:
            return [rows[0][0]]
        found = dict(rows)
        return [math.nan if found.get(key) is None else float(found[key]) for key in shown]

    return release


if __name__ == "__main__":
    serve(prepare)
