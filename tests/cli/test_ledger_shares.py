from __future__ import annotations

from pathlib import Path

import pytest

from sitr.flavors.pure import PureDP
from sitr.ledger.entry import Warrant
from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import acting
from tests.cli.conftest import Sitr


@pytest.fixture
def path(tmp_path: Path) -> Path:
    ledger = SqlLedger(tmp_path / "sitr.db")
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    ledger.open("wards", promise=PureDP(1.0), neighbors="row, add-remove")
    return ledger.path


def test_shares_are_made_reserved_moved_and_shown(sitr: Sitr, path: Path) -> None:
    assert "allocations, not promises" in sitr("ledger", "allot", path, "Clinic/Ana", "pure(0.6)").out
    told = sitr("ledger", "allot", path, "clinic/ben", "pure(0.6)", "--json").told()
    assert [each["account"] for each in told["shares"]] == ["clinic/ana", "clinic/ben"]
    assert len(told["notes"]) == 2
    SqlLedger(path).charge("clinic", price=PureDP(0.25), question="COUNT(*)", warrant=Warrant("ana"))
    sitr("ledger", "reserve", path, "clinic/ben", "pure(0.5)")
    told = sitr("ledger", "move", path, "clinic/ben", "clinic/ana", "pure(0.05)", "--json").told()
    assert [each["left"]["notation"] for each in told["shares"]] == ["pure(epsilon=0.25)", "pure(epsilon=0.55)"]
    assert [each["reserved"]["notation"] for each in told["shares"]] == ["pure(epsilon=0.0)", "pure(epsilon=0.5)"]
    shown = sitr("ledger", "show", path).out
    assert "clinic/ana" in shown
    assert "add up to more than it has; it still refuses whatever exceeds that" in shown
    told = sitr("ledger", "show", path, "--json").told()
    assert [len(account["shares"]) for account in told["accounts"]] == [2, 0]
    assert [entry["account"] for entry in told["entries"]] == ["clinic/ana"]
    assert "الميزانية الفرعية" in sitr("--lang", "ar", "ledger", "show", path).out
    assert sitr("ledger", "verify", path).code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("allot", "clinic/a/b", "pure(0.1)"), "no sub-budget 'a'"),
        (("allot", "clinic", "pure(0.1)"), "a name such as ana"),
        (("allot", "nothing/ana", "pure(0.1)"), "no account for nothing"),
        (("move", "clinic/ana", "wards/ana", "pure(0.1)"), "two sub-budgets of one data set"),
        (("rules", "clinic", "--rate", "60/year"), "with second, minute, hour or day"),
        (("rules", "clinic", "--rate", "0/hour"), "with second, minute, hour or day"),
        (("role", "clinic", "ana", "owner"), "steward, analyst, auditor or none"),
        (("role", "clinic", "ana", "analyst"), "nobody would be the steward"),
        (("rules", "clinic", "--none", "--least", "pure(0.1)"), "--none alone"),
    ],
)
def test_what_is_wrong_is_refused_and_not_recorded(sitr: Sitr, path: Path, words: tuple[str, ...], said: str) -> None:
    done = sitr("ledger", words[0], path, *words[1:])
    assert done.code in (1, 2)
    assert said in " ".join(done.err.split())
    assert SqlLedger(path).examine().records == 3


def test_rules_are_set_shown_and_removed(sitr: Sitr, path: Path) -> None:
    assert "has no rules" in sitr("ledger", "rules", path, "clinic").out
    sitr(
        "ledger", "rules", path, "clinic", "--least", "pure(0.01)", "--rate", "60/hour", "--approve-above", "pure(0.1)"
    )
    told = sitr("ledger", "rules", path, "clinic", "--json").told()
    assert told == {
        "dataset": "clinic",
        "least": "pure(epsilon=0.01)",
        "rate": {"questions": 60, "seconds": 3600},
        "approval": "pure(epsilon=0.1)",
    }
    assert "at most 60 questions are answered within 3600 seconds" in sitr("ledger", "rules", path, "clinic").out
    assert "has no rules" in sitr("ledger", "rules", path, "clinic", "--none").out


def test_roles_are_given_shown_and_kept(sitr: Sitr, path: Path) -> None:
    assert "Nobody has a role" in sitr("ledger", "role", path, "clinic").out
    sitr("ledger", "allot", path, "clinic/ana", "pure(0.5)")
    with acting("noor"):
        sitr("ledger", "role", path, "clinic", "noor", "steward")
        told = sitr("ledger", "role", path, "clinic", "ana", "analyst", "--account", "clinic/ana", "--json").told()
    assert told["roles"] == [
        {"user": "ana", "role": "analyst", "account": "clinic/ana"},
        {"user": "noor", "role": "steward", "account": "clinic"},
    ]
    assert "محلل" in sitr("--lang", "ar", "ledger", "role", path, "clinic").out
    with acting("ana"):
        assert "only a steward may do this" in sitr("ledger", "allot", path, "clinic/ana", "pure(0.9)").err
