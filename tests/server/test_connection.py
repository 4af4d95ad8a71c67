"""A connection on which no request arrives is closed; one on which a request runs is not."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from sitr.server.connection import PunctualProtocol

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


class Quick(PunctualProtocol):
    seconds = 0.3


async def slow(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answers after several looks."""
    import asyncio

    assert scope["type"] == "http"
    await asyncio.sleep(1)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(params=["punctual", "patient"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[bool, int]]:
    """A server with our protocol, and its twin with that of the library."""
    punctual = request.param == "punctual"
    config = uvicorn.Config(
        slow, host="127.0.0.1", port=0, http=Quick if punctual else AutoHTTPProtocol, lifespan="off", log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield punctual, server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(timeout=10)


def ended(connection: socket.socket) -> bool:
    """Whether the server closes a connection soon."""
    connection.settimeout(1.5)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False


def test_a_head_that_does_not_end_is_not_waited_for(place: tuple[bool, int]) -> None:
    punctual, port = place
    for sent in (b"", HEAD + b"X-Slow:"):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(sent)
            assert ended(connection) is punctual


def test_a_request_that_runs_is_finished_and_a_slow_second_one_is_not_waited_for(place: tuple[bool, int]) -> None:
    punctual, port = place
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(5)
        connection.sendall(HEAD + b"\r\n")
        found = b""
        while not found.endswith(b"ok"):
            found += connection.recv(1000)
        assert found.startswith(b"HTTP/1.1 200")
        connection.sendall(HEAD)
        assert ended(connection) is punctual
