"""Compare samplers: `python -m benchmarks.noise [--json file]`. opendp and diffprivlib take part if installed.

Times are CPU times, the best of several, in nanoseconds for one draw. numpy's draws are not private: they are floats
from a predictable generator.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

from benchmarks.accounting import targets_table
from benchmarks.measure import forget
from benchmarks.targets import Target
from sitr.noise import discrete_gaussian, discrete_laplace, rounded_gaussian, system_coins
from sitr.noise.rounded import rounded_law

LAPLACE, GAUSSIAN, ROUNDED = "discrete Laplace", "discrete Gaussian", "rounded Gaussian"
SCALES = (1, 10, 1000, 10**6)
CASES = tuple((law, scale) for law in (LAPLACE, GAUSSIAN, ROUNDED) for scale in SCALES)
SITR, NUMPY, OPENDP, DIFFPRIVLIB = "sitr", "numpy", "opendp", "diffprivlib"
MANY = 1_000_000
DRAWS = {SITR: MANY, NUMPY: MANY, OPENDP: 5_000, DIFFPRIVLIB: 300}
"""Slow samplers draw fewer numbers: their time per draw does not depend on the number of draws."""

LONG = 3.0
"""CPU seconds after which no further run is timed."""

Case = tuple[str, int]
Draw = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Single:
    """More about Sitr: CPU seconds for its tables and for one draw, and how much time depends on the noise."""

    tables: float
    one: float
    correlation: float


def sampler(name: str, case: Case) -> Draw:
    """A function that draws any number of values of a distribution; raises ImportError if a peer is missing."""
    law, scale = case
    if name == SITR:
        if law == LAPLACE:
            return lambda count: discrete_laplace(scale=scale, size=count)
        gaussian = discrete_gaussian if law == GAUSSIAN else rounded_gaussian
        return lambda count: gaussian(sigma=scale, size=count)
    if name == NUMPY:
        generator = np.random.default_rng()
        if law == LAPLACE:
            return lambda count: generator.laplace(0.0, scale, count)
        return generator.standard_normal
    if law == ROUNDED:
        raise NotImplementedError("the other libraries draw the discrete law")
    return _opendp(law, scale) if name == OPENDP else _diffprivlib(law, scale)


def _opendp(law: str, scale: int) -> Draw:
    dp = import_module("opendp.prelude")

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if law == LAPLACE:
        mechanism = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale))
    else:
        mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T=int), scale=float(scale))
    return lambda count: mechanism([0] * count)


def _diffprivlib(law: str, scale: int) -> Draw:
    mechanisms = import_module("diffprivlib.mechanisms")

    if law == LAPLACE:
        mechanism = mechanisms.Geometric(epsilon=1 / scale, sensitivity=1)
    else:
        mechanism = mechanisms.GaussianDiscrete(epsilon=1.0, delta=1e-5, sensitivity=1)
        mechanism._scale = float(scale)
    return lambda count: [mechanism.randomise(0) for _ in range(count)]


def cpu_per_draw(draw: Draw, count: int, *, repeat: int) -> float:
    """The smallest CPU time per draw in seconds, without building tables. Slow samplers draw fewer numbers."""
    start = time.process_time()
    draw(1)
    first, times = time.process_time() - start, [0.0]
    count = min(count, math.ceil(LONG / first)) if first > LONG / 10 else count
    while len(times) <= repeat and sum(times) < LONG:
        start = time.process_time()
        draw(count)
        times.append(time.process_time() - start)
    return min(times[1:]) / count


def tables_and_first_draw(draw: Callable[[], object], *, repeat: int) -> float:
    """CPU seconds until the first draw, including tables."""
    times = []
    for _ in range(repeat):
        forget()
        start = time.process_time()
        draw()
        times.append(time.process_time() - start)
    return min(times)


def time_follows_noise(draw: Callable[[], int], count: int) -> float:
    """Spearman's rank correlation of |noise| and the time of its draw."""
    draw()
    clock, spent, drawn = time.perf_counter_ns, [0] * count, [0] * count
    collecting = gc.isenabled()
    gc.disable()
    for i in range(count):
        start = clock()
        found = draw()
        spent[i] = clock() - start
        drawn[i] = found
    if collecting:
        gc.enable()
    return float(spearmanr(spent, [float(abs(number)) for number in drawn]).statistic)


def singles(case: Case, *, repeat: int, watched: int) -> Single:
    law, scale = case

    def draw() -> int:
        if law == ROUNDED:
            return rounded_law(scale).one(system_coins())
        return discrete_laplace(scale=scale) if law == LAPLACE else discrete_gaussian(sigma=scale)

    many = sampler(SITR, case)
    tables = tables_and_first_draw(lambda: many(1), repeat=repeat)
    one = cpu_per_draw(lambda count: [draw() for _ in range(count)], 10_000, repeat=repeat)
    return Single(tables, one, time_follows_noise(draw, watched))


Times = dict[tuple[Case, str], float]


def targets(times: Times, single: dict[Case, Single]) -> Iterator[Target]:
    """All targets, each at its worst case."""

    def ratios(law: str, name: str) -> list[float]:
        return [times[(law, s), name] / times[(law, s), SITR] for s in SCALES if ((law, s), name) in times]

    for law in (LAPLACE, GAUSSIAN):
        least = min(ratios(law, OPENDP), default=math.nan)
        yield Target(f"{law}: CPU of opendp / Sitr, least", least, 300, at_most=False)
    yield Target(f"{LAPLACE}: CPU of Sitr / numpy's Laplace, most", 1 / min(ratios(LAPLACE, NUMPY)), 1)
    yield Target(f"{GAUSSIAN}: CPU of Sitr / numpy's normal, most", 1 / min(ratios(GAUSSIAN, NUMPY)), 3)
    slower = max(times[(ROUNDED, s), SITR] / times[(GAUSSIAN, s), SITR] for s in SCALES)
    yield Target(f"{ROUNDED}: CPU / {GAUSSIAN}, most", slower, 1.2)
    yield Target("tables and first draw, ms, most", 1e3 * max(found.tables for found in single.values()), 50)
    yield Target("a single draw, µs, most", 1e6 * max(found.one for found in single.values()), 20)
    worst = max(abs(found.correlation) for found in single.values())
    yield Target("|Spearman| of time and |noise|, most", worst, 0.03)


def draws_table(times: Times, single: dict[Case, Single], missing: set[str]) -> Table:
    table = Table(title="A million draws", title_justify="left", box=None, pad_edge=False)
    for heading in ("", "sampler", "ns per draw", "× Sitr", "tables ms", "one µs", "Spearman"):
        table.add_column(heading, justify="left" if heading in ("", "sampler") else "right")
    for (case, name), spent in times.items():
        title, own = (f"{case[0]}, {case[1]:g}", single[case]) if name == SITR else ("", None)
        extra = (f"{own.tables * 1e3:.1f}", f"{own.one * 1e6:.1f}", f"{own.correlation:+.4f}") if own else ("", "", "")
        table.add_row(title, name, f"{spent * 1e9:,.1f}", f"{spent / times[case, SITR]:,.1f}", *extra)
    for name in sorted(missing):
        table.add_row("", name, "cannot be imported")
    return table


def main() -> None:
    options = _options()
    console, progress = Console(width=120), Console(stderr=True)
    times: Times = {}
    single: dict[Case, Single] = {}
    missing: set[str] = set()
    for case in CASES:
        for name, count in DRAWS.items():
            try:
                times[case, name] = cpu_per_draw(sampler(name, case), count, repeat=options.repeat)
            except ImportError:
                missing.add(name)
            except NotImplementedError:
                continue
        single[case] = singles(case, repeat=options.repeat, watched=options.watched)
        progress.print(f"{case[0]}, {case[1]:g}: done")
    judged = list(targets(times, single))
    console.print(draws_table(times, single, missing))
    console.print(targets_table(judged))
    if options.json:
        options.json.write_text(json.dumps(report(times, single, judged), indent=1) + "\n")


def report(times: Times, single: dict[Case, Single], judged: list[Target]) -> dict[str, object]:
    """All figures as plain values."""
    rows = [
        {"law": law, "scale": scale, "sampler": name, "seconds": spent}
        | (asdict(single[law, scale]) if name == SITR else {})
        for ((law, scale), name), spent in times.items()
    ]
    kept = [asdict(one) | {"found": None if math.isnan(one.found) else one.found} for one in judged]
    return {"versions": {name: _version(name) for name in DRAWS}, "draws": rows, "targets": kept}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--repeat", type=int, default=9, help="time each at most this often; the best counts")
    parser.add_argument(
        "--watched", type=int, default=100_000, help="single draws whose time is compared with the noise"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
