"""Time the exact verification of finite mechanisms: `python -m benchmarks.audit_exact [--json file]`.

Each case is a table of inputs and outcomes, with each input a neighbour of the next. The time is CPU time for reading
the table, every figure of a report (ε, ε at δ, δ at ε, P(L > ε) and its quantile, μ and τ, ρ, Rényi, Gaussian μ, the
mass at infinity) and one claim of every flavor: all proved, for the worst of all pairs in both directions.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.audit import finite
from sitr.audit.exact.report import verification

Matrix = NDArray[np.float64]

SIZE = 1000
MOST = 5.0
"""The CPU seconds that the verification of a table of this size may take."""

CLAIMS = ("pure(1)", "approximate(0.5, 1e-6)", "zcdp(0.1)")


def noise(size: int, weight: Callable[[Matrix], Matrix]) -> Matrix:
    """Noise on a counter, cut off at both ends of the table."""
    places = np.arange(float(size))
    weights = weight(np.abs(places[:, None] - places[None, :]))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


CASES: dict[str, Callable[[int], Matrix]] = {
    "any probabilities": lambda size: np.random.default_rng(1).dirichlet(np.full(size, 5.0), size),
    "Laplace noise, ε = 0.2": lambda size: noise(size, lambda far: np.exp(-far / 5)),
    "Laplace noise, ε = 0.01": lambda size: noise(size, lambda far: np.exp(-far / 100)),
    "Gaussian noise, σ = 30": lambda size: noise(size, lambda far: np.exp(-far * far / 1800)),
    "randomized response, ε = 1": lambda size: noise(size, lambda far: np.where(far == 0, np.e, 1.0)),
}


@dataclass(frozen=True, slots=True)
class Row:
    """CPU seconds for one table, and some of its figures."""

    case: str
    seconds: float
    epsilon: float
    rho: float
    mu: float


def measured(case: str, *, size: int, repeat: int) -> Row:
    table = CASES[case](size)
    times, found = [], None
    for _ in range(repeat):
        start = time.process_time()
        mechanism = finite(table, neighbors="adjacent")
        found = verification(mechanism, tuple(mechanism.verify(claim) for claim in CLAIMS))
        times.append(time.process_time() - start)
    assert found is not None
    figures = {line.name.value: line.figure.upper for line in found.lines}
    return Row(case, min(times), figures["epsilon"], figures["rho"], figures["mu"])


def targets(rows: list[Row]) -> Iterator[Target]:
    slowest = max(rows, key=lambda row: row.seconds)
    yield Target(f"CPU seconds to verify a table, most ({slowest.case})", slowest.seconds, MOST)


def rows_table(rows: list[Row]) -> Table:
    table = Table("mechanism", title="CPU seconds", title_justify="left", box=None, pad_edge=False)
    for heading in ("seconds", "ε", "ρ", "Gaussian μ"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(row.case, f"{row.seconds:.2f}", f"{row.epsilon:.6g}", f"{row.rho:.6g}", f"{row.mu:.6g}")
    return table


def main() -> None:
    options = _options()
    console, progress = Console(width=120), Console(stderr=True)
    rows = []
    for case in CASES:
        rows.append(measured(case, size=options.size, repeat=options.repeat))
        progress.print(f"{case}: {rows[-1].seconds:.2f} s")
    judged = list(targets(rows))
    console.print(rows_table(rows))
    console.print(targets_table(judged))
    if options.json:
        content = {
            "size": options.size,
            "rows": [asdict(row) for row in rows],
            "targets": [asdict(one) for one in judged],
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit_exact", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--size", type=int, default=SIZE, help="number of inputs and of outcomes")
    parser.add_argument("--repeat", type=int, default=1, help="time each this often; the best counts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
