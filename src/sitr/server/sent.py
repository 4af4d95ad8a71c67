"""What people send: a question with its limits, and reasons. Both are bounded, because a server has other guests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sitr.errors import InvalidUse
from sitr.session.budget import Budget
from sitr.session.request import Request

MOST_LETTERS = 10_000
"""The longest question. The time to read and to plan one grows faster than its length."""

MOST_REASON = 1_000
"""The longest reason."""


@dataclass(frozen=True, slots=True)
class SentQuestion:
    """A question as it was sent, with the limits of `Budget.sql`."""

    sql: str
    limits: Mapping[str, Any] = field(default_factory=dict)


def understood(budget: Budget, asked: SentQuestion) -> Request[Any]:
    """A question that was sent, if it is not too long and not too deep to be read."""
    if len(asked.sql) > MOST_LETTERS:
        raise InvalidUse(
            given=f"A question has at most {MOST_LETTERS} letters on a server.", do="Ask several questions."
        )
    try:
        return budget.sql(asked.sql, **asked.limits)
    except RecursionError:  # before any charge
        raise InvalidUse(given="The question is nested too deeply.", do="Write it with fewer brackets.") from None


def check_reason(reason: str) -> None:
    """Refuse a reason that would fill the ledger, or that could be taken for something else there."""
    if len(reason) > MOST_REASON or not reason.isprintable():
        raise InvalidUse(
            given=f"A reason is one line of at most {MOST_REASON} letters.",
            do="Write a shorter one; nothing was changed.",
        )
