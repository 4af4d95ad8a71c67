"""What people are on a server. What they may do with one data set is written in its ledger."""

from __future__ import annotations

from enum import Enum


class UserRole(Enum):
    """The roles of accounts."""

    STEWARD = "steward"
    """Registers data sets, sets rules, divides budgets and approves."""
    ANALYST = "analyst"
    """Asks."""
    AUDITOR = "auditor"
    """Reads the books and verifies."""
    ADMINISTRATOR = "administrator"
    """Invites people. Sees no data set."""


class Scope(Enum):
    """What an API token may be used for."""

    READ = "read"
    """Descriptions, previews, kept answers and the books."""
    ASK = "ask"
    """Also questions that spend budget, and requests."""
    DECIDE = "decide"
    """Also what a steward decides, and what an administrator does."""


ORDER = tuple(Scope)
"""Each scope includes those before it."""


def covers(scope: Scope, needed: Scope) -> bool:
    """Whether a token with one scope may be used where another is needed.

    >>> covers(Scope.ASK, Scope.READ), covers(Scope.READ, Scope.ASK)
    (True, False)
    """
    return ORDER.index(scope) >= ORDER.index(needed)
