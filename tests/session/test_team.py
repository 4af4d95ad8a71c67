"""One budget, several people: sub-budgets, requests and keys through the one door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.errors import BackendFailure, BudgetExceeded, InvalidUse, LedgerError, NotAllowed, QuestionError
from sitr.language import Language, speaking
from sitr.ledger.proposals import Status
from sitr.ledger.who import acting
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
OTHER = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(rho=1.0, ledger=tmp_path / "sitr.db")


def charges(budget: Budget) -> int:
    return budget.standing().charges


def test_a_question_is_charged_to_a_share_and_to_all_above(budget: Budget) -> None:
    ana = budget.allot("Team", rho=0.5).allot("ana", "zcdp(0.3)")
    answer = ana.sql(SQL).release(rho=0.1)
    assert answer.receipt.entry.account == "visits/team/ana"
    assert ana.remaining() == sitr.ZeroConcentratedDP(0.2)
    assert budget.account("team").remaining() == sitr.ZeroConcentratedDP(0.4)
    assert budget.account("team/ana").remaining() == ana.remaining()
    assert budget.remaining() == answer.receipt.standing.remaining() == sitr.ZeroConcentratedDP(0.9)
    with pytest.raises(BudgetExceeded, match="visits/team/ana has left"):
        ana.histogram("ward").release(rho=0.25)
    budget.move("team/ana", "team", rho=0.1)
    budget.reserve("team", rho=0.3)
    assert budget.accounts().left("") == sitr.ZeroConcentratedDP(0.7)
    assert charges(budget) == 1


def test_a_kept_answer_is_free_for_everybody(budget: Budget) -> None:
    ana, ben = budget.allot("ana", rho=0.1), budget.allot("ben", rho=0.1)
    first = ana.sql(SQL).release(rho=0.1)
    assert ben.sql(SQL).release(rho=0.1).table == first.table
    assert (charges(budget), ben.remaining()) == (1, sitr.ZeroConcentratedDP(0.1))


def test_an_unknown_share_is_refused_before_anything(budget: Budget) -> None:
    budget.allot("ana", rho=0.1)
    with pytest.raises(LedgerError, match="Did you mean 'ana'"):
        budget.account("anna")
    with pytest.raises(InvalidUse, match="the name of a sub-budget"):
        budget.account(7)  # type: ignore[arg-type]


def test_rules_hold_for_every_question(budget: Budget) -> None:
    rules = budget.rule(least="zcdp(0.001)", questions=1, seconds=3600)
    assert budget.rules() == rules
    with patch.object(DuckDB, "read", side_effect=AssertionError), pytest.raises(NotAllowed, match="at least"):
        budget.sql(SQL).release("zcdp(1e-100)")
    budget.sql(SQL).release(rho=0.1)
    budget.sql(SQL).release(rho=0.1)  # kept, so it is free
    with pytest.raises(NotAllowed, match="the steward allows no more"):
        budget.sql(OTHER).release(rho=0.1)
    assert charges(budget) == 1


def test_a_request_is_asked_approved_and_answered_once(budget: Budget) -> None:
    budget.rule(approval="zcdp(0.01)")
    with pytest.raises(NotAllowed, match=r"Prices above zcdp\(rho=0\.01\) need approval"):
        budget.sql(SQL).release(rho=0.1)
    budget.sql(OTHER).release(rho=0.01)
    with acting("ana"):
        asked = budget.sql(SQL).propose(rho=0.1, reason="Annual report")
        assert (asked.status, asked.by, asked.price) == (Status.ASKED, "ana", "zcdp(rho=0.1)")
        assert asked.left == "zcdp(rho=0.89)"
        assert asked.errors == budget.sql(SQL).preview(rho=0.1).errors()
        with pytest.raises(NotAllowed, match=r"ana asked request .* and cannot decide"):
            budget.approve(asked.number)
        with pytest.raises(NotAllowed, match="is asked, not approved"):
            budget.ask(SQL, "zcdp(0.1)", request=asked.number)
    assert charges(budget) == 1
    with acting("noor"):
        assert budget.approve(asked.number, reason="Fine").status is Status.APPROVED
        with pytest.raises(NotAllowed, match="is approved already"):
            budget.refuse(asked.number)
        with pytest.raises(NotAllowed, match="was made by ana, not by noor"):
            budget.ask(SQL, "zcdp(0.1)", request=asked.number)
    with acting("ana"):
        for sql, price in ((OTHER, "zcdp(0.1)"), (SQL, "zcdp(0.11)")):
            with pytest.raises(NotAllowed, match="approved for another question, price, account or description"):
                budget.ask(sql, price, request=asked.number)
        answer = budget.ask(SQL, "zcdp(0.1)", request=asked.number)
        assert answer.receipt.entry.request == asked.number
        with pytest.raises(NotAllowed, match="is answered, not approved"):
            budget.approved(asked.number).sql(SQL).release(rho=0.1, fresh=True)
        assert budget.ask(SQL, "zcdp(0.1)").receipt.again
    (found,) = budget.queue()
    assert (found.status, found.entry, found.decided_by, found.why) == (
        Status.ANSWERED,
        answer.receipt.entry.number,
        "noor",
        "Fine",
    )
    assert budget.ledger.examine().sound  # type: ignore[attr-defined]


def test_a_refused_or_expired_request_is_never_answered(budget: Budget) -> None:
    with acting("ana"):
        one, other = (budget.sql(SQL).propose(rho=0.1, reason="Why not", days=1) for _ in range(2))
    with acting("noor"):
        assert budget.refuse(one.number).status is Status.REFUSED
        with pytest.raises(NotAllowed, match="is refused already"):
            budget.approve(one.number)
        budget.approve(other.number)
    with acting("ana"), pytest.raises(NotAllowed, match="is refused, not approved"):
        budget.ask(SQL, "zcdp(0.1)", request=one.number)
    later = other.expires
    with patch("sitr.ledger.proposals.datetime", wraps=type(later)) as clock, acting("ana"):
        clock.now.return_value = later
        with pytest.raises(NotAllowed, match="is expired, not approved"):
            budget.ask(SQL, "zcdp(0.1)", request=other.number)
    assert charges(budget) == 0


@pytest.mark.parametrize("wrong", [{"reason": " "}, {"reason": "x", "days": 0}, {"reason": "x", "days": True}])
def test_a_request_without_a_reason_or_a_period_is_refused(budget: Budget, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidUse):
        budget.sql(SQL).propose(rho=0.1, **wrong)
    with pytest.raises(BudgetExceeded):
        budget.sql(SQL).propose(rho=1.1, reason="too much")
    assert budget.queue() == []


def test_a_request_for_a_join_is_refused(budget: Budget) -> None:
    request = budget.sql(SQL)
    beside = type(request)(request.question, replace(request.at, beside=(request.at,)), request.answered)
    with pytest.raises(QuestionError, match="joins several budgets"):
        beside.propose(rho=0.1, reason="x")


def test_a_repeated_question_returns_the_same_answer_and_spends_nothing(budget: Budget) -> None:
    first = budget.keyed("k1").sql(SQL).release(rho=0.1, fresh=True)
    with patch.object(DuckDB, "read", side_effect=AssertionError):
        for fresh in (False, True):
            again = budget.keyed("k1").sql(SQL).release(rho=0.1, fresh=fresh)
            assert (again.table, again.receipt.again) == (first.table, True)
    assert charges(budget) == 1
    second = budget.keyed("k2").sql(SQL).release(rho=0.1, fresh=True)
    assert second.receipt.entry.number == 2


def test_a_key_belongs_to_one_plan_and_one_user(budget: Budget) -> None:
    budget.ask(SQL, "zcdp(0.1)", key="k")
    for sql, price in ((OTHER, "zcdp(0.1)"), (SQL, "zcdp(0.2)")):
        with pytest.raises(NotAllowed, match="This key belongs to another question or price, that of entry 1"):
            budget.ask(sql, price, key="k")
    with acting("somebody else"):
        assert budget.ask(OTHER, "zcdp(0.1)", key="k").receipt.entry.number == 2
    assert charges(budget) == 2


@pytest.mark.parametrize("keep", [True, False])
def test_a_charge_without_a_kept_answer_is_never_drawn_again(visits: Dataset, tmp_path: Path, keep: bool) -> None:
    budget = visits.budget(rho=1.0, ledger=tmp_path / "sitr.db", keep=keep)
    if keep:
        with patch.object(DuckDB, "read", side_effect=RuntimeError), pytest.raises(BackendFailure):
            budget.ask(SQL, "zcdp(0.1)", key="k")
    else:
        budget.ask(SQL, "zcdp(0.1)", key="k")
    with patch.object(DuckDB, "read", side_effect=AssertionError):
        for _ in range(3):
            with pytest.raises(NotAllowed, match="stays spent and is never drawn again"):
                budget.ask(SQL, "zcdp(0.1)", key="k")
    assert charges(budget) == 1


def test_a_key_that_was_used_in_the_meantime_is_not_charged_twice(budget: Budget) -> None:
    """Two programs look for the key at once, and both find nothing."""
    budget.ask(SQL, "zcdp(0.1)", key="k")
    with (
        patch.object(type(budget.ledger), "keyed", lambda *_: None),
        pytest.raises(NotAllowed, match="in the meantime"),
    ):
        budget.keyed("k").sql(SQL).release(rho=0.1, fresh=True)
    assert charges(budget) == 1


@pytest.mark.parametrize("wrong", ["", "x" * 201, 7])
def test_a_key_is_a_short_text(budget: Budget, wrong: Any) -> None:
    with pytest.raises(InvalidUse, match="a key of 1 to 200 letters"):
        budget.keyed(wrong)


@pytest.mark.parametrize("make", [lambda it: it.approved(0), lambda it: it.approved("7")])
def test_a_request_has_a_number(budget: Budget, make: Callable[[Budget], Budget]) -> None:
    with pytest.raises(InvalidUse, match="the number of a request"):
        make(budget)


def test_previews_and_answers_say_what_the_share_and_all_above_have_left(budget: Budget) -> None:
    ana = budget.allot("team", rho=0.5).allot("ana", rho=0.3)
    budget.allot("team/ben", rho=0.3)
    budget.reserve("team/ben", rho=0.1)
    found = ana.sql(SQL).preview(rho=0.1)
    facts = dict(found.paper.facts)
    assert (
        facts["left now"]
        == "visits/team/ana: ρ = 0.3 of ρ = 0.3; visits/team: ρ = 0.4 of ρ = 0.5; visits: ρ = 0.9 of ρ = 1"
    )
    assert facts["left then"].startswith("visits/team/ana: ρ = 0.2 of ρ = 0.3; visits/team: ρ = 0.3 of ρ = 0.5;")
    told = found.to_dict()
    assert [(each["account"], each["left"]["rho"]) for each in told["accounts"]] == [
        ("visits/team/ana", 0.3),
        ("visits/team", 0.4),
        ("visits", 0.9),
    ]
    assert told["budget"]["before"]["remaining"]["rho"] == 1.0  # what is promised to people is all that
    assert [each.price.coordinates()[0] for each in found.prices()][-1] == Fraction(3, 10)  # and not 0.4
    too_much = ana.sql(SQL).preview(rho=0.31)
    assert dict(too_much.paper.facts)["left then"] == "the budget cannot pay this"
    assert "cannot pay" in repr(too_much)
    answer = ana.sql(SQL).release(rho=0.1)
    said = dict(answer.paper.facts)
    assert said["left now"] == facts["left then"]
    assert "left" not in said
    with speaking(Language.ARABIC):
        assert "من" in dict(ana.sql(SQL).preview(rho=0.1).paper.facts)["left now"]
    assert "accounts" not in answer.to_dict()


def test_an_answer_is_shown_even_if_the_shares_cannot_be_read(budget: Budget) -> None:
    answer = budget.allot("ana", rho=0.3).sql(SQL).release(rho=0.1)
    with patch("sitr.report.shares.tree", side_effect=LedgerError(given="x.", do="y.")):
        assert dict(answer.paper.facts)["left"] == "ρ = 0.9 of ρ = 1"
