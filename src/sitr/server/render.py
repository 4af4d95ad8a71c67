"""Pages from templates, in the language of the reader."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment
from markupsafe import Markup

from sitr.errors import SitrError
from sitr.report.figures import displayed
from sitr.report.page.html import templates
from sitr.report.words.messages import error_text, question_text
from sitr.report.words.words import in_words
from sitr.server.access import SESSION, VISIT, Caller, form_mark, office_of, settings_of
from sitr.server.role import UserRole
from sitr.server.tokens import new_token

STATIC = Path(__file__).with_name("static")


@cache
def pages() -> Environment:
    """The templates of the server, with filters for text of several lines, which templates otherwise write as one."""
    made = templates("sitr.server")
    made.filters.update(typed=Markup.escape, lines=_lines)
    return made


def _lines(text: str) -> Markup:
    """Text as it was written, line by line; what is not printable is made visible."""
    return Markup("\n").join(displayed(line.replace("\t", "    ")) for line in str(text).splitlines())


@cache
def stylesheet() -> str:
    """The style of all pages."""
    return pages().get_template("server.css").render()


@cache
def stylesheet_name() -> str:
    """A name that changes with the content, so that browsers keep it as long as it is the same."""
    return f"sitr-{sha256(stylesheet().encode()).hexdigest()[:12]}.css"


def page(template: str, request: Request, caller: Caller | None = None, *, status: int = 200, **values: Any) -> Any:
    """A page. Somebody who is not logged in gets a cookie, to which the marks of forms are bound."""
    visit = request.cookies.get(SESSION, "") or request.cookies.get(VISIT, "")
    new = "" if visit else new_token()
    words = in_words()
    user = None if caller is None else caller.user
    waiting = office_of(request).waiting(user) if user is not None and user.role is not UserRole.ADMINISTRATOR else 0
    text = (
        pages()
        .get_template(template)
        .render(
            words=words,
            say=words.server,
            user=user,
            waiting=waiting,
            mark=form_mark(request, new),
            path=request.url.path if request.method == "GET" else "/",
            stylesheet=stylesheet_name(),
            provider=bool(settings_of(request).oidc_issuer),
            **{"done": "", "problems": (), "instead": "", "sections": (), "most": 1000} | values,
        )
    )
    response = HTMLResponse(text, status_code=status)
    if new:
        response.set_cookie(VISIT, new, secure=True, httponly=True, samesite="strict", path="/")
    return response


def part(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A part of a page, which takes the place of another one."""
    words = in_words()
    shown = {"problems": (), "instead": "", "sections": (), "most": 1000} | values
    text = pages().get_template(template).render(words=words, say=words.server, **shown)
    return HTMLResponse(text, status_code=status)


def live(request: Request) -> bool:
    """Whether the script of a page asks for a part of it."""
    return request.headers.get("hx-request") == "true"


def problems(error: SitrError) -> dict[str, Any]:
    """What a page says about an error: each obstacle with its place in the text, and a question that works."""
    found = [
        {"text": error_text(each), "lines": () if each.excerpt is None else each.excerpt.drawn()}
        for each in (error, *error.others)
    ]
    return {"problems": found, "instead": question_text(error.instead) if error.instead else ""}


def inline(svg: str) -> str:
    """A chart inside a page, whose stylesheet says how its letters run: pages have no inline styles."""
    return svg.replace(' style="unicode-bidi: plaintext"', "")
