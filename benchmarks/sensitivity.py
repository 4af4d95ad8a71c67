"""Time the sensitivity of a million values: `python -m benchmarks.sensitivity [--json file]`.

Times are CPU times, the best of several, in seconds, from an array of floats to the answer, with reading, rounding and
sorting. numpy's time is for the statistic itself, without noise.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy.stats
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.flavors.approximate import ApproximateDP
from sitr.mechanisms.random_noise import RandomNoise
from sitr.sensitivity import (
    Pairs,
    interquartile_range,
    mean,
    median,
    propose_test_release,
    quantile,
    random,
    smooth,
    trimmed_mean,
    variance,
)
from sitr.sensitivity.statistic import Statistic

Values = NDArray[np.float64]

MANY = 1_000_000
BOUNDS = (0, 200)
DILATIONS = (1e-6, 1e-5, 1e-3, 0.1, 1.0)
MEDIAN = "median"
STATISTICS: dict[str, tuple[Statistic, Callable[[Values], object]]] = {
    MEDIAN: (median, np.median),
    "0.9-quantile": (quantile(0.9), lambda values: np.quantile(values, 0.9)),
    "trimmed mean, 0.1": (
        trimmed_mean(0.1),
        lambda values: scipy.stats.trim_mean(values, 0.1),
    ),
    "mean": (mean, np.mean),
    "interquartile range": (interquartile_range, lambda values: np.subtract(*np.quantile(values, (0.75, 0.25)))),
    "variance": (variance, np.var),
}
SHAPES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "bell": lambda chance, count: chance.normal(100, 20, count),
    "uniform": lambda chance, count: chance.uniform(*BOUNDS, count),
    "two heaps": lambda chance, count: chance.choice([10.0, 150.0], count),
    "constant": lambda _, count: np.full(count, 77.0),
}


@dataclass(frozen=True, slots=True)
class Row:
    """CPU seconds for one statistic on data of one shape: at the slowest dilation, for the distance, and numpy's."""

    statistic: str
    shape: str
    smooth: float
    slowest: float
    distance: float
    numpy: float


def cpu(work: Callable[[], object], *, repeat: int) -> float:
    """The smallest CPU time of several."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def measured(name: str, shape: str, *, count: int, repeat: int) -> Row:
    statistic, plain = STATISTICS[name]
    values = SHAPES[shape](np.random.default_rng(1), count)
    rule = smooth(statistic, bounds=BOUNDS)
    test = propose_test_release(statistic, proposal=1, bounds=BOUNDS)
    times = {beta: cpu(lambda beta=beta: rule.scale(values, beta), repeat=repeat) for beta in DILATIONS}  # type: ignore[misc]
    slowest = max(DILATIONS, key=times.__getitem__)
    distance = cpu(lambda: test.distance(values), repeat=repeat)
    return Row(name, shape, times[slowest], slowest, distance, cpu(lambda: plain(values), repeat=repeat))


def newcomers(*, count: int, repeat: int) -> dict[str, float]:
    """CPU seconds for a mean with noise for a random newcomer, by kind of pairs."""
    values = SHAPES["bell"](np.random.default_rng(1), count)
    found = {}
    for pairs in (Pairs.DISJOINT, Pairs.EVERY, Pairs.DRAWN):
        rule = random(mean, size=count, gamma=0.05, pairs=pairs, bounds=BOUNDS)
        mechanism = RandomNoise.fitting(ApproximateDP(1.0, 1e-6), sensitivity=rule)
        found[pairs.value] = cpu(lambda mechanism=mechanism: mechanism.release(values), repeat=repeat)  # type: ignore[misc]
    return found


def targets(rows: list[Row], random_seconds: dict[str, float]) -> Iterator[Target]:
    """All targets, each at its worst case."""
    middle = [row.smooth for row in rows if row.statistic == MEDIAN]
    yield Target("CPU seconds for the smooth sensitivity of the median, most", max(middle), 1)
    yield Target("CPU seconds for the smooth sensitivity of any statistic, most", max(row.smooth for row in rows), 1)
    yield Target("CPU seconds for any distance to a proposal's failure, most", max(row.distance for row in rows), 1)
    yield Target("CPU seconds for a mean with noise for a newcomer, most", max(random_seconds.values()), 2)


def rows_table(rows: list[Row]) -> Table:
    table = Table(title="CPU seconds", title_justify="left", box=None, pad_edge=False)
    for heading in ("statistic", "data", "smooth", "at dilation", "distance", "numpy"):
        table.add_column(heading, justify="left" if heading in ("statistic", "data") else "right")
    for row in rows:
        spent = (f"{row.smooth:.3f}", f"{row.slowest:g}", f"{row.distance:.3f}", f"{row.numpy:.3f}")
        table.add_row(row.statistic, row.shape, *spent)
    return table


def report(rows: list[Row], random_seconds: dict[str, float], judged: list[Target]) -> dict[str, object]:
    """All figures as plain values."""
    return {
        "numpy": np.__version__,
        "rows": [asdict(row) for row in rows],
        "newcomers": random_seconds,
        "targets": [asdict(one) for one in judged],
    }


def main() -> None:
    options = _options()
    console, progress = Console(width=120), Console(stderr=True)
    rows = []
    for name in STATISTICS:
        rows += [measured(name, shape, count=options.count, repeat=options.repeat) for shape in SHAPES]
        progress.print(f"{name}: done")
    random_seconds = newcomers(count=options.count, repeat=options.repeat)
    judged = list(targets(rows, random_seconds))
    console.print(rows_table(rows))
    for pairs, seconds in random_seconds.items():
        console.print(f"mean, noise for a newcomer, {pairs} pairs: {seconds:.3f}")
    console.print(targets_table(judged))
    if options.json:
        options.json.write_text(json.dumps(report(rows, random_seconds, judged), indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sensitivity", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--count", type=int, default=MANY, help="number of values")
    parser.add_argument("--repeat", type=int, default=3, help="time each this often; the best counts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
