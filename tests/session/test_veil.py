"""What must not slip past the veil: prints, look-alike prices and coins, lost ledgers, second names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sitr
from sitr import ApproximateDP, PureDP, ZeroConcentratedDP
from sitr.errors import DescriptionError, IncompatiblePromises, LedgerError, LedgerMismatch
from sitr.flavors.promise import Promise
from sitr.ledger.sql import SqlLedger
from sitr.noise.coins import TestCoins
from sitr.session.dataset import Dataset

SECRET = "SECRET-DIAGNOSIS"


@pytest.fixture
def secrets() -> Dataset:
    rows = pa.table({"id": [1, 2, 3], "ward": ["A", "B", SECRET]})
    return sitr.protect(rows, unit="id", max_groups=1, max_rows_per_group=1, name="secrets")


def test_nothing_that_users_hold_prints_rows(secrets: Dataset, tmp_path: Path) -> None:
    budget = secrets.budget(ApproximateDP(9, 1e-6), ledger=tmp_path / "l.db")
    selection = budget.group_by("ward")
    question = selection.agg(n=sitr.count())
    price = ApproximateDP(1, 1e-7)
    for held in (secrets, budget, selection, question, question.preview(price), question.release(price)):
        assert SECRET not in repr(held)
        assert SECRET not in str(held)


def test_equality_says_nothing_about_rows(secrets: Dataset) -> None:
    fewer = pa.table({"id": [1], "ward": ["A"]})
    other = sitr.protect(fewer, unit="id", max_groups=1, max_rows_per_group=1, name="secrets")
    assert secrets == other


@dataclass(frozen=True)
class Cheap(PureDP):
    """A price that says it costs nothing."""

    def to_approximate(self, *, delta: float = 0.0) -> ApproximateDP:
        return ApproximateDP(0.0, delta)


@pytest.mark.parametrize("price", [Cheap(1000.0), "renyi(2, 0.1)", None, 1.0])
def test_only_real_promises_are_prices(secrets: Dataset, tmp_path: Path, price: Promise) -> None:
    budget = secrets.budget(ApproximateDP(1, 1e-6), ledger=tmp_path / "l.db")
    question = budget.agg(n=sitr.count())
    for act in (question.preview, question.release):
        with pytest.raises(IncompatiblePromises):
            act(price)
    with pytest.raises(IncompatiblePromises):
        secrets.budget(price if price is not None else Cheap(1.0), ledger=tmp_path / "m.db")
    assert budget.entries() == []
    assert not (tmp_path / "m.db").exists()


class Crooked:
    """Coins that anybody can foresee, and that call themselves private."""

    private = True

    def __init__(self) -> None:
        self._inside = TestCoins(2)

    def words(self, count: int, /) -> NDArray[np.uint64]:
        return self._inside.words(count)

    def bits(self, count: int, /) -> int:
        return self._inside.bits(count)

    def below(self, bound: int, /) -> int:
        return self._inside.below(bound)


def test_other_coins_are_stamped_whatever_they_claim(secrets: Dataset, tmp_path: Path) -> None:
    budget = secrets.budget(PureDP(9), ledger=tmp_path / "l.db")
    answer = budget.agg(n=sitr.count()).release(PureDP(1), coins=TestCoins(1))
    assert not answer.private
    assert b'"private": false' in answer.table.schema.metadata[b"sitr"]
    honest = budget.agg(n=sitr.count()).release(PureDP(1))
    assert b'"private": true' in honest.table.schema.metadata[b"sitr"]
    assert not budget.agg(n=sitr.count()).release(PureDP(1), coins=Crooked()).private


def test_a_lost_ledger_is_not_a_new_budget(visits: Dataset, tmp_path: Path) -> None:
    path = visits.save(tmp_path / "v.yaml", promise=ZeroConcentratedDP(0.5), ledger=tmp_path / "l.db")
    sitr.open(path).budget().agg(n=sitr.count()).release(ZeroConcentratedDP(0.4))
    for file in tmp_path.glob("l.db*"):
        file.unlink()
    with pytest.raises(LedgerError, match="There is no ledger"):
        sitr.open(path).budget()
    assert not (tmp_path / "l.db").exists()
    SqlLedger(tmp_path / "l.db")
    with pytest.raises(LedgerError, match="has no account"):
        sitr.open(path).budget()


def test_a_description_is_not_written_for_a_budget_that_cannot_be(visits: Dataset, tmp_path: Path) -> None:
    visits.budget(PureDP(1), ledger=tmp_path / "l.db")
    with pytest.raises(LedgerMismatch):
        visits.save(tmp_path / "v.yaml", promise=PureDP(2), ledger=tmp_path / "l.db")
    assert not (tmp_path / "v.yaml").exists()


def test_another_spelling_of_the_name_is_no_second_budget(visits: Dataset, visits_path: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "l.db"
    visits.budget(PureDP(1), ledger=ledger).agg(n=sitr.count()).release(PureDP(0.75))
    again = sitr.protect(visits_path, unit="patient_id", max_groups=3, max_rows_per_group=2, name="VISITS")
    assert again.budget(PureDP(1), ledger=ledger).remaining() == PureDP(0.25)
    with pytest.raises(LedgerMismatch):
        again.budget(PureDP(2), ledger=ledger)


@pytest.mark.parametrize("unit", [None, 3, ["id"]])
def test_a_unit_must_be_said(visits_path: Path, unit: object) -> None:
    with pytest.raises(DescriptionError, match="unit to be a column"):
        sitr.protect(visits_path, unit=unit, max_groups=1, max_rows_per_group=1)  # type: ignore[arg-type]
    with pytest.raises(DescriptionError, match="relation"):
        sitr.protect(visits_path, unit=sitr.Row(), relation="replace-one")  # type: ignore[arg-type]


def test_a_described_csv_file_is_not_read_before_the_charge(tmp_path: Path) -> None:
    source = tmp_path / "visits.csv"
    source.write_text("id,cost\n" + "".join(f"{row},{row}.5\n" for row in range(20)))
    types = {"id": "integer", "cost": "real"}
    described = sitr.protect(
        source, unit="id", max_groups=1, max_rows_per_group=1, bounds={"cost": (0, 9)}, types=types
    )
    path = described.save(tmp_path / "v.yaml", promise=PureDP(9), ledger=tmp_path / "l.db")
    for odd in (b'20,"1\n', b"21,\xff\n", b"22," + b"9" * 3_000_000 + b"\n", b"\n\n\n"):
        source.write_bytes(b"id,cost\n1,1.5\n" + odd + b"3,2.5\n")
        question = sitr.open(path).budget().agg(s=sitr.sum("cost"), n=sitr.count())
        assert question.preview(PureDP(1)).errors()
        assert question.release(PureDP(1)).table.num_rows == 1
