"""A rehearsal shows prices and never lets anything be answered."""

from __future__ import annotations

from pathlib import Path

import pytest

import sitr
from sitr.errors import DescriptionError, LedgerError
from sitr.session.dataset import Dataset
from sitr.session.rehearsal import Rehearsal


def test_a_preview_needs_no_ledger_and_an_answer_does(visits: Dataset, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    budget = visits.rehearsal(sitr.PureDP(0.5))
    question = budget.agg(n=sitr.count())
    assert question.preview(sitr.PureDP(0.1)).standing.remaining() == sitr.PureDP(0.5)
    with pytest.raises(LedgerError, match="for previews only"):
        question.release(sitr.PureDP(0.1))
    assert set(tmp_path.iterdir()) == before


def test_it_remembers_nothing() -> None:
    ledger = Rehearsal(sitr.PureDP(0.5))
    assert ledger.open("visits", promise=sitr.PureDP(1), neighbors="row").promise == sitr.PureDP(1)
    assert (ledger.accounts(), ledger.entries(), ledger.entries("visits")) == ([], [], [])
    with pytest.raises(LedgerError):
        ledger.account("visits")


def test_the_promise_must_suit_the_neighbours(visits: Dataset) -> None:
    with pytest.raises(DescriptionError, match="replace one person"):
        visits.rehearsal(sitr.RandomDP(sitr.PureDP(1.0), 0.1))
