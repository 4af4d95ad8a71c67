"""Decisions and answers that were not possible are found, even if somebody signed them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from sitr.errors import InvalidUse, LedgerError, NotAllowed
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.ledger import steward
from sitr.ledger.approval import approve, propose, queue, refuse
from sitr.ledger.book import act_row, insert
from sitr.ledger.entry import Warrant
from sitr.ledger.examine import Fault
from sitr.ledger.gate import LOST
from sitr.ledger.key import installation_key
from sitr.ledger.proposals import Proposal, Status
from sitr.ledger.resume import back_up, restore
from sitr.ledger.roles import Duty
from sitr.ledger.rules import Rules
from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import acting
from tests.ledger.places import without_triggers
from tests.ledger.test_witness import faults

ASKED: dict[str, Any] = {"question": "COUNT(*)", "plan": "p" * 64, "description": "d" * 64}


@pytest.fixture
def ledger(path: Path) -> SqlLedger:
    made = SqlLedger(path)
    made.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    return made


def asked(ledger: SqlLedger, by: str = "ana") -> Proposal:
    with acting(by):
        return propose(ledger, "clinic", share="", price=PureDP(0.1), reason="Report", errors={"n": 3.0}, **ASKED)


def test_all_steps_are_in_the_chain(ledger: SqlLedger) -> None:
    one, other = asked(ledger), asked(ledger)
    with acting("noor"):
        approve(ledger, one.number)
        refuse(ledger, other.number, reason="Too much")
    with acting("ana"):
        ledger.charge("clinic", price=PureDP(0.1), warrant=Warrant(request=one.number), **ASKED)
    assert [each.status for each in queue(ledger, "clinic")] == [Status.ANSWERED, Status.REFUSED]
    assert faults(ledger) == set()
    for number in (999, -1, 2**70):
        with pytest.raises(LedgerError, match=rf"There is no request {number}"), acting("noor"):
            approve(ledger, number)


@pytest.mark.parametrize("by", ["ana", "noor"])
def test_a_decision_by_who_asked_or_a_second_one_is_found(ledger: SqlLedger, path: Path, by: str) -> None:
    """Written past the client, with the key of the installation: ana approves herself, or noor decides again."""
    found = asked(ledger)
    with acting("noor"):
        if by == "noor":
            refuse(ledger, found.number)
    with acting(by), without_triggers(path) as connection:
        row = act_row("approved", {}, dataset="clinic") | {"about": found.number}
        insert(connection, "acts", row, installation_key())
    assert faults(ledger) == {Fault.WRONG_SUM}
    with pytest.raises(LedgerError, match="does not add up"):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")


@pytest.mark.parametrize("changed", [{"plan": "x" * 64}, {"price": "pure(epsilon=0.2)"}, {"by": "ben"}, {}])
def test_an_answer_that_nobody_approved_is_found(ledger: SqlLedger, path: Path, changed: dict[str, str]) -> None:
    found = asked(ledger)
    if changed:
        with acting("noor"):
            approve(ledger, found.number)
    price = changed.get("price", "pure(epsilon=0.1)")
    row: dict[str, Any] = {"dataset": "clinic", "price": price, "at": found.at.isoformat(), "by": "ana", **ASKED}
    row["version"] = "0"
    paid = "1/5" if "price" in changed else "1/10"
    row |= {"charges": 1, "paid": paid, "request": found.number} | changed
    with without_triggers(path) as connection:
        insert(connection, "entries", row, installation_key())
    assert faults(ledger) == {Fault.WRONG_SUM}


def test_an_answer_as_approved_is_sound_when_it_is_written_like_this(ledger: SqlLedger, path: Path) -> None:
    """The twin of the test above: nothing but the change is found there."""
    found = asked(ledger)
    with acting("noor"):
        approve(ledger, found.number)
    row = {"dataset": "clinic", "price": "pure(epsilon=0.1)", **ASKED, "at": found.at.isoformat(), "by": "ana"}
    with without_triggers(path) as connection:
        sums = {"version": "0", "charges": 1, "paid": "1/10", "request": found.number}
        insert(connection, "entries", row | sums, installation_key())
    assert faults(ledger) == set()


def test_an_approved_request_is_charged_once(ledger: SqlLedger) -> None:
    found = asked(ledger)
    with acting("noor"):
        approve(ledger, found.number)
    with acting("ana"):
        warrant = Warrant(request=found.number)
        ledger.charge("clinic", price=PureDP(0.1), warrant=warrant, **ASKED)
        with pytest.raises(NotAllowed, match="is answered, not approved"):
            ledger.charge("clinic", price=PureDP(0.1), warrant=warrant, **ASKED)
    assert len(ledger.entries()) == 1


def test_an_approval_without_a_record_is_not_believed(ledger: SqlLedger, path: Path) -> None:
    """A row that was put in by hand, which no trigger forbids and no witness has seen."""
    found = asked(ledger)
    row = act_row("approved", {}, dataset="clinic") | {"about": found.number, "number": 99, "by": "noor"}
    with without_triggers(path) as connection:
        columns, values = ", ".join(row), ", ".join(f":{name}" for name in row)
        connection.execute(f"INSERT INTO acts ({columns}) VALUES ({values})", row)
    with acting("ana"), pytest.raises(LedgerError, match=f"Request {found.number} was changed by hand"):
        ledger.charge("clinic", price=PureDP(0.1), warrant=Warrant(request=found.number), **ASKED)
    assert ledger.standing("clinic").charges == 0


@pytest.mark.parametrize("decided", [True, False])
def test_a_request_that_was_changed_by_hand_is_not_approved_or_answered(
    ledger: SqlLedger, path: Path, *, decided: bool
) -> None:
    """ana is allowed 0.1 for one question, and writes another price into the row: the witness has seen it before."""
    found = asked(ledger)
    if decided:
        with acting("noor"):
            approve(ledger, found.number)
    with without_triggers(path) as connection:
        change = "UPDATE acts SET body = replace(body, 'pure(epsilon=0.1)', 'pure(epsilon=0.9)') WHERE number = ?"
        connection.execute(change, (found.number,))
    asks = {"price": PureDP(0.9), "warrant": Warrant(request=found.number), **ASKED}
    goes_on = partial(ledger.charge, "clinic", **asks) if decided else partial(approve, ledger, found.number)
    with acting("ana" if decided else "noor"), pytest.raises(LedgerError, match="was changed by hand"):
        goes_on()


def test_an_answer_before_its_approval_is_found(ledger: SqlLedger, path: Path) -> None:
    found, key = asked(ledger), installation_key()
    row = {"dataset": "clinic", "price": "pure(epsilon=0.1)", **ASKED, "at": found.at.isoformat(), "by": "ana"}
    row |= {"version": "0", "charges": 1, "paid": "1/10", "request": found.number}
    with without_triggers(path) as connection:
        insert(connection, "entries", row, key)
        with acting("noor"):
            decision = act_row("approved", {}, dataset="clinic") | {"about": found.number}
            insert(connection, "acts", decision, key)
    assert [(each.fault, each.table) for each in ledger.examine().findings] == [(Fault.WRONG_SUM, "entries")]


def test_a_decision_in_the_name_of_another_data_set_is_found(ledger: SqlLedger, path: Path) -> None:
    """The steward of the school has nothing to say about the clinic."""
    found = asked(ledger)
    ledger.open("school", promise=PureDP(1.0), neighbors="row, add-remove")
    with acting("noor"), without_triggers(path) as connection:
        decision = act_row("approved", {}, dataset="school") | {"about": found.number}
        insert(connection, "acts", decision, installation_key())
    assert faults(ledger) == {Fault.WRONG_SUM}


def test_an_approval_from_before_a_loss_is_not_used_again(ledger: SqlLedger, path: Path) -> None:
    """It was answered after the backup, and the answer stays spent; a second one needs a new request."""
    found = asked(ledger)
    with acting("noor"):
        approve(ledger, found.number)
    back_up(ledger, copy := path.with_name("copy.db"))
    with acting("ana"):
        ledger.charge("clinic", price=PureDP(0.1), warrant=Warrant(request=found.number), **ASKED)
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    restore(copy, path)
    with acting("ana"), pytest.raises(NotAllowed, match="is expired, not approved"):
        SqlLedger(path).charge("clinic", price=PureDP(0.1), warrant=Warrant(request=found.number), **ASKED)


def test_a_budget_with_a_gamma_takes_requests(path: Path) -> None:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=RandomDP(PureDP(1.0), 0.05), neighbors="row, replace-one")
    assert asked(ledger).left == "random(pure(epsilon=0.9), gamma=0.0)"


def test_a_reason_that_is_no_text_is_refused(ledger: SqlLedger) -> None:
    with pytest.raises(InvalidUse, match="Expected a reason"):
        propose(ledger, "clinic", share="", price=PureDP(0.1), reason="\udcff", errors={}, **ASKED)
    found = asked(ledger)
    with acting("noor"), pytest.raises(InvalidUse, match="Expected a reason"):
        approve(ledger, found.number, reason="\udcff")


def test_nobody_acts_without_a_name() -> None:
    """A login without a name would act as the user of the server."""
    with pytest.raises(InvalidUse, match="the name of a user"), acting(""):
        pass


def entry(ledger: SqlLedger, price: float, *, at: datetime, **more: Any) -> dict[str, Any]:
    """The row of a charge with the right sums, as somebody would write it past the client."""
    after = ledger.standing("clinic").consent(PureDP(price))
    row = {"dataset": "clinic", "price": f"pure(epsilon={price})", **ASKED, "at": at.isoformat(), "by": "ana"}
    return row | {"version": "0", "charges": after.charges, "paid": " ".join(map(str, after.paid))} | more


def written(ledger: SqlLedger, path: Path, row: dict[str, Any]) -> list[tuple[Fault, str]]:
    with without_triggers(path) as connection:
        insert(connection, "entries", row, installation_key())
    return [(each.fault, each.table) for each in ledger.examine().findings]


@pytest.mark.parametrize(
    ("rules", "price", "later", "sound"),
    [
        (Rules(least="pure(0.1)"), 0.1, 0, True),
        (Rules(least="pure(0.1)"), 0.01, 0, False),
        (Rules(questions=1, seconds=3600), 0.1, 3601, True),
        (Rules(questions=1, seconds=3600), 0.1, 3599, False),
        (Rules(questions=1, seconds=3600), 0.1, -9999, False),
        (Rules(approval="pure(0.1)"), 0.1, 0, True),
        (Rules(approval="pure(0.1)"), 0.2, 0, False),
    ],
)
def test_a_charge_that_the_rules_forbade_is_found(
    ledger: SqlLedger, path: Path, rules: Rules, price: float, later: int, sound: bool
) -> None:
    """Somebody writes it with the key of the installation; the twins on the border are sound."""
    first, _ = ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    steward.rule(ledger, "clinic", rules)
    row = entry(ledger, price, at=first.at + timedelta(seconds=later))
    assert written(ledger, path, row) == ([] if sound else [(Fault.WRONG_SUM, "entries")])
    if not sound:
        with pytest.raises(LedgerError, match="does not add up"):
            ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")


def test_earlier_rules_are_replayed_and_not_those_of_today(ledger: SqlLedger) -> None:
    steward.rule(ledger, "clinic", Rules(least="pure(0.1)"))
    ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    steward.rule(ledger, "clinic", Rules())
    ledger.charge("clinic", price=PureDP(0.01), question="COUNT(*)")
    steward.rule(ledger, "clinic", Rules(least="pure(0.2)", questions=1, seconds=9999))
    assert faults(ledger) == set()


@pytest.mark.parametrize(("seconds", "sound"), [(-1, True), (0, False)])
def test_an_answer_after_the_request_expired_is_found(ledger: SqlLedger, path: Path, seconds: int, sound: bool) -> None:
    found = asked(ledger)
    with acting("noor"):
        approve(ledger, found.number)
    row = entry(ledger, 0.1, at=found.expires + timedelta(seconds=seconds), request=found.number)
    assert written(ledger, path, row) == ([] if sound else [(Fault.WRONG_SUM, "entries")])


@pytest.mark.parametrize(("seconds", "sound"), [(-1, True), (0, False)])
def test_a_decision_after_the_request_expired_is_found(
    ledger: SqlLedger, path: Path, seconds: int, sound: bool
) -> None:
    found = asked(ledger)
    late = {"about": found.number, "at": (found.expires + timedelta(seconds=seconds)).isoformat(), "by": "noor"}
    with without_triggers(path) as connection:
        insert(connection, "acts", act_row("approved", {}, dataset="clinic") | late, installation_key())
    assert faults(ledger) == (set() if sound else {Fault.WRONG_SUM})


def test_an_answer_to_a_request_from_before_a_loss_is_found(ledger: SqlLedger, path: Path) -> None:
    found = asked(ledger)
    with acting("noor"):
        approve(ledger, found.number)
    with without_triggers(path) as connection:
        insert(connection, "acts", act_row("resumed", {"from": 1, "witness": 2}), installation_key())
    row = entry(ledger, 0.1, at=found.at, request=found.number)
    assert written(ledger, path, row) == [(Fault.WRONG_SUM, "entries")]


@pytest.mark.parametrize("after_a_loss", [True, False])
def test_only_what_was_lost_is_charged_past_the_rules(ledger: SqlLedger, path: Path, after_a_loss: bool) -> None:
    """The words of such an entry alone do not free it from the rules."""
    steward.rule(ledger, "clinic", Rules(least="pure(0.1)", questions=1, seconds=3600, approval="pure(0.1)"))
    ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    if after_a_loss:
        back_up(ledger, copy := path.with_name("copy.db"))
        with patch("sitr.ledger.rules.Rules.check_rate"):
            ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        restore(copy, path)
        assert faults(SqlLedger(path)) == set()
    else:
        row = entry(ledger, 0.05, at=datetime.now(UTC)) | {"question": LOST, "plan": None, "description": None}
        assert written(ledger, path, row) == [(Fault.WRONG_SUM, "entries")]


def test_an_analyst_cannot_go_on_after_a_loss_by_hand(ledger: SqlLedger, path: Path) -> None:
    with acting("noor"):
        steward.assign(ledger, "clinic", "noor", Duty.STEWARD)
        steward.assign(ledger, "clinic", "ana", Duty.ANALYST)
    with without_triggers(path) as connection, acting("ana"):
        insert(connection, "acts", act_row("resumed", {"from": 1, "witness": 2}), installation_key())
    assert [(each.fault, each.table) for each in ledger.examine().findings] == [(Fault.WRONG_SUM, "acts")]


def test_a_restore_by_an_analyst_leaves_nothing_in_the_place_of_the_ledger(ledger: SqlLedger, path: Path) -> None:
    with acting("noor"):
        steward.assign(ledger, "clinic", "noor", Duty.STEWARD)
        steward.assign(ledger, "clinic", "ana", Duty.ANALYST)
    back_up(ledger, copy := path.with_name("copy.db"))
    with acting("ana"):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    with acting("ana"), pytest.raises(NotAllowed, match="only a steward"):
        restore(copy, path)
    assert not path.exists()
    with acting("noor"):
        assert restore(copy, path)[0].price == PureDP(0.1)
    assert faults(SqlLedger(path)) == set()
