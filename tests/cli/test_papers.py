"""A file that cannot be written costs neither the other files nor the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitr.cli.papers import unwritten, write_answer, write_each
from sitr.errors import FileError
from sitr.ledger.sql import SqlLedger


class Five:
    def to_dict(self) -> dict[str, object]:
        return {"entry": 7, "value": 5}


def full(path: Path) -> None:
    path.write_text("half of")
    raise OSError(28, "No space left on device")


def odd(_: Path) -> None:
    raise TypeError("a column of a type that CSV does not know")


def test_the_others_are_written(tmp_path: Path) -> None:
    bad, good, odder = (tmp_path / name for name in ("bad.csv", "good.csv", "odd.csv"))
    failed = write_each({bad: full, good: lambda path: path.write_text("whole"), odder: odd})
    assert list(failed) == [bad, odder]
    assert good.read_text() == "whole"
    assert not bad.exists()
    assert unwritten(failed, "Go on.").given == f"{bad}: No space left on device. {odder}: TypeError."


def test_the_answer_is_kept_beside_the_ledger(tmp_path: Path) -> None:
    with pytest.raises(FileError) as told:
        write_answer(Five(), {tmp_path / "bad.csv": full}, ledger=SqlLedger(tmp_path / "sitr.db"))
    kept = tmp_path / "sitr.entry-7.json"
    assert json.loads(kept.read_text()) == Five().to_dict()
    assert str(kept) in told.value.do


def test_or_with_the_temporary_files_or_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = SqlLedger(tmp_path / "sitr.db")
    (tmp_path / "sitr.entry-7.json").write_text("another answer, which is not overwritten")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("sitr.cli.papers.gettempdir", lambda: str(tmp_path / "temporary"))
    with pytest.raises(FileError, match="temporary"):
        write_answer(Five(), {tmp_path / "bad.csv": full}, ledger=ledger)
    assert (tmp_path / "temporary" / "sitr.entry-7.json").exists()
    assert capsys.readouterr().out == ""
    with pytest.raises(FileError, match="The answer is above"):
        write_answer(Five(), {tmp_path / "bad.csv": full}, ledger=ledger)
    assert json.loads(capsys.readouterr().out) == Five().to_dict()


def test_nothing_is_kept_twice(tmp_path: Path) -> None:
    write_answer(Five(), {tmp_path / "a.csv": lambda path: path.write_text("5")}, ledger=SqlLedger(tmp_path / "s.db"))
    assert not list(tmp_path.glob("*.json"))
