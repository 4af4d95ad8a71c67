"""A source that has a budget is recognised, however it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sitr.errors import LedgerMismatch
from sitr.flavors.pure import PureDP
from sitr.ledger import registry
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.sql import SqlLedger

NEIGHBORS = "row, add-remove"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))


def opened(path: Path, dataset: str, source: str, *, second: bool = False) -> SqlLedger:
    ledger = SqlLedger(path)
    ledger.open(dataset, promise=PureDP(1.0), neighbors=NEIGHBORS, source=source, second=second)
    return ledger


def test_a_hard_link_is_the_same_source(tmp_path: Path, path: Path) -> None:
    (data := tmp_path / "visits.csv").write_text("id\n1\n")
    opened(path, "visits", f"file {data}")
    (link := tmp_path / "other.csv").hardlink_to(data)
    with pytest.raises(LedgerMismatch, match="These rows already have a budget: visits in"):
        opened(tmp_path / "second.db", "other", f"file {link}")
    second = opened(tmp_path / "second.db", "other", f"file {link}", second=True)
    entry, _ = second.charge("other", price=PureDP(0.1), question="COUNT(*)")
    assert entry.second
    opened(path, "visits", f"file {data}")  # each of them goes on
    opened(tmp_path / "second.db", "other", f"file {link}")


def test_a_copy_and_a_new_file_with_an_old_number_are_other_sources(tmp_path: Path, path: Path) -> None:
    """A file that is gone leaves its number to the next one: that is no reason to refuse it."""
    (data := tmp_path / "visits.csv").write_text("id\n1\n")
    opened(path, "visits", f"file {data}")
    (copy := tmp_path / "copy.csv").write_bytes(data.read_bytes())
    opened(path, "copy", f"file {copy}")
    number = data.stat().st_ino
    data.rename(moved := tmp_path / "moved.csv")  # the same device and number, and no second name
    assert moved.stat().st_ino == number
    opened(path, "moved", f"file {moved}")


def test_a_budget_of_rows_in_memory_does_not_begin_again_with_a_new_ledger(path: Path) -> None:
    opened(path, "people", "").charge("people", price=PureDP(1.0), question="COUNT(*)")
    path.unlink()
    lazy = LazyLedger(path, "people", PureDP(1.0), NEIGHBORS)
    with pytest.raises(LedgerMismatch, match=r"which had a budget of people, is gone\. Put it back"):
        lazy.charge("people", price=PureDP(1.0), question="COUNT(*)")
    assert not path.exists()  # so that the old one can be put back
    with pytest.raises(LedgerMismatch, match="is gone"):
        opened(path, "people", "")
    again = opened(path, "people", "", second=True)
    entry, _ = again.charge("people", price=PureDP(0.1), question="COUNT(*)")
    assert entry.second
    opened(path, "others", "")  # a new account of other rows


class Raced(list[Any]):
    """What was read last; another thread, which read an older text, always comes right after."""

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value)
        super().__setitem__(slice(None), [(b"older", {"ledgers": {}, "sources": {}})])


def test_a_thread_with_an_older_registry_makes_no_ledger_unknown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.remember(path, "a" * 32)
    monkeypatch.setattr(registry, "_latest", Raced())
    assert registry.at(path) == {"a" * 32}
    assert registry.knows("a" * 32)
