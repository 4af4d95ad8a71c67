"""Deadlines: fixed before the rows are read, kept by answers and by errors, and honest when they are missed."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import BackendFailure, InvalidUse
from sitr.language import Language, speaking
from sitr.ledger.departure import Departure
from sitr.session import ask, deadline, kept
from sitr.session.budget import Budget
from sitr.session.cost import LONGEST, Cost, cost
from sitr.session.deadline import LONG, Declared

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

    def noted(public: Declared, measurements: int, work: Cost) -> float:
        fixed.append(usual(public, measurements, work))
        return fixed[-1]

    monkeypatch.setattr(deadline, "seconds", noted)
    monkeypatch.setattr("sitr.session.ask._read", before(lambda: assert_(fixed), ask._read))
    budget.sql(SQL).release(rho=1)
    used = time.monotonic() - start
    (waited,), (whole,) = clock, fixed
    assert whole >= usual(Declared(5_000_000), 1, Cost())
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
def test_a_late_answer_leaves_at_a_multiple_and_its_receipt_says_so(
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
        answer = budget.sql(SQL).release(rho=1e5)
    assert now[0] == pytest.approx(multiple)
    assert told == []
    assert answer.receipt.departures == (Departure(1.0, multiple),)
    assert answer.to_dict()["receipt"]["deadlines"] == [{"seconds": 1.0, "late": multiple > 1}]


@pytest.mark.parametrize(
    ("multiple", "said", "arabic"),
    [
        (None, "Not covered by the promise: the time that the answer took", "الوقت الذي استغرقته الإجابة"),
        (1, "This time was computed from public numbers before any row was read", "قبل قراءة أي صف"),
        (3, "missed its deadline of 1 seconds after the charge. How late it was depends on the rows", "تجاوزت الإجابة"),
    ],
)
def test_a_certificate_says_what_is_promised_about_time(
    multiple: int | None, said: str, arabic: str, budget: Budget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def left(*_: Any) -> Iterator[list[Departure]]:
        yield [] if multiple is None else [Departure(1.0, multiple)]

    monkeypatch.setattr(deadline, "padded", left)
    answer = budget.sql(SQL).release(rho=1)
    assert said in answer.certificate(tmp_path / "answer.html").read_text()
    with speaking(Language.ARABIC):
        assert arabic in answer.certificate(tmp_path / "arabic.html").read_text()


def test_a_kept_answer_remembers_that_it_was_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def late(*_: Any) -> Iterator[list[Departure]]:
        yield [Departure(7.0, 2)]

    rows = pa.table({"id": list(range(50))})
    made = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = made.budget(rho=1e6, ledger=tmp_path / "sitr.db")
    monkeypatch.setattr(deadline, "padded", late)
    first = budget.sql(SQL).release(rho=1)
    again = budget.sql(SQL).release(rho=1)
    assert again.receipt.again
    assert again.receipt.departures == first.receipt.departures == (Departure(7.0, 2),)
    assert isinstance(again.receipt.kept, Path)
    assert json.loads(again.receipt.kept.read_text())["deadlines"] == [[7.0, 2]]


def test_no_record_has_a_time_between_the_charge_and_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is written down about an answer is written before the rows are read or after the deadline."""
    rows = pa.table({"id": list(range(50))})
    made = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = made.budget(rho=1e6, ledger=tmp_path / "sitr.db")
    monkeypatch.setenv(deadline.VARIABLE, "5000000")
    waits: list[datetime] = []
    monkeypatch.setattr("sitr.session.deadline.time.sleep", lambda _: waits.append(datetime.now(UTC)))
    receipt = budget.sql(SQL).release(rho=1).receipt
    assert receipt.ledger is not None
    recorded = [seal.at for seal in receipt.ledger.seals(receipt.entry.number)]
    assert len(recorded) == 1
    assert receipt.entry.at <= waits[0] <= recorded[0]


def test_nothing_is_kept_before_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an answer waits, there is no file and no hash, and whoever asks the same gets nothing from it."""
    rows = pa.table({"id": list(range(50))})
    made = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = made.budget(rho=1e6, ledger=tmp_path / "sitr.db")
    monkeypatch.setenv(deadline.VARIABLE, "5000000")
    seen: list[Any] = []

    def waiting(_: float) -> None:
        request = budget.sql(SQL)
        seen.append(kept.again(kept.WrittenPlan(request.question.plan(sitr.ZeroConcentratedDP(1))), at=request.at))
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
    assert bare.letters == 0
    assert slow.letters >= 20 * 15
    assert slow.nodes >= bare.nodes + 20 * 3
    assert work("id = 777 AND note LIKE '%a_b%'").letters == 2
    assert work(f"id = 777 AND note LIKE '%{'a' * 60}_c%'").letters == 5
    assert work("id = 777 AND LOWER(note) = 'x'").letters == 1
    assert work("CAST(id AS DOUBLE) = 7").letters == 0
    public = Declared(1_000_000)
    more = deadline.seconds(public, 1, slow) - deadline.seconds(public, 1, bare)
    assert more >= LONG * LONGEST * 20 * 15 * 5e-8, (
        "what RE2 takes on one person's long texts, in its largest automaton"
    )


def test_a_scan_is_counted_for_each_reading_and_each_table_in_it(tmp_path: Path) -> None:
    made = sitr.protect(pa.table({"id": [1]}), name="visits", unit="id", max_groups=1, max_rows_per_group=1)
    budget = made.budget(rho=1e6, ledger=tmp_path / "sitr.db", keep=False)
    one = budget.sql(SQL).question.reading()
    twice = budget.sql(f"{SQL} WHERE id IN (SELECT id FROM visits WHERE id = 7)").question.reading()
    assert [cost(each).scans for each in (one, twice, (one, twice))] == [1, 2, 3]


def test_columns_that_no_expression_uses_cost_nothing(tmp_path: Path) -> None:
    found = []
    for columns in (2, 60):
        table = pa.table({"id": [1], **{f"c{n}": [1] for n in range(columns)}})
        made = sitr.protect(table, name="visits", unit="id", max_groups=1, max_rows_per_group=1)
        budget = made.budget(rho=1e6, ledger=tmp_path / f"{columns}.db", keep=False)
        found.append(cost(budget.sql(f"{SQL} WHERE c1 + c1 > 3").question.reading()))
    assert found[0] == found[1]
    assert found[0].nodes >= 5


@pytest.mark.parametrize(
    ("rows", "measurements", "work", "least", "most"),
    [
        (1_000_000, 1, Cost(nodes=2, scans=1), 3, 5),
        (10_000_000, 1, Cost(nodes=2, scans=1), 20, 40),
        (10_000_000, 211, Cost(nodes=40, scans=1), 300, 700),
        (10_000_000, 1, Cost(nodes=4, letters=2, scans=1), 100, 200),
    ],
    ids=["count", "large count", "wide table", "LIKE"],
)
def test_deadlines_are_generous_and_sensible(rows: int, measurements: int, work: Cost, least: int, most: int) -> None:
    assert least <= deadline.seconds(Declared(rows), measurements, work) <= most


def test_the_letters_of_texts_can_be_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "1000")
    monkeypatch.setenv(deadline.LETTERS_VARIABLE, "5000")
    assert deadline.declared() == Declared(1000, 5000)
    monkeypatch.setenv(deadline.LETTERS_VARIABLE, "long")
    with pytest.raises(InvalidUse, match="a public number such as 100 in SITR_ANSWER_LETTERS"):
        deadline.declared()


def test_a_wrong_setting_is_refused_before_the_charge(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "many")
    with pytest.raises(InvalidUse, match="a public number such as 10000000 in SITR_ANSWER_ROWS"):
        budget.sql(SQL).release(rho=1)
    monkeypatch.delenv(deadline.VARIABLE)
    assert budget.sql(SQL).release(rho=1).receipt.entry.number == 1


def test_a_deadline_of_centuries_is_waited_for_in_pieces(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python refuses to sleep for more than 2^63 ns; the answer would be lost after the charge."""
    waits: list[float] = []

    def sleep(rest: float) -> None:
        assert 0 <= rest * 1e9 < 2**63
        waits.append(rest)

    monkeypatch.setenv(deadline.VARIABLE, "0")
    monkeypatch.setattr(deadline, "seconds", lambda *_: 1e10)
    monkeypatch.setattr("sitr.session.deadline.time.sleep", sleep)
    assert budget.sql(SQL).release(rho=1e5).receipt.departures == (Departure(1e10, 1),)
    assert sum(waits) == pytest.approx(1e10)
