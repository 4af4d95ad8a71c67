"""Compare public weights for minima and maxima: `python -m benchmarks.extremes`.

A private minimum is drawn with P(k) ∝ w(k)·e^{−rate·cost(k)}, where cost(k) is the number of values below k
(`sitr.mechanisms.inward`). All k up to the least value cost nothing, so that the weights alone choose among them. Steep
weights are better where the bound is far away from many values, and level ones where there are few values. The mean
errors here follow from the law and are exact; no noise is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.query_cases import EPSILON, HIGH, LOW, ROWS, TABLES, Whole

Floats = NDArray[np.float64]
PLACES = np.arange(HIGH - LOW + 1)
GROWTHS = (0.0, 1.0, 10 / 3, 10.0)
"""How much larger the weight at the far bound is than at the near one, less 1. Sitr has 10/3."""

MANY = 5_000


def error(x: Whole, rate: float, growth: float, *, largest: bool = False) -> float:
    """The mean distance between the minimum that is shown and the exact one; or between maxima."""
    clipped = np.clip(x, LOW, HIGH) - LOW
    values = np.sort(HIGH - LOW - clipped if largest else clipped)
    law = np.log1p(growth * PLACES / len(PLACES)) - rate * np.searchsorted(values, PLACES)
    chances = np.exp(law - law.max())
    return float((chances * abs(PLACES - values[0])).sum() / chances.sum())


def random_errors(growths: Sequence[float], many: int = MANY) -> Floats:
    """The errors for random tables, of 30 to 20,000 values of four kinds, at random rates: a row for each table."""
    chance = np.random.default_rng(31)
    found = []
    for _ in range(many):
        rows = int(np.exp(chance.uniform(np.log(30), np.log(20_000))))
        kinds = (
            lambda rows=rows: chance.normal(chance.uniform(10, 90), chance.uniform(2, 25), rows),
            lambda rows=rows: chance.uniform(0, 60) + chance.exponential(chance.uniform(1, 30), rows),
            lambda rows=rows: chance.uniform(0, 50) + chance.uniform(0, chance.uniform(1, 50), rows),
            lambda rows=rows: chance.lognormal(chance.uniform(0, 4), chance.uniform(0.2, 1.2), rows),
        )
        x = np.rint(kinds[chance.integers(4)]()).astype(np.int64)
        rate, largest = np.exp(chance.uniform(np.log(0.01), 0)), bool(chance.integers(2))
        found.append([error(x, rate, growth, largest=largest) for growth in growths])
    return np.array(found)


def main() -> None:
    table = Table(title="Exact mean errors at pure(1)", title_justify="left", box=None)
    for heading in ("", *(f"weights grow by {growth:.2g}" for growth in GROWTHS)):
        table.add_column(heading, justify="right" if heading else "left")
    for name, make in TABLES.items():
        for largest in (False, True):
            figures = [f"{error(make().x, EPSILON / ROWS, growth, largest=largest):.2f}" for growth in GROWTHS]
            table.add_row(f"{'MAX' if largest else 'MIN'}, {name}", *figures)
    means = random_errors(GROWTHS).mean(axis=0)
    table.add_row(f"{MANY:,} random tables", *(f"{mean:.2f}" for mean in means))
    Console().print(table)


if __name__ == "__main__":
    main()
