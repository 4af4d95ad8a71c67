"""What a program sends again under the same Idempotency-Key is done once."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel

from sitr.errors import InvalidUse, LedgerError
from sitr.ledger import witness
from sitr.server.access import Caller
from sitr.server.office import Office
from sitr.server.once import Once
from sitr.session.dataset import open as open_description
from tests.server.conftest import PRICE, SQL, Team

PLACE = "/api/v1/datasets/visits"


def shares(team: Team) -> dict[str, str]:
    found = open_description(team.settings.datasets["visits"]).budget().accounts()
    return {path: str(found.share(path).cap[0]) for path in found.shares}


def test_a_part_of_a_budget_is_moved_once(team: Team) -> None:
    noor = team.program("noor")
    assert noor.post(f"{PLACE}/accounts", json={"account": "ben", "amount": PRICE}).status_code == 204
    sent, key = {"source": "ana", "target": "ben", "amount": "zcdp(0.05)"}, {"idempotency-key": "monday"}
    for _ in range(3):
        assert noor.post(f"{PLACE}/accounts/move", json=sent, headers=key).status_code == 204
    assert shares(team) == {"ana": "1/5", "ben": "3/50"}
    assert noor.post(f"{PLACE}/accounts/move", json=sent).status_code == 204  # without a key it is another one
    assert shares(team) == {"ana": "3/20", "ben": "11/100"}


def test_a_request_is_made_and_decided_once(team: Team) -> None:
    ana, noor, key = team.program("ana"), team.program("noor"), {"idempotency-key": "tuesday"}
    sent = {"sql": SQL, "price": PRICE, "reason": "Report"}
    first, again = (ana.post(f"{PLACE}/requests", json=sent, headers=key) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len(ana.get(f"{PLACE}/requests").json()) == 1
    changed = ana.post(f"{PLACE}/requests", json=sent | {"reason": "Another"}, headers=key)
    assert changed.status_code == 422
    assert "another request" in changed.json()["given"]
    path = f"{PLACE}/requests/{first.json()['number']}/approve"
    yes, twice = (noor.post(path, json={"reason": "Fine"}, headers=key) for _ in range(2))  # keys are one's own
    assert yes.status_code == twice.status_code == 200
    assert yes.json() == twice.json()
    assert noor.post(path, json={"reason": "Fine"}).status_code != 200  # it is decided


def test_what_was_refused_can_be_sent_again(team: Team) -> None:
    noor, key = team.program("noor"), {"idempotency-key": "wednesday"}
    sent = {"source": "ben", "target": "ana", "amount": "zcdp(0.01)"}
    assert noor.post(f"{PLACE}/accounts/move", json=sent, headers=key).status_code == 409
    assert noor.post(f"{PLACE}/accounts", json={"account": "ben", "amount": PRICE}).status_code == 204
    assert noor.post(f"{PLACE}/accounts/move", json=sent, headers=key).status_code == 204


def test_what_failed_on_the_server_is_not_done_again(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault after the act: nobody knows whether it was done, so a budget is not moved a second time."""
    noor, key, move = team.program("noor"), {"idempotency-key": "thursday"}, Office.move
    assert noor.post(f"{PLACE}/accounts", json={"account": "ben", "amount": PRICE}).status_code == 204
    sent = {"source": "ana", "target": "ben", "amount": "zcdp(0.05)"}

    def failing(*given: Any) -> None:
        move(*given)
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(Office, "move", failing)
        assert noor.post(f"{PLACE}/accounts/move", json=sent, headers=key).status_code == 500
    again = noor.post(f"{PLACE}/accounts/move", json=sent, headers=key)
    assert again.status_code == 409
    assert "has begun, and has not ended" in again.json()["given"]
    assert shares(team) == {"ana": "1/5", "ben": "3/50"}


def test_what_is_recorded_but_not_witnessed_is_not_done_again(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk of the witness is full after the commit: the ledger reports an error for what it has recorded."""
    noor, key = team.program("noor"), {"idempotency-key": "friday"}
    assert noor.post(f"{PLACE}/accounts", json={"account": "ben", "amount": PRICE}).status_code == 204
    sent = {"source": "ana", "target": "ben", "amount": "zcdp(0.05)"}

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(witness, "write_durably", full)
        failed = noor.post(f"{PLACE}/accounts/move", json=sent, headers=key)
        assert failed.json()["title"] == "LedgerUncertain"
    assert shares(team) == {"ana": "1/5", "ben": "3/50"}
    assert noor.post(f"{PLACE}/accounts/move", json=sent, headers=key).status_code == 409
    assert shares(team) == {"ana": "1/5", "ben": "3/50"}


class Body(BaseModel):
    """Something that is sent."""

    text: str = ""


def test_of_two_at_the_same_time_one_acts(team: Team) -> None:
    once, done = Once(team.people.path, "POST /x", "key"), list[int]()
    caller = Caller(team.user("ana"))

    def act() -> int:
        done.append(1)
        with pytest.raises(LedgerError, match="has begun"):  # the other, while this one runs
            once(caller, Body(), lambda: done.append(2))
        return len(done)

    with ThreadPoolExecutor(4) as threads:
        found = [each.result() for each in [threads.submit(Once.__call__, once, caller, Body(), act)]]
    assert found == [1] == done
    assert once(caller, Body(), lambda: done.append(3)) == 1
    assert once(Caller(team.user("noor")), Body(), lambda: "mine") == "mine"
    with pytest.raises(InvalidUse, match="another request"):
        once(caller, Body(text="x"), lambda: done.append(4))
    assert done == [1]


def test_keys_and_what_was_sent_are_stored_as_hashes(team: Team) -> None:
    secret = "a key that nobody guesses"
    assert Once(team.people.path, "POST /x", secret)(Caller(team.user("ana")), Body(text="sent-text"), lambda: 1) == 1
    kept = team.people.path.read_bytes()
    assert secret.encode() not in kept
    assert b"sent-text" not in kept
