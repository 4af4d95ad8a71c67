"""The pages for people who are not logged in: the login, invitations, the language, and files."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from markupsafe import Markup

from sitr.errors import SitrError
from sitr.language import Language
from sitr.report.words.messages import error_text
from sitr.report.words.words import in_words
from sitr.server.access import ANYONE, SESSION, VISIT, Decided, Everybody, Limits, NotFound, check_form, local
from sitr.server.guard import LANGUAGE
from sitr.server.limiter import Limiter
from sitr.server.pages.files import document, download
from sitr.server.publications import PublicPage, PublicPages
from sitr.server.render import STATIC, page, stylesheet, stylesheet_name
from sitr.server.settings import Settings
from sitr.server.tokens import hashed
from sitr.server.users import Users

router = APIRouter(include_in_schema=False, dependencies=[Depends(ANYONE)])

Field = Annotated[str, Form()]

ADDRESSES = 6
"""The number of addresses that can try one name, each as often as the limit allows."""

FOREVER = "public, max-age=31536000, immutable"


def _from(request: Request) -> str:
    """The address that a request comes from."""
    return request.client.host if request.client is not None else ""


@router.get("/login")
def login_form(request: Request, then: str = "/") -> Any:
    """The form for the login."""
    return page("login.html", request, then=local(then), wrong="")


@router.post("/login")
def login(
    request: Request,
    people: Everybody,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    name: Field,
    password: Field,
    then: Annotated[str, Form()] = "/",
) -> Any:
    """Log in. The session gets a new id, whatever the browser had before."""
    check_form(request, mark)
    limiter.count("login", f"address {_from(request)}", most=settings.logins_per_minute)
    known = f"name {hashed(name)}"  # a stranger chooses its length, and one address alone must not lock somebody out
    limiter.count("login", known, most=settings.logins_per_minute * ADDRESSES)
    user = people.check(name, password)
    if user is None:
        return page("login.html", request, then=local(then), wrong=in_words().server.wrong_login, status=403)
    response = RedirectResponse(local(then), status_code=303)
    response.set_cookie(
        SESSION,
        people.begin(user),
        max_age=settings.session_hours * 3600,
        secure=True,
        httponly=True,
        samesite="strict",
        path="/",
    )
    response.delete_cookie(VISIT, secure=True, httponly=True, samesite="strict", path="/")
    return response


@router.post("/logout")
def logout(request: Request, people: Everybody, mark: Field) -> Any:
    """End the session, here and in the database."""
    check_form(request, mark)
    people.end(request.cookies.get(SESSION, ""))
    response = RedirectResponse("/login", status_code=303)
    response.delete_cookie(SESSION, secure=True, httponly=True, samesite="strict", path="/")
    return response


@router.post("/language")
def language(request: Request, mark: Field, language: Field, then: Field = "/") -> Any:
    """Remember the language."""
    check_form(request, mark)
    if language not in {each.value for each in Language}:
        raise NotFound
    response = RedirectResponse(local(then), status_code=303)
    response.set_cookie(LANGUAGE, language, max_age=31536000, secure=True, httponly=True, samesite="lax", path="/")
    return response


@router.get("/invitation/{token}")
def invitation(request: Request, people: Everybody, token: str) -> Any:
    """Who is invited."""
    found = people.invited(token)
    return page("invitation.html", request, invited=found, token=token, wrong="", status=200 if found else 404)


@router.post("/invitation/{token}")
def accept(
    request: Request,
    people: Everybody,
    limiter: Limits,
    settings: Decided,
    token: str,
    mark: Field,
    password: Field,
) -> Any:
    """Make the account."""
    check_form(request, mark)
    limiter.count("login", f"address {_from(request)}", most=settings.logins_per_minute)
    try:
        people.accept(token, password)
    except SitrError as error:
        found = people.invited(token)
        return page("invitation.html", request, invited=found, token=token, wrong=error_text(error), status=422)
    return RedirectResponse("/login", status_code=303)


def _public(request: Request, people: Users, limiter: Limiter, settings: Settings, address: str) -> PublicPage:
    limiter.count("public", _from(request), most=settings.logins_per_minute * ADDRESSES)
    found = PublicPages(people.path).find(address)
    if found is None:
        raise NotFound
    return found


@router.get("/public/{address}")
def public_page(request: Request, people: Everybody, limiter: Limits, settings: Decided, address: str) -> Any:
    """An answer that a steward has published."""
    found = _public(request, people, limiter, settings, address)
    content = found.arabic if in_words().code == "ar" else found.english
    return page("public.html", request, found=found, content=Markup(content))


@router.get("/public/{address}/certificate")
def public_certificate(
    request: Request, people: Everybody, limiter: Limits, settings: Decided, address: str
) -> Response:
    """The page that explains and defends a published answer."""
    found = _public(request, people, limiter, settings, address)
    return document(found.arabic_certificate if in_words().code == "ar" else found.english_certificate)


@router.get("/public/{address}/answer.csv")
def public_csv(request: Request, people: Everybody, limiter: Limits, settings: Decided, address: str) -> Response:
    """A published answer as CSV."""
    found = _public(request, people, limiter, settings, address)
    return download(found.csv, "text/csv; charset=utf-8", f"{found.dataset}-{found.number}.csv")


@router.get("/static/{name}")
def static(name: str) -> Response:
    """A style, a script or a picture of the pages."""
    if name == stylesheet_name():
        return Response(stylesheet(), media_type="text/css", headers={"cache-control": FOREVER})
    known = {path.name: path for path in STATIC.iterdir()}
    if name not in known:
        raise NotFound
    return FileResponse(known[name], headers={"cache-control": "public, max-age=3600"})
