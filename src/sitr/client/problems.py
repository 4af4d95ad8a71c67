"""The problems that a server sends, as the errors that Sitr raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sitr import errors
from sitr.errors import BackendFailure, Excerpt, LedgerBusy, LedgerError, NotAllowed, SitrError, printable


def error_of(status: int, content: object) -> SitrError:
    """The error that a response stands for. Its parts are those that the server sent, whatever its language is."""
    found: Mapping[str, Any] = content if isinstance(content, dict) else {}
    named = getattr(errors, str(found.get("title")), None)
    if not isinstance(named, type) or not issubclass(named, SitrError):
        return _about_request(status, _text(found, "given"))
    made = named(
        wanted=_text(found, "wanted"),
        given=_text(found, "given"),
        do=_text(found, "do"),
        excerpt=_excerpt(found.get("excerpt")),
    )
    others = found.get("others")
    several = tuple(error_of(status, _alone(each)) for each in others) if isinstance(others, list) else ()
    return made.among(several, instead=_text(found, "instead") or None) if several else made


def _alone(content: object) -> object:
    """An obstacle among others, which has none of its own."""
    return {**content, "others": None} if isinstance(content, dict) else content


def _about_request(status: int, said: str) -> SitrError:
    """A problem that is about the request, not about what was asked."""
    match status:
        case 401:
            return NotAllowed(
                given="The server does not accept this token.",
                do="Make a new one on the page of your account; nothing was spent.",
            )
        case 403:
            return NotAllowed(
                given="Your role, or the scope of this token, does not allow this.",
                do="Ask a steward for a role, or make a token with a wider scope; nothing was spent.",
            )
        case 404:
            return LedgerError(
                given="The server has no such data set, answer or request for you.",
                do="Check the name and the number: you only see data sets in which you have a role.",
            )
        case 429:
            return LedgerBusy(given="The server was asked too often.", do="Try again in a minute; nothing was spent.")
        case 500:
            return BackendFailure(
                given="Something went wrong on the server.",
                do="Ask again with the same key: whatever was charged is charged once.",
            )
    return LedgerError(
        given=f"The server answered {status}: {said[:200] or '-'}", do="Ask whoever operates the server."
    )


def _text(found: Mapping[str, Any], name: str) -> str:
    """A text of the server, which cannot act on a terminal."""
    value = found.get(name)
    return "\n".join(map(printable, value.split("\n"))) if isinstance(value, str) else ""


def _excerpt(content: object) -> Excerpt | None:
    match content:
        case {"text": str(text), "line": int(line), "column": int(column), "length": int(length)}:
            return Excerpt(text, line, column, length)
    return None
