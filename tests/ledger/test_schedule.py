"""What a ledger has recorded becomes a schedule that loses nothing and adds nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.errors import LedgerError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Entry
from sitr.ledger.schedule import recorded
from sitr.ledger.sql import SqlLedger
from sitr.numbers import exact


def entry(price: PureDP, question: str, *, dataset: str = "clinic") -> Entry:
    return Entry(1, dataset, price, question, datetime.now(UTC), "amal", "0.1.0")


def test_a_real_ledger(tmp_path: Path) -> None:
    ledger = SqlLedger(tmp_path / "sitr.db")
    ledger.open("clinic", promise=ZeroConcentratedDP(0.5), neighbors="person (patient_id), add-remove")
    ledger.open("school", promise=ApproximateDP(1.0, 1e-6), neighbors="row, replace-one")
    for price in (PureDP(0.1), ZeroConcentratedDP(0.02), PureDP(0.1)):
        ledger.charge("clinic", price=price, question="SELECT COUNT(*) AS n FROM clinic")
    ledger.charge("clinic", price=PureDP(0.1), question="SELECT SUM(cost) AS c FROM clinic")
    ledger.charge("school", price=ApproximateDP(0.1, 5e-7), question="SELECT COUNT(*) AS n FROM school")
    # Prices are recorded in the flavor of the budget.
    assert recorded(ledger.entries("clinic")) == Schedule(
        (
            Part((ZeroConcentratedDP(0.005),), 2, "SELECT COUNT(*) AS n FROM clinic"),
            Part((ZeroConcentratedDP(0.02),), 1, "SELECT COUNT(*) AS n FROM clinic"),
            Part((ZeroConcentratedDP(0.005),), 1, "SELECT SUM(cost) AS c FROM clinic"),
        )
    )
    assert recorded(ledger.entries("school")).parts[0].promises == (ApproximateDP(0.1, 5e-7),)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from("abc")), min_size=1, max_size=30))
def test_all_that_was_spent_is_in_the_plan(charges: list[tuple[float, str]]) -> None:
    schedule = recorded(entry(PureDP(epsilon), question) for epsilon, question in charges)
    assert schedule.releases == len(charges)
    assert len(schedule.parts) == len(set(charges))
    planned = [(exact(step.promises[0].epsilon), step.times) for step in schedule.parts]  # type: ignore[attr-defined]
    paid = sum((exact(epsilon) for epsilon, _ in charges), Fraction(0))
    assert sum((epsilon * times for epsilon, times in planned), Fraction(0)) == paid


def test_an_empty_ledger_has_no_plan() -> None:
    with pytest.raises(LedgerError, match="got no charges"):
        recorded([])


def test_charges_to_two_data_sets_are_no_plan() -> None:
    both = [entry(PureDP(0.1), "a"), entry(PureDP(0.1), "a", dataset="school")]
    with pytest.raises(LedgerError, match="clinic, school"):
        recorded(both)
