"""A site on the network that keeps the witnesses of ledgers: `SITR_WITNESS=https://witness.example.org/hospital`.

It needs two methods at `<address>/<name>`. GET answers 200 with the text and a strong ETag, or 404. PUT stores a text
and answers 200, 201 or 204 when it is durable; it answers 412 if the text there is not the one that `If-Match` names,
or if there is one and `If-None-Match: *` wanted none. So nobody overwrites what they have not read.

No redirection is followed, no proxy is used, and certificates are checked against those that the system trusts.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from threading import Timer
from urllib.parse import SplitResult, urlsplit

from sitr.errors import LedgerError

SECONDS = 10.0
"""How long a site may take to accept a connection, and then to answer."""

LIMIT = 64 * 2**20
"""The longest text of a witness, in octets: room for more than 100,000 accounts."""

_MISSING, _OTHERS = 404, (409, 412)
_TAG = re.compile(r'"[\x21\x23-\x7e]*"')
"""A strong ETag. A weak one may stand for two texts."""


class Unanswered(OSError):
    """A site did not do what it was asked for; `strerror` says why, and `final` whether it refused."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(0, reason)
        self.final = final


@dataclass(frozen=True, slots=True)
class Told:
    """A text that a site keeps, and its ETag."""

    text: bytes
    tag: str


@dataclass(frozen=True, slots=True)
class Site:
    """Where witnesses are kept on the network."""

    address: str
    """Without a slash at its end."""
    token: str = field(default="", repr=False)

    def get(self, name: str) -> Told | None:
        """The text of this name; None if there is none. `Unanswered` if nobody can say."""
        status, tag, text = self._exchange("GET", name, None, {"Cache-Control": "no-cache"})
        if status == _MISSING:
            return None
        if status != 200:
            raise _refused(status)
        if tag is None:
            raise Unanswered("its answer has no strong ETag", final=True)
        return Told(text, tag)

    def put(self, name: str, text: bytes, *, instead: Told | None) -> bool:
        """Store a text in place of another one, or where none is; False if something else is there.

        After `Unanswered` it may be stored or not, unless it was refused.
        """
        if len(text) > LIMIT:
            raise Unanswered("its text is too long", final=True)
        there = {"If-None-Match": "*"} if instead is None else {"If-Match": instead.tag}
        status, _, _ = self._exchange("PUT", name, text, {"Content-Type": "application/json", **there})
        if status in _OTHERS:
            return False
        if status not in (200, 201, 204):  # what is only accepted (202) may never be stored
            raise _refused(status)
        return True

    def _exchange(
        self, method: str, name: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str | None, bytes]:
        where = urlsplit(self.address)
        sent = {"Accept-Encoding": "identity", "Connection": "close", **headers}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        connection = _connection(where)
        try:
            connection.connect()
            cut = Timer(SECONDS, _cut, (connection.sock,))  # a slow trickle would outlast the timeout of the socket
            cut.daemon = True
            cut.start()
            try:
                connection.request(method, f"{where.path}/{name}", body, sent)
                reply = connection.getresponse()
                text = reply.read(LIMIT + 1)
            finally:
                cut.cancel()
        except ssl.SSLCertVerificationError as cause:
            raise Unanswered("its certificate is not trusted", final=True) from cause
        except TimeoutError as cause:
            raise Unanswered("it did not answer in time") from cause
        except (OSError, HTTPException, ValueError) as cause:
            raise Unanswered("it cannot be reached, or the connection was lost") from cause
        finally:
            connection.close()
        if len(text) > LIMIT:
            raise Unanswered("its text is too long", final=True)
        if reply.status == 200 and method == "GET" and not reply.chunked and reply.length != 0:
            raise Unanswered("the connection was lost within its answer")
        tag = reply.headers.get("ETag")
        return reply.status, tag if tag is not None and _TAG.fullmatch(tag) else None, text


def _connection(where: SplitResult) -> HTTPConnection:
    host = where.hostname or ""
    if where.scheme == "http":
        return HTTPConnection(host, where.port, timeout=SECONDS)
    return HTTPSConnection(host, where.port, timeout=SECONDS, context=ssl.create_default_context())


def _cut(connected: socket.socket) -> None:
    """End a connection under its reader; also under TLS, whose own way to end it would wait."""
    with suppress(OSError):
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


def _refused(status: int) -> Unanswered:
    return Unanswered(f"it answered with the status {status}", final=status < 500)


def site_at(address: str) -> Site:
    """The site at an address, with the token that belongs to it."""
    try:
        where = urlsplit(address)
        secure = where.scheme == "https" or (where.scheme == "http" and _local(where.hostname or ""))
        plain = not (where.query or where.fragment or where.username or where.password or where.port == 0)
        plain = plain and re.fullmatch(r"[\x21-\x7e]+", address) is not None
    except ValueError:
        secure = plain = False
    if not secure or not plain or not where.hostname:
        raise LedgerError(
            wanted="a folder or an address such as https://witness.example.org/hospital in SITR_WITNESS",
            given="an address that is not encrypted, or has a name, a password or a query",
            do="Use https, and put the token into SITR_WITNESS_TOKEN or SITR_WITNESS_TOKEN_FILE; nothing was spent.",
        )
    return Site(address.rstrip("/"), _token())


def _token() -> str:
    """What the site wants to see, if anything."""
    token, file = os.environ.get("SITR_WITNESS_TOKEN", ""), os.environ.get("SITR_WITNESS_TOKEN_FILE", "")
    try:
        found = Path(file).read_text(encoding="ascii").strip() if file and not token else token
    except (OSError, ValueError):
        found = ""
    if (token and file) or (file and not found) or re.fullmatch(r"[\x21-\x7e]*", found) is None:
        raise LedgerError(
            wanted="one token in SITR_WITNESS_TOKEN or in the file that SITR_WITNESS_TOKEN_FILE names",
            given="two, none, or one that is not a single word in ASCII",
            do="Set one of them to the token of the witness; nothing was spent.",
        )
    return found


def _local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
