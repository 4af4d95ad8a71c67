from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.errors import InvalidUse, LedgerError, NotAllowed
from sitr.flavors.pure import PureDP
from sitr.ledger import approval, steward
from sitr.ledger.book import act_row, insert
from sitr.ledger.entry import Warrant
from sitr.ledger.examine import Fault
from sitr.ledger.key import installation_key
from sitr.ledger.proposals import RESUMED
from sitr.ledger.resume import back_up, restore, resume
from sitr.ledger.roles import Duty, Member
from sitr.ledger.rules import Rules
from sitr.ledger.spent import Waiting
from sitr.ledger.sql import SqlLedger
from sitr.ledger.state import state_folder
from sitr.ledger.who import acting
from tests.ledger.places import without_triggers
from tests.ledger.test_witness import faults

ASKED: dict[str, Any] = {"question": "COUNT(*)", "plan": "p" * 64, "description": "d" * 64}


@pytest.fixture
def ledger(path: Path) -> SqlLedger:
    """Noor is the steward, Ana an analyst with a sub-budget, Omar an auditor."""
    made = SqlLedger(path)
    made.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    with acting("noor"):
        steward.allot(made, "clinic", "ana", PureDP(0.5))
        steward.assign(made, "clinic", "noor", Duty.STEWARD)
        steward.assign(made, "clinic", "ana", Duty.ANALYST, share="ana")
        steward.assign(made, "clinic", "omar", Duty.AUDITOR)
    return made


def charge(ledger: SqlLedger, share: str) -> None:
    ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)", warrant=Warrant(share))


def proposed(ledger: SqlLedger, share: str = "ana") -> int:
    made = approval.propose(ledger, "clinic", share=share, price=PureDP(0.1), reason="Report", errors={}, **ASKED)
    return made.number


STEWARDS: list[Callable[[SqlLedger], object]] = [
    lambda ledger: steward.allot(ledger, "clinic", "ana", PureDP(0.6)),
    lambda ledger: steward.reserve(ledger, "clinic", "ana", PureDP(0.1)),
    lambda ledger: steward.rule(ledger, "clinic", Rules()),
    lambda ledger: steward.assign(ledger, "clinic", "ana", Duty.STEWARD),
    lambda ledger: steward.assign(ledger, "clinic", "zoe", Duty.ANALYST),
]


@pytest.mark.parametrize("act", STEWARDS)
def test_only_a_steward_divides_rules_and_assigns(ledger: SqlLedger, act: Callable[[SqlLedger], object]) -> None:
    before = ledger.examine().records
    for who, role in (("ana", "an analyst"), ("omar", "an auditor"), ("zoe", "nobody")):
        with acting(who), pytest.raises(NotAllowed, match=f"{who} is {role} here, and only a steward may do this"):
            act(ledger)
    assert ledger.examine().records == before
    with acting("noor"):
        act(ledger)
    assert faults(ledger) == set()


def test_an_analyst_charges_its_own_account_and_those_below(ledger: SqlLedger) -> None:
    with acting("noor"):
        steward.allot(ledger, "clinic", "ana/march", PureDP(0.2))
        steward.allot(ledger, "clinic", "anab", PureDP(0.2))
        charge(ledger, "")
    with acting("ana"):
        charge(ledger, "ana")
        charge(ledger, "ana/march")
        for other in ("", "anab"):
            with pytest.raises(NotAllowed, match=r"ana may charge the sub-budget ana, not"):
                charge(ledger, other)
            with pytest.raises(NotAllowed, match=r"ana may charge the sub-budget ana, not"):
                proposed(ledger, other)
    for who in ("omar", "zoe"):
        with acting(who), pytest.raises(NotAllowed, match="only analysts and stewards may ask"):
            charge(ledger, "ana")
    assert len(ledger.entries()) == 3
    assert faults(ledger) == set()


def test_only_a_steward_who_did_not_ask_decides(ledger: SqlLedger) -> None:
    with acting("noor"):
        own = proposed(ledger, "")
        steward.assign(ledger, "clinic", "ben", Duty.ANALYST)
        with pytest.raises(NotAllowed, match="cannot decide about it"):
            approval.approve(ledger, own)
    with acting("ana"):
        number = proposed(ledger)
    for who in ("ana", "ben", "omar"):
        with acting(who), pytest.raises(NotAllowed, match="only a steward may do this"):
            approval.approve(ledger, number)
    with acting("noor"):
        approval.approve(ledger, number)
    assert faults(ledger) == set()


def test_there_is_always_a_steward(path: Path) -> None:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    with acting("noor"):
        with pytest.raises(NotAllowed, match="nobody would be the steward"):
            steward.assign(ledger, "clinic", "ana", Duty.ANALYST)
        steward.assign(ledger, "clinic", "noor", Duty.STEWARD)
        for duty in (None, Duty.AUDITOR):
            with pytest.raises(NotAllowed, match="nobody would be the steward"):
                steward.assign(ledger, "clinic", "noor", duty)
        with pytest.raises(LedgerError, match="no sub-budget 'ana'"):
            steward.assign(ledger, "clinic", "ana", Duty.ANALYST, share="ana")
        with pytest.raises(InvalidUse, match="the name of a user"):
            steward.assign(ledger, "clinic", "a\nb", Duty.ANALYST)
        steward.allot(ledger, "clinic", "ana", PureDP(0.1))
        with pytest.raises(InvalidUse, match="Only an analyst has a sub-budget"):
            steward.assign(ledger, "clinic", "ana", Duty.AUDITOR, share="ana")
        steward.assign(ledger, "clinic", "ana", Duty.STEWARD)
        assert steward.assign(ledger, "clinic", "noor", None) == {"ana": Member(Duty.STEWARD)}
    assert faults(ledger) == set()


@pytest.mark.parametrize("kind", ["allotted", "assigned", "approved", "entry"])
def test_what_was_done_past_the_client_is_found(ledger: SqlLedger, path: Path, kind: str) -> None:
    """The analyst writes to the file, in her own name and with a genuine key."""
    with acting("ana"):
        number = proposed(ledger)
    bodies = {
        "allotted": {"share": "ana", "amount": "pure(epsilon=0.9)"},
        "assigned": {"user": "ana", "role": "steward", "share": ""},
    }
    with acting("omar" if kind == "approved" else "ana"), without_triggers(path) as connection:
        if kind == "entry":
            row = {"dataset": "clinic", "price": "pure(epsilon=0.1)", "question": "", "at": "2026-01-01", "by": "ana"}
            row |= {"version": "0"}
            insert(connection, "entries", row | {"charges": 1, "paid": "1/10"}, installation_key())
        else:
            about = {"about": number if kind == "approved" else None}
            act = act_row(kind, bodies.get(kind, {}), dataset="clinic") | about
            insert(connection, "acts", act, installation_key())
    assert faults(ledger) == {Fault.WRONG_SUM}
    with acting("noor"), pytest.raises(LedgerError, match="does not add up"):
        charge(ledger, "")


def test_only_a_steward_goes_on_after_a_loss(ledger: SqlLedger, path: Path) -> None:
    back_up(ledger, copy := path.with_name("copy.db"))
    with acting("ana"):
        charge(ledger, "ana")
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    with acting("ana"), pytest.raises(NotAllowed, match="only a steward may do this"):
        restore(copy, path)
    assert not path.exists()  # a refused restore leaves nothing behind
    with acting("noor"):
        (found,) = restore(copy, path)
    assert found.price == PureDP(0.1)
    assert faults(SqlLedger(path)) == set()


def test_an_old_copy_frees_nobody_from_roles_and_rules(path: Path) -> None:
    """Made before there were any: whoever puts it back would be the first steward of a budget without rules."""
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    back_up(ledger, copy := path.with_name("copy.db"))
    with acting("noor"):
        steward.assign(ledger, "clinic", "noor", Duty.STEWARD)
        steward.assign(ledger, "clinic", "amir", Duty.STEWARD)
        steward.allot(ledger, "clinic", "ana", PureDP(0.3))
        steward.assign(ledger, "clinic", "ana", Duty.ANALYST, share="ana")
        steward.rule(ledger, "clinic", Rules(approval="pure(0.2)"))
    known = steward.state(ledger, "clinic")
    lose(path)
    with acting("ana"), pytest.raises(NotAllowed, match="only a steward may do this"):
        restore(copy, path)
    lose(path)
    with acting("noor"):
        restore(copy, path)
    found = steward.state(SqlLedger(path), "clinic")
    assert (found.members, found.rules) == (known.members, known.rules)
    assert faults(SqlLedger(path)) == set()


def test_a_steward_of_an_old_copy_hands_over_to_those_of_the_witness(ledger: SqlLedger, path: Path) -> None:
    back_up(ledger, copy := path.with_name("copy.db"))
    with acting("noor"):
        steward.assign(ledger, "clinic", "amir", Duty.STEWARD)
    with acting("amir"):
        steward.assign(ledger, "clinic", "noor", None)
    lose(path)
    with acting("noor"):
        restore(copy, path)
    duties = {name: member.duty for name, member in steward.state(SqlLedger(path), "clinic").members.items()}
    assert duties == {"amir": Duty.STEWARD, "ana": Duty.ANALYST, "omar": Duty.AUDITOR}
    assert faults(SqlLedger(path)) == set()


@pytest.fixture
def two(path: Path) -> tuple[SqlLedger, Path]:
    """Noor is the steward of clinic and Amir of school; a copy was made when both had charged a little."""
    made = SqlLedger(path)
    for name, own in (("noor", "clinic"), ("amir", "school")):
        made.open(own, promise=PureDP(1.0), neighbors="row, add-remove")
        with acting(name):
            steward.assign(made, own, name, Duty.STEWARD)
            made.charge(own, price=PureDP(0.125), question="before")
    back_up(made, copy := path.with_name("copy.db"))
    with acting("noor"):
        made.charge("clinic", price=PureDP(0.25), question="lost")
    with acting("amir"):
        made.charge("school", price=PureDP(0.5), question="lost")
        steward.rule(made, "school", Rules(approval="pure(0.2)"))
        steward.assign(made, "school", "ana", Duty.ANALYST)
    return made, copy


@pytest.mark.parametrize("first", ["noor", "amir"])
def test_each_steward_goes_on_with_their_own_data_set(two: tuple[SqlLedger, Path], path: Path, first: str) -> None:
    ledger, copy = two
    own, other = ("clinic", "school") if first == "noor" else ("school", "clinic")
    second = "amir" if first == "noor" else "noor"
    spent, known = {name: ledger.standing(name).paid for name in (own, other)}, steward.state(ledger, "school")
    lose(path)
    with acting(first):
        found = {each.dataset: each for each in restore(copy, path)}
    assert (found[own].waiting, found[other].waiting, found[other].price) == (False, True, None)
    ledger = SqlLedger(path)
    assert ledger.standing(own).paid == spent[own]
    with acting(first):
        ledger.charge(own, price=PureDP(0.125), question="after")
        with pytest.raises(LedgerError, match=f"{other} waits for its own steward"):
            ledger.charge(other, price=PureDP(0.125), question="after")
        with pytest.raises(NotAllowed, match="only a steward may do this"):  # the other one's lot is not theirs
            resume(ledger)
    with acting("ana"), pytest.raises(NotAllowed):  # an analyst of school, as the witness remembers
        resume(ledger)
    with acting(second):
        with pytest.raises(LedgerError, match=f"{other} waits for its own steward"):
            ledger.charge(other, price=PureDP(0.125), question="after")
        (counted,) = resume(ledger)
        assert counted.price == PureDP(0.5 if other == "school" else 0.25)
        assert ledger.standing(other).paid == spent[other]
        ledger.charge(other, price=PureDP(0.125), question="after")
        with pytest.raises(LedgerError, match=r"Nothing of .* is lost"):
            resume(ledger)
    after = steward.state(ledger, "school")
    assert (after.members, after.rules) == (known.members, known.rules)
    assert faults(ledger) == set()


def test_without_a_witness_each_steward_exhausts_their_own(two: tuple[SqlLedger, Path]) -> None:
    ledger, _ = two
    for witness in (state_folder() / "witnesses").glob("*.json"):
        witness.unlink()
    with acting("noor"):
        found = {each.dataset: each for each in resume(ledger)}
    assert (found["clinic"].exhausted, found["school"].waiting) == (True, True)
    with acting("amir"):
        (own,) = resume(ledger)
    assert own.exhausted
    assert [ledger.standing(name).remaining() for name in ("clinic", "school")] == [PureDP(0.0)] * 2
    assert faults(ledger) == set()


def test_a_data_set_that_the_copy_lacks_waits_for_its_steward_too(path: Path) -> None:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    back_up(ledger, copy := path.with_name("copy.db"))
    ledger.open("school", promise=PureDP(2.0), neighbors="row, add-remove")
    with acting("amir"):
        steward.assign(ledger, "school", "amir", Duty.STEWARD)
        ledger.charge("school", price=PureDP(0.5), question="lost")
    lose(path)
    with acting("noor"):
        restore(copy, path)
        with pytest.raises(NotAllowed):
            resume(SqlLedger(path))
    with acting("amir"):
        resume(SqlLedger(path))
    assert SqlLedger(path).standing("school").remaining() == PureDP(1.5)
    assert faults(SqlLedger(path)) == set()


EVERYBODY = {"waiting": dict.fromkeys(("clinic", "school"), Waiting().written())}


@pytest.mark.parametrize("body", [EVERYBODY, {"datasets": ["school"]}, {}])
def test_who_is_no_steward_cannot_go_on_by_hand(two: tuple[SqlLedger, Path], body: dict[str, object]) -> None:
    """Acts written past Sitr: all data sets wait, or somebody goes on with another's."""
    ledger, _ = two
    with acting("noor"), ledger._file.transaction(write=True) as connection:
        insert(connection, "acts", act_row(RESUMED, body), installation_key())
    assert faults(ledger) == {Fault.WRONG_SUM}


def lose(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
