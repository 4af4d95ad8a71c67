"""The benchmark measures what it claims to measure. No times are compared, and no peer is needed."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from functools import lru_cache
from io import StringIO
from types import ModuleType

import pytest
from rich.console import Console

from benchmarks.accounting import CASES, answers_table, imports_table, measured, proved, report, targets_table, verdict
from benchmarks.cases import (
    CALIBRATION,
    DP_SGD,
    MIXTURE,
    SCHEDULES,
    SMALL_DELTA,
    SMOOTH,
    USUAL,
    Case,
    Mixture,
    Schedule,
    Training,
)
from benchmarks.measure import Measured, best_time, forget, import_seconds, measure
from benchmarks.subjects import BY_NAME, DP_ACCOUNTING, FINE, PRV, SITR, SUBJECTS, Subject
from benchmarks.targets import Target, targets

SMALL = Training(0.5, 5.0, 2, 1e-3)
GOOD = Measured(10.05, 10.055, 0.01, 5, 120.0)
RESULTS: dict[tuple[Case, str], Measured] = {
    **{(case, SITR): GOOD for case in CASES},
    **{(case, SITR): replace(GOOD, lower=16.762, upper=16.763) for case in SMALL_DELTA},
    **{(case, FINE): replace(GOOD, lower=10.0536, upper=10.05365, cpu=0.1) for case in (*DP_SGD, *SMOOTH)},
    **{(case, DP_ACCOUNTING): Measured(-math.inf, 10.0537, 1.0, 1, 150.0) for case in (*DP_SGD, *SMOOTH)},
    **{(case, PRV): Measured(9.9, 10.1, 0.1, 1, 150.0) for case in DP_SGD},
}


def test_sitr_answers_every_kind_of_question() -> None:
    lower, upper = BY_NAME[SITR].training(SMALL)
    assert 0.0 < lower <= upper
    mixture = BY_NAME[SITR].mixture
    assert mixture is not None
    lower, upper = mixture(Mixture(1, 1e-5))
    assert 0.0 < lower <= upper
    schedule = BY_NAME[SITR].schedule
    assert schedule is not None
    lower, upper = schedule(Schedule(3))
    assert 0.0 < lower <= upper


def test_names_differ_and_impossible_questions_are_known() -> None:
    assert len(BY_NAME) == len(SUBJECTS)
    assert BY_NAME["autodp, Rényi"].ask(MIXTURE) is None
    assert BY_NAME["autodp, Rényi"].ask(SCHEDULES[0]) is None
    assert BY_NAME[SITR].ask(SCHEDULES[0]) is not None
    assert BY_NAME["autodp, Rényi"].ask(SMALL) is not None


def test_mechanisms_of_a_mixture_are_all_different() -> None:
    for parts in (MIXTURE.sigmas(), MIXTURE.scales(), MIXTURE.sampled(), MIXTURE.responses()):
        assert len(set(parts)) == 125
    for schedule in SCHEDULES:
        assert len(set(schedule.sigmas())) == schedule.steps


def test_a_separate_process_measures() -> None:
    found = measure(BY_NAME[SITR], SMALL, repeat=1)
    assert found.trouble == ""
    assert (found.lower, found.upper) == BY_NAME[SITR].training(SMALL)
    assert found.runs == 1
    assert found.cpu > 0.0
    assert found.memory > 10.0


def test_a_slow_process_is_ended() -> None:
    assert measure(BY_NAME[SITR], SMALL, limit=0.01).trouble == "no answer in 0.01 s"


def test_missing_libraries_and_failures_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import measure as module

    def wrong(case: Training) -> tuple[float, float]:
        raise ValueError(f"cannot do {case.steps} steps\nat all")

    subjects = {
        "missing": Subject("missing", ("a_module_that_is_not_there",), wrong),
        "wrong": Subject("wrong", (), wrong),
    }
    monkeypatch.setattr(module, "BY_NAME", subjects)
    request = {"kind": "Training", "case": {"rate": 0.5, "sigma": 5.0, "steps": 2, "delta": 1e-3}, "repeat": 1}
    found = module._serve(json.dumps(request | {"subject": "missing"}))
    assert found.trouble == "a_module_that_is_not_there is not installed"
    assert module._serve(json.dumps(request | {"subject": "wrong"})).trouble == "ValueError: cannot do 2 steps"


def test_nothing_is_remembered_from_one_run_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    work = []

    @lru_cache
    def cached() -> float:
        work.append(1)
        return 1.0

    module = ModuleType("sitr.made_for_this_test")
    module.cached = cached  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    answer, _, runs = best_time(lambda: (cached(), cached()), repeat=3)
    assert (answer, runs, len(work)) == ((1.0, 1.0), 3, 3)
    forget()
    assert cached.cache_info().currsize == 0


def test_imports_are_timed_and_missing_ones_reported() -> None:
    assert import_seconds("import json", repeat=1) >= 0.0
    assert math.isnan(import_seconds("import a_module_that_is_not_there", repeat=1))


def test_a_peer_can_ask_how_narrow_the_interval_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fake(_subject: Subject, case: Training, **_how: float) -> Measured:
        asked.append(case)
        return replace(GOOD, upper=20.0)

    monkeypatch.setattr("benchmarks.accounting.measure", fake)
    assert len(list(measured(SMALL, list(SUBJECTS[:3])))) == 3
    assert asked == [SMALL, replace(SMALL, error=0.01), replace(SMALL, error=0.01)]


@pytest.mark.parametrize(
    ("claimed", "words"),
    [
        (Measured(-math.inf, 10.0, 1.0), "TOO LOW: 10 is claimed, at least 10.0536 is proved"),
        (Measured(11.0, 12.0, 1.0), "TOO HIGH"),
        (Measured(-math.inf, 10.05362, 1.0), "right"),
        (Measured(9.9, 10.1, 1.0), "right, ± 1.0%"),
        (Measured(-math.inf, 12.0, 1.0), "19% above"),
        (Measured(-math.inf, math.inf, 1.0), "inf% above"),
        (Measured(trouble="no answer in 1 s"), "no answer in 1 s"),
    ],
)
def test_answers_are_compared_with_the_proved_interval(claimed: Measured, words: str) -> None:
    results = RESULTS | {(USUAL, "somebody"): claimed}
    assert proved(USUAL, results) == (10.0536, 10.05365)
    assert words in verdict(USUAL, "somebody", results)


def verdicts(results: dict[tuple[Case, str], Measured], import_time: float = 0.1) -> dict[str, str]:
    return {one.text: one.verdict for one in targets(results, import_time=import_time)}


def test_targets_pass_fail_or_are_not_measured() -> None:
    assert Target("", 1.0, 2.0).verdict == "pass"
    assert Target("", 1.0, 2.0, at_most=False).verdict == "FAIL"
    assert Target("", math.nan, 2.0).verdict == "not measured"
    found = verdicts(RESULTS)
    assert found["CPU of dp-accounting / Sitr, least of 6 cases it answers"] == "pass"
    assert found["CPU of prv-accountant (± 0.1) / Sitr, least of 6 cases it answers"] == "FAIL"
    assert found["known values outside the interval"] == "pass"
    assert set(verdicts({}, math.nan).values()) == {"not measured"}


@pytest.mark.parametrize(
    ("case", "worse", "text"),
    [
        (USUAL, replace(GOOD, cpu=0.06), "CPU of dp-accounting / Sitr, least of 6 cases it answers"),
        (USUAL, replace(GOOD, lower=10.04), "relative width of the interval, widest"),
        (USUAL, replace(GOOD, lower=10.054), "known values outside the interval"),
        (SMALL_DELTA[2], replace(GOOD, cpu=0.1), "CPU at δ = 1e-12, 1e-20, 1e-100 / at 1e-5, most"),
        (DP_SGD[2], replace(GOOD, cpu=0.04), "CPU of 10^6 steps / 10^4 steps, σ = 0.8"),
        (MIXTURE, replace(GOOD, cpu=2.1), "CPU seconds of 500 different mechanisms"),
        (SCHEDULES[0], replace(GOOD, cpu=5.1), "CPU seconds of a schedule of 1,000 different σ"),
        (SCHEDULES[1], replace(GOOD, cpu=20.1), "CPU seconds of a schedule of 3,000 different σ"),
        (CALIBRATION, replace(GOOD, cpu=0.4), "CPU seconds of calibrating σ"),
        (MIXTURE, replace(GOOD, memory=301.0), "peak memory in MB, most of all that Sitr answers"),
    ],
)
def test_one_bad_case_fails_its_target(case: Training, worse: Measured, text: str) -> None:
    assert verdicts(RESULTS)[text] == "pass"
    assert verdicts(RESULTS | {(case, SITR): worse})[text] == "FAIL"


def test_a_narrow_answer_must_not_be_slower_than_a_peer() -> None:
    text = "CPU at relative width 1e-5 / dp-accounting, most of eight cases"
    assert verdicts(RESULTS)[text] == "pass"
    assert verdicts(RESULTS | {(SMOOTH[0], FINE): replace(GOOD, cpu=1.1)})[text] == "FAIL"


def test_a_missing_answer_of_a_peer_is_left_out_and_one_of_sitr_is_a_failure() -> None:
    mute = Measured(trouble="no answer in 1 s")
    without = verdicts(RESULTS | {(USUAL, DP_ACCOUNTING): mute})
    assert without["CPU of dp-accounting / Sitr, least of 5 cases it answers"] == "pass"
    for place in range(6):
        found = verdicts(RESULTS | {(DP_SGD[place], SITR): mute})
        assert found["CPU of dp-accounting / Sitr, least of 6 cases it answers"] == "FAIL"
        assert found["relative width of the interval, widest"] == "FAIL"


def test_tables_and_report_show_everything() -> None:
    results = RESULTS | {(USUAL, "somebody"): Measured(-math.inf, 10.0, 1.0), (USUAL, "mute"): Measured(trouble="gone")}
    judged = list(targets(results, import_time=0.1))
    console = Console(width=200, record=True, file=StringIO())
    for table in (answers_table(results), imports_table({"sitr": 0.1}), targets_table(judged)):
        console.print(table)
    text = console.export_text()
    for words in ("10.05 … 10.055", "TOO LOW", "gone", "100.0", "FAIL", "pass", "0.100"):
        assert words in text
    written = json.loads(json.dumps(report(results, {"sitr": 0.1, "none": math.nan}, judged), allow_nan=False))
    assert len(written["answers"]) == len(results)
    assert written["imports"] == {"sitr": 0.1, "none": None}
    assert written["versions"]["sitr"]
