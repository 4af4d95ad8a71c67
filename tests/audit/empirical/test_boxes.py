"""Black boxes: functions, commands, and endpoints on this machine only."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from sitr.audit.empirical.boxes import Command, Endpoint, Failed, Function, box_of
from sitr.errors import InvalidParameter, InvalidUse, SourceError
from sitr.noise import TestCoins


def test_a_function_is_called_once_for_all_answers_if_it_takes_a_size() -> None:
    calls = []

    def many(data: int, size: int) -> list[int]:
        calls.append(size)
        return [data] * size

    assert Function(many).draw(4, 7).numbers.tolist() == [[4.0]] * 7
    assert calls == [7]


def test_a_function_is_given_coins_if_it_takes_them() -> None:
    drawn = [
        Function(lambda _, coins: coins.bits(20), coins=TestCoins(3)).draw(0, 5).numbers.tolist() for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert len({row[0] for row in drawn[0]}) > 1


def test_too_few_answers_are_refused() -> None:
    with pytest.raises(InvalidUse, match="returned 1 answers when 3"):
        Function(lambda data, size: [data] * (size - 2)).draw(0, 3)


def test_an_error_is_an_answer() -> None:
    sample = Function(lambda data: 1 / data).draw(0, 2)
    assert sample.labels is not None
    assert sample.labels.tolist() == ["Failed(kind='ZeroDivisionError')"] * 2


def test_one_answer_is_made_without_a_sample() -> None:
    """With one of many answers, with coins, and with an error, which is an answer too."""
    coins = TestCoins(1)
    assert Function(lambda data, size: [data] * size).answering()(3) == [3]
    assert Function(lambda data, coins: (data, coins), coins=coins).answering()(3) == (3, coins)
    assert Function(lambda data: 1 / data).answering()(0) == Failed("ZeroDivisionError")


def test_a_function_without_a_signature_is_called_with_its_input() -> None:
    assert box_of(max).draw((3, 5), 2).numbers.tolist() == [[5.0], [5.0]]


# Commands

DOUBLE = "import json, sys; print('noise'); print(2 * json.load(sys.stdin))"
MANY = "import sys; [print(sys.argv[1]) for _ in range(int(sys.argv[2]))]"


def test_a_command_reads_json_and_its_last_line_is_the_answer() -> None:
    assert Command([sys.executable, "-c", DOUBLE]).draw(4, 2).numbers.tolist() == [[8.0], [8.0]]


def test_a_command_may_print_all_answers_at_once() -> None:
    assert (
        Command([sys.executable, "-c", MANY, "{input}", "{draws}"]).draw([1, 2], 3).numbers.tolist() == [[1.0, 2.0]] * 3
    )


def test_a_command_that_fails_answers_with_its_exit_code() -> None:
    sample = Command([sys.executable, "-c", "import sys; sys.exit(4)"]).draw(0, 1)
    assert sample.labels is not None
    assert sample.labels.tolist() == ["Failed(kind='exit 4')"]


def test_a_command_that_cannot_run_or_says_nothing_is_refused() -> None:
    with pytest.raises(SourceError, match="could not be run"):
        Command(["no-such-program-anywhere"]).draw(0, 1)
    with pytest.raises(SourceError, match="printed 0 lines"):
        Command([sys.executable, "-c", ""]).draw(0, 1)
    with pytest.raises(SourceError, match="printed 1 lines"):
        Command([sys.executable, "-c", "print(1)", "{draws}"]).draw(0, 2)


# Endpoints


class Service(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "http://example.org/")
            self.end_headers()
            return
        self.send_response(200 if sent != "bad" else 500)
        self.end_headers()
        self.wfile.write(json.dumps(sent).encode())

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_endpoint_answers_to_posted_json(address: str) -> None:
    assert Endpoint(f"{address}/count").draw([3, 4], 2).numbers.tolist() == [[3.0, 4.0]] * 2
    bad = Endpoint(address).draw("bad", 1).labels
    assert bad is not None
    assert bad.tolist() == ["Failed(kind='status 500')"]


def test_a_redirection_is_not_followed(address: str) -> None:
    labels = Endpoint(f"{address}/elsewhere").draw(1, 1).labels
    assert labels is not None
    assert labels.tolist() == ["Failed(kind='status 302')"]


def test_proxies_are_not_used(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:9")
    assert Endpoint(address).draw(5, 1).numbers.tolist() == [[5.0]]


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.org/", "http://192.168.0.7/", "https://127.0.0.1/", "file:///etc/passwd", "127.0.0.1:80"),
        *("http://localhost.example.org/", "http://127.0.0.1@example.org/", "http://[2001:db8::1]/", ""),
    ],
)
def test_other_machines_are_refused(url: str) -> None:
    with pytest.raises(InvalidParameter, match="address of this machine"):
        Endpoint(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/x", "http://localhost/", "http://[::1]:9/", "http://127.9.9.9/"]
)
def test_addresses_of_this_machine_are_allowed(url: str) -> None:
    assert Endpoint(url).url == url


def test_a_service_that_is_not_there_is_reported() -> None:
    with pytest.raises(SourceError, match="No answer from"):
        Endpoint("http://127.0.0.1:9/").draw(0, 1)
