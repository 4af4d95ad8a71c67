"""Deadlines: fixed before the rows are read, kept by answers and by errors, and honest when they are missed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import BackendFailure, InvalidUse
from sitr.session import ask, deadline, kept
from sitr.session.budget import Budget
from sitr.session.cost import LETTERS, Cost, cost

SQL = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    rows = pa.table({"id": list(range(50))})
    made = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    return made.budget(rho=1e6, ledger=tmp_path / "sitr.db", keep=False)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits are noted, not waited for."""
    waits: list[float] = []
    monkeypatch.setattr("sitr.session.deadline.time.sleep", waits.append)
    return waits


def test_an_answer_leaves_at_a_time_that_public_numbers_fix(
    budget: Budget, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "5000000")
    start, usual, fixed = time.monotonic(), deadline.seconds, list[float]()

    def noted(rows: int, measurements: int, work: Cost) -> float:
        fixed.append(usual(rows, measurements, work))
        return fixed[-1]

    monkeypatch.setattr(deadline, "seconds", noted)
    monkeypatch.setattr("sitr.session.ask._read", before(lambda: assert_(fixed), ask._read))
    budget.sql(SQL).release(rho=1)
    used = time.monotonic() - start
    (waited,), (whole,) = clock, fixed
    assert whole >= usual(5_000_000, 1, Cost())
    assert whole - used <= waited <= whole


def before(check: Callable[[], None], work: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*given: Any) -> Any:
        check()
        return work(*given)

    return checked


def assert_(found: list[float]) -> None:
    assert found, "the deadline is fixed before the rows are read"


def test_a_failure_leaves_at_the_same_time(budget: Budget, clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "5000000")

    def broken(*_: Any, **__: Any) -> Any:
        raise BackendFailure(given="broken", do="nothing")

    monkeypatch.setattr("sitr.session.ask._read", broken)
    with pytest.raises(BackendFailure):
        budget.sql(SQL).release(rho=1)
    assert len(clock) == 1


def test_without_the_setting_nobody_waits(budget: Budget, clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(deadline.VARIABLE, raising=False)
    budget.sql(SQL).release(rho=1)
    assert clock == []


@pytest.mark.parametrize(("used", "multiple"), [(0.0, 1), (0.9, 1), (1.5, 2), (7.25, 8)])
def test_a_late_answer_leaves_at_a_multiple_and_nobody_is_told(
    used: float, multiple: int, budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, usual = [0.0], ask._read
    monkeypatch.setenv(deadline.VARIABLE, "0")
    monkeypatch.setattr(deadline, "seconds", lambda *_: 1.0)

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return now[0]

        @staticmethod
        def sleep(rest: float) -> None:
            assert rest >= 0
            now[0] += rest

    def slow(*given: Any) -> Any:
        now[0] += used
        return usual(*given)

    monkeypatch.setattr(deadline, "time", Clock)
    monkeypatch.setattr("sitr.session.ask._read", slow)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert budget.sql(SQL).release(rho=1e5).table.num_rows == 1
    assert now[0] == pytest.approx(multiple)
    assert told == []


def test_nothing_is_kept_before_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an answer waits, there is no file and no hash, and whoever asks the same gets nothing from it."""
    rows = pa.table({"id": list(range(50))})
    made = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = made.budget(rho=1e6, ledger=tmp_path / "sitr.db")
    monkeypatch.setenv(deadline.VARIABLE, "5000000")
    seen: list[Any] = []

    def waiting(_: float) -> None:
        request = budget.sql(SQL)
        seen.append(kept.again(request.question.plan(sitr.ZeroConcentratedDP(1)), at=request.at))
        seen.extend((tmp_path / "sitr.answers").glob("*"))
        seen.extend(request.at.ledger.seals(1))

    monkeypatch.setattr("sitr.session.deadline.time.sleep", waiting)
    first = budget.sql(SQL).release(rho=1)
    assert seen == [None]
    assert first.receipt.kept is not None
    assert budget.sql(SQL).release(rho=1).receipt.again
    assert seen == [None], "an answer that is kept leaves at once"


def test_the_deadline_allows_for_every_expression_on_every_row(tmp_path: Path) -> None:
    """A slow condition that is evaluated for one person's rows only costs as much as one that all rows meet."""
    table = pa.table({"id": [1], "note": ["a"]})
    made = sitr.protect(table, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = made.budget(rho=1e6, ledger=tmp_path / "sitr.db", keep=False)

    def work(where: str) -> Cost:
        return cost(budget.sql(f"{SQL} WHERE {where}").question.reading())

    bare, patterns = work("id = 777"), [f"REGEXP_MATCHES(note, 'a[ab]{{13}}c{n}')" for n in range(20)]
    slow = work(f"id = 777 AND ({' OR '.join(patterns)})")
    assert bare.parts == 0
    assert slow.parts >= 20 * 15
    assert slow.nodes >= bare.nodes + 20 * 3
    assert work("id = 777 AND note LIKE '%a_b%'").parts >= 6
    assert work("id = 777 AND LOWER(note) = 'x'").parts >= 1
    more = deadline.seconds(1000, 1, slow) - deadline.seconds(1000, 1, bare)
    assert more >= 1000 * LETTERS * 20 * 15 * 5e-8, "at least what RE2 takes where its automaton is largest"


def test_a_wrong_setting_is_refused_before_the_charge(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "many")
    with pytest.raises(InvalidUse, match="a public number of rows"):
        budget.sql(SQL).release(rho=1)
    monkeypatch.delenv(deadline.VARIABLE)
    assert budget.sql(SQL).release(rho=1).receipt.entry.number == 1
