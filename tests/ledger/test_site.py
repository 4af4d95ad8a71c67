"""A witness on the network: whatever fails there, nothing is answered that is not remembered."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from unittest.mock import patch

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sitr.errors import LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger import witness
from sitr.ledger.key import installation_key
from sitr.ledger.resume import resume
from sitr.ledger.site import Site, site_at
from sitr.ledger.sql import SqlLedger
from sitr.ledger.witness import Head, Witness, witnesses
from tests.ledger.witness_site import WitnessSite, running

UNREAD = "could not be read: {}.*nothing was spent, and no rows were read"
UNWRITTEN = "could not be written: {}.*stays spent, and nothing was answered"


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[WitnessSite]:
    """A site, with a state folder of its own: these tests count and delete what is in it."""
    monkeypatch.setenv("SITR_STATE", str(tmp_path_factory.mktemp("state")))
    with running() as made:
        monkeypatch.setenv("SITR_WITNESS", made.address)
        yield made


@pytest.fixture
def ledger(path: Path, site: WitnessSite) -> SqlLedger:
    made = SqlLedger(path)
    made.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    charge(made)
    site.asked.clear()
    return made


def charge(ledger: SqlLedger) -> None:
    ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")


def charges(ledger: SqlLedger) -> int:
    return ledger.standing("clinic").charges


def remembered(text: bytes) -> int:
    """The number of charges that a witness remembers."""
    found = json.loads(text)["witness"]["accounts"]["clinic"]["charges"]
    assert isinstance(found, int)
    return found


def only(site: WitnessSite) -> bytes:
    (text,) = site.texts.values()
    return text


def copied(path: Path, to: Path) -> None:
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(to)) as copy:
        source.backup(copy)


def put_back(copy: Path, path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    shutil.copy(copy, path)


def test_a_charge_asks_once_and_stores_once(ledger: SqlLedger, site: WitnessSite) -> None:
    charge(ledger)
    assert site.asked == ["GET", "PUT"]
    assert remembered(only(site)) == charges(ledger) == 2
    (file,) = witnesses(installation_key()).folder.glob("*.json")
    assert file.read_bytes() == only(site)
    assert not ledger.examine().findings


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("500", "it answered with the status 500"),
        ("302", "it answered with the status 302"),
        ("403", "it answered with the status 403"),
        ("unstored", "it cannot be reached, or the connection was lost"),
        ("cut", "the connection was lost within its answer"),
        ("weak", "its answer has no strong ETag"),
    ],
)
def test_a_witness_that_cannot_be_read_stops_a_charge_before_it_is_made(
    ledger: SqlLedger, site: WitnessSite, fault: str, reason: str
) -> None:
    site.fault["GET"] = [fault]
    with pytest.raises(LedgerError, match=UNREAD.format(reason)):
        charge(ledger)
    assert site.asked == ["GET"]  # in particular, no redirection was followed
    assert charges(ledger) == remembered(only(site)) == 1
    charge(ledger)


@pytest.mark.parametrize("fault", ["slow", "trickle"])
def test_a_witness_has_a_time_to_answer(ledger: SqlLedger, site: WitnessSite, fault: str) -> None:
    site.fault["GET"] = [fault]
    reason = "(it did not answer in time|it cannot be reached, or the connection was lost)"
    with patch("sitr.ledger.site.SECONDS", 0.3), pytest.raises(LedgerError, match=UNREAD.format(reason)):
        charge(ledger)
    assert charges(ledger) == 1


def test_a_text_has_a_longest_length(ledger: SqlLedger, site: WitnessSite) -> None:
    site.fault["GET"] = ["long"]
    with patch("sitr.ledger.site.LIMIT", 4999), pytest.raises(LedgerError, match=UNREAD.format("its text is too long")):
        charge(ledger)
    with patch("sitr.ledger.site.LIMIT", 10), pytest.raises(OSError, match="its text is too long"):
        Site(site.address).put("x", b" " * 11, instead=None)
    assert charges(ledger) == 1


def test_a_site_that_is_gone_stops_a_charge_before_it_is_made(ledger: SqlLedger, site: WitnessSite) -> None:
    with running() as gone:
        address = gone.address
    with (
        patch.dict(os.environ, {"SITR_WITNESS": address}),
        pytest.raises(LedgerError, match=UNREAD.format("it cannot")),
    ):
        charge(ledger)
    assert charges(ledger) == remembered(only(site)) == 1


@pytest.mark.parametrize("fault", ["500", "302", "403", "202", "unstored"])
def test_a_witness_that_cannot_be_written_leaves_the_charge_spent(
    ledger: SqlLedger, site: WitnessSite, fault: str
) -> None:
    site.fault["PUT"] = [fault, fault]
    with pytest.raises(LedgerError, match=UNWRITTEN.format("it")):
        charge(ledger)
    assert (charges(ledger), remembered(only(site))) == (2, 1)
    site.fault["PUT"] = []
    charge(ledger)  # the ledger is ahead of its witness, and repairs it
    assert remembered(only(site)) == charges(ledger) == 3


def test_a_lost_answer_is_looked_up(ledger: SqlLedger, site: WitnessSite) -> None:
    site.fault["PUT"] = ["lost"]
    charge(ledger)
    assert site.asked == ["GET", "PUT", "GET"]
    assert remembered(only(site)) == charges(ledger) == 2


def test_a_text_that_was_not_stored_is_sent_again(ledger: SqlLedger, site: WitnessSite) -> None:
    site.fault["PUT"] = ["unstored"]
    charge(ledger)
    assert site.asked == ["GET", "PUT", "GET", "PUT"]
    assert remembered(only(site)) == charges(ledger) == 2


def test_a_site_that_fails_after_the_charge_leaves_it_spent(ledger: SqlLedger, site: WitnessSite) -> None:
    site.fault |= {"PUT": ["lost"], "GET": ["", "500"]}
    with pytest.raises(LedgerError, match=UNWRITTEN.format("it answered with the status 500")):
        charge(ledger)
    assert charges(ledger) == 2


def test_a_text_that_was_changed_is_refused(ledger: SqlLedger, site: WitnessSite) -> None:
    (name, text) = next(iter(site.texts.items()))
    for wrong in (text.replace(b'"charges":1', b'"charges":0'), b"", b"[" * 100_000, b"null"):
        assert wrong != text
        site.texts[name] = wrong
        with pytest.raises(LedgerError, match=r"was changed by hand.*nothing was spent"):
            charge(ledger)
    assert charges(ledger) == 1
    site.texts[name] = text
    site.fault["PUT"] = ["other"]
    with pytest.raises(LedgerError, match=UNWRITTEN.format("it was changed by hand")):
        charge(ledger)
    assert charges(ledger) == 2


@pytest.mark.usefixtures("site")
def test_a_ledger_behind_the_site_is_refused(ledger: SqlLedger, path: Path, tmp_path: Path) -> None:
    """Also if the state folder was put back with it."""
    folder = witnesses(installation_key()).folder
    copied(path, tmp_path / "copy.db")
    shutil.copytree(folder, tmp_path / "state")
    charge(ledger)
    put_back(tmp_path / "copy.db", path)
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "state", folder)
    with pytest.raises(LedgerError, match="is behind its witness"):
        charge(SqlLedger(path))
    resume(SqlLedger(path))
    assert SqlLedger(path).standing("clinic").spent() == PureDP(0.2)
    charge(SqlLedger(path))


def test_an_old_answer_of_the_site_frees_no_budget(
    ledger: SqlLedger, site: WitnessSite, path: Path, tmp_path: Path
) -> None:
    """The site and the ledger were put back together; the state folder remembers."""
    copied(path, tmp_path / "copy.db")
    old = dict(site.texts)
    charge(ledger)
    put_back(tmp_path / "copy.db", path)
    site.texts |= old
    with pytest.raises(LedgerError, match="is behind its witness"):
        charge(SqlLedger(path))


def test_a_site_that_lost_its_texts_is_repaired(ledger: SqlLedger, site: WitnessSite) -> None:
    old = dict(site.texts)
    charge(ledger)
    for lost in (old, {}):
        site.texts.clear()
        site.texts.update(lost)
        charge(ledger)
        assert remembered(only(site)) == charges(ledger)


def test_an_old_answer_from_in_between_is_never_stored(ledger: SqlLedger, site: WitnessSite) -> None:
    old = only(site)
    charge(ledger)
    site.stale = old  # such as the answer of a cache
    with pytest.raises(LedgerError, match=UNWRITTEN.format("others are writing to it, or it answers with an old text")):
        charge(ledger)
    assert (charges(ledger), remembered(only(site))) == (3, 2)
    site.stale = None
    charge(ledger)
    assert remembered(only(site)) == charges(ledger) == 4


def test_a_ledger_that_went_on_elsewhere_is_refused(
    ledger: SqlLedger, site: WitnessSite, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was put back with its state folder, charged without the site, and so is ahead of it."""
    folder = witnesses(installation_key()).folder
    copied(path, tmp_path / "copy.db")
    shutil.copytree(folder, tmp_path / "state")
    charge(ledger)
    put_back(tmp_path / "copy.db", path)
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "state", folder)
    monkeypatch.delenv("SITR_WITNESS")
    for _ in range(3):
        charge(SqlLedger(path))
    monkeypatch.setenv("SITR_WITNESS", site.address)
    with pytest.raises(LedgerError, match="is behind its witness"):
        charge(SqlLedger(path))
    resume(SqlLedger(path))
    spent = SqlLedger(path).standing("clinic").spent()
    assert isinstance(spent, PureDP)
    assert spent.epsilon >= 0.5  # one charge before, three here, and the one that only the site remembers
    charge(SqlLedger(path))


def test_a_missing_witness_is_missed(ledger: SqlLedger, site: WitnessSite) -> None:
    site.texts.clear()
    shutil.rmtree(witnesses(installation_key()).folder)
    with pytest.raises(LedgerError, match=f"is missing from {site.address}"):
        charge(ledger)


def test_two_writers_do_not_overwrite_each_other(site: WitnessSite, tmp_path: Path) -> None:
    """Two machines with the same key: the later head stays, whoever is faster."""
    key = installation_key()
    machines = [Witness(tmp_path / name, key.public, Site(site.address)) for name in ("a", "b")]
    heads = [Head("1" * 32, number, f"{number:064x}") for number in range(1, 31)]
    machines[0].advance(heads[0], key)

    def write(machine: Witness, own: list[Head]) -> None:
        for head in own:
            machine.advance(head, key)

    threads = [threading.Thread(target=write, args=(each, heads[i::2])) for i, each in enumerate(machines)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert json.loads(only(site))["witness"]["number"] == 30


def test_an_older_head_does_not_replace_a_newer_one(site: WitnessSite, tmp_path: Path) -> None:
    key = installation_key()
    slow, fast = (Witness(tmp_path / name, key.public, Site(site.address)) for name in ("a", "b"))
    first = Head("2" * 32, 1, "0" * 64)
    slow.advance(first, key)
    slow.read(first.ledger)
    answers = dict(witness._answers)
    fast.advance(replace(first, number=3), key)
    with patch("sitr.ledger.witness._answers", answers):  # what the slow one has read is old by now
        slow.advance(replace(first, number=2), key)
    assert json.loads(only(site))["witness"]["number"] == 3
    assert site.asked[-2:] == ["PUT", "GET"]


def test_a_token_is_sent_and_never_shown(
    ledger: SqlLedger, site: WitnessSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.token = "open-sesame"
    with pytest.raises(LedgerError, match=UNREAD.format("it answered with the status 401")):
        charge(ledger)
    monkeypatch.setenv("SITR_WITNESS_TOKEN", "open-sesame")
    charge(ledger)
    monkeypatch.delenv("SITR_WITNESS_TOKEN")
    (tmp_path / "token").write_text("open-sesame\n")
    monkeypatch.setenv("SITR_WITNESS_TOKEN_FILE", str(tmp_path / "token"))
    charge(ledger)
    assert "sesame" not in repr(witnesses(installation_key()))
    for wrong in ("two words", "", "héllo", "one\ntwo"):
        (tmp_path / "token").write_text(wrong)
        with pytest.raises(LedgerError, match="single word in ASCII") as caught:
            charge(ledger)
        assert "two" not in str(caught.value).replace("two, none", "")
    monkeypatch.setenv("SITR_WITNESS_TOKEN", "open-sesame")  # and the file
    with pytest.raises(LedgerError, match="single word in ASCII"):
        charge(ledger)
    assert charges(ledger) == 3


@pytest.mark.parametrize(
    "address",
    [
        "http://witness.example.org/x",
        "http://127.0.0.1.example.org/x",
        "http://10.0.0.1/x",
        "ftp://witness.example.org/x",
        "file:///etc/passwd",
        "https://",
        "https://steward:secret@witness.example.org/x",
        "https://witness.example.org/x?secret=1",
        "https://witness.example.org/x#y",
        "https://witness.example.org:99999/x",
        "https://witness.example.org/a b",
        "https://[::1/x",
    ],
)
def test_an_address_is_encrypted_and_holds_no_secret(path: Path, address: str) -> None:
    with (
        patch.dict(os.environ, {"SITR_WITNESS": address}),
        pytest.raises(LedgerError, match="not encrypted") as caught,
    ):
        SqlLedger(path)
    assert "secret" not in str(caught.value)
    assert not path.exists()


@pytest.mark.parametrize("address", ["https://w.example.org/x/", "http://localhost:1/x", "http://[::1]:1/x"])
def test_an_address_may_be_local_or_encrypted(address: str) -> None:
    assert site_at(address).address == address.rstrip("/")


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that nobody trusts yet, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem, own = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (folder / "site.crt").write_bytes(made.public_bytes(pem))
    (folder / "site.key").write_bytes(key.private_bytes(pem, own, plain))
    return folder / "site.crt", folder / "site.key"


def test_a_certificate_must_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = certified(tmp_path)
    with running(certificate) as site:
        with pytest.raises(OSError, match="its certificate is not trusted"):
            Site(site.address).get("x")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        assert Site(site.address).put("x", b"text", instead=None)
        found = Site(site.address).get("x")
        assert found is not None
        assert found.text == b"text"
        with pytest.raises(OSError, match="its certificate is not trusted"):  # it is of another name
            Site(site.address.replace("127.0.0.1", "localhost")).get("x")
