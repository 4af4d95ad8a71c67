"""After a loss, what is left may be one of several branches: nothing that any of them answered is forgotten."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from sitr.errors import LedgerError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger import registry, steward
from sitr.ledger.key import installation_key
from sitr.ledger.resume import back_up, restore, resume
from sitr.ledger.roles import Duty, Member
from sitr.ledger.rules import Rules
from sitr.ledger.spent import Spent, Waiting
from sitr.ledger.sql import SqlLedger
from sitr.ledger.state import state_folder
from sitr.ledger.who import acting
from sitr.ledger.witness import witnesses
from tests.ledger.test_losses import NEIGHBORS, lose, put_back

STEWARDS = {"clinic": "noor", "school": "amir"}


@contextmanager
def installation(folder: Path) -> Iterator[None]:
    with patch.dict("os.environ", {"SITR_STATE": str(folder)}):
        yield


@pytest.fixture
def ledger(path: Path) -> SqlLedger:
    """Noor is the steward of clinic and Amir of school."""
    made = SqlLedger(path)
    for name, who in STEWARDS.items():
        made.open(name, promise=PureDP(1.0), neighbors=NEIGHBORS)
        with acting(who):
            steward.assign(made, name, who, Duty.STEWARD)
    return made


def copied(ledger: SqlLedger, name: str = "copy.db") -> Path:
    back_up(ledger, copy := ledger.path.with_name(name))
    return copy


def alike(ledger: SqlLedger, there: Path) -> None:
    """Two installations charged the same price from the same copy; then Noor went on here, and Amir there."""
    with installation(there), acting("noor"):
        ledger.charge("clinic", price=PureDP(0.125), question="joins")
    copy = copied(ledger)
    with installation(there), acting("amir"):
        ledger.charge("school", price=PureDP(0.25), question="there")
    lose(ledger.path)
    shutil.copy(copy, ledger.path)
    with acting("amir"):
        ledger.charge("school", price=PureDP(0.25), question="here")
    put_back(copy, ledger.path, "noor")
    with installation(there), acting("amir"):
        resume(ledger)


def test_two_branches_that_look_alike_both_count(ledger: SqlLedger, tmp_path: Path) -> None:
    alike(ledger, tmp_path / "there")
    assert ledger.standing("school").paid == (Fraction(1, 2),)
    assert not ledger.examine().findings


def test_without_their_hashes_one_branch_would_pass_for_the_other(ledger: SqlLedger, tmp_path: Path) -> None:
    """The broken twin."""
    with patch("sitr.ledger.resume.replace", lambda spent, seen="", **rest: replace(spent, **rest)):  # noqa: ARG005
        alike(ledger, tmp_path / "there")
    assert ledger.standing("school").paid == (Fraction(1, 4),)


def forgetful(ledger: SqlLedger, there: Path) -> None:
    """An installation loses its witness, and the ledger the act with which the installation began to write to it."""
    copy = copied(ledger)
    with installation(there):
        with acting("noor"):
            ledger.charge("clinic", price=PureDP(0.5), question="there")
        shutil.rmtree(witnesses(installation_key()).folder)
        lose(ledger.path)
        shutil.copy(copy, ledger.path)
        with acting("noor"):
            ledger.charge("clinic", price=PureDP(0.5), question="again")


def test_who_has_lost_a_witness_does_not_begin_anew(ledger: SqlLedger, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"The witness of .* is missing"):
        forgetful(ledger, tmp_path / "there")
    with installation(tmp_path / "there"), acting("noor"):
        assert [(each.dataset, each.exhausted) for each in resume(ledger)] == [("clinic", True), ("school", False)]
        assert ledger.standing("clinic").remaining() == PureDP(0.0)


def test_without_the_registry_it_would(ledger: SqlLedger, tmp_path: Path) -> None:
    """The broken twin."""
    with patch.object(registry, "knows", lambda _: False):
        forgetful(ledger, tmp_path / "there")
    assert ledger.standing("clinic").paid == (Fraction(1, 2),)


def test_a_first_look_that_is_refused_is_no_acquaintance(ledger: SqlLedger, tmp_path: Path) -> None:
    """Nothing was written there, so that no witness is missed."""
    with installation(tmp_path / "there"), acting("noor"):
        with (
            patch("sitr.ledger.witness.Witness.advance", side_effect=LedgerError(given="Full.", do="Wait.")),
            pytest.raises(LedgerError, match="Full"),
        ):
            ledger.charge("clinic", price=PureDP(0.5), question="no place for a witness")
        assert not (state_folder() / "registry.json").exists()
        ledger.charge("clinic", price=PureDP(0.5), question="now there is one")


def replaced(path: Path, own: tuple[Kept, str], other: tuple[Kept, str]) -> SqlLedger:
    """Another ledger in its place answered, on other terms; then the first one is put back."""
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=own[0], neighbors=own[1])
    copy = copied(ledger)
    lose(path)
    between = SqlLedger(path)
    between.open("clinic", promise=other[0], neighbors=other[1], second=True)
    coordinates = [each / 4 for each in other[0].coordinates()]
    price = other[0].with_coordinates(coordinates, up=False)
    between.charge("clinic", price=price, question="in between")
    lose(path)
    restore(copy, path)
    return SqlLedger(path)


PURE: tuple[Kept, str] = (PureDP(1.0), NEIGHBORS)
OTHERS: list[tuple[Kept, str]] = [
    (GaussianDP(1.0), NEIGHBORS),
    (ZeroConcentratedDP(1.0), NEIGHBORS),
    (ApproximateDP(1.0, 1e-6), NEIGHBORS),
    (PureDP(1.0), "person (id), add-remove"),
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_what_was_answered_on_other_terms_exhausts(path: Path, other: tuple[Kept, str]) -> None:
    """A μ² is no ε, and what costs a row costs a person more."""
    ledger = replaced(path, PURE, other)
    assert ledger.standing("clinic").remaining() == PureDP(0.0)
    assert not ledger.examine().findings


def test_what_was_answered_on_the_same_terms_is_added(path: Path) -> None:
    assert replaced(path, PURE, (PureDP(2.0), NEIGHBORS)).standing("clinic").paid == (Fraction(1, 2),)


@pytest.mark.parametrize("other", [OTHERS[0], OTHERS[3]], ids=str)
def test_who_adds_whatever_is_remembered_leaves_budget(path: Path, other: tuple[Kept, str]) -> None:
    """The broken twin."""
    with patch.object(Spent, "counts_in", lambda *_: True):
        assert replaced(path, PURE, other).standing("clinic").remaining() != PureDP(0.0)


def ruled(ledger: SqlLedger) -> Spent:
    """Two losses after Amir set rules and roles; Noor went on twice before him."""
    copy = copied(ledger)
    with acting("amir"):
        steward.rule(ledger, "school", Rules(approval="pure(0.1)"))
        steward.assign(ledger, "school", "ana", Duty.AUDITOR)
    put_back(copy, ledger.path, "noor")
    put_back(copy, ledger.path, "noor")
    with acting("amir"):
        resume(ledger)
    return steward.state(ledger, "school")


def test_two_losses_free_nobody_from_rules(ledger: SqlLedger) -> None:
    found = ruled(ledger)
    assert found.rules == Rules(approval="pure(epsilon=0.1)")
    assert found.members == {"amir": Member(Duty.STEWARD), "ana": Member(Duty.AUDITOR)}
    assert not ledger.examine().findings


def test_with_what_was_remembered_last_there_would_be_none(ledger: SqlLedger) -> None:
    """The broken twin: the witness remembers of an account that waits what the first loss left."""
    right = Waiting.with_earlier

    def last_first(waiting: Waiting, *others: Spent, alone: bool) -> Waiting:
        found = right(waiting, *others, alone=alone)
        return replace(found, remembered=found.remembered[::-1])

    with patch.object(Waiting, "with_earlier", last_first):
        assert ruled(ledger).rules == Rules()


def periods(path: Path) -> SqlLedger:
    """Noor ruled a period after the copy, and handed all of it over to Amir; then she goes on."""
    ledger = SqlLedger(path)
    ledger.open("visits", promise=PureDP(1.0), neighbors="person (id) in each year, add-remove")
    with acting("noor"):
        steward.assign(ledger, "visits", "noor", Duty.STEWARD)
        ledger.open_part("visits@2026", of="visits")
        copy = copied(ledger)
        steward.rule(ledger, "visits@2026", Rules(least="pure(0.01)"))
        steward.assign(ledger, "visits", "amir", Duty.STEWARD)
        steward.assign(ledger, "visits", "noor", None)
    return put_back(copy, path, "noor")


def test_a_steward_who_handed_over_can_go_on_with_all_periods(path: Path) -> None:
    ledger = periods(path)
    assert steward.state(ledger, "visits@2026").rules == Rules(least="pure(epsilon=0.01)")
    assert steward.state(ledger, "visits").members == {"amir": Member(Duty.STEWARD)}


def test_who_hands_over_first_could_not_go_on(path: Path) -> None:
    """The broken twin: the roles of all periods come back before the rules of one."""
    alone: Any = lambda accounts, name: (accounts[name],)  # noqa: E731
    with patch("sitr.ledger.resume.overseen", alone), pytest.raises(LedgerError, match="does not add up"):
        periods(path)


def test_what_an_account_waits_for_does_not_double_with_every_loss(ledger: SqlLedger) -> None:
    copy, sizes = copied(ledger), []
    for _ in range(6):
        ledger = put_back(copy, ledger.path, "noor")
        sizes.append(len(steward.state(ledger, "school").waiting))
    grown = [after - before for before, after in pairwise(sizes)]
    assert max(grown) <= 1.01 * min(grown)


def without_witness(ledger: SqlLedger) -> tuple[Path, Path]:
    """The witness is lost, and with it all that was known of harbor; a copy that never had it is resumed."""
    oldest = copied(ledger, "oldest.db")
    ledger.open("harbor", promise=PureDP(1.0), neighbors=NEIGHBORS)
    newer = copied(ledger, "newer.db")
    ledger.charge("harbor", price=PureDP(0.75), question="lost")
    shutil.rmtree(witnesses(installation_key()).folder)
    put_back(oldest, ledger.path, "noor")
    return oldest, newer


def test_without_a_witness_an_account_that_is_gone_does_not_begin_anew(ledger: SqlLedger) -> None:
    without_witness(ledger)
    with pytest.raises(LedgerError, match="which had a budget of harbor, is gone"):
        ledger.open("harbor", promise=PureDP(1.0), neighbors=NEIGHBORS)
    ledger.open("island", promise=PureDP(1.0), neighbors=NEIGHBORS)  # which is new
    ledger.open("harbor", promise=PureDP(1.0), neighbors=NEIGHBORS, second=True)
    (charged, _) = ledger.charge("harbor", price=PureDP(0.5), question="second")
    assert charged.second
    assert not ledger.examine().findings


def test_without_a_witness_an_account_in_a_newer_copy_is_exhausted(ledger: SqlLedger) -> None:
    _, newer = without_witness(ledger)
    again = put_back(newer, ledger.path, "noor")
    assert again.standing("harbor").remaining() == PureDP(0.0)
    assert not again.examine().findings


@pytest.mark.parametrize("how", ["opened", "put back"])
def test_a_witness_that_forgets_that_one_was_lost_gives_budget_back(ledger: SqlLedger, how: str) -> None:
    """The broken twin."""
    right: Any = replace
    with patch("sitr.ledger.resume.replace", lambda made, unknown=False, **rest: right(made, **rest)):  # noqa: ARG005
        _, newer = without_witness(ledger)
        if how == "opened":
            ledger.open("harbor", promise=PureDP(1.0), neighbors=NEIGHBORS)
        else:
            put_back(newer, ledger.path, "noor")
    assert SqlLedger(ledger.path).standing("harbor").remaining() == PureDP(1.0)


def test_without_a_witness_no_period_begins_anew(path: Path) -> None:
    ledger = SqlLedger(path)
    ledger.open("visits", promise=PureDP(1.0), neighbors="person (id) in each year, add-remove")
    oldest = copied(ledger)
    ledger.open_part("visits@2026", of="visits")
    ledger.charge("visits@2026", price=PureDP(1.0), question="lost")
    shutil.rmtree(witnesses(installation_key()).folder)
    ledger = put_back(oldest, path, "noor")
    with pytest.raises(LedgerError, match="nobody knows what visits@2026 had spent"):
        ledger.open_part("visits@2026", of="visits")
