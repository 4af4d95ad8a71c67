"""Every route against every role: who is not named by a route does not get past it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import httpx2 as httpx
import pytest
from fastapi.routing import APIRoute

from sitr.server.access import Allowed, Anyone, local
from sitr.server.role import Scope, UserRole
from tests.server.conftest import NAMES, Team, mark

FILLED = {"name": "visits", "number": "1", "token": "none", "user": "nobody", "notation": "pure(1)", "address": "none"}


def rules(route: APIRoute) -> list[Allowed | Anyone]:
    """What a route says about who may call it."""
    found = [each.call for each in route.dependant.dependencies]
    return [each for each in found if isinstance(each, Allowed | Anyone)]


def routes() -> Iterator[APIRoute]:
    from sitr.server import api, api_books, api_questions, federated, pages, play, visitors

    for router in (
        api.router,
        api_questions.router,
        api_books.router,
        pages.router,
        play.router,
        visitors.router,
        federated.router,
    ):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            yield route


def method(route: APIRoute) -> str:
    assert route.methods is not None
    [found] = route.methods
    return found


def ids(route: APIRoute) -> str:
    return f"{method(route)} {route.path}"


@cache
def browser(team: Team, name: str) -> httpx.Client:
    """A browser in which somebody stays logged in: to log in takes longer than to be refused."""
    return team.browser(name)


@cache
def another_browser(team: Team, name: str) -> httpx.Client:
    return team.browser(name)


@cache
def program(team: Team, name: str, scope: Scope = Scope.DECIDE) -> httpx.Client:
    return team.program(name, scope)


ROUTES = list(routes())
GUARDED = [route for route in ROUTES if isinstance(rules(route)[0], Allowed)]


def test_every_route_says_who_may_call_it() -> None:
    assert len(ROUTES) > 50
    for route in ROUTES:
        assert len(rules(route)) == 1, ids(route)


def test_the_application_has_no_other_routes(shared: Team) -> None:
    known = {route.path for route in ROUTES}
    app = shared.app.app
    served = {getattr(route, "path", "") for route in app.routes}  # type: ignore[attr-defined]
    included = {path for path in served if path} - known
    assert included <= {"/api/v1/openapi.json"}


@pytest.mark.parametrize("route", GUARDED, ids=ids)
def test_who_is_not_named_is_refused(shared: Team, route: APIRoute) -> None:
    rule = rules(route)[0]
    assert isinstance(rule, Allowed)
    path = route.path.format(**FILLED)
    for name, role in NAMES.items():
        if role not in rule.roles:
            client = browser(shared, name) if rule.page else program(shared, name)
            assert client.request(method(route), path).status_code == 403, name
    strangers = shared.visitor().request(method(route), path)
    assert strangers.status_code == (303 if rule.page else 401)
    if rule.page:
        assert strangers.headers["location"].startswith("/login")


@pytest.mark.parametrize("route", [each for each in GUARDED if method(each) in ("POST", "PUT", "DELETE")], ids=ids)
def test_what_changes_something_needs_more_than_reading(shared: Team, route: APIRoute) -> None:
    rule = rules(route)[0]
    assert isinstance(rule, Allowed)
    if rule.page or route.path.endswith(
        ("/preview", "/price", "/verify")
    ):  # a form has its mark; others change nothing
        return
    name = next(name for name, role in NAMES.items() if role in rule.roles)
    path = route.path.format(**FILLED)
    assert rule.scope is not Scope.READ
    assert program(shared, name, Scope.READ).request(method(route), path).status_code == 403


@pytest.mark.parametrize(
    "route", [each for each in ROUTES if method(each) == "POST" and not each.path.startswith("/api")], ids=ids
)
def test_a_form_without_its_mark_is_refused(shared: Team, route: APIRoute) -> None:
    """A form of another site, or of another session, has another mark."""
    rule = rules(route)[0]
    name = next((name for name, role in NAMES.items() if isinstance(rule, Allowed) and role in rule.roles), "ana")
    client, other = browser(shared, name), another_browser(shared, name)
    fields = {
        body.alias: {
            "days": "1",
            "questions": "1",
            "seconds": "1",
            "scope": "read",
            "role": "analyst",
            "language": "ar",
        }.get(body.alias, "x")
        for body in route.dependant.body_params
    }
    fields |= {name: "1" for name in fields if name == "request"}
    files = {name: fields.pop(name) for name in [*fields] if name == "certificate"} or None
    for wrong in ("", "0" * 64, mark(other.get("/account"))):
        found = client.post(route.path.format(**FILLED), data=fields | {"mark": wrong}, files=files)
        assert found.status_code in (403, 422) if not wrong else found.status_code == 403


def test_the_way_back_stays_on_this_server() -> None:
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\nb"):
        assert local(elsewhere) == "/"
    assert local("/datasets/visits") == "/datasets/visits"


def test_no_role_is_missing() -> None:
    assert set(NAMES.values()) == set(UserRole)
