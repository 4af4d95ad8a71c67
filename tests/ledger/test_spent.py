"""What an account waits for after a loss is not forgotten after another one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitr.errors import LedgerError
from sitr.ledger.follow import resumed
from sitr.ledger.spent import Spent, Waiting, check_waiting

LOST = Spent("opened", "pure(epsilon=1.0)", "row", charges=2, paid="1/2")
FIRST = Waiting(((LOST, True),))
LEFT = Spent("opened", "pure(epsilon=1.0)", "row", charges=1, paid="1/10", waiting=FIRST.written())


def test_a_second_loss_keeps_what_the_first_one_left_to_count() -> None:
    for alone in (True, False):
        second = Waiting(((LEFT, True),)).with_earlier(LEFT, alone=alone)
        assert [each for each, _ in second.remembered] == [LOST, replace(LEFT, waiting="")]
        assert [own for _, own in second.remembered] == [alone, True]
        assert second.counts(FIRST)
    assert not Waiting(((LEFT, True),)).counts(FIRST)
    assert Waiting((), unknown=True).with_earlier(LEFT, alone=True).unknown


def test_nobody_makes_another_account_forget_what_it_waits_for() -> None:
    accounts = {"own": Spent("a", "pure(epsilon=1.0)", "row"), "other": LEFT}
    kept = {"waiting": {"other": Waiting(((LEFT, True),)).with_earlier(alone=True).written()}}
    with pytest.raises(LedgerError, match="waits for its own steward"):
        check_waiting(resumed(accounts, kept, by="anybody")["other"], "other")
    with pytest.raises(ValueError, match="other"):
        resumed(accounts, {"waiting": {"other": Waiting().written()}}, by="anybody")
