"""Everybody who has an account, and one's own."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Request

from sitr.server.access import Caller, Decided, Everybody, Limits, check_form
from sitr.server.attempts import Attempts
from sitr.server.office import Unknown
from sitr.server.pages.routes import Administers, Anybody, Field, router, there
from sitr.server.render import page
from sitr.server.role import Scope, UserRole
from sitr.server.settings import Settings
from sitr.server.users import Users


@router.get("/people")
def everybody(request: Request, caller: Administers, people: Everybody) -> Any:
    """All accounts."""
    return page("people.html", request, caller, users=people.users(), roles=tuple(UserRole), link="")


@router.post("/people")
def invite(
    request: Request, caller: Administers, people: Everybody, settings: Decided, mark: Field, name: Field, role: Field
) -> Any:
    """Invite somebody, and show the link once."""
    check_form(request, mark)
    if role not in {each.value for each in UserRole}:
        raise Unknown
    token = people.invite(name.strip(), UserRole(role), by=caller.name)
    link = f"{'https' if settings.tls else 'http'}://{request.headers['host']}/invitation/{token}"
    return page("people.html", request, caller, users=people.users(), roles=tuple(UserRole), link=link)


@router.post("/people/{name}")
def enable(request: Request, name: str, caller: Administers, people: Everybody, mark: Field, enabled: Field) -> Any:
    """Allow or forbid somebody to log in."""
    check_form(request, mark)
    assert caller
    people.enable(name, enabled=enabled == "yes")
    return there("/people")


@router.get("/account")
def account(request: Request, caller: Anybody, people: Everybody, settings: Decided) -> Any:
    """One's own tokens and password."""
    return _account(request, caller, people, settings)


def _account(request: Request, caller: Caller, people: Users, settings: Settings, *, token: str = "") -> Any:
    issuer = settings.oidc_issuer
    connected = bool(issuer) and caller.name in Attempts(people.path).bound(issuer)
    shown: dict[str, Any] = {"tokens": people.tokens(caller.name), "token": token, "scopes": tuple(Scope)}
    return page("account.html", request, caller, connected=connected, sessions=people.sessions(caller.name), **shown)


@router.post("/account/tokens")
def make_token(
    request: Request,
    caller: Anybody,
    people: Everybody,
    settings: Decided,
    mark: Field,
    label: Field,
    scope: Field,
    days: Annotated[int, Form()],
) -> Any:
    """Make an API token, and show it once."""
    check_form(request, mark)
    if scope not in {each.value for each in Scope}:
        raise Unknown
    token = people.new_token(caller.user, label, Scope(scope), days=days)
    return _account(request, caller, people, settings, token=token)


@router.post("/account/tokens/{number}")
def revoke(request: Request, number: int, caller: Anybody, people: Everybody, mark: Field) -> Any:
    """Revoke an API token."""
    check_form(request, mark)
    people.revoke(number, of=caller.name)
    return there("/account")


@router.post("/account/sessions")
def end_sessions(request: Request, caller: Anybody, people: Everybody, mark: Field) -> Any:
    """Log out in all browsers."""
    check_form(request, mark)
    people.end_all(caller.name)
    return there("/login")


@router.post("/account/password")
def change_password(
    request: Request,
    caller: Anybody,
    people: Everybody,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    old: Field,
    new: Field,
) -> Any:
    """Change one's password. All sessions end."""
    check_form(request, mark)
    limiter.count("login", caller.name, most=settings.logins_per_minute)
    people.change_password(caller.name, old, new)
    return there("/login")
