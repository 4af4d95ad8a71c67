"""Compare the errors of aggregates with other libraries: `python -m benchmarks.queries [--peer opendp=python …]`.

Sitr, OpenDP, PipelineDP, SmartNoise SQL, Tumult Analytics and Qrlew answer the same questions about the same seeded
tables, with the same protected people, caps, bounds and price, many times each. An error is the mean distance between
released and exact numbers. No share of Sitr's price measures the bias.

The libraries cannot be installed together. Each runs in a process of its own, with the interpreter that `--peer` names,
or with this one; a library that is not installed there is reported and left out.

An error of a finite number of answers is itself uncertain, and the smallest of several such errors is too small. So the
best peer of a question is the one with the smallest error in the first half of its answers, and its second half is
compared with all answers of Sitr. With errors e ± s and e' ± s', let z = (e − e')/√(s² + s'²).

- A question fails if z > 3.09, which happens by chance in one of a thousand. A kind of aggregate fails if one of its
  questions does, on any table at any price, or if Σz/√m > 2.33 over its m questions: one in a hundred by chance.
- An error that is known to less than 8% (s > 0.08·e, for Sitr and the peer, of the larger of both) is not judged:
  draw more answers, with `--repeat` and `--seconds`. Errors of quantiles below a tenth of a granule count as a tenth
  here: nobody sees them. Where n answers of a quantile are all right, the next may be wrong: its s is 1/n.
- The error of noise is the same in every table, and the error of a median by group is not: two libraries whose errors
  are equal over many tables differ by 5% in one, whichever rows were drawn. So `DRAWN` tables were drawn nine times,
  and such a question is one question about all nine: with the ratio r of the errors in each of them, z is the normal
  number as rare as Student's t = (mean r − 1)/(deviation of r/√9). The table of errors shows each draw too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import stats

from benchmarks.accounting import targets_table
from benchmarks.query_cases import DRAWN, TABLES, UNSEEN, Case, cases, distances, right
from benchmarks.targets import Target

SITR = "sitr"
PEERS = {
    "opendp": "opendp[polars]==0.16.0",
    "pipeline_dp": "pipeline-dp==0.3.1",
    "smartnoise": "smartnoise-sql==1.0.10",
    "tumult": "tmlt.analytics==0.21.0",
    "qrlew": "pyqrlew==0.9.27",
}
"""The peers, and what was installed for them. They need different versions of the same libraries."""

SURE = 3.09
"""The one-sided 99.9% quantile of the normal distribution."""

TOGETHER = 2.33
"""The one-sided 99% quantile, for all questions of one kind together."""

FEWEST = 30
"""The fewest answers whose mean error is judged: the standard error of fewer says little."""

PRECISE = 0.08
"""The largest relative standard error of a mean error that is judged; others are only shown."""

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean error of many answers and its standard error; or why there is none."""

    error: float = math.nan
    uncertain: float = math.nan
    answers: int = 0
    trouble: str = ""
    halves: tuple[Measured, Measured] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """An interval that contains the mean error with 99.8% confidence."""
        return max(0.0, self.error - SURE * self.uncertain), self.error + SURE * self.uncertain

    @property
    def first(self) -> Measured:
        """The first half of the answers."""
        return self if self.halves is None else self.halves[0]

    @property
    def second(self) -> Measured:
        """The second half of the answers."""
        return self if self.halves is None else self.halves[1]

    def precise(self, size: float) -> bool:
        """Whether it is known well enough, compared with its own size and with another one."""
        return self.answers >= FEWEST and self.uncertain <= PRECISE * max(self.error, size)


Results = Mapping[tuple[Case, str], Measured]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Sitr's error over the best peer's, with an interval, and the difference in standard errors."""

    peer: str
    value: float
    low: float
    high: float
    z: float


def errors(answers: Sequence[Sequence[float | None]], right: Sequence[float]) -> Measured:
    """The mean error over all groups. A group that is not shown counts as 0."""
    each = distances(answers, right)
    middle = len(each) // 2
    halves = (_mean(each[:middle]), _mean(each[middle:])) if middle >= 2 else None
    return replace(_mean(each), halves=halves)


def _mean(each: NDArray[np.float64]) -> Measured:
    return Measured(float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each))), len(each))


def ask(
    name: str,
    interpreter: str,
    asked: Sequence[Case],
    paths: Mapping[str, Path],
    *,
    repeat: int,
    seconds: float,
    limit: float,
    precise: float = 0.0,
    longer: Mapping[str, float] | None = None,
) -> dict[tuple[Case, str], Measured]:
    """The errors of one library, measured in a process of its own."""
    request = {
        "tables": {table: str(path) for table, path in paths.items()},
        "cases": [asdict(case) for case in asked],
        "repeat": repeat,
        "seconds": [(longer or {}).get(case.title, seconds) for case in asked],
        "precise": precise,
    }
    known = [str(ROOT), *([str(ROOT / "src")] if name == SITR else [])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(known), "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    command = [interpreter, "-W", "ignore", "-m", f"benchmarks.peers.{name}"]
    lines, why = _run(command, json.dumps(request), environment, limit=limit)
    drawn = {table: TABLES[table]() for table in paths}
    found = {}
    for line in map(json.loads, lines):
        case = Case(**line["case"])
        if "trouble" in line:
            found[case, name] = Measured(trouble=line["trouble"])
        else:
            found[case, name] = errors(line["answers"], right(drawn[case.table], case))
    missing = f"not installed, {PEERS.get(name, name)}: {why}"
    stopped = Measured(trouble=missing if "ModuleNotFoundError" in why else f"stopped: {why}"[:200])
    return {(case, name): found.get((case, name), stopped) for case in asked}


def _run(command: list[str], request: str, environment: Mapping[str, str], *, limit: float) -> tuple[list[str], str]:
    """The lines that a process wrote, and its last word. What it wrote before the time limit counts."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as running:
        try:
            out, words = running.communicate(request, timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # its own children, such as Spark, hold the pipes
            out, words = running.communicate()
            words = f"no answer in {limit:g} s"
    whole = out[: out.rfind("\n") + 1].splitlines()
    return whole, (words.strip().splitlines() or [f"exit {running.returncode}"])[-1]


def ratio(results: Results, case: Case) -> Ratio | None:
    """Sitr against the best peer; None if no peer answers often enough."""
    own, least = results.get((case, SITR), Measured()), 0.0 if case.level is None else UNSEEN
    size = max(least, 0.0 if own.trouble else own.error)
    others = {
        name: found
        for (asked, name), found in results.items()
        if asked == case and name != SITR and found.second.precise(size)
    }
    if not others:
        return None
    best = min(others, key=lambda name: others[name].first.error)
    if own.trouble:
        return Ratio(best, math.inf, math.inf, math.inf, math.inf)
    other = others[best].second
    if not own.precise(max(least, other.error)):
        return None
    (lowest, most), (low, high) = own.ends, other.ends
    value = own.error / other.error if other.error else math.inf if own.error else 1.0
    apart = math.hypot(*(_uncertain(one, case) for one in (own, other)))
    z = (own.error - other.error) / apart if apart else math.copysign(math.inf, value - 1) if value != 1 else 0.0
    return Ratio(best, value, lowest / high if high else math.inf, most / low if low else math.inf, z)


def _uncertain(found: Measured, case: Case) -> float:
    """The standard error; where all answers of a quantile are right, one more may be wrong by a granule."""
    return 1 / found.answers if case.level is not None and found.error == 0 else found.uncertain


def over_draws(results: Results, case: Case) -> Ratio | None:
    """The ratio of a question, over all draws of its table if at least two of them can be judged."""
    drawn = [replace(case, table=table) for table in (case.table, *DRAWN.get((case.table, case.price), ()))]
    found = [one for each in drawn if (one := ratio(results, each)) is not None]
    wrong = [one for one in found if math.isinf(one.value)]
    if len(found) < 2 or wrong:
        return wrong[0] if wrong else ratio(results, case)
    values = np.array([one.value for one in found])
    mean, sure = float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
    if sure == 0:
        return replace(found[0], value=mean, z=0.0 if mean == 1 else math.copysign(math.inf, mean - 1))
    student, far = stats.t(len(values) - 1), (mean - 1) / sure
    width = float(student.isf(0.001)) * sure
    z = float(stats.norm.isf(student.sf(far)))
    return Ratio(found[0].peer, mean, max(0.0, mean - width), mean + width, z)


def questions(results: Results) -> list[Case]:
    """All questions, each once: tables that were drawn again belong to the first draw."""
    first = {name: table for (table, _), names in DRAWN.items() for name in names}
    return list(dict.fromkeys(replace(case, table=first.get(case.table, case.table)) for case, _ in results))


def targets(results: Results) -> Iterator[Target]:
    """For each kind of aggregate, the worst of its tables and prices, and all of them together."""
    asked = questions(results)
    for title in dict.fromkeys(case.title for case in asked):
        found = [one for case in asked if case.title == title and (one := over_draws(results, case)) is not None]
        zs = [one.z for one in found]
        worst = max(zs, default=math.nan)
        together = math.fsum(zs) / math.sqrt(len(zs)) if zs else math.nan
        yield Target(f"standard errors above the best peer, {title}, worst of {len(found)}", worst, SURE)
        yield Target(f"standard errors above the best peer, {title}, together", together, TOGETHER)


# Tables


def errors_table(results: Results) -> Table:
    names = [name for name in (SITR, *PEERS) if any(asked == name for _, asked in results)]
    table = Table(title="Mean errors", title_justify="left", box=None, pad_edge=False)
    for heading in ("table", "aggregate", "price"):
        table.add_column(heading)
    for heading in (*names, "best peer", "ratio", "99.8%", "z"):
        table.add_column(heading, justify="right")
    for case in dict.fromkeys(case for case, _ in results):
        figures = [_figure(results.get((case, name), Measured()).error) for name in names]
        table.add_row(case.table, case.title, case.price, *figures, *_compared(ratio(results, case)))
    for case in questions(results):
        if any((replace(case, table=again), SITR) in results for again in DRAWN.get((case.table, case.price), ())):
            blank = [""] * len(names)
            found = over_draws(results, case)
            table.add_row(f"{case.table}, all draws", case.title, case.price, *blank, *_compared(found))
    return table


def _compared(found: Ratio | None) -> tuple[str, str, str, str]:
    if found is None:
        return "", "", "", ""
    return found.peer, f"{found.value:.2f}", f"{found.low:.2f}–{found.high:.2f}", f"{found.z:.1f}"


def reasons(results: Results) -> dict[str, dict[str, list[str]]]:
    """Why a library has no figure, with the questions concerned."""
    found: dict[str, dict[str, list[str]]] = {}
    for (case, name), one in results.items():
        if one.trouble:
            found.setdefault(name, {}).setdefault(one.trouble, []).append(f"{case.title} ({case.table}, {case.price})")
    return found


def report(results: Results, judged: Sequence[Target]) -> dict[str, object]:
    """All figures as plain values."""
    rows = []
    for (case, name), one in results.items():
        numbers = {} if one.trouble else {"error": one.error, "uncertain": one.uncertain}
        rows.append(asdict(case) | {"library": name, "answers": one.answers, "trouble": one.trouble} | numbers)
    plain = [asdict(one) | {"found": None if math.isnan(one.found) else one.found} for one in judged]
    return {"errors": rows, "targets": plain}


def _figure(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.3g}"


def main() -> None:
    options = _options()
    console = Console(width=150)
    interpreters = dict.fromkeys((SITR, *PEERS), sys.executable) | dict(options.peer)
    asked = [
        case for case in cases() if all(word in f"{case.table} {case.title} {case.price}" for word in options.only)
    ]
    with TemporaryDirectory() as folder:
        paths = {name: make().write(Path(folder)) for name, make in TABLES.items()}
        with ThreadPoolExecutor(options.jobs) as pool:
            jobs = [
                pool.submit(
                    ask,
                    name,
                    python,
                    asked,
                    paths,
                    repeat=options.repeat,
                    seconds=options.seconds,
                    limit=options.limit,
                    precise=options.precise,
                    longer=dict(options.longer),
                )
                for name, python in interpreters.items()
            ]
            results = {key: one for job in jobs for key, one in job.result().items()}
    judged = list(targets(results))
    console.print(errors_table(results))
    for name, why in reasons(results).items():
        for trouble, where in why.items():
            console.print(
                f"{name}: {trouble}: {len(where)} questions, such as {where[0]}", markup=False, highlight=False
            )
    console.print(targets_table(judged))
    if options.json:
        options.json.write_text(json.dumps(report(results, judged), indent=1) + "\n")


def _peer(text: str) -> tuple[str, str]:
    name, _, interpreter = text.partition("=")
    if name not in PEERS or not interpreter:
        raise argparse.ArgumentTypeError(f"write NAME=PYTHON, with one of {', '.join(PEERS)}")
    return name, interpreter


def _longer(text: str) -> tuple[str, float]:
    title, _, seconds = text.rpartition("=")
    if title not in {case.title for case in cases()}:
        raise argparse.ArgumentTypeError("write AGGREGATE=SECONDS, with an aggregate as in the table of errors")
    return title, float(seconds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.queries", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--peer", type=_peer, action="append", default=[], help="NAME=PYTHON: a library's interpreter")
    parser.add_argument(
        "--only", nargs="+", default=[], help="only questions whose table, title and price have these words"
    )
    parser.add_argument("--repeat", type=int, default=4_000, help="most answers to each question")
    parser.add_argument("--seconds", type=float, default=4.0, help="CPU seconds after which no further answer is drawn")
    parser.add_argument(
        "--longer", type=_longer, action="append", default=[], help="AGGREGATE=SECONDS: more CPU seconds for one kind"
    )
    parser.add_argument("--precise", type=float, default=0.05, help="relative standard error that is precise enough")
    parser.add_argument("--limit", type=float, default=1_800.0, help="time limit of a library in seconds")
    parser.add_argument("--jobs", type=int, default=2, help="libraries to run at the same time")
    return parser.parse_args()


if __name__ == "__main__":
    main()
