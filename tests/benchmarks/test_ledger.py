"""A sample of the long runs on ledgers: `python -m benchmarks.ledger --help` names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.ledger import NEIGHBORS, PROMISE, Figure, charge, grow, opened, replay, targets
from benchmarks.ledger_kills import KINDS, kill
from sitr.ledger.sql import SqlLedger


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))
    return tmp_path


def test_entries_in_bulk_are_those_that_charges_would_write(state: Path) -> None:
    ledger = SqlLedger(state / "long.db")
    ledger.open("visits", promise=PROMISE, neighbors=NEIGHBORS)
    charge(ledger, "visits")
    grow(ledger, "visits", to=40)
    charge(ledger, "visits")
    opened(ledger.path, "visits")
    assert len(ledger.entries()) == 41
    assert ledger.examine().sound
    assert ledger.check("visits").charges == 41


def test_only_charges_and_openings_have_limits() -> None:
    found = [Figure("a charge at entry 10", 0.004, 0.1), Figure("opening", 0.06, 0.06), Figure("verify", 9.0, 9.0)]
    assert [one.verdict for one in targets(found)] == ["pass", "FAIL"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_moment_nothing_that_was_said_is_lost(state: Path, kind: str) -> None:
    found = kill(kind, state, 3, seed=1)
    assert found.kills == 3
    assert found.finished >= 3
    assert not found.wrong


def test_a_question_that_is_asked_again_costs_and_draws_nothing(state: Path) -> None:
    assert replay(state, 20) == {"charges": 0, "draws": 0, "other answers": 0}


def test_a_power_cut_loses_no_charge_that_was_returned(state: Path) -> None:
    cut = pytest.importorskip("benchmarks.power_cut", reason="needs apsw, of the extra `test`").cut_power
    found = cut(state, 20, seed=3)
    assert found.returned > 0
    assert found.recorded > found.returned  # some were durable before they were returned
    assert (found.lost, found.refused, found.unsound) == (0, 0, 0)


def test_a_disk_that_ignores_syncs_is_found_out(state: Path) -> None:
    cut = pytest.importorskip("benchmarks.power_cut", reason="needs apsw, of the extra `test`").cut_power
    found = cut(state, 10, seed=3, sync=False)
    assert found.lost + found.refused + found.unsound > 0
