"""The benchmark of samplers measures what it claims to measure. No peer is needed, and no times are compared."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from benchmarks.noise import (
    CASES,
    DIFFPRIVLIB,
    DRAWS,
    GAUSSIAN,
    LAPLACE,
    NUMPY,
    OPENDP,
    ROUNDED,
    SCALES,
    SITR,
    Single,
    cpu_per_draw,
    draws_table,
    report,
    sampler,
    singles,
    tables_and_first_draw,
    targets,
    time_follows_noise,
)

TIMES = {
    (case, name): spent
    for case in CASES
    for name, spent in ((SITR, 1e-8), (NUMPY, 2e-8), (OPENDP, 1e-5), (DIFFPRIVLIB, 2e-5))
}
SINGLE = {case: Single(0.01, 5e-6, 0.001) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_sitr_and_numpy_draw_the_requested_number(case: tuple[str, int]) -> None:
    for name in (SITR, NUMPY):
        drawn = np.asarray(sampler(name, case)(100))
        assert drawn.shape == (100,)
        assert (drawn.dtype == np.int64) is (name == SITR)


def test_times_are_per_draw() -> None:
    def spin(count: int) -> None:
        end = time.process_time() + 1e-4 * count
        while time.process_time() < end:
            pass

    assert 1e-4 <= cpu_per_draw(spin, 100, repeat=2) < 1e-3
    assert tables_and_first_draw(lambda: spin(10), repeat=2) >= 1e-3


def test_single_draws_are_measured() -> None:
    found = singles((LAPLACE, 10), repeat=1, watched=200)
    assert 0 < found.one < found.tables
    assert -1 <= found.correlation <= 1


@pytest.mark.parametrize(("work", "follows"), [(lambda drawn: 40 * drawn, True), (lambda _: 400, False)])
def test_time_that_depends_on_noise_is_detected(work: Callable[[int], int], follows: bool) -> None:
    generator = random.Random(1)

    def draw() -> int:
        drawn = generator.randrange(20)
        sum(range(work(drawn)))
        return drawn

    assert (abs(time_follows_noise(draw, 5000)) > 0.3) is follows


def verdicts(times: dict[tuple[tuple[str, int], str], float], single: dict[tuple[str, int], Single]) -> list[str]:
    return [one.verdict for one in targets(times, single)]


def test_targets_pass_fail_or_are_not_measured() -> None:
    assert set(verdicts(TIMES, SINGLE)) == {"pass"}
    worse = {case: Single(0.06, 3e-5, -0.04) for case in CASES}
    assert verdicts(TIMES | {((GAUSSIAN, 10), SITR): 1e-7, ((LAPLACE, 10), SITR): 1e-7}, worse) == [
        *["FAIL"] * 4,
        "pass",
        *["FAIL"] * 3,
    ]
    assert verdicts(TIMES | {((ROUNDED, 10), SITR): 2e-8}, SINGLE) == [*["pass"] * 4, "FAIL", *["pass"] * 3]
    alone = {key: spent for key, spent in TIMES.items() if key[1] in (SITR, NUMPY)}
    assert verdicts(alone, SINGLE)[:2] == ["not measured"] * 2


def test_tables_show_every_case_and_missing_peers() -> None:
    out = StringIO()
    Console(file=out, width=150).print(draws_table(TIMES, SINGLE, {OPENDP}))
    shown = out.getvalue()
    assert "cannot be imported" in shown
    assert shown.count(SITR) == len(CASES)
    assert all(f"{scale:g}" in shown for scale in SCALES)


def test_the_report_is_plain() -> None:
    alone = {key: spent for key, spent in TIMES.items() if key[1] in (SITR, NUMPY)}
    kept = json.loads(json.dumps(report(alone, SINGLE, list(targets(alone, SINGLE))), allow_nan=False))
    assert len(kept["draws"]) == 2 * len(CASES)
    assert kept["targets"][0]["found"] is None
    assert set(kept["versions"]) == set(DRAWS)
    assert math.isclose(kept["draws"][0]["correlation"], 0.001)
