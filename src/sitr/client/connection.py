"""One server: https, a token, and what happens when the connection is lost."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from sitr.client.problems import error_of
from sitr.errors import InvalidUse, LedgerBusy, LedgerError, printable, quoted
from sitr.language import spoken

ROOT = "/api/v1"
TIMEOUT = 120.0
"""Seconds to wait for a response. An answer leaves at its deadline, which can be long after it was asked for."""

MOST = 200_000_000
"""The longest response, in octets."""


@dataclass(frozen=True, slots=True)
class ServerConnection:
    """A server by its address, and a token with which it knows who asks."""

    scheme: str
    host: str
    port: int | None
    token: str = field(repr=False)
    timeout: float = field(default=TIMEOUT, compare=False)

    @classmethod
    def to(cls, address: str, *, token: str, timeout: float = TIMEOUT) -> ServerConnection:
        """The server at an address. Without https, everybody on the way could read the token and the answers."""
        try:
            found = urlsplit(address)
            host, port = found.hostname or "", found.port
        except (ValueError, AttributeError, TypeError):
            raise _no_address(address) from None
        plain = found.scheme in ("http", "https") and host and not found.username and not found.password
        if not plain or found.path.rstrip("/") or found.query or found.fragment:
            raise _no_address(address)
        if found.scheme == "http" and not _loopback(host):
            raise InvalidUse(
                given="An address that begins with http:// would show the token and all answers to others on the way.",
                do="Use https://; http:// is for this machine only, such as http://127.0.0.1:8300.",
            )
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token.strip():
            raise InvalidUse(
                given="A server needs a token that says who asks.",
                do="Make one on the page of your account, and give token=… or set SITR_TOKEN.",
            )
        return cls(found.scheme, host, port, token.strip(), timeout)

    @property
    def address(self) -> str:
        """Where it is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port is None else f":{self.port}")

    def get(self, path: str) -> Any:
        """What the server has at a path below /api/v1. Nothing is spent, so a lost connection is tried once more."""
        return _content(self._twice("GET", path, None, {}))

    def text(self, path: str) -> str:
        """A page at a path."""
        return self._twice("GET", path, None, {})[1].decode(errors="replace")

    def post(self, path: str, body: Mapping[str, Any], *, key: str = "") -> Any:
        """Send a question. With a key the server charges it once, so a lost connection is tried once more."""
        headers = {"idempotency-key": quote(key, safe=" !#$&'()*+,/:;=?@[]~")} if key else {}
        data = json.dumps(body, allow_nan=False).encode()
        return _content(self._twice("POST", path, data, headers) if key else self._sent("POST", path, data, headers))

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send what takes the place of something else. To do so again changes nothing, so it is tried once more."""
        return _content(self._twice("PUT", path, json.dumps(body, allow_nan=False).encode(), {}))

    def _twice(self, method: str, path: str, body: bytes | None, more: Mapping[str, str]) -> tuple[str, bytes]:
        try:
            return self._sent(method, path, body, more)
        except ConnectionLost:
            return self._sent(method, path, body, more)

    def _sent(self, method: str, path: str, body: bytes | None, more: Mapping[str, str]) -> tuple[str, bytes]:
        headers = {
            "authorization": f"Bearer {self.token}",
            "accept": "application/json",
            "accept-language": spoken().value,
            **({} if body is None else {"content-type": "application/json"}),
            **more,
        }
        connection = self._open()
        try:
            connection.request(method, ROOT + path, body, headers)
            response = connection.getresponse()
            content = response.read(MOST + 1)
        except ssl.SSLCertVerificationError as failure:
            raise LedgerError(
                given=f"{self.address} did not prove that it is this server: {failure.verify_message}.",
                do="Check the address; nothing was sent.",
            ) from None
        except (OSError, HTTPException) as failure:
            raise ConnectionLost(
                given=f"The connection to {self.address} failed: {_reason(failure)}.",
                do="Check the address and the network. If a question was sent, ask it again with the same key: it is "
                "charged once.",
            ) from None
        finally:
            connection.close()
        return _checked(response, content)

    def _open(self) -> HTTPConnection:
        if self.scheme == "https":
            trusted = ssl.create_default_context()
            return HTTPSConnection(self.host, self.port, timeout=self.timeout, context=trusted)
        return HTTPConnection(self.host, self.port, timeout=self.timeout)


def new_key() -> str:
    """A key of nobody else, under which something is done once."""
    return f"client-{uuid4()}"


class ConnectionLost(LedgerBusy):
    """The server could not be reached, or the connection broke."""


def part(name: str) -> str:
    """A name as one part of a path."""
    return quote(name, safe="")


def _checked(response: HTTPResponse, content: bytes) -> tuple[str, bytes]:
    if len(content) > MOST:
        raise LedgerError(given="The server sent more than a client reads.", do="Ask for less.")
    if 200 <= response.status < 300:
        return response.headers.get_content_type(), content
    if 300 <= response.status < 400:  # a token is never sent to another address
        raise LedgerError(
            given=f"The server answered {response.status}: {printable(response.reason)}", do="Check the address."
        )
    try:
        problem = json.loads(content)
    except (ValueError, RecursionError):
        problem = {"given": content[:200].decode(errors="replace").strip()}
    raise error_of(response.status, problem)


def _content(found: tuple[str, bytes]) -> Any:
    try:
        return json.loads(found[1]) if found[1] else None
    except (ValueError, RecursionError):
        raise no_server() from None


def no_server() -> LedgerError:
    """What answers is something else."""
    return LedgerError(given="This is not a server of Sitr.", do="Check the address.")


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reason(failure: Exception) -> str:
    text = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
    return text.rstrip(".")


def _no_address(given: object) -> InvalidUse:
    return InvalidUse(
        wanted="the address of a server such as https://sitr.hospital.example",
        given=quoted(given),
        do="Write the scheme, the name and, if needed, the port, and nothing else.",
    )
