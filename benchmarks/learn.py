"""Private models beside scikit-learn's own: `python -m benchmarks.learn [--json file]`. Needs the extra `learn`.

Times are CPU times of a whole fit, the best of several, with one thread for linear algebra; half of the rows are longer
than the norm and have to be shortened. Errors are distances of the released weights from the minimum without noise,
the median of several fits.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr import ApproximateDP, PureDP, RandomDP, ZeroConcentratedDP
from sitr.flavors.promise import Promise
from sitr.learn import Method, PrivateLogisticRegression, PrivateRidge

MANY, COLUMNS, FEW = 1_000_000, 20, 20_000
STRENGTH = 1e-2
"""Λ."""

EPSILON, DELTA, GAMMA = 1.0, 1e-6, 0.05
APPROXIMATE = ApproximateDP(EPSILON, DELTA)
WAYS: dict[str, tuple[Promise, Method]] = {
    "output, pure": (PureDP(EPSILON), Method.OUTPUT),
    "objective, pure": (PureDP(EPSILON), Method.OBJECTIVE),
    "output, Gaussian": (APPROXIMATE, Method.OUTPUT),
    "pairs, random": (RandomDP(APPROXIMATE, GAMMA), Method.OUTPUT),
}
NONE = ZeroConcentratedDP(1e12)
"""So little noise that none is left."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Data:
    features: Numbers
    numbers: Numbers
    labels: NDArray[np.int64]


def draw(count: int) -> Data:
    """Rows in a ball of radius 2, of which those beyond 1 are to be shortened."""
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(count, COLUMNS))
    rows *= (2 * generator.random(count) / np.linalg.norm(rows, axis=1))[:, None]
    weights = generator.normal(size=COLUMNS)
    margins = rows @ weights
    labels = (3 * margins + generator.logistic(size=count) > 0).astype(np.int64)
    return Data(rows, np.clip(margins / 4 + 0.1 * generator.normal(size=count), -1, 1), labels)


def ridge(promise: Promise) -> Any:
    return PrivateRidge(promise, norm=_norm(promise), bound=1.0, regularization=STRENGTH)


def logistic(promise: Promise, method: Method = Method.OUTPUT) -> Any:
    return PrivateLogisticRegression(
        promise, norm=_norm(promise), classes=(0, 1), regularization=STRENGTH, method=method
    )


def _norm(promise: Promise) -> float | None:
    return None if isinstance(promise, RandomDP) else 1.0


def cpu(fit: Callable[[], object], *, repeat: int) -> float:
    """The least CPU time in seconds."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        fit()
        times.append(time.process_time() - start)
    return min(times)


Times = dict[tuple[str, str], float]


def times_of(data: Data, *, repeat: int) -> Times:
    """CPU seconds by model and way."""
    x, count = data.features, len(data.features)
    found: Times = {}
    with threadpool_limits(1):
        others = {
            "ridge": (Ridge(alpha=count * STRENGTH), data.numbers),
            "logistic": (LogisticRegression(C=1 / (count * STRENGTH)), data.labels),
        }
        for name, (model, target) in others.items():
            found[name, "scikit-learn"] = cpu(partial(model.fit, x, target), repeat=repeat)
        for way, (promise, method) in WAYS.items():
            if method is Method.OUTPUT:
                found["ridge", way] = cpu(partial(ridge(promise).fit, x, data.numbers), repeat=repeat)
            found["logistic", way] = cpu(partial(logistic(promise, method).fit, x, data.labels), repeat=repeat)
    return found


def errors_of(data: Data, *, fits: int) -> dict[tuple[str, str], float]:
    """The median distance from the same minimum without noise, by model and way."""
    found = {}
    for way, (promise, method) in WAYS.items():
        for name, model, quiet, target in (
            ("ridge", ridge(promise), ridge(NONE), data.numbers),
            ("logistic", logistic(promise, method), logistic(NONE), data.labels),
        ):
            if name == "ridge" and method is Method.OBJECTIVE:
                continue
            true = quiet.set_params(norm=model.norm or 2.0).fit(data.features, target).released_
            distances = [
                math.dist(map(float, model.fit(data.features, target).released_), map(float, true)) for _ in range(fits)
            ]
            found[name, way] = float(np.median(distances))
    return found


def targets(times: Times) -> Iterator[Target]:
    for name in ("ridge", "logistic"):
        most = max(spent for (model, way), spent in times.items() if model == name and way in WAYS)
        yield Target(f"{name}: CPU of Sitr / scikit-learn, most", most / times[name, "scikit-learn"], 2)


def fits_table(times: Times, errors: dict[tuple[str, str], float]) -> Table:
    table = Table(title=f"{MANY:,} rows of {COLUMNS} columns", title_justify="left", box=None, pad_edge=False)
    for heading in ("", "noise", "CPU s", "× scikit-learn", f"error at n = {FEW:,}"):
        table.add_column(heading, justify="left" if heading in ("", "noise") else "right")
    for (name, way), spent in times.items():
        error = f"{errors[name, way]:.3f}" if (name, way) in errors else ""
        table.add_row(name, way, f"{spent:.2f}", f"{spent / times[name, 'scikit-learn']:.2f}", error)
    return table


def main() -> None:
    options = _options()
    console = Console(width=120)
    times = times_of(draw(options.rows), repeat=options.repeat)
    errors = errors_of(draw(FEW), fits=options.fits)
    judged = list(targets(times))
    console.print(fits_table(times, errors))
    console.print(targets_table(judged))
    if options.json:
        rows = [{"model": m, "noise": w, "seconds": s, "error": errors.get((m, w))} for (m, w), s in times.items()]
        options.json.write_text(json.dumps({"fits": rows, "targets": [asdict(one) for one in judged]}, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learn", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--repeat", type=int, default=5, help="how often each is timed; the best counts")
    parser.add_argument("--fits", type=int, default=21, help="how many fits an error is the median of")
    parser.add_argument("--rows", type=int, default=MANY, help="how many rows are timed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
