"""A one-off budget is exactly its prices, is opened by its first charge, and is no second budget."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import sitr
from sitr.errors import (
    BudgetExceeded,
    DescriptionError,
    IncompatiblePromises,
    LedgerMismatch,
    QuestionError,
)
from sitr.session.dataset import Dataset

HALF = sitr.PureDP(0.5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    write_table(pa.table({"days": [1, 2, 3]}), path)
    return path


def protected(file: Path, relation: sitr.Relation = sitr.Relation.ADD_REMOVE) -> Dataset:
    return sitr.protect(file, unit=sitr.Row(), relation=relation)


def test_previews_and_refused_questions_write_nothing(file: Path) -> None:
    budget = protected(file).one_off(HALF)
    asked = budget.agg(n=sitr.count())
    assert asked.preview(HALF).standing.remaining() == budget.promise == HALF
    with pytest.raises(QuestionError):
        budget.agg(n=sitr.sum("wards"))
    with pytest.raises(BudgetExceeded):
        asked.release(sitr.PureDP(0.6))
    with pytest.raises(IncompatiblePromises):
        asked.release(sitr.ZeroConcentratedDP(0.1))
    assert [path.name for path in file.parent.iterdir()] == ["visits.parquet"]
    other = protected(file, sitr.Relation.REPLACE_ONE).one_off(sitr.PureDP(0.1))
    assert other.agg(n=sitr.count()).release(sitr.PureDP(0.1)).promise == sitr.PureDP(0.1)


def test_the_budget_is_exactly_the_prices(file: Path) -> None:
    quarter = sitr.PureDP(0.25)
    budget = protected(file).one_off(quarter, quarter)
    asked = budget.agg(n=sitr.count())
    answer = asked.release(quarter)
    assert (file.parent / "visits.sitr.db").exists()
    assert budget.remaining() == quarter
    assert asked.release(quarter).table == answer.table
    second = asked.release(quarter, fresh=True)
    again = protected(file).one_off(HALF).agg(n=sitr.count())
    with pytest.raises(BudgetExceeded):
        again.release(quarter, fresh=True)
    assert again.release(quarter).table == second.table


def test_other_terms_are_refused_after_the_first_charge(file: Path) -> None:
    protected(file).one_off(HALF).agg(n=sitr.count()).release(HALF)
    for budget in (protected(file).one_off(sitr.PureDP(0.6)), protected(file, sitr.Relation.REPLACE_ONE).one_off(HALF)):
        with pytest.raises(LedgerMismatch):
            budget.agg(n=sitr.count()).preview(HALF)
        with pytest.raises(LedgerMismatch):
            budget.agg(n=sitr.count()).release(HALF)


def test_a_described_file_has_no_one_off_budget(file: Path) -> None:
    data = protected(file)
    description = data.save(file.with_name("visits.yaml"), promise=HALF, ledger=file.with_name("sitr.db"))
    for opened in (data, sitr.open(description)):
        with pytest.raises(DescriptionError, match="already has a budget"):
            opened.one_off(HALF, ledger=file.with_name("second.db"))
    assert not file.with_name("second.db").exists()


def test_prices_and_a_place_are_needed(file: Path) -> None:
    memory = sitr.protect(pa.table({"days": [1, 2, 3]}), unit=sitr.Row(), name="visits")
    with pytest.raises(DescriptionError, match="no ledger"):
        memory.one_off(HALF)
    assert memory.one_off(HALF, ledger=file.with_name("mine.db")).promise == HALF
    with pytest.raises(DescriptionError, match="no prices"):
        protected(file).one_off()
    with pytest.raises(IncompatiblePromises):
        protected(file).one_off(HALF, sitr.ZeroConcentratedDP(0.1))
    with pytest.raises(DescriptionError, match="replace one person"):
        protected(file).one_off(sitr.RandomDP(sitr.PureDP(1.0), 0.1))


@pytest.mark.parametrize("half", [{"promise": HALF}, {"ledger": "sitr.db"}])
def test_a_description_names_a_budget_and_a_ledger_or_neither(file: Path, half: dict[str, object]) -> None:
    with pytest.raises(DescriptionError, match="a budget together with its ledger"):
        protected(file).save(file.with_name("visits.yaml"), **half)  # type: ignore[arg-type]
    assert not file.with_name("visits.yaml").exists()
