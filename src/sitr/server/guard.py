"""What every request passes before any route, and every response before it leaves.

- The host must be one of those in the settings, so that no other site can lead a browser here under its own name.
- A request from another site that would change something is refused by what the browser says about it.
- A body is at most so long, and must arrive in time.
- Responses forbid everything that pages do not need: other sites, inline scripts and styles, frames.
- One line for each response is logged: no address with its query, no body, no time that it took.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sitr.language import Digits, Language, speaking
from sitr.report.words.messages import said
from sitr.server.problems import MEDIA, plain_problem
from sitr.server.settings import Settings

LANGUAGE, DIGITS = "sitr-language", "sitr-digits"
"""The cookies that remember what somebody reads."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}

TLS = "max-age=31536000; includeSubDomains"

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
"""The methods that are counted by their names. Others are counted together: anybody can invent them."""

log = logging.getLogger("sitr.server")


@dataclass(slots=True)
class Guard:
    """Wraps the application."""

    app: ASGIApp
    settings: Settings
    seen: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """How many responses there were, by method, route and status, for the metrics."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        status, begun = [500], [False]

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0], begun[0] = message["status"], True
                self._secure(MutableHeaders(scope=message))
            await send(message)

        refused = self._refused(scope, headers)
        if refused:
            await _sentence(sent, scope, headers, refused)
        else:
            failure = await self._answered(scope, headers, receive, sent)
            if failure and not begun[0]:
                await _sentence(sent, scope, headers, 500)
            if failure:
                log.error("%s", json.dumps({"failure": failure}))
        method = scope["method"] if scope["method"] in METHODS else "-"
        route = getattr(scope.get("route"), "path", "") or "-"
        self.seen[method, route, status[0]] += 1
        log.info("%s", json.dumps({"method": method, "route": route, "status": status[0]}))

    async def _answered(self, scope: Scope, headers: Headers, receive: Receive, sent: Send) -> str:
        """Let the application answer. Returns what failed, without the text of the error: it could hold a question."""
        language, digits = read_in(headers)
        try:
            with speaking(language, digits):
                await self.app(scope, self._bounded(receive), sent)
        except Exception as failure:  # noqa: BLE001 - the server would log its text
            return _kind(failure)
        return ""

    def _refused(self, scope: Scope, headers: Headers) -> int:
        """The status with which a request is refused before anything looks at it; 0 if it is not."""
        if _host(headers.get("host", "")) not in self.settings.hosts:
            return 421
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.settings.most_octets:
            return 413
        if scope["method"] not in ("GET", "HEAD") and self._foreign(headers):
            return 403
        return 0

    def _foreign(self, headers: Headers) -> bool:
        """Whether a browser sends this for another site. A program sends neither header."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            return site not in ("same-origin", "none")
        return origin is not None and urlsplit(origin).netloc != headers.get("host", "")

    def _bounded(self, receive: Receive) -> Receive:
        taken, until = [0], asyncio.get_running_loop().time() + self.settings.timeout_seconds
        whole = [False]

        async def received() -> Message:
            if whole[0]:  # what comes now is the end of the connection
                return await receive()
            try:
                async with asyncio.timeout_at(until):  # for all parts together
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408) from None
            whole[0] = not message.get("more_body", False)
            taken[0] += len(message.get("body", b""))
            if taken[0] > self.settings.most_octets:
                raise HTTPException(413)
            return message

        return received

    def _secure(self, headers: MutableHeaders) -> None:
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        if self.settings.tls:
            headers["strict-transport-security"] = TLS


def _kind(failure: BaseException) -> str:
    """What kind of error it was, and where it came from."""
    place = failure.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" in {place.tb_frame.f_globals.get('__name__', '')}:{place.tb_lineno}"
    return type(failure).__name__ + where


def _host(given: str) -> str:
    """A host without its port."""
    name, colon, port = given.rpartition(":")
    return (name if colon and port.isdecimal() else given).lower()


def read_in(headers: Headers) -> tuple[Language, Digits]:
    """The language that somebody chose, or else that their browser prefers, and the digits."""
    cookies: SimpleCookie = SimpleCookie()
    with suppress(CookieError):
        cookies.load(headers.get("cookie", ""))
    known, digits = {each.value: each for each in Language}, {each.value: each for each in Digits}
    wanted = cookies[LANGUAGE].value if LANGUAGE in cookies else ""
    numbers = cookies[DIGITS].value if DIGITS in cookies else ""
    preferred = headers.get("accept-language", "").split(",")[0].strip()[:2].lower()
    return known.get(wanted) or known.get(preferred, Language.ENGLISH), digits.get(numbers, Digits.LATIN)


def why(status: int) -> str:
    """Why a request was refused, or what went wrong, in the language that is spoken."""
    match status:
        case 403:
            return said("This was sent from another site.")
        case 404:
            return said("There is nothing at this address.")
        case 405:
            return said("This address does not take this method.")
        case 408:
            return said("The request took too long to arrive.")
        case 413:
            return said("The request is too long.")
        case 421:
            return said("This server is not known under this name.")
    return said("Something went wrong on the server.")


async def _sentence(send: Send, scope: Scope, headers: Headers, status: int) -> None:
    """A refusal in the language of who reads it: a problem for programs, plain text for people."""
    with speaking(*read_in(headers)):
        told = why(status)
    program = scope["path"].startswith("/api/")
    body = json.dumps(plain_problem(status, "Refused", told), ensure_ascii=False) if program else told
    kind = MEDIA if program else "text/plain; charset=utf-8"
    await _plain(send, status, body.encode(), kind)


async def _plain(send: Send, status: int, body: bytes, kind: str) -> None:
    fields = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    with suppress(RuntimeError):  # a response has begun already
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": body})
