"""The pages of the login at an identity provider.

The cookie of a login that has begun is sent when the provider leads the browser back, as that of a session is not. The
last page therefore leads on by itself: a browser sends the session only with a request that begins here.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse

from sitr.report.words.words import in_words
from sitr.server.access import ANYONE, SESSION, VISIT, Decided, Everybody, Limits, NotFound, check_form, local
from sitr.server.attempts import Attempt, Attempts, NotIdentified
from sitr.server.pages.routes import Anybody
from sitr.server.render import page
from sitr.server.tokens import hashed
from sitr.server.users import User, Users

if TYPE_CHECKING:  # it needs an extra
    from sitr.server.oidc import Identity, Provider

router = APIRouter(include_in_schema=False)

ATTEMPT = "__Host-sitr-attempt"
"""The cookie of a login that has begun."""

log = logging.getLogger("sitr.server")


def _provider(request: Request) -> Provider:
    found = request.app.state.provider
    if found is None:
        raise NotFound
    return cast("Provider", found)


def _refused(request: Request, kind: str) -> Any:
    """The login page with one sentence, whatever was wrong. The log says what kind of failure it was."""
    log.warning("%s", json.dumps({"login": "refused", "failure": kind}))
    response = page("login.html", request, then="/", wrong=in_words().server.not_identified, status=403)
    response.delete_cookie(ATTEMPT, secure=True, httponly=True, samesite="lax", path="/")
    return response


def _sent(request: Request, people: Users, then: str, **bound: str) -> Any:
    """Lead the browser to the identity provider."""
    provider = _provider(request)
    browser, attempt = Attempts(people.path).begin(then, **bound)
    try:
        response = RedirectResponse(provider.address(attempt), status_code=303)
    except NotIdentified as failure:
        return _refused(request, str(failure))
    response.set_cookie(ATTEMPT, browser, max_age=600, secure=True, httponly=True, samesite="lax", path="/")
    return response


@router.get("/login/oidc", dependencies=[Depends(ANYONE)])
def begin(
    request: Request,
    people: Everybody,
    limiter: Limits,
    settings: Decided,
    then: str = "/",
    invitation: str = "",
    mark: str = "",
) -> Any:
    """Log in at the identity provider; from the page of an invitation, accept it there instead of with a password."""
    _provider(request)
    here = request.client.host if request.client is not None else ""
    limiter.count("login", f"address {here}", most=settings.logins_per_minute)
    if not invitation:
        return _sent(request, people, local(then))
    check_form(request, mark)  # a link of somebody else must not bind the identity of who follows it
    if people.invited(invitation) is None:
        raise NotFound
    return _sent(request, people, "/", invitation=hashed(invitation))


@router.get("/account/identity")
def connect(request: Request, caller: Anybody, people: Everybody, mark: str = "") -> Any:
    """Let who is logged in log in at the identity provider, too, from now on."""
    check_form(request, mark)
    return _sent(request, people, "/account", account=caller.name)


@router.get("/login/oidc/callback", dependencies=[Depends(ANYONE)])
def end(request: Request, people: Everybody, limiter: Limits, settings: Decided) -> Any:
    """Log in who comes back. A login ends once, whether it succeeds or not."""
    provider = _provider(request)
    here = request.client.host if request.client is not None else ""
    limiter.count("login", f"address {here}", most=settings.logins_per_minute)
    attempt = Attempts(people.path).end(request.cookies.get(ATTEMPT, ""))
    if attempt is None:
        return _refused(request, "no attempt")
    try:
        user = account_of(people, provider.identify(attempt, request.query_params), attempt)
    except NotIdentified as failure:
        return _refused(request, str(failure))
    if user is None:
        return _refused(request, "no account")
    response = page("entered.html", request, then=attempt.then)
    hours = settings.session_hours * 3600
    response.set_cookie(
        SESSION, people.begin(user), max_age=hours, secure=True, httponly=True, samesite="strict", path="/"
    )
    response.delete_cookie(ATTEMPT, secure=True, httponly=True, samesite="lax", path="/")
    response.delete_cookie(VISIT, secure=True, httponly=True, samesite="strict", path="/")
    return response


def account_of(people: Users, identity: Identity, attempt: Attempt) -> User | None:
    """The account of an identity; None if it has none. Only an invitation or a connection binds it."""
    known = Attempts(people.path)
    name = known.owner(identity.issuer, identity.subject)
    if attempt.invitation and name is None:
        made = people.accept_identified(attempt.invitation)
        if made is not None:
            known.unbind(identity.issuer, made.name)  # whoever had an account of this name before is somebody else
            # It fails if the same identity has accepted another invitation in this moment.
            name = made.name if known.bind(identity.issuer, identity.subject, made.name) else None
    elif attempt.account:
        owner = people.user(attempt.account)
        fits = owner is not None and owner.enabled and known.bind(identity.issuer, identity.subject, attempt.account)
        name = attempt.account if fits else None
    user = None if name is None else people.user(name)
    return user if user is not None and user.enabled else None
