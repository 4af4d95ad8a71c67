"""Compare accountants: `python -m benchmarks.accounting [--json file]`. Peers come with the extra `bench`."""

from __future__ import annotations

import argparse
import json
import math
import platform
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.cases import CALIBRATION, DP_SGD, MIXTURE, SCHEDULES, SMALL_DELTA, SMOOTH, Case, Mixture, Training
from benchmarks.measure import Measured, import_seconds, measure
from benchmarks.subjects import FINE, SITR, SUBJECTS, Subject
from benchmarks.targets import Results, Target, targets

CASES: tuple[Case, ...] = (*DP_SGD, *SMOOTH, *SMALL_DELTA, MIXTURE, *SCHEDULES, CALIBRATION)
IMPORTS = {
    "sitr": "import sitr",
    "sitr, the loss": "import sitr.loss.loss",
    "dp-accounting": "import dp_accounting.pld",
    "prv-accountant": "import prv_accountant",
    "autodp": "import autodp.mechanism_zoo",
    "Opacus": "import opacus",
}
PACKAGES = ("sitr", "dp-accounting", "prv-accountant", "autodp", "opacus", "torch", "numpy", "scipy")


def main() -> None:
    options = _options()
    console, progress = Console(width=150), Console(stderr=True, soft_wrap=True)
    chosen = [subject for subject in SUBJECTS if not options.only or subject.name in options.only]
    results: dict[tuple[Case, str], Measured] = {}
    for case in CASES:
        for subject, found in measured(case, chosen, repeat=options.repeat, limit=options.limit):
            results[case, subject.name] = found
            progress.print(f"{case.title}: {subject.name}, {found.trouble or f'{found.cpu:.3f} CPU seconds'}")
    imports = {name: import_seconds(statement) for name, statement in IMPORTS.items()}
    judged = list(targets(results, import_time=imports["sitr"]))
    for table in (answers_table(results), imports_table(imports), targets_table(judged)):
        console.print(table)
    if options.json:
        options.json.write_text(json.dumps(report(results, imports, judged), indent=1, ensure_ascii=False) + "\n")


def measured(case: Case, subjects: list[Subject], **how: float) -> Iterator[tuple[Subject, Measured]]:
    """Ask one after the other, Sitr first, so that the others can be asked for an interval as narrow as Sitr's."""
    wanted = case
    for subject in subjects:
        found = measure(subject, wanted, **how)  # type: ignore[arg-type]
        if subject.name == SITR and isinstance(case, Training) and not found.trouble:
            wanted = replace(case, error=5e-4 * found.upper)
        yield subject, found


# Tables


def verdict(case: Case, name: str, results: Results) -> str:
    """How an answer compares with the proved interval."""
    found = results[case, name]
    if found.trouble:
        return found.trouble
    if name in (SITR, FINE):
        return f"width {(found.upper - found.lower) / found.upper:.1e}" if found.upper > found.lower else ""
    if not isinstance(case, Training | Mixture):
        return ""
    low, high = proved(case, results)
    if math.isnan(high):
        return ""
    if found.upper < low:
        return f"TOO LOW: {found.upper:.6g} is claimed, at least {low:.6g} is proved"
    if found.lower > high:
        return f"TOO HIGH: at least {found.lower:.6g} is claimed, at most {high:.6g} is proved"
    if found.lower > -math.inf:
        return f"right, ± {(found.upper - found.lower) / (found.upper + found.lower):.1%}"
    return "right" if found.upper <= high else f"{100 * (found.upper / high - 1):.2g}% above"


def proved(case: Case, results: Results) -> tuple[float, float]:
    """The narrowest interval that Sitr proves in this run."""
    own = [found for name in (SITR, FINE) if (found := results.get((case, name))) and not found.trouble]
    lows, highs = [one.lower for one in own], [one.upper for one in own]
    return max(lows, default=math.nan), min(highs, default=math.nan)


def answers_table(results: Results) -> Table:
    table = Table(title="Accountants", title_justify="left", box=None, pad_edge=False)
    for heading, side in (("", "left"), ("answer", "right"), ("CPU ms", "right"), ("× Sitr", "right"), ("MB", "right")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    table.add_column("compared with what is proved")
    last: Case | None = None
    for (case, name), found in results.items():
        if found.trouble == "cannot be asked":
            continue
        if case != last:
            table.add_row()
            table.add_row(f"[bold]{case.title}[/bold]")
            last = case
        own = results.get((case, SITR), Measured()).cpu
        figures = (_figure(found.cpu * 1000, ".1f"), _figure(found.cpu / own, ".1f"), _figure(found.memory, ".0f"))
        table.add_row(f"  {name}", _answer(found), *figures, verdict(case, name, results))
    return table


def imports_table(imports: dict[str, float]) -> Table:
    table = Table("import", title="Imports, CPU seconds", title_justify="left", box=None, pad_edge=False)
    table.add_column("seconds", justify="right")
    for name, seconds in imports.items():
        table.add_row(name, _figure(seconds, ".3f"))
    return table


def targets_table(judged: list[Target]) -> Table:
    table = Table("target", title="Targets", title_justify="left", box=None, pad_edge=False)
    table.add_column("found", justify="right")
    table.add_column("wanted", justify="right")
    table.add_column("")
    for one in judged:
        bound = f"{'≤' if one.at_most else '≥'} {one.bound:g}"
        table.add_row(one.text, _figure(one.found, ".3g"), bound, one.verdict)
    return table


def _answer(found: Measured) -> str:
    if found.trouble:
        return ""
    if found.lower in (-math.inf, found.upper):
        return f"{found.upper:.7g}"
    return f"{found.lower:.7g} … {found.upper:.7g}"


def _figure(number: float, form: str) -> str:
    return "" if math.isnan(number) else format(number, form)


# The report


def report(results: Results, imports: dict[str, float], judged: list[Target]) -> dict[str, object]:
    """All figures as plain values; a number that JSON cannot write is null."""
    return {
        "machine": {"python": platform.python_version(), "processor": _processor()},
        "versions": {name: _version(name) for name in PACKAGES},
        "answers": [
            {"case": case.title, "accountant": name, **_plain(asdict(found)), "verdict": verdict(case, name, results)}
            for (case, name), found in results.items()
            if found.trouble != "cannot be asked"
        ],
        "imports": _plain(imports),
        "targets": [_plain(asdict(one)) | {"verdict": one.verdict} for one in judged],
    }


def _plain(values: dict[str, object] | dict[str, float]) -> dict[str, object]:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in values.items()
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accounting", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--only", nargs="+", metavar="NAME", help=", ".join(subject.name for subject in SUBJECTS))
    parser.add_argument("--repeat", type=int, default=7, help="time each at most this often; the best counts")
    parser.add_argument("--limit", type=float, default=240.0, help="time limit of an answer in seconds")
    return parser.parse_args()


if __name__ == "__main__":
    main()
