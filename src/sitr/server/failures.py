"""What is shown instead of an answer: a problem for programs, a page for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from sitr.errors import SitrError
from sitr.report.words.messages import said
from sitr.report.words.words import in_words
from sitr.server.access import Forbidden, NotFound, Unauthenticated, local, office_of
from sitr.server.guard import why
from sitr.server.limiter import TooMany
from sitr.server.office import Unknown
from sitr.server.problems import MEDIA, plain_problem, problem, status_of
from sitr.server.render import live, page, part, problems

API = "/api/"

SENTENCES: dict[type[Exception], tuple[int, str]] = {
    Forbidden: (403, "forbidden"),
    NotFound: (404, "not_found"),
    Unknown: (404, "not_found"),
    TooMany: (429, "too_many"),
    Exception: (500, "failed"),
}
"""The status and the sentence of everything that is no `SitrError`. None of them says why."""


def handle(app: FastAPI) -> None:
    """Register all handlers."""
    app.add_exception_handler(SitrError, _refused)
    app.add_exception_handler(Unauthenticated, _unknown_caller)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _other)
    for kind, (status, sentence) in SENTENCES.items():
        app.add_exception_handler(kind, _simple(status, kind.__name__, sentence))


def _for_program(request: Request) -> bool:
    return request.url.path.startswith(API)


def _refused(request: Request, error: Exception) -> Any:
    found = office_of(request).without_places(cast("SitrError", error), request.path_params.get("name", ""))
    status = status_of(found)
    if _for_program(request):
        return JSONResponse(problem(found), status, {"retry-after": "5"} if status == 503 else {}, media_type=MEDIA)
    if live(request):
        return part("shown.html", status=status, **problems(found))
    return page("problem.html", request, status=status, **problems(found))


def _unknown_caller(request: Request, error: Exception) -> Any:
    if _for_program(request):
        detail = plain_problem(401, "Unauthenticated", said("A valid token is needed: Authorization: Bearer sitr_…"))
        return JSONResponse(detail, 401, {"www-authenticate": "Bearer"}, media_type=MEDIA)
    if live(request):  # a part of a page cannot be the login: the browser goes there, and then back
        here = local(urlsplit(request.headers.get("hx-current-url", "/")).path)
        return Response(status_code=401, headers={"hx-redirect": f"/login?then={here}"})
    then = local(cast("Unauthenticated", error).then)
    return RedirectResponse("/login" if then == "/" else f"/login?then={then}", status_code=303)


def _malformed(request: Request, error: Exception) -> Any:
    if _for_program(request):
        found = cast("RequestValidationError", error).errors()
        places = ", ".join(".".join(map(str, each["loc"][1:])) for each in found)
        detail = plain_problem(422, "Malformed", said(f"The request is not as expected at: {places}."))
        return JSONResponse(detail, 422, media_type=MEDIA)
    return _sentence(request, 422, in_words().server.bad_form)


def _other(request: Request, error: Exception) -> Any:
    found = cast("HTTPException", error)
    if _for_program(request):
        detail = plain_problem(found.status_code, "Refused", why(found.status_code))
        return JSONResponse(detail, found.status_code, found.headers, media_type=MEDIA)
    missing = found.status_code == 404
    return _sentence(request, found.status_code, in_words().server.not_found if missing else why(found.status_code))


def _simple(status: int, title: str, sentence: str) -> Callable[[Request, Exception], Any]:
    def shown(request: Request, _error: Exception) -> Any:
        text = getattr(in_words().server, sentence)
        if _for_program(request):
            return JSONResponse(plain_problem(status, title, text), status, media_type=MEDIA)
        return _sentence(request, status, text)

    return shown


def _sentence(request: Request, status: int, text: str) -> Any:
    found = [{"text": text, "lines": ()}]
    if live(request):
        return part("shown.html", status=status, problems=found)
    return page("problem.html", request, status=status, problems=found)
