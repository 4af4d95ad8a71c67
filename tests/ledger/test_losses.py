"""A ledger that is lost twice gives no budget back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

from sitr.errors import BudgetExceeded, LedgerError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger import steward
from sitr.ledger.book import act_row, insert, ledger_id
from sitr.ledger.key import installation_key
from sitr.ledger.proposals import RESUMED
from sitr.ledger.resume import back_up, restore, resume
from sitr.ledger.roles import Duty
from sitr.ledger.spent import Spent, Waiting
from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import acting
from sitr.ledger.witness import witnesses

NEIGHBORS = "row, add-remove"


def lose(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def put_back(copy: Path, path: Path, by: str) -> SqlLedger:
    """A loss, after which one steward goes on."""
    lose(path)
    with acting(by):
        restore(copy, path)
    return SqlLedger(path)


PRICES = [
    (PureDP(1.0), PureDP(0.1)),
    (ApproximateDP(1.0, 1e-6), ApproximateDP(0.1, 1e-8)),
    (ZeroConcentratedDP(1.0), ZeroConcentratedDP(0.125)),
    (GaussianDP(1.0), GaussianDP(0.3)),
]


def two(path: Path, promise: Kept, price: Kept) -> tuple[SqlLedger, Path]:
    """Noor is the steward of clinic and Amir of school; both charged twice after the copy."""
    ledger = SqlLedger(path)
    for name, own in (("noor", "clinic"), ("amir", "school")):
        ledger.open(own, promise=promise, neighbors=NEIGHBORS)
        with acting(name):
            steward.assign(ledger, own, name, Duty.STEWARD)
            ledger.charge(own, price=price, question="before")
    back_up(ledger, copy := path.with_name("copy.db"))
    for name, own in (("noor", "clinic"), ("amir", "school")) * 2:
        with acting(name):
            ledger.charge(own, price=price, question="lost")
    return ledger, copy


def lost_twice(path: Path, promise: Kept, price: Kept) -> tuple[SqlLedger, tuple[Fraction, ...]]:
    """Two losses, after both of which only Noor went on; and what Amir had spent."""
    ledger, copy = two(path, promise, price)
    spent = ledger.standing("school").paid
    ledger = put_back(copy, path, "noor")
    with acting("noor"):
        ledger.charge("clinic", price=price, question="in between")
    return put_back(copy, path, "noor"), spent


@pytest.mark.parametrize(("promise", "price"), PRICES)
def test_after_two_losses_everything_counts(path: Path, promise: Kept, price: Kept) -> None:
    ledger, spent = lost_twice(path, promise, price)
    assert ledger.standing("clinic").charges == 2
    with acting("amir"):
        with pytest.raises(LedgerError, match="school waits for its own steward"):
            ledger.charge("school", price=price, question="after")
        resume(ledger)
        assert all(now >= then for now, then in zip(ledger.standing("school").paid, spent, strict=True))
        ledger.charge("school", price=price, question="after")
    assert all(now > then for now, then in zip(ledger.standing("school").paid, spent, strict=True) if then)
    assert not ledger.examine().findings


def test_who_forgets_the_first_loss_gives_budget_back(path: Path) -> None:
    """The broken twin: without the repair, what the first loss left to count is gone."""
    with patch.object(Waiting, "with_earlier", lambda self, *_, **__: self):
        ledger, spent = lost_twice(path, PureDP(1.0), PureDP(0.1))
        with acting("amir"):
            resume(ledger)
    assert ledger.standing("school").paid < spent


def test_three_losses_and_a_copy_in_which_somebody_waits(path: Path) -> None:
    ledger, copy = two(path, PureDP(1.0), PureDP(0.125))
    spent = ledger.standing("school").paid
    ledger = put_back(copy, path, "noor")
    back_up(ledger, waiting := path.with_name("waiting.db"))
    with acting("amir"):
        resume(ledger)
        ledger.charge("school", price=PureDP(0.25), question="after")
    ledger = put_back(waiting, path, "noor")
    ledger = put_back(copy, path, "noor")
    with acting("amir"):
        resume(ledger)
    assert ledger.standing("school").paid == (spent[0] + Fraction(1, 4),)
    assert not ledger.examine().findings


def test_a_loss_of_the_witness_in_between_is_not_forgotten(path: Path) -> None:
    ledger, copy = two(path, PureDP(1.0), PureDP(0.125))
    with ledger._file.transaction(write=False) as connection:
        witnesses(installation_key())._path(str(ledger_id(connection))).unlink()
    ledger = put_back(copy, path, "noor")
    ledger = put_back(copy, path, "noor")
    with acting("amir"):
        resume(ledger)
    assert [ledger.standing(name).remaining() for name in ("clinic", "school")] == [PureDP(0.0)] * 2
    assert not ledger.examine().findings


def test_an_act_alone_frees_nobody_from_counting(path: Path) -> None:
    """Anybody who can write to the file can append the act in the steward's name; what was lost must follow it."""
    ledger, spent = lost_twice(path, PureDP(1.0), PureDP(0.125))
    with ledger._file.transaction(write=True) as connection, acting("amir"):
        insert(connection, "acts", act_row(RESUMED, {"datasets": ["school"]}), installation_key())
    with acting("amir"):
        with pytest.raises(LedgerError, match="school waits for its own steward"):
            ledger.charge("school", price=PureDP(0.125), question="for nothing")
        resume(ledger)
        ledger.charge("school", price=PureDP(0.125), question="after")
    assert ledger.standing("school").paid == (spent[0] + Fraction(1, 8),)
    assert not ledger.examine().findings


def test_an_act_alone_would_give_budget_back(path: Path) -> None:
    """The broken twin: the act itself ends the waiting."""
    ledger, spent = lost_twice(path, PureDP(1.0), PureDP(0.125))
    with (
        patch("sitr.ledger.follow._counting", lambda left: replace(left, waiting="")),
        ledger._file.transaction(write=True) as connection,
        acting("amir"),
    ):
        insert(connection, "acts", act_row(RESUMED, {"datasets": ["school"]}), installation_key())
    with patch("sitr.ledger.follow._counting", lambda left: replace(left, waiting="")), acting("amir"):
        ledger.charge("school", price=PureDP(0.125), question="for nothing")
        assert ledger.standing("school").paid < spent


def test_what_another_ledger_answered_is_added_to_what_went_on() -> None:
    """Whatever the order in which it was remembered: 0.6 goes on from the 0.1 that is left, and 0.2 comes on top."""
    left = Spent("opened", "pure(epsilon=1.0)", "row", charges=1, paid="1/10")
    went_on, elsewhere = (Spent("opened", left.promise, "row", charges=2, paid=paid) for paid in ("3/5", "1/5"))
    for remembered in (((went_on, True), (elsewhere, False)), ((elsewhere, False), (went_on, True))):
        assert Waiting.of(Waiting(remembered).counting(left)).due == "4/5"
        assert Waiting(remembered).in_order() == ((went_on, True), (elsewhere, False))
    with patch.object(Waiting, "in_order", lambda self: self.remembered):  # the broken twin
        assert Waiting.of(Waiting(((elsewhere, False), (went_on, True))).counting(left)).due == "3/5"


def without_witness(path: Path, promise: Kept) -> SqlLedger:
    """A ledger whose witness is gone, with a rest that is no floating-point number."""
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=promise, neighbors=NEIGHBORS)
    ledger.charge("clinic", price=PureDP(0.1), question="before")
    ledger.charge("clinic", price=PureDP(1.23456e-17), question="before")
    with ledger._file.transaction(write=False) as connection:
        witnesses(installation_key())._path(str(ledger_id(connection))).unlink()
    return ledger


@pytest.mark.parametrize("promise", [PureDP(1.0), ApproximateDP(1.0, 1e-6), ZeroConcentratedDP(1.0)])
def test_nothing_at_all_is_left_of_an_exhausted_budget(path: Path, promise: Kept) -> None:
    """Also if what was left is no floating-point number."""
    ledger = without_witness(path, promise)
    resume(ledger)
    for epsilon in (1e-18, 1e-30):
        with pytest.raises(BudgetExceeded):
            ledger.charge("clinic", price=PureDP(epsilon), question="for nothing")
    assert not ledger.examine().findings


def test_a_single_charge_would_leave_a_rest(path: Path) -> None:
    """The broken twin: what is left is charged once, rounded down."""
    ledger = without_witness(path, PureDP(1.0))
    with patch("sitr.ledger.resume.exhausted", lambda _: True):
        resume(ledger)
    ledger.charge("clinic", price=PureDP(1e-18), question="for nothing")
