"""What people send: a question with its limits, and reasons. Both are bounded, because a server has other guests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sitr.errors import InvalidUse
from sitr.flavors.promise import Promise
from sitr.session.aggregate import AggregateRequest
from sitr.session.budget import Budget
from sitr.session.kept import WrittenPlan
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

    @property
    def effort(self) -> int:
        """How many usual previews take as long as that of this question.

        >>> SentQuestion("SELECT COUNT(*) AS n FROM visits").effort, SentQuestion("x" * 1_000).effort
        (1, 11)
        """
        return 1 + len(self.sql) // 100


def understood(budget: Budget, asked: SentQuestion) -> AggregateRequest:
    """A question that was sent, if it is not too long and not too deep to be read."""
    check_length([asked])
    try:
        return budget.sql(asked.sql, **asked.limits)
    except RecursionError:  # before any charge
        raise InvalidUse(given="The question is nested too deeply.", do="Write it with fewer brackets.") from None


def check_plan(asked: Request[Any], price: Promise, expected: str | None) -> None:
    """Refuse a question of which the client has made another plan, by its hash; None if it has made none."""
    if expected is not None and WrittenPlan(asked.question.plan(price)).hash != expected:
        raise InvalidUse(
            given="The server understands this question differently than the client that planned it.",
            do="Write it in SQL, and check that both run the same version of Sitr; nothing was spent.",
        )


def check_length(asked: Sequence[SentQuestion]) -> None:
    """Refuse questions that are too long together."""
    if sum(len(each.sql) for each in asked) > MOST_LETTERS:
        raise InvalidUse(
            given=f"A question has at most {MOST_LETTERS} letters on a server.", do="Ask several questions."
        )


def check_reason(reason: str) -> None:
    """Refuse a reason that would fill the ledger, or that could be taken for something else there."""
    if len(reason) > MOST_REASON or not reason.isprintable():
        raise InvalidUse(
            given=f"A reason is one line of at most {MOST_REASON} letters.",
            do="Write a shorter one; nothing was changed.",
        )
