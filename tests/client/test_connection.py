"""Https except on this machine, certificates checked, and a lost connection never paid twice."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import sitr
from sitr.client.connection import ConnectionLost, ServerConnection, part
from sitr.errors import InvalidUse, LedgerError, NotAllowed
from tests.client.conftest import Served
from tests.server.conftest import SQL


@pytest.mark.parametrize(
    "address",
    [
        "http://sitr.hospital.example",
        "http://192.168.0.1:8300",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil",
    ],
)
def test_plain_http_is_for_this_machine_only(address: str) -> None:
    with pytest.raises(InvalidUse, match="https"):
        ServerConnection.to(address, token="t")


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "https://a.example"])
def test_other_addresses_are_accepted(address: str) -> None:
    assert ServerConnection.to(address, token="t").address == address


@pytest.mark.parametrize(
    "address",
    [
        *("", "sitr.example", "ftp://a.example", "https://", "https://u:p@a.example", "https://a.example/x"),
        *("https://a:b", "https://a.example?x=1", "https://a.example#x", None, 3),
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidUse, match="address of a server"):
        ServerConnection.to(address, token="t")


@pytest.mark.parametrize("token", ["", " ", "a\r\nx-evil: 1", "ü", None])
def test_a_token_cannot_carry_another_header(token: str) -> None:
    with pytest.raises(InvalidUse, match="token"):
        ServerConnection.to("https://a.example", token=token)


def test_the_token_is_not_shown() -> None:
    assert "secret" not in repr(ServerConnection.to("https://a.example", token="secret"))


def test_names_stay_one_part_of_a_path() -> None:
    assert part("a/../b?c#d") == "a%2F..%2Fb%3Fc%23d"


@contextmanager
def listening(answer: bytes, *, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A server that says the same to everybody."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                try:
                    with closing(context.wrap_socket(client, server_side=True) if context else client) as open_:
                        open_.recv(65536)
                        open_.sendall(answer)
                except OSError:
                    continue

        threading.Thread(target=serve, daemon=True).start()
        yield int(server.getsockname()[1])


def self_signed(folder: Path) -> ssl.SSLContext:
    """A certificate that nobody vouches for."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "both.pem"
    path.write_bytes(private + made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def test_a_server_must_prove_who_it_is(tmp_path: Path) -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]"
    context = self_signed(tmp_path)
    with listening(answer, context=context) as port, pytest.raises(LedgerError, match="did not prove"):
        ServerConnection.to(f"https://localhost:{port}", token="t").get("/datasets")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", "connection"),
        (b"SSH-2.0\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "not a server of Sitr"),
        (b"HTTP/1.1 302 Found\r\nlocation: https://evil.example/\r\ncontent-length: 0\r\n\r\n", "answered 302"),
        (b"HTTP/1.1 302 \x1b[2J\r\nlocation: https://evil.example/\r\ncontent-length: 0\r\n\r\n", "answered 302: �"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n" + b"[" * 100_000, "not a server of Sitr"),
        (b"HTTP/1.1 422 no\r\ncontent-length: 100000\r\n\r\n" + b"[" * 100_000, "answered 422"),
        (b"HTTP/1.1 418 no\r\ncontent-length: 3\r\n\r\ntea", "tea"),
        (b"HTTP/1.1 500 no\r\ncontent-length: 2\r\n\r\n[]", "went wrong"),
    ],
)
def test_strange_answers_are_errors_of_sitr(answer: bytes, error: str) -> None:
    with listening(answer) as port, pytest.raises(sitr.SitrError, match=error):
        ServerConnection.to(f"http://127.0.0.1:{port}", token="t", timeout=5).get("/datasets")


def test_nobody_there() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionLost, match="failed"):
        ServerConnection.to(f"http://127.0.0.1:{port}", token="t", timeout=5).get("/datasets")


@contextmanager
def unreliable(to: str, *, lost: int) -> Iterator[tuple[str, list[bytes]]]:
    """A way to a server on which the first responses to questions are lost after the server has answered."""
    host, _, port = to.removeprefix("http://").partition(":")
    seen: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def carry(client: socket.socket) -> None:
            with closing(client), closing(socket.create_connection((host, int(port)))) as there:
                sent = client.recv(65536)
                while b"content-length" in sent.lower() and not sent.endswith(b"}"):
                    sent += client.recv(65536)
                there.sendall(sent)
                answer = there.recv(65536)  # the server has charged by now
                if sent.startswith(b"POST"):
                    seen.append(sent)
                    if len(seen) <= lost:
                        return
                while answer:
                    client.sendall(answer)
                    answer = there.recv(65536)

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=carry, args=(client,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", seen


def test_a_lost_response_is_asked_for_again_and_paid_once(served: Served) -> None:
    with unreliable(served.address, lost=1) as (address, seen):
        far = sitr.connect(address, token=served.token("ana"))
        answer = far.ask(SQL, "zcdp(0.01)")
        assert len(seen) == 2
        keys = {line for each in seen for line in each.lower().split(b"\r\n") if line.startswith(b"idempotency-key")}
        assert len(keys) == 1
        assert answer.receipt.again
        assert len(far.entries()) == 1
    assert served.budget("ana").answer(1).table == answer.table  # type: ignore[attr-defined]


def test_after_two_losses_the_error_says_how_to_go_on(served: Served) -> None:
    with unreliable(served.address, lost=2) as (address, _):
        far = sitr.connect(address, token=served.token("ana"))
        with pytest.raises(ConnectionLost, match="same key"):
            far.ask(SQL, "zcdp(0.01)", key="monday")
    answer = served.budget("ana").ask(SQL, "zcdp(0.01)", key="monday")
    assert answer.receipt.again
    assert len(served.budget("ana").entries()) == 1


def test_a_wrong_token_is_refused(served: Served) -> None:
    with pytest.raises(NotAllowed, match="token"):
        sitr.connect(served.address, token="sitr_wrong")
