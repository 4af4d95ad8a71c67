"""Measure the risk of private histograms beside its bounds: `python -m benchmarks.risk [--plot file] [--json file]`.

The risk is the mean l1 distance between released and exact shares, where neighbours replace one person. Two ways:
`private` adds Laplace noise to every cell and projects to a histogram; `random` leaves empty cells empty, for a
fraction γ of newcomers. Bounds: nobody beats (4/27)(k − 1)/(εn) for all data with a pure promise; ours stay below
4k/(εn), and below 4s/(εn) with s full cells under a random promise.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.questions.histogram.projection import lattice
from sitr.questions.histogram.risk import least_risk, most_risk
from sitr.questions.histogram.ties import best_ties
from sitr.report.chart.ends import apart
from sitr.report.chart.svg import BLUE, GREY, heading, line, polyline, standalone, svg, text, window


@dataclass(frozen=True, slots=True)
class Case:
    """n people in k cells, of which the first `full` have all of them, evenly but for chance."""

    cells: int
    people: int
    full: int
    epsilon: float

    def counts(self, chance: np.random.Generator) -> NDArray[np.int64]:
        shares = np.zeros(self.cells)
        shares[: self.full] = 1 / self.full
        return chance.multinomial(self.people, shares).astype(np.int64)


CASES = tuple(Case(cells, 20_000, 16, 1.0) for cells in (16, 50, 100, 200, 400, 1_000, 2_000))
"""More and more cells for the same people: the sparse case of the paper."""


def measured(case: Case, *, repeat: int, seed: int) -> dict[str, list[float]]:
    """The distance of each release, by way."""
    chance = np.random.default_rng(seed)
    found: dict[str, list[float]] = {"private": [], "random": []}
    noise = Laplace(2 / case.epsilon, 2)
    sparse = SparseHistogram(case.cells, case.people, noise)
    for _ in range(repeat):
        counts = case.counts(chance)
        found["private"].append(_distance(counts, noise.release(counts), noise, np.ones(case.cells, np.bool_)))
        found["random"].append(_distance(counts, sparse.release(counts), noise, counts > 0))
    return found


def _distance(counts: NDArray[np.int64], noisy: Any, noise: Laplace, where: NDArray[np.bool_]) -> float:
    total = int(counts.sum())
    released = np.zeros(len(counts))
    there = np.asarray(noisy)[where].astype(np.float64)
    released[where] = lattice(there, total=total, ties=best_ties(there, total=total, noise=noise))
    return float(np.abs(released - counts).sum() / total)


def rows(*, repeat: int) -> Iterator[dict[str, Any]]:
    for case in CASES:
        risks = measured(case, repeat=repeat, seed=case.cells)
        yield {
            **asdict(case),
            "least": float(least_risk(cells=case.cells, people=case.people, epsilon=case.epsilon)),
            "private": float(np.mean(risks["private"])),
            "most": float(most_risk(cells=case.cells, people=case.people, epsilon=case.epsilon)),
            "random": float(np.mean(risks["random"])),
            "most_random": float(most_risk(cells=case.full, people=case.people, epsilon=case.epsilon)),
        }


CURVES = (
    ("most", "upper bound, 4k/εn", GREY, "5 4"),
    ("private", "pure promise, measured", BLUE, ""),
    ("least", "lower bound, (4/27)(k − 1)/εn", GREY, "2 4"),
    ("random", "random promise, measured", "#c2410c", ""),
    ("most_random", "its upper bound, 4s/εn", GREY, "5 4"),
)


def chart(found: Sequence[dict[str, Any]]) -> str:
    """Both axes are logarithmic; names stand at the ends of the curves."""
    left, span, high = 9.0, 52.0, 300
    parts, top = heading(f"Risk of histograms of {found[0]['people']:,} people, {found[0]['full']} cells full, ε = 1")
    numbers = [row[name] for row in found for name, *_ in CURVES if row[name] > 0]
    low, far = math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers)))
    first, last = math.log10(found[0]["cells"]), math.log10(found[-1]["cells"])

    def y(value: float) -> float:
        return high * (far - math.log10(value)) / (far - low)

    for power in range(low, far + 1):
        parts.append(line(left, top + y(10.0**power), left + span, top + y(10.0**power), more='stroke-opacity="0.2"'))
        parts.append(text(f"{10.0**power:g}", x=left - 1, y=top + y(10.0**power) + 4, size=11, anchor="end"))
    for row in found:
        x = left + span * (math.log10(row["cells"]) - first) / (last - first)
        parts.append(text(f"{row['cells']:,}", x=x, y=top + high + 18, size=11, anchor="middle"))
    parts.append(text("cells", x=left + span / 2, y=top + high + 36, size=11, anchor="middle"))
    drawn, lasts = [], []
    for name, _, colour, dashes in CURVES:
        points = [
            (1000 * (math.log10(row["cells"]) - first) / (last - first), y(row[name])) for row in found if row[name] > 0
        ]
        drawn.append(polyline(points, stroke=colour, more=f'stroke-width="2" stroke-dasharray="{dashes}"'))
        lasts.append(points[-1][1])
    downward = sorted(zip(lasts, (title for _, title, _, _ in CURVES), strict=True))
    for (_, title), place in zip(downward, apart(sorted(lasts), top=0, bottom=high), strict=True):
        parts.append(text(title, x=left + span + 1, y=top + place + 4, size=11))
    parts.append(window(drawn, x=left, y=top, width=span, height=high))
    return standalone(svg("Risk of histograms", "Measured risk between its bounds.", parts, height=top + high + 46))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    said = parser.parse_args()
    found = list(rows(repeat=said.repeat))
    table = Table("cells", "lower bound", "pure, measured", "upper bound", "random, measured", "its upper bound")
    for row in found:
        numbers = (row[name] for name in ("least", "private", "most", "random", "most_random"))
        table.add_row(f"{row['cells']:,}", *(f"{number:.4f}" for number in numbers))
    Console().print(table)
    if said.plot is not None:
        said.plot.write_text(chart(found), encoding="utf-8")
    if said.json is not None:
        said.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
