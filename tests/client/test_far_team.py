"""A team's budget on a server: the same calls as here, the same objects, and the ledger there decides."""

from __future__ import annotations

import pytest

import sitr
from sitr.errors import InvalidUse, LedgerError, NotAllowed
from sitr.ledger.proposals import Status
from sitr.ledger.roles import Duty, Member
from sitr.ledger.rules import Rules
from tests.client.conftest import Served
from tests.client.test_far import here
from tests.server.conftest import SQL


def test_a_steward_divides_the_budget_from_elsewhere(served: Served) -> None:
    far, near = served.budget("noor"), here(served)
    team = far.allot("team", "zcdp(0.2)")
    below = team.allot("ben", rho=0.1)
    assert below.remaining() == sitr.ZeroConcentratedDP(0.1)
    team.reserve("ben", rho=0.05)
    far.move("ana", "team", "zcdp(0.05)")
    assert far.accounts() == near.accounts()
    assert [*far.accounts().shares] == ["ana", "team", "team/ben"]
    assert any(far.accounts().share("team/ben").reserve)
    assert team.account("ben").sql(SQL).release(rho=0.01).receipt.entry.share == "team/ben"


def test_rules_and_roles_are_those_of_the_ledger(served: Served) -> None:
    far, near = served.budget("noor"), here(served)
    given = far.rule(least="zcdp(0.0001)", questions=7, seconds=60, approval="zcdp(0.1)")
    assert given == near.rules() == far.rules()
    assert given.seconds == 60
    assert far.rule() == Rules() == near.rules()
    assert far.roles() == near.roles()
    assert far.assign("ana", None) == near.roles()
    assert far.assign("ana", Duty.ANALYST, account="ana")["ana"] == Member(Duty.ANALYST, "ana")
    with pytest.raises(InvalidUse, match="no account eva"):
        far.assign("eva", Duty.ANALYST)
    with pytest.raises(InvalidUse, match="Duty"):
        far.assign("ana", "analyst")  # type: ignore[arg-type]


def test_a_request_is_made_decided_and_asked_from_elsewhere(served: Served) -> None:
    ana, noor, near = served.budget("ana"), served.budget("noor"), here(served)
    noor.rule(approval="zcdp(0.001)")
    asked = ana.sql(SQL)
    with pytest.raises(NotAllowed, match="approv"):
        asked.release(rho=0.01)
    made = asked.propose("zcdp(0.01)", reason="Annual report", days=3)
    assert near.queue() == [made] == ana.queue() == noor.queue()
    assert made.status is Status.ASKED
    assert (made.expires - made.at).days in (2, 3)
    assert dict(made.errors) == dict(asked.preview("zcdp(0.01)").errors())
    with pytest.raises(NotAllowed):
        ana.approve(made.number)
    assert noor.approve(made.number, reason="Fine").decided_by == "noor"
    answer = ana.approved(made.number).sql(SQL).release("zcdp(0.01)")
    assert [each.status for each in ana.queue()] == [Status.ANSWERED]
    assert answer.receipt.entry.request == made.number
    other = ana.sql(SQL).propose("zcdp(0.02)", reason="More")
    assert noor.refuse(other.number, reason="Too much").status is Status.REFUSED
    assert near.queue()[-1].why == "Too much"
    with pytest.raises(InvalidUse, match="in SQL only"):
        ana.histogram("days", bins=3, bounds=(0, 30)).propose("zcdp(0.01)", reason="No")
    with pytest.raises(LedgerError, match="no such data set, answer or request"):
        noor.approve(99)


def test_others_may_not(served: Served) -> None:
    ana, omar = served.budget("ana"), served.budget("omar")
    for refused in (
        lambda: ana.allot("x", rho=0.01),
        lambda: omar.move("ana", "x", rho=0.01),
        ana.rule,
        lambda: omar.assign("ana", None),
        ana.accounts,
        ana.roles,
    ):
        with pytest.raises(NotAllowed):
            refused()
    assert omar.accounts() == here(served).accounts()
    assert omar.roles() == here(served).roles()
