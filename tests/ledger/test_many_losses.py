"""However often a ledger is lost, and whoever goes on, no budget comes back.

A walk charges, copies, puts back any older copy, and goes on, at random, as the stewards of three data sets. Everything
that was ever accepted was answered, so the ledger must count at least that whenever it accepts another charge.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

from sitr.errors import SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger import steward
from sitr.ledger.examine import Fault
from sitr.ledger.resume import back_up, restore, resume
from sitr.ledger.roles import Duty
from sitr.ledger.spent import Waiting
from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import acting
from sitr.ledger.witness import Witness
from tests.ledger.test_roles import lose
from tests.ledger.test_witness import faults

STEWARDS = {"clinic": "noor", "school": "amir", "prison": "zoe"}
PROMISES: dict[Kept, Kept] = {
    PureDP(2.0): PureDP(0.125),
    ZeroConcentratedDP(rho=2.0): ZeroConcentratedDP(rho=0.125),
    GaussianDP(1.0): GaussianDP(0.25),
    ApproximateDP(2.0, 1e-5): ApproximateDP(0.125, 1e-7),
}


class Uncounted(AssertionError):
    """Something was answered that the ledger does not count."""


class Walk:
    """One ledger, what was ever accepted in it, and the copies that somebody kept."""

    def __init__(self, folder: Path, promise: Kept, seed: int) -> None:
        self.path, self.promise, self.coins = folder / "ledger.db", promise, random.Random(seed)
        self.price = PROMISES[promise]
        self.answered = dict.fromkeys(STEWARDS, Fraction(0))
        self.copies: list[Path] = []
        self.losses = self.waited = 0
        for place, name in enumerate(STEWARDS):
            if place:
                self.keep()  # a copy that lacks the accounts that come
            self.ledger.open(name, promise=promise, neighbors="row, add-remove")
            with acting(STEWARDS[name]):
                steward.assign(self.ledger, name, STEWARDS[name], Duty.STEWARD)

    @property
    def ledger(self) -> SqlLedger:
        return SqlLedger(self.path)

    def keep(self) -> None:
        self.copies.append(self.path.with_name(f"copy-{len(self.copies)}.db"))
        back_up(self.ledger, self.copies[-1])

    def charge(self, name: str) -> bool:
        with acting(STEWARDS[name]):
            try:
                self.ledger.charge(name, price=self.price, question="COUNT(*)")
            except SitrError as refused:
                self.waited += "waits for its own steward" in str(refused)
                return False
        self.answered[name] += sum(self.price.coordinates())
        if sum(self.ledger.standing(name).paid) < self.answered[name]:
            raise Uncounted(name)
        return True

    def ask(self) -> None:
        self.charge(self.coins.choice(list(STEWARDS)))

    def lose(self) -> None:
        copy = self.coins.choice(self.copies)
        lose(self.path)
        self.losses += 1
        with acting(self.coins.choice(list(STEWARDS.values()))):
            try:
                restore(copy, self.path)
            except SitrError:
                self.path.write_bytes(copy.read_bytes())  # by hand, past Sitr

    def go_on(self) -> None:
        with acting(self.coins.choice(list(STEWARDS.values()))), suppress(SitrError):
            resume(self.ledger)

    def steps(self, number: int) -> Iterator[None]:
        acts = [self.ask] * 6 + [self.keep, self.lose, self.go_on, self.go_on]
        for _ in range(number):
            self.coins.choice(acts)()
            yield


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_no_budget_comes_back(tmp_path: Path, promise: Kept, seed: int) -> None:
    walk = Walk(tmp_path, promise, seed)
    for _ in walk.steps(60):
        pass
    for name in STEWARDS.values():  # everybody goes on, and asks until nothing is left
        with acting(name), suppress(SitrError):
            resume(walk.ledger)
    for name in STEWARDS:
        while walk.charge(name):
            pass
    assert walk.losses >= 2
    assert all(spent <= sum(promise.coordinates()) for spent in walk.answered.values())
    for name in STEWARDS:  # and nothing is left for which another charge would do
        paid = zip(promise.coordinates(), walk.ledger.standing(name).paid, strict=True)
        left = [whole - part for whole, part in paid]
        assert min(left) >= 0
        assert any(rest < cost for rest, cost in zip(left, walk.price.coordinates(), strict=True))
    assert faults(walk.ledger) == set()


class Shared(Walk):
    """Two installations use one file, and each of them loses its own witness now and then, or is stopped before it.
    The twins are in `test_branches`.

    A set of charges belongs to every file: those that it counts, or remembers for a steward who has not gone on. An
    installation knows those of all files that it has written to. Whatever it accepts must count both.
    """

    def __init__(self, folder: Path, promise: Kept, seed: int) -> None:
        self.serial, self.counted = 0, {name: set[int]() for name in STEWARDS}
        self.seen: dict[Path, dict[str, set[int]]] = {}
        self.then: list[dict[str, set[int]]] = []
        self.homes = [folder / home for home in ("here", "there")]
        self.home = self.homes[0]
        super().__init__(folder, promise, seed)

    def steps(self, number: int) -> Iterator[None]:
        acts = [self.ask] * 6 + [self.keep, self.lose, self.go_on, self.go_on, self.change, self.change, self.forget]
        for _ in range(number):
            act = self.coins.choice(acts)
            with patch.dict("os.environ", {"SITR_STATE": str(self.home)}):
                act()
            yield

    def change(self) -> None:
        self.home = self.coins.choice(self.homes)

    def forget(self) -> None:
        if self.coins.random() < 0.2:
            shutil.rmtree(self.home / "witnesses", ignore_errors=True)

    def wrote(self) -> None:
        known = self.seen.setdefault(self.home, {name: set() for name in STEWARDS})
        for name in STEWARDS:
            self.counted[name] |= known[name]
            known[name] |= self.counted[name]

    def keep(self) -> None:
        super().keep()
        self.then.append({name: set(each) for name, each in self.counted.items()})

    def charge(self, name: str) -> bool:
        stopped = self.coins.random() < 0.1
        with acting(STEWARDS[name]):
            try:
                with patch.object(Witness, "advance", side_effect=KeyboardInterrupt) if stopped else nullcontext():
                    self.ledger.charge(name, price=self.price, question="COUNT(*)")
            except (SitrError, KeyboardInterrupt):
                return False
        self.serial += 1
        self.counted[name].add(self.serial)
        self.wrote()
        due = [len(self.counted[name]) * each for each in self.price.coordinates()]
        if any(paid < each for paid, each in zip(self.ledger.standing(name).paid, due, strict=True)):
            raise Uncounted(name)
        return True

    def lose(self) -> None:
        number = self.coins.randrange(len(self.copies))
        lose(self.path)
        self.counted = {name: set(each) for name, each in self.then[number].items()}
        shutil.copy(self.copies[number], self.path)

    def go_on(self) -> None:
        with acting(self.coins.choice(list(STEWARDS.values()))), suppress(SitrError):
            resume(self.ledger)
            self.wrote()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("promise", [PureDP(2.0), GaussianDP(1.0)], ids=str)
def test_nothing_that_an_installation_has_seen_is_forgotten(tmp_path: Path, promise: Kept, seed: int) -> None:
    with patch.dict("os.environ", {"SITR_STATE": str(tmp_path / "here")}):
        walk = Shared(tmp_path, promise, seed)
    for _ in walk.steps(50):
        pass
    assert walk.serial >= 1
    with patch.dict("os.environ", {"SITR_STATE": str(walk.home)}):
        walk.go_on()
        assert faults(walk.ledger) <= {Fault.BEHIND}


def test_a_twin_that_forgets_after_a_second_loss_is_found(tmp_path: Path) -> None:
    """Each loss would replace what an account still waits for by what is remembered since."""
    with patch.object(Waiting, "with_earlier", lambda self, *others, alone: self):  # noqa: ARG005
        for seed in range(40):
            (folder := tmp_path / str(seed)).mkdir()
            with suppress(Uncounted):
                for _ in Walk(folder, PureDP(2.0), seed).steps(80):
                    pass
                continue
            break
        else:
            pytest.fail("the twin was not found")
