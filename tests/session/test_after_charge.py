"""After the charge there is one error with one text: nothing that is raised, printed or logged depends on the rows."""

from __future__ import annotations

import errno
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import sitr
from sitr.errors import BackendFailure
from sitr.session.budget import Budget

SECRET = "SECRET-DIAGNOSIS"
TEXT = (
    "The answer could not be computed after the charge, and the reason is withheld because it could reveal something "
    "about the rows. Check the data set, or try the question on made-up data; the charge stands, because the data were "
    "touched."
)
PRICE = sitr.PureDP(1.0)
FAILURES: dict[str, Callable[[], Exception]] = {
    "memory of the engine": lambda: duckdb.OutOfMemoryException(SECRET),
    "spill folder": lambda: duckdb.IOException(f"No space left on device: {SECRET}"),
    "cast": lambda: duckdb.ConversionException(f"Could not convert {SECRET}"),
    "engine": lambda: duckdb.InternalException(SECRET),
    "interrupted": lambda: duckdb.InterruptException(SECRET),
    "disk": lambda: OSError(errno.ENOSPC, SECRET),
    "no file": lambda: FileNotFoundError(SECRET),
    "memory": lambda: MemoryError(SECRET),
    "recursion": lambda: RecursionError(SECRET),
    "text": lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    "arrow": lambda: pa.ArrowInvalid(SECRET),
    "assertion": lambda: AssertionError(SECRET),
    "key": lambda: KeyError(SECRET),
    "division": lambda: ZeroDivisionError(SECRET),
    "our own": lambda: sitr.errors.QuestionError(given=SECRET, do=SECRET),
    "our own, of a backend": lambda: BackendFailure(given=SECRET, do=SECRET),
}
STEPS = {
    "settings": "sitr.backends.engine.settings",
    "connection": "sitr.backends.duckdb.connection",
    "tree": "sitr.backends.duckdb.tree",
    "statement": "sitr.backends.duckdb.writer",
    "packed rows": "sitr.backends.packed.passes.held",
    "rows": "sitr.backends.duckdb.guarded",
    "shape": "sitr.backends.duckdb.shaped",
    "tables": "sitr.backends.sources.ArrowRows.tables",
    "salt": "sitr.session.ask._read",
    "noise": "sitr.questions.aggregate.question.AggregateQuestion.answer",
}
"""Every step between the charge and what is released."""


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    rows = pa.table({"id": [1, 2, 3], "ward": ["a", "b", SECRET], "cost": [1.0, 2.0, 4711.0]})
    data = sitr.protect(
        rows, unit="id", keys={"ward": ["a", "b"]}, bounds={"cost": (0, 9)}, max_groups=1, max_rows_per_group=1,
        name="t",
    )  # fmt: skip
    return data.budget(sitr.PureDP(9.0), ledger=tmp_path / "sitr.db")


def asked(budget: Budget) -> Any:
    return budget.sql("SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY ward")


def armed(monkeypatch: pytest.MonkeyPatch, budget: Budget, step: str, failure: Callable[[], BaseException]) -> None:
    """Make a step fail, but only after the charge."""
    charge = type(budget.ledger).charge

    def fails(*_: Any, **__: Any) -> Any:
        raise failure()

    def charged(*given: Any, **named: Any) -> Any:
        found = charge(*given, **named)
        monkeypatch.setattr(step, fails)
        return found

    monkeypatch.setattr(type(budget.ledger), "charge", charged)


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_whatever_fails_after_the_charge_has_one_text(
    budget: Budget,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    step: str,
    failure: Callable[[], Exception],
) -> None:
    caplog.set_level(logging.DEBUG)
    armed(monkeypatch, budget, step, failure)
    with pytest.raises(BackendFailure) as caught:
        asked(budget).release(PRICE)
    assert str(caught.value) == TEXT
    assert caught.value.__cause__ is caught.value.__context__ is None
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert "4711" not in shown
    assert not caplog.records
    assert capfd.readouterr() == ("", "")
    assert len(budget.entries()) == 1


def test_an_interruption_by_hand_keeps_the_charge_and_shows_nothing(
    budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is not about the rows, and is not hidden; the time of it is the user's own."""
    armed(monkeypatch, budget, STEPS["rows"], KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        asked(budget).release(PRICE)
    assert caught.value.__context__ is None
    assert len(budget.entries()) == 1


def with_file(tmp_path: Path, rows: int = 200_000) -> Budget:
    table = pa.table({"id": list(range(rows)), "ward": ["a", SECRET] * (rows // 2), "cost": [1.5] * rows})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=10_000)
    data = sitr.protect(
        tmp_path / "t.parquet", unit="id", keys={"ward": ["a", "b"]}, bounds={"cost": (0, 9)}, max_groups=1,
        max_rows_per_group=1,
    )  # fmt: skip
    return data.budget(sitr.PureDP(9.0), ledger=tmp_path / "sitr.db")


@pytest.mark.parametrize("damage", ["gone", "cut", "other columns", "empty", "garbled"])
def test_a_file_that_is_lost_or_damaged_after_the_charge_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], damage: str
) -> None:
    budget = with_file(tmp_path)
    file, charge = tmp_path / "t.parquet", type(budget.ledger).charge

    def charged(*given: Any, **named: Any) -> Any:
        found, data = charge(*given, **named), file.read_bytes()
        match damage:
            case "gone":
                file.unlink()
            case "cut":
                file.write_bytes(data[: len(data) // 2])
            case "other columns":
                pyarrow.parquet.write_table(pa.table({"other": [SECRET]}), file)
            case "empty":
                file.write_bytes(b"")
            case _:
                file.write_bytes(data[:1000] + bytes(255 - byte for byte in data[1000:9000]) + data[9000:])
        return found

    monkeypatch.setattr(type(budget.ledger), "charge", charged)
    with pytest.raises(BackendFailure) as caught:
        asked(budget).release(PRICE)
    assert str(caught.value) == TEXT
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert capfd.readouterr() == ("", "")
    assert len(budget.entries()) == 1


def test_a_spill_folder_without_room_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With too little memory, and nowhere to write the rows beyond it."""
    budget = with_file(tmp_path, rows=600_000)
    from sitr.backends import engine

    usual = engine.settings
    tight = {"memory_limit": "20MB", "temp_directory": "/proc/nowhere", "threads": 1}
    monkeypatch.setattr(engine, "settings", lambda: {**usual(), **tight})
    with pytest.raises(BackendFailure) as caught:  # packed rows need less memory; different values are not packed
        budget.sql("SELECT COUNT(DISTINCT ward) AS n FROM t").release(PRICE)
    assert str(caught.value) == TEXT
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert capfd.readouterr() == ("", "")
    assert len(budget.entries()) == 1


def test_a_broken_twin_is_caught(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    """A door that passes our own errors on would say which step failed."""

    def open_door(stage: Any, plan: Any, backend: Any, coins: Any) -> Any:
        return stage.answer(plan, backend.read(stage.reading(), salt=1), coins=coins)

    monkeypatch.setattr("sitr.session.ask._released", open_door)
    armed(monkeypatch, budget, STEPS["connection"], FAILURES["memory of the engine"])
    with pytest.raises(BackendFailure) as caught:
        asked(budget).release(PRICE)
    assert str(caught.value) != TEXT
