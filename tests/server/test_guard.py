"""What is refused before any route, and the headers of every response."""

from __future__ import annotations

import json
import logging
import select
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sitr.server.guard import HEADERS
from sitr.server.role import Scope
from tests.server.conftest import SQL, Team, listening, mark, team_in


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", "", "testserver:80:80"])
def test_other_hosts_are_refused(shared: Team, host: str) -> None:
    assert shared.visitor().get("/login", headers={"host": host}).status_code == 421


def test_a_port_does_not_matter(shared: Team) -> None:
    assert shared.visitor().get("/login", headers={"host": "testserver:8300"}).status_code == 200


@pytest.mark.parametrize("path", ["/login", "/api/v1/health", "/nowhere", "/api/v1/nowhere", "/static/sitr.js"])
def test_every_response_forbids_what_pages_do_not_need(shared: Team, path: str) -> None:
    found = shared.visitor().get(path)
    for name in HEADERS.keys() - {"cache-control"}:
        assert name in found.headers
    assert "unsafe" not in found.headers["content-security-policy"]
    assert "strict-transport-security" not in found.headers


def test_behind_tls_browsers_come_back_by_https(tmp_path) -> None:
    found = team_in(tmp_path, tls=True).visitor().get("/login")
    assert "max-age" in found.headers["strict-transport-security"]


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
    ],
)
def test_forms_of_other_sites_are_refused_whatever_they_hold(shared: Team, headers: dict[str, str]) -> None:
    ana = shared.browser("ana")
    form = {"mark": mark(ana.get("/account")), "sql": SQL, "price": "zcdp(0.01)"}
    path = "/datasets/visits/preview"
    assert ana.post(path, data=form, headers=headers).status_code == 403
    assert ana.post(path, data=form, headers={"sec-fetch-site": "same-origin"}).status_code == 200
    assert ana.post(path, data=form, headers={"origin": "https://testserver"}).status_code == 200


def test_long_requests_are_refused_with_or_without_their_length(shared: Team) -> None:
    ana = shared.program("ana")
    path, most = "/api/v1/datasets/visits/preview", shared.settings.most_octets
    assert ana.post(path, content=b" " * (most + 1)).status_code == 413
    assert ana.post(path, content=(b" " * 100_000 for _ in range(20))).status_code == 413
    assert ana.post(path, content=b"{", headers={"content-length": "-1"}).status_code == 413


def test_malformed_bodies_are_problems(shared: Team) -> None:
    ana = shared.program("ana")
    for body in (
        b"",
        b"{",
        b"[]",
        b'{"sql": 1}',
        b'{"sql": "\\ud800"}',
        b"\xff\xfe",
        b'{"sql": "x", "price": "zcdp(nan)"}',
    ):
        found = ana.post("/api/v1/datasets/visits/preview", content=body, headers={"content-type": "application/json"})
        assert found.status_code == 422, body
        assert found.headers["content-type"] == "application/problem+json"


def test_a_header_cannot_be_injected(shared: Team) -> None:
    found = shared.visitor().get("/login", params={"then": "/x\r\nset-cookie: a=b"})
    assert found.status_code == 200
    assert "a=b" not in str(found.headers)
    found = shared.visitor().get("/datasets/%0d%0aset-cookie:%20a=b")
    assert "a=b" not in found.headers.get("set-cookie", "")


def test_log_lines_hold_no_question_no_name_and_no_time(shared: Team, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="sitr.server"):
        shared.program("ana").post("/api/v1/datasets/visits/preview?secret=1", json={"sql": SQL, "price": "zcdp(0.01)"})
    line = json.loads(caplog.records[-1].message)
    assert line == {"method": "POST", "route": "/api/v1/datasets/{name}/preview", "status": 200}


def test_the_browser_chooses_the_language_until_somebody_does(shared: Team) -> None:
    client = shared.visitor()
    arabic = client.get("/login", headers={"accept-language": "ar-EG,en;q=0.5"})
    assert '<html lang="ar" dir="rtl">' in arabic.text
    form = {"mark": mark(arabic), "language": "en", "then": "/login"}
    assert client.post("/language", data=form).headers["location"] == "/login"
    assert '<html lang="en" dir="ltr">' in client.get("/login", headers={"accept-language": "ar"}).text


@pytest.mark.parametrize(
    ("request_", "english", "arabic"),
    [
        ({"url": "/login", "headers": {"host": "evil.example"}}, "not known under this name", "لا يُعرف هذا الخادم"),
        ({"url": "/api/v1/me", "headers": {"host": "evil.example"}}, "not known under this name", "لا يُعرف هذا الخادم"),
        (
            {"url": "/login", "method": "POST", "headers": {"origin": "https://evil.example"}},
            "another site",
            "موقع آخر",
        ),
        (
            {"url": "/login", "method": "POST", "headers": {"content-length": "9" * 9}},
            "is too long",
            "الطلب أطول مما ينبغي",
        ),
        ({"url": "/api/v1/nowhere"}, "nothing at this address", "لا شيء في هذا العنوان"),
        ({"url": "/api/v1/me", "method": "PATCH"}, "does not take this method", "لا يقبل هذا العنوان"),
    ],
)
def test_refusals_are_in_the_language_of_the_reader(
    shared: Team, request_: dict[str, Any], english: str, arabic: str
) -> None:
    known = {"method": "GET", **request_}
    for language, text in (("en", english), ("ar", arabic)):
        headers = {**known.get("headers", {}), "accept-language": language}
        found = shared.visitor().request(**known | {"headers": headers})
        assert text in (found.json()["detail"] if known["url"].startswith("/api/") else found.text)
        kind = "application/problem+json" if known["url"].startswith("/api/") else "text/plain"
        assert found.headers["content-type"].startswith(kind)


@pytest.mark.parametrize("path", ["/login", "/api/v1/datasets/visits/ask"])
def test_a_body_has_one_time_for_all_of_its_parts(tmp_path: Path, path: str) -> None:
    """Somebody who sends an octet now and then does not keep a place for ever; who sends two parts in time is heard."""
    team = team_in(tmp_path, timeout_seconds=1)
    token = team.people.new_token(team.user("ana"), "test", Scope.ASK, days=1)
    with listening(team) as address:
        port = int(address.rpartition(":")[2])
        for pause, refused in ((0.3, True), (0.02, False)):
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 20\r\n"
            kind = "application/json" if path.startswith("/api/") else "application/x-www-form-urlencoded"
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                head += f"Authorization: Bearer {token}\r\nAccept-Language: ar\r\n"
                connection.sendall(f"{head}Content-Type: {kind}\r\n\r\n".encode())
                began, found = time.monotonic(), b""
                for _ in range(20):
                    with suppress(OSError):  # it is closed already
                        connection.sendall(b"1")
                    time.sleep(pause)
                    if select.select([connection], [], [], 0)[0]:
                        break
                took = time.monotonic() - began
                found = connection.recv(10_000)
            assert (b" 408 " in found.splitlines()[0]) is refused, found[:200]
            assert ("تأخر وصول الطلب" in found.decode()) is refused
            assert took < 4  # twenty pauses would be six seconds
