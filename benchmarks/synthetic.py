"""Synthetic rows beside peers: `python -m benchmarks.synthetic adult.csv adult-domain.json [--json file]`.

The table holds cell numbers, its domain the number of cells of each column. What is told is the mean of Σ|p − q| over
all pairs of columns, between the table and synthetic rows, and CPU seconds. smartnoise-synth is asked where installed.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow.csv import read_csv
from rich.console import Console
from rich.table import Table

import sitr
from benchmarks.accounting import targets_table
from benchmarks.spanning_tree import spanning_tree
from benchmarks.targets import Target
from sitr.mechanisms.gaussian import Gaussian
from sitr.releases.synthetic.tables import shares

ORDERED = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
EPSILON, DELTA = 1.0, 1e-9
RHO = 0.014973057673588523
"""What (1, 10⁻⁹) buys."""

MANY = 1_000_000

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Census:
    """Rows of cell numbers, and how many cells each column has."""

    names: tuple[str, ...]
    cells: tuple[int, ...]
    rows: Codes

    def only(self, names: Sequence[str]) -> Census:
        """Some of the columns."""
        places = [self.names.index(name) for name in names]
        return Census(tuple(names), tuple(self.cells[place] for place in places), self.rows[:, places])

    def table(self) -> pa.Table:
        return pa.table(dict(zip(self.names, self.rows.T, strict=True)))


@dataclass(frozen=True, slots=True)
class Found:
    """The mean error over all pairs, and CPU seconds to fit and to draw a million rows."""

    error: float = math.nan
    cpu: float = math.nan
    draw: float = math.nan
    trouble: str = ""


Method = Callable[[Census], Found]


def mean_error(census: Census, rows: Codes) -> float:
    """Over all pairs: Σ|p − q|, between 0 and 2."""

    def share(of: Codes, i: int, j: int) -> NDArray[np.float64]:
        cells = of[:, i] * census.cells[j] + of[:, j]
        return np.bincount(cells, minlength=census.cells[i] * census.cells[j]) / len(of)

    pairs = list(combinations(range(len(census.names)), 2))
    return sum(float(np.abs(share(census.rows, *pair) - share(rows, *pair)).sum()) for pair in pairs) / len(pairs)


def ours(census: Census) -> Found:
    """Sitr, as its users do it: through a ledger, with the noise of the system's coins."""
    ordered = [name for name in census.names if name in ORDERED]
    cells = dict(zip(census.names, census.cells, strict=True))
    start = time.process_time()
    data = sitr.protect(
        census.table(),
        unit=sitr.Row(),
        bounds={name: (0, cells[name] - 1) for name in ordered},
        keys={name: range(cells[name]) for name in census.names if name not in ordered},
        name="census",
    )
    with TemporaryDirectory() as folder:
        budget = data.budget(sitr.ZeroConcentratedDP(RHO), ledger=f"{folder}/ledger.db")
        asked = budget.synthesize(bins=max(census.cells), required=census.names)
        made = asked.release(sitr.ZeroConcentratedDP(RHO))
    rows = made.table(len(census.rows))
    cpu = time.process_time() - start
    start = time.process_time()
    made.table(MANY)
    draw = time.process_time() - start
    return Found(mean_error(census, np.column_stack([rows[name] for name in census.names])), cpu, draw)


def independent(census: Census) -> Found:
    """The whole price on single columns."""
    start = time.process_time()
    weights = np.array(census.cells) ** (2 / 3)
    generator = np.random.default_rng()
    columns = []
    for place, (cells, weight) in enumerate(zip(census.cells, weights / weights.sum(), strict=True)):
        counts = np.bincount(census.rows[:, place], minlength=cells)
        noisy = Gaussian.fitting(sitr.ZeroConcentratedDP(RHO * weight), sensitivity=1).release(counts)
        share = shares(noisy.astype(np.float64), len(census.rows))
        columns.append(generator.choice(cells, len(census.rows), p=share))
    return Found(mean_error(census, np.column_stack(columns)), time.process_time() - start)


def bootstrap(census: Census) -> Found:
    """The table itself, drawn again with replacement: not private."""
    drawn = np.random.default_rng().integers(0, len(census.rows), len(census.rows))
    return Found(mean_error(census, census.rows[drawn]))


def tree(census: Census) -> Found:
    """MST: a spanning tree of pairs, chosen privately, fitted by mbi as a graphical model."""
    start = time.process_time()
    rows = spanning_tree(census.rows, census.cells, rho=RHO)
    return Found(mean_error(census, rows), time.process_time() - start)


def smartnoise(name: str) -> Method:
    """A synthesizer of smartnoise-synth at the same (ε, δ)."""

    def ask(census: Census) -> Found:
        from snsynth import Synthesizer

        frame = census.table().to_pandas()
        start = time.process_time()
        made = Synthesizer.create(name, epsilon=EPSILON, delta=DELTA)
        rows = made.fit_sample(frame, categorical_columns=list(census.names), preprocessor_eps=0.0)
        cpu = time.process_time() - start
        return Found(mean_error(census, rows[list(census.names)].to_numpy(dtype=np.int64)), cpu)

    return ask


SITR = "Sitr"
METHODS: dict[str, Method] = {
    SITR: ours,
    "independent": independent,
    "bootstrap, not private": bootstrap,
    "MST on mbi": tree,
    "smartnoise-synth MST": smartnoise("mst"),
    "smartnoise-synth AIM": smartnoise("aim"),
}


def ask(name: str, census: Census) -> Found:
    try:
        return METHODS[name](census)
    except ModuleNotFoundError as error:
        return Found(trouble=f"{error.name} is not installed")
    except Exception as error:  # whatever another library raises is its answer
        if name == SITR:
            raise
        return Found(trouble=f"{type(error).__name__}: {error}".splitlines()[0][:100])


def targets(whole: Found, few: Found) -> list[Target]:
    return [
        Target("mean error over all pairs of columns", whole.error, 0.075),
        Target("CPU seconds to fit all columns and draw", whole.cpu, 120),
        Target("mean error over all pairs of categorical columns", few.error, 0.026),
        Target("CPU seconds for 10^6 rows", whole.draw, 5),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("domain", type=Path)
    parser.add_argument("--only", choices=METHODS, nargs="*", default=list(METHODS))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    domain = json.loads(given.domain.read_text())
    read = read_csv(given.data)
    rows = np.column_stack([np.asarray(read[name], dtype=np.int64) for name in domain])
    whole = Census(tuple(domain), tuple(domain.values()), rows)
    few = whole.only([name for name in whole.names if name not in ORDERED])
    results = {name: (ask(name, whole), ask(name, few)) for name in given.only}
    told = Table("method", "all pairs", "CPU s", "categorical pairs", "CPU s", "10^6 rows, CPU s", "")
    for name, (all_found, few_found) in results.items():
        figures = (all_found.error, all_found.cpu, few_found.error, few_found.cpu, all_found.draw)
        cells = ["" if math.isnan(figure) else f"{figure:.4f}" for figure in figures]
        told.add_row(name, *cells, all_found.trouble)
    console = Console()
    console.print(told)
    if SITR in results:
        console.print(targets_table(targets(*results[SITR])))
    if given.json is not None:
        content = {name: [asdict(found) for found in pair] for name, pair in results.items()}
        given.json.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
