"""Measure how quickly commands start: `python -m benchmarks.startup [--repeat 7] [--json figures.json]`.

Each command runs in new processes, in a folder with a small made-up hospital, its description and its ledger. The
figure is the CPU time of the whole process, user and system: the best of several runs, with compiled modules on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pyarrow.parquet import write_table
from rich.console import Console

from benchmarks.accounting import targets_table
from benchmarks.measure import import_seconds
from benchmarks.targets import Target
from sitr.dataset.hospital import WARDS, hospital
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.session.dataset import protect

SQL = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
RUN = "import sys; sys.argv[0] = 'sitr'; from sitr.cli.main import main; main()"
REFUSAL, PREVIEW = 0.3, 0.6


@dataclass(frozen=True, slots=True)
class Case:
    """A command, how it must end, and the most CPU seconds that it may take; None if there is no target."""

    name: str
    words: tuple[str, ...]
    code: int = 0
    most: float | None = None


# In this order: a question that was answered has a kept answer, which its preview reads.
CASES = (
    Case("help", ("--help",), most=REFUSAL),
    Case("a missing argument", ("preview", "visits.sitr.yaml"), 2, REFUSAL),
    Case("an unknown option", ("preview", "visits.sitr.yaml", SQL, "--prise", "zcdp(0.05)"), 2, REFUSAL),
    Case("an unknown command", ("previw",), 2, REFUSAL),
    Case("a price that cannot be read", ("preview", "visits.sitr.yaml", SQL, "--price", "zcpd(0.05)"), 2, REFUSAL),
    Case("a description that does not exist", ("ask", "missing.yaml", SQL, "--price", "zcdp(0.05)"), 2, REFUSAL),
    Case("a data set that does not exist", ("protect", "missing.parquet", "--unit-row"), 1, REFUSAL),
    Case("a ledger that does not exist", ("ledger", "show", "missing.db"), 1, REFUSAL),
    Case("a preview", ("preview", "visits.sitr.yaml", SQL, "--price", "zcdp(0.05)"), most=PREVIEW),
    Case("an answer", ("ask", "visits.sitr.yaml", SQL, "--price", "zcdp(0.001)")),
    Case(
        "a preview of an answered question", ("preview", "visits.sitr.yaml", SQL, "--price", "zcdp(0.05)"), most=PREVIEW
    ),
    Case("a ledger, shown", ("ledger", "show", "sitr.db")),
)


def prepare(folder: Path) -> None:
    """Write the visits, their description and their ledger."""
    write_table(hospital(2_000), folder / "visits.parquet")
    visits = protect(
        folder / "visits.parquet",
        unit="patient_id",
        max_groups=3,
        max_rows_per_group=2,
        bounds={"cost": (0, 5_000)},
        granularity={"cost": 0.01},
        keys={"ward": WARDS},
    )
    visits.save(folder / "visits.sitr.yaml", promise=ZeroConcentratedDP(0.5), ledger=folder / "sitr.db")


def seconds(case: Case, folder: Path, *, repeat: int) -> float:
    """The smallest CPU time of `repeat` runs. A first run, which compiles modules, is not counted."""
    return min([_once(case, folder) for _ in range(repeat + 1)][1:])


def _once(case: Case, folder: Path) -> float:
    command = [sys.executable, "-c", RUN, *case.words]
    compiling = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=compiling, stdout=quiet, stderr=quiet) as process:
        _, status, used = os.wait4(process.pid, 0)  # of this process alone, whatever else the machine does
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != case.code:
        raise SystemExit(f"sitr {' '.join(case.words)} ended with {process.returncode}, not with {case.code}.")
    return used.ru_utime + used.ru_stime


def targets(found: Mapping[str, float], *, import_time: float) -> Iterator[Target]:
    """The commands with a target, and `import sitr`."""
    for case in CASES:
        if case.most is not None:
            yield Target(f"CPU seconds of {case.name}", found[case.name], case.most)
    yield Target("CPU seconds of `import sitr`", import_time, 0.3)


def main() -> None:
    """Measure all commands, print the figures, and write them."""
    parser = argparse.ArgumentParser(description="Measure how quickly commands start.")
    parser.add_argument("--repeat", type=int, default=7, help="how often each command is timed")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        prepare(Path(name))
        found = {case.name: seconds(case, Path(name), repeat=options.repeat) for case in CASES}
    judged = list(targets(found, import_time=import_seconds("import sitr", repeat=options.repeat)))
    console = Console()
    console.print(targets_table(judged))
    for case in CASES:
        if case.most is None:
            console.print(f"CPU seconds of {case.name}: {found[case.name]:.3g}", highlight=False)
    if options.json is not None:
        content = {"seconds": found, "targets": [asdict(one) | {"verdict": one.verdict} for one in judged]}
        options.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
