"""Accounts, invitations, sessions and tokens."""

from __future__ import annotations

import sqlite3
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sitr.errors import InvalidUse, NotAllowed
from sitr.server.role import Scope, UserRole
from sitr.server.users import User, Users
from tests.server.conftest import people_in, settings_in

PHRASE = "a long phrase"


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def later(self, **passed: float) -> None:
        self.now += timedelta(**passed)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def people(tmp_path: Path, clock: Clock) -> Users:
    return people_in(settings_in(tmp_path), clock=clock)


def test_only_hashes_are_stored_and_only_the_owner_reads_them(people: Users) -> None:
    ana = people.add("ana", UserRole.ANALYST, PHRASE)
    secrets = [
        PHRASE,
        people.begin(ana),
        people.new_token(ana, "x", Scope.READ, days=1),
        people.invite("ben", UserRole.ANALYST, by="x"),
    ]
    content = b"".join(path.read_bytes() for path in people.path.parent.iterdir())
    for secret in secrets:
        assert secret.encode() not in content
    assert stat.S_IMODE(people.path.stat().st_mode) == 0o600


def test_a_password_is_checked(people: Users) -> None:
    people.add("ana", UserRole.ANALYST, PHRASE)
    assert people.check("ana", PHRASE) is not None
    assert people.check("ana", PHRASE + "x") is None
    assert people.check("ben", PHRASE) is None


@pytest.mark.parametrize("password", ["short", "a" * 20, "my name is ana", "x" * 201])
def test_bad_passwords_are_refused(people: Users, password: str) -> None:
    with pytest.raises(InvalidUse):
        people.add("ana", UserRole.ANALYST, password)


@pytest.mark.parametrize("name", ["", "Ana", "a b", "a/b", "آنا", "a" * 51, "a\n", ".", "..", "@"])
def test_bad_names_are_refused(people: Users, name: str) -> None:
    with pytest.raises(InvalidUse):
        people.add(name, UserRole.ANALYST, PHRASE)


def test_a_session_ends_when_idle_and_at_the_latest(people: Users, clock: Clock) -> None:
    ana = people.add("ana", UserRole.ANALYST, PHRASE)
    session = people.begin(ana)
    clock.later(minutes=29)
    assert people.session(session) == ana
    clock.later(minutes=29)  # since it was last seen
    assert people.session(session) == ana
    clock.later(minutes=31)
    assert people.session(session) is None
    clock.later(minutes=-31)
    assert people.session(session) is None  # it has ended
    session = people.begin(ana)
    for _ in range(12 * 4):
        clock.later(minutes=15)
        assert people.session(session) == ana
    clock.later(seconds=1)
    assert people.session(session) is None


def test_a_session_can_be_ended_and_a_new_password_ends_all(people: Users) -> None:
    ana = people.add("ana", UserRole.ANALYST, PHRASE)
    one, two = people.begin(ana), people.begin(ana)
    people.end(one)
    assert people.session(one) is None
    assert people.session(two) == ana
    with pytest.raises(NotAllowed):
        people.change_password("ana", "wrong", "another long phrase")
    token = people.new_token(ana, "script", Scope.ASK, days=1)
    assert people.token(token) is not None
    people.change_password("ana", PHRASE, "another long phrase")
    assert people.session(two) is None
    assert people.token(token) is None  # whoever took it is out as well
    assert people.check("ana", PHRASE) is None
    assert people.check("ana", "another long phrase") == ana


def test_all_sessions_of_one_person_are_counted_and_ended(people: Users, clock: Clock) -> None:
    ana, noor = (people.add(name, UserRole.ANALYST, PHRASE) for name in ("ana", "noor"))
    old = people.begin(ana)
    clock.later(minutes=29)
    other = people.begin(noor)
    new = people.begin(ana)
    assert people.sessions("ana") == 2
    clock.later(minutes=2)
    assert people.sessions("ana") == 1  # the old one is idle
    people.end_all("ana")
    assert people.sessions("ana") == 0
    assert [people.session(each) for each in (old, new)] == [None, None]
    assert people.session(other) == noor


def test_an_invitation_is_used_once_and_expires(people: Users, clock: Clock) -> None:
    token = people.invite("ben", UserRole.AUDITOR, by="admin")
    assert people.invited(token + "x") is None
    with pytest.raises(InvalidUse):
        people.accept(token, "short")
    assert people.accept(token, PHRASE).role is UserRole.AUDITOR
    with pytest.raises(NotAllowed):
        people.accept(token, PHRASE)
    late = people.invite("eve", UserRole.ANALYST, by="admin")
    clock.later(days=8)
    assert people.invited(late) is None


def test_a_new_invitation_ends_the_old_one(people: Users) -> None:
    old, new = (people.invite("ben", UserRole.ANALYST, by="admin") for _ in range(2))
    assert people.invited(old) is None
    assert people.invited(new) is not None


def test_tokens_expire_and_are_revoked_by_their_owner_only(people: Users, clock: Clock) -> None:
    ana, ben = people.add("ana", UserRole.ANALYST, PHRASE), people.add("ben", UserRole.ANALYST, PHRASE)
    token = people.new_token(ana, "notebook", Scope.ASK, days=2)
    assert people.token(token) == (ana, Scope.ASK)
    [listed] = people.tokens("ana")
    with pytest.raises(InvalidUse):
        people.revoke(listed.number, of=ben.name)
    people.revoke(listed.number, of="ana")
    assert people.token(token) is None
    other = people.new_token(ana, "notebook", Scope.ASK, days=2)
    clock.later(days=3)
    assert people.token(other) is None


def test_who_may_not_log_in_has_no_session_and_no_token(people: Users) -> None:
    people.add("admin", UserRole.ADMINISTRATOR, PHRASE)
    ana = people.add("ana", UserRole.ANALYST, PHRASE)
    session, token = people.begin(ana), people.new_token(ana, "x", Scope.READ, days=1)
    people.enable("ana", enabled=False)
    assert people.check("ana", PHRASE) is None
    assert people.session(session) is None
    assert people.token(token) is None
    people.enable("ana", enabled=True)
    assert people.check("ana", PHRASE) is not None
    assert people.token(token) is None
    with pytest.raises(NotAllowed):
        people.enable("admin", enabled=False)
    with pytest.raises(InvalidUse):
        people.enable("eve", enabled=False)


def test_two_accounts_of_one_name_cannot_be_made(people: Users) -> None:
    token = people.invite("ana", UserRole.ANALYST, by="x")
    people.add("ana", UserRole.STEWARD, PHRASE)
    with pytest.raises(InvalidUse):
        people.add("ana", UserRole.STEWARD, PHRASE)
    with pytest.raises(InvalidUse):
        people.invite("ana", UserRole.ANALYST, by="x")
    with pytest.raises((sqlite3.IntegrityError, NotAllowed)):
        people.accept(token, PHRASE)
    assert people.user("ana") == User("ana", UserRole.STEWARD)
