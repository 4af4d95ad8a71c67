"""Random texts that stand for a person, and marks that show where a form came from.

Only hashes are stored: whoever reads the database cannot act in anybody's name.
"""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

TOKEN = "sitr_"
"""How API tokens begin, so that they are recognised where they do not belong."""


def new_token() -> str:
    """A text of 256 random bits."""
    return secrets.token_urlsafe(32)


def new_api_token() -> str:
    """The same for programs, with a beginning by which scanners find it in public places."""
    return TOKEN + new_token()


def hashed(token: str) -> str:
    """What is stored of a token. It has 256 random bits, so it needs no slow hash."""
    return sha256(token.encode()).hexdigest()


def mark(secret: str, visit: str) -> str:
    """The mark of the forms of one visit: who does not know the secret cannot make it.

    >>> mark("s", "one") == mark("s", "one"), mark("s", "one") == mark("s", "two")
    (True, False)
    """
    return hmac.new(secret.encode(), f"form:{visit}".encode(), sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two texts are equal, in a time that does not show where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())
