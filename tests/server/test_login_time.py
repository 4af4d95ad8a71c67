"""How long a login takes does not tell whether somebody has an account: Argon2 runs once in any case."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from sitr.server.users import Users
from tests.server.conftest import NAMES, password, people_in, settings_in

SLOW = PasswordHasher(time_cost=2, memory_cost=4096, parallelism=1)
"""Slow enough that a login without it would stand out."""


@pytest.fixture
def people(tmp_path: Path) -> Users:
    made = replace(people_in(settings_in(tmp_path)), hasher=SLOW, _unknown=SLOW.hash("nobody has this"))
    for name, role in NAMES.items():
        made.add(name, role, password(name))
    made.enable("ana", enabled=False)
    return made


class Counting:
    """A hasher that counts."""

    def __init__(self) -> None:
        self.verified: list[str] = []

    def verify(self, known: str, given: str) -> bool:
        self.verified.append(known.rpartition("$")[0].rpartition("$")[0])  # the parameters, without salt and hash
        return SLOW.verify(known, given)


CASES = {"unknown": "nobody", "wrong password": "noor", "disabled": "ana", "empty": ""}


def test_every_failed_login_runs_argon2_once_with_the_same_parameters(people: Users) -> None:
    seen = {}
    for case, name in CASES.items():
        counting = Counting()
        assert replace(people, hasher=counting).check(name, "not the phrase") is None  # type: ignore[arg-type]
        seen[case] = counting.verified
    assert {len(each) for each in seen.values()} == {1}
    assert len({each[0] for each in seen.values()}) == 1


def processor_times(people: Users, many: int) -> dict[str, list[float]]:
    """The times of each case, one after the other in turn: the speed of a machine changes over time."""
    found: dict[str, list[float]] = {case: [] for case in (*CASES, "shortcut")}
    for _ in range(many):
        for case, name in CASES.items():
            began = time.thread_time()
            people.check(name, "not the phrase")
            found[case].append(time.thread_time() - began)
        began = time.thread_time()
        people.user("nobody")  # what a login would do that looks for the account first
        found["shortcut"].append(time.thread_time() - began)
    return found


def apart(one: list[float], other: list[float]) -> bool:
    """Whether the middle halves of two samples do not overlap: then one look would tell them apart."""
    (low, _, high), (lower, _, higher) = (statistics.quantiles(each, n=4) for each in (one, other))
    return high < lower or higher < low


def test_the_times_of_failed_logins_overlap_and_a_shortcut_would_not(people: Users) -> None:
    times = processor_times(people, 25)
    for case in CASES:
        assert not apart(times[case], times["wrong password"]), case
    assert apart(times["shortcut"], times["wrong password"])
