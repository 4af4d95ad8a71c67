"""The total of recorded charges as a plan fixed in advance: from stored plans, never used by the budget."""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.errors import BudgetExceeded
from sitr.flavors.uncapped import odometer
from sitr.ledger.sql import SqlLedger
from sitr.loss.loss import Loss
from sitr.noise.coins import TestCoins
from sitr.report.headline import Headline
from sitr.session import in_advance as module
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from sitr.session.kept import find
from sitr.session.plain import plain
from tests.ledger.places import without_triggers

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
ALL = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "sitr.db")


def test_nothing_was_asked_yet(budget: Budget) -> None:
    assert budget.in_advance() is None
    assert "in advance" not in str(budget)


def test_plans_of_different_flavors_compose_by_their_losses(budget: Budget) -> None:
    budget.ask(WARDS, "zcdp(0.1)")
    budget.sql(WARDS).release("zcdp(0.1)", fresh=True)
    budget.ask(ALL, "pure(0.5)")
    asked = [(WARDS, sitr.ZeroConcentratedDP(0.1)), (ALL, sitr.PureDP(0.5))]
    losses = [budget.sql(sql).question.plan(price).loss() for sql, price in asked]
    found = budget.in_advance()
    assert found is not None
    assert (found.charges, found.known, found.delta) == (3, 3, 1e-6)
    total = Loss.compose(loss * times for loss, times in zip(losses, (2, 1), strict=True) if loss is not None)
    truth = total.epsilon(delta=1e-6)
    assert found.epsilon is not None
    assert found.summed is not None
    assert truth.lower <= found.epsilon <= truth.upper
    assert found.summed == Headline.of(budget.standing().spent()).implied
    assert found.epsilon < found.summed
    assert "If all questions and prices had been fixed in advance" in str(budget)
    assert budget.paper.to_dict()["in_advance"]["exact"] == 3


def test_the_budget_does_not_use_it(budget: Budget) -> None:
    budget.ask(WARDS, "zcdp(0.9)")
    with pytest.raises(BudgetExceeded):
        budget.ask(ALL, "zcdp(0.11)")
    assert budget.remaining() == sitr.ZeroConcentratedDP(0.1)


def test_the_ledger_stores_each_plan_once_whatever_is_kept(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "sitr.db", keep=False)
    for _ in range(2):
        budget.ask(WARDS, "zcdp(0.1)")
    assert not list(tmp_path.glob("sitr.answers/*"))
    found = budget.in_advance()
    assert found is not None
    assert (found.known, found.charges) == (2, 2)
    assert found.telling
    with sqlite3.connect(tmp_path / "sitr.db") as connection:
        ((hash, content),) = connection.execute("SELECT * FROM plans").fetchall()
    assert {entry.plan for entry in budget.entries()} == {hash} == {sha256(content.encode()).hexdigest()}


def test_what_is_stored_is_the_plan_and_no_answer(budget: Budget, tmp_path: Path) -> None:
    answer = budget.ask(WARDS, "zcdp(0.1)")
    with sqlite3.connect(tmp_path / "sitr.db") as connection:
        ((content,),) = connection.execute("SELECT content FROM plans").fetchall()
    (file,) = (tmp_path / "sitr.answers").glob("*.json")
    kept = json.loads(file.read_text())
    assert json.loads(content) == kept["plan"]
    assert json.dumps(kept["released"]) not in content
    assert answer.receipt.entry.plan == sha256(content.encode()).hexdigest()


@pytest.mark.parametrize("harm", ["another plan", "no JSON", "gone"])
def test_a_stored_plan_that_is_not_the_charged_one_is_not_believed(visits: Dataset, harm: str, tmp_path: Path) -> None:
    budget = visits.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "sitr.db", keep=False)
    budget.ask(WARDS, "zcdp(0.1)")
    budget.ask(ALL, "zcdp(0.0001)")
    first, second = (entry.plan for entry in budget.entries())
    assert isinstance(budget.ledger, SqlLedger)
    small = budget.ledger.plan(second)
    with without_triggers(tmp_path / "sitr.db") as connection:
        if harm == "gone":
            connection.execute("DELETE FROM plans WHERE sha256 = ?", (first,))
        else:
            text = small if harm == "another plan" else "no JSON"
            connection.execute("UPDATE plans SET content = ? WHERE sha256 = ?", (text, first))
    found = budget.in_advance()
    assert found is not None
    assert found.known == found.charges - 1
    assert found.epsilon == found.summed  # all it says is what the sum says


def test_a_plan_that_this_version_would_write_otherwise_is_not_read(
    budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget.ask(WARDS, "zcdp(0.1)")
    monkeypatch.setattr(module, "plain", lambda plan: ["other", plain(plan)])
    found = budget.in_advance()
    assert found is not None
    assert found.known == 0


@pytest.mark.parametrize("harm", ["none", "gone", "damaged", "another plan"])
def test_a_charge_of_an_older_version_has_the_plan_of_its_kept_answer(
    budget: Budget, harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqlLedger, "plan", lambda *_: "")
    budget.ask(WARDS, "zcdp(0.1)")
    (file,) = (tmp_path / "sitr.answers").glob("*.json")
    if harm == "gone":
        file.unlink()
    elif harm == "damaged":
        file.write_text("{}")
    elif harm == "another plan":
        budget.ask(ALL, "zcdp(0.0001)")
        (other,) = set((tmp_path / "sitr.answers").glob("*.json")) - {file}
        content, small = json.loads(file.read_text()), json.loads(other.read_text())
        file.write_text(json.dumps(content | {"plan": small["plan"]}, sort_keys=True, separators=(",", ":")))
    found = budget.in_advance()
    assert found is not None
    assert found.known == (found.charges if harm == "none" else found.charges - 1)
    assert found.telling == (harm == "none")  # otherwise, all it says is what the sum says


def test_an_unsealed_plan_must_have_the_hash_of_the_entry(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqlLedger, "plan", lambda *_: "")
    budget.ask(WARDS, "zcdp(0.1)")
    (entry,) = budget.entries()
    forged: dict[str, Any] = {"plan": {"plans.plan.Plan": {}}}
    kept = find(budget.ledger, entry)
    assert kept is not None
    monkeypatch.setattr(module, "find", lambda _ledger, entry: type(kept)(kept.path, kept.content | forged, "", entry))
    found = budget.in_advance()
    assert found is not None
    assert found.known == 0


def test_answers_made_with_test_coins_have_no_law(budget: Budget) -> None:
    budget.sql(WARDS).release("zcdp(0.1)", coins=TestCoins(1))
    budget.sql(WARDS).release("zcdp(0.1)", fresh=True)  # the same plan, with private noise
    found = budget.in_advance()
    assert found is not None
    assert (found.known, found.charges) == (1, 2)
    assert [entry.coins for entry in budget.entries()] == ["test coins", ""]


def test_a_charge_without_an_answer_counts_with_its_price(budget: Budget) -> None:
    budget.ledger.charge("visits", price=sitr.ZeroConcentratedDP(0.3), question="died after the charge")
    found = budget.in_advance()
    assert found is not None
    assert found.epsilon == found.summed == sitr.ZeroConcentratedDP(0.3).to_approximate(delta=1e-6).epsilon
    assert not found.telling


def test_a_budget_without_a_cap_records_and_promises(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget("odometer(zcdp, delta=1e-6)", ledger=tmp_path / "sitr.db")
    assert budget.promise == odometer("zcdp", delta=1e-6)
    for price in ("zcdp(1)", "zcdp(100)", "pure(2)"):
        budget.ask(ALL, price)
    shown = budget.odometer()
    assert shown is not None
    assert shown.recorded == sitr.ApproximateZeroConcentratedDP(103.0, 0.0)
    assert shown.epsilon is not None
    assert shown.epsilon > sitr.ZeroConcentratedDP(103.0).loss_quantile(delta=2e-6)
    assert "No cap. Recorded charges: ρ = 103, δ = 0." in str(budget)
    assert "308" not in str(budget) + repr(budget)
    assert visits.budget(odometer("zcdp", delta=1e-6), ledger=tmp_path / "sitr.db").odometer() == shown
    page = budget.sql(ALL).release("zcdp(1)", fresh=True).certificate(tmp_path / "page.html").read_text()
    assert "Promise at any moment" in page
    assert "10³⁰⁸" not in page


def test_a_budget_with_a_cap_has_no_odometer(budget: Budget) -> None:
    assert budget.odometer() is None


def test_the_sum_of_delta_stays_within_what_was_fixed(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(odometer("approximate", delta=1e-6), ledger=tmp_path / "sitr.db")
    budget.ledger.charge("visits", price=sitr.ApproximateDP(5.0, 9e-7), question="unknown keys")
    with pytest.raises(BudgetExceeded):
        budget.ledger.charge("visits", price=sitr.ApproximateDP(0.1, 2e-7), question="unknown keys")
    budget.ask(WARDS, "pure(0.1)")
    shown = budget.odometer()
    assert shown is not None
    assert (shown.epsilon, shown.probability) == (5.1, 1e-6)


@pytest.mark.parametrize("written", ["not JSON", "[" * 100_000, '{"a": 1}', "null"])
def test_a_text_that_is_no_plan_counts_with_its_price(budget: Budget, tmp_path: Path, written: str) -> None:
    """Whoever may charge may store any text under its own hash."""
    budget.ask(ALL, "zcdp(0.1)")
    plan = sha256(written.encode()).hexdigest()
    price = sitr.ZeroConcentratedDP(0.1)
    SqlLedger(tmp_path / "sitr.db").charge("visits", price=price, question="COUNT(*)", plan=plan, written=written)
    found = budget.in_advance()
    assert found is not None
    assert (found.charges, found.known) == (2, 1)
