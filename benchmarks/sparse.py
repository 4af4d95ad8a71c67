"""Compare histograms in which most cells are empty: `python -m benchmarks.sparse [--svg picture.svg]`.

The mean of Σ|released − counted|/n over many tables, as the number of full cells grows, for four methods: noise
everywhere, projected onto the histograms of n people in two ways; noise only where there are people, which protects a
random newcomer; and noise above a threshold. All full cells are equally likely.      [HRW11, Sec. 5]
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.threshold import Threshold
from sitr.noise.coins import Coins
from sitr.report.chart.axis import Logarithmic, across, margin, written
from sitr.report.chart.ends import End, names
from sitr.report.chart.svg import BLUE, ORANGE, heading, line, polyline, standalone, svg, text, window

Counts = NDArray[np.float64]

WAYS = ("noise everywhere, nearest", "noise everywhere, largest first", "random, only where people are", "threshold")
NAMES = ("nearest", "largest first", "random", "threshold")
"""Short names for the ends of curves."""
COLOURS = (BLUE, "#3d9a35", ORANGE, "#b0468f")
DELTA = 1e-6


@dataclass(frozen=True, slots=True)
class Setting:
    """k cells, n people, ε, and the number of cells with people."""

    cells: int
    people: int
    epsilon: float
    full: tuple[int, ...]


PAPER = Setting(cells=100, people=500, epsilon=0.5, full=(2, 4, 8, 16, 32, 64, 100))


def mean_errors(
    setting: Setting, full: int, *, trials: int, chance: np.random.Generator, coins: Coins | None = None
) -> list[float]:
    """One number for each method. The second to last uses the γ that it needs; n, k and ε determine its noise."""
    price = PureDP(setting.epsilon)
    everywhere = Laplace.fitting(price, sensitivity=2)
    random = SparseHistogram.fitting(RandomDP(price, 1.0), cells=setting.cells, people=setting.people)
    shown = Threshold.fitting(ApproximateDP(setting.epsilon, DELTA), sensitivity=2, groups=1)
    found = []
    for _ in range(trials):
        table = np.zeros(setting.cells, dtype=np.int64)
        table[:full] = chance.multinomial(setting.people, np.full(full, 1 / full))
        noisy = np.asarray(everywhere.release(table, coins=coins), dtype=np.float64)
        some = np.asarray(random.release(table, coins=coins), dtype=np.float64)
        sparse = np.zeros(setting.cells)
        sparse[table > 0] = nearest(some[table > 0], setting.people)
        above = np.zeros(setting.cells)
        above[table > 0] = [number or 0 for number in shown.release(table[table > 0].tolist(), coins=coins)]
        answers = (nearest(noisy, setting.people), largest_first(noisy, setting.people), sparse, above)
        found.append([np.abs(answer - table).sum() / setting.people for answer in answers])
    return [float(error) for error in np.mean(found, axis=0)]


def nearest(noisy: Counts, people: int) -> Counts:
    """The nearest histogram of n people in Euclidean distance: subtract the same amount from every cell."""
    growing = np.sort(noisy)[::-1]
    over = (np.cumsum(growing) - people) / np.arange(1, len(noisy) + 1)
    return np.asarray(np.maximum(noisy - over[np.flatnonzero(growing > over)[-1]], 0.0))


def largest_first(noisy: Counts, people: int) -> Counts:
    """Keep the largest cells until their sum reaches n, and share the difference among them."""
    kept, left = np.zeros_like(noisy), float(people)
    for cell in np.argsort(-noisy):
        if noisy[cell] <= 0 or left <= 0:
            break
        kept[cell] = min(noisy[cell], left)
        left -= kept[cell]
    return kept + np.where(kept > 0, left / max(1, int(np.count_nonzero(kept))), 0.0)


def picture(setting: Setting, errors: dict[int, list[float]]) -> str:
    """The error by number of full cells, both on logarithmic axes."""
    end, height = 66.0, 260
    places, values = list(errors), [error for row in errors.values() for error in row]
    up = Logarithmic(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) - 0.01))
    along = Logarithmic(math.log10(places[0]), math.log10(places[-1]))
    caption = f"{setting.cells} cells, {setting.people} people, ε = {setting.epsilon}; mean Σ|released − counted|/n"
    parts, pane = heading("Where most cells are empty, noise only where people are", caption)
    pane += 8
    ticks = up.ticks()
    numbers = written(ticks)
    left = margin(numbers)

    def x(full: float) -> float:
        return left + (end - left) * along.share(full)

    def y(error: float) -> float:
        return height * (1 - up.share(error))

    for tick, number in zip(ticks, numbers, strict=True):
        parts.append(line(left, pane + y(float(tick)), end, pane + y(float(tick)), more='stroke-opacity="0.2"'))
        parts.append(text(number, x=left - 1, y=pane + y(float(tick)) + 4, size=11, anchor="end"))
    parts += across([(x(full), str(full)) for full in places], y=pane + height + 18)
    parts.append(text("cells with people", x=(left + end) / 2, y=pane + height + 34, size=11, anchor="middle"))
    curves = [[(1000 * along.share(full), y(row[way])) for full, row in errors.items()] for way in range(len(WAYS))]
    drawn = [polyline(curve, stroke=COLOURS[way], more='stroke-width="3"') for way, curve in enumerate(curves)]
    parts.append(window(drawn, x=left, y=pane, width=end - left, height=height))
    ends = [
        End(end, pane + curve[-1][1], name, way, colour)
        for curve, name, way, colour in zip(curves, NAMES, WAYS, COLOURS, strict=True)
    ]
    parts += names(ends, x=end + 3, room=97 - end, top=pane, bottom=pane + height)
    return standalone(svg("Histograms with many empty cells", caption, parts, height=pane + height + 42))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sparse", description="Histograms with empty cells.")
    parser.add_argument("--svg", type=Path, help="the file for the chart")
    parser.add_argument("--trials", type=int, default=200, help="number of tables for each number of full cells")
    given = parser.parse_args()
    chance, setting = np.random.default_rng(1), PAPER
    errors = {full: mean_errors(setting, full, trials=given.trials, chance=chance) for full in setting.full}
    table = Table("cells with people", *WAYS, title=f"{setting}")
    for full, row in errors.items():
        table.add_row(str(full), *(f"{error:.4f}" for error in row))
    Console().print(table)
    if given.svg is not None:
        given.svg.write_text(picture(setting, errors), encoding="utf-8")


if __name__ == "__main__":
    main()
