"""The benchmark of queries measures what it claims to measure. No peer is needed."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.serve import CannotAsk, released
from benchmarks.peers.sitr import prepare
from benchmarks.queries import (
    PEERS,
    SITR,
    Measured,
    ask,
    errors,
    errors_table,
    over_draws,
    questions,
    ratio,
    reasons,
    report,
    targets,
)
from benchmarks.query_cases import (
    APPROXIMATE,
    DRAWN,
    GROUPS,
    PUBLIC,
    PURE,
    ROWS,
    SCALAR,
    TABLES,
    UNKNOWN,
    Case,
    Data,
    cases,
    even,
    exact,
    small,
)

COUNT = Case("even", "COUNT", SCALAR, PURE)


def test_only_one_table_has_rows_beyond_the_caps() -> None:
    assert [name for name, make in TABLES.items() if make().cut] == ["skewed"]
    rows = np.arange(ROWS // GROUPS + 1)
    assert Data("t", 0 * rows, 0 * rows, rows).cut
    assert not Data("t", 0 * rows[1:], 0 * rows[1:], rows[1:]).cut
    assert Data("t", 0 * rows[: GROUPS + 1], rows[: GROUPS + 1], rows[: GROUPS + 1]).cut


def test_exact_answers() -> None:
    data = Data("t", np.array([1, 1, 2]), np.array([0, 1, 1]), np.array([10, 250, 90]))
    assert exact(data, Case("t", "SUM", SCALAR, PURE)) == [200.0]
    assert exact(data, Case("t", "SUM", SCALAR, PURE), clamped=False) == [350.0]
    assert exact(data, Case("t", "AVG", PUBLIC, PURE)) == [10.0, 95.0]
    assert exact(data, Case("t", "PEOPLE", SCALAR, PURE)) == [2.0]
    assert exact(data, Case("t", "HISTOGRAM", SCALAR, PURE)) == [1.0, 0.0, 0.0, 0.0, 2.0]


@pytest.mark.parametrize("case", [COUNT, Case("even", "AVG", PUBLIC, PURE), Case("even", "HISTOGRAM", SCALAR, PURE)])
def test_sitr_answers_the_question_that_is_judged(case: Case, tmp_path: Path) -> None:
    data = even(people=200)
    found = released(prepare, data.write(tmp_path), data, case, repeat=4, seconds=60)
    answers = np.array(found["answers"])
    assert answers.shape == (4, len(exact(data, case)))
    assert answers.mean(axis=0) == pytest.approx(exact(data, case), abs=150)
    assert len(np.unique(answers)) > 1


def test_groups_that_are_not_shown_are_missing_and_count_as_zero(tmp_path: Path) -> None:
    data, case = small(), Case("small", "COUNT", UNKNOWN, APPROXIMATE)
    found = released(prepare, data.write(tmp_path), data, case, repeat=1, seconds=60)
    answer = np.array(found["answers"], dtype=float)  # None becomes NaN
    assert np.isnan(answer).any()
    assert not np.isnan(answer).all()
    assert errors([[None, 3.0], [2.0, 3.0]], [2.0, 4.0]) == Measured(1.0, 0.5, 2)  # 1.5 and 0.5: too few for halves


def test_a_question_that_cannot_be_asked_says_why(tmp_path: Path) -> None:
    def refused(path: Path, data: Data, case: Case) -> object:  # noqa: ARG001
        raise CannotAsk("no such aggregate")

    def broken(path: Path, data: Data, case: Case) -> object:  # noqa: ARG001
        raise ValueError("two\nlines")

    data = even(people=10)
    path = data.write(tmp_path)
    assert released(refused, path, data, COUNT, repeat=1, seconds=1) == {"trouble": "no such aggregate"}  # type: ignore[arg-type]
    assert released(broken, path, data, COUNT, repeat=1, seconds=1) == {"trouble": "ValueError: two lines"}  # type: ignore[arg-type]


def test_processes_answer_and_missing_peers_are_reported(tmp_path: Path) -> None:
    paths = {"even": even().write(tmp_path)}
    how = {"repeat": 20, "seconds": 60.0, "limit": 120.0}
    own = ask(SITR, sys.executable, [COUNT], paths, **how)[COUNT, SITR]  # type: ignore[arg-type]
    assert own.trouble == ""
    assert own.answers == 20
    assert 1 < own.error < 30  # Laplace noise of scale 6
    other = ask("pipeline_dp", sys.executable, [COUNT], paths, **how)[COUNT, "pipeline_dp"]  # type: ignore[arg-type]
    assert other.trouble.startswith("not installed") or other.answers == 20


def test_sitr_is_compared_with_the_best_peer() -> None:
    other = Case("even", "SUM", SCALAR, PURE)
    results = {
        (COUNT, SITR): Measured(6.0, 0.06, 100),
        (COUNT, "opendp"): Measured(9.0, 0.1, 100),
        (COUNT, "tumult"): Measured(3.0, 0.03, 100),
        (COUNT, "qrlew"): Measured(trouble="only approximate prices"),
        (other, SITR): Measured(6.0, 0.49, 100),
        (other, "opendp"): Measured(5.8, 0.49, 100),
    }
    found = ratio(results, COUNT)
    assert found is not None
    assert found.peer == "tumult"
    assert found.low < found.value == 2.0 < found.high
    assert found.z == pytest.approx(3 / math.hypot(0.06, 0.03))
    verdicts = [target.verdict for target in targets(results)]
    assert verdicts == ["FAIL", "FAIL", "not measured", "not measured"]  # 5.8 ± 0.49 is not known to 8%
    results[other, SITR] = Measured(6.0, 0.2, 100)
    results[other, "opendp"] = Measured(5.8, 0.2, 100)
    verdicts = [target.verdict for target in targets(results)]
    assert verdicts == [
        "FAIL",
        "FAIL",
        "pass",
        "pass",
    ]  # 6 is larger than 3 for sure, but 6 ± 0.2 may well be less than 5.8 ± 0.2
    assert ratio({(COUNT, SITR): Measured(6.0, 0.06, 100)}, COUNT) is None
    assert ratio({(COUNT, SITR): Measured(6.0, 0.06, 100), (COUNT, "tumult"): Measured(3.0, 0.03, 4)}, COUNT) is None
    assert ratio({(COUNT, SITR): Measured(6.0, 3.0, 90), (COUNT, "tumult"): Measured(3.0, 0.03, 100)}, COUNT) is None
    zero = ratio({(COUNT, SITR): Measured(6.0, 0.06, 100), (COUNT, "tumult"): Measured(0.02, 0.02, 50)}, COUNT)
    assert zero is not None  # a peer that is nearly exact is judged, though its own error is not known well
    assert zero.low > 60
    alone = list(targets({(COUNT, SITR): Measured(6.0, 0.06, 100)}))
    assert math.isnan(alone[0].found)
    assert reasons(results) == {"qrlew": {"only approximate prices": ["COUNT (even, pure)"]}}
    assert errors_table(results).row_count == 2
    assert json.dumps(report(results, alone))


def test_a_question_that_sitr_cannot_answer_fails() -> None:
    results = {(COUNT, SITR): Measured(trouble="stopped"), (COUNT, "opendp"): Measured(1.0, 0.05, 30)}
    assert [target.verdict for target in targets(results)] == ["FAIL", "FAIL"]


def test_every_peer_has_a_module_and_every_case_a_table() -> None:
    folder = Path("benchmarks/peers")
    assert {path.stem for path in folder.glob("*.py")} == {*PEERS, SITR, "serve", "on_spark", "__init__"}
    assert {case.table for case in cases()} == set(TABLES)
    assert len(set(cases())) == len(cases())


def drawn(ratios: list[float], uncertain: float = 0.01) -> dict[tuple[Case, str], Measured]:
    """The same question about every draw of a table: the peer's error is always 1."""
    tables = ("even", *DRAWN["even", PURE])
    results = {}
    for table, found in zip(tables, ratios, strict=False):
        case = Case(table, "MEDIAN", PUBLIC, PURE)
        results[case, SITR] = Measured(found, uncertain, 100)
        results[case, "opendp"] = Measured(1.0, 0.001, 100)
    return results


def test_draws_of_one_table_are_one_question() -> None:
    case, luck = Case("even", "MEDIAN", PUBLIC, PURE), [1.06, 0.97, 0.92, 1.03, 0.95, 1.0, 0.9, 1.04, 0.94]
    found = ratio(drawn(luck), case)
    assert found is not None
    assert found.z > 5  # in the first table it is worse for sure
    together = over_draws(drawn(luck), case)
    assert together is not None
    assert together.value == pytest.approx(np.mean(luck))
    assert -2 < together.z < 0
    assert together.low < together.value < together.high
    assert questions(drawn(luck)) == [case]
    assert [target.verdict for target in targets(drawn(luck))] == ["pass", "pass"]
    assert errors_table(drawn(luck)).row_count == 10


def test_draws_that_are_worse_on_the_whole_fail() -> None:
    case = Case("even", "MEDIAN", PUBLIC, PURE)
    worse = [1.06, 1.03, 1.07, 0.99, 1.05, 1.08, 1.02, 1.06, 1.04]
    found = over_draws(drawn(worse), case)
    assert found is not None
    # t = 4.781 with 8 degrees of freedom is exceeded with p = 0.00069.
    assert found.z == pytest.approx(3.197, abs=0.002)
    assert [target.verdict for target in targets(drawn(worse))] == ["FAIL", "FAIL"]
    alone = over_draws(drawn([1.06]), case)
    assert alone == ratio(drawn([1.06]), case)  # one draw is judged by itself
    assert over_draws({}, case) is None
    for same, verdict in (([1.0] * 3, "pass"), ([1.1] * 3, "FAIL")):
        assert [target.verdict for target in targets(drawn(same))] == [verdict] * 2
    stopped = drawn([0.9] * 9)
    stopped[case, SITR] = Measured(trouble="stopped")
    assert [target.verdict for target in targets(stopped)] == ["FAIL", "FAIL"]


def test_answers_that_are_all_right_may_be_wrong_next_time() -> None:
    """An exact error of 0.045 shows no wrong answer among fifty in one run of ten."""
    case = Case("narrow", "MEDIAN", SCALAR, PURE)
    results = {(case, SITR): Measured(0.016, 0.002, 4_000), (case, "opendp"): Measured(0.0, 0.0, 50)}
    found = ratio(results, case)
    assert found is not None
    assert 0 < found.z < 1
    results[case, "opendp"] = Measured(0.0, 0.0, 4_000)
    found = ratio(results, case)
    assert found is not None
    assert found.z > 7


def test_every_price_has_draws_of_its_own() -> None:
    names = [name for some in DRAWN.values() for name in some]
    assert len(set(names)) == len(names)
    values = {tuple(TABLES[name]().x[:50].tolist()) for name in ["even", *names]}
    assert len(values) == len(names) + 1
    assert all(TABLES[name]().name == name for name in names)


def test_many_small_losses_are_one_loss() -> None:
    """No question is worse for sure, but all of them are a little worse: together they fail."""
    prices = ("pure", "approximate", "zcdp")
    results = {(Case("even", "SUM", SCALAR, price), SITR): Measured(6.0, 0.1, 100) for price in prices}
    results |= {(Case("even", "SUM", SCALAR, price), "opendp"): Measured(5.75, 0.1, 100) for price in prices}
    assert [target.verdict for target in targets(results)] == ["pass", "FAIL"]


def test_the_best_peer_is_chosen_on_other_answers_than_it_is_judged_by() -> None:
    lucky = Measured(5.5, 0.1, 200, halves=(Measured(5.0, 0.1, 100), Measured(6.0, 0.1, 100)))
    usual = Measured(5.5, 0.1, 200, halves=(Measured(6.0, 0.1, 100), Measured(5.0, 0.1, 100)))
    found = ratio({(COUNT, SITR): Measured(6.0, 0.1, 200), (COUNT, "opendp"): lucky, (COUNT, "tumult"): usual}, COUNT)
    assert found is not None
    assert (found.peer, found.value) == ("opendp", 1.0)


def test_errors_that_nobody_sees_are_not_told_apart() -> None:
    median = Case("even", "MEDIAN", SCALAR, PURE)
    results = {(median, SITR): Measured(0.02, 0.004, 500), (median, "opendp"): Measured(0.01, 0.004, 500)}
    assert [target.verdict for target in targets(results)] == ["pass", "pass"]
    results[median, "opendp"] = Measured(0.001, 0.0004, 500)
    assert next(target.verdict for target in targets(results)) == "FAIL"  # unless the difference is certain


def test_draws_end_when_the_error_is_known_well_enough(tmp_path: Path) -> None:
    data = even(people=50)
    path = data.write(tmp_path)
    found = released(prepare, path, data, COUNT, repeat=2_000, seconds=60, precise=0.2)
    assert len(found["answers"]) == 100  # type: ignore[arg-type]
