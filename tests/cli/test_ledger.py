"""`sitr ledger show` shows what is there, and makes nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import parse
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

IN_ADVANCE = {
    "epsilon": pytest.approx(0.25, rel=1e-5),
    "delta": 1e-6,
    "charges": 1,
    "exact": 0,
    "summed_epsilon": 0.25,
    "obstacle": None,
}
"""One pure charge without a kept plan: nothing is known beyond its price."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "sitr.db"
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="person (patient_id), add-remove")
    ledger.open("school", promise=ApproximateDP(1.0, 1e-6), neighbors="row, replace-one")
    ledger.charge("clinic", price=PureDP(0.25), question="SELECT COUNT(*) AS n FROM clinic")
    ledger.charge("school", price=ApproximateDP(0.1, 5e-7), question='SELECT COUNT(*) AS "\x1b[31m" FROM school')
    return path


def test_budgets_and_charges(sitr: Sitr, path: Path) -> None:
    done = sitr("ledger", "show", path, environment={"COLUMNS": "200"})
    assert (done.code, done.err) == (0, "")
    words = " ".join(done.out.split())
    assert "clinic person (patient_id), add-remove ε = 1 ε = 0.25 ε = 0.75" in words
    assert "██░░░░░░░░ 25%" in done.out
    assert "█████░░░░░ 50%" in done.out  # of δ, which is scarcer than ε
    assert "\x1b" not in done.out


def test_json(sitr: Sitr, path: Path) -> None:
    told = sitr("ledger", "show", path, "--json").told()
    assert list(told) == ["ledger", "accounts", "entries"]
    clinic, school = told["accounts"]
    assert clinic.pop("opened") <= datetime.now(UTC).isoformat()
    assert clinic == {
        "dataset": "clinic",
        "neighbors": "person (patient_id), add-remove",
        "promise": {"notation": "pure(epsilon=1.0)", "flavor": "pure", "epsilon": 1.0},
        "spent": {"notation": "pure(epsilon=0.25)", "flavor": "pure", "epsilon": 0.25},
        "remaining": {"notation": "pure(epsilon=0.75)", "flavor": "pure", "epsilon": 0.75},
        "shares": [],
        "odometer": None,
        "in_advance": IN_ADVANCE,
    }
    assert school["dataset"] == "school"
    assert [entry["number"] for entry in told["entries"]] == [1, 2]
    asked = {"number", "dataset", "account", "at", "by", "version", "question", "price"}
    assert set(told["entries"][0]) == asked | {"beside", "plan", "description", "hash"}


def test_one_data_set(sitr: Sitr, path: Path) -> None:
    told = sitr("ledger", "show", path, "--dataset", "school", "--json").told()
    assert [account["dataset"] for account in told["accounts"]] == ["school"]
    assert [entry["dataset"] for entry in told["entries"]] == ["school"]


def test_an_unknown_data_set(sitr: Sitr, path: Path) -> None:
    refused = sitr("ledger", "show", path, "--dataset", "prison", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "LedgerError")


def test_a_new_budget(sitr: Sitr, tmp_path: Path) -> None:
    SqlLedger(tmp_path / "new.db").open("clinic", promise=PureDP(0.0), neighbors="row, add-remove")
    told = sitr("ledger", "show", tmp_path / "new.db").out
    assert "No question has been asked yet." in told
    assert "██████████ 100%" in told  # of nothing, all is spent


def test_nearly_all_is_not_all(sitr: Sitr, tmp_path: Path) -> None:
    ledger = SqlLedger(tmp_path / "new.db")
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    ledger.charge("clinic", price=PureDP(0.999), question="SELECT COUNT(*) AS n FROM clinic")
    assert "█████████░ 100%" in sitr("ledger", "show", tmp_path / "new.db").out


def test_nothing_is_made(sitr: Sitr, tmp_path: Path) -> None:
    refused = sitr("ledger", "show", tmp_path / "missing.db", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "LedgerError")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_ledger(sitr: Sitr, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no ledger " * 100)
    (tmp_path / "empty.db").touch()
    for name in ("notes.txt", "empty.db"):
        assert sitr("ledger", "show", tmp_path / name, "--json").error()["error"] == "LedgerError"
    assert (tmp_path / "empty.db").stat().st_size == 0


def test_a_budget_with_gamma_says_what_that_is(sitr: Sitr, tmp_path: Path) -> None:
    ledger = SqlLedger(tmp_path / "random.db")
    ledger.open("poll", promise=RandomDP(ApproximateDP(1.0, 1e-6), 0.1), neighbors="row, replace-one")
    wide = {"COLUMNS": "250"}
    before = " ".join(sitr("ledger", "show", tmp_path / "random.db", environment=wide).out.split())
    assert "ε = 1, δ = 10⁻⁶, γ = 0.1, finite-sample ε = 0, δ = 0, γ = 0 ε = 1, δ = 10⁻⁶, γ = 0.1" in before
    assert "Only the first charge may be random" in before
    price = RandomDP(ApproximateDP(0.25, 0.0), 0.05, parts=(("newcomer", 0.04), ("gate", 0.01)))
    ledger.charge("poll", price=price, question="mean")
    after = " ".join(sitr("ledger", "show", tmp_path / "random.db", environment=wide).out.split())
    assert "ε = 0.25, δ = 0, γ = 0.05 (newcomer 0.04, gate 0.01), finite-sample" in after
    assert "ε = 0.75, δ = 10⁻⁶, γ = 0 " in after
    assert "25%" in after  # of ε: no share of γ is left or missing
    assert "Assumes exchangeable data; protects a random newcomer, not every person" in after
    assert "No further charge may be random" in after
    told = sitr("ledger", "show", tmp_path / "random.db", "--json").told()
    assert told["accounts"][0]["spent"] == told["entries"][0]["price"]
    assert told["entries"][0]["price"]["parts"]["newcomer"] == 0.04
    assert "exchangeable" in told["accounts"][0]["promise"]["words"]


def test_an_odometer_shows_recorded_charges_and_what_they_promise(sitr: Sitr, tmp_path: Path) -> None:
    path = tmp_path / "odometers.db"
    ledger = SqlLedger(path)
    for name, text in {"a": "odometer(pure)", "b": "odometer(zcdp)", "c": "odometer(zcdp, delta=1e-6)"}.items():
        ledger.open(name, promise=cast("Kept", parse(text)), neighbors="row, replace-one")
        ledger.charge(name, price=PureDP(1.0), question="SELECT COUNT(*) AS n FROM rows")
    words = " ".join(sitr("ledger", "show", path, environment={"COLUMNS": "200"}).out.split())
    assert "a row, replace-one ε = ∞ ε = 1 ε = ∞" in words
    assert "a: No cap. Recorded charges: ε = 1. Promise at any moment, whoever chooses it: whatever happens" in words
    assert "b: No cap. Recorded charges: ρ = 0.5. This total is a record and no promise" in words
    assert "c: No cap. Recorded charges: ρ = 0.5, δ = 0. Promise at any moment" in words
    assert "as for the other, plus 2 × 10⁻⁶, which was fixed when the budget was opened." in words
    assert "308" not in words
    assert "%" not in words  # no bar
    first, second, third = sitr("ledger", "show", path, "--json").told()["accounts"]
    assert first["odometer"]["promise"] == {"epsilon": 1.0, "probability": 0.0}
    assert second["odometer"]["promise"] is None
    assert third["odometer"]["promise"]["probability"] == 2e-6
    arabic = sitr("ledger", "show", path, "--lang", "ar", environment={"COLUMNS": "200"}).out
    assert arabic.count("بلا سقف") == 3
