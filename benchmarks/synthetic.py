"""Compare synthetic rows: `python -m benchmarks.synthetic adult.csv adult-domain.json [--json file]`.

The table holds cell numbers, and its domain the number of cells of each column. The figures are the mean of Σ|p − q|
over all pairs of columns, between the table and synthetic rows, and CPU seconds. smartnoise-synth takes part if it is
installed.

`python -m benchmarks.synthetic flights.parquet flights.yaml --described` takes any CSV or Parquet file. The YAML file
has, for each column, `bounds: [low, high]` and optionally `bins` (64 if left out), or `keys: [...]`. Errors are then
also reported for triples, on the grid of these cells: bins of equal width, one cell for each key, and one for NULL.
`python -m benchmarks.synthetic --known flights diamonds` takes tables that come with packages, as described in
`benchmarks.known_tables`, and `--epsilon 0.1` another price, (0.1, 10⁻⁹). With `--runs 5` each method runs five times,
and the figures are means ± standard deviations over the runs. AIM compiles its model anew in every round;
`--megabytes 2` keeps the model so small that it ends on tables of few columns.

Without files, `python -m benchmarks.synthetic` imitates a made-up year of 336,776 flights, and counts the pairs on
which synthetic rows are worse than independent columns.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import yaml
from numpy.typing import NDArray
from pyarrow.csv import read_csv
from pyarrow.parquet import read_table
from rich.console import Console
from rich.table import Table

import sitr
from benchmarks.accounting import targets_table
from benchmarks.adaptive_marginals import MOST_MEGABYTES, adaptive_marginals
from benchmarks.known_tables import KNOWN, known_table
from benchmarks.spanning_tree import spanning_tree
from benchmarks.targets import Target
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.shared import SharedNoise
from sitr.neighbors.distance import Distance
from sitr.questions.synthetic.marginals import shares

ORDERED = (
    *("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
    *("month", "day", "hour", "distance", "air_time", "dep_delay", "arr_delay"),
)
EPSILON, DELTA = 1.0, 1e-9
RHO = 0.014973057673588523
"""ρ for (1, 10⁻⁹)."""

MANY = 1_000_000

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Census:
    """Rows of cell numbers, and the number of cells of each column."""

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
    """The mean error over all pairs, CPU seconds to fit and to draw a million rows, and the error of each pair."""

    error: float = math.nan
    cpu: float = math.nan
    draw: float = math.nan
    trouble: str = ""
    pairs: tuple[float, ...] = ()
    triples: float = math.nan


Method = Callable[[Census], Found]


def errors(census: Census, rows: Codes, *, size: int = 2) -> list[float]:
    """Σ|p − q| of each pair, or of each set of this many columns, between 0 and 2."""

    def share(of: Codes, columns: tuple[int, ...]) -> NDArray[np.float64]:
        shape = tuple(census.cells[column] for column in columns)
        places = np.ravel_multi_index(tuple(of[:, column] for column in columns), shape)
        return np.bincount(places, minlength=math.prod(shape)) / len(of)

    sets = combinations(range(len(census.names)), size)
    return [float(np.abs(share(census.rows, columns) - share(rows, columns)).sum()) for columns in sets]


def described(data: Path, description: Path) -> Census:
    """A file as cell numbers, by a public description of its columns."""
    table = read_table(data) if data.suffix == ".parquet" else read_csv(data)
    cells, rows = [], []
    public = yaml.safe_load(description.read_text())
    for name, known in public.items():
        column = table[name].to_pandas()
        if "keys" in known:
            codes = column.map({key: code for code, key in enumerate(known["keys"])})
            count = len(known["keys"])
        else:
            (low, high), count = known["bounds"], known.get("bins", 64)
            codes = ((column - low) / (high - low) * count).clip(0, count - 1)
        missing = bool(codes.isna().any()) or known.get("null", False)
        cells.append(count + missing)
        rows.append(codes.fillna(count).astype(np.int64).to_numpy())
    return Census(tuple(public), tuple(cells), np.column_stack(rows))


def compare_described(data: Path, description: Path, names: Sequence[str], console: Console, *, runs: int = 1) -> None:
    """The errors of pairs and triples of each method, on the described cells."""
    ordered = [name for name, known in yaml.safe_load(description.read_text()).items() if "bounds" in known]
    compare(described(data, description), ordered, names, console, runs=runs)


def compare_known(known: str, names: Sequence[str], console: Console, *, runs: int = 1) -> None:
    """The same for a table that comes with a package."""
    cells, ordered, rows = known_table(known)
    census = Census(tuple(cells), tuple(cells.values()), rows)
    console.print(f"{known}: {len(rows):,} rows, {len(cells)} columns")
    compare(census, ordered, names, console, runs=runs)


def compare(census: Census, ordered: Sequence[str], names: Sequence[str], console: Console, *, runs: int) -> None:
    table = Table("method", "pairs", "triples", "CPU s", "")
    for name in names:
        found = [METHODS[name](census, ordered=ordered) if name == SITR else ask(name, census) for _ in range(runs)]
        triples = spread([each.triples for each in found])
        cpu = float(np.mean([each.cpu for each in found]))
        table.add_row(name, spread([each.error for each in found]), triples, f"{cpu:.1f}", found[0].trouble)
    console.print(table)


def spread(figures: Sequence[float]) -> str:
    """The mean, and the standard deviation if there are several runs; empty if a run has no figure."""
    mean = float(np.mean(figures))
    if math.isnan(mean):
        return ""
    return f"{mean:.4f}" if len(figures) == 1 else f"{mean:.4f} ± {float(np.std(figures, ddof=1)):.4f}"


def mean_error(census: Census, rows: Codes) -> float:
    """The mean over all pairs."""
    return float(np.mean(errors(census, rows)))


def ours(
    census: Census,
    *,
    rho: float = RHO,
    ordered: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    fit_triples: bool = False,
) -> Found:
    """Sitr, as its users run it: through a ledger, with the system's coins, with or without tables of triples.

    If columns are named as `ordered`, the price is (ε, δ), and triples are compared as well.
    """
    price = sitr.ZeroConcentratedDP(rho) if ordered is None else sitr.ApproximateDP(epsilon, DELTA)
    judge_triples = ordered is not None
    ordered = [name for name in census.names if name in ORDERED] if ordered is None else ordered
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
        budget = data.budget(price, ledger=f"{folder}/ledger.db")
        asked = budget.synthesize(bins=max(census.cells), required=census.names, fit_triples=fit_triples)
        made = asked.release(price)
    rows = made.draw(len(census.rows))
    cpu = time.process_time() - start
    start = time.process_time()
    made.draw(MANY)
    draw = time.process_time() - start
    drawn = np.column_stack([rows[name] for name in census.names])
    of_pairs = errors(census, drawn)
    triples = float(np.mean(errors(census, drawn, size=3))) if judge_triples else math.nan
    return Found(float(np.mean(of_pairs)), cpu, draw, pairs=tuple(of_pairs), triples=triples)


def independent(census: Census, *, rho: float = RHO) -> Found:
    """Spend the whole price on single columns."""
    start = time.process_time()
    weights = np.array(census.cells) ** (2 / 3)
    generator = np.random.default_rng()
    columns = []
    for place, (cells, weight) in enumerate(zip(census.cells, weights / weights.sum(), strict=True)):
        counts = np.bincount(census.rows[:, place], minlength=cells)
        noisy = Gaussian.fitting(sitr.ZeroConcentratedDP(rho * weight), sensitivity=1).release(counts)
        share = shares(noisy.astype(np.float64), len(census.rows))
        columns.append(generator.choice(cells, len(census.rows), p=share))
    of_pairs = errors(census, np.column_stack(columns))
    return Found(float(np.mean(of_pairs)), time.process_time() - start, pairs=tuple(of_pairs))


def independent_laplace(census: Census, *, epsilon: float = EPSILON) -> Found:
    """The same with Laplace noise at ε, for which no δ is needed: better at a low price and few columns."""
    start = time.process_time()
    one = Distance(l1=1, l2_squared=1, largest=1)
    noises = SharedNoise(sitr.PureDP(epsilon), one).noises(census.cells)
    generator = np.random.default_rng()
    columns = []
    for place, (cells, noise) in enumerate(zip(census.cells, noises, strict=True)):
        noisy = np.asarray(noise.release(np.bincount(census.rows[:, place], minlength=cells)), dtype=np.float64)
        columns.append(generator.choice(cells, len(census.rows), p=shares(noisy, len(census.rows))))
    of_pairs = errors(census, np.column_stack(columns))
    return Found(float(np.mean(of_pairs)), time.process_time() - start, pairs=tuple(of_pairs))


def bootstrap(census: Census) -> Found:
    """The table itself, resampled with replacement: not private."""
    drawn = np.random.default_rng().integers(0, len(census.rows), len(census.rows))
    return Found(mean_error(census, census.rows[drawn]))


def tree(census: Census) -> Found:
    """MST: a spanning tree of pairs, chosen privately, fitted by mbi as a graphical model."""
    start = time.process_time()
    rows = spanning_tree(census.rows, census.cells, rho=RHO)
    return Found(mean_error(census, rows), time.process_time() - start)


def adaptive(census: Census, *, megabytes: float = MOST_MEGABYTES) -> Found:
    """AIM: marginals chosen one after another where the model is worst, fitted by mbi as a graphical model."""
    start = time.process_time()
    rows = adaptive_marginals(census.rows, census.cells, rho=RHO, megabytes=megabytes)
    cpu, triples = time.process_time() - start, float(np.mean(errors(census, rows, size=3)))
    return Found(mean_error(census, rows), cpu, triples=triples)


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


SITR, AIM = "Sitr", "AIM on mbi"
INDEPENDENT, LAPLACE = "independent", "independent, Laplace noise"
METHODS: dict[str, Callable[..., Found]] = {
    SITR: ours,
    INDEPENDENT: independent,
    LAPLACE: independent_laplace,
    "bootstrap, not private": bootstrap,
    "MST on mbi": tree,
    AIM: adaptive,
    "smartnoise-synth MST": smartnoise("mst"),
    "smartnoise-synth AIM": smartnoise("aim"),
}


def ask(name: str, census: Census) -> Found:
    try:
        return METHODS[name](census)
    except ModuleNotFoundError as error:
        return Found(trouble=f"{error.name} is not installed")
    except Exception as error:  # any exception of another library is its answer
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


def flights(rows: int = 336_776, *, seed: int = 2013) -> Census:
    """A made-up year of flights from three airports, with the kinds of dependence that such a table has: months have
    their days, routes belong to carriers, planes to one carrier, distance follows from the route, times in the air from
    distance, and late departures arrive late."""
    generator = np.random.default_rng(seed)
    month = generator.integers(0, 12, rows)
    day = (generator.random(rows) * np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])[month]).astype(np.int64)
    origin = generator.choice(3, rows, p=[0.36, 0.33, 0.31])
    carrier, dest = np.zeros((2, rows), dtype=np.int64)
    for o, carriers in enumerate(generator.dirichlet(np.full(16, 0.4), 3)):
        here = np.flatnonzero(origin == o)
        carrier[here] = generator.choice(16, len(here), p=carriers)
        for c, routes in enumerate(generator.dirichlet(np.full(105, 0.08), 16)):
            there = here[carrier[here] == c]
            dest[there] = generator.choice(105, len(there), p=routes)
    plane = carrier * 4 + generator.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1])
    miles = np.clip(generator.gamma(2.2, 450, 105), 80, 4900)[dest] + 12 * origin
    air = miles / 7.5 + 18 + generator.normal(0, 9, rows)
    hour = generator.choice([7, 9, 13, 16, 18, 20], rows, p=[0.2, 0.18, 0.18, 0.18, 0.16, 0.1])
    hour = np.clip(np.rint(hour + generator.normal(0, 1.5, rows) + carrier % 3), 5, 23).astype(np.int64)
    late = generator.random(rows) < 0.2 + 0.01 * hour
    departed = np.where(late, generator.exponential(45 + 10 * (month % 6 == 0)), generator.normal(-4, 4, rows))
    arrived = departed - 5 + generator.normal(0, 14, rows)

    def cut(values: NDArray[np.float64], low: float, high: float) -> Codes:
        return np.clip((values - low) / (high - low) * 64, 0, 63).astype(np.int64)

    columns = {
        "month": (month, 12),
        "day": (day, 31),
        "hour": (hour, 24),
        "carrier": (carrier, 16),
        "plane": (plane, 64),
        "origin": (origin, 3),
        "dest": (dest, 105),
        "distance": (cut(miles, 0, 5000), 64),
        "air_time": (cut(air, 0, 700), 64),
        "dep_delay": (cut(departed, -60, 240), 64),
        "arr_delay": (cut(arrived, -60, 240), 64),
    }
    rows_of_codes = np.column_stack([codes for codes, _ in columns.values()])
    return Census(tuple(columns), tuple(cells for _, cells in columns.values()), rows_of_codes)


def year_of_flights(console: Console) -> None:
    """Compare with independent columns, at two prices."""
    census = flights()
    table = Table("ρ", "Sitr", "CPU s", "independent", "pairs worse than independent", "by at most")
    for rho in (RHO, 0.1):
        found, apart = ours(census, rho=rho), independent(census, rho=rho)
        excess = np.array(found.pairs) - np.array(apart.pairs)
        figures = (f"{found.error:.4f}", f"{found.cpu:.1f}", f"{apart.error:.4f}")
        table.add_row(f"{rho:.3f}", *figures, f"{(excess > 0).sum()} of {len(excess)}", f"{excess.max():.4f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("domain", type=Path, nargs="?")
    parser.add_argument("--described", action="store_true", help="the domain is a YAML file with bounds and keys")
    parser.add_argument("--only", choices=METHODS, nargs="*", default=list(METHODS))
    parser.add_argument("--runs", type=int, default=1, help="runs of each method, with --described")
    parser.add_argument("--known", choices=KNOWN, nargs="*", default=[], help="tables that come with packages")
    parser.add_argument("--epsilon", type=float, default=EPSILON, help="of Sitr and independent columns, at δ = 1e-9")
    parser.add_argument("--fit-triples", action="store_true", help="Sitr measures tables of triples, too")
    parser.add_argument("--megabytes", type=float, default=MOST_MEGABYTES, help="the largest model of AIM")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    METHODS[AIM] = partial(adaptive, megabytes=given.megabytes)
    METHODS[SITR] = partial(ours, fit_triples=given.fit_triples)
    if given.epsilon != EPSILON:
        rho = sitr.ZeroConcentratedDP.fitting(sitr.ApproximateDP(given.epsilon, DELTA)).rho
        METHODS[SITR] = partial(ours, epsilon=given.epsilon, fit_triples=given.fit_triples)
        METHODS[INDEPENDENT] = partial(independent, rho=rho)
        METHODS[LAPLACE] = partial(independent_laplace, epsilon=given.epsilon)
    if given.known:
        for known in given.known:
            compare_known(known, given.only, Console(), runs=given.runs)
        return
    if given.data is None or given.domain is None:
        year_of_flights(Console())
        return
    if given.described:
        compare_described(given.data, given.domain, given.only, Console(), runs=given.runs)
        return
    domain = json.loads(given.domain.read_text())
    read = read_csv(given.data)
    rows = np.column_stack([np.asarray(read[name], dtype=np.int64) for name in domain])
    whole = Census(tuple(domain), tuple(domain.values()), rows)
    few = whole.only([name for name in whole.names if name not in ORDERED])
    results = {name: (ask(name, whole), ask(name, few)) for name in given.only}
    table = Table("method", "all pairs", "CPU s", "categorical pairs", "CPU s", "10^6 rows, CPU s", "")
    for name, (all_found, few_found) in results.items():
        figures = (all_found.error, all_found.cpu, few_found.error, few_found.cpu, all_found.draw)
        cells = ["" if math.isnan(figure) else f"{figure:.4f}" for figure in figures]
        table.add_row(name, *cells, all_found.trouble)
    console = Console()
    console.print(table)
    if SITR in results:
        console.print(targets_table(targets(*results[SITR])))
    if given.json is not None:
        content = {name: [asdict(found) for found in pair] for name, pair in results.items()}
        given.json.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
