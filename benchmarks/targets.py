"""The targets for speed, accuracy and memory, and whether this run meets them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.cases import (
    CALIBRATION,
    DP_SGD,
    KNOWN,
    MIXTURE,
    SCHEDULES,
    SMALL_DELTA,
    SMOOTH,
    STEPS,
    USUAL,
    Case,
    Training,
)
from benchmarks.measure import Measured
from benchmarks.subjects import DP_ACCOUNTING, FINE, PRV, PRV_NARROW, SITR

Results = Mapping[tuple[Case, str], Measured]


@dataclass(frozen=True, slots=True)
class Target:
    """A figure with its upper or lower bound. NaN means that it was not measured."""

    text: str
    found: float
    bound: float
    at_most: bool = True

    @property
    def verdict(self) -> str:
        if math.isnan(self.found):
            return "not measured"
        return "pass" if (self.found <= self.bound if self.at_most else self.found >= self.bound) else "FAIL"


def targets(results: Results, *, import_time: float) -> Iterator[Target]:
    """All targets, each at its worst case."""
    for text, other, bound in (
        ("dp-accounting", DP_ACCOUNTING, 20),
        ("prv-accountant (± 0.1)", PRV, 50),
        ("prv-accountant (as narrow as Sitr)", PRV_NARROW, 50),
    ):
        answered = [case for case in DP_SGD if not math.isnan(_cpu(results, case, other))]
        least = -_most(-_cpu(results, case, other) / _cpu(results, case, SITR) for case in answered)
        yield Target(f"CPU of {text} / Sitr, least of {len(answered)} cases it answers", least, bound, at_most=False)
    yield Target("relative width of the interval, widest", _most(_width(results, case, SITR) for case in DP_SGD), 1e-3)
    yield Target("relative width at 1e-5, widest", _most(_width(results, case, FINE) for case in DP_SGD), 1e-5)
    yield Target("known values outside the interval", _outside(results), 0)
    fine = (_cpu(results, case, FINE) / _cpu(results, case, DP_ACCOUNTING) for case in (*DP_SGD, *SMOOTH))
    yield Target("CPU at relative width 1e-5 / dp-accounting, most of eight cases", _most(fine), 1)
    tiny = (_cpu(results, case, SITR) / _cpu(results, USUAL, SITR) for case in SMALL_DELTA)
    yield Target("CPU at δ = 1e-12, 1e-20, 1e-100 / at 1e-5, most", _most(tiny), 2)
    for few, many in zip(_with_steps(STEPS[1]), _with_steps(STEPS[2]), strict=True):
        ratio = _cpu(results, many, SITR) / _cpu(results, few, SITR)
        yield Target(f"CPU of 10^6 steps / 10^4 steps, σ = {few.sigma:g}", ratio, 3)
    yield Target("CPU seconds of 500 different mechanisms", _cpu(results, MIXTURE, SITR), 2)
    for schedule, bound in zip(SCHEDULES, (5, 20), strict=True):
        text = f"CPU seconds of a schedule of {schedule.steps:,} different σ"
        yield Target(text, _cpu(results, schedule, SITR), bound)
    yield Target("CPU seconds of calibrating σ", _cpu(results, CALIBRATION, SITR), 0.3)
    memory = (found.memory for (_, name), found in results.items() if name in (SITR, FINE))
    yield Target(
        "peak memory in MB, most of all that Sitr answers", _most(one for one in memory if not math.isnan(one)), 300
    )
    yield Target("seconds of `import sitr`", import_time, 0.3)


def _most(values: Iterable[float]) -> float:
    """The largest number; NaN if any is missing, or if there is none."""
    found = list(values)
    return math.nan if not found or any(map(math.isnan, found)) else max(found)


def _with_steps(steps: int) -> list[Training]:
    return [case for case in DP_SGD if case.steps == steps]


def _cpu(results: Results, case: Case, name: str) -> float:
    """NaN if there is no answer; infinite if Sitr was asked and has no answer."""
    found = results.get((case, name), Measured())
    return math.inf if found.trouble and name in (SITR, FINE) else found.cpu


def _width(results: Results, case: Case, name: str) -> float:
    found = results.get((case, name), Measured())
    return math.inf if found.trouble else (found.upper - found.lower) / found.upper


def _outside(results: Results) -> float:
    """The number of known values outside the interval, to their known digits."""
    outside = 0
    for case, known in KNOWN.items():
        found = results.get((case, SITR), Measured())
        if math.isnan(found.upper):
            return math.nan
        digit = 10.0 ** -len(str(known).partition(".")[2])
        outside += not found.lower - digit <= known <= found.upper + digit
    return outside
