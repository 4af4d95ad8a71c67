"""Who may call which route.

Every route has one dependency from this file. `Allowed` names the roles, and the scope that an API token needs;
`ANYONE` says that no account is needed. A test walks all routes and tries each of them with each role.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast
from urllib.parse import quote

from fastapi import Depends, Request

from sitr.server.limiter import Limiter
from sitr.server.office import Office
from sitr.server.previews import Previews
from sitr.server.role import Scope, UserRole, covers
from sitr.server.settings import Settings
from sitr.server.tokens import mark, same
from sitr.server.users import User, Users

SESSION, VISIT = "__Host-sitr", "__Host-sitr-visit"
"""The cookies: who is logged in, and which browser a form was sent to. Both are opaque."""

SAFE = ("GET", "HEAD")
"""Methods that change nothing."""

EVERYBODY = tuple(UserRole)


class Unauthenticated(Exception):
    """Nobody is logged in. A page leads to the login; the API answers 401."""

    def __init__(self, then: str = "/") -> None:
        super().__init__("nobody is logged in")
        self.then = then


class Forbidden(Exception):
    """Somebody is logged in who may not do this, or a form did not come from here."""


class NotFound(Exception):
    """There is no such thing, or not for this person; which of both is not said."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and how they were recognised."""

    user: User
    session: str = ""
    """The id of the session; empty for a program with a token."""

    @property
    def name(self) -> str:
        """The name of the account, which is recorded in ledgers."""
        return self.user.name


def office_of(request: Request) -> Office:
    """What the server does."""
    return cast("Office", request.app.state.office)


def people_of(request: Request) -> Users:
    """Everybody who has an account."""
    return cast("Users", request.app.state.people)


def settings_of(request: Request) -> Settings:
    """What the operator has decided."""
    return cast("Settings", request.app.state.settings)


def limiter_of(request: Request) -> Limiter:
    """How often something may be done."""
    return cast("Limiter", request.app.state.limiter)


# These are coroutines because FastAPI sends every other function to a thread, which takes longer than to look them up.


async def _office(request: Request) -> Office:
    return office_of(request)


async def _people(request: Request) -> Users:
    return people_of(request)


async def _settings(request: Request) -> Settings:
    return settings_of(request)


async def _limiter(request: Request) -> Limiter:
    return limiter_of(request)


async def _previews(request: Request) -> Previews:
    return cast("Previews", request.app.state.previews)


Here = Annotated[Office, Depends(_office)]
Everybody = Annotated[Users, Depends(_people)]
Decided = Annotated[Settings, Depends(_settings)]
Limits = Annotated[Limiter, Depends(_limiter)]
Previewed = Annotated[Previews, Depends(_previews)]


@dataclass(frozen=True, slots=True)
class Anyone:
    """No account is needed."""

    async def __call__(self) -> None:
        """Let everybody in."""


ANYONE = Anyone()


@dataclass(frozen=True, slots=True)
class Allowed:
    """Only these roles; a program needs a token of this scope."""

    roles: tuple[UserRole, ...] = EVERYBODY
    scope: Scope = Scope.READ
    page: bool = False
    """Whether it is a page, for people who are logged in; else it is for programs with a token."""

    def __call__(self, request: Request) -> Caller:
        """Who calls, if they are allowed to."""
        caller = _by_session(request) if self.page else _by_token(request, self.scope)
        if caller.user.role not in self.roles:
            raise Forbidden
        return caller


def _by_session(request: Request) -> Caller:
    session = request.cookies.get(SESSION, "")
    user = people_of(request).session(session) if session else None
    if user is None:
        then = request.url.path if request.method in SAFE else "/"
        raise Unauthenticated(then)
    return Caller(user, session)


def _by_token(request: Request, needed: Scope) -> Caller:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    found = people_of(request).token(token.strip()) if kind.lower() == "bearer" else None
    if found is None:
        raise Unauthenticated
    user, scope = found
    if not covers(scope, needed):
        raise Forbidden
    return Caller(user)


def form_mark(request: Request, visit: str = "") -> str:
    """The mark that a form on a page must carry."""
    seen = visit or request.cookies.get(SESSION, "") or request.cookies.get(VISIT, "")
    return mark(settings_of(request).secret, seen)


def check_form(request: Request, given: str) -> None:
    """Refuse a form that did not come from a page of this server, to this browser."""
    seen = request.cookies.get(SESSION, "") or request.cookies.get(VISIT, "")
    if not seen or not same(given, mark(settings_of(request).secret, seen)):
        raise Forbidden


def local(then: str) -> str:
    """A path on this server to go to after the login; the first page for anything else.

    >>> local("/queue"), local("//elsewhere.example"), local("https://elsewhere.example")
    ('/queue', '/', '/')
    """
    fits = then.startswith("/") and not then.startswith("//") and then.isprintable() and "\\" not in then
    return quote(then, safe="/-._~") if fits else "/"
