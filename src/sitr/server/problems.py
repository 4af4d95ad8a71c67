"""Errors as RFC 9457 problems: a status, a title, and the three parts of a message."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sitr.errors import (
    BackendFailure,
    BudgetExceeded,
    LedgerBusy,
    LedgerError,
    MissingExtra,
    NotAllowed,
    SitrError,
)
from sitr.report.words.messages import error_text

STATUS: tuple[tuple[type[SitrError], int], ...] = (
    (NotAllowed, 403),
    (BudgetExceeded, 409),
    (LedgerBusy, 503),
    (LedgerError, 409),
    (BackendFailure, 500),
    (MissingExtra, 501),
    (SitrError, 422),
)
"""The first kind that an error belongs to has its status. All but one are known before the charge."""

MEDIA = "application/problem+json"


def status_of(error: SitrError) -> int:
    """The status of an error.

    >>> status_of(BudgetExceeded(given="too much", do="Pay less.")), status_of(SitrError(given="?", do="!"))
    (409, 422)
    """
    return next(status for kind, status in STATUS if isinstance(error, kind))


def problem(error: SitrError) -> dict[str, Any]:
    """An error for a program: the same three parts as on the command line with --json."""
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": type(error).__name__,
        "status": status_of(error),
        "detail": error_text(error),
        "wanted": error.wanted,
        "given": error.given,
        "do": error.do,
    }
    if error.excerpt is not None:
        content["excerpt"] = asdict(error.excerpt)
    if error.others:
        content["others"] = [problem(other) for other in error.others]
    if error.instead:
        content["instead"] = error.instead
    return content


def plain_problem(status: int, title: str, detail: str) -> dict[str, Any]:
    """A problem that is about the request, not about what was asked."""
    parts = {"wanted": "", "given": detail, "do": ""}
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, **parts}
