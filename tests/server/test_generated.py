"""Every route with every role, fed with requests made from the OpenAPI description, some of them hostile.

Whatever is sent: nothing fails inside, every response is as described, and problems are RFC 9457 problems.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2 as httpx
import pytest

from sitr.server.app import create
from sitr.session.dataset import open as open_description
from tests.server.conftest import NAMES, Team, people_in, settings_in, team_in
from tests.server.generated import Maker, Route, faults, routes

ROUNDS = ((0.0, 2), (0.5, 3))
"""How much of what is sent is wrong, and how many requests of this kind each caller sends to each route."""


@pytest.fixture(scope="module")
def fed(tmp_path_factory: pytest.TempPathFactory) -> Team:
    return team_in(tmp_path_factory.mktemp("fed"))


def described() -> dict[str, Any]:
    """The description, without a server."""
    with TemporaryDirectory() as folder:
        settings = settings_in(Path(folder))
        app: Any = create(settings, people_in(settings)).app
        found: dict[str, Any] = app.openapi()
        return found


DOCUMENT = described()
ANSWERED: set[str] = set()
"""The routes that answered at least once."""

ROUTES = [route for route in routes(DOCUMENT) if route.path.startswith("/api/")]


def test_the_description_is_openapi_with_problems() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    assert len(ROUTES) > 35
    for route in ROUTES:
        assert route.operation["responses"]["4XX"]["content"].keys() == {"application/problem+json"}, route
        assert "422" not in route.operation["responses"]


def check(route: Route, found: httpx.Response) -> None:
    """A response is as the description says."""
    assert found.status_code < 500 or found.status_code == 503, (str(route), found.text[:500])
    if found.status_code >= 400:
        assert found.headers["content-type"] == "application/problem+json", (str(route), found.text[:200])
        content = found.json()
        schema = DOCUMENT["components"]["schemas"]["Problem"]
        assert list(faults(content, schema, DOCUMENT)) == [], str(route)
        assert content["status"] == found.status_code
        assert content["given"] or content["detail"]
        return
    answer = route.operation["responses"].get(str(found.status_code))
    assert answer is not None, (str(route), found.status_code)
    if found.status_code == 204:
        ANSWERED.add(str(route))
        assert found.content == b""
        return
    ANSWERED.add(str(route))
    kind = found.headers["content-type"].partition(";")[0]
    assert kind in answer["content"], str(route)
    if kind == "application/json":
        assert list(faults(found.json(), answer["content"][kind]["schema"], DOCUMENT)) == [], str(route)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_whatever_is_sent_the_response_is_as_described(fed: Team, route: Route) -> None:
    callers = {name: fed.program(name) for name in NAMES if fed.user(name).enabled}
    for name, client in {**callers, "": fed.visitor()}.items():
        for wrong, many in ROUNDS:
            for number in range(many):
                maker = Maker(DOCUMENT, f"{route} {name} {wrong} {number}", wrong=wrong)
                path, body = maker.path(route), maker.body(route)
                content = None if body is None else json.dumps(body).encode()
                headers = {} if body is None else {"content-type": "application/json"}
                check(route, client.request(route.method, path, content=content, headers=headers))


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"sql":' + b"[" * 50_000, b'{"sql": "\\ud800"}', b'{"a":1,"a":2}'),
        *(b"9" * 5_000, b'{"price": NaN}', b'{"price": Infinity}'),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_malformed_bodies_are_problems(fed: Team, content: bytes) -> None:
    ana = fed.program("ana")
    for route in ROUTES:
        if "requestBody" in route.operation and "{name}" in route.path:
            path = route.path.replace("{name}", "visits").replace("{number}", "1")
            check(route, ana.request(route.method, path, content=content, headers={"content-type": "application/json"}))


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "", "application/json; x"]
)
def test_other_kinds_of_bodies_are_problems(fed: Team, kind: str) -> None:
    [route] = [each for each in ROUTES if str(each) == "POST /api/v1/datasets/{name}/ask"]
    found = fed.program("ana").post(
        "/api/v1/datasets/visits/ask", content=b'{"sql": "x", "price": "pure(1)"}', headers={"content-type": kind}
    )
    check(route, found)


@pytest.mark.parametrize("value", ["a\r\nset-cookie: x=1", "a\nb", "\x00", "é", "x" * 300])
def test_headers_cannot_be_injected(fed: Team, value: str) -> None:
    """No response header holds what was sent, and a strange key is refused or harmless."""
    ana = fed.program("ana")
    body = {"sql": "SELECT COUNT(*) AS n FROM visits", "price": "zcdp(0.0001)"}
    raw = value.encode("latin-1", errors="replace")
    found = ana.post(
        "/api/v1/datasets/visits/ask", json=body, headers={b"idempotency-key": raw, b"x-forwarded-for": raw}
    )
    assert found.status_code < 500
    assert "set-cookie" not in found.headers
    assert all("x=1" not in each for each in found.headers.values())


def test_many_of_these_requests_are_answered() -> None:
    """Otherwise the tests above would only show that everything is refused."""
    assert len(ANSWERED) > 20
    assert {"POST /api/v1/datasets/{name}/ask", "POST /api/v1/datasets/{name}/preview"} <= ANSWERED


def test_the_books_are_exact_after_all_that(fed: Team) -> None:
    budget = open_description(fed.settings.datasets["visits"]).budget()
    assert budget.standing() == budget.ledger.check("visits")
    found = fed.program("omar").get("/api/v1/datasets/visits/ledger/verify")
    assert found.status_code in (200, 404)
    assert found.status_code == 404 or found.json()["sound"] is True


def test_a_wrong_response_is_noticed() -> None:
    """The check itself: a response that lacks a field, or has another type, is a fault."""
    schema = DOCUMENT["components"]["schemas"]["Problem"]
    right = {"type": "about:blank", "title": "x", "status": 400, "detail": "x", "wanted": "", "given": "x", "do": ""}
    assert list(faults(right, schema, DOCUMENT)) == []
    assert list(faults({**right, "status": "400"}, schema, DOCUMENT))
    assert list(faults({name: value for name, value in right.items() if name != "do"}, schema, DOCUMENT))
    assert list(faults([right], {"type": "object"}, DOCUMENT))
