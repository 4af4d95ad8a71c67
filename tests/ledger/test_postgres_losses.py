"""A ledger on a PostgreSQL server that is lost twice, and put back with the server's own tools."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

from sitr.errors import LedgerError, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger import steward
from sitr.ledger.resume import resume
from sitr.ledger.roles import Duty
from sitr.ledger.spent import Waiting
from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import acting
from tests import postgres
from tests.ledger.places import raw, schema

TERMS: dict[str, tuple[Kept, Kept]] = {
    "clinic": (PureDP(1.0), PureDP(0.25)),
    "school": (GaussianDP(1.0), GaussianDP(0.4375)),
    "prison": (ApproximateDP(1.0, 1e-6), ApproximateDP(0.25, 1e-7)),
    "harbor": (ZeroConcentratedDP(1.0), ZeroConcentratedDP(0.25)),
}
STEWARDS = dict.fromkeys(TERMS, "amir") | {"clinic": "noor"}


@pytest.fixture
def url() -> str:
    return schema()


def dumped(url: str) -> str:
    """What pg_dump writes of a ledger."""
    address, _, name = url.rpartition("&schema=")
    command = [str(postgres.server().programs / "pg_dump"), f"--schema={name}", "--dbname", address]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def put_back(url: str, dump: str) -> None:
    """The ledger is lost, and its dump is loaded."""
    address, _, name = url.rpartition("&schema=")
    with raw(url) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")
    command = [str(postgres.server().programs / "psql"), "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", address]
    subprocess.run(command, check=True, input=dump, text=True, stdout=subprocess.DEVNULL)


def charge(ledger: SqlLedger, name: str) -> None:
    with acting(STEWARDS[name]):
        ledger.charge(name, price=TERMS[name][1], question="COUNT(*)")


def lost_twice(url: str) -> SqlLedger:
    """Noor goes on after two losses; everybody had charged twice since the dump, and she once in between."""
    ledger = SqlLedger(url)
    for name, (promise, _) in TERMS.items():
        ledger.open(name, promise=promise, neighbors="row, add-remove")
        with acting(STEWARDS[name]):
            steward.assign(ledger, name, STEWARDS[name], Duty.STEWARD)
        charge(ledger, name)
    dump = dumped(url)
    for name in (*TERMS, *TERMS):
        charge(ledger, name)
    put_back(url, dump)
    for name in TERMS:
        with pytest.raises(LedgerError, match="is behind its witness"):
            charge(ledger, name)
    with acting("noor"):
        resume(ledger)
    charge(ledger, "clinic")
    put_back(url, dump)
    with acting("noor"):
        resume(ledger)
    return ledger


def test_after_two_losses_everything_counts(url: str) -> None:
    ledger = lost_twice(url)
    for name in ("school", "prison", "harbor"):
        with pytest.raises(LedgerError, match=f"{name} waits for its own steward"):
            charge(ledger, name)
    with acting("amir"):
        assert {each.dataset for each in resume(ledger)} == {"school", "prison", "harbor"}
    answered = dict.fromkeys(TERMS, 3) | {"clinic": 4}
    for name in TERMS:  # and then each budget is used up, and not a bit more
        with suppress(SitrError):
            while True:
                charge(ledger, name)
                answered[name] += 1
    assert answered == {"clinic": 4, "school": 5, "prison": 4, "harbor": 4}
    assert ledger.examine().sound


def test_who_forgets_the_first_loss_gives_budget_back(url: str) -> None:
    """The broken twin."""
    with patch.object(Waiting, "with_earlier", lambda self, *_, **__: self):
        ledger = lost_twice(url)
        with acting("amir"):
            resume(ledger)
    assert ledger.standing("school").charges == 1


def test_two_installations_lose_what_both_have_charged(url: str, tmp_path: Path) -> None:
    """Each goes on with what its own witness remembers, and nothing that the other one counted is forgotten."""
    ledger, there = SqlLedger(url), {"SITR_STATE": str(tmp_path / "there")}
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    with patch.dict("os.environ", there):
        charge(ledger, "clinic")
    dump = dumped(url)
    charge(ledger, "clinic")
    put_back(url, dump)
    with patch.dict("os.environ", there):
        charge(ledger, "clinic")  # nothing that it has seen is lost
    put_back(url, dump)
    resume(ledger)
    with patch.dict("os.environ", there):
        with pytest.raises(LedgerError, match="is behind its witness"):
            charge(ledger, "clinic")
        resume(ledger)
    spent = ledger.standing("clinic").paid
    assert spent >= (Fraction(3, 4),)  # three were answered
    assert ledger.examine().sound
