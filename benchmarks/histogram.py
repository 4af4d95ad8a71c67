"""Time histograms and measure their errors: `python -m benchmarks.histogram [--rows N] [--json file]`.

Counting is compared with DuckDB's own GROUP BY of the same quotient, on the same file of public numbers. Errors are the
mean l1 distance between released and exact shares, over repeated releases of generated tables. Intervals of
ranges are judged by how often they contain the exact sum, and by their time. `--only ranges` compares the root mean
square errors of all ranges by method, stated and measured, and does nothing else.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.backends.duckdb import open_source
from sitr.dataset.cells import Even, Grid, Rule
from sitr.dataset.schema import Column, Kind
from sitr.dataset.schema import Table as Described
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.summed import Summand, least_width
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import system_coins
from sitr.questions.histogram.methods import Flat, Prefixes, Ranges, Tree
from sitr.questions.histogram.projection import Ties, lattice
from sitr.questions.histogram.question import HistogramQuestion
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally
from sitr.questions.histogram.ties import best_ties

ROWS = 10**8
CELLS = 10**6
DEFAULT, NORMALISED, STABILITY = "default rule", "clip and normalise", "stability, δ = 1e-6"

Whole = NDArray[np.int64]
Noisy = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sparse:
    """k cells, a few of them equally full, with n people; noise of scale 2/α, as one person moves two cells."""

    cells: int
    people: int
    full: int
    alpha: float

    def draw(self, chance: np.random.Generator) -> Whole:
        counts = np.zeros(self.cells, np.int64)
        places = chance.choice(self.cells, self.full, replace=False)
        counts[places] = chance.multinomial(self.people, np.full(self.full, 1 / self.full))
        return counts


SEED = Sparse(400, 500, 16, 1.0)
CROWDED = Sparse(100_000, 50_000, 10_000, 1.0)
MANY = Sparse(400, 20_000, 16, 1.0)
DENSE = Sparse(400, 500, 400, 1.0)
HALF = Sparse(10_000, 10_000, 5_000, 0.5)
CASES = (SEED, CROWDED, MANY, DENSE, HALF)
KNOWN = {
    (SEED, Ties.BY_INDEX.value): 0.69,
    (SEED, Ties.SOFT_THRESHOLD.value): 0.25,
    (SEED, Ties.DROP_SMALLEST.value): 0.092,
    (SEED, NORMALISED): 0.87,
    (MANY, Ties.SOFT_THRESHOLD.value): 0.0061,
    (MANY, STABILITY): 0.0017,
}
"""The mean l1 error of another program, with real-valued noise in floats, which is not private."""

Errors = dict[tuple[Sparse, str], float]


def rules(case: Sparse) -> dict[str, Callable[[Noisy], Noisy]]:
    """From noisy counts to shares, by name."""
    noise = Laplace(scale=2 / Fraction(case.alpha))

    def chosen(noisy: Noisy) -> Noisy:
        return nearest(best_ties(noisy, total=case.people, noise=noise))(noisy)

    def nearest(ties: Ties) -> Callable[[Noisy], Noisy]:
        return lambda noisy: lattice(noisy, total=case.people, ties=ties) / case.people

    def normalised(noisy: Noisy) -> Noisy:
        clipped = np.maximum(0.0, noisy)
        return clipped / max(1.0, float(clipped.sum()))

    def stable(noisy: Noisy) -> Noisy:
        least = 1 + 2 / case.alpha * math.log(1 / 2e-6)
        return np.where(noisy >= least, noisy, 0) / case.people

    named = {ties.value: nearest(ties) for ties in Ties}
    return {**named, NORMALISED: normalised, STABILITY: stable, DEFAULT: chosen}


def errors(case: Sparse, *, repeat: int, real: bool = False, seed: int = 1) -> Errors:
    """The mean l1 error of every rule on the same noisy counts: with Sitr's noise, or with `real` numbers.

    A stability histogram adds no noise to empty cells.
    """
    chance, noise = np.random.default_rng(seed), Laplace(scale=2 / Fraction(case.alpha), sensitivity=2)
    found: dict[str, list[float]] = {name: [] for name in rules(case)}
    for _ in range(repeat):
        exact = case.draw(chance)
        drawn = chance.laplace(0.0, 2 / case.alpha, case.cells) if real else noise.release(np.zeros_like(exact))
        noisy: Noisy = exact.astype(np.float64) + drawn.astype(np.float64)
        for name, rule in rules(case).items():
            shares = rule(np.where(exact > 0, noisy, 0.0) if name == STABILITY else noisy)
            found[name].append(float(np.abs(shares - exact / case.people).sum()))
    return {(case, name): float(np.mean(values)) for name, values in found.items()}


def best_cpu(work: Callable[[], object], *, repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


@dataclass(frozen=True, slots=True)
class Counting:
    """CPU seconds of Sitr and of DuckDB, for a column of reals and one of integers."""

    rows: int
    kind: str
    sitr: float
    duckdb: float


def counting(folder: Path, rows: int, *, repeat: int) -> Iterator[Counting]:
    """Twenty cells from 0 to 120, some values outside; DuckDB computes the quotient and ignores the ends."""
    path = folder / "numbers.parquet"
    with duckdb.connect() as engine:
        numbers = "random() * 130 - 5 AS x, (random() * 130 - 5)::INTEGER AS i"
        engine.execute(f"COPY (SELECT {numbers} FROM range({rows})) TO '{path}'")
        for name, kind, quotient in (("x", Kind.REAL, "floor((x - 0) / 6)"), ("i", Kind.INTEGER, "(i - 0) // 6")):
            column = Column(name, kind)
            table = Described("numbers", (column,), Row(), Relation.ADD_REMOVE, 1, 1)
            cells = Grid((Even(column, Fraction(0), Fraction(120), 20, Rule.CLAMP, Rule.CELL),))
            tally, source = Tally.of(table, cells), open_source(path, types={})
            own = f"SELECT {quotient}, count(*) FROM read_parquet('{path}') GROUP BY 1"
            yield Counting(
                rows,
                kind.value,
                best_cpu(lambda tally=tally, source=source: source.read(tally, salt=1), repeat=repeat),  # type: ignore[misc]
                best_cpu(lambda own=own: engine.execute(own).fetchall(), repeat=repeat),  # type: ignore[misc]
            )


def projecting(*, repeat: int, cells: int = CELLS) -> dict[str, float]:
    """CPU seconds of the lattice projection of noisy counts in `cells` cells, by rule, the worst of three totals.

    The default rule includes the choice among all rules, which projects with each of them.
    """
    chance, noise = np.random.default_rng(2), Laplace(scale=2)
    noisy = chance.laplace(1.0, 2.0, cells)
    found = {}

    def chosen(total: int) -> object:
        return lattice(noisy, total=total, ties=best_ties(noisy, total=total, noise=noise))

    totals = (cells // 10, cells, 10 * cells)
    found[DEFAULT] = max(best_cpu(lambda n=n: chosen(n), repeat=repeat) for n in totals)  # type: ignore[misc]
    for ties in Ties:
        found[ties.value] = max(
            best_cpu(lambda n=n, ties=ties: lattice(noisy, total=n, ties=ties), repeat=repeat)  # type: ignore[misc]
            for n in totals
        )
    return found


@dataclass(frozen=True, slots=True)
class Range:
    """The sum of many noisy cells: how often its 95% interval contains the exact sum, and its CPU seconds."""

    noise: str
    cells: int
    held: float
    seconds: float


def ranges(*, runs: int, repeat: int, cells: tuple[int, ...] = (20, 1000, 100_000)) -> Iterator[Range]:
    """Coverage is counted over `runs` sums of fresh noise, for up to 1,000 cells; each run computes the width again."""
    for noise in (Laplace(scale=20), Gaussian(sigma=30)):
        for number in cells:
            terms = (Summand(noise, number),)
            seconds = best_cpu(lambda terms=terms: least_width.__wrapped__(terms, confidence=0.95), repeat=repeat)  # type: ignore[misc]
            far, held = least_width(terms, confidence=0.95), math.nan
            if number <= 1000:
                sums = [int(noise.release(np.zeros(number, np.int64)).sum()) for _ in range(runs)]
                held = float((np.abs(sums) <= far).mean())
            yield Range(type(noise).__name__, number, held, seconds)


@dataclass(frozen=True, slots=True)
class RangeErrors:
    """The root mean square error of all ranges at zcdp(0.5), for rows: stated by the plan, and of `releases`."""

    shape: str
    method: str
    stated: float
    measured: float
    apart: float
    """Their distance, in standard errors of the mean of the squared errors of the releases."""
    releases: int
    seconds: float


def range_errors(
    *, releases: int, shapes: tuple[tuple[int, ...], ...] = ((64,), (1024,), (64, 64))
) -> Iterator[RangeErrors]:
    """Errors of releases of empty tables, over all ranges or rectangles, without a list of them."""
    for shape in shapes:
        columns = tuple(Column(f"x{place}", Kind.REAL) for place in range(len(shape)))
        table = Described("numbers", columns, Row(), Relation.ADD_REMOVE, 1, 1)
        axes = [
            Even(column, Fraction(0), Fraction(1), bins, Rule.CLAMP, Rule.DROP)
            for column, bins in zip(columns, shape, strict=True)
        ]
        tally = Tally.of(table, Grid(tuple(axes)))
        for method in (Flat(), *((Tree(2), Tree(4)) if len(shape) == 1 else ()), Prefixes(), Ranges()):
            question = HistogramQuestion(tally, method)
            plan = question.plan(ZeroConcentratedDP(0.5))
            start = time.process_time()
            squares = [
                _mean_square(release(plan, {}, coins=system_coins()).counts.reshape(shape)) for _ in range(releases)
            ]
            seconds = (time.process_time() - start) / releases
            name = f"{method} → {plan.method}" if isinstance(method, Ranges) else str(method)
            stated, mean = plan.range_deviation(), float(np.mean(squares))
            apart = abs(mean - stated**2) / (float(np.std(squares, ddof=1)) / math.sqrt(releases))
            cells = " × ".join(map(str, shape))
            yield RangeErrors(cells, name, stated, math.sqrt(mean), apart, releases, seconds)


def _mean_square(counts: Noisy) -> float:
    """The mean square of the sums over all rectangles: on each axis, of all differences of two prefix sums."""
    sums = counts
    for axis in range(counts.ndim):
        sums = np.cumsum(sums, axis)
        sums = np.concatenate([np.zeros_like(sums.take([0], axis)), sums], axis)
        order = np.argwhere(np.tri(sums.shape[axis], k=-1, dtype=bool))
        sums = sums.take(order[:, 0], axis) - sums.take(order[:, 1], axis)
    return float(np.mean(sums**2))


def range_table(found: list[RangeErrors]) -> Table:
    table = Table(
        title="Root mean square error of all ranges, zcdp(0.5)", title_justify="left", box=None, pad_edge=False
    )
    for heading in ("cells", "method", "stated", "measured", "releases", "apart, in standard errors", "CPU s"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for one in found:
        figures = (f"{one.stated:.4f}", f"{one.measured:.4f}", f"{one.releases}", f"{one.apart:.2f}")
        table.add_row(one.shape, one.method, *figures, f"{one.seconds:.3f}")
    return table


def targets(
    found: Errors, again: Errors, counted: list[Counting], projected: dict[str, float], summed: list[Range]
) -> Iterator[Target]:
    """All targets, each at its worst case; `again` holds errors with real-valued noise, like the known ones."""
    for (case, name), known in KNOWN.items():
        if name == Ties.BY_INDEX.value:
            continue  # it depends on the places of the full cells, which the known figure does not state
        off = abs(again.get((case, name), math.nan) / known - 1)
        yield Target(f"relative distance from the known l1 {known:g}, {case.people} people, {name}", off, 0.15)
    for case in CASES:
        listed = [found[case, ties.value] for ties in Ties if (case, ties.value) in found]
        ratio = found[case, DEFAULT] / min(listed) if listed else math.nan
        text = f"l1 of the default rule / best rule, {case.cells} cells, {case.full} full, {case.people} people"
        yield Target(text, ratio, 1.05)
    for one in summed:
        if not math.isnan(one.held):
            off = abs(one.held - 0.95)
            yield Target(f"distance from 95% of what is held, sums of {one.cells} cells, {one.noise}", off, 0.01)
    slowest = max((one.seconds for one in summed), default=math.nan)
    yield Target("CPU seconds, interval of a range of cells", slowest, 0.1)
    for measured in counted:
        yield Target(
            f"CPU / DuckDB's GROUP BY, {measured.rows:,} rows, {measured.kind}", measured.sitr / measured.duckdb, 2
        )
    yield Target(f"CPU seconds, lattice projection of {CELLS:,} cells", max(projected.values(), default=math.nan), 1)


def errors_table(found: Errors, again: Errors) -> Table:
    table = Table(title="Mean l1 error", title_justify="left", box=None, pad_edge=False)
    for heading in ("cells", "people", "full", "α", "rule", "mean l1", "real noise", "known"):
        table.add_column(heading, justify="left" if heading == "rule" else "right")
    for (case, name), value in found.items():
        known = KNOWN.get((case, name))
        figures = (f"{case.cells:,}", f"{case.people:,}", f"{case.full:,}", f"{case.alpha:g}")
        real = f"{again.get((case, name), math.nan):.4f}"
        table.add_row(*figures, name, f"{value:.4f}", real, "" if known is None else f"{known:g}")
    return table


def report(
    found: Errors, counted: list[Counting], projected: dict[str, float], summed: list[Range], judged: list[Target]
) -> dict[str, object]:
    """All figures as plain values."""
    return {
        "errors": [asdict(case) | {"rule": name, "l1": value} for (case, name), value in found.items()],
        "counting": [asdict(one) for one in counted],
        "projecting": projected,
        "ranges": [asdict(one) | {"held": None if math.isnan(one.held) else one.held} for one in summed],
        "targets": [asdict(one) | {"found": None if math.isnan(one.found) else one.found} for one in judged],
    }


def main() -> None:
    options = _options()
    console = Console(width=120)
    if options.only == "ranges":
        compared = list(range_errors(releases=40 * options.repeat))
        console.print(range_table(compared))
        if options.json:
            options.json.write_text(json.dumps([asdict(one) for one in compared], indent=1) + "\n")
        return
    found: Errors = {}
    again: Errors = {}
    for case in CASES:
        repeat = options.repeat if case.cells > 1000 else 40 * options.repeat
        found |= errors(case, repeat=repeat)
        again |= errors(case, repeat=repeat, real=True)
    with TemporaryDirectory() as folder:
        counted = list(counting(Path(folder), options.rows, repeat=options.repeat))
    projected = projecting(repeat=options.repeat)
    summed = list(ranges(runs=10_000, repeat=options.repeat))
    judged = list(targets(found, again, counted, projected, summed))
    console.print(errors_table(found, again))
    console.print(targets_table(judged))
    if options.json:
        options.json.write_text(json.dumps(report(found, counted, projected, summed, judged), indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.histogram", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--only", choices=["ranges"], help="compare methods for ranges, and nothing else")
    parser.add_argument("--rows", type=int, default=ROWS, help="number of rows to count")
    parser.add_argument("--repeat", type=int, default=5, help="time each this often; the best counts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
